import DurableJobs
import Foundation

/// A store and the oracle, led through one history side by side.
struct HistoryRun {
  /// A claim that a worker has, or had.
  struct HeldClaim {
    let worker: WorkerID
    let token: ClaimToken
  }

  let store: any JobStore
  let clock: ManualClock
  private(set) var oracle: Oracle
  /// Claims that were not settled, whether they still hold or not.
  private(set) var held: [HeldClaim] = []
  /// Claims that were settled, the last few.
  private(set) var spent: [HeldClaim] = []
  /// Of all jobs that there were.
  private(set) var ids: [JobID] = []
  /// Of all batches.
  private(set) var batches: [BatchID] = []
  private var tokens: Set<ClaimToken> = []

  init(store: any JobStore, clock: ManualClock, oracle: Oracle) {
    self.store = store
    self.clock = clock
    self.oracle = oracle
    self.oracle.look(at: clock)
  }

  mutating func take(_ step: HistoryStep) async throws {
    switch step {
    case .insert(let jobs, let batch): try await insert(jobs, batch)
    case .insertBroken(let jobs):
      try await refused(.invalidArgument, "an insertion of which one job has no kind") {
        _ = try await store.insert(JobInsertion(jobs))
      }
    case .claim(let request): try await check(try await store.claim(request), request)
    case .settle(let settlements, let request): try await settle(settlements, request)
    case .renew(let request): try await renew(request, "the standings")
    case .change(let change, let filter, let limit): try await self.change(change, filter, limit)
    case .recover(let request): try await recover(request)
    case .silence(let duration, let isLasting):
      advance(by: duration)
      try await recover(RecoveryRequest())
      guard isLasting else { break }
      advance(by: oracle.policy.doubtInterval)
      try await recover(RecoveryRequest())
    case .pause(let queue, let isPaused):
      try await store.configure([.queue(queue, isPaused: isPaused)])
      if isPaused { oracle.pausedQueues.insert(queue) } else { oracle.pausedQueues.remove(queue) }
    case .limit(let queue, let limits):
      try await store.configure([.limits(queue: queue, limits)])
      oracle.limits[queue] = limits
    case .widen(let lane, let width) where width > 1 && oracle.paces[lane] != nil:
      try await refused(.wrongState, "a width of a lane with a rate") {
        try await store.configure([.lane(lane, width: width)])
      }
    case .pace(let lane, let rate?) where oracle.widths[lane] ?? 1 > 1:
      try await refused(.wrongState, "a rate of a wide lane") {
        try await store.configure([.laneRate(lane, rate)])
      }
    case .pace(let lane, let rate?) where oracle.seats[lane]?.count ?? 0 > 1:
      try await refused(.wrongState, "a rate of a lane of which several have seats") {
        try await store.configure([.laneRate(lane, rate)])
      }
    case .pace(let lane, let rate):
      try await store.configure([.laneRate(lane, rate)])
      oracle.setRate(rate, of: lane)
    case .widen(let lane, let width):
      try await store.configure([.lane(lane, width: width)])
      oracle.setWidth(width, of: lane)
    case .constrain(let constraint, let isSatisfied):
      try await store.configure([.constraint(constraint, satisfied: isSatisfied)])
      oracle.setByHand[constraint] = isSatisfied
    case .page(let query):
      try same(try await store.jobs(query).map(\.id), oracle.jobs(query).map(\.id), "the jobs of \(query)")
    case .advance(let duration): advance(by: duration)
    case .stepClock(let duration):
      // What becomes of a step must not hang on when the store looked last, nor on which due jobs it has written down.
      try await recover(RecoveryRequest())
      try await touch()
      clock.stepWallClock(by: duration)
      oracle.look(at: clock)
      try await touch()
    }
    try await seeDrawnTimes()
    try await compareAll()
  }

  // MARK: Steps

  private mutating func insert(_ jobs: [NewJob], _ membership: BatchMembership?) async throws {
    let insertion = JobInsertion(jobs, batch: membership)
    if let code = oracle.refusal(of: jobs, in: membership) {
      return try await refused(code, "an insertion") { _ = try await store.insert(insertion) }
    }
    let reply = try await store.insert(insertion)
    try same(reply.batch == nil, membership == nil, "that there is no batch")
    switch (membership, reply.batch) {
    case (.new(let name, let whenDone), let id?):
      try add(BatchLog(name: name, whenDone: whenDone), id)
    case (.open(let name, let whenDone), let id?):
      try add(BatchLog(name: name, whenDone: whenDone, isOpen: true), id)
    case (.close(let known), let id):
      try same(id, known, "the batch that is closed")
      oracle.batches[known]?.isOpen = false
    default: break
    }
    let ids = try await meetNew()
    try same(reply.jobs.filter(\.disposition.isNew).map(\.id), ids, "the jobs that were stored")
    var given = ids[...]
    try same(reply.jobs, oracle.insert(jobs, in: reply.batch, &given), "who stands for new jobs")
    try oracle.settleBatches()
  }

