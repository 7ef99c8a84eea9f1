import DurableJobs
import Foundation

/// Rows of workers: leases, and what is held under them.
extension WriteTransaction {
  /// The rows of a worker of this process that stand. Learns on the way whether routes changed: the newest row is read
  /// before every claim.
  func standingRows(of worker: WorkerID) throws -> [WorkerRow] {
    let known = memory.workers[worker] ?? []
    let look = try connection[.beforeClaim]
    look.bind(1, known.last?.row.id)
    guard try look.step() else { return [] }
    let (changes, leaseUntil) = (look.int(0), look.intOrNull(1))
    memory.epoch = look.int(2)
    look.reset()
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
      let grant = try connection[.grantLease]
      grant.bind(1, id)
      grant.bind(2, row.leaseUntil)
      grant.bind(3, nameList(row.kinds))
      grant.bind(4, nameList(row.queues))
      grant.bind(5, row.satisfied.list)
      grant.bind(6, row.absent.list)
      try grant.run()
      if let index = rows.firstIndex(where: { $0.row.id == id }) { rows[index].row = row }
    } else {
      rows.append(WriterMemory.OwnWorker(row: try make(row)))
    }
    memory.workers[row.worker] = rows
    FaultPoint.claimWorker.reach()
  }

  private func make(_ row: WorkerRow) throws -> WorkerRow {
    try forgetWildNumbers()
    let insert = try connection[.insertWorker]
    insert.bind(1, row.leaseUntil)
    insert.bind(2, row.worker.name)
    insert.bind(3, try process.session())
    insert.bind(4, nameList(row.kinds))
    insert.bind(5, nameList(row.queues))
    insert.bind(6, process.host)
    insert.bind(7, process.pid)
    insert.bind(8, now)
    insert.bind(9, row.satisfied.list)
    insert.bind(10, row.absent.list)
    try insert.run()
    var made = row
    made.id = connection.lastInsertedID
    made.claims = process.firstClaim
    return made
  }

  /// After a number that is too high for claims there would be no other, or none at all.
  private func forgetWildNumbers() throws {
    let highest = ClaimNumber.highestWorker
    let next = min(max(now / 1000, 1 << 16), highest / 2)
    for sql in [
      "DELETE FROM durable_worker WHERE id>\(highest)",
      "UPDATE sqlite_sequence SET seq=\(next) WHERE name='durable_worker' AND NOT seq BETWEEN 0 AND \(highest)",
    ] { try Statement(sql, on: connection.handle).run() }
  }

  /// A heartbeat writes one row, the worker's, however many jobs it holds.
  func renew(_ worker: WorkerID, until leaseUntil: Int64) throws -> [WorkerRow] {
    var own = memory.workers[worker] ?? []
    for index in own.indices.reversed() {
      guard let id = own[index].row.id else { continue }
      let renew = try connection[.renewLease]
      renew.bind(1, id)
      renew.bind(2, leaseUntil)
      var asked: Int64?
      while try renew.step() { asked = renew.int(0) }
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

  /// Only stops that were asked for meanwhile are looked at job by job.
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

  /// Something was asked of a worker's jobs: finds out of which.
  private func lookAtClaims(of worker: Int64) throws {
    for (id, held) in memory.held where held.claim.worker == worker {
      let row = try load(id)
      // True for longer than it need be does no harm, so a rollback may leave it.
      memory.held[id]?.isDoubtful =
        row.map { !$0.isHeld || $0.claim != held.claim || $0.course.stopAsked != nil } ?? true
    }
  }

  /// The worker's row first: from then on every claim under it is lost.
  func dispossess(_ loss: WorkerLoss) throws -> Bool {
    let take = try connection[.takeWorker]
    take.bind(1, loss.worker)
    take.bind(2, loss.leaseUntil)
    try take.run()
    FaultPoint.recoverTaken.reach()
    guard take.changes == 1 else { return false }
    standing[loss.worker] = false
    return true
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

  /// Whether a row of a worker is there, and nobody recovers it: its claims are lost from then on, also those that
  /// recovery has not come to yet.
  func isStanding(_ worker: Int64) throws -> Bool {
    if let known = standing[worker] { return known }
    let lease = try connection[.workerLease]
    lease.bind(1, worker)
    var isStanding = false
    while try lease.step() { isStanding = lease.int(0) != WorkerRow.taken }
    standing[worker] = isStanding
    return isStanding
  }
}
