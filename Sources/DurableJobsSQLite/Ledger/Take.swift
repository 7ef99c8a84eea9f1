import DurableJobs
import Foundation

extension WriteTransaction {
  /// The most due jobs of a route that become ready in one transaction. The rest follow in the next, at once.
  static let promotionBite = 1000

  /// The most jobs claimed from one queue in one transaction.
  private static let largestClaim = 1_000_000

  /// Claims jobs. Those past their deadline are not claimed but added to `overdue`.
  func take(_ request: ClaimRequest, _ overdue: inout [JobID]) throws -> ClaimBatch {
    var batch = ClaimBatch()
    guard var own = memory.workers[request.worker], let last = own.indices.last, let row = own[last].id else {
      return batch
    }
    let free = request.free.filter { $0.value > 0 }.mapValues { min($0, Self.largestClaim) }
    let routes = memory.routes.served(
      kinds: request.kinds, queues: request.queues.intersection(free.keys), satisfied: request.satisfied)
    for route in routes { try promote(route, &batch) }
    FaultPoint.claimPromoted.reach()
    let claim = ClaimNumber(worker: row, count: own[last].claims + 1)
    let picked = try pick(from: routes, free, request, claim, &batch, &overdue)
    FaultPoint.claimPicked.reach()
    guard !picked.isEmpty else { return batch }

    own[last].claims += 1
    memory.workers[request.worker] = own
    var seized: Set<JobID> = []
    for index in picked.indices {
      let (id, links) = (batch.jobs[index].token.job, picked[index].links)
      do { try run(.mark, id, claim.rawValue, now) } catch let failure as SQLiteFailure where failure.concernsRow {
        batch.hasMore = true
        try seize(id, because: failure.message)
        seized.insert(id)
        continue
      }
      FaultPoint.claimMarked.reach()
      try moved(id, route: picked[index].held.route, from: .ready, to: .running)
      claimed.append((id, picked[index].held))
      if links.contains(.parents) { batch.jobs[index].inputs = try inputs(of: id) }
      if links.contains(.steps) { batch.jobs[index].steps = try steps(of: id) }
    }
    if !seized.isEmpty { batch.jobs.removeAll { seized.contains($0.token.job) } }
    return batch
  }