  private mutating func add(_ batch: BatchLog, _ id: BatchID) throws {
    try holds(oracle.batches[id] == nil, "\(id) is a new batch")
    oracle.batches[id] = batch
    batches.append(id)
  }

  /// Jobs that were not there before, and do not follow a batch.
  private mutating func meetNew() async throws -> [JobID] {
    let new = try await store.jobs(JobQuery(detail: .payload, after: ids.last, limit: 100_000))
    ids += new.map(\.id)
    for job in new where HistoryMaker.followsBatch(job.payload) {
      if let payload = job.payload { oracle.followers[payload] = job.id }
    }
    return new.filter { !HistoryMaker.followsBatch($0.payload) }.map(\.id)
  }

  /// What was done let nobody come but who follows a batch.
  private mutating func settleBatches() async throws {
    try same(try await meetNew(), [], "jobs that came")
    try oracle.settleBatches()
  }

  private mutating func renew(_ request: RenewalRequest, _ what: String) async throws {
    try same(try await store.renew(request), oracle.renew(request), what)
    try await settleBatches()
  }

  private mutating func check(_ batch: ClaimBatch, _ request: ClaimRequest) async throws {
    let choice = oracle.choice(for: request)
    try same(batch.jobs.map(\.token.job), choice.jobs.map(\.id), "the jobs claimed by \(request.worker)")
    let logs = oracle.claimed(batch.jobs.map(\.token), by: request, overdue: choice.overdue)
    for (claimed, log) in zip(batch.jobs, logs) {
      let job = log.job
      try holds(tokens.insert(claimed.token).inserted, "\(claimed.token) is a new token")
      try same(claimed.queue, job.queue, "the queue claimed")
      try same(claimed.kind, job.kind, "the kind claimed")
      try same(claimed.payload, log.payload, "the payload claimed of job \(log.id)")
      try same(claimed.attempt, log.attempt, "the attempt claimed of job \(log.id)")
      try same(claimed.maxAttempts, job.terms.maxAttempts, "the attempts of job \(log.id)")
      try same(claimed.timeout, job.terms.timeout, "the timeout of job \(log.id)")
      try same(claimed.requires, job.terms.requires, "what job \(log.id) requires")
      try same(claimed.whenLost, job.terms.whenLost, "what becomes of job \(log.id) when that is lost")
      try same(claimed.inputs, oracle.inputs(of: log.id), "the inputs of job \(log.id)")
      let deadline: Date? = if case .end = log.deadline { log.openDeadline } else { nil }
      try same(claimed.deadline, deadline, "the deadline of job \(log.id)")
      try same(claimed.steps, log.steps, "the steps of job \(log.id)")
      held.append(HeldClaim(worker: request.worker, token: claimed.token))
    }
    try same(batch.nextDue, choice.nextDue, "when the next job is due")
    try same(batch.full, choice.full, "the queues that are full")
    if choice.hasMore { try holds(batch.hasMore, "there is more") }
    try await settleBatches()
    // A store need not write a lease anew with each claim, but it does with each renewal.
    let claims = held.filter { $0.worker == request.worker }
    let renewal = RenewalRequest(
      worker: request.worker, lease: request.lease, renewals: claims.map { ClaimRenewal(token: $0.token) })
    try await renew(renewal, "the standings of all claims")
  }

  private mutating func settle(_ settlements: [ClaimSettlement], _ request: ClaimRequest?) async throws {
    let batch = try await store.settle(settlements, thenClaim: request)
    let expected = oracle.settle(settlements, try await meetNew())
    try same(batch.replies.map(\.withDueJobsMerged), expected.map(\.withDueJobsMerged), "the replies")
    let settled = held.filter { claim in settlements.contains { $0.token == claim.token } }
    held.removeAll { claim in settled.contains { $0.token == claim.token } }
    spent = (spent + settled).suffix(20)
    try await seeDrawnTimes()
    try same(batch.claimed == nil, request == nil, "that nothing was claimed")
    if let request, let claimed = batch.claimed {
      try await check(claimed, request)
    } else {
      try oracle.settleBatches()
    }
  }

  /// Changes all jobs of the filter, in bites.
  private mutating func change(_ change: JobChange, _ filter: JobFilter, _ limit: Int) async throws {
    var all = ChangeReport()
    repeat {
      let report = try await store.change(change, where: filter, after: all.next, limit: limit)
      try holds(report.changed.count + report.refused.count <= limit, "a bite has at most \(limit) jobs")
      try holds(report.next.map { $0 > all.next ?? JobID(rawValue: 0) } ?? true, "a change comes to its end")
      all.changed += report.changed
      all.refused += report.refused
      all.next = report.next
      try same(try await meetNew(), [], "jobs that came")
    } while all.next != nil
    let (changed, refused) = try oracle.change(change, filter, limit: limit)
    try same(all.changed, changed, "the jobs changed by \(change)")
    try same(all.refused.map(\.job), refused.map(\.job), "the jobs that refuse \(change)")
    for (refusal, expected) in zip(all.refused, refused) {
      try holds(refusal.message.contains(expected.name), "'\(refusal.message)' names '\(expected.name)'")
    }
    try await seeDrawnTimes()
  }

