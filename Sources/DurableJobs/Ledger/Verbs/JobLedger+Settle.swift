extension JobLedger {
  /// The first exchange takes jobs, too. See ``conclude(_:_:_:)``.
  package func settle(
    _ settlements: [ClaimSettlement], taking claim: ClaimRequest? = nil
  ) throws -> (replies: [SettlementReply], answer: LedgerReply) {
    var replies = Array(repeating: SettlementReply(isAccepted: false, state: nil), count: settlements.count)
    var request = LedgerRequest(take: claim)
    request.finish.reserveCapacity(settlements.count)
    var slow: [Int] = []
    for index in settlements.indices {
      if case .succeeded(let output) = settlements[index].result, settlements[index].asksNothing {
        request.finish.append(Finish(index: index, token: settlements[index].token, output: output))
      } else {
        slow.append(index)
      }
    }
    request.load.jobs = slow.map { settlements[$0].token.job }
    var book = Book(self)
    let answer = try book.exchange(request)
    let finished = Set(answer.finished)
    for index in finished { replies[index] = SettlementReply(isAccepted: true, state: .succeeded) }
    let lost = request.finish.map(\.index).filter { !finished.contains($0) }
    slow = (slow + lost).sorted()
    try book.load(Needs(jobs: lost.map { settlements[$0].token.job }))

    var followUps: [JobInsertion] = []
    for index in slow {
      let settlement = settlements[index]
      guard let row = book[settlement.token.job] else { continue }
      guard row.isHeld(under: settlement.token), row.course.state == .running else {
        // The same report again, because the reply to the first was lost.
        replies[index].isAccepted = row.course.state.isFinished && row.claim.rawValue == settlement.token.claim
        continue
      }
      book.end(row, as: settlement, policy)
      replies[index].isAccepted = true
      if book[row.id]?.course.state == .succeeded, !settlement.followUps.isEmpty {
        followUps.append(JobInsertion(settlement.followUps))
      }
    }
    try book.conclude()
    for index in slow { replies[index].state = book[settlements[index].token.job]?.course.state }
    for insertion in followUps { _ = try insert(insertion) }
    return (replies, answer)
  }

  /// Ends a job in a caller's transaction, once: what the caller writes in a second one would be there twice.
  package func complete(_ end: ClaimSettlement) throws {
    let isRunning = try exchange(LedgerRequest(load: Needs(jobs: [end.token.job]))).jobs.first?.course.state == .running
    try require(
      isRunning && settle([end]).replies[0] == SettlementReply(isAccepted: true, state: .succeeded),
      "job \(end.token.job) is not this attempt's: its claim was lost, or it has ended", code: .wrongState)
  }
}

extension ClaimSettlement {
  /// An end with success that brings no more than an output.
  package var isPlain: Bool { if case .succeeded = result { asksNothing } else { false } }

  fileprivate var asksNothing: Bool { progress == nil && followUps.isEmpty }
}

extension Book {
  fileprivate mutating func end(_ row: JobRow, as settlement: ClaimSettlement, _ policy: StorePolicy) {
    let now = date
    change(row.id) { change in
      if let progress = settlement.progress { change.store(progress) }
      let failure = change.after.course.settle(settlement.result, now: now, policy: policy, random: .random(in: 0...1))
      // A deadline that passed meanwhile, or a process death, is not the handler's error.
      let code = failure == settlement.result.message ? settlement.code : nil
      change.failure = failure.map { AttemptFailure(attempt: row.course.attempt, at: now, message: $0, code: code) }
      if case .succeeded(let output) = settlement.result { change.output = output }
      change.isOwnEnd = change.after.course.state.isFinished
    }
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
