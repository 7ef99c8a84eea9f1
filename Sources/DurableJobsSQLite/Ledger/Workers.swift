import DurableJobs

/// Rows of workers: leases, and the claims under them.
extension WriteTransaction {
  /// The valid rows of a worker of this process. Learns of changed routes too: the newest is read before every claim.
  func standingRows(of worker: WorkerID) throws -> [WorkerRow] {
    let known = memory.workers[worker] ?? []
    let look = try connection[.beforeClaim].with(known.last?.id)
    guard let (changes, leaseUntil, epoch) = try look.first({ ($0.int(0), $0.intOrNull(1), $0.int(2)) }) else {
      return []
    }
    memory.epoch = epoch
    try memory.routes.refresh(changes: changes, on: connection)
    var rows = try known.dropLast().filter { try isStanding($0.id ?? 0) }
    if var last = known.last, let leaseUntil, leaseUntil != WorkerRow.taken {
      last.leaseUntil = leaseUntil
      rows.append(last)
      if let id = last.id { signsOfLife.append(id) }
    }
    return rows
  }

  func save(_ row: WorkerRow) throws {
    var rows = memory.workers[row.worker] ?? []
    if let id = row.id {
      try run(
        .grantLease, id, row.leaseUntil, try? process.session(), nameList(row.kinds), nameList(row.queues),
        row.satisfied.list, row.absent.list)
      if let index = rows.firstIndex(where: { $0.id == id }) { rows[index] = row }
    } else {
      try forgetWildNumbers()
      try run(
        .insertWorker, row.leaseUntil, row.worker.name, process.session(), nameList(row.kinds), nameList(row.queues),
        process.pid, now, row.satisfied.list, row.absent.list)
      var made = row
      (made.id, made.claims) = (connection.lastInsertedID, process.firstClaim)
      rows.append(made)
    }
    memory.workers[row.worker] = rows
    FaultPoint.claimWorker.reach()
  }

  /// Removes numbers so high that claims could get no higher one.
  private func forgetWildNumbers() throws {
    let highest = ClaimNumber.highestWorker
    let next = min(max(now / 1000, 1 << 16), highest / 2)
    for sql in [
      "DELETE FROM durable_worker WHERE id>\(highest)",
      "UPDATE sqlite_sequence SET seq=\(next) WHERE name='durable_worker' AND NOT seq BETWEEN 0 AND \(highest)",
    ] { try Statement(sql, on: connection.handle).run() }
  }

  /// Writes only the worker's row, however many jobs it holds.
  func renew(_ worker: WorkerID, until leaseUntil: Int64) throws -> [WorkerRow] {
    var own = memory.workers[worker] ?? []
    for index in own.indices.reversed() {
      guard let id = own[index].id else { continue }
      let renew = try connection[.renewLease].with(id, leaseUntil, try? process.session())
      try renew.run()
      standing[id] = renew.changes == 1
      if renew.changes == 1 {
        own[index].leaseUntil = leaseUntil
        signsOfLife.append(id)
      } else {
        letGoAll(of: id)
        own.remove(at: index)
      }
    }
    memory.workers[worker] = own.isEmpty ? nil : own
    return own
  }

  /// Which of these run and were not asked to stop, and what else runs under the rows that were renewed.
  func hold(_ tokens: [ClaimToken], _ reply: inout LedgerReply) throws {
    let indices = Dictionary(zip(tokens, tokens.indices)) { $1 }
    for worker in reply.workers.compactMap(\.id) {
      // Its claims are this process's, so their routes are known.
      let routes = Set(memory.held.values.lazy.filter { $0.claim.worker == worker }.map(\.route))
      let running = try claims(of: worker, in: routes, limit: .max)
      reply.certain += running.compactMap { $0.isAsked ? nil : indices[$0.token] }
      reply.unlisted += running.map(\.token).filter { indices[$0] == nil }.map(\.job)
      letGoAll(of: worker, but: Set(running.map(\.token)))
    }
  }

  /// Marks the worker's row as taken first: from then on, every claim under it is lost.
  func dispossess(_ loss: WorkerRow) throws -> Int64? {
    let take = try connection[.takeWorker].with(loss.id, loss.leaseUntil)
    try take.run()
    FaultPoint.recoverTaken.reach()
    guard take.changes == 1, let id = loss.id else { return nil }
    standing[id] = false
    return id
  }

  func bury(_ worker: Int64) throws {
    try run(.deleteWorker, worker)
    standing[worker] = false
    letGoAll(of: worker)
    memory.workers = memory.workers.mapValues { $0.filter { $0.id != worker } }.filter { !$0.value.isEmpty }
    FaultPoint.recoverBuried.reach()
  }

  private func letGoAll(of worker: Int64, but running: Set<ClaimToken> = []) {
    letGo += memory.held.filter { $1.claim.worker == worker }
      .map { ClaimToken(job: $0, claim: $1.claim.rawValue) }.filter { !running.contains($0) }
  }

  /// Whether a worker's row exists and is not being recovered. Otherwise all its claims are lost already.
  func isStanding(_ worker: Int64) throws -> Bool {
    if let known = standing[worker] { return known }
    let isStanding = try connection[.workerLease].with(worker).first { $0.int(0) != WorkerRow.taken } ?? false
    standing[worker] = isStanding
    return isStanding
  }
}
