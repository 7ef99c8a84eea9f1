import Foundation

/// A job as seen by a transaction.
package struct JobRow {
  package let id: JobID
  package let route: Int64
  package let kind: String
  package var priority: JobPriority
  package let key: String?
  package let unique: KeyHold?
  package let tags: [String]
  package let timeout: Duration?
  /// When it entered its state, in milliseconds since 1970.
  package let enteredAt: Int64
  /// The highest fraction ever stored; it need only be right for a job that crashed.
  package var highestFraction: Double
  package var claim: ClaimNumber
  /// It is running, and the row of the worker that claimed it stands.
  package var isHeld: Bool
  package let lane: JobLane?
  /// Whether it has a seat in its lane, or waits for one; nil if it is in no lane.
  package var seat: Bool?
  /// The number of edges from jobs that have not ended, plus one if it waits for a seat.
  package var waits: Int
  package let hasParents: Bool
  package var hasChildren: Bool
  package var batch: BatchID?
  /// Its deadline, as a date.
  package var deadline: JobDeadline?
  /// That deadline is still ahead.
  package var isTimed = false
  /// Some of its steps have finished, and their results are kept.
  package var hasSteps = false
  package var course: JobCourse

  /// The deadline that it still has to keep: one to begin by binds none that has begun.
  var openDeadline: JobDeadline? {
    if case .start = deadline, claim != .nobody { nil } else { isTimed ? deadline : nil }
  }

  package var links: Links {
    var links = Links(
      course, unique: unique, isInLane: lane != nil, seat: seat, hasParents: hasParents, hasChildren: hasChildren)
    if hasSteps { links.insert(.steps) }
    if isTimed { links.insert(.deadline) }
    return links
  }

  func isHeld(under token: ClaimToken) -> Bool { isHeld && claim.rawValue == token.claim }
}

/// A job before and after a verb, and what the verb learned about it.
package struct RowChange {
  package let before: JobRow
  package var after: JobRow
  package var progress: JobProgress?
  package var output: Data?
  /// Replaces the payload that it has.
  package var payload: Data?
  package var failure: AttemptFailure?
  package var steps: [String: Data] = [:]
  /// Something other than its worker ended its claim, or asked it to stop.
  package var concernsClaim = false
  /// Its worker reported the end: a repeated report finds its claim.
  var isOwnEnd = false
  var isTouched = false

  init(_ row: JobRow) { (before, after) = (row, row) }

  var endsAttempt: Bool { before.course.state == .running && after.course.state != .running }

  /// It has a seat in a lane, and waits for a worker or for its time.
  var mayBegin: Bool { after.seat == true && [.ready, .scheduled].contains(after.course.state) }

  /// Its key, if it can run now and could not before: jobs that have since begun to wait for the key wait for it. Nil
  /// while it waits itself: it might be waiting for them.
  package var broughtKey: String? {
    let could = !before.course.state.isFinished && before.waits == 0
    return could || after.course.state.isFinished || after.waits > 0 ? nil : before.key
  }

  package var concernsHotRow: Bool {
    after.course != before.course || after.claim != before.claim || after.hasChildren != before.hasChildren
      || after.seat != before.seat || after.priority != before.priority || after.hasSteps != before.hasSteps
      || after.isTimed != before.isTimed
  }

  mutating func store(_ news: JobProgress) {
    progress = news
    guard news.fraction > after.highestFraction else { return }
    after.highestFraction = news.fraction
    after.course.progressed()
  }

  mutating func store(steps new: [String: Data]) {
    steps = new
    after.hasSteps = true
    after.course.progressed()
  }
}

/// A claim as one number: the row of its worker, and the ordinal of the claim under that row. It contains owner, batch
/// and fence, and no number is ever used twice.
package struct ClaimNumber: Hashable, Codable, Sendable {
  package var rawValue: Int64

  package init(rawValue: Int64) { self.rawValue = rawValue }
  package init(worker: Int64, count: Int64) { rawValue = worker << Self.bits | count }

  package static let bits: Int64 = 24
  /// A worker takes a new row before its count reaches this.
  package static let limit: Int64 = 1 << bits
  /// The number of a job that was never claimed. It is as long as a real one, so that a row keeps its size.
  package static let nobody = ClaimNumber(rawValue: 1 << 40)

  package var worker: Int64 { rawValue >> Self.bits }
  /// Higher numbers of rows would not fit.
  package static let highestWorker: Int64 = 1 << 38
  package static func range(ofWorker row: Int64) -> ClosedRange<Int64> { row << bits...row << bits | (limit - 1) }

  /// Marks that the job was claimed once, matching no token: something other than its worker's report ended the claim.
  mutating func void() { if rawValue > 0, self != .nobody { rawValue = -rawValue } }
}

/// A worker as seen by a transaction. It has one row, until its claim numbers are used up and it takes another.
package struct WorkerRow: Sendable {
  /// Nil if the row is to be created.
  package var id: Int64?
  package let worker: WorkerID
  package var leaseUntil: Int64
  package var kinds: Set<String>
  package var queues: Set<String>
  /// As in ``ClaimRequest``.
  package var satisfied: Set<JobConstraint>
  package var absent: Set<JobConstraint>
  /// The number of claims made under it so far.
  package var claims: Int64
  /// When the row was created, where that was requested.
  package var since: Int64

  package init(
    id: Int64?, worker: WorkerID, leaseUntil: Int64, kinds: Set<String>, queues: Set<String>,
    satisfied: Set<JobConstraint> = [], absent: Set<JobConstraint> = [], claims: Int64 = 0, since: Int64 = 0
  ) {
    (self.id, self.worker, self.leaseUntil, self.kinds, self.queues) = (id, worker, leaseUntil, kinds, queues)
    (self.satisfied, self.absent, self.claims, self.since) = (satisfied, absent, claims, since)
  }

  var reach: WorkerReach { WorkerReach(kinds: kinds, satisfied: satisfied) }

  /// The lease of a row that lost it: claims made under the row hold nothing any more.
  package static let taken: Int64 = -1

  /// Nobody recovers its jobs.
  package var stands: Bool { leaseUntil != Self.taken }

  /// A lease of 30 s has expired 30 s later. One with a length that is never granted does not count.
  package func isAlive(at now: Int64) -> Bool { now < leaseUntil && leaseUntil <= Date.latest }

  /// Less than two thirds of such a lease are left. A wild one is too long, or too short.
  package func isShort(of lease: Int64, at now: Int64) -> Bool {
    let (left, length) = (leaseUntil &- now, lease - now)
    return left < length / 3 * 2 || left > length
  }

  package static func lease(_ time: Duration, from now: Int64) -> Int64 { min(now + time.milliseconds, Date.latest) }
}
