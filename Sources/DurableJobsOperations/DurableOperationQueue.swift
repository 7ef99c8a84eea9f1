import DurableJobs
import Foundation
import Logging

/// An `OperationQueue` whose ``DurableOperation``s outlive the process: unfinished ones continue in the next process
/// without being added again.
///
///     let queue = DurableOperationQueue(name: "uploads", store: store, maxRetries: 3) { error, operation in
///       print(operation.id, error.map { "\($0)" } ?? "done")
///     }
///     queue.register("photo") { operation, context in try await send(operation.decode(Photo.self)) }
///     queue.addOperation(try DurableOperation(id: "photo-7", kind: "photo", payload: photo))
///
/// Once `addOperation` returns, the job is stored as durably as its store promises; the calling thread is blocked for
/// that one commit. ``enqueue(_:)`` does the same without blocking, and throws. An operation that can't be stored
/// finishes with the error. One that waits for what only this process knows, a plain operation or a barrier, is stored
/// once that has finished.
///
/// The queue has its own worker, which runs jobs from the queue's creation on, including those left by earlier
/// processes or added to the same queue of the store by others. Jobs of a kind without a handler wait. Many processes
/// may use the queue: each job runs in one of them. Plain operations and blocks run as in Foundation, not durably.
public final class DurableOperationQueue: OperationQueue, @unchecked Sendable {
  // Checked by hand: what this class adds is constant and Sendable, and `OperationQueue` itself is declared in the same
  // way.

  /// The underlying queue of the store, for what the operation API does not cover.
  public let jobs: JobQueue
  let worker: JobWorker
  let board: OperationBoard
  /// Finds what earlier processes left. Unstructured, as nothing can wait for it where it begins; it ends with the
  /// store's replies.
  private let loading: Task<Void, Never>
  private let maxRetries: Int
  private let settings = Lock((isSuspended: false, limit: 1))
  /// The barrier that new operations wait for. The lock also serializes adding operations and barriers.
  private let barrier = Lock<Operation?>(nil)

  /// In this process, `maxConcurrency` jobs of the queue run at once. An operation is retried `maxRetries` times after
  /// its first attempt; the number is stored when it is added. `completionBlock` is called for each finished durable
  /// operation, including those of earlier processes, with its error or nil, one at a time.
  public init(
    name: String, store: any JobStore, maxConcurrency: Int = 1, maxRetries: Int = Defaults.maxAttempts - 1,
    logger: Logger = Logger(label: "DurableJobs"),
    completionBlock: (@Sendable (_ error: (any Error)?, _ operation: DurableOperation) -> Void)? = nil
  ) {
    jobs = JobQueue(name, store: store)
    worker = JobWorker(jobs, logger: logger)
    board = OperationBoard(jobs, logger: logger, completion: completionBlock)
    self.maxRetries = maxRetries
    loading = Task(executorPreference: EngineThread.shared) { [board] in await board.load() }
    super.init()
    self.name = name
    maxConcurrentOperationCount = maxConcurrency
    worker.start()
  }

  // Unstructured, as nothing can wait for it here; it ends with the worker's last handler. Unfinished operations retain
  // their queue, so no work of this process is left undone.
  deinit {
    Task { [worker] in await worker.stop() }
  }

  /// Stops claiming jobs, gives running ones `grace` to end, then interrupts them, and returns when the last handler
  /// has returned. Unfinished jobs continue in another process or in a queue that is created later.
  public func stop(grace: Duration = Defaults.grace) async { await worker.stop(grace: grace) }

  // MARK: Handlers

  /// Runs jobs of this kind with `handler`; an error fails the attempt. May be called at any time. The handler may run
  /// more than once for a job: see `JobWorker`.
  public func register(
    _ kind: String, retry: RetryPolicy = .exponential(),
    handler: @escaping @Sendable (DurableOperation, JobContext) async throws -> Void
  ) {
    worker.register(kind: kind, retry: retry) { [board, jobs] job, context in
      let operation = board.operation(of: job, context)
      if operation.isCancelled {
        // Its job was not told yet, or could not be; if it can't be now, this is tried again.
        try? await jobs.cancel(context.id)
        throw .snooze(for: .seconds(1))
      }
      do { try await board.finishDependencies(of: operation) } catch is JobError {
        throw .snooze(for: .seconds(1))  // no attempt is used before the handler is called
      }
      guard operation.begin(context) else { throw .snooze(for: .seconds(1)) }
      defer { operation.end() }
      try await handler(operation, context)
      return nil
    }
  }

  /// Runs jobs of this kind with `callback`, which returns once the work is started;
  /// ``DurableOperation/completed(_:)``, from any thread, ends the attempt. Until that is called, the attempt keeps its
  /// slot, even if it is asked to stop: check ``DurableOperation/stopReason``.
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

