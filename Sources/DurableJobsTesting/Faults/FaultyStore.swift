import DurableJobs

/// A store that behaves like another one, except for what it is told to get wrong: for tests of code that uses a store,
/// and of tests of stores.
public final class FaultyStore: JobStore {
  /// A promise that the store breaks.
  public enum Fault: String, Sendable, CaseIterable {
    /// Accepts reports under claims that were lost.
    case noFence
    /// Reports that a success is stored, and stores nothing.
    case lostResult
    /// Claims the last jobs first.
    case wrongOrder
    /// Takes no jobs back from dead workers.
    case noRecovery
    /// Counts attempts that were cut short by a process death.
    case attemptKept
    /// Claims one job more than there is room for.
    case overCapacity
    /// Claims jobs whose required conditions do not hold.
    case constraintsIgnored
    /// Stores the jobs of an insertion one by one.
    case splitInsertion
    /// Signals new jobs before they are stored.
    case earlySignals
    /// Sends no signals.
    case noSignals
    /// Tells no worker that its job must stop.
    case stopForgotten
    /// Forgets the deadlines of jobs.
    case deadlinesIgnored
    /// Gives claims no results of the job's steps.
    case stepsForgotten
    /// Stores a job whose unique key is taken.
    case keysIgnored
    /// Never releases a unique key.
    case keysForEver
  }

  /// A call that can be made to fail.
  public enum Verb: String, Sendable, CaseIterable {
    case insert, claim, renew, settle, recover, change, configure, jobs, counts, outstanding, settings, batches
  }

  private struct Failure {
    let verb: Verb
    let error: JobError
    let isDone: Bool
    var left: Int
  }

  private struct State {
    var failures: [Failure] = []
    var calls: [Verb: Int] = [:]
    var newestTokens: [JobID: ClaimToken] = [:]
    var holders: [String: JobID] = [:]
  }

  public let signals: StoreSignals
  public var clock: any JobClock { base.clock }
  public var path: String? { base.path }
  public func close() async { await base.close() }
  private let base: any JobStore
  private let fault: Fault?
  private let forwarding: StoreSignals.Subscription?
  private let state = Lock(State())

  public init(_ base: any JobStore, fault: Fault? = nil) {
    self.base = base
    self.fault = fault
    let own = StoreSignals()
    signals = fault == .earlySignals || fault == .noSignals ? own : base.signals
    forwarding = fault == .earlySignals ? base.signals.listen { own.post($0) } : nil
  }

  /// Makes the next `count` calls of `verb` fail. If `isDone`, they do their work, and only the reply is lost.
  public func fail(next count: Int = 1, _ verb: Verb, with error: JobError, isDone: Bool = false) {
    state.withLock { $0.failures.append(Failure(verb: verb, error: error, isDone: isDone, left: count)) }
  }

  /// Ends what ``fail(next:_:with:isDone:)`` began.
  public func stopFailing() { state.withLock { $0.failures = [] } }

  /// How often `verb` has been called so far, including failed calls.
  public func calls(of verb: Verb) -> Int { state.withLock { $0.calls[verb] ?? 0 } }

  private func call<R: Sendable>(_ verb: Verb, _ body: () async throws -> R) async throws -> R {
    let failure = state.withLock { state -> Failure? in
      state.calls[verb, default: 0] += 1
      guard let index = state.failures.firstIndex(where: { $0.verb == verb && $0.left > 0 }) else { return nil }
      state.failures[index].left -= 1
      return state.failures[index]
    }
    if let failure, !failure.isDone { throw failure.error }
    let answer = try await body()
    if let failure { throw failure.error }
    return answer
  }

  // MARK: Verbs

  public func insert(_ insertion: JobInsertion) async throws -> InsertionReply {
    try await call(.insert) {
      switch fault {
      case .splitInsertion:
        var jobs: [InsertedJob] = []
        for job in insertion.jobs { jobs += try await base.insert(JobInsertion([job])).jobs }
        return InsertionReply(jobs)
      case .keysIgnored:
        return try await base.insert(JobInsertion(insertion.jobs.map { $0.withoutUniqueKey() }))
      case .deadlinesIgnored:
        return try await base.insert(
          JobInsertion(
            insertion.jobs.map { job in
              var job = job
              job.terms.deadline = nil
              return job
            }))
      case .keysForEver:
        return try await insertForEver(insertion)
      case .earlySignals:
        try await tellEarly(insertion)
        return try await base.insert(insertion)
      default:
        return try await base.insert(insertion)
      }
    }
  }

  public func claim(_ request: ClaimRequest) async throws -> ClaimBatch {
    try await call(.claim) { try await faultyClaim(request) }
  }

  public func renew(_ request: RenewalRequest) async throws -> [ClaimStanding] {
    try await call(.renew) {
      let standings = try await base.renew(request)
      guard fault == .stopForgotten else { return standings }
      return standings.map { if case .stopRequested = $0 { .held } else { $0 } }
    }
  }

  public func settle(_ settlements: [ClaimSettlement], thenClaim: ClaimRequest?) async throws -> SettlementBatch {
    try await call(.settle) {
      var batch = SettlementBatch(replies: [])
      if fault == .lostResult || fault == .noFence {
        for settlement in settlements { batch.replies.append(try await faultySettle(settlement)) }
      } else {
        batch = try await base.settle(settlements, thenClaim: nil)
      }
      if let thenClaim { batch.claimed = try await faultyClaim(thenClaim) }
      return batch
    }
  }

