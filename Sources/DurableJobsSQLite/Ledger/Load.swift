import DurableJobs
import Foundation

extension WriteTransaction {
  func load(_ needs: Needs, _ reply: inout LedgerReply) throws {
    for id in needs.jobs { if let row = try load(id) { reply.jobs.append(row) } }
    for key in needs.keys { reply.owners[key] = try owner(of: key) }
    for worker in needs.heldBy {
      for id in try heldBy(worker, limit: needs.heldLimit - reply.held.count) {
        guard let row = try load(id) else { continue }
        reply.held.append(id)
        reply.jobs.append(row)
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
    guard let state = JobState(code: statement.int(1)) else { return nil }
    // Terms that can't be read are as usual: the row is damaged, and its life must go on.
    let terms = (try? StoredTerms(text: statement.text(8))) ?? StoredTerms()
    let links = Links(rawValue: statement.int(3))
    // A promotion or a plain claim leaves the time in its place.
    let waits = state == .scheduled || state == .suspended
    let runAt = waits ? statement.intOrNull(6) : nil
    let course = JobCourse(
      state: state, attempt: statement.count(4), maxAttempts: terms.attempts, crashesInRow: statement.count(9),
      crashes: statement.count(10), runAt: runAt.map(Date.init(milliseconds:)),
      isDated: waits && links.contains(.dated), stopAsked: links.stopReason, reason: statement.text(11))
    let claim = ClaimNumber(rawValue: statement.int(5))
    let isHeld = state == .running ? try isStanding(claim.worker) : false
    if let held = memory.held[id], !isHeld || held.claim != claim { forgetClaim(of: id) }
    return JobRow(
      id: id, route: statement.int(0), priority: JobPriority(rawValue: Int(statement.int(2))), key: terms.key,
      unique: terms.unique, tags: terms.tags ?? [], enteredAt: statement.int(7), highestFraction: statement.double(12),
      claim: claim, isHeld: isHeld, course: course)
  }

  private func forgetClaim(of id: JobID) {
    if let held = memory.held[id] { letGo.append(ClaimToken(job: id, claim: held.claim.rawValue)) }
  }

  /// The unfinished job that has a unique key.
  private func owner(of key: String) throws -> JobID? {
    let statement = try connection[.keyOwner]
    statement.bind(1, name: key)
    guard try statement.step() else { return nil }
    defer { statement.reset() }
    return JobID(rawValue: statement.int(0))
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
