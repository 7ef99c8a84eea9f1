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
    guard let state = JobState(code: statement.int(1)) else { return nil }
    // Terms that can't be read are as usual: the row is damaged, and its life must go on.
    let terms = (try? StoredTerms(text: statement.text(8))) ?? StoredTerms()
    let links = Links(rawValue: statement.int(3))
    // A promotion or a plain claim leaves the time in its place.
    let waits = [.scheduled, .suspended, .blocked, .skipped].contains(state)
    let runAt = waits ? statement.intOrNull(6) : nil
    var course = JobCourse(
      state: state, attempt: statement.count(4), maxAttempts: terms.attempts, crashesInRow: statement.count(9),
      crashes: statement.count(10), runAt: runAt.map(Date.init(milliseconds:)),
      isDated: waits && links.contains(.dated), stopAsked: links.stopReason, reason: statement.text(11),
      cause: statement.intOrNull(13).map(JobID.init(rawValue:)), isAfterFailure: links.contains(.afterFailure))
    course.isBackOff = waits && links.contains(.backOff)
    course.heldBy = state == .suspended ? links.hold : nil
    let claim = ClaimNumber(rawValue: statement.int(5))
    let isHeld = state == .running ? try isStanding(claim.worker) : false
    if let held = memory.held[id], !isHeld || held.claim != claim { forgetClaim(of: id) }
    let route = statement.int(0)
    var row = JobRow(
      id: id, route: route, kind: try memory.routes.route(route, on: connection)?.kind ?? "",
      priority: JobPriority(rawValue: Int(statement.int(2))), key: terms.key,
      unique: terms.keyHold, tags: terms.tags ?? [], enteredAt: statement.int(7), highestFraction: statement.double(12),
      claim: claim, isHeld: isHeld, lane: terms.jobLane,
      seat: links.contains(.seated) ? true : links.contains(.lane) && !state.isFinished ? false : nil,
      waits: statement.count(14), hasParents: links.contains(.parents),
      hasChildren: links.contains(.children), course: course)
    row.batch = terms.batch.map(BatchID.init(rawValue:))
    row.hasSteps = links.contains(.steps)
    (row.deadline, row.isTimed) = (terms.deadline, links.contains(.deadline) && !state.isFinished)
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

extension Edge {
  /// Is added to the number of what is needed where that will never come.
  static let never: Int64 = 4

  /// Nil if `need` is no number of one.
  init?(parent: JobID, child: JobID, need: Int64, slot: Int64, parentState: JobState? = nil) {
    let condition: JobEdge.Condition? =
      switch need % Self.never {
      case 1: .succeeded
      case 2: .ended
      case 3: .failed
      default: nil
      }
    guard let condition else { return nil }
    self.init(
      parent: parent, child: child, condition: condition, slot: slot < 0 ? nil : Int(truncatingIfNeeded: slot),
      isNever: need > Self.never, parentState: parentState)
  }
}

extension JobEdge.Condition {
  var need: Int64 {
    switch self {
    case .succeeded: 1
    case .ended: 2
    case .failed: 3
    }
  }
}
