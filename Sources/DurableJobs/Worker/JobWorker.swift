import Foundation
import Logging

/// Claims jobs and runs them in this process.
///
///     let worker = JobWorker(queue)
///     worker.register(Greet.self)
///     try await worker.runUntilIdle()
///
/// A worker never claims more jobs than it has free slots, so a `running` job really runs. Kinds may be registered at
/// any time; jobs of unknown kinds are left to other workers. A worker can run many times, but only once at a time.
public final class JobWorker: Sendable {
  private struct Setup {
    var limits: [String: Int]
    var handlers = HandlerTable()
    var companions: [@Sendable () async -> Void] = []
    var observers: [@Sendable (JobSnapshot) async -> Void] = []
    var losses: [@Sendable (ClaimToken, JobState) -> Void] = []
    var monitors: [JobConstraint: Monitor] = [:]
    var run: Run?
    /// Whether `start()` was called while another run was ending, or had an end of its own.
    var startsAgain = false
    var isHeld = false
  }

  private struct Run {
    let engine: WorkerEngine
    let task: Task<WorkerEngine.Summary, any Error>
    let goal: WorkerState.Goal
  }

  /// Reports whether a condition holds, until it is cancelled.
  typealias Monitor = @Sendable (@escaping @Sendable (Bool) -> Void) async -> Void

  package let store: (any JobStore)?
  package let logger: Logger
  private let setup: Lock<Setup>

  /// Creates a worker for several queues of one store, each with the most jobs that may run at once.
  ///
  /// Running it throws ``JobError/Code/invalidArgument`` if there is no queue, if a limit is less than 1, or if the
  /// queues belong to different stores.
  public init(_ limits: [JobQueue: Int], logger: Logger = Logger(label: "DurableJobs")) {
    let stores = limits.keys.map(\.store)
    store = stores.first
    self.logger = logger
    let isOneStore = stores.allSatisfy { $0 === stores[0] }
    var setup = Setup(limits: isOneStore ? Dictionary(uniqueKeysWithValues: limits.map { ($0.name, $1) }) : [:])
    for queue in limits.keys { setup.handlers.queues[queue.name] = queue }
    self.setup = Lock(setup)
  }

  /// Creates a worker for one queue. `maxConcurrentJobs` must be at least 1, or running it throws
  /// ``JobError/Code/invalidArgument``.
  public convenience init(
    _ queue: JobQueue, maxConcurrentJobs: Int = Defaults.concurrency, logger: Logger = Logger(label: "DurableJobs")
  ) { self.init([queue: maxConcurrentJobs], logger: logger) }

  // MARK: Handlers

  /// Runs jobs of this kind, and of its former kinds, with the type's `run` method.
  public func register<J: Job>(_ type: J.Type) { register(type) { try await $0.run(in: $1) } }

  /// Runs jobs of this kind, and of its former kinds, with `handler`. `retry` replaces the kind's own policy.
  /// Registering a kind again replaces its handler; if the type is another one, a warning is logged.
  public func register<P: JobPayload>(
    _ type: P.Type, retry: RetryPolicy? = nil, handler: @escaping @Sendable (P, JobContext) async throws -> P.Output
  ) { add(HandlerTable.Handler(type, retry: retry ?? P.retry, handler), for: P.kind, formerly: P.formerKinds) }

  /// Runs jobs of a kind without a Swift type. What `handler` returns is stored as the output.
  public func register(
    kind: String, retry: RetryPolicy = .exponential(),
    handler: @escaping @Sendable (UntypedJob, JobContext) async throws -> Data?
  ) {
    let handler = HandlerTable.Handler(retry: retry) { claim, context in
      try await handler(UntypedJob(kind: claim.kind, payload: claim.payload), context)
    }
    add(handler, for: kind)
  }

  @available(*, unavailable, message: "Give a handler, or let the type conform to Job, which has 'run(in:)'.")
  public func register<P: JobPayload>(_ type: P.Type) { fatalError("unavailable") }

  private func add(_ handler: HandlerTable.Handler, for kind: String, formerly: [String] = []) {
    let before = setup.withLock { setup in
      defer { setup.run?.engine.set(handlers: setup.handlers) }
      return setup.handlers.add(handler, for: kind, formerly: formerly)
    }
    if let old = before?.payload, let new = handler.payload, old != new {
      logger.warning(
        "two types are registered for one kind; the last counts",
        metadata: ["kind": "\(kind)", "types": "\(old), \(new)"])
    }
  }

