import Foundation
import Logging

/// A worker's loop, which renews no lease while it waits for an answer: a store gives up soon what it can't answer.
package enum WorkerLoop {
  @TaskLocal package static var isWaiting = false
  /// Who calls: one value, since each that is bound is copied into the task of each job.
  struct Caller: Sendable { var stop: StopBell?, handler: (engine: WorkerEngine, token: ClaimToken)? }
  @TaskLocal static var caller = Caller()
  /// In a call of a worker or a handler: once it has rung, a store that can't answer for now throws an error that may pass,
  /// and the caller decides how long it tries.
  package static var stop: StopBell? { caller.stop }
}

/// One run of a worker: carries out the steps that ``WorkerState`` decides on.
///
/// `drive` runs on ``EngineThread``, so that turns and renewals continue when handlers block every thread of Swift's
/// pool. Handlers run on that pool, in a task each. Those tasks are unstructured because each must be cancellable on
/// its own, and because cancelling the worker's own task must not stop them at once; the engine ends only after the
/// last of them.
final class WorkerEngine: Sendable {
  /// Whether the run ran any job and, if its goal was to be idle, how many jobs are in each state after it.
  struct Summary: Sendable {
    var hasRun = false
    var counts = JobCounts()
  }

  struct Shared {
    var state: WorkerState
    var handlers: HandlerTable
    /// The error for a closed store, once it was closed.
    var closed: (any Error)?
    /// The conditions that held for this worker at its last claim.
    var satisfied: Set<JobConstraint> = []
    /// What was logged of jobs that nobody can run, and where such were found since those conditions hold.
    var told: Set<String> = []
    var unserved: Set<JobFilter> = []
  }

  /// The handler that the current task belongs to.
  static var handler: (engine: WorkerEngine, token: ClaimToken)? { WorkerLoop.caller.handler }
  /// The engine whose ended jobs the current task is told of.
  @TaskLocal static var observed: WorkerEngine?

  let store: any JobStore
  let id: WorkerID
  private let only: JobID?
  private let onEnd: @Sendable (JobID) -> Void
  let onLoss: @Sendable (ClaimToken, JobState) -> Void
  let logger: Logger
  let shared: Lock<Shared>
  private enum Trouble: String {
    case turn = "the store refused; trying again"
    case late = "a result is not stored yet; trying again"
    case renewal = "the lease could not be renewed; trying again"
    case recovery = "recovery failed; trying again later"
    case wake = "back-offs could not be ended; trying again"
  }

  /// The errors of the store that were logged, and the operations that met each and have not succeeded since.
  private let troubles = Lock<[String: Set<Trouble>]>([:])
  private let (monitors, newMonitors) = AsyncStream.makeStream(of: (JobConstraint, JobWorker.Monitor).self)
  let gate = Gate()
  private let gaveBack = Gate()
  private let stopBell = StopBell()
  /// The same for handlers, which may go on until they are interrupted.
  let interruption = StopBell()

  init(
    goal: WorkerState.Goal, limits: [String: Int], handlers: HandlerTable, store: any JobStore, id: WorkerID,
    only: JobID?, logger: Logger, onEnd: @escaping @Sendable (JobID) -> Void,
    onLoss: @escaping @Sendable (ClaimToken, JobState) -> Void
  ) {
    (self.onEnd, self.onLoss, self.store, self.only, self.id) = (onEnd, onLoss, store, only, id)
    var logger = logger
    logger[metadataKey: "worker"] = "\(id)"
    self.logger = logger
    let state = WorkerState(
      goal: goal, limits: limits, knowsKinds: !handlers.kinds.isEmpty, now: store.clock.uptime,
      spread: .random(in: 0...1))
    shared = Lock(Shared(state: state, handlers: handlers))
  }

  /// Claims and runs jobs until the goal is reached, or until the worker is stopped and every handler has returned.
  func drive() async throws -> Summary {
    let subscription = store.signals.listen { [weak self] in self?.hear($0) }
    defer { withExtendedLifetime(subscription) { gaveBack.open() } }
    return try await WorkerLoop.$caller.withValue(.init(stop: stopBell, handler: Self.handler)) {
      do { return try await carryOutSteps() } catch {
        if shared.withLock({ $0.closed }) == nil { await retire() }
        throw error
      }
    }
  }

