import DurableJobs
import Foundation

extension WriteTransaction {
  func insert(_ insertion: JobInsertion) throws -> InsertionReply {
    FaultPoint.insertBegun.reach()
    var jobs: [InsertedJob] = []
    jobs.reserveCapacity(insertion.jobs.count)
    for job in insertion.jobs { jobs.append(try insert(job)) }
    return InsertionReply(jobs)
  }

  private func insert(_ job: NewJob) throws -> InsertedJob {
    let unique = job.terms.unique?.key
    if let holder = try keyHolder(unique) { return InsertedJob(id: holder, disposition: .kept) }
    let route = try memory.routes.intern(queue: job.queue, kind: job.kind, on: connection)
    let course = JobCourse(inserting: job.terms, now: date)
    let priority = job.terms.priority
    let runAt = course.runAt?.milliseconds

    let hot = try connection[.insertJob]
    hot.bind(1, route)
    hot.bind(2, course.state.code)
    hot.bind(3, runAt ?? priority.rank)
    hot.bind(4, priority.stored)
    hot.bind(5, runAt)
    hot.bind(6, now)
    hot.bind(7, unique == nil ? 0 : Links.unique.rawValue)
    try hot.run()
    let id = connection.lastInsertedID
    FaultPoint.insertJob.reach()

    let cold = try connection[.insertSpec]
    cold.bind(1, id)
    cold.bind(2, now)
    cold.bind(3, try StoredTerms(job.terms).text)
    try cold.run(with: job.payload, at: 4)
    FaultPoint.insertSpec.reach()

    if let unique { try run(.takeKey, unique, of: id) }
    if let key = job.terms.key { try run(.insertKey, key, of: id) }
    for tag in job.terms.tags { try run(.insertTag, tag, of: id) }
    try moved(id, route: route, from: nil, to: course.state)
    return InsertedJob(id: JobID(rawValue: id), disposition: .inserted)
  }

  /// The unfinished job that holds a unique key.
  func keyHolder(_ key: String?) throws -> JobID? {
    guard let key else { return nil }
    let statement = try connection[.keyHolder]
    statement.bind(1, key)
    guard try statement.step() else { return nil }
    defer { statement.reset() }
    return JobID(rawValue: statement.int(0))
  }

  /// Runs a statement whose values are a key or a tag and a job.
  func run(_ statement: HeldStatement, _ name: String, of id: Int64) throws {
    let statement = try connection[statement]
    statement.bind(1, name)
    statement.bind(2, id)
    try statement.run()
  }
}