  /// Recovers in bites, until nothing is left.
  private mutating func recover(_ request: RecoveryRequest) async throws {
    var all = RecoveryReport()
    var bites = 0
    repeat {
      let report = try await store.recover(request)
      all.recovered += report.recovered
      all.overdue += report.overdue
      all.pruned += report.pruned
      all.unreadable += report.unreadable
      all.hasMore = report.hasMore
      all.comeAgain = report.comeAgain
      bites += 1
      try same(try await meetNew(), [], "jobs that came")
    } while all.hasMore && bites < 1000
    let left = Set(try await store.jobs(JobQuery(limit: 100_000)).map(\.id))
    try same(all, oracle.recover(request, left), "the report of the recovery")
    try oracle.settleBatches()
    try await seeDrawnTimes()
  }

  private mutating func advance(by duration: Duration) {
    clock.advance(by: duration)
    oracle.look(at: clock)
  }

  private mutating func touch() async throws { try await change(.resume, .id(JobID(rawValue: .max)), 1) }

  private mutating func seeDrawnTimes() async throws {
    for id in oracle.undrawn {
      let job = try present(try await store.jobs(JobQuery(.id(id))).first, "job \(id)")
      try oracle.drawn(job.withDueJobReady(at: oracle.now).runAt, for: id)
    }
  }

  // MARK: All that there is

  private func compareAll() async throws {
    let query = JobQuery(detail: .all, limit: 100_000)
    let expected = oracle.jobs(query)
    let actual = try await store.jobs(query).map { $0.withDueJobReady(at: oracle.now) }
    try same(actual.map(\.id), expected.map(\.id), "all jobs")
    for (theirs, mine) in zip(actual, expected) { try same(theirs, mine, "job \(mine.id)") }
    for filter in [JobFilter.all] + HistoryMaker.queues.map({ .queue($0) }) + HistoryMaker.kinds.map({ .kind($0) }) {
      let counts = oracle.counts(filter).withDueJobsMerged
      try same(try await store.counts(where: filter).withDueJobsMerged, counts, "the counts of \(filter)")
    }
    let worker = WorkScope.worker(queues: Set(HistoryMaker.queues), kinds: ["k1", "k2"], satisfied: ["c1"])
    let local = WorkScope.queue("q1", and: [WorkerReach(kinds: ["k1"], satisfied: ["c2"])])
    for scope in HistoryMaker.queues.map({ .queue($0) }) + [local, worker] {
      let work = try await store.outstanding(scope).withDueJobsMerged
      try same(work, oracle.outstanding(scope).withDueJobsMerged, "the outstanding work of \(scope)")
    }
    for id in batches {
      try same(try await store.batches(.id(id)).first, oracle.batch(id), "the batch \(id)")
    }
    for name in HistoryMaker.batches {
      try same(try await store.batches(.name(name)).first, oracle.batch(named: name), "the batch \(name)")
    }
    let paused = try await store.settings().compactMap {
      if case .queue(let name, isPaused: true) = $0 { name } else { nil }
    }
    try same(Set(paused), oracle.pausedQueues, "the paused queues")
    try same(try await store.settings().constraints, oracle.setByHand, "what is set of conditions")
    var limits: [String: JobLimits] = [:]
    for case .limits(let queue, let set?) in try await store.settings() { limits[queue] = set }
    try same(limits, oracle.limits, "the limits of queues")
    var rates: [String: JobRate] = [:]
    for case .laneRate(let lane, let set?) in try await store.settings() { rates[lane] = set }
    try same(rates, oracle.paces.mapValues(\.rate), "the rates of lanes")
    var widths: [String: Int] = [:]
    for case .lane(let name, let width) in try await store.settings() { widths[name] = width }
    try same(widths, oracle.widths.filter { $0.value != 1 }, "the widths of lanes")
  }
}

// A job that is due counts as ready. When a store writes that down is its own affair.

extension JobSnapshot {
  fileprivate func withDueJobReady(at now: Date) -> JobSnapshot {
    guard state == .scheduled, let runAt, runAt <= now else { return self }
    var job = self
    job.state = .ready
    job.runAt = nil
    return job
  }
}

extension JobCounts {
  fileprivate var withDueJobsMerged: JobCounts {
    var counts = self
    counts[.ready] += counts[.scheduled]
    counts[.scheduled] = 0
    return counts
  }
}

extension OutstandingWork {
  fileprivate var withDueJobsMerged: OutstandingWork {
    var work = self
    work.left = left.withDueJobsMerged
    return work
  }
}

extension SettlementReply {
  fileprivate var withDueJobsMerged: SettlementReply {
    !isAccepted && state == .scheduled ? SettlementReply(isAccepted: false, state: .ready) : self
  }
}
