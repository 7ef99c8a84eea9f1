/// Grants a worker its lease, and takes ready jobs for it.
package struct ClaimVerb: Verb {
  private enum Phase { case begin, greet, taken, overdue }

  private let request: ClaimRequest
  private let now: Int64
  private var phase = Phase.begin
  private var overdue: OverdueVerb?
  package private(set) var reply = ClaimBatch()

  package init(_ request: ClaimRequest, now: Int64) {
    self.request = request
    self.now = now
  }

  package mutating func next(_ answer: LedgerReply) -> LedgerRequest? {
    switch phase {
    case .begin:
      phase = .greet
      return LedgerRequest(load: Needs(worker: request.worker))
    case .greet:
      phase = .taken
      return LedgerRequest(save: greeted(answer.workers.last).map { Changes(workers: [$0]) }, take: request)
    case .taken:
      reply = answer.taken
      guard !answer.overdue.isEmpty else { return nil }
      reply.hasMore = true
      phase = .overdue
      overdue = OverdueVerb(answer.overdue, now: now)
      return overdue?.next(LedgerReply())
    case .overdue:
      return overdue?.next(answer)
    }
  }

  /// The worker's row as it is to be written; nil if it may stay as it is. A lease that has two thirds of its length left is
  /// left alone, so that a busy worker does not write its row with each claim.
  private func greeted(_ row: WorkerRow?) -> WorkerRow? {
    let leaseUntil = WorkerRow.lease(request.lease, from: now)
    guard var row, row.claims + 1 < ClaimNumber.limit else {
      return WorkerRow(
        id: nil, worker: request.worker, leaseUntil: leaseUntil, kinds: request.kinds, queues: request.queues,
        satisfied: request.satisfied, absent: request.absent)
    }
    let (left, length) = (row.leaseUntil &- now, leaseUntil - now)  // a wild lease is too long, or too short
    let isNews =
      row.kinds != request.kinds || row.queues != request.queues || row.satisfied != request.satisfied
      || row.absent != request.absent
    guard isNews || left < length / 3 * 2 || left > length else { return nil }
    row.leaseUntil = leaseUntil
    row.kinds = request.kinds
    row.queues = request.queues
    row.satisfied = request.satisfied
    row.absent = request.absent
    return row
  }
}

/// Gives up jobs whose deadline has passed.
private struct OverdueVerb: Verb {
  private enum Phase { case begin, decide, follow }

  private let ids: [JobID]
  private var book: Book
  private var phase = Phase.begin
  let reply: Void = ()

  init(_ ids: [JobID], now: Int64) {
    self.ids = ids
    book = Book(now: now)
  }

  mutating func next(_ answer: LedgerReply) -> LedgerRequest? {
    book.add(answer)
    switch phase {
    case .begin:
      phase = .decide
      return book.lacking(Needs(jobs: ids)).map { LedgerRequest(load: $0) }
    case .decide:
      phase = .follow
      for id in ids { _ = book.passDeadline(of: id) }
      fallthrough
    case .follow:
      return book.conclude()
    }
  }
}
