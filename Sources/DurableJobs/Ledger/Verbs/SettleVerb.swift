import Foundation

/// Ends attempts, under claims that still hold.
package struct SettleVerb: Verb {
  private enum Phase { case begin, finished, decide, done }

  private let settlements: [ClaimSettlement]
  private let policy: StorePolicy
  private var fast: [Int] = []
  private var slow: [Int] = []
  private var book: Book
  private var phase = Phase.begin
  package private(set) var reply: [SettlementReply]

  package init(_ settlements: [ClaimSettlement], policy: StorePolicy, now: Int64) {
    self.settlements = settlements
    self.policy = policy
    book = Book(now: now)
    reply = Array(repeating: SettlementReply(isAccepted: false, state: nil), count: settlements.count)
  }

  package mutating func next(_ answer: LedgerReply) -> LedgerRequest? {
    switch phase {
    case .begin:
      phase = .finished
      return begin()
    case .finished:
      phase = .decide
      book.add(answer)
      for index in answer.finished { reply[index] = SettlementReply(isAccepted: true, state: .succeeded) }
      let isDone = Set(answer.finished)
      let lost = fast.filter { !isDone.contains($0) }
      slow = (slow + lost).sorted()
      let lacking = book.lacking(lost.map { settlements[$0].token.job })
      return lacking.isEmpty ? decide() : LedgerRequest(load: Needs(jobs: lacking))
    case .decide:
      book.add(answer)
      return decide()
    case .done:
      return nil
    }
  }

  private mutating func begin() -> LedgerRequest {
    var request = LedgerRequest()
    request.finish.reserveCapacity(settlements.count)
    for (index, settlement) in settlements.enumerated() {
      if case .succeeded(let output) = settlement.result, settlement.progress == nil {
        request.finish.append(Finish(index: index, token: settlement.token, output: output))
        fast.append(index)
      } else {
        slow.append(index)
      }
    }
    request.load.jobs = book.lacking(slow.map { settlements[$0].token.job })
    return request
  }

  private mutating func decide() -> LedgerRequest? {
    for index in slow { reply[index].isAccepted = settle(settlements[index]) }
    for index in slow { reply[index].state = book[settlements[index].token.job]?.course.state }
    phase = .done
    let changes = book.close()
    return changes.isEmpty ? nil : LedgerRequest(save: changes)
  }

  /// False if its claim is lost.
  private mutating func settle(_ settlement: ClaimSettlement) -> Bool {
    guard let row = book[settlement.token.job] else { return false }
    guard row.isHeld(under: settlement.token), row.course.state == .running else {
      // The same report again, because the answer to the first was lost.
      return row.course.state.isFinished && row.claim.rawValue == settlement.token.claim
    }
    let (now, policy) = (book.date, policy)
    book.change(row.id) { change in
      if let progress = settlement.progress { change.store(progress) }
      let failure = change.after.course.settle(
        settlement.result, now: now, policy: policy, random: .random(in: 0...1))
      change.failure = failure.map { AttemptFailure(attempt: row.course.attempt, at: now, message: $0) }
      if case .succeeded(let output) = settlement.result { change.output = output }
      change.isOwnEnd = change.after.course.state.isFinished
    }
    return true
  }
}
