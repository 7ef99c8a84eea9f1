extension JobLedger {
  package func claim(_ request: ClaimRequest) throws -> ClaimBatch {
    var request = request
    let known = try exchange(LedgerRequest(load: Needs(worker: request.worker, limitsOf: request.free)))
    request.heed(known.limits)
    let row = request.greeted(known.workers.last, at: now)
    let answer = try exchange(LedgerRequest(save: row.map { Changes(workers: [$0]) }, take: request))
    return try conclude(request, answer, known.limits)
  }

  /// The jobs that an exchange took. Limits learn of them, and what was met past its deadline ends.
  package func conclude(
    _ request: ClaimRequest, _ answer: LedgerReply, _ limits: [QueueLimit] = []
  ) throws -> ClaimBatch {
    var batch = answer.taken
    var changes = Changes()
    for limit in limits { batch.count(limit, of: request, at: now, &changes) }
    if !answer.overdue.isEmpty { batch.hasMore = true }
    let save = changes.tats.isEmpty ? nil : changes
    guard save != nil || !answer.overdue.isEmpty else { return batch }
    var book = Book(self)
    _ = try book.exchange(LedgerRequest(save: save, load: Needs(jobs: answer.overdue)))
    for id in answer.overdue { _ = book.passDeadline(of: id) }
    try book.conclude()
    return batch
  }
}

extension ClaimRequest {
  /// Requests no more than the limits allow.
  fileprivate mutating func heed(_ limits: [QueueLimit]) {
    for limit in limits where limit.places < free[limit.queue] ?? 0 {
      free[limit.queue] = limit.places
      limited.insert(limit.queue)
    }
  }

  /// The worker's row as it must be written; nil if it may stay as it is. A lease with two thirds of its length left is
  /// not renewed, so that a busy worker does not write its row with each claim.
  package func greeted(_ row: WorkerRow?, at now: Int64) -> WorkerRow? {
    let leaseUntil = WorkerRow.lease(lease, from: now)
    var new = WorkerRow(
      id: nil, worker: worker, leaseUntil: leaseUntil, kinds: kinds, queues: queues, satisfied: satisfied,
      absent: absent)
    guard let row, row.claims + 1 < ClaimNumber.limit else { return new }
    let isNews =
      row.kinds != new.kinds || row.queues != new.queues || row.satisfied != new.satisfied || row.absent != new.absent
    guard isNews || row.isShort(of: leaseUntil, at: now) else { return nil }
    (new.id, new.claims, new.since) = (row.id, row.claims, row.since)
    return new
  }
}

extension ClaimBatch {
  /// What was taken from a limited queue, and how long it has to wait if there was more.
  fileprivate mutating func count(
    _ limit: QueueLimit, of request: ClaimRequest, at now: Int64, _ changes: inout Changes
  ) {
    var limit = limit
    let taken = jobs.filter { $0.queue == limit.queue }
    limit.take(taken.count, ofSchedules: taken.count { HandlerTable.isOwn($0.kind) })
    if limit.isNews { changes.tats[limit.queue] = limit.tat }
    let wasFull = request.limited.contains(limit.queue) && request.free[limit.queue] == 0
    guard full.remove(limit.queue) != nil || wasFull else { return }
    if let next = limit.isTaken ? now + .random(in: 25...75) : limit.hasSlot ? limit.next : nil {
      nextDue = min(.milliseconds(next - now), nextDue ?? .milliseconds(next - now))
    } else {
      full.insert(limit.queue)
    }
  }
}
