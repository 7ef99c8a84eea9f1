import Foundation

/// Claims, and what workers report under them.
extension JobTable {
  mutating func claim(_ request: ClaimRequest, now: Date) -> ClaimBatch {
    let worker = greet(request, now: now)
    for index in records.indices { promote(index, now: now) }
    var capacity = request.capacity
    var batch = ClaimBatch()
    for index in readyInOrder(for: request) {
      let queue = records[index].job.queue
      guard let free = capacity[queue], free > 0 else {
        batch.hasMore = true
        continue
      }
      capacity[queue] = free - 1
      batch.jobs.append(take(index, worker: worker, now: now))
    }
    batch.nextDue = records.filter { $0.course.state == .scheduled && isServed($0, request) }
      .compactMap(\.course.runAt).min().map { .milliseconds($0.milliseconds - now.milliseconds) }
    return batch
  }

  mutating func renew(_ request: RenewalRequest, now: Date) -> [ClaimStanding] {
    guard let worker = workers.firstIndex(where: { $0.id == request.worker }) else {
      return request.renewals.map { _ in .lost }
    }
    workers[worker].leaseUntil = now.adding(request.lease)
    workers[worker].doubtedAt = nil
    return request.renewals.map { renewal in
      guard let index = holder(of: renewal.token) else { return .lost }
      if let progress = renewal.progress { update(index, now: now) { $0.store(progress) } }
      return records[index].course.stopAsked.map { .stopRequested($0) } ?? .held
    }
  }

  mutating func settle(_ settlement: ClaimSettlement, now: Date) -> SettlementReply {
    guard let index = holder(of: settlement.token) else {
      return SettlementReply(
        isAccepted: false, state: self.index(of: settlement.token.job).map { records[$0].course.state })
    }
    let policy = policy
    update(index, now: now) { record in
      if let progress = settlement.progress { record.store(progress) }
      let attempt = record.course.attempt
      if let message = record.course.settle(
        settlement.result, now: now, policy: policy, random: .random(in: 0...1))
      {
        record.remember(AttemptFailure(attempt: attempt, at: now, message: message))
      }
      if case .succeeded(let output) = settlement.result { record.output = output }
    }
    return SettlementReply(isAccepted: true, state: records[index].course.state)
  }

  /// Its time has come, if it waits for one that is over.
  @discardableResult
  mutating func promote(_ index: Int, now: Date) -> Bool {
    var course = records[index].course
    course.promote(now: now)
    guard course != records[index].course else { return false }
    update(index, now: now) { $0.course = course }
    return true
  }

  /// Grants the lease.
  private mutating func greet(_ request: ClaimRequest, now: Date) -> WorkerNumber {
    let known = workers.firstIndex { $0.id == request.worker }
    let worker = Worker(
      number: known.map { workers[$0].number } ?? nextNumber(), id: request.worker,
      leaseUntil: now.adding(request.lease), kinds: request.kinds, queues: Set(request.capacity.keys))
    if let known { workers[known] = worker } else { workers.append(worker) }
    return worker.number
  }

  private func isServed(_ record: Record, _ request: ClaimRequest) -> Bool {
    request.kinds.contains(record.job.kind) && request.capacity[record.job.queue] != nil
      && !pausedQueues.contains(record.job.queue)
  }

  private func readyInOrder(for request: ClaimRequest) -> [Int] {
    records.indices
      .filter { records[$0].course.state == .ready && isServed(records[$0], request) }
      .sorted { a, b in
        let (first, second) = (records[a].job.terms.priority, records[b].job.terms.priority)
        return first == second ? a < b : first > second
      }
  }

  private mutating func take(_ index: Int, worker: WorkerNumber, now: Date) -> ClaimedJob {
    let claim = Claim(number: nextNumber(), worker: worker)
    update(index, now: now) { record in
      record.course.claim()
      record.claim = claim
      record.startedAt = now
    }
    let record = records[index]
    return ClaimedJob(
      token: ClaimToken(job: record.id, claim: claim.number), queue: record.job.queue, kind: record.job.kind,
      payload: record.job.payload, attempt: record.course.attempt, maxAttempts: record.course.maxAttempts,
      timeout: record.job.terms.timeout)
  }

  /// The job that is held under `token`. A worker that was recovered holds nothing, even where recovery has not come to
  /// its job yet.
  private func holder(of token: ClaimToken) -> Int? {
    guard let index = index(of: token.job), let claim = records[index].claim, claim.number == token.claim,
      workers.contains(where: { $0.number == claim.worker })
    else { return nil }
    return index
  }
}
