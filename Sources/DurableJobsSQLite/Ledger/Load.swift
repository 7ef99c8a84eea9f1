import DurableJobs

extension WriteTransaction {
  func load(_ needs: Needs, _ reply: inout LedgerReply) throws {
    for id in needs.jobs { if let row = try load(id) { reply.jobs.append(row) } }
    var loaded: Set<JobID> = []
    for id in needs.childrenOf { try loadChildren(of: id, &loaded, &reply) }
    for id in needs.parentsOf {
      reply.parents += try connection[.parents].with(id).compactMap { row in
        let state = row.intOrNull(3).flatMap(JobState.init(code:))
        return Edge(parent: row.id(0), child: id, need: row.int(1), slot: row.int(2), parentState: state)
      }
    }
    for (lane, count) in needs.lanes { try load(lane: lane, waiting: count, &reply) }
    let besides = needs.namedBesides.isEmpty ? nil : "[\(needs.namedBesides.map(\.description).joined(separator: ","))]"
    for key in needs.named {
      let named = try connection[.named].with(key.composed, besides)
      guard let id = try named.first({ $0.isNull(0) ? nil : $0.id(0) }) else { continue }
      reply.named[key] = id
      if let row = try load(id) { reply.jobs.append(row) }
    }
    for key in needs.waitersOf {
      let waiters = try connection[.waiters].with(key.composed).map { $0.id(0) }
      if !waiters.isEmpty { reply.waiters[key] = waiters }
    }
    for key in needs.keys { reply.owners[key] = try owners(of: key, all: needs.allOwnersOf.contains(key)) }
    for worker in needs.heldBy {
      let rest = needs.heldLimit - reply.held.count
      let routes = try memory.routes.all(on: connection).map(\.id)
      let held = try claims(of: worker, in: routes, limit: rest).map(\.token.job)
      if held.count == rest { reply.unread.insert(worker) }
      let rows = try held.compactMap { try load($0) }
      reply.held += rows.map(\.id)
      reply.jobs += rows
    }
    if let batch = try needs.batch.flatMap({ try load($0) }) { reply.batches.append(batch) }
    if needs.overdue > 0 {
      reply.overdue += try connection[.overdue].with(now, needs.overdue).map { $0.id(0) }
      for id in reply.overdue {
        if let row = try load(id), row.isTimed, row.deadline != nil {
          reply.jobs.append(row)
        } else {
          try run(.forgetDeadlines, id, now)  // damage, or another program, left it behind
        }
      }
    }
    if let worker = needs.worker { reply.workers = try standingRows(of: worker) }
    for (queue, limits) in memory.routes.limits where needs.limitsOf[queue] ?? 0 > 0 {
      if let limit = try connection[.limitOf].limit(of: queue, limits, at: now) { reply.limits.append(limit) }
    }
  }

  /// Nil if the job does not exist, or is unknown to this version.
  func load(_ id: JobID) throws -> JobRow? { try connection[.load].with(id).first { try row($0) } }

  /// The row of ``WriterStatement/load`` and similar statements. Nil if it is unknown to this version.
  private func row(_ statement: Statement) throws -> JobRow? {
    let stored = StoredRow(statement)
    let kind = try memory.routes.route(stored.route, on: connection)?.kind ?? ""
    return try stored.job(kind: kind, isStanding: isStanding)
  }

  private func load(lane: String, waiting count: Int, _ reply: inout LedgerReply) throws {
    let seats = try connection[.seats].with(lane.composed, count)
    let (taken, width, first, pace) =
      try seats.first { ($0.count(0), $0.count(1), $0.intOrNull(2), $0.pace(from: 3)) } ?? (0, 1, nil, nil)
    var waiting = first.map { [JobID(rawValue: $0)] } ?? []
    if count > 1, first != nil { waiting = try connection[.waiting].with(lane.composed, count).map { $0.id(0) } }
    for id in waiting { if let job = try load(id) { reply.jobs.append(job) } }
    reply.lanes[lane] = LaneRow(width: max(width, 1), taken: taken, waiting: waiting, pace: pace)
  }

  /// Also deletes rows that hold nothing: expired ones, and those that damage or another program left behind.
  private func owners(of key: String, all: Bool) throws -> [JobID] {
    let statement = try connection[.keyOwners].with(key.composed, now)
    var (owners, idle, hasEnded): ([JobID], [JobID], Bool) = ([], [], false)
    while try statement.step() {
      let (id, isUnfinished) = (statement.id(0), statement.int(2) != 0)
      if statement.int(1) == 0 {
        idle.append(id)
      } else if isUnfinished || !hasEnded {
        owners.append(id)
        hasEnded = hasEnded || !isUnfinished
      }
      if isUnfinished, !all { break }
    }
    statement.reset()
    for id in idle { try run(.releaseKey, key.composed, id) }
    return owners.reversed()
  }

  private func loadChildren(of parent: JobID, _ loaded: inout Set<JobID>, _ reply: inout LedgerReply) throws {
    let edges = try connection[.children].with(parent).compactMap { row in
      Edge(parent: parent, child: row.id(0), need: row.int(1), slot: row.int(2))
    }
    reply.children += edges
    var new = Set(edges.map(\.child)).subtracting(loaded)
    guard !new.isEmpty else { return }
    loaded.formUnion(new)
    let rows = try connection[.childRows].with(parent)
    defer { rows.reset() }
    while try rows.step() { if new.remove(rows.id(15)) != nil, let row = try row(rows) { reply.jobs.append(row) } }
  }

  /// What runs under the claims of a worker's row, at most `limit` jobs, and what of it was asked to stop.
  func claims(
    of worker: Int64, in routes: some Sequence<Int64>, limit: Int
  ) throws -> [(token: ClaimToken, isAsked: Bool)] {
    var all: [(token: ClaimToken, isAsked: Bool)] = []
    let claims = ClaimNumber.range(ofWorker: worker)
    for route in routes where all.count < limit {
      let held = try connection[.heldBy].with(route, claims.lowerBound, claims.upperBound, limit - all.count)
      all += try held.map {
        (ClaimToken(job: $0.id(0), claim: $0.int(1)), !Links(rawValue: $0.int(2)).isDisjoint(with: .stopAsked))
      }
    }
    return all.sorted { $0.token.job < $1.token.job }
  }
}

extension StoredRow {
  /// The columns of ``WriterStatement/load``, which others begin with as well.
  init(_ row: Statement) {
    self.init(id: row.id(15))
    (route, state, priority, links) = (row.int(0), row.int(1), row.int(2), Links(rawValue: row.int(3)))
    (attempt, claim, runAt, enteredAt) = (row.count(4), row.int(5), row.intOrNull(6), row.int(7))
    (options, crashesInRow, crashes) = (row.text(8), row.count(9), row.count(10))
    (note, highestFraction, cause, waits) = (row.text(11), row.double(12), row.intOrNull(13), row.count(14))
  }
}
