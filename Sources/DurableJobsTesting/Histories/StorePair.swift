import DurableJobs
import Foundation

/// The model and the store that is held against it, side by side.
struct StorePair {
  struct Side: Sendable {
    let store: any JobStore
    let clock: ManualClock
  }

  /// A claim of one job, by what each side calls it.
  struct HeldClaim: Sendable, CustomStringConvertible {
    let worker: String
    let model: ClaimToken
    let subject: ClaimToken

    var description: String { "\(worker)'s claim \(model.claim) of job \(model.job)" }
  }

  let model: Side
  let subject: Side
  /// Claims that were not settled, whether they still hold or not.
  private(set) var held: [HeldClaim] = []
  /// Claims that were settled, the last few.
  private(set) var spent: [HeldClaim] = []
  /// By the model's names.
  private(set) var ids: [JobID] = []
  private var subjectIDs: [JobID: JobID] = [:]
  private var modelIDs: [JobID: JobID] = [:]

  init(model: Side, subject: Side) {
    self.model = model
    self.subject = subject
  }

  var now: Date { model.clock.now }

  mutating func take(_ step: HistoryStep) async throws {
    switch step {
    case .insert(let jobs): try await insert(jobs)
    case .claim(let request):
      try await compareClaims(
        request, try await model.store.claim(request), try await subject.store.claim(request))
    case .settle(let settlements, let request): try await settle(settlements, request)
    case .renew(let worker, let renewals): try await renew(worker, renewals)
    case .change(let change, let filter, let limit): try await self.change(change, filter, limit)
    case .recover(let worker): try await recover(RecoveryRequest(worker: worker.map { WorkerID($0) }))
    case .retire(let worker): try await recover(RecoveryRequest(worker: WorkerID(worker), isRetiring: true))
    case .pause(let queue, let isPaused):
      try await model.store.configure([.queue(queue, isPaused: isPaused)])
      try await subject.store.configure([.queue(queue, isPaused: isPaused)])
    case .outstanding(let scope):
      let expected = try await model.store.outstanding(scope)
      let actual = try await subject.store.outstanding(scope)
      try same(actual.withDueJobsMerged, expected.withDueJobsMerged, "the outstanding work of \(scope)")
    case .page(let filter, let order, let limit): try await page(filter, order, limit)
    case .advance(let duration):
      model.clock.advance(by: duration)
      subject.clock.advance(by: duration)
    case .stepClock(let duration):
      // What they make of a step must not hang on when they looked last, nor on which due jobs they have written down.
      try await recover(RecoveryRequest())
      try await touch()
      model.clock.stepWallClock(by: duration)
      subject.clock.stepWallClock(by: duration)
      try await touch()
    }
  }

  // MARK: Steps

  private mutating func insert(_ jobs: [NewJob]) async throws {
    let expected = try await model.store.insert(JobInsertion(jobs)).jobs
    let actual = try await subject.store.insert(JobInsertion(jobs)).jobs
    try same(actual.map(\.disposition), expected.map(\.disposition), "what became of the new jobs")
    for (mine, theirs) in zip(expected, actual) {
      if mine.disposition == .inserted {
        try holds(modelIDs[theirs.id] == nil, "\(theirs.id) is a new id")
        subjectIDs[mine.id] = theirs.id
        modelIDs[theirs.id] = mine.id
        ids.append(mine.id)
      } else {
        try same(name(theirs.id), mine.id, "the job that stands for a new one")
      }
    }
  }

  /// A store need not write a lease anew with each claim, but it does with each renewal: that keeps the two equal.
  private mutating func compareClaims(
    _ request: ClaimRequest, _ expected: ClaimBatch, _ actual: ClaimBatch
  ) async throws {
    try same(
      actual.jobs.map { name($0.token.job) }, expected.jobs.map(\.token.job), "the jobs claimed by \(request.worker)")
    for (theirs, mine) in zip(actual.jobs, expected.jobs) {
      try same(
        [
          theirs.queue, theirs.kind, "\(theirs.attempt)", "\(theirs.maxAttempts)",
          "\(String(describing: theirs.timeout))",
        ],
        [mine.queue, mine.kind, "\(mine.attempt)", "\(mine.maxAttempts)", "\(String(describing: mine.timeout))"],
        "what is claimed of job \(mine.token.job)")
      try holds(theirs.payload == mine.payload, "the payload claimed of job \(mine.token.job) is the stored one")
      held.append(HeldClaim(worker: request.worker.name, model: mine.token, subject: theirs.token))
    }
    try same(actual.nextDue, expected.nextDue, "when the next job is due")
    if expected.hasMore { try holds(actual.hasMore, "there is more") }
    try await renew(request.worker.name, held.filter { $0.worker == request.worker.name }.map { ($0, nil) })
  }

