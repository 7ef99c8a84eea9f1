import DurableJobs
import Foundation

/// This process's presence among those that have the file open. It starts when the process first claims or listens: one
/// that only enqueues needs no lock, socket or thread.
final class Presence: Sendable {
  private struct State {
    var session: ProcessSession?
    var onSignal: @Sendable (ForeignChange) -> Void = { _ in }
    var onDeath: @Sendable (String) -> Void = { _ in }
    var hasEnded = false
    var isSuspended = false
    var resumptions = 0
    var hasWorkers = false
  }

  private struct Weak { weak let presence: Presence? }

  /// What to clean up when the process exits normally.
  private static let atExit = Lock<[Weak]>([])
  private static let process = getpid()
  private static let hasHook: Void = {
    _ = process
    atexit {
      // A forked child must not clean up for its parent.
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

  deinit { state.withLock { $0.session }?.close() }

  func note(hasWorkers: Bool) { state.withLock { $0.hasWorkers = hasWorkers } }

  /// Removes all traces, unless there is a worker: others learn of one that did not retire by its lock.
  private func withdraw() { state.withLock { if !$0.hasWorkers { $0.session?.files.withdraw() } } }

  func begin(onSignal: @escaping @Sendable (ForeignChange) -> Void, onDeath: @escaping @Sendable (String) -> Void) {
    state.withLock { ($0.onSignal, $0.onDeath) = (onSignal, onDeath) }
  }

  /// The name of the session, which is opened if necessary.
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

  func tellOthers(_ change: ForeignChange) { if !change.isEmpty { folder.postbox.post(change, except: name) } }

  var resumptions: Int { state.withLock(\.resumptions) }

  /// Leaves the folder, with its lock, until the presence is resumed; if that happened since, it stays.
  func suspend(unlessResumedSince resumptions: Int) {
    let session = state.withLock { state -> ProcessSession? in
      guard state.resumptions == resumptions else { return nil }
      state.isSuspended = true
      return exchange(&state.session, with: nil)
    }
    session?.close()
  }

  func resume() { state.withLock { ($0.isSuspended, $0.resumptions) = (false, $0.resumptions + 1) } }

  /// If a worker's row could not be removed, as on a full disk, the session is left to be found dead: that returns its
  /// jobs at once, rather than when their lease has lapsed.
  func end() {
    let (session, hasWorkers) = state.withLock { state in
      // The callbacks must go too: they and the signals refer to each other.
      defer { state = State(hasEnded: true) }
      return (state.session, state.hasWorkers)
    }
    session?.close(hasWorkers ? .asDead : .inOrder)
  }
}