  private func carryOutSteps() async throws -> Summary {
    var summary = Summary()
    while true {
      let step = shared.withLock { $0.state.next(uptime) }
      switch step {
      case .turn(let settlements, let free): if try await turn(settlements, free) { summary.hasRun = true }
      case .renew: await renew()
      case .recover: await WorkerLoop.$isWaiting.withValue(true) { await recover() }
      case .wake(let bite): await WorkerLoop.$isWaiting.withValue(true) { await wake(bite) }
      case .interrupt: interruptAll()
      case .giveBack(let unstored):
        interruptAll()
        drop(unstored, closedError)
        await retire()
        gaveBack.open()
      case .askIfIdle: try await askIfIdle()
      case .wait(let time): await wait(until: time)
      case .done:
        if let closed = shared.withLock({ $0.closed }) { throw closed }
        let wasToBeIdle = shared.withLock { $0.state.goal } == .idle
        if wasToBeIdle { try? await tellOfUnserved() }
        await retire()
        if wasToBeIdle { summary.counts = try await store.counts(where: .queues(queues)) }
        return summary
      }
    }
  }

  // MARK: What others tell it

  /// Changes what it knows, and wakes it.
  func tell(_ change: (inout Shared) -> Void) {
    shared.withLock(change)
    gate.open()
  }

  var isStopping: Bool { shared.withLock { $0.state.isStopping } }

  func stop(grace: Duration) {
    let end = uptime + grace
    let isEarlier = shared.withLock { $0.state.stop(graceEnd: end) }
    gate.open()
    stopBell.ring()
    // The loop may wait for its store by then.
    if isEarlier { _ = store.clock.schedule(at: end) { [weak self] in self?.interruptAll() } }
  }

  private func interruptAll() {
    for attempt in attemptsAtWork { attempt.stop(.shutdown, at: uptime) }
    interruption.ring()
  }

  /// Gives all jobs back without waiting for their handlers, because the store is about to close; returns once that is
  /// done. The run ends with that error when the handlers have returned.
  func giveBack() async {
    tell { shared in
      shared.closed = closedError
      shared.state.storeCloses(uptime)
    }
    await gaveBack.pass()
  }

  /// The error for a handler that can't wait for a job, because the job would then never run; nil if it can. `limit`: how
  /// many jobs of its queue may run at once, over all workers.
  func refusal(of job: JobSnapshot, to token: ClaimToken, limit: Int) -> JobError? {
    guard [.ready, .scheduled, .blocked].contains(job.state) else { return nil }
    let isServedByOthers = store.signals.localWorkers.kinds(in: job.queue, except: self).contains(job.kind)
    let (slots, isStuck) = shared.withLock { shared in
      let isOurs = shared.handlers[job.kind] != nil && !isServedByOthers
      let slots = isOurs ? shared.state.limits[job.queue] ?? .max : .max
      return (slots, shared.state.isStuck(token, behind: job.queue, places: min(slots, limit)))
    }
    guard isStuck else { return nil }
    let (places, remedy) =
      limit < slots
      ? ("place that the limit of the queue '\(job.queue)' allows", "that limit")
      : ("slot of their worker for the queue '\(job.queue)'", "its maxConcurrentJobs")
    return JobError(
      .wrongState,
      "job \(job.id) (\(job.kind)) can't run while job \(token.job) waits for it: handlers that wait hold every "
        + "\(places). Raise \(remedy), or enqueue such jobs in another queue")
  }

