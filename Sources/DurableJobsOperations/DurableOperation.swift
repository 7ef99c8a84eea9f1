import DurableJobs
import Foundation

/// A job as an operation: what is stored of it, and how far it is.
///
///     let upload = DurableOperation(id: "photo-7", kind: "upload", payload: photo)
///     upload.addDependency(login)
///     queue.addOperation(upload)
///
/// It is a view. The job is in the store, a ``DurableOperationQueue`` runs the handler of its kind, in whatever process, and
/// this finishes when the job has ended: so what `start()` and `main()` would do is not done here. It is for one queue, once.
///
/// A dependency has finished, however it ended, as in Foundation; also without a job, cancelled or refused when it was added.
/// On another of these, that is kept with the job, and the other may be added later: to the same queue, as one that is added
/// to another queue later ends the wait only if this process lives until it has finished. A plain operation, and a job of
/// another store, is known to this process alone: an operation that depends on one is stored when that has finished, and is
/// not durable before. One that is stored gets no more dependencies.
///
/// `isExecuting` is true while its handler is at work in this process. KVO works where Foundation has it.
public final class DurableOperation: Operation, @unchecked Sendable {
  // Safe without the compiler's proof: what this class adds is constant or inside `state`, and `Operation` says the same
  // of what it has itself.

  /// The caller's own name for it. In its queue at most one unfinished job has it: an operation whose id is in use stores
  /// nothing, and becomes a view of the job that is there. That job's `JobOptions.key` is this, after the name of the queue
  /// and a slash; in that name `/` is `%2F`, and `%` is `%25`.
  public let id: String
  /// Which handler runs it.
  public let kind: String
  public let payload: Data
  /// Ids of operations of its queue that must have ended before it begins, however. They may have ended already, or be added
  /// later, also by a later process. An id that nobody ever adds keeps it waiting.
  public let dependsOn: [String]
  /// What is stored with its job, as what it requires, its lane or its deadline. Its key and unique key are its id's, and its
  /// priority and attempts these if they are given, else its `queuePriority` and those of the queue.
  public let options: JobOptions

  enum Phase {
    /// Not in a queue yet.
    case new
    /// In a queue, and not in its store: it waits for what is in this process alone.
    case waiting
    /// It is found out what is to be stored, which is known to no store yet.
    case preparing
    case inserting
    case stored(JobID)
    case ended
  }

  struct State {
    var phase = Phase.new
    var board: OperationBoard?
    /// Kept by it until it has finished, as operations keep their queues.
    var queue: OperationQueue?
    var jobID: JobID?
    var error: (any Error)?
    var needs: Set<ObjectIdentifier> = []
    /// Where jobs wait for it by a key of their own queue: it was in none.
    var awaitedBy: [OperationBoard] = []
    /// The attempt that goes on in this process, and what its callback goes on with.
    var attempt: JobContext?
    var attempts = 0
    var callback: CheckedContinuation<Void, any Error>?
    /// Who waits until it is not being inserted.
    var dependents: [CheckedContinuation<Void, Never>] = []
  }

  let state = Lock(State())

  /// `payload` should be JSON: what shows jobs shows it so.
  public init(
    id: String = UUID().uuidString, kind: String, dependsOn: [String] = [], options: JobOptions = JobOptions(),
    payload: Data = Data("null".utf8)
  ) {
    self.id = id
    self.kind = kind
    self.dependsOn = dependsOn
    self.options = options
    self.payload = payload
  }

