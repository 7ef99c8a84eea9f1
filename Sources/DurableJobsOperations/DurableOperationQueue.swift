import DurableJobs
import Foundation
import Logging

/// An `OperationQueue` whose ``DurableOperation``s outlive the process: those that have not ended go on in the next one, with
/// no operation added again.
///
///     let queue = DurableOperationQueue(name: "uploads", store: store, maxRetries: 3) { error, operation in
///       print(operation.id, error.map { "\($0)" } ?? "done")
///     }
///     queue.register("photo") { operation, context in try await upload(operation.decode(Photo.self)) }
///     queue.addOperation(try DurableOperation(id: "photo-7", kind: "photo", payload: photo))
///
/// When `addOperation` has returned, the job is stored, as durably as its store promises: the calling thread is blocked for
/// that one commit. ``enqueue(_:)`` does the same without blocking, and throws. An operation that can't be stored finishes
/// with the error. What waits for something that only this process has, a plain operation or a barrier, is stored when that is
/// over.
///
/// A worker of its own runs the jobs from the moment at which the queue is made, those too that earlier processes left, and
/// those that others put into the same queue of the store. Jobs of a kind without a handler wait. Any number of processes may
/// have the queue: each job runs in one of them. Plain operations and blocks run as in Foundation, and are not durable.
public final class DurableOperationQueue: OperationQueue, @unchecked Sendable {
  // Safe without the compiler's proof: what this class adds is constant and Sendable, and `OperationQueue` says the same of
  // what it has itself.

  /// The queue of the store, for what operations have no words for.
  public let jobs: JobQueue
  let worker: JobWorker
  let board: OperationBoard
  private let maxRetries: Int
  private let settings = Lock((isSuspended: false, limit: 1))
  /// The barrier that what is added now waits for. What is added and what is raised take turns.
  private let barrier = Lock<Operation?>(nil)

  /// `maxConcurrency` jobs of this queue run at once in this process. An operation is tried again `maxRetries` times after its
  /// first attempt; the number is stored with it when it is added. `completionBlock` is called for each durable operation that
  /// has finished, with its error or none, one at a time, those of earlier processes too.
  public init(
    name: String, store: any JobStore, maxConcurrency: Int = 1, maxRetries: Int = Defaults.maxAttempts - 1,
    logger: Logger = Logger(label: "DurableJobs"),
    completionBlock: (@Sendable (_ error: (any Error)?, _ operation: DurableOperation) -> Void)? = nil
  ) {
    jobs = JobQueue(name, store: store)
    worker = JobWorker(jobs, logger: logger)
    board = OperationBoard(jobs, logger: logger, completion: completionBlock)
    self.maxRetries = maxRetries
    super.init()
    self.name = name
    maxConcurrentOperationCount = maxConcurrency
    // Unstructured, as nobody can wait for it here; it ends with the first look at the store. Who adds or waits, waits for it.
    let (board, worker) = (board, worker)
    Task(executorPreference: EngineThread.shared) { await board.load { worker.start() } }
  }

  // Unstructured, as nobody can wait for it here; it ends with the worker's last handler. Unfinished operations keep their
  // queue, so nothing of this process is left undone.
  deinit {
    Task { [board, worker] in
      await board.loaded()
      await worker.stop()
    }
  }

  /// Claims nothing more, gives what runs `grace` to end, then interrupts it, and returns when the last handler has. What has
  /// not ended goes on in another process, or in a queue that is made later.
  public func stop(grace: Duration = Defaults.grace) async {
    await board.loaded()
    await worker.stop(grace: grace)
  }

  // MARK: Handlers

  /// Runs jobs of this kind with `handler`; a throw fails the attempt. It may be registered at any time, and may run more than
  /// once for a job: see `JobWorker`.
  public func register(
    _ kind: String, retry: RetryPolicy = .exponential(),
    handler: @escaping @Sendable (DurableOperation, JobContext) async throws -> Void
  ) {
    worker.register(kind: kind, retry: retry) { [board] job, context in
      let operation = try await board.operation(of: job, context)
      guard operation.begin(context) else { throw .snooze(for: .seconds(1)) }
      defer { operation.end() }
      try await handler(operation, context)
      return nil
    }
  }

  /// Runs jobs of this kind with `callback`, which returns once the work is begun; the attempt ends with
  /// ``DurableOperation/completed(_:)``, from any thread. An attempt that is not ended so holds its slot for ever, also when it
  /// is asked to stop: look at ``DurableOperation/stopReason``.
  public func register(
    _ kind: String, retry: RetryPolicy = .exponential(), callback: @escaping @Sendable (DurableOperation) -> Void
  ) {
    register(kind, retry: retry) { operation, _ in
      try await withCheckedThrowingContinuation { continuation in
        operation.state.withLock { $0.callback = continuation }
        callback(operation)
      }
    }
  }

  /// Runs operations that require `constraint` while `monitor` says that it holds:
  /// `queue.provide(.network, NetworkMonitor())`, and `DurableOperation(kind: "send", options: JobOptions(requires: [.network]))`.
  public func provide(_ constraint: JobConstraint, _ monitor: some ConstraintMonitor) {
    worker.provide(constraint, monitor)
  }

  // MARK: Ways in