  /// The ends of the jobs that it waited for.
  private func inputs(of id: JobID) throws -> [Int: JobEnd] {
    func job(_ id: JobID) throws -> JobSnapshot? {
      try readJobs(JobQuery(.id(id), detail: .failures, limit: 1), now: now, on: connection.handle).first
    }
    let ends = try connection[.inputs].with(id).map { row in
      let hasSucceeded = row.int(2) == JobState.succeeded.code
      return (slot: row.count(0), job: row.id(1), success: hasSucceeded ? JobEnd.succeeded(output: row.data(3)) : nil)
    }
    return try ends.reduce(into: [:]) { inputs, end in
      let other = end.success == nil ? try job(end.job) : nil
      inputs[end.slot] = try end.success ?? other?.end(cause: other?.cause.flatMap(job))
    }
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

  /// What else is known of a job of the batch.
  private typealias Picked = (held: WriterMemory.Held, links: Links)

  /// A read position in a route: its first job that has not been taken.
  private struct Cursor {
    let route: Route
    let statement: Statement
    /// How many of its rows may be read.
    let limit: Int
    private(set) var seen = 0
    private(set) var id = JobID(rawValue: 0)
    private(set) var rank: Int64 = 0

    mutating func step() throws -> Bool {
      guard try statement.step() else { return false }
      (seen, id, rank) = (seen + 1, statement.id(0), statement.int(1))
      return true
    }
  }

  private struct Unreadable: Error { let reason: String }

  /// Adds to the batch the first ready jobs of these routes, by rank and then by id, within the free slots of each
  /// queue. Each route is read only as far as needed, so that ten long routes cost as much as one.
  private func pick(
    from routes: [Route], _ free: [String: Int], _ request: ClaimRequest, _ claim: ClaimNumber,
    _ batch: inout ClaimBatch, _ overdue: inout [JobID]
  ) throws -> [Picked] {
    var free = free
    let only = request.only
    var cursors: [Cursor] = []
    var damaged: [(id: JobID, reason: String)] = []
    var picked: [Picked] = []
    defer { for cursor in cursors { cursor.statement.reset() } }

    for route in try only.map({ try self.route(of: $0, among: routes) }) ?? routes {
      // More than can be taken, to learn whether there are more, and to get past rows that are skipped.
      let limit = (free[route.queue] ?? 0) + 1000 + memory.untouchable.count
      let statement = try (only == nil ? connection.picker(cursors.count) : connection[.pickOnly])
        .with(only?.rawValue ?? route.id, limit)
      var cursor = Cursor(route: route, statement: statement, limit: limit)
      if try cursor.step() { cursors.append(cursor) }
    }

    while let first = cursors.indices.min(by: {
      (cursors[$0].rank, cursors[$0].id) < (cursors[$1].rank, cursors[$1].id)
    }) {
      let (id, queue) = (cursors[first].id, cursors[first].route.queue)
      guard let slots = free.index(forKey: queue), free.values[slots] > 0 else {
        if request.limited.contains(queue) { batch.full.insert(queue) } else { batch.hasMore = true }
        cursors[first].statement.reset()
        cursors.remove(at: first)
        continue
      }
      if !memory.untouchable.contains(id) {
        do throws(Unreadable) {
          let job = try read(cursors[first].statement, id, of: cursors[first].route, claim, &batch)
          free.values[slots] -= job == nil ? 0 : 1
          if let job { picked.append(job) } else { overdue.append(id) }
        } catch { damaged.append((id, error.reason)) }
      }
      if try !cursors[first].step() {
        // Some could not be read, or exceeded the free slots: more may follow them.
        if cursors[first].seen == cursors[first].limit { batch.hasMore = true }
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

  /// Adds the job to the batch; nil if its deadline has passed.
  private func read(
    _ row: Statement, _ id: JobID, of route: Route, _ claim: ClaimNumber, _ batch: inout ClaimBatch
  ) throws(Unreadable) -> Picked? {
    guard !row.isNull(3) else { throw Unreadable(reason: "what was asked for is missing") }
    guard row.isBlob(5), let payload = row.data(5) else {
      throw Unreadable(reason: "the payload is missing or no data")
    }
    guard let terms = try? terms(of: row.text(4)) else { throw Unreadable(reason: "the options are no JSON") }
    let links = Links(rawValue: row.int(6))
    let deadline = links.contains(.deadline) ? terms.deadline : nil
    let held = WriterMemory.Held(
      claim: claim, route: route.id, unique: terms.keyHold, deadline: deadline?.date.milliseconds,
      batch: terms.batch.map(BatchID.init(rawValue:)), isSlow: !links.isDisjoint(with: .slow),
      hasParents: links.contains(.parents))
    if let deadline = held.deadline, deadline <= now { return nil }
    batch.jobs.append(
      ClaimedJob(
        token: ClaimToken(job: id, claim: claim.rawValue), queue: route.queue, kind: route.kind,
        payload: payload, attempt: row.count(2) + 1, maxAttempts: terms.attempts, timeout: terms.duration,
        deadline: deadline?.toEnd, requires: route.requires, whenLost: terms.interrupts == true ? .interrupts : .goesOn,
        key: terms.key, createdAt: Date(milliseconds: row.int(3)), batch: terms.knownBatch))
    return (held, links)
  }

  private func terms(of text: String?) throws -> StoredTerms {
    guard let text else { return .defaults }
    if let last = memory.lastTerms, last.text == text { return last.terms }
    let terms = try StoredTerms(text: text)
    memory.lastTerms = (text, terms)
    return terms
  }
}
