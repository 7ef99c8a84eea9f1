extension JobLedger {
  /// A worker says that it lives, and what it holds. If that is all, whatever else the store has as held by it goes back.
  package func renew(_ request: RenewalRequest) throws -> [ClaimStanding] {
    var standings = Array(repeating: ClaimStanding.lost, count: request.renewals.count)
    let leaseUntil = WorkerRow.lease(request.lease, from: now)
    let tokens = request.renewals.map(\.token)
    let known = try exchange(LedgerRequest(renew: (request.worker, leaseUntil), hold: request.isPartial ? nil : tokens))
    guard !known.workers.isEmpty else { return standings }
    for index in known.certain { standings[index] = .held }
    let certain = Set(known.certain)
    let looked = request.renewals.indices.filter { index in
      let renewal = request.renewals[index]
      return !certain.contains(index) || renewal.progress != nil || !renewal.steps.isEmpty
    }
    // Rows whose claim numbers are used up are removed when their last claim has ended.
    let usedUp = known.workers.dropLast().compactMap(\.id)
    var book = Book(self)
    let needs = Needs(jobs: looked.map { tokens[$0].job } + known.unlisted, heldBy: usedUp)
    guard let answer = try book.load(needs) else { return standings }
    let held = Set(answer.held.compactMap { book[$0]?.claim.worker }).union(answer.unread)
    book.changes.goneWorkers = usedUp.filter { !held.contains($0) }

    for (index, renewal) in request.renewals.enumerated() {
      guard let row = book[renewal.token.job] else { continue }
      guard row.isHeld(under: renewal.token) else {
        // A handler that stored the end itself may go on to clear up. Any end from outside makes the claim void.
        if row.course.state.isFinished, row.claim.rawValue == renewal.token.claim { standings[index] = .held }
        continue
      }
      if let progress = renewal.progress { book.change(row.id) { $0.store(progress) } }
      if !renewal.steps.isEmpty { book.change(row.id) { $0.store(steps: renewal.steps) } }
      standings[index] = row.course.stopAsked.map { .stopRequested($0) } ?? .held
    }
    let listed = Set(tokens)
    for id in known.unlisted {
      guard let row = book[id], row.isHeld, !listed.contains(ClaimToken(job: id, claim: row.claim.rawValue)) else {
        continue
      }
      book.giveBack(id, policy)
    }
    try book.conclude()
    return standings
  }
}