  /// Throws if a handler must not wait for a job because that needs the end of the handler's own. Returns how many jobs of
  /// that job's queue may run at once.
  func check(_ id: JobID, isAwaitedBy token: ClaimToken) async throws -> Int {
    guard id != token.job else { throw JobError(ofOwnEnd: id) }
    let jobs = try await store.jobs(JobQuery(.ids([id, token.job]), detail: .edges))
    guard let job = jobs.first(where: { $0.id == id }), !job.state.isFinished else { return .max }
    let settings = try await store.settings()
    var why: String?
    if job.edges.contains(where: { $0.target == .job(token.job) }) { why = "needs the end of that job" }
    if let lane = job.lane?.name, jobs.contains(where: { $0.id != id && $0.lane?.name == lane }),
      !settings.contains(where: { if case .lane(lane, _) = $0 { true } else { false } })
    {
      why = "is behind that job in the lane '\(lane)'"
    }
    if job.state == .blocked, let why {
      throw JobError(.wrongState, "job \(id) (\(job.kind)) can't run while job \(token.job) waits for it: it \(why)")
    }
    return settings.compactMap { if case .limits(job.queue, let limits) = $0 { limits?.running } else { nil } }.min()
      ?? .max
  }

  func stoppedWaiting(_ token: ClaimToken) { shared.withLock { $0.state.stoppedWaiting(token) } }

  /// The claim on whose behalf the current task waits for jobs of this store, if it is a running handler's.
  static func handler(on store: any JobStore) -> (engine: WorkerEngine, token: ClaimToken)? {
    guard let (engine, token) = handler, engine.store.signals.watch === store.signals.watch,
      engine.shared.withLock({ $0.state.isAtWork(token) })
    else { return nil }
    return (engine, token)
  }

  func set(handlers: HandlerTable) {
    tell { shared in
      shared.handlers = handlers
      shared.state.learnedKinds()
    }
  }

  /// Follows the monitors, including those that are added later, until the task is cancelled.
  func hearMonitors() async {
    await withDiscardingTaskGroup { group in
      for await (constraint, monitor) in monitors {
        group.addTask { [self] in
          await monitor { self.told(constraint, $0) }
          if !Task.isCancelled { tell { $0.state.monitorEnded(constraint) } }
        }
      }
    }
  }

  func provide(_ constraint: JobConstraint, _ monitor: @escaping JobWorker.Monitor) {
    shared.withLock { $0.state.constraints.provides(constraint) }
    newMonitors.yield((constraint, monitor))
  }

  private func told(_ constraint: JobConstraint, _ isSatisfied: Bool) {
    interrupt { [uptime] state in
      state.told(constraint, isSatisfied, uptime)
      return state.interrupted(without: [constraint])
    }
    gate.open()
  }

  private func interrupt(_ which: (inout WorkerState) -> [RunningAttempt]) {
    for attempt in shared.withLock({ which(&$0.state) }) { attempt.stop(.constraintLost, at: uptime) }
  }

  private func hear(_ signal: StoreSignal) {
    let isNews = shared.withLock { $0.state.heard(signal) }
    if isNews { gate.open() }
  }

  // MARK: Steps

  /// One transaction: stores results, then claims for the slots that they freed. Returns whether jobs were claimed.
  private func turn(_ settlements: [ClaimSettlement], _ free: [String: Int]?) async throws -> Bool {
    let (satisfied, absent) = shared.withLock { ($0.state.constraints.satisfied, $0.state.constraints.absent) }
    var request = free.map {
      ClaimRequest(worker: id, queues: queues, kinds: kinds, satisfied: satisfied, absent: absent, free: $0)
    }
    request?.only = only
    request?.join = { [shared] in
      // A claim would go by the conditions of before.
      shared.withLock { $0.state.constraints.satisfied == satisfied ? $0.state.joinTurn() : nil }
    }
    let now = store.clock.continuous
    var settlements = settlements
    do {
      let batch: SettlementBatch
      if settlements.isEmpty, let request {
        batch = SettlementBatch(replies: [], claimed: try await store.claim(request))
      } else {
        batch = try await store.settle(settlements, thenClaim: request)
      }
      shared.withLock { $0.state.leaveTurn(&settlements) }
      let answers = zip(settlements.map(\.token), batch.replies)
      for (token, reply) in answers where reply.isAccepted && reply.state?.isFinished ?? false { onEnd(token.job) }
      for (token, reply) in answers where !reply.isAccepted {
        let state = reply.state?.rawValue ?? "removed"
        onLoss(token, reply.state ?? .cancelled)
        logger.debug("result refused", metadata: ["job": "\(token.job)", "state": "\(state)"])
      }
      isOver(.turn)
      let claimed = batch.claimed?.jobs ?? []
      let onNews: @Sendable (Bool) -> Void = { [weak self] in self?.hasNews(isUrgent: $0) }
      let attempts = shared.withLock { shared in
        shared.state.turnEnded(claimed: batch.claimed, uptime)
        if shared.state.late.isEmpty { isOver(.late) }
        return claimed.indices.map { index in
          let attempt = RunningAttempt(claimed[index], at: now, onNews: onNews)
          shared.state.began(attempt)
          return attempt
        }
      }
      for attempt in attempts { begin(attempt) }
      if request != nil { hasClaimed(with: satisfied) }
      return !attempts.isEmpty
    } catch {
      shared.withLock { $0.state.leaveTurn(&settlements) }
      try failedTurn(settlements, wantedClaim: request != nil, error)
      return false
    }
  }

