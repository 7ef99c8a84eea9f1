import DurableJobs

/// Rows of workers: leases, and the claims under them.
extension WriteTransaction {
  /// The valid rows of a worker of this process. Learns of changed routes too: the newest is read before every claim.
  func standingRows(of worker: WorkerID) throws -> [WorkerRow] {
    let known = memory.workers[worker] ?? []
    let look = try connection[.beforeClaim].with(known.last?.row.id)
    guard let (changes, leaseUntil, epoch) = try look.first({ ($0.int(0), $0.intOrNull(1), $0.int(2)) }) else {
      return []
    }
    memory.epoch = epoch
    try memory.routes.refresh(changes: changes, on: connection)
    var rows = try known.dropLast().map(\.row).filter { try isStanding($0.id ?? 0) }
    if var last = known.last?.row, let leaseUntil, leaseUntil != WorkerRow.taken {
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
        .grantLease, id, row.leaseUntil, nameList(row.kinds), nameList(row.queues), row.satisfied.list, row.absent.list)
      if let index = rows.firstIndex(where: { $0.row.id == id }) { rows[index].row = row }
    } else {
      try forgetWildNumbers()
      try run(
        .insertWorker, row.leaseUntil, row.worker.name, process.session(), nameList(row.kinds), nameList(row.queues),
        process.pid, now, row.satisfied.list, row.absent.list)
      var made = row
      (made.id, made.claims) = (connection.lastInsertedID, process.firstClaim)
      rows.append(WriterMemory.OwnWorker(row: made))
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

  /// A renewal writes only the worker's row, however many jobs it holds.
  func renew(_ worker: WorkerID, until leaseUntil: Int64) throws -> [WorkerRow] {
    var own = memory.workers[worker] ?? []
    for index in own.indices.reversed() {
      guard let id = own[index].row.id else { continue }
      let asked = try connection[.renewLease].with(id, leaseUntil).map { $0.int(0) }.last
      standing[id] = asked != nil
      guard let asked else {
        letGoAll(of: id)
        own.remove(at: index)
        continue
      }
      if asked != own[index].asked { try lookAtClaims(of: id) }
      own[index].asked = asked
      own[index].row.leaseUntil = leaseUntil
      signsOfLife.append(id)
    }
    memory.workers[worker] = own.isEmpty ? nil : own
    return own.map(\.row)
  }

  /// Checks single jobs only for stops that were requested since.
  func hold(_ tokens: [ClaimToken], _ reply: inout LedgerReply) throws {
    for (index, token) in tokens.enumerated() {
      guard let held = memory.held[token.job], held.claim.rawValue == token.claim, !held.isDoubtful,
        try isStanding(held.claim.worker)
      else { continue }
      reply.certain.append(index)
    }
    let (rows, listed) = (Set(reply.workers.compactMap(\.id)), Set(tokens))
    for (job, held) in memory.held where rows.contains(held.claim.worker) {
      if !listed.contains(ClaimToken(job: job, claim: held.claim.rawValue)) { reply.unlisted.append(job) }
    }
  }

  /// Finds out which of a worker's jobs were asked to stop.
  private func lookAtClaims(of worker: Int64) throws {
    for (id, held) in memory.held where held.claim.worker == worker {
      let row = try load(id)
      // Being set for longer than necessary does no harm, so it may survive a rollback.
      memory.held[id]?.isDoubtful =
        row.map { !$0.isHeld || $0.claim != held.claim || $0.course.stopAsked != nil } ?? true
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
    for (name, rows) in memory.workers where rows.contains(where: { $0.row.id == worker }) {
      let rest = rows.filter { $0.row.id != worker }
      memory.workers[name] = rest.isEmpty ? nil : rest
    }
    FaultPoint.recoverBuried.reach()
  }

  private func letGoAll(of worker: Int64) {
    for (id, held) in memory.held where held.claim.worker == worker {
      letGo.append(ClaimToken(job: id, claim: held.claim.rawValue))
    }
  }

  /// Whether a worker's row exists and is not being recovered. Otherwise all its claims are lost already.
  func isStanding(_ worker: Int64) throws -> Bool {
    if let known = standing[worker] { return known }
    let isStanding = try connection[.workerLease].with(worker).first { $0.int(0) != WorkerRow.taken } ?? false
    standing[worker] = isStanding
    return isStanding
  }
}