  /// Durable operations are stored in one transaction, all or none.
  public override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    let (now, later) = admit(operations)
    if !now.isEmpty { blocking { [self] in await store(now) } }
    // Unstructured, as the caller continues; it ends with what the operations wait for.
    if !later.isEmpty { Task(executorPreference: EngineThread.shared) { [self] in await storeLater(later) } }
    if wait { for operation in operations { operation.waitUntilFinished() } }
  }

  /// Stores operations in one transaction without blocking a thread. They are durable when this returns. If it throws,
  /// they have finished with that error. Also waits for whatever an operation depends on that only this process knows.
  public func enqueue(_ operations: DurableOperation...) async throws {
    let (now, later) = admit(operations)
    if !now.isEmpty { await store(now) }
    await storeLater(later)
    for operation in operations where operation.jobID == nil {
      if let error = operation.error { throw error }
    }
  }

  /// Runs `barrier` once everything added before has finished, also by earlier processes; what is added later waits for
  /// it. Blocks the calling thread until the store has said what those left. Not durable: after a crash the barrier is
  /// gone, and so is what was to be stored after it.
  public override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    blocking { [loading] in await loading.value }
    let block = BlockOperation(block: barrier)
    self.barrier.withLock { barrier in
      for operation in board.unfinished + super.operations { block.addDependency(operation) }
      barrier = block
      super.addOperation(block)
    }
  }

  /// Admits operations, and returns those that can be stored now and those that can't yet.
  private func admit(_ operations: [Operation]) -> (now: [DurableOperation], later: [DurableOperation]) {
    defer { board.showProgress() }
    return barrier.withLock { barrier in
      if barrier?.isFinished ?? false { barrier = nil }
      var (now, later): ([DurableOperation], [DurableOperation]) = ([], [])
      for operation in operations {
        if let barrier { operation.addDependency(barrier) }
        guard let operation = operation as? DurableOperation else {
          super.addOperation(operation)
          continue
        }
        let mustWait = !board.gates(of: operation).isEmpty
        guard board.add(operation, of: self, mustWait: mustWait) else { continue }
        if mustWait { later.append(operation) } else { now.append(operation) }
      }
      return (now, later)
    }
  }

  /// Each as soon as it can be: what one waits for may itself wait for another.
  private func storeLater(_ operations: [DurableOperation]) async {
    await withDiscardingTaskGroup { group in
      for operation in operations {
        group.addTask(executorPreference: EngineThread.shared) { [self] in await storeLater(operation) }
      }
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
    if operation.beginStoring() { await store([operation]) }
  }

  /// Only runs blocks whose dependencies have finished.
  private static let gates = OperationQueue()

  private func store(_ operations: [DurableOperation]) async {
    await board.store(operations, maxAttempts: maxRetries < .max ? maxRetries + 1 : .max)
  }

  // MARK: As a whole

  /// While suspended, this process starts no operations; running ones continue. Other processes are not affected:
  /// `JobQueue.pause()` applies to all of them, and is stored.
  public override var isSuspended: Bool {
    get { super.isSuspended }
    set {
      super.isSuspended = newValue
      set { $0.isSuspended = newValue }
    }
  }

  /// The most jobs that this process runs at once; plain operations are limited separately. For
  /// `defaultMaxConcurrentOperationCount`, the number of processors.
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

  /// The unfinished durable operations in the order in which they were added, those of other processes first; no
  /// schedules. Blocks the calling thread until the store has said what earlier processes left, however long it is away.
  /// Foundation's `operations` only contains the plain ones, except on Apple platforms.
  public var durableOperations: [DurableOperation] {
    blocking { [loading] in await loading.value }
    return board.unfinished
  }

  #if canImport(Darwin)
    public override var operations: [Operation] { durableOperations + super.operations }
    public override var operationCount: Int { durableOperations.count + super.operationCount }
  #endif

  /// Requests cancellation of all operations, and returns at once. What earlier processes left is cancelled as well,
  /// once the store has said what that is.
  public override func cancelAllOperations() {
    super.cancelAllOperations()
    board.cancelAll()
  }

  /// Blocks the calling thread until all operations have finished, including those of earlier processes, however long
  /// their retries take, or the store is away. Do not call it in a handler, or from many tasks at once: handlers run on
  /// Swift's pool.
  public override func waitUntilAllOperationsAreFinished() {
    var operations: [Operation] = []
    repeat {
      for operation in operations { operation.waitUntilFinished() }
      super.waitUntilAllOperationsAreFinished()
      operations = durableOperations
    } while !operations.isEmpty
  }

  /// One unit for each durable operation that was added or found, completed when it has finished.
  public override var progress: Progress {
    board.showProgress()
    return board.progress
  }
}
