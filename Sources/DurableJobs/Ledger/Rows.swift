import Foundation

/// A job as a transaction sees it.
package struct JobRow {
  package let id: JobID
  package let route: Int64
  package let kind: String
  package var priority: JobPriority
  package let key: String?
  package let unique: KeyHold?
  package let tags: [String]
  /// When it came into its state, in milliseconds since 1970.
  package let enteredAt: Int64
  /// The highest fraction that was ever stored; need only be right for a job that crashed.
  package var highestFraction: Double
  package var claim: ClaimNumber
  /// It runs, and the worker that claimed it stands.
  package var isHeld: Bool
  package let lane: JobLane?
  /// Whether it has a seat in its lane, or waits for one; nil if it is in none.
  package var seat: Bool?
  /// Edges from jobs that have not ended, and one more if it waits for a seat.
  package var waits: Int
  package let hasParents: Bool
  package var hasChildren: Bool
  package var batch: BatchID?
  /// When it is given up, as a date.
  package var deadline: JobDeadline?
  /// That is still to come.
  package var isTimed = false
  /// Steps of it have finished, and what they gave is kept.
  package var hasSteps = false
  package var course: JobCourse

  func isHeld(under token: ClaimToken) -> Bool { isHeld && claim.rawValue == token.claim }
}

/// A job before and after a verb, and what the verb learned of it.
package struct RowChange {
  package let before: JobRow
  package var after: JobRow
  package var progress: JobProgress?
  package var output: Data?
  /// In place of the one that it has.
  package var payload: Data?
  package var failure: AttemptFailure?
  package var steps: [String: Data] = [:]
  /// Its claim was ended, or it was asked to stop, by somebody other than its worker.
  package var concernsClaim = false
  /// Its worker reported the end: a report that comes twice finds its claim.
  var isOwnEnd = false
  var isTouched = false

  init(_ row: JobRow) { (before, after) = (row, row) }

  var endsAttempt: Bool { before.course.state == .running && after.course.state != .running }

  /// It has a seat in a lane, and waits for a worker or its time.
  var mayBegin: Bool { after.seat == true && [.ready, .scheduled].contains(after.course.state) }

  /// Its key, where it can run now and could not before: who came meanwhile to wait for that waits for it. Not as long as it
  /// waits itself: it might be for them.
  package var broughtKey: String? {
    let could = !before.course.state.isFinished && before.waits == 0
    return could || after.course.state.isFinished || after.waits > 0 ? nil : before.key
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

/// A claim in one number: the row of its worker, and the how-manieth claim of that row it is. Owner, batch and fence are
/// all in it, and no number is ever used twice.
package struct ClaimNumber: Hashable, Codable, Sendable {
  package var rawValue: Int64

  package init(rawValue: Int64) { self.rawValue = rawValue }
  package init(worker: Int64, count: Int64) { rawValue = worker << Self.bits | count }

  package static let bits: Int64 = 24
  /// A worker takes a new row before it counts this far.
  package static let limit: Int64 = 1 << bits
  /// What a job that was never claimed has. It is as long as a real one, so that a row keeps its size.
  package static let nobody = ClaimNumber(rawValue: 1 << 40)

  package var worker: Int64 { rawValue >> Self.bits }
  /// Numbers of rows beyond would not fit.
  package static let highestWorker: Int64 = 1 << 38
  package static func range(ofWorker row: Int64) -> ClosedRange<Int64> { row << bits...row << bits | (limit - 1) }

  /// Says that the job was claimed once, and is no token's number: the claim ended otherwise than by its worker's word.
  mutating func void() { if rawValue > 0, self != .nobody { rawValue = -rawValue } }
}

/// A worker as a transaction sees it. It has one row, until its claims are counted through and it takes another.
package struct WorkerRow: Sendable {
  /// Nil if it is to be made.
  package var id: Int64?
  package let worker: WorkerID
  package var leaseUntil: Int64
  package var kinds: Set<String>
  package var queues: Set<String>
  /// As in ``ClaimRequest``.
  package var satisfied: Set<JobConstraint>
  package var absent: Set<JobConstraint>
  /// Claims made under it so far.
  package var claims: Int64
  /// When the row was made, where that was asked.
  package var since: Int64 = 0

  package init(
    id: Int64?, worker: WorkerID, leaseUntil: Int64, kinds: Set<String>, queues: Set<String>,
    satisfied: Set<JobConstraint> = [], absent: Set<JobConstraint> = [], claims: Int64 = 0
  ) {
    self.id = id
    self.worker = worker
    self.leaseUntil = leaseUntil
    self.kinds = kinds
    self.queues = queues
    self.satisfied = satisfied
    self.absent = absent
    self.claims = claims
  }

  var reach: WorkerReach { WorkerReach(kinds: kinds, satisfied: satisfied) }

  /// The lease of a row that lost it: whoever made claims under it holds nothing any more.
  package static let taken: Int64 = -1

  /// Nobody recovers it.
  package var stands: Bool { leaseUntil != Self.taken }

  /// A lease of 30 s is lapsed 30 s later. One that nobody grants is none.
  package func isAlive(at now: Int64) -> Bool { now < leaseUntil && leaseUntil <= Date.latest }

  static func lease(_ length: Duration, from now: Int64) -> Int64 { min(now + length.milliseconds, Date.latest) }
}
