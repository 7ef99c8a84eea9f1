import Foundation

/// A worker says that it lives, and what it holds. If that is all, whatever else the store has as held by it goes back.
package struct RenewVerb: Verb {
  private enum Phase { case begin, held, decide, follow }

  private let request: RenewalRequest
  private let policy: StorePolicy
  private var book: Book
  private var rows: [WorkerRow] = []
  private var unlisted: [JobID] = []
  private var phase = Phase.begin
  package private(set) var reply: [ClaimStanding]

  package init(_ request: RenewalRequest, policy: StorePolicy, now: Int64) {
    (self.request, self.policy) = (request, policy)
    book = Book(now: now)
    reply = Array(repeating: .lost, count: request.renewals.count)
  }

  package mutating func next(_ answer: LedgerReply) -> LedgerRequest? {
    book.add(answer)
    switch phase {
    case .begin:
      phase = .held
      let leaseUntil = WorkerRow.lease(request.lease, from: book.now)
      return LedgerRequest(renew: (request.worker, leaseUntil), hold: request.renewals.map(\.token))
    case .held:
      phase = .decide
      rows = answer.workers
      unlisted = request.isPartial ? [] : answer.unlisted
      guard !rows.isEmpty else { return nil }
      for index in answer.certain { reply[index] = .held }
      let certain = Set(answer.certain)
      let looked = request.renewals.indices.filter { index in
        let renewal = request.renewals[index]
        return !certain.contains(index) || renewal.progress != nil || !renewal.steps.isEmpty
      }
      let jobs = looked.map { request.renewals[$0].token.job } + unlisted
      // Rows whose claim numbers are used up are removed when their last claim has ended.
      let needs = Needs(jobs: jobs, heldBy: rows.dropLast().compactMap(\.id))
      return book.lacking(needs).map { LedgerRequest(load: $0) }
    case .decide:
      phase = .follow
      let held = Set(answer.held.compactMap { book[$0]?.claim.worker })
      book.changes.goneWorkers = rows.dropLast().compactMap(\.id).filter { !held.contains($0) }
      decide()
      fallthrough
    case .follow: return book.conclude()
    }
  }

  private mutating func decide() {
    for (index, renewal) in request.renewals.enumerated() {
      guard let row = book[renewal.token.job] else { continue }
      guard row.isHeld(under: renewal.token) else {
        reply[index] = .lost
        continue
      }
      if let progress = renewal.progress { book.change(row.id) { $0.store(progress) } }
      if !renewal.steps.isEmpty { book.change(row.id) { $0.store(steps: renewal.steps) } }
      reply[index] = row.course.stopAsked.map { .stopRequested($0) } ?? .held
    }
    let (now, policy) = (book.date, policy)
    let listed = Set(request.renewals.map(\.token))
    for id in unlisted {
      guard let row = book[id], row.isHeld, !listed.contains(ClaimToken(job: id, claim: row.claim.rawValue)) else {
        continue
      }
      book.end(id) { $0.settle(.interrupted, now: now, policy: policy, random: 0) }
    }
  }
}
