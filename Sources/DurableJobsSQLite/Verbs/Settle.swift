import DurableJobs

extension WriteTransaction {
  func settle(_ settlement: ClaimSettlement) throws -> SettlementReply {
    FaultPoint.settleBegun.reach()
    let (id, claim) = (settlement.token.job.rawValue, settlement.token.claim)
    guard try isStanding(ClaimNumber.worker(of: claim)) else { return try refuse(settlement) }

    if case .succeeded(let output) = settlement.result, settlement.progress == nil,
      let held = memory.held[id], held.claim == claim
    {
      let succeed = try connection[.succeed]
      succeed.bind(1, id)
      succeed.bind(2, now)
      succeed.bind(3, claim)
      try succeed.run()
      if succeed.changes == 1 {
        FaultPoint.settleMarked.reach()
        if let unique = held.unique { try run(.releaseKey, unique, of: id) }
        try store(output: output, of: id)
        FaultPoint.settleResult.reach()
        try moved(id, route: held.route, from: .running, to: .succeeded)
        letGo(id, claim)
        return SettlementReply(isAccepted: true, state: .succeeded)
      }
    }

    guard var row = try load(id), row.claim == claim, row.course.state == .running else {
      return try refuse(settlement)
    }
    if let progress = settlement.progress { try store(progress, of: &row) }
    let attempt = row.course.attempt
    let failure = row.course.settle(
      settlement.result, now: date, policy: policy, random: .random(in: 0...1))
    try save(row)
    FaultPoint.settleMarked.reach()
    if let failure { try remember(failure: failure, attempt: attempt, of: id) }
    if case .succeeded(let output) = settlement.result { try store(output: output, of: id) }
    FaultPoint.settleResult.reach()
    letGo(id, claim)
    return SettlementReply(isAccepted: true, state: row.course.state)
  }

  private func refuse(_ settlement: ClaimSettlement) throws -> SettlementReply {
    let id = settlement.token.job.rawValue
    letGo(id, settlement.token.claim)
    let state = try connection[.stateOf]
    state.bind(1, id)
    guard try state.step() else { return SettlementReply(isAccepted: false, state: nil) }
    defer { state.reset() }
    return SettlementReply(isAccepted: false, state: JobState(code: state.int(0)))
  }

  private func letGo(_ id: Int64, _ claim: Int64) {
    onCommit { [memory] in
      if memory.held[id]?.claim == claim { memory.held[id] = nil }
    }
  }

  /// Whether a row of a worker is there, and nobody recovers it: its claims are lost from then on, also those that
  /// recovery has not come to yet.
  func isStanding(_ worker: Int64) throws -> Bool {
    if let known = standing[worker] { return known }
    let lease = try connection[.workerLease]
    lease.bind(1, worker)
    var isStanding = false
    while try lease.step() { isStanding = lease.int(0) != takenLease }
    standing[worker] = isStanding
    return isStanding
  }
}
