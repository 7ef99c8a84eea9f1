import DurableJobs
import Foundation

extension WriteTransaction {
  func insert(_ insertion: JobInsertion) throws -> InsertionReply {
    FaultPoint.insertBegun.reach()
    var ids: [JobID] = []
    ids.reserveCapacity(insertion.jobs.count)
    for job in insertion.jobs { ids.append(try insert(job)) }
    return InsertionReply(ids: ids)
  }

  private func insert(_ job: NewJob) throws -> JobID {
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
    try hot.run()
    let id = connection.lastInsertedID
    FaultPoint.insertJob.reach()

    let cold = try connection[.insertSpec]
    cold.bind(1, id)
    cold.bind(2, now)
    cold.bind(3, try StoredTerms(job.terms).text)
    try cold.run(with: job.payload, at: 4)
    FaultPoint.insertSpec.reach()

    if let key = job.terms.key { try name(.insertKey, key, id) }
    for tag in job.terms.tags { try name(.insertTag, tag, id) }
    try moved(id, route: route, from: nil, to: course.state)
    return JobID(rawValue: id)
  }

  /// Runs a statement whose values are a key or a tag and a job.
  func name(_ statement: HeldStatement, _ name: String, _ id: Int64) throws {
    let statement = try connection[statement]
    statement.bind(1, name)
    statement.bind(2, id)
    try statement.run()
  }
}