  /// A claimed job may require what was lost meanwhile; and who waits for idleness must learn what can be served now.
  private func hasClaimed(with satisfied: Set<JobConstraint>) {
    let isNews = shared.withLock { exchange(&$0.satisfied, with: satisfied) } != satisfied
    if !satisfied.isEmpty { interrupt { $0.interrupted(without: satisfied) } }
    guard isNews else { return }
    shared.withLock { $0.unserved = [] }
    store.signals.lookouts.workersChanged()
  }

  private func wake(_ bite: ConstraintState.Bite) async {
    let filter = JobFilter.queues(queues) && .requires(bite.constraint) && .state(.scheduled)
    do {
      let report = try await store.change(
        .wake(within: ConstraintState.window), where: filter, after: bite.after, limit: ConstraintState.bite)
      isOver(.wake)
      shared.withLock { $0.state.constraints.woke(bite, next: report.next, uptime) }
    } catch {
      complain(.wake, error)
      shared.withLock { $0.state.constraints.wakeFailed(bite, uptime) }
    }
  }

  private func failedTurn(_ settlements: [ClaimSettlement], wantedClaim: Bool, _ error: any Error) throws {
    if (error as? JobError)?.code == .closed {
      for attempt in attemptsAtWork { attempt.stop(.claimLost, at: uptime) }
      let unstored = shared.withLock { shared in
        shared.closed = error
        return shared.state.storeClosed(uptime)
      }
      return drop(settlements + unstored, error)
    }
    let isPassing = (error as? JobError)?.isPassing ?? false
    let late = (error as? JobError)?.cause as? ResultUnderWay
    let refusal = shared.withLock {
      $0.state.turnFailed(settlements, wantedClaim: wantedClaim, isPassing: isPassing, late: late, uptime)
    }
    switch refusal {
    case .giveUp(let unstored):
      drop(unstored, error)
      throw error
    case .again: complain(late == nil ? .turn : .late, error)
    case .refused(let settlement): giveBack(settlement, because: error)
    }
  }

  /// Replaces a result that can't be stored: its job is given back, or fails if the handler's follow-ups are what the
  /// store refuses, since it would request them again and again. A schedule requests less when it is tried again.
  private func giveBack(_ refused: ClaimSettlement, because error: any Error) {
    let job = Logger.Metadata(dictionaryLiteral: ("job", "\(refused.token.job)"), ("error", "\(error.briefly)"))
    if case .interrupted = refused.result {
      logger.error("a job could not be given back; it stays running until this worker ends", metadata: job)
      onLoss(refused.token, .running)
    } else {
      logger.error("a result could not be stored", metadata: job)
      let message = "what should follow from it can't be stored: \(error.briefly)"
      let isSchedule = refused.followUps.contains { HandlerTable.isOwn($0.kind) }
      let result: ClaimSettlement.Result =
        refused.followUps.isEmpty
        ? .interrupted : isSchedule ? .retry(.now, message: message) : .failed(message: message)
      shared.withLock { $0.state.replace(with: ClaimSettlement(token: refused.token, result: result)) }
    }
  }

