import DurableJobs
import Foundation

/// This process among those that have the file open. It begins when it first claims or listens: one that only enqueues
/// needs no lock, no socket and no thread.
final class Presence: Sendable {
  private struct State {
    var session: ProcessSession?
    var onSignal: @Sendable (ForeignChange) -> Void = { _ in }
    var onDeath: @Sendable (String) -> Void = { _ in }
    var hasEnded = false
    var isSuspended = false
    var hasWorkers = false
  }

  private struct Weak {
    weak let presence: Presence?
  }

  /// What is to be done when the process ends in order.
  private static let atExit = Lock<[Weak]>([])
  private static let process = getpid()
  private static let hasHook: Void = {
    _ = process
    atexit {
      // A child that this process forked leaves it as it is.
      guard getpid() == Presence.process else { return }
      for one in Presence.atExit.withLock({ $0 }) { one.presence?.withdraw() }
    }
  }()

  private let folder: MeetingFolder
  private let state = Lock(State())

  init(folder: MeetingFolder) {
    self.folder = folder
    Self.hasHook
    Self.atExit.withLock { $0 = $0.filter { $0.presence != nil } + [Weak(presence: self)] }
  }

  var hasWorkers: Bool {
    get { state.withLock(\.hasWorkers) }
    set { state.withLock { $0.hasWorkers = newValue } }
  }

  /// Leaves nothing behind, if there is no worker: of one that ended without a good-bye the others learn by its lock.
  private func withdraw() {
    state.withLock { if !$0.hasWorkers { $0.session?.withdraw() } }
  }

  func begin(
    onSignal: @escaping @Sendable (ForeignChange) -> Void, onDeath: @escaping @Sendable (String) -> Void
  ) {
    state.withLock { state in
      state.onSignal = onSignal
      state.onDeath = onDeath
    }
  }

  /// The name of the session, which is opened if it is not yet.
  func session() throws -> String {
    try state.withLock { state in
      if let session = state.session { return session.name }
      guard !state.hasEnded else { throw JobError(.closed, "the store was closed") }
      guard !state.isSuspended else { throw JobError(.locked, "the store was suspended") }
      let session = try ProcessSession(folder: folder, onSignal: state.onSignal, onDeath: state.onDeath)
      state.session = session
      return session.name
    }
  }

  var name: String? { state.withLock { $0.session?.name } }

  func tellOthers(_ change: ForeignChange) {
    if !change.isEmpty { folder.post(change, except: name) }
  }

  /// Nobody in the folder, with no lock there, until it is resumed.
  func suspend() {
    let session = state.withLock { state in
      defer { state.session = nil }
      state.isSuspended = true
      return state.session
    }
    session?.close()
  }

  func resume() { state.withLock { $0.isSuspended = false } }

  /// Where a worker's row could not be taken back, as on a full disk, the session is seen to be dead: by its lock its jobs
  /// come back at once, and without it only when their lease has lapsed.
  func end() {
    let (session, hasWorkers) = state.withLock { state in
      // With what it calls: the signals refer to it, and it to them.
      defer { state = State(hasEnded: true) }
      return (state.session, state.hasWorkers)
    }
    hasWorkers ? session?.abandon() : session?.close()
  }
}