  /// Throws `JobError.Code.notEncodable` if the payload can't be encoded as JSON.
  public convenience init(
    id: String = UUID().uuidString, kind: String, dependsOn: [String] = [], options: JobOptions = JobOptions(),
    payload: some Encodable
  ) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let data: Data
    do {
      data = try encoder.encode(payload)
    } catch {
      throw JobError(.notEncodable, "the payload of '\(kind)' can't be encoded: \(error.briefly)", cause: error)
    }
    self.init(id: id, kind: kind, dependsOn: dependsOn, options: options, payload: data)
  }

  /// The payload as it was given. What this throws, a handler should let through: it suspends the job, which `retry` runs again
  /// once a program is there that can read it.
  public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
    do {
      return try JSONDecoder().decode(type, from: payload)
    } catch {
      throw .suspend(because: "the payload does not decode as \(type): \(error.briefly)")
    }
  }

  // MARK: What it is told

  /// As `addDependency(_:)`; and if `mustSucceed`, this is skipped, which is finished with an error, if the other ends
  /// without success.
  public func addDependency(_ operation: DurableOperation, mustSucceed: Bool) {
    if mustSucceed { _ = state.withLock { $0.needs.insert(ObjectIdentifier(operation)) } }
    addDependency(operation)
  }

  /// Counts until this is stored: when it is added, or when what it waits for that only this process has is over. One that
  /// comes after that is left out, and logged.
  public override func addDependency(_ operation: Operation) {
    let board = state.withLock { state in
      switch state.phase {
      case .new, .waiting, .ended: nil as OperationBoard?
      case .preparing, .inserting, .stored: state.board
      }
    }
    if let board { board.ignored(operation, of: self) } else { super.addDependency(operation) }
  }

  /// Asks for its end, and returns at once. `isCancelled` is true from now on; the job is cancelled for good, also for a
  /// later process, when this has finished. If its handler has succeeded by then, it has succeeded.
  public override func cancel() {
    super.cancel()
    state.withLock { $0.board }?.cancel(self)
  }

  /// Does nothing for one that is in its queue: a worker calls the handler. One that is in none finishes with an error.
  public override func start() {
    let isNew = state.withLock { state in
      if case .new = state.phase { true } else { false }
    }
    if isNew { finish(JobError(.wrongState, "a durable operation can only be run by a DurableOperationQueue")) }
  }

  public override var isAsynchronous: Bool { true }

  // MARK: How far it is

  public override var isFinished: Bool {
    state.withLock { state in
      if case .ended = state.phase { true } else { false }
    }
  }

  public override var isExecuting: Bool { state.withLock { $0.attempt != nil } }

  /// The job, once it is stored; nil before that, and if it never was.
  public var jobID: JobID? { state.withLock { $0.jobID } }

  /// Why it finished without success: `JobFailure` if its job did, or why it could not be stored. Nil before that.
  public var error: (any Error)? { state.withLock { $0.error } }

  /// The attempt that goes on in this process, or the last one that did: from 1, and 0 before the first.
  public var attempt: Int { state.withLock { $0.attempts } }

  /// Why the handler that is at work is asked to stop; nil as long as it is not. For handlers that end with a callback: the
  /// task of an `async` one is cancelled.
  public var stopReason: StopReason? { state.withLock { $0.attempt }?.stopReason }

  /// From a handler: how far it is, from 0 to 1.
  public func report(progress fraction: Double, _ message: String? = nil) throws {
    try state.withLock { $0.attempt }?.report(progress: fraction, message)
  }

  /// From a handler that ends with a callback: the attempt has ended, with success or with an error. With an error it is made
  /// again, as its kind's policy says, until its attempts are used up. The first call counts.
  public func completed(_ error: (any Error)? = nil) {
    let callback = state.withLock { state in
      defer { state.callback = nil }
      return state.callback
    }
    if let error { callback?.resume(throwing: error) } else { callback?.resume() }
  }

  // MARK: For its queue

  /// It is in that queue from now on. False if it is in one already, or has finished.
  func enter(_ queue: OperationQueue, _ board: OperationBoard) -> Bool {
    state.withLock { state in
      guard case .new = state.phase else { return false }
      (state.phase, state.queue, state.board) = (.waiting, queue, board)
      return true
    }
  }

  /// It is about to be stored. False if it has finished.
  func beginStoring() -> Bool {
    state.withLock { state in
      guard case .waiting = state.phase else { return false }
      state.phase = .preparing
      return true
    }
  }

  /// What its job is to be waited for by.
  func key(awaitedBy board: OperationBoard) -> String {
    state.withLock { state in
      if state.board == nil, !state.awaitedBy.contains(where: { $0 === board }) { state.awaitedBy.append(board) }
      return (state.board ?? board).key(of: id)
    }
  }

  func beginInserting() { state.withLock { $0.phase = .inserting } }

  func stored(as job: JobID) {
    let dependents = state.withLock { state in
      defer { (state.phase, state.jobID, state.dependents) = (.stored(job), job, []) }
      return state.dependents
    }
    for dependent in dependents { dependent.resume() }
  }

  /// Returns once it is not being inserted. What is inserted waits for no other, so this ends.
  func inserted() async {
    await withCheckedContinuation { continuation in
      let mustWait = state.withLock { state in
        guard case .inserting = state.phase else { return false }
        state.dependents.append(continuation)
        return true
      }
      if !mustWait { continuation.resume() }
    }
  }

  /// It is a view of a job that was there.
  func found(as job: JobID, on board: OperationBoard) {
    state.withLock { ($0.phase, $0.jobID, $0.board) = (.stored(job), job, board) }
  }

  /// It has finished. False if it had already.
  @discardableResult
  func finish(_ error: (any Error)?) -> Bool {
    willChangeValue(forKey: "isFinished")
    let (isFirst, before) = state.withLock { state in
      let before = state
      if case .ended = state.phase { return (false, before) }
      (state.phase, state.error, state.queue) = (.ended, error, nil)
      (state.dependents, state.awaitedBy) = ([], [])
      return (true, before)
    }
    for dependent in before.dependents { dependent.resume() }
    for board in before.awaitedBy where board !== before.board { board.releaseLater(self) }
    // The last to keep it lets it go outside of the lock.
    withExtendedLifetime(before.queue) { didChangeValue(forKey: "isFinished") }
    return isFirst
  }

  /// Somebody else cancelled its job.
  func becomeCancelled() { if !isCancelled { super.cancel() } }

  /// An attempt begins in this process. False if another still goes on: its callback is still to come.
  func begin(_ context: JobContext) -> Bool {
    willChangeValue(forKey: "isExecuting")
    defer { didChangeValue(forKey: "isExecuting") }
    return state.withLock { state in
      guard state.attempt == nil else { return false }
      (state.attempt, state.attempts) = (context, context.attempt)
      return true
    }
  }

  func end() {
    willChangeValue(forKey: "isExecuting")
    state.withLock { $0.attempt = nil }
    didChangeValue(forKey: "isExecuting")
  }
}