  public func recover(_ request: RecoveryRequest) async throws -> RecoveryReport {
    try await call(.recover) {
      fault == .noRecovery && !request.isRetiring ? RecoveryReport() : try await base.recover(request)
    }
  }

  public func change(
    _ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int
  ) async throws -> ChangeReport {
    try await call(.change) { try await base.change(change, where: filter, after: after, limit: limit) }
  }

  public func configure(_ settings: [StoreSetting]) async throws {
    try await call(.configure) { try await base.configure(settings) }
  }

  public func jobs(_ query: JobQuery) async throws -> [JobSnapshot] {
    try await call(.jobs) {
      let jobs = try await base.jobs(query)
      guard fault == .attemptKept else { return jobs }
      return jobs.map { job in
        var job = job
        job.attempt += job.crashes
        return job
      }
    }
  }

  public func counts(where filter: JobFilter) async throws -> JobCounts {
    try await call(.counts) { try await base.counts(where: filter) }
  }

  public func outstanding(_ scope: WorkScope) async throws -> OutstandingWork {
    try await call(.outstanding) { try await base.outstanding(scope) }
  }

  public func settings() async throws -> [StoreSetting] {
    try await call(.settings) { try await base.settings() }
  }

  public func batches(_ query: BatchQuery) async throws -> [BatchSnapshot] {
    try await call(.batches) { try await base.batches(query) }
  }

  // MARK: Faults

  private func faultyClaim(_ request: ClaimRequest) async throws -> ClaimBatch {
    var request = request
    switch fault {
    case .overCapacity: request.free = request.free.mapValues { $0 + 1 }
    case .wrongOrder: return try await claimLast(request)
    case .constraintsIgnored: request.satisfied = ["c1", "c2"]
    default: break
    }
    var batch = try await base.claim(request)
    if fault == .stepsForgotten { for index in batch.jobs.indices { batch.jobs[index].steps = [:] } }
    if fault == .noFence {
      state.withLock { state in for job in batch.jobs { state.newestTokens[job.token.job] = job.token } }
    }
    return batch
  }

  /// Claims everything there is, and gives back what comes first.
  private func claimLast(_ request: ClaimRequest) async throws -> ClaimBatch {
    var all = request
    all.free = request.free.mapValues { _ in 1000 }
    var batch = try await base.claim(all)
    var room = request.free
    var rest: [ClaimSettlement] = []
    let jobs = batch.jobs.reversed().filter { job in
      if room[job.queue]! > 0 {
        room[job.queue]! -= 1
        return true
      }
      rest.append(ClaimSettlement(token: job.token, result: .interrupted))
      return false
    }
    _ = try await base.settle(rest, thenClaim: nil)
    batch.jobs = jobs
    batch.hasMore = !rest.isEmpty
    return batch
  }

  private func faultySettle(_ settlement: ClaimSettlement) async throws -> SettlementReply {
    if fault == .lostResult, case .succeeded = settlement.result {
      return SettlementReply(isAccepted: true, state: .succeeded)
    }
    let reply = try await base.settle([settlement], thenClaim: nil).replies[0]
    guard fault == .noFence, !reply.isAccepted,
      let newest = state.withLock({ $0.newestTokens[settlement.token.job] })
    else { return reply }
    var settlement = settlement
    settlement.token = newest
    return try await base.settle([settlement], thenClaim: nil).replies[0]
  }

  /// Leads to the first job that ever held a key, whatever has become of it.
  private func insertForEver(_ insertion: JobInsertion) async throws -> InsertionReply {
    let known = state.withLock { $0.holders }
    let holders = insertion.jobs.map { $0.terms.unique.flatMap { known[$0.key] } }
    let new = zip(insertion.jobs, holders).filter { $0.1 == nil }.map(\.0)
    var inserted = try await base.insert(JobInsertion(new)).jobs[...]
    let jobs = holders.map { holder in
      holder.map { InsertedJob(id: $0, disposition: .kept) } ?? inserted.removeFirst()
    }
    state.withLock { state in
      for (job, reply) in zip(insertion.jobs, jobs) {
        if let unique = job.terms.unique { state.holders[unique.key] = reply.id }
      }
    }
    return InsertionReply(jobs)
  }

  /// Signals jobs, and then gives whoever heard that the time to look.
  private func tellEarly(_ insertion: JobInsertion) async throws {
    let last = try await base.jobs(JobQuery(order: .newestFirst, limit: 1)).first?.id.rawValue ?? 0
    let looks = calls(of: .jobs)
    signals.post(
      .committed(
        insertion.jobs.enumerated().map { index, job in
          JobTransition(
            id: JobID(rawValue: last + 1 + Int64(index)), queue: job.queue, kind: job.kind, state: .ready)
        }))
    for _ in 0..<1000 where signals.hasListeners && calls(of: .jobs) == looks { await Task.yield() }
  }
}

extension NewJob {
  fileprivate func withoutUniqueKey() -> NewJob {
    var job = self
    job.terms.unique = nil
    return job
  }
}