  private mutating func settle(
    _ settlements: [(claim: HeldClaim, result: ClaimSettlement.Result, progress: JobProgress?)],
    _ request: ClaimRequest?
  ) async throws {
    let expected = try await model.store.settle(
      settlements.map { ClaimSettlement(token: $0.claim.model, result: $0.result, progress: $0.progress) },
      thenClaim: request)
    let actual = try await subject.store.settle(
      settlements.map { ClaimSettlement(token: $0.claim.subject, result: $0.result, progress: $0.progress) },
      thenClaim: request)
    try same(
      actual.replies.map(\.withDueJobsMerged), expected.replies.map(\.withDueJobsMerged),
      "the replies to \(settlements)")
    let tokens = Set(settlements.map(\.claim.model))
    held.removeAll { tokens.contains($0.model) }
    spent = (spent + settlements.map(\.claim)).suffix(20)
    try same(actual.claimed == nil, expected.claimed == nil, "that nothing was claimed")
    if let request, let theirs = actual.claimed, let mine = expected.claimed {
      try await compareClaims(request, mine, theirs)
    }
  }

  private func renew(_ worker: String, _ renewals: [(claim: HeldClaim, progress: JobProgress?)]) async throws {
    let expected = try await model.store.renew(
      RenewalRequest(
        worker: WorkerID(worker), renewals: renewals.map { ClaimRenewal(token: $0.claim.model, progress: $0.progress) })
    )
    let actual = try await subject.store.renew(
      RenewalRequest(
        worker: WorkerID(worker),
        renewals: renewals.map { ClaimRenewal(token: $0.claim.subject, progress: $0.progress) }))
    try same(actual, expected, "the standings of \(renewals)")
  }

  private func change(_ change: JobChange, _ filter: JobFilter, _ limit: Int) async throws {
    let expected = try await model.changeAll(change, filter, limit)
    let actual = try await subject.changeAll(change, translate(filter), limit)
    try same(actual.changed.map(name), expected.changed, "the jobs changed by \(change)")
    try same(actual.refused.map { name($0.job) }, expected.refused.map(\.job), "the jobs that refuse \(change)")
  }

  private func recover(_ request: RecoveryRequest) async throws {
    let expected = try await model.store.recover(request)
    let actual = try await subject.store.recover(request)
    try same(actual, expected, "the report of the recovery")
  }

  private func touch() async throws { try await change(.resume, .id(JobID(rawValue: .max)), 1) }

  private func page(_ filter: JobFilter, _ order: JobQuery.Order, _ limit: Int) async throws {
    let after = order == .oldestFirst ? ids.first : ids.last
    let expected = try await model.store.jobs(JobQuery(filter, order: order, after: after, limit: limit))
    let actual = try await subject.store.jobs(
      JobQuery(translate(filter), order: order, after: after.map { subjectIDs[$0]! }, limit: limit))
    try same(actual.map { name($0.id) }, expected.map(\.id), "the jobs of \(filter)")
  }

  // MARK: All that there is

  func compareAll() async throws {
    let query = JobQuery(detail: .all, limit: 100_000)
    let date = now
    let expected = try await model.store.jobs(query).map { $0.withDueJobReady(at: date) }
    let actual = try await subject.store.jobs(query).map { job in
      var job = job.withDueJobReady(at: date)
      job.id = name(job.id)
      return job
    }
    try same(actual.map(\.id), expected.map(\.id), "all jobs")
    for (theirs, mine) in zip(actual, expected) { try same(theirs, mine, "job \(mine.id)") }
    for filter in [JobFilter.all] + HistoryStep.queues.map({ .queue($0) }) + HistoryStep.kinds.map({ .kind($0) }) {
      let counts = try await model.store.counts(where: filter).withDueJobsMerged
      try same(try await subject.store.counts(where: filter).withDueJobsMerged, counts, "the counts of \(filter)")
    }
    for queue in HistoryStep.queues { try await compareOutstanding(.queue(queue)) }
    let scope = WorkScope.worker(queues: Set(HistoryStep.queues), kinds: ["k1", "k2"])
    try await compareOutstanding(scope)
    try same(
      Set(try await subject.store.settings().filter(\.isPause)),
      Set(try await model.store.settings().filter(\.isPause)), "the paused queues")
  }

  private func compareOutstanding(_ scope: WorkScope) async throws {
    let expected = try await model.store.outstanding(scope).withDueJobsMerged
    let actual = try await subject.store.outstanding(scope).withDueJobsMerged
    try same(actual, expected, "the outstanding work of \(scope)")
  }

  // MARK: Names

  private func name(_ subjectID: JobID) -> JobID { modelIDs[subjectID] ?? JobID(rawValue: -subjectID.rawValue) }

  private func translate(_ filter: JobFilter) -> JobFilter {
    switch filter {
    case .id(let id): .id(subjectIDs[id] ?? JobID(rawValue: .max))
    case .and(let a, let b): .and(translate(a), translate(b))
    case .or(let a, let b): .or(translate(a), translate(b))
    case .not(let a): .not(translate(a))
    case .all, .queue, .kind, .state, .tag, .key: filter
    }
  }
}

extension StorePair.Side {
  fileprivate func changeAll(_ change: JobChange, _ filter: JobFilter, _ limit: Int) async throws -> ChangeReport {
    var all = ChangeReport()
    var after: JobID?
    for _ in 0..<10_000 {
      let report = try await store.change(change, where: filter, after: after, limit: limit)
      all.changed += report.changed
      all.refused += report.refused
      after = report.next
      if after == nil { return all }
    }
    throw Difference("a change of all jobs of \(filter) comes to no end")
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

extension StoreSetting {
  fileprivate var isPause: Bool {
    if case .queue(_, isPaused: true) = self { true } else { false }
  }
}