  /// Runs jobs that require `constraint` while `monitor` says that it holds; see ``JobConstraint``. May be called while
  /// the worker runs; replacing the monitor of a constraint takes effect with the next run.
  public func provide(_ constraint: JobConstraint, _ monitor: some ConstraintMonitor) {
    let monitor: Monitor = { tell in for await isSatisfied in monitor.changes() { tell(isSatisfied) } }
    setup.withLock { setup in
      let isNew = setup.monitors.updateValue(monitor, forKey: constraint) == nil
      if isNew { setup.run?.engine.provide(constraint, monitor) }
    }
  }

  /// Does `body` alongside each run of this worker. It is cancelled at the end of the run, which waits for it.
  package func whileRunning(_ body: @escaping @Sendable () async -> Void) {
    setup.withLock { $0.companions.append(body) }
  }

  /// Calls `body` with each claim whose result is not stored and will not be, and its job's state: for one that was removed
  /// cancelled, and running where nobody has asked.
  package func onLoss(_ body: @escaping @Sendable (ClaimToken, JobState) -> Void) {
    setup.withLock { $0.losses.append(body) }
  }

  /// Sets how many jobs may run at once, for one queue or by default for all, at any time. Running jobs continue.
  /// Throws ``JobError/Code/invalidArgument`` for less than 1, or for a queue that the worker does not serve.
  public func setMaxConcurrentJobs(_ limit: Int, for queue: JobQueue? = nil) throws {
    try setup.withLock { setup in
      var limits = setup.limits
      if let queue, limits[queue.name] == nil || queue.store !== store {
        throw JobError(.invalidArgument, "this worker does not serve the queue '\(queue.name)'")
      }
      for name in queue.map({ [$0.name] }) ?? Array(limits.keys) { limits[name] = limit }
      try Self.check(limits)
      setup.limits = limits
      // A run of one job keeps its own.
      if let run = setup.run, run.goal != .oneJob { run.engine.tell { $0.state.set(limits: limits) } }
    }
  }

  /// Claims no more jobs until ``unhold()``; running ones continue. Other workers still claim: to stop them all, pause
  /// the queue. May be called before the worker runs, and lasts from run to run; `runUntilIdle()` waits for its end.
  public func hold() { hold(true) }

  public func unhold() { hold(false) }

  /// Calls `body` with each job that ends in this worker, with its output and failures, once its end is stored: one
  /// call at a time, alongside the worker; the end of a run waits for them. Misses jobs that end elsewhere or as the
  /// process dies: to follow up on every one, use ``JobContext/enqueueOnSuccess(_:on:after:options:)``.
  ///
  ///     worker.onFinish { job in if job.state == .failed { await alarm.ring(job.failures.last?.message) } }
  public func onFinish(_ body: @escaping @Sendable (JobSnapshot) async -> Void) {
    setup.withLock { $0.observers.append(body) }
  }

  /// What the worker would do with a job of this kind; nil if it does not know the kind.
  package func handler(for kind: String) -> (
    @Sendable (ClaimedJob, WorkerID, any JobStore) async throws -> (Data?, [NewJob])
  )? {
    let handlers = setup.withLock(\.handlers)
    guard let handler = handlers[kind] else { return nil }
    return { [logger] claim, worker, store in
      let attempt = RunningAttempt(claim, at: .seconds(Int64.max)) { _ in }  // nobody would answer whether it is held
      let context = JobContext(
        attempt, in: handlers.queue(of: claim, in: store), by: worker, output: handler.output, logger: logger)
      let output = try await handler.run(claim, within: context)
      return (output, attempt.end().followUps)
    }
  }

  package func hold(_ isHeld: Bool) {
    setup.withLock { setup in
      setup.isHeld = isHeld
      setup.run?.engine.tell { $0.state.set(held: isHeld) }
    }
  }

  // MARK: Running

  /// Runs until the calling task is cancelled or ``stop(grace:)`` is called, and every handler has returned. This suits
  /// a service lifecycle.
  ///
  /// Cancelling stops gracefully: no more jobs are claimed, and running ones have ``Defaults/grace`` before they are
  /// interrupted and become ready again, keeping their attempt. Throws ``JobError/Code/alreadyRunning``, or what the
  /// store throws if it can't be used at all; while a store is merely busy, full or unavailable, the worker waits.
  public func run() async throws { _ = try await run(.none, limits: nil) }

