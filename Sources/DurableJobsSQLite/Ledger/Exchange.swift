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
    if let (batch, job) = request.complete { try run(.complete, batch.rawValue, job?.rawValue) }
    for loss in request.dispossess where try dispossess(loss) { reply.dispossessed.append(loss.worker) }
    if let limit = request.promote { reply.hasMoreDue = try promoteAll(limit: limit) }
    if let claim = request.take { reply.taken = try take(claim, &reply.overdue) }
    if !request.load.isEmpty { try load(request.load, &reply) }
    return reply
  }

  // MARK: Plain jobs

  /// One statement, and one more for an output: what it would have to read, this process knows from its claim.
  private func finish(_ finish: Finish) throws -> Bool {
    FaultPoint.settleBegun.reach()
    let (job, claim) = (finish.token.job, ClaimNumber(rawValue: finish.token.claim))
    guard let held = memory.held[job], held.claim == claim, try isStanding(claim.worker) else { return false }
    let succeed = try connection[.succeed]
    succeed.bind(1, job.rawValue)
    succeed.bind(2, now)
    succeed.bind(3, claim.rawValue)
    try succeed.run()
    guard succeed.changes == 1 else { return false }
    FaultPoint.settleMarked.reach()
    if let unique = held.unique { try release(unique, in: .succeeded, job.rawValue) }
    if let deadline = held.deadline { try run(.deleteDeadline, deadline, job.rawValue) }
    if let output = finish.output { try store(output, of: job) }
    news.moved(in: held.batch, from: .running, to: .succeeded)
    FaultPoint.settleResult.reach()
    try moved(job, route: held.route, from: .running, to: .succeeded)
    letGo.append(finish.token)
    return true
  }

  private func add(_ rows: [NewRow], in batch: BatchID?) throws -> [JobID] {
    var added: [JobID] = []
    added.reserveCapacity(rows.count)
    for row in rows { added.append(try add(row, in: batch, after: added)) }
    return added
  }

  private func add(_ new: NewRow, in batch: BatchID?, after added: [JobID]) throws -> JobID {
    FaultPoint.insertBegun.reach()
    let (job, terms) = (new.job, new.job.terms)
    let route = try memory.routes.intern(
      queue: job.queue, kind: job.kind, requires: terms.requires, on: connection)
    let runAt = new.course.runAt?.milliseconds
    let hot = try connection[.insertJob]
    hot.bind(1, route)
    hot.bind(2, new.course.state.code)
    hot.bind(3, new.course.state == .scheduled ? runAt ?? now : terms.priority.rank)
    hot.bind(4, terms.priority.stored)
    hot.bind(5, runAt)
    hot.bind(6, now)
    let unique = terms.unique.map { KeyHold($0, storedAt: now) }
    let (deadline, links) = new.links(unique)
    hot.bind(7, links.rawValue)
    try hot.run()
    let id = connection.lastInsertedID
    FaultPoint.insertJob.reach()

    let cold = try connection[.insertSpec]
    cold.bind(1, id)
    cold.bind(2, now)
    var stored = StoredTerms(terms, unique)
    stored.batch = batch?.rawValue
    cold.bind(3, try stored.text)
    try cold.run(with: job.payload, at: 4)
    FaultPoint.insertSpec.reach()

    if let unique, unique.isHeld(in: new.course.state, at: now) { try take(unique, id) }
    if let key = terms.key { try bring(key, id, new.course.state) }
    for tag in terms.tags { try run(.insertTag, tag, of: id) }
    if !new.edges.isEmpty { try connect(new, JobID(rawValue: id), added) }
    if let lane = terms.lane?.name, let seat = new.seat { try run(.insertSeat, lane, of: seat ? 1 : 0, id) }
    if new.waits > 0 { try put(waits: new.waits, of: id) }
    if let deadline { try set(deadline, of: id) }
    if let batch { try run(.putMember, batch.rawValue, id) }
    news.moved(in: batch, from: nil, to: new.course.state)
    try moved(JobID(rawValue: id), route: route, from: nil, to: new.course.state)
    return JobID(rawValue: id)
  }

  /// The first that comes with a key is what others have waited for.
  private func bring(_ key: String, _ id: Int64, _ state: JobState) throws {
    try run(.insertKey, key, of: id)
    guard !state.isFinished else { return }
    let bind = try connection[.bindKey]
    bind.bind(1, name: key)
    bind.bind(2, id)
    try bind.run()
    guard bind.changes > 0 else { return }
    try run(.unbindKey, key)
    try run(.markBound, id)
  }

  private func connect(_ new: NewRow, _ id: JobID, _ added: [JobID]) throws {
    for edge in new.edges {
      let (need, slot) = (edge.condition.need, edge.slot.map(Int64.init) ?? -1)
      switch edge.parent {
      case .known(let parent): try run(.insertEdge, parent.rawValue, id.rawValue, need, slot)
      case .added(let index): try run(.insertEdge, added[index].rawValue, id.rawValue, need, slot)
      case .key(let key): try run(.waitForKey, key, of: id.rawValue, need, slot)
      }
    }
    if let reason = new.course.reason { try put(note: reason, cause: new.course.cause, of: id.rawValue) }
  }

  func set(_ deadline: Int64, of id: Int64) throws {
    try run(.putDeadline, deadline, id)
    if deadline - now < Defaults.sweepInterval.milliseconds { news.tell(.deadlines) }
  }

  // MARK: Small ones

  func moved(_ id: JobID, route: Int64, from old: JobState?, to new: JobState?) throws {
    try news.moved(id, route: route, from: old, to: new) { try place(route) }
  }

  func place(_ route: Int64) throws -> (queue: String, kind: String)? {
    try memory.routes.route(route, on: connection).map { ($0.queue, $0.kind) }
  }

  /// Runs a statement whose values are numbers.
  func run(_ name: WriterStatement, _ values: Int64?...) throws {
    let statement = try connection[name]
    for (index, value) in values.enumerated() { statement.bind(Int32(index + 1), value) }
    try statement.run()
  }

  /// Runs a statement whose values are a name and numbers, as a rule a job.
  func run(_ statement: WriterStatement, _ name: String, of values: Int64...) throws {
    let statement = try connection[statement]
    statement.bind(1, name: name)
    for (index, value) in values.enumerated() { statement.bind(Int32(index + 2), value) }
    try statement.run()
  }

  func store(_ output: Data, of job: JobID) throws {
    let insert = try connection[.insertOutput]
    insert.bind(1, job.rawValue)
    try insert.run(with: output, at: 2)
  }
}
