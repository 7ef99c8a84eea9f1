import DurableJobs
import Foundation

extension WriteTransaction {
  func load(_ needs: Needs, _ reply: inout LedgerReply) throws {
    for id in needs.jobs { if let row = try load(id) { reply.jobs.append(row) } }
    var loaded: Set<JobID> = []
    for id in needs.childrenOf { try loadChildren(of: id, &loaded, &reply) }
    for id in needs.parentsOf { try loadParents(of: id, &reply) }
    for (lane, count) in needs.lanes { try load(lane: lane, waiting: count, &reply) }
    let besides = needs.namedBesides.isEmpty ? nil : "[\(needs.namedBesides.map(\.description).joined(separator: ","))]"
    for key in needs.named {
      let named = try connection[.named]
      named.bind(2, besides)
      for id in try ids(.named, key) {
        reply.named[key] = id
        if let row = try load(id) { reply.jobs.append(row) }
      }
    }
    for key in needs.waitersOf {
      let waiters = try ids(.waiters, key)
      if !waiters.isEmpty { reply.waiters[key] = waiters }
    }
    for key in needs.keys { reply.owners[key] = try owners(of: key, all: needs.allOwnersOf.contains(key)) }
    for worker in needs.heldBy {
      for id in try heldBy(worker, limit: needs.heldLimit - reply.held.count) {
        guard let row = try load(id) else { continue }
        reply.held.append(id)
        reply.jobs.append(row)
      }
    }
    if let batch = try needs.batch.flatMap({ try load($0) }) { reply.batches.append(batch) }
    if needs.overdue > 0 {
      let overdue = try connection[.overdue]
      overdue.bind(1, now)
      overdue.bind(2, Int64(needs.overdue))
      while try overdue.step() { reply.overdue.append(JobID(rawValue: overdue.int(0))) }
      for id in reply.overdue {
        if let row = try load(id), row.isTimed, row.deadline != nil {
          reply.jobs.append(row)
        } else {
          try run(.forgetDeadlines, id.rawValue, now)  // damage, or another program, left it behind
        }
      }
    }
    if let worker = needs.worker { reply.workers = try standingRows(of: worker) }
  }

  /// Nil if there is no such job, or none that this version knows.
  func load(_ id: JobID) throws -> JobRow? {
    let statement = try connection[.load]
    statement.bind(1, id.rawValue)
    guard try statement.step() else {
      forgetClaim(of: id)
      return nil
    }
    defer { statement.reset() }
    return try row(statement)
  }

  /// Of ``WriterStatement/load`` and its like. Nil if it is none that this version knows.
  private func row(_ statement: Statement) throws -> JobRow? {
    let id = JobID(rawValue: statement.int(15))
    let stored = StoredRow(
      id: id, route: statement.int(0), state: statement.int(1), priority: statement.int(2),
      links: Links(rawValue: statement.int(3)), attempt: statement.count(4), claim: statement.int(5),
      runAt: statement.intOrNull(6), enteredAt: statement.int(7), options: statement.text(8),
      crashesInRow: statement.count(9), crashes: statement.count(10), note: statement.text(11),
      cause: statement.intOrNull(13), highestFraction: statement.double(12), waits: statement.count(14))
    let kind = try memory.routes.route(stored.route, on: connection)?.kind ?? ""
    guard let row = try stored.job(kind: kind, isStanding: isStanding) else { return nil }
    if let held = memory.held[id], !row.isHeld || held.claim != row.claim { forgetClaim(of: id) }
    return row
  }

  private func load(lane: String, waiting count: Int, _ reply: inout LedgerReply) throws {
    let seats = try connection[.seats]
    seats.bind(1, name: lane)
    var row = LaneRow(width: 1, taken: 0, waiting: [])
    while try seats.step() { row = LaneRow(width: max(seats.count(1), 1), taken: seats.count(0), waiting: []) }
    if count > 0 {
      let waiting = try connection[.waiting]
      waiting.bind(1, name: lane)
      waiting.bind(2, Int64(count))
      while try waiting.step() { row.waiting.append(JobID(rawValue: waiting.int(0))) }
    }
    for id in row.waiting { if let job = try load(id) { reply.jobs.append(job) } }
    reply.lanes[lane] = row
  }

  /// Rows that say nothing any more go: their time is over, or damage or another program left them behind.
  private func owners(of key: String, all: Bool) throws -> [JobID] {
    let statement = try connection[.keyOwners]
    statement.bind(1, name: key)
    statement.bind(2, now)
    var (owners, idle): ([JobID], [Int64]) = ([], [])
    while try statement.step() {
      let (id, isUnfinished) = (statement.int(0), statement.int(2) != 0)
      if statement.int(1) == 0 {
        idle.append(id)
      } else if all || isUnfinished || owners.isEmpty {
        owners.append(JobID(rawValue: id))
      }
      if isUnfinished, !all { break }
    }
    statement.reset()
    for id in idle { try run(.releaseKey, key, of: id) }
    return owners.reversed()
  }

  private func ids(_ name: WriterStatement, _ key: String) throws -> [JobID] {
    let statement = try connection[name]
    statement.bind(1, name: key)
    var ids: [JobID] = []
    while try statement.step() { if !statement.isNull(0) { ids.append(JobID(rawValue: statement.int(0))) } }
    return ids
  }

  private func loadChildren(of parent: JobID, _ loaded: inout Set<JobID>, _ reply: inout LedgerReply) throws {
    let statement = try connection[.children]
    statement.bind(1, parent.rawValue)
    var edges: [Edge] = []
    while try statement.step() {
      let child = JobID(rawValue: statement.int(0))
      if let edge = Edge(parent: parent, child: child, need: statement.int(1), slot: statement.int(2)) {
        edges.append(edge)
      }
    }
    reply.children += edges
    var new = Set(edges.map(\.child)).subtracting(loaded)
    guard !new.isEmpty else { return }
    loaded.formUnion(new)
    let rows = try connection[.childRows]
    rows.bind(1, parent.rawValue)
    while try rows.step() {
      if new.remove(JobID(rawValue: rows.int(15))) != nil, let row = try row(rows) { reply.jobs.append(row) }
    }
  }

  private func loadParents(of child: JobID, _ reply: inout LedgerReply) throws {
    let statement = try connection[.parents]
    statement.bind(1, child.rawValue)
    while try statement.step() {
      let edge = Edge(
        parent: JobID(rawValue: statement.int(0)), child: child, need: statement.int(1), slot: statement.int(2),
        parentState: statement.intOrNull(3).flatMap(JobState.init(code:)))
      if let edge { reply.parents.append(edge) }
    }
  }

  private func forgetClaim(of id: JobID) {
    if let held = memory.held[id] { letGo.append(ClaimToken(job: id, claim: held.claim.rawValue)) }
  }

  /// Jobs that run under claims of a worker's row, at most `limit`.
  private func heldBy(_ worker: Int64, limit: Int) throws -> [JobID] {
    var ids: [JobID] = []
    let claims = ClaimNumber.range(ofWorker: worker)
    for route in try memory.routes.all(on: connection) where ids.count < limit {
      let held = try connection[.heldBy]
      held.bind(1, route.id)
      held.bind(2, claims.lowerBound)
      held.bind(3, claims.upperBound)
      held.bind(4, Int64(limit - ids.count))
      while try held.step() { ids.append(JobID(rawValue: held.int(0))) }
    }
    return ids.sorted()
  }
}
