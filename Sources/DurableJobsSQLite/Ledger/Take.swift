import DurableJobs
import Foundation

/// Promoting jobs to ready and claiming ready jobs.
extension WriteTransaction {
  /// The most due jobs of a route that become ready in one transaction. The rest follow in the next, at once.
  static let promotionBite = 1000

  /// The most jobs claimed from one queue in one transaction.
  private static let largestClaim = 1_000_000

  /// Claims jobs. Those past their deadline are not claimed but added to `overdue`.
  func take(_ request: ClaimRequest, _ overdue: inout [JobID]) throws -> ClaimBatch {
    var batch = ClaimBatch()
    guard var own = memory.workers[request.worker], let last = own.indices.last, let row = own[last].row.id else {
      return batch
    }
    let free = request.free.filter { $0.value > 0 }.mapValues { min($0, Self.largestClaim) }
    let routes = memory.routes.served(
      kinds: request.kinds, queues: request.queues.intersection(free.keys), satisfied: request.satisfied)
    for route in routes { try promote(route, &batch) }
    FaultPoint.claimPromoted.reach()
    let picked = try pick(from: routes, free, request, &batch, &overdue)
    FaultPoint.claimPicked.reach()
    guard !picked.isEmpty else { return batch }

    own[last].row.claims += 1
    memory.workers[request.worker] = own
    let claim = ClaimNumber(worker: row, count: own[last].row.claims)
    batch.jobs.reserveCapacity(picked.count)
    for job in picked {
      do { try run(.mark, job.id, claim.rawValue, now) } catch let failure as SQLiteFailure where failure.concernsRow {
        batch.hasMore = true
        try seize(job.id, because: failure.message)
        continue
      }
      FaultPoint.claimMarked.reach()
      try moved(job.id, route: job.route.id, from: .ready, to: .running)
      let deadline = job.links.contains(.deadline) ? job.terms.deadline : nil
      let held = WriterMemory.Held(
        claim: claim, route: job.route.id, unique: job.terms.keyHold, deadline: deadline?.date.milliseconds,
        batch: job.terms.batch.map(BatchID.init(rawValue:)), isSlow: !job.links.isDisjoint(with: .slow),
        hasParents: job.links.contains(.parents))
      self.claimed.append((job.id, held))
      batch.jobs.append(
        ClaimedJob(
          token: ClaimToken(job: job.id, claim: claim.rawValue), queue: job.route.queue, kind: job.route.kind,
          payload: job.payload, attempt: job.attempt + 1, maxAttempts: job.terms.attempts, timeout: job.terms.duration,
          deadline: deadline?.toEnd, requires: job.route.requires,
          whenLost: job.terms.interrupts == true ? .interrupts : .goesOn, key: job.terms.key,
          createdAt: Date(milliseconds: job.createdAt), batch: job.terms.knownBatch,
          inputs: job.links.contains(.parents) ? try inputs(of: job.id) : [:],
          steps: job.links.contains(.steps) ? try steps(of: job.id) : [:]))
    }
    return batch
  }

  /// The ends of the jobs that it waited for.
  private func inputs(of id: JobID) throws -> [Int: JobEnd] {
    var inputs: [Int: JobEnd] = [:]
    var failures: [(slot: Int, parent: JobID)] = []
    let statement = try connection[.inputs].with(id)
    while try statement.step() {
      let slot = statement.count(0)
      if statement.int(2) == JobState.succeeded.code {
        inputs[slot] = .succeeded(output: statement.data(3))
      } else {
        failures.append((slot, statement.id(1)))
      }
    }
    func job(_ id: JobID) throws -> JobSnapshot? {
      try readJobs(JobQuery(.id(id), detail: .failures, limit: 1), now: now, on: connection.handle).first
    }
    for failure in failures {
      guard let parent = try job(failure.parent) else { continue }
      inputs[failure.slot] = parent.end(cause: try parent.cause.flatMap(job))
    }
    return inputs
  }

  private func steps(of id: JobID) throws -> [String: Data] {
    let steps = try connection[.steps].with(id).map { ($0.text(0) ?? "", $0.data(1) ?? Data()) }
    return Dictionary(steps) { $1 }
  }

  // MARK: Promoting

  /// Makes due jobs of a route ready, and records when the next one is due.
  private func promote(_ route: Route, _ batch: inout ClaimBatch) throws {
    guard var due = try nextDue(route.id) else { return }
    if due <= now, try promote(route.id, limit: Self.promotionBite) < Self.promotionBite {
      guard let next = try nextDue(route.id) else { return }
      due = next
    }
    let wait = Duration.milliseconds(max(due, now) - now)
    batch.nextDue = min(batch.nextDue ?? wait, wait)
  }

  private func nextDue(_ route: Int64) throws -> Int64? { try connection[.nextDue].with(route).first { $0.int(0) } }

  /// Makes at most `limit` due jobs of a route ready, earliest first. Returns how many there were.
  private func promote(_ route: Int64, limit: Int) throws -> Int {
    let promote = try connection[.promote].with(route, now, limit)
    try promote.run()
    news.movedMany(promote.changes, route: route, from: .scheduled, to: .ready)
    return promote.changes
  }