  /// Runs until this worker has nothing left to do, or is stopped, and returns how many jobs of its queues are then in
  /// each state. ``JobCounts/unfinished`` ones wait for a later start, are suspended or paused, are of an unknown kind,
  /// or require a condition that does not hold. See ``OutstandingWork``.
  ///
  /// Back-offs are waited for: a job that fails is retried, as its policy says, until it succeeds or has failed
  /// permanently. With ten attempts, the default, that can take hours.
  @discardableResult
  public func runUntilIdle() async throws -> JobCounts { try await run(.idle, limits: nil).counts }

  /// Runs like ``runUntilIdle()``, but at most until `deadline` or until the task is cancelled: then running jobs are
  /// interrupted at once and become ready again, keeping their attempt. For background time: give a deadline some
  /// seconds before the system's, cancel in its expiration handler, and schedule the next run by ``JobQueue/nextRun``.
  /// Counts as ``JobCounts/unfinished`` whatever is left for any reason, such as a paused queue.
  @discardableResult
  public func run(until deadline: Date) async throws -> JobCounts {
    let run = try begin(.idle, limits: nil)
    let clock = run.engine.store.clock
    let timer = clock.schedule(after: .seconds(deadline.timeIntervalSince(clock.now))) { run.engine.stop(grace: .zero) }
    defer { timer.cancel() }
    return try await finish(run, ifCancelledIn: .zero).counts
  }

  /// Runs one job if one is ready, and returns whether there was one.
  public func runNext() async throws -> Bool { try await runNext(only: nil) }

  /// The same, but with an id only for that job.
  package func runNext(only id: JobID?) async throws -> Bool {
    let (limits, isHeld) = setup.withLock { ($0.limits, $0.isHeld) }
    try Self.check(limits)
    if isHeld { return false }
    for name in limits.keys.sorted() where try await run(.oneJob, limits: [name: 1], only: id).hasRun { return true }
    return false
  }

  /// Runs in a task of its own until ``stop(grace:)``. Does nothing if the worker is already running; if that run is
  /// being stopped or ends by itself, this one starts after it. An error that ends the run, or keeps it from starting,
  /// is only logged.
  public func start() {
    let isLater = setup.withLock { setup in
      if let run = setup.run, run.engine.isStopping || run.goal != .none { setup.startsAgain = true }
      return setup.startsAgain
    }
    if !isLater { startNow() }
  }

  private func startNow() {
    do {
      let run = try begin(.none, limits: nil)
      Task {  // ends with the run, which `stop` ends
        do { _ = try await finish(run) } catch {
          logger.error("the worker ended", metadata: ["error": "\(error.briefly)"])
        }
      }
    } catch let error as JobError where error.code == .alreadyRunning {
    } catch {
      logger.error("the worker can't run", metadata: ["error": "\(error.briefly)"])
    }
  }

  /// Claims no more jobs, gives running ones `grace` to end, then interrupts them, and returns when every handler has
  /// returned. On a repeated call, the shorter grace counts. Does nothing if the worker is not running. Returns at once
  /// when called by a handler of this worker, or by what it was given to ``onFinish(_:)``: both are waited for.
  public func stop(grace: Duration = Defaults.grace) async {
    let running = setup.withLock { setup in
      setup.startsAgain = false
      return setup.run
    }
    guard let run = running else { return }
    run.engine.stop(grace: grace)
    let isWaitedFor = WorkerEngine.handler?.engine === run.engine || WorkerEngine.observed === run.engine
    if !isWaitedFor { _ = try? await finish(run) }
  }

  /// Whether the worker was told to stop and is still running.
  package var isStopping: Bool { setup.withLock { $0.run?.engine.isStopping ?? false } }

  private func run(
    _ goal: WorkerState.Goal, limits: [String: Int]?, only: JobID? = nil
  ) async throws -> WorkerEngine.Summary {
    try await finish(begin(goal, limits: limits, only: only), ifCancelledIn: Defaults.grace)
  }

  private func finish(_ run: Run, ifCancelledIn grace: Duration) async throws -> WorkerEngine.Summary {
    try await withTaskCancellationHandler {
      try await finish(run)
    } onCancel: {
      run.engine.stop(grace: grace)
    }
  }

