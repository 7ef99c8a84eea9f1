import DurableJobs
import Foundation

extension WriteTransaction {
  /// How many due jobs of a route become ready in one transaction. The rest follow in the next, at once.
  static let promotionBite = 1000

  func claim(_ request: ClaimRequest, session: String, host: ProcessIdentity, firstClaim: Int64) throws -> ClaimBatch {
    let leaseUntil = try lookBeforeClaim(request.worker)
    var batch = ClaimBatch()
    let routes = memory.routes.served(kinds: request.kinds, queues: Set(request.capacity.keys))
    for route in routes { try promote(route, &batch) }
    FaultPoint.claimPromoted.reach()
    let picked = try pick(from: routes, request.capacity, &batch)
    FaultPoint.claimPicked.reach()
    let row = try greet(request, leaseUntil, session: session, host: host, firstClaim: firstClaim)
    FaultPoint.claimWorker.reach()
    guard !picked.isEmpty else { return batch }

    let claim = try number(of: request.worker, row)
    batch.jobs.reserveCapacity(picked.count)
    for job in picked {
      let mark = try connection[.mark]
      mark.bind(1, job.id)
      mark.bind(2, claim)
      mark.bind(3, now)
      try mark.run()
      FaultPoint.claimMarked.reach()
      try moved(job.id, route: job.route.id, from: .ready, to: .running)
      batch.jobs.append(
        ClaimedJob(
          token: ClaimToken(job: JobID(rawValue: job.id), claim: claim), queue: job.route.queue, kind: job.route.kind,
          payload: job.payload, attempt: Int(job.attempt &+ 1), maxAttempts: job.terms.attempts,
          timeout: job.terms.duration))
    }
    onCommit { [memory] in
      for job in picked {
        memory.held[job.id] = WriterMemory.Held(claim: claim, route: job.route.id, unique: job.terms.unique)
      }
    }
    return batch
  }

  /// One read that tells whether routes changed, and what is left of the worker's lease: nil if it has no row, or lost it.
  private func lookBeforeClaim(_ worker: WorkerID) throws -> Int64? {
    let look = try connection[.beforeClaim]
    look.bind(1, memory.workers[worker]?.rows.last?.id)
    guard try look.step() else { return nil }
    let (changes, leaseUntil) = (look.int(0), look.intOrNull(1))
    look.reset()
    try memory.routes.refresh(changes: changes, on: connection)
    return leaseUntil == takenLease ? nil : leaseUntil
  }

  /// Makes due jobs of a route ready, and notes when the next is due.
  private func promote(_ route: Route, _ batch: inout ClaimBatch) throws {
    guard let due = try nextDue(route.id) else { return }
    var wait = due > now ? due - now : 0
    if due <= now {
      let count = try promote(route.id, limit: Self.promotionBite)
      if count < Self.promotionBite {
        guard let next = try nextDue(route.id) else { return }
        wait = next > now ? next - now : 0
      }
    }
    batch.nextDue = min(batch.nextDue ?? .milliseconds(wait), .milliseconds(wait))
  }

  func nextDue(_ route: Int64) throws -> Int64? {
    let statement = try connection[.nextDue]
    statement.bind(1, route)
    guard try statement.step() else { return nil }
    defer { statement.reset() }
    return statement.int(0)
  }

  /// Makes at most `limit` due jobs of a route ready, those that are due for longest. Returns how many there were.
  func promote(_ route: Int64, limit: Int) throws -> Int {
    let promote = try connection[.promote]
    promote.bind(1, route)
    promote.bind(2, now)
    promote.bind(3, Int64(limit))
    try promote.run()
    let count = promote.changes
    self.count(route, from: .scheduled, to: .ready, number: Int64(count))
    if count > 0 { addNews(.work) }
    return count
  }

  /// Grants the lease, and sees to it that the worker has a row. A lease that has two thirds of its length left is left
  /// alone, so that a busy worker does not write its row with each claim.
  private func greet(
    _ request: ClaimRequest, _ leaseUntil: Int64?, session: String, host: ProcessIdentity, firstClaim: Int64
  ) throws -> WriterMemory.Worker.Row {
    let old = memory.workers[request.worker]
    let queues = Set(request.capacity.keys)
    let length = request.lease.milliseconds
    if let old, let row = old.rows.last, row.claims + 1 < ClaimNumber.limit, let leaseUntil {
      let left = leaseUntil - now
      signsOfLife.append(row.id)
      let isNews = old.kinds != request.kinds || old.queues != queues
      if isNews || left < length / 3 * 2 || left > length {
        let grant = try connection[.grantLease]
        grant.bind(1, row.id)
        grant.bind(2, now + length)
        grant.bind(3, Self.list(request.kinds))
        grant.bind(4, Self.list(queues))
        try grant.run()
        remember(request.worker, WriterMemory.Worker(rows: old.rows, kinds: request.kinds, queues: queues))
      }
      return row
    }
    let insert = try connection[.insertWorker]
    insert.bind(1, now + length)
    insert.bind(2, request.worker.name)
    insert.bind(3, session)
    insert.bind(4, Self.list(request.kinds))
    insert.bind(5, Self.list(queues))
    insert.bind(6, host.host)
    insert.bind(7, host.pid)
    insert.bind(8, now)
    try insert.run()
    let row = WriterMemory.Worker.Row(id: connection.lastInsertedID, claims: firstClaim)
    // Rows whose claims are counted through still stand for the claims made under them; one that was recovered does not.
    let older = leaseUntil == nil ? old?.rows.dropLast() : old?.rows[...]
    remember(
      request.worker,
      WriterMemory.Worker(rows: Array(older ?? []) + [row], kinds: request.kinds, queues: queues))
    return row
  }

  private func number(of worker: WorkerID, _ row: WriterMemory.Worker.Row) throws -> Int64 {
    guard var known = memory.workers[worker], let last = known.rows.indices.last else { return 0 }
    known.rows[last].claims += 1
    remember(worker, known)
    return row.id << ClaimNumber.bits | known.rows[last].claims
  }

  func remember(_ worker: WorkerID, _ value: WriterMemory.Worker?) {
    let old = memory.workers[worker]
    onRollback { [memory] in memory.workers[worker] = old }
    memory.workers[worker] = value
  }

  static func list(_ names: Set<String>) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes]
    return (try? encoder.encode(names.sorted())).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
  }
}

/// The lease of a worker that is being recovered.
let takenLease: Int64 = -1

/// Which process a worker is in, for a person who looks.
struct ProcessIdentity: Sendable {
  let host = ProcessInfo.processInfo.hostName
  let pid = Int64(ProcessInfo.processInfo.processIdentifier)
}
