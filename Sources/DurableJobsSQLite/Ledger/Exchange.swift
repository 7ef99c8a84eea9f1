import DurableJobs
import Foundation

extension WriteTransaction: JobLedger {
  func exchange(_ request: LedgerRequest) throws -> LedgerReply {
    var reply = LedgerReply()
    if let changes = request.save { try save(changes) }
    if let renewal = request.renew { reply.workers = try renew(renewal.worker, until: renewal.leaseUntil) }
    if let tokens = request.hold { try hold(tokens, &reply) }
    for finish in request.finish where try self.finish(finish) { reply.finished.append(finish.index) }
    reply.batch = try request.batch.map { try batch($0) }
    if !request.add.isEmpty { reply.added = try add(request.add, in: reply.batch) }
    for (id, tally) in request.tally { if let row = try count(tally, of: id) { reply.batches.append(row) } }
    if let (batch, job) = request.complete { try run(.complete, batch.rawValue, job, now) }
    for batch in request.forget { try run(.deleteBatch, batch.rawValue) }
    for loss in request.dispossess { if let id = try dispossess(loss) { reply.dispossessed.append(id) } }
    if let limit = request.promote { reply.hasMoreDue = try promoteAll(limit: limit) }
    if let claim = request.take { reply.taken = try take(claim, &reply.overdue) }
    if !request.load.isEmpty { try load(request.load, &reply) }
    return reply
  }

  // MARK: Plain jobs

  /// One statement, plus one for an output: this process knows the rest from its claim and need not read it.
  private func finish(_ finish: Finish) throws -> Bool {
    let (job, claim) = (finish.token.job, ClaimNumber(rawValue: finish.token.claim))
    guard let held = memory.held[job], held.claim == claim, !held.isSlow, try isStanding(claim.worker) else {
      return false
    }
    let succeed = try connection[.succeed].with(job, now, claim.rawValue)
    try succeed.run()
    guard succeed.changes == 1 else { return false }
    FaultPoint.settleMarked.reach()
    if let unique = held.unique { try release(unique, in: .succeeded, job) }
    if let deadline = held.deadline { try run(.deleteDeadline, deadline, job) }
    if held.hasParents { try run(.deleteWait, job) }
    if let output = finish.output { try store(output, of: job) }
    FaultPoint.settleResult.reach()
    try moved(job, route: held.route, in: held.batch, from: .running, to: .succeeded)
    letGo.append(finish.token)
    return true
  }

  func add(_ new: [NewRow]) throws -> [JobID] { try add(new, in: nil) }

  private func add(_ new: [NewRow], in batch: BatchID?) throws -> [JobID] {
    try new.reduce(into: []) { $0.append(try add($1, in: batch, after: $0)) }
  }

  private func add(_ new: NewRow, in batch: BatchID?, after added: [JobID]) throws -> JobID {
    FaultPoint.insertBegun.reach()
    let route = try memory.routes.intern(
      queue: new.job.queue, kind: new.job.kind, requires: new.job.terms.requires, on: connection)
    let (runAt, priority) = (new.course.runAt?.milliseconds, new.job.terms.priority)
    let rank = new.course.state == .scheduled ? runAt ?? now : priority.rank
    let unique = new.job.terms.unique.map { KeyHold($0, storedAt: now) }
    let (deadline, links) = new.links(unique)
    try run(.insertJob, route, new.course.state.code, rank, priority.stored, runAt, now, links.rawValue)
    let id = JobID(rawValue: connection.lastInsertedID)
    FaultPoint.insertJob.reach()

    var stored = StoredTerms(new.job.terms, unique)
    stored.batch = batch?.rawValue
    try connection[.insertSpec].with(id, now, stored.text).run(with: new.job.payload, at: 4)
    FaultPoint.insertSpec.reach()

    if let unique, unique.isHeld(in: new.course.state, at: now) { try take(unique, id) }
    if let key = new.job.terms.key {
      try run(.insertKey, key.composed, id)
      if !new.course.state.isFinished { try bind(key, id) }
    }
    for tag in new.job.terms.tags { try run(.insertTag, tag.composed, id) }
    if links.contains(.parents) { try connect(new, id, added) }
    if let lane = new.job.terms.lane?.name, let seat = new.seat { try run(.insertSeat, lane.composed, seat, id) }
    if new.waits > 0 { try put(waits: new.waits, of: id) }
    if let deadline { try set(deadline, of: id) }
    if let batch { try run(.putMember, batch.rawValue, id) }
    try moved(id, route: route, in: batch, from: nil, to: new.course.state)
    return id
  }

  /// Binds jobs that wait for a key to the first job that has it.
  func bind(_ key: String, _ id: JobID) throws {
    if isKeyAwaited == nil { isKeyAwaited = try connection[.isKeyAwaited].first { _ in true } ?? false }
    guard isKeyAwaited == true else { return }
    let bind = try connection[.bindKey].with(key.composed, id)
    try bind.run()
    guard bind.changes > 0 else { return }
    try run(.unbindKey, key.composed)
    try run(.markBound, id)
  }

  private func connect(_ new: NewRow, _ id: JobID, _ added: [JobID]) throws {
    for edge in new.edges {
      let (need, slot) = (edge.condition.need, edge.slot ?? -1)
      switch edge.parent {
      case .known(let parent): try run(.insertEdge, parent, id, need, slot)
      case .added(let index): try run(.insertEdge, added[index], id, need, slot)
      case .key(let key):
        try run(.waitForKey, key.composed, id, need, slot)
        isKeyAwaited = true
      }
    }
    if let reason = new.course.reason { try put(note: reason, cause: new.course.cause, of: id) }
  }

  func set(_ deadline: Int64, of id: JobID) throws {
    try run(.putDeadline, deadline, id)
    if deadline - now < Defaults.sweepInterval.milliseconds { news.tell(.deadlines) }
  }

  func moved(_ id: JobID, route: Int64, in batch: BatchID? = nil, from old: JobState?, to new: JobState?) throws {
    try news.moved(id, route: route, in: batch, from: old, to: new) { try place(route) }
  }

  func place(_ route: Int64) throws -> (queue: String, kind: String)? {
    if lastPlace?.route != route {
      lastPlace = try memory.routes.route(route, on: connection).map { (route, $0.queue, $0.kind) }
    }
    return lastPlace.map { ($0.queue, $0.kind) }
  }

  func run<each Value: StatementValue>(_ name: WriterStatement, _ values: repeat each Value) throws {
    try connection[name].with(repeat each values).run()
  }

  func store(_ output: Data, of job: JobID) throws { try connection[.insertOutput].with(job).run(with: output, at: 2) }
}