  public override func addOperation(_ operation: Operation) {
    addOperations([operation], waitUntilFinished: false)
  }

  public override func addOperation(_ block: @escaping @Sendable () -> Void) {
    addOperation(BlockOperation(block: block))
  }

  /// Those that are durable are stored in one transaction: all of them, or none.
  public override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    let (now, later) = admit(operations)
    if !now.isEmpty { blocking { [self] in await store(now) } }
    for operation in later {
      // Unstructured, as the caller goes on; it ends with what the operation waits for.
      Task(executorPreference: EngineThread.shared) { [self] in await storeLater(operation) }
    }
    if wait { for operation in operations { operation.waitUntilFinished() } }
  }

  /// Stores operations in one transaction, without blocking a thread. They are durable when this returns. Throws why they
  /// are not; then they have finished with that error. One that waits for what only this process has is waited for.
  public func enqueue(_ operations: DurableOperation...) async throws {
    let (now, later) = admit(operations)
    if !now.isEmpty { await store(now) }
    for operation in later { await storeLater(operation) }
    for operation in operations where operation.jobID == nil {
      if let error = operation.error { throw error }
    }
  }

  /// Runs `barrier` once all that was added before has finished; what is added later waits for it. It is not durable: after a
  /// crash it is gone, and so is what was to be stored after it.
  public override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    let block = BlockOperation(block: barrier)
    self.barrier.withLock { barrier in
      for operation in board.unfinished + super.operations { block.addDependency(operation) }
      barrier = block
      super.addOperation(block)
    }
  }

  /// Lets operations in. Returns those that can be stored now, and those that can't yet.
  private func admit(_ operations: [Operation]) -> (now: [DurableOperation], later: [DurableOperation]) {
    barrier.withLock { barrier in
      if barrier?.isFinished ?? false { barrier = nil }
      var durable: [DurableOperation] = []
      for operation in operations {
        if let barrier { operation.addDependency(barrier) }
        if let operation = operation as? DurableOperation {
          if operation.enter(self, board) { durable.append(operation) } else { board.refused(operation) }
        } else {
          super.addOperation(operation)
        }
      }
      board.add(durable)
      let later = durable.filter { !board.gates(of: $0).isEmpty }
      return (durable.filter { !later.contains($0) }, later)
    }
  }

  private func storeLater(_ operation: DurableOperation) async {
    var gates = board.gates(of: operation)
    while !gates.isEmpty {
      await withCheckedContinuation { continuation in
        let gate = BlockOperation { continuation.resume() }
        for dependency in gates { gate.addDependency(dependency) }
        Self.gates.addOperation(gate)
      }
      gates = board.gates(of: operation)  // more may have come meanwhile
    }
    await store([operation])
  }

  /// Has blocks run when what they depend on has finished, and nothing else.
  private static let gates = OperationQueue()

  private func store(_ operations: [DurableOperation]) async {
    await board.store(operations, maxAttempts: maxRetries < .max ? maxRetries + 1 : .max)
  }

  // MARK: As a whole

  /// While it is suspended, this process begins none of its operations; those that run go on. Other processes do not know of
  /// it: `JobQueue.pause()` is for all of them, and is remembered.
  public override var isSuspended: Bool {
    get { super.isSuspended }
    set {
      super.isSuspended = newValue
      set { $0.isSuspended = newValue }
    }
  }

  /// Jobs that this process runs at once, and plain operations beside them. As many as there are processors for
  /// `defaultMaxConcurrentOperationCount`.
  public override var maxConcurrentOperationCount: Int {
    get { super.maxConcurrentOperationCount }
    set {
      super.maxConcurrentOperationCount = newValue
      set { $0.limit = newValue < 0 ? ProcessInfo.processInfo.activeProcessorCount : newValue }
    }
  }

  private func set(_ change: (inout (isSuspended: Bool, limit: Int)) -> Void) {
    settings.withLock { settings in
      change(&settings)
      worker.hold(settings.isSuspended || settings.limit == 0)
      try? worker.setMaxConcurrentJobs(max(settings.limit, 1))  // refuses what is less
    }
  }

  /// Its durable operations that have not finished, the first that was added first; those of earlier processes before them.
  /// Foundation's `operations` has the plain ones alone, except on Apple's platforms.
  public var durableOperations: [DurableOperation] {
    blocking { [board] in await board.loaded() }
    return board.unfinished
  }

  #if canImport(Darwin)
    public override var operations: [Operation] { durableOperations + super.operations }
    public override var operationCount: Int { durableOperations.count + super.operationCount }
  #endif

  public override func cancelAllOperations() {
    super.cancelAllOperations()
    for operation in durableOperations { operation.cancel() }
  }

  /// Blocks the calling thread until all operations have finished, those of earlier processes too, however long some wait to
  /// be tried again. Not from a handler, nor where many tasks could block so at once: handlers run on Swift's pool.
  public override func waitUntilAllOperationsAreFinished() {
    var operations: [Operation] = []
    repeat {
      for operation in operations { operation.waitUntilFinished() }
      super.waitUntilAllOperationsAreFinished()
      operations = durableOperations
    } while !operations.isEmpty
  }

  /// A unit for each durable operation that was added or found, completed when it has finished.
  public override var progress: Progress { board.progress }
}