  /// Returns true if any route has more than `limit` due jobs.
  func promoteAll(limit: Int) throws -> Bool {
    var hasMore = false
    for route in try memory.routes.all(on: connection) {
      guard let due = try nextDue(route.id), due <= now else { continue }
      if try promote(route.id, limit: limit) == limit, let next = try nextDue(route.id), next <= now { hasMore = true }
    }
    return hasMore
  }

  // MARK: Picking

  /// A ready job that was read. Not a struct, since it is handed on several times.
  private final class PickedJob {
    let id: JobID
    let route: Route
    let attempt: Int
    let createdAt: Int64
    let terms: StoredTerms
    let payload: Data
    let links: Links

    init(_ id: JobID, _ route: Route, from row: Statement, _ terms: StoredTerms, _ payload: Data) {
      (self.id, self.route, self.terms, self.payload) = (id, route, terms, payload)
      (attempt, createdAt, links) = (row.count(2), row.int(3), Links(rawValue: row.int(6)))
    }

    func isOverdue(at now: Int64) -> Bool {
      links.contains(.deadline) && terms.deadline.map { $0.date.milliseconds <= now } ?? false
    }
  }

  /// A read position in a route: its first job that has not been taken.
  private struct Cursor {
    let route: Route
    let statement: Statement
    var id: JobID { statement.id(0) }
    var rank: Int64 { statement.int(1) }
    /// How many of its rows were read, and the most to read: one more than there is room for.
    var seen = 1
    let limit: Int
  }

  private struct Damage: Error { let reason: String }

  /// The first ready jobs of these routes, by rank and then by id, within the free slots of each queue. Each route is
  /// read only as far as needed, so that ten long routes cost as much as one.
  private func pick(
    from routes: [Route], _ free: [String: Int], _ request: ClaimRequest, _ batch: inout ClaimBatch,
    _ overdue: inout [JobID]
  ) throws -> [PickedJob] {
    var free = free
    let only = request.only
    var cursors: [Cursor] = []
    var damaged: [(id: JobID, reason: String)] = []
    var picked: [PickedJob] = []
    defer { for cursor in cursors { cursor.statement.reset() } }

    for route in try only.map({ try self.route(of: $0, among: routes) }) ?? routes {
      // More than can be taken, to learn whether there are more, and to get past rows that are skipped.
      let limit = (free[route.queue] ?? 0) + 1000 + memory.untouchable.count
      let statement = try (only == nil ? connection.picker(cursors.count) : connection[.pickOnly])
        .with(only?.rawValue ?? route.id, limit)
      if try statement.step() { cursors.append(Cursor(route: route, statement: statement, limit: limit)) }
    }

    while let first = cursors.indices.min(by: {
      (cursors[$0].rank, cursors[$0].id) < (cursors[$1].rank, cursors[$1].id)
    }) {
      let (cursor, queue) = (cursors[first], cursors[first].route.queue)
      guard let left = free[queue], left > 0 else {
        if request.limited.contains(queue) { batch.full.insert(queue) } else { batch.hasMore = true }
        cursor.statement.reset()
        cursors.remove(at: first)
        continue
      }
      switch read(cursor) {
      case _ where memory.untouchable.contains(cursor.id): break
      case .success(let job) where job.isOverdue(at: now): overdue.append(job.id)
      case .success(let job):
        picked.append(job)
        free[queue] = left - 1
      case .failure(let damage): damaged.append((cursor.id, damage.reason))
      }
      if try cursor.statement.step() {
        cursors[first].seen += 1
      } else {
        // Some could not be read, or exceeded the free slots: more may follow them.
        if cursor.seen == cursor.limit { batch.hasMore = true }
        cursors.remove(at: first)
      }
    }
    // Not before this point: a row that is moved while its index is read could show up again.
    for (id, reason) in damaged { try setAside(id, because: reason) }
    return picked
  }

  private func route(of job: JobID, among routes: [Route]) throws -> [Route] {
    let route = try connection[.routeOf].with(job).first { $0.int(0) }
    return routes.filter { $0.id == route }
  }

  private func read(_ cursor: Cursor) -> Result<PickedJob, Damage> {
    let row = cursor.statement
    guard !row.isNull(3) else { return .failure(Damage(reason: "what was asked for is missing")) }
    guard row.isBlob(5), let payload = row.data(5) else {
      return .failure(Damage(reason: "the payload is missing or no data"))
    }
    guard let terms = try? terms(of: row.text(4)) else { return .failure(Damage(reason: "the options are no JSON")) }
    return .success(PickedJob(cursor.id, cursor.route, from: row, terms, payload))
  }

  private func terms(of text: String?) throws -> StoredTerms {
    guard let text else { return StoredTerms() }
    if let last = memory.lastTerms, last.text == text { return last.terms }
    let terms = try StoredTerms(text: text)
    memory.lastTerms = (text, terms)
    return terms
  }
}