  private func drop(_ results: [ClaimSettlement], _ error: any Error) {
    guard !results.isEmpty else { return }
    let goesOn = (error as? JobError)?.cause as? ResultUnderWay == .goesOn
    logger.error(
      goesOn
        ? "results are not stored yet; jobs whose results never are run again"
        : "results could not be stored; their jobs run again",
      metadata: ["jobs": "\(results.map(\.token.job))", "error": "\(error.briefly)"])
    for result in results where !goesOn { onLoss(result.token, .running) }
  }

  private func renew() async {
    let (attempts, now) = (attemptsAtWork, store.clock.continuous)
    let askers = attempts.map { $0.takeAskers() }
    // All claims that are held, including those with unsaved results: what is not listed is given back.
    let renewals =
      attempts.map { ClaimRenewal(token: $0.claim.token, progress: $0.takeProgress()) }
      + shared.withLock { $0.state.tokensInHand }.map { ClaimRenewal(token: $0) }
    do {
      let standings = try await store.renew(RenewalRequest(worker: id, renewals: renewals))
      isOver(.renewal)
      let byToken = Dictionary(zip(renewals.map(\.token), standings), uniquingKeysWith: { $1 })
      shared.withLock { $0.state.renewed(byToken) }
      defer { for (attempt, askers) in zip(attempts, askers) { attempt.renewed(at: now, askers) } }
      for attempt in attempts {
        switch byToken[attempt.claim.token] {
        case .lost:
          logger.warning("claim lost; its handler is cancelled", metadata: ["job": "\(attempt.claim.token.job)"])
          attempt.stop(.claimLost, at: uptime)
        case .stopRequested(let reason): attempt.stop(reason, at: uptime)
        case .held, nil: break
        }
        if let waited = attempt.sinceStop(uptime), waited >= Defaults.grace {
          logger.warning(
            "a handler was asked to stop and goes on; it keeps its slot",
            metadata: ["job": "\(attempt.claim.token.job)", "since": "\(waited)"])
        }
      }
    } catch {
      complain(.renewal, error)
      for (attempt, askers) in zip(attempts, askers) { attempt.renewed(at: nil, askers) }
      for (attempt, renewal) in zip(attempts, renewals) {
        if let progress = renewal.progress { attempt.restore(progress) }
      }
      // Whoever has the file, by another name, runs them again by then.
      let over = (error as? JobError)?.code == .fileGone ? attempts.filter { $0.isLeaseOver(now) } : []
      for attempt in over { attempt.stop(.claimLost, at: uptime) }
      if !over.isEmpty { shared.withLock { $0.state.gaveUp(over.map(\.claim.token)) } }
      shared.withLock { $0.state.renewalFailed(hadProgress: renewals.contains { $0.progress != nil }, uptime) }
    }
  }

  private func recover() async {
    do {
      let report = try await store.recover(RecoveryRequest(worker: id))
      shared.withLock { $0.state.recovered(report, uptime) }
      if report.overdue > 0 {
        logger.info("jobs were given up: their deadline has passed", metadata: ["count": "\(report.overdue)"])
      }
      if report.recovered > 0 {
        logger.debug("jobs of dead workers are back", metadata: ["count": "\(report.recovered)"])
      }
      if !report.unreadable.isEmpty {
        logger.error("jobs whose rows are damaged were suspended", metadata: ["jobs": "\(report.unreadable)"])
      }
      let settings = try await store.settings().constraints
      interrupt { [uptime] state in
        state.learned(settings, uptime)
        return state.interrupted()
      }
      isOver(.recovery)
      if !report.hasMore { try? await tellOfUnserved() }
    } catch let error as JobError where error.code == .fileGone {  // the next claim ends the run, or a renewal tells
    } catch {
      complain(.recovery, error)
    }
  }

