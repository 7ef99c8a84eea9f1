import DurableJobs

extension WriteTransaction {
  /// A heartbeat writes one row, the worker's, however many jobs it holds: only progress, and stops that were asked for
  /// meanwhile, are looked at job by job.
  func renew(_ request: RenewalRequest) throws -> [ClaimStanding] {
    guard var worker = memory.workers[request.worker] else { return request.renewals.map { _ in .lost } }
    let leaseUntil = now + request.lease.milliseconds
    for index in worker.rows.indices.reversed() {
      let id = worker.rows[index].id
      let renew = try connection[.renewLease]
      renew.bind(1, id)
      renew.bind(2, leaseUntil)
      var asked: Int64?
      while try renew.step() { asked = renew.int(0) }
      standing[id] = asked != nil
      if let asked {
        if asked != worker.rows[index].asked { try lookAtClaims(of: id) }
        worker.rows[index].asked = asked
        signsOfLife.append(id)
      } else {
        worker.rows.remove(at: index)
      }
    }
    if worker.rows.count > 1 { try dropIdleRows(of: &worker) }
    remember(request.worker, worker.rows.isEmpty ? nil : worker)
    return try request.renewals.map { try renew($0) }
  }

  private func renew(_ renewal: ClaimRenewal) throws -> ClaimStanding {
    let (id, claim) = (renewal.token.job.rawValue, renewal.token.claim)
    guard try isStanding(ClaimNumber.worker(of: claim)) else { return .lost }
    if renewal.progress == nil, let held = memory.held[id], held.claim == claim, !held.isDoubtful { return .held }
    guard let links = try links(id, claim) else { return .lost }
    if let progress = renewal.progress, var row = try load(id) {
      try store(progress, of: &row)
      try save(row)
    }
    return links.stopReason.map { .stopRequested($0) } ?? .held
  }

  /// Nil if the claim does not hold.
  private func links(_ id: Int64, _ claim: Int64) throws -> Links? {
    let holds = try connection[.holds]
    holds.bind(1, id)
    holds.bind(2, claim)
    guard try holds.step() else { return nil }
    defer { holds.reset() }
    return Links(rawValue: holds.int(0))
  }

  /// Something was asked of a worker's jobs: finds out of which.
  private func lookAtClaims(of worker: Int64) throws {
    for (id, held) in memory.held where ClaimNumber.worker(of: held.claim) == worker {
      let links = try links(id, held.claim)
      // True for longer than it need be does no harm, so a rollback may leave it.
      memory.held[id]?.isDoubtful = links.map { !$0.isDisjoint(with: .stopAsked) } ?? true
    }
  }

  /// Rows whose claims are counted through go when the last claim under them has.
  private func dropIdleRows(of worker: inout WriterMemory.Worker) throws {
    for row in worker.rows.dropLast()
    where !memory.held.values.contains(where: { ClaimNumber.worker(of: $0.claim) == row.id }) {
      guard try heldBy(row.id, limit: 1).isEmpty else { continue }
      try run(.deleteWorker, row.id)
      worker.rows.removeAll { $0.id == row.id }
    }
  }

  /// Jobs that run under claims of a worker's row, at most `limit`.
  func heldBy(_ worker: Int64, limit: Int) throws -> [Int64] {
    var ids: [Int64] = []
    let claims = ClaimNumber.range(ofWorker: worker)
    for route in try memory.routes.all(on: connection) where ids.count < limit {
      let held = try connection[.heldBy]
      held.bind(1, route.id)
      held.bind(2, claims.lowerBound)
      held.bind(3, claims.upperBound)
      held.bind(4, Int64(limit - ids.count))
      while try held.step() { ids.append(held.int(0)) }
    }
    return ids.sorted()
  }
}
