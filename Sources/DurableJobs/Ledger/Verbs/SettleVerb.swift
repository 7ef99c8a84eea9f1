import Foundation

/// Ends attempts whose claims still hold.
package struct SettleVerb: Verb {
  package struct Reply {
    package var replies: [SettlementReply]
    /// The jobs that follow those that succeeded in this call, in their order: to be stored in the same transaction.
    package var followUps: [JobInsertion] = []
  }

  private enum Phase { case begin, finished, decide, follow }

  private let settlements: [ClaimSettlement]
  private let policy: StorePolicy
  private var fast: [Int] = []
  private var slow: [Int] = []
  private var book: Book
  private var phase = Phase.begin
  package private(set) var reply: Reply

  package init(_ settlements: [ClaimSettlement], policy: StorePolicy, now: Int64) {
    (self.settlements, self.policy) = (settlements, policy)
    book = Book(now: now)
    reply = Reply(replies: Array(repeating: SettlementReply(isAccepted: false, state: nil), count: settlements.count))
  }

  package mutating func next(_ answer: LedgerReply) -> LedgerRequest? {
    book.add(answer)
    switch phase {
    case .begin:
      phase = .finished
      return begin()
    case .finished:
      phase = .decide
      for index in answer.finished { reply.replies[index] = SettlementReply(isAccepted: true, state: .succeeded) }
      let isDone = Set(answer.finished)
      let lost = fast.filter { !isDone.contains($0) }
      slow = (slow + lost).sorted()
      if let needs = book.lacking(Needs(jobs: lost.map { settlements[$0].token.job })) {
        return LedgerRequest(load: needs)
      }
      fallthrough
    case .decide:
      phase = .follow
      for index in slow { reply.replies[index].isAccepted = settle(settlements[index]) }
      fallthrough
    case .follow:
      let request = book.conclude()
      for index in slow { reply.replies[index].state = book[settlements[index].token.job]?.course.state }
      return request
    }
  }

  private mutating func begin() -> LedgerRequest {
    var request = LedgerRequest()
    request.finish.reserveCapacity(settlements.count)
    for (index, settlement) in settlements.enumerated() {
      if case .succeeded(let output) = settlement.result, settlement.progress == nil,
        settlement.followUps.isEmpty
      {
        request.finish.append(Finish(index: index, token: settlement.token, output: output))
        fast.append(index)
      } else {
        slow.append(index)
      }
    }
    request.load = book.lacking(Needs(jobs: slow.map { settlements[$0].token.job })) ?? Needs()
    return request
  }

  /// False if the claim is lost.
  private mutating func settle(_ settlement: ClaimSettlement) -> Bool {
    guard let row = book[settlement.token.job] else { return false }
    guard row.isHeld(under: settlement.token), row.course.state == .running else {
      // The same report again, because the reply to the first was lost.
      return row.course.state.isFinished && row.claim.rawValue == settlement.token.claim
    }
    let (now, policy) = (book.date, policy)
    book.change(row.id) { change in
      if let progress = settlement.progress { change.store(progress) }
      let failure = change.after.course.settle(settlement.result, now: now, policy: policy, random: .random(in: 0...1))
      // A deadline that passed meanwhile, or a process death, is not the handler's error.
      let code = failure == settlement.result.message ? settlement.code : nil
      change.failure = failure.map { AttemptFailure(attempt: row.course.attempt, at: now, message: $0, code: code) }
      if case .succeeded(let output) = settlement.result { change.output = output }
      change.isOwnEnd = change.after.course.state.isFinished
    }
    if book[row.id]?.course.state == .succeeded, !settlement.followUps.isEmpty {
      reply.followUps.append(JobInsertion(settlement.followUps))
    }
    return true
  }
}

extension ClaimSettlement.Result {
  /// The message of a failed attempt.
  fileprivate var message: String? {
    switch self {
    case .failed(let message), .retry(_, let message, _): message.cutToMessage
    case .succeeded, .snoozed, .suspended, .interrupted, .crashed: nil
    }
  }
}