  /// Logs once that a ready job is of a kind that no living worker knows, or requires a condition that none provides: what
  /// was forgotten shows in no other way. A look may read very many others first, so one that found it is not repeated.
  private func tellOfUnserved() async throws {
    let ready = JobFilter.queues(queues) && .state(.ready)
    let (own, isBusy, known) = shared.withLock { ($0.state.constraints.absent, $0.state.mayHaveWork, $0.unserved) }
    let wanted = ([ready && !.kinds(kinds)] + (isBusy ? [] : [ready && .kinds(kinds)])).filter { !known.contains($0) }
    // An idle worker asks once.
    if wanted.count > 1, try await store.counts(where: ready).total == 0 { return }
    for some in wanted where try await store.counts(where: some).total > 0 {
      guard let job = try await store.jobs(JobQuery(some, detail: .waits, limit: 1)).first else { continue }
      let reasons = JobExplanation(job, and: store.signals.localWorkers.reaches(in: job.queue)).reasons
      let lack: String? = reasons.lazy.compactMap { reason in
        switch reason {
        case .kindUnknown: "no worker is registered for its kind"
        case .constraint(let name, .unprovided) where !own.contains(name):
          "no worker provides '\(name)', which it requires"
        default: nil
        }
      }.first
      guard let lack else { continue }
      shared.withLock { _ = $0.unserved.insert(some) }
      guard shared.withLock({ $0.told.insert(lack).inserted }) else { continue }
      logger.notice("a job is ready, and \(lack)", metadata: ["job": "\(job.id)", "kind": "\(job.kind)"])
    }
  }

  /// Logs a store's error once as a warning, and again if it changes or comes back.
  private func complain(_ trouble: Trouble, _ error: any Error) {
    let isNew = troubles.withLock { troubles in
      defer { troubles[error.briefly, default: []].insert(trouble) }
      return troubles[error.briefly] == nil
    }
    logger.log(level: isNew ? .warning : .debug, "\(trouble.rawValue)", metadata: ["error": "\(error.briefly)"])
  }

  private func isOver(_ trouble: Trouble) {
    troubles.withLock { troubles in
      for (error, met) in troubles { troubles[error] = met == [trouble] ? nil : met.subtracting([trouble]) }
    }
  }

  /// With very many jobs the answer takes long: a stop waits neither for it nor for who asks.
  private func askIfIdle() async throws {
    let answer = Lock<Result<OutstandingWork, any Error>?>(nil)
    let asking = Task(executorPreference: EngineThread.shared) { [store, scope, gate] in  // ends with its one read
      let found: Result<OutstandingWork, any Error>
      do { found = .success(try await store.outstanding(scope)) } catch { found = .failure(error) }
      answer.withLock { $0 = found }
      gate.open()
    }
    defer { asking.cancel() }
    while !isStopping {
      if let work = try answer.value?.get() { return shared.withLock { $0.state.askedIfIdle(work.isIdle) } }
      await gate.pass()
    }
  }

  private func wait(until time: Duration?) async {
    guard let time else { return await gate.pass() }
    let timer = store.clock.schedule(at: time) { [gate] in gate.open() }
    await gate.pass()
    timer.cancel()
  }

  private func retire() async {
    do { _ = try await store.recover(RecoveryRequest(worker: id, isRetiring: true)) } catch {
      logger.warning("the worker could not say good-bye; its lease will lapse", metadata: ["error": "\(error.briefly)"])
    }
  }

  // MARK: Small ones

  private var closedError: JobError { JobError(.closed, "the store was closed") }

  var uptime: Duration { store.clock.uptime }
  var queues: Set<String> { shared.withLock { $0.state.queues } }
  var kinds: Set<String> { shared.withLock { $0.handlers.kinds } }
  private var attemptsAtWork: [RunningAttempt] { shared.withLock { Array($0.state.atWork.values) } }
  var reach: WorkerReach {
    shared.withLock { WorkerReach(kinds: $0.handlers.kinds, satisfied: $0.state.constraints.satisfied) }
  }
  private var scope: WorkScope { .worker(queues: queues, kinds: reach.kinds, satisfied: reach.satisfied) }
}