  private func begin(_ goal: WorkerState.Goal, limits: [String: Int]?, only: JobID? = nil) throws -> Run {
    try setup.withLock { setup in
      let limits = limits ?? setup.limits
      try Self.check(limits)
      guard let store else { throw JobError(.invalidArgument, "a worker needs a queue") }
      guard setup.run == nil else { throw JobError(.alreadyRunning, "this worker is running already") }
      let ends = AsyncStream<JobID>.makeStream()
      let (companions, observers, hasObservers) = (setup.companions, setup.observers, !setup.observers.isEmpty)
      let engine = WorkerEngine(
        goal: goal, limits: limits, handlers: setup.handlers, store: store,
        id: WorkerID(String(UInt64.random(in: .min ... .max), radix: 36)), only: only, logger: logger,
        onEnd: { if hasObservers { ends.continuation.yield($0) } },
        onLoss: { [losses = setup.losses] in for body in losses { body($0, $1) } })
      if setup.isHeld { engine.tell { $0.state.set(held: true) } }
      for (constraint, monitor) in setup.monitors { engine.provide(constraint, monitor) }
      // A separate task, because cancelling the caller must not stop it at once. `finish` waits for it.
      store.signals.localWorkers.add(engine)
      let task = Task(executorPreference: EngineThread.shared) {
        defer {
          engine.stop(grace: .zero)  // a start from now on is for the next run
          store.signals.localWorkers.remove(engine)
          store.signals.lookouts.workersChanged()
        }
        return try await Self.drive(
          engine, beside: companions + [engine.hearMonitors], telling: observers, of: ends.stream,
          until: ends.continuation)
      }
      let run = Run(engine: engine, task: task, goal: goal)
      setup.run = run
      return run
    }
  }

  private static func drive(
    _ engine: WorkerEngine, beside companions: [@Sendable () async -> Void],
    telling observers: [@Sendable (JobSnapshot) async -> Void], of ended: AsyncStream<JobID>,
    until tell: AsyncStream<JobID>.Continuation
  ) async throws -> WorkerEngine.Summary {
    try await withThrowingTaskGroup(of: Void.self) { group in
      let caller = WorkerLoop.Caller(stop: engine.interruption, handler: WorkerEngine.handler)
      let allTold = Gate()
      group.addTask(executorPreference: globalConcurrentExecutor) {
        await WorkerLoop.$caller.withValue(caller) {
          await WorkerEngine.$observed.withValue(engine) { await Self.tell(ended, of: engine, to: observers) }
        }
        allTold.open()
      }
      for body in companions {
        group.addTask(executorPreference: globalConcurrentExecutor) {
          await WorkerLoop.$caller.withValue(caller) { await body() }
        }
      }
      defer { group.cancelAll() }
      let summary: Result<WorkerEngine.Summary, any Error>
      do { summary = .success(try await engine.drive()) } catch { summary = .failure(error) }
      tell.finish()
      await allTold.pass()
      return try summary.get()
    }
  }

  private func finish(_ run: Run) async throws -> WorkerEngine.Summary {
    defer {
      let startsAgain = setup.withLock { setup in
        guard setup.run?.engine === run.engine else { return false }
        setup.run = nil
        defer { setup.startsAgain = false }
        return setup.startsAgain
      }
      if startsAgain { startNow() }
    }
    return try await run.task.value
  }

  private static func tell(
    _ ended: AsyncStream<JobID>, of engine: WorkerEngine, to observers: [@Sendable (JobSnapshot) async -> Void]
  ) async {
    let clock = engine.store.clock
    for await id in ended {
      let start = clock.uptime
      var job: JobSnapshot?
      while job == nil {
        do { job = try await engine.store.job(id) } catch let error as JobError where error.isPassing {
          guard !engine.isStopping, clock.uptime - start < Defaults.lease else { break }
          await clock.wait(for: .seconds(1))
        } catch { break }  // it was removed in the meantime
      }
      guard let job, job.state.isFinished else { continue }
      for body in observers { await body(job) }
    }
  }

  private static func check(_ limits: [String: Int]) throws {
    try require(!limits.isEmpty, "a worker needs a queue, and queues of one store only")
    for (name, limit) in limits {
      try require(limit >= 1, "maxConcurrentJobs is \(limit) for the queue '\(name)'; it must be at least 1")
    }
  }
}
