/// Grants a worker its lease, and claims ready jobs for it.
package struct ClaimVerb: Verb {
  private enum Phase { case begin, greet, taken, overdue }

  private var request: ClaimRequest
  private let now: Int64
  private var limits: [QueueLimit] = []
  private var phase = Phase.begin
  private var overdue: OverdueVerb?
  package private(set) var reply = ClaimBatch()

  package init(_ request: ClaimRequest, now: Int64) {
    (self.request, self.now) = (request, now)
  }

  package mutating func next(_ answer: LedgerReply) -> LedgerRequest? {
    switch phase {
    case .begin:
      phase = .greet
      return LedgerRequest(load: Needs(worker: request.worker, limitsOf: request.free))
    case .greet:
      phase = .taken
      heed(answer.limits)
      return LedgerRequest(save: greeted(answer.workers.last).map { Changes(workers: [$0]) }, take: request)
    case .taken:
      reply = answer.taken
      var changes = Changes()
      for index in limits.indices { count(at: index, &changes) }
      let save = changes.tats.isEmpty ? nil : changes
      phase = .overdue
      guard !answer.overdue.isEmpty else { return save.map { LedgerRequest(save: $0) } }
      reply.hasMore = true
      overdue = OverdueVerb(answer.overdue, now: now)
      var next = overdue?.next(LedgerReply())
      next?.save = save
      return next
    case .overdue: return overdue?.next(answer)
    }
  }

  /// Requests no more than the limits allow.
  private mutating func heed(_ limits: [QueueLimit]) {
    self.limits = limits
    for limit in limits {
      guard limit.places < request.free[limit.queue] ?? 0 else { continue }
      request.free[limit.queue] = limit.places
      request.limited.insert(limit.queue)
    }
  }

  /// What was taken from a limited queue, and how long it has to wait if there was more.
  private mutating func count(at index: Int, _ changes: inout Changes) {
    let queue = limits[index].queue
    limits[index].take(reply.jobs.count { $0.queue == queue })
    if limits[index].isNews { changes.tats[queue] = limits[index].tat }
    let isKept = reply.full.remove(queue) != nil || request.limited.contains(queue) && request.free[queue] == 0
    guard isKept else { return }
    if limits[index].hasSlot, let next = limits[index].next {
      reply.nextDue = min(.milliseconds(next - now), reply.nextDue ?? .milliseconds(next - now))
    } else {
      reply.full.insert(queue)
    }
  }

  /// The worker's row as it must be written; nil if it may stay as it is. A lease with two thirds of its length left is
  /// not renewed, so that a busy worker does not write its row with each claim.
  private func greeted(_ row: WorkerRow?) -> WorkerRow? {
    let leaseUntil = WorkerRow.lease(request.lease, from: now)
    var new = WorkerRow(
      id: nil, worker: request.worker, leaseUntil: leaseUntil, kinds: request.kinds, queues: request.queues,
      satisfied: request.satisfied, absent: request.absent)
    guard let row, row.claims + 1 < ClaimNumber.limit else { return new }
    let (left, length) = (row.leaseUntil &- now, leaseUntil - now)  // a wild lease is too long, or too short
    let isNews =
      row.kinds != new.kinds || row.queues != new.queues || row.satisfied != new.satisfied || row.absent != new.absent
    guard isNews || left < length / 3 * 2 || left > length else { return nil }
    (new.id, new.claims, new.since) = (row.id, row.claims, row.since)
    return new
  }
}

/// Handles jobs whose deadline has passed.
private struct OverdueVerb: Verb {
  private let ids: [JobID]
  private var book: Book
  let reply: Void = ()

  init(_ ids: [JobID], now: Int64) {
    self.ids = ids
    book = Book(now: now)
  }

  mutating func next(_ answer: LedgerReply) -> LedgerRequest? {
    book.add(answer)
    if let needs = book.lacking(Needs(jobs: ids)) { return LedgerRequest(load: needs) }
    for id in ids { _ = book.passDeadline(of: id) }
    return book.conclude()
  }
}
