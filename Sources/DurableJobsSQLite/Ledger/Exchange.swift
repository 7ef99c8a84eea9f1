import DurableJobs
import Foundation

extension WriteTransaction: JobLedger {
  func exchange(_ request: LedgerRequest) throws -> LedgerReply {
    var reply = LedgerReply()
    if let changes = request.save { try save(changes) }
    if let renewal = request.renew { reply.workers = try renew(renewal.worker, until: renewal.leaseUntil) }
    if let tokens = request.hold { try hold(tokens, &reply) }
    for finish in request.finish where try self.finish(finish) { reply.finished.append(finish.index) }
    if !request.add.isEmpty { reply.added = try request.add.map { try add($0) } }
    for loss in request.dispossess where try dispossess(loss) { reply.dispossessed.append(loss.worker) }
    if let limit = request.promote { reply.hasMoreDue = try promoteAll(limit: limit) }
    if let claim = request.take { reply.taken = try take(claim) }
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
    if let unique = held.unique { try run(.releaseKey, unique, of: job.rawValue) }
    if let output = finish.output { try store(output, of: job) }
    FaultPoint.settleResult.reach()
    try moved(job, route: held.route, from: .running, to: .succeeded)
    letGo.append(finish.token)
    return true
  }

  private func add(_ new: NewRow) throws -> JobID {
    FaultPoint.insertBegun.reach()
    let (job, terms) = (new.job, new.job.terms)
    let route = try memory.routes.intern(queue: job.queue, kind: job.kind, on: connection)
    let runAt = new.course.runAt?.milliseconds
    let hot = try connection[.insertJob]
    hot.bind(1, route)
    hot.bind(2, new.course.state.code)
    hot.bind(3, runAt ?? terms.priority.rank)
    hot.bind(4, terms.priority.stored)
    hot.bind(5, runAt)
    hot.bind(6, now)
    hot.bind(7, Links(new.course, unique: terms.unique?.key).rawValue)
    try hot.run()
    let id = connection.lastInsertedID
    FaultPoint.insertJob.reach()

    let cold = try connection[.insertSpec]
    cold.bind(1, id)
    cold.bind(2, now)
    cold.bind(3, try StoredTerms(terms).text)
    try cold.run(with: job.payload, at: 4)
    FaultPoint.insertSpec.reach()

    if let unique = terms.unique?.key { try run(.takeKey, unique, of: id) }
    if let key = terms.key { try run(.insertKey, key, of: id) }
    for tag in terms.tags { try run(.insertTag, tag, of: id) }
    try moved(JobID(rawValue: id), route: route, from: nil, to: new.course.state)
    return JobID(rawValue: id)
  }

  // MARK: Small ones

  func moved(_ id: JobID, route: Int64, from old: JobState?, to new: JobState?) throws {
    try news.moved(id, route: route, from: old, to: new) { try place(route) }
  }

  func place(_ route: Int64) throws -> (queue: String, kind: String)? {
    try memory.routes.route(route, on: connection).map { ($0.queue, $0.kind) }
  }

  /// Runs a statement whose only value is an id.
  func run(_ name: WriterStatement, _ id: Int64) throws {
    let statement = try connection[name]
    statement.bind(1, id)
    try statement.run()
  }

  /// Runs a statement whose values are a name and a job.
  func run(_ statement: WriterStatement, _ name: String, of id: Int64) throws {
    let statement = try connection[statement]
    statement.bind(1, name: name)
    statement.bind(2, id)
    try statement.run()
  }

  func store(_ output: Data, of job: JobID) throws {
    let insert = try connection[.insertOutput]
    insert.bind(1, job.rawValue)
    try insert.run(with: output, at: 2)
  }
}
