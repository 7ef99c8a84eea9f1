import DurableJobs
import Foundation

/// A durable job as an `Operation`: its stored data and its progress.
///
///     let upload = try DurableOperation(id: "photo-7", kind: "upload", payload: photo)
///     upload.addDependency(resize)
///     operations.addOperation(upload)
///
/// It is only a view: the job is in the store, a ``DurableOperationQueue`` in any process runs the handler of its kind,
/// and the operation finishes when the job has ended. `start()` and `main()` do not run it. It can be added only once.
///
/// As in Foundation, a dependency is met once it has finished in any way, even without a job because it was cancelled
/// or refused; it is finished before the handler of what depends on it begins. A dependency on another durable
/// operation is stored with the job, and may be added later: to the same queue, since one added to another queue later
/// only ends the wait if this process lives until it finishes. Plain operations, and jobs of other stores, are known to
/// this process alone: what depends on one is stored, and durable, only once that has finished. A stored operation
/// takes no more dependencies.
///
/// `isExecuting` is true while its handler runs in this process. KVO works where Foundation supports it.
public final class DurableOperation: Operation, @unchecked Sendable {
  // Checked by hand: what this class adds is constant or inside `state`, and `Operation` itself is declared in the same
  // way.

  /// The caller's name for it. Within its queue, at most one unfinished job has it: an operation whose id is in use
  /// stores nothing and becomes a view of the existing job. The job's `JobOptions.key` is the name of the queue, a
  /// slash and this id; in the name `/` is written `%2F`, and `%` is `%25`.
  public let id: String
  /// The kind, which selects the handler.
  public let kind: String
  public let payload: Data
  /// Ids of operations of its queue that must end, in any way, before it starts. They may have ended already, or may be
  /// added later, even by a later process. It waits forever for an id that is never added.
  public let dependsOn: [String]
  /// Options of the job, such as required conditions, a lane or a deadline. Key and unique key always come from the id;
  /// priority and attempts default to `queuePriority` and those of the queue.
  public let options: JobOptions

  enum Phase {
    /// Not in a queue yet.
    case new
    /// In a queue but not in its store: it waits for something that only this process knows.
    case waiting
    /// Being prepared for the store, which does not know it yet.
    case preparing
    case inserting
    case stored(JobID)
    case ended
  }

  struct State {
    var phase = Phase.new
    var board: OperationBoard?
    /// Retained until it has finished, as operations retain their queues.
    var queue: OperationQueue?
    var jobID: JobID?
    var error: (any Error)?
    var needs: Set<ObjectIdentifier> = []
    /// Queues whose jobs wait for it by a key of their own, because it was in none.
    var awaitedBy: [OperationBoard] = []
    /// The attempt that runs in this process, and how to continue after its callback.
    var attempt: JobContext?
    var attempts = 0
    var callback: CheckedContinuation<Void, any Error>?
    /// Those that wait until it is not being inserted.
    var dependents: [CheckedContinuation<Void, Never>] = []
  }

  let state = Lock(State())

  /// Creates an operation. `payload` should be JSON, since tools show it as such.
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

  /// Decodes the payload. A handler should not catch the error: it suspends the job, which `retry` runs again once a
  /// program can read it.
  public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
    do {
      return try JSONDecoder().decode(type, from: payload)
    } catch {
      throw .suspend(because: "the payload does not decode as \(type): \(error.briefly)")
    }
  }

  // MARK: What it is told

  /// Like `addDependency(_:)`. If `mustSucceed` and the other operation ends without success, this one is skipped: it
  /// finishes with an error.
  public func addDependency(_ operation: DurableOperation, mustSucceed: Bool) {
    if mustSucceed { _ = state.withLock { $0.needs.insert(ObjectIdentifier(operation)) } }
    addDependency(operation)
  }

  /// Takes effect until this operation is stored, when it is added or when something that only this process knows has
  /// finished. A later dependency is ignored and logged.
  public override func addDependency(_ operation: Operation) {
    let board = state.withLock { state in
      switch state.phase {
      case .new, .waiting, .ended: nil as OperationBoard?
      case .preparing, .inserting, .stored: state.board
      }
    }
    if let board { board.ignored(operation, of: self) } else { super.addDependency(operation) }
  }

  /// Requests cancellation and returns at once. `isCancelled` is true from then on; the job is durably cancelled once
  /// this operation has finished. If its handler has succeeded by then, the job has succeeded.
  public override func cancel() {
    super.cancel()
    state.withLock { $0.board }?.cancel(self)
  }

  /// Does nothing for an operation in a queue, where a worker calls the handler. Otherwise finishes with an error.
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

  /// The job's id once it is stored; nil before that, or if it never was.
  public var jobID: JobID? { state.withLock { $0.jobID } }

  /// Why it finished without success: the `JobFailure` of its job, or why it could not be stored. Nil before that.
  public var error: (any Error)? { state.withLock { $0.error } }

  /// The number of the current or last attempt in this process, starting at 1; 0 before the first.
  public var attempt: Int { state.withLock { $0.attempts } }

  /// Why the running handler was asked to stop; nil if it was not. For handlers that end with a callback; the task of
  /// an `async` handler is cancelled.
  public var stopReason: StopReason? { state.withLock { $0.attempt }?.stopReason }

  /// Called by a handler to report progress, from 0 to 1.
  public func report(progress fraction: Double, _ message: String? = nil) throws {
    try state.withLock { $0.attempt }?.report(progress: fraction, message)
  }

  /// Called by a handler that ends with a callback: the attempt has ended with success or an error. After an error it
  /// is retried as its kind's policy says until no attempts are left. Only the first call counts.
  public func completed(_ error: (any Error)? = nil) {
    let callback = state.withLock { state in
      defer { state.callback = nil }
      return state.callback
    }
    if let error { callback?.resume(throwing: error) } else { callback?.resume() }
  }

  // MARK: For its queue

  /// Adds it to a queue. Returns false if it is already in one, or has finished.
  func enter(_ queue: OperationQueue, _ board: OperationBoard, mustWait: Bool) -> Bool {
    state.withLock { state in
      guard case .new = state.phase else { return false }
      (state.phase, state.queue, state.board) = (mustWait ? .waiting : .preparing, queue, board)
      return true
    }
  }

  /// Called before it is stored, if it had to wait. Returns false if it has finished.
  func beginStoring() -> Bool {
    state.withLock { state in
      guard case .waiting = state.phase else { return false }
      state.phase = .preparing
      return true
    }
  }

  /// The key by which jobs wait for its job.
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

  /// Returns once it is not being inserted. Ends soon, since an insertion waits for no other.
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

  /// Whether the store may know its job before this process knows its id.
  var isBeingStored: Bool {
    state.withLock { state in
      switch state.phase {
      case .preparing, .inserting: true
      case .new, .waiting, .stored, .ended: false
      }
    }
  }

  /// Whether it is what a job with these is.
  func isSame(_ kind: String, _ payload: Data) -> Bool { self.kind == kind && self.payload == payload }

  /// Makes it a view of an existing job.
  func found(as job: JobID, on board: OperationBoard) {
    state.withLock { ($0.phase, $0.jobID, $0.board) = (.stored(job), job, board) }
  }

  /// Finishes it. Returns false if it had already finished.
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
    // The queue may be released by this, outside of the lock.
    withExtendedLifetime(before.queue) { didChangeValue(forKey: "isFinished") }
    return isFirst
  }

  /// Called when its job was cancelled elsewhere.
  func becomeCancelled() { if !isCancelled { super.cancel() } }

  /// Starts an attempt in this process. Returns false if another has not ended because its callback is still to come.
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
