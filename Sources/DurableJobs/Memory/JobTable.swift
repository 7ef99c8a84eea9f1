import Foundation

/// All that an ``InMemoryStore`` remembers. Its verbs are in the files beside this one; each is told the time.
struct JobTable {
  /// A job: what was asked for, where it is in its course, and what is left of its attempts.
  struct Record {
    let id: JobID
    let job: NewJob
    let createdAt: Date
    var course: JobCourse
    /// When it came into its state.
    var enteredAt: Date
    var startedAt: Date?
    var finishedAt: Date?
    /// Its claim, while it runs.
    var claim: Claim?
    var progress: JobProgress?
    var highestFraction = 0.0
    var output: Data?
    var failures: [AttemptFailure] = []
  }

  struct Claim {
    let number: Int64
    let worker: WorkerNumber
  }

  /// A worker from its first claim until it retires or is recovered. One that comes back under its old name gets another
  /// number, so that its old claims stay lost.
  struct Worker {
    let number: WorkerNumber
    let id: WorkerID
    var leaseUntil: Date
    var kinds: Set<String>
    var queues: Set<String>
    /// When its lease was first found lapsed.
    var doubtedAt: Duration?

    /// A lease of 30 s is lapsed 30 s later.
    func isAlive(_ now: Date) -> Bool { leaseUntil > now }
  }

  typealias WorkerNumber = Int64

  let policy: StorePolicy
  /// By id, ascending.
  var records: [Record] = []
  var workers: [Worker] = []
  var pausedQueues: Set<String> = []
  private var lastID: Int64 = 0
  private var lastNumber: Int64 = 0
  private var latest = Date.distantPast
  private var transitions: [JobTransition] = []
  private var hasDoubts = false

  init(policy: StorePolicy) { self.policy = policy }

  // MARK: Jobs

  mutating func insert(_ job: NewJob, now: Date) -> InsertedJob {
    if let holder = holder(of: job.terms.unique) { return InsertedJob(id: holder, disposition: .kept) }
    lastID += 1
    let id = JobID(rawValue: lastID)
    let course = JobCourse(inserting: job.terms, now: now)
    let record = Record(id: id, job: job, createdAt: now, course: course, enteredAt: now)
    records.append(record)
    tell(record)
    return InsertedJob(id: id, disposition: .inserted)
  }

  /// The unfinished job with this unique key.
  func holder(of unique: UniqueKey?) -> JobID? {
    guard let unique else { return nil }
    return records.first { !$0.course.state.isFinished && $0.job.terms.unique?.key == unique.key }?.id
  }

  func index(of id: JobID) -> Int? {
    var range = records.indices
    while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
      if records[middle].id == id { return middle }
      range = records[middle].id < id ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }

  /// Changes a job, keeps what depends on its state in step with it, and tells of it.
  mutating func update<R>(
    _ index: Int, now: Date, concernsClaim: Bool = false, _ body: (inout Record) throws -> R
  ) rethrows -> R {
    let before = records[index].course.state
    let result = try body(&records[index])
    let state = records[index].course.state
    if state != before {
      records[index].enteredAt = now
      records[index].finishedAt = state.isFinished ? now : nil
    }
    if state != .running { records[index].claim = nil }
    tell(records[index], concernsClaim: concernsClaim)
    return result
  }

  /// A number that no claim and no worker had before.
  mutating func nextNumber() -> Int64 {
    lastNumber += 1
    return lastNumber
  }

  // MARK: Time

  /// Sees the time. If the clock was set back, a back-off must still end in its own time: jobs that wait for their next
  /// attempt keep the length of their wait, and first starts keep their date.
  mutating func notice(_ now: Date) {
    defer { latest = max(latest, now) }
    guard latest.milliseconds - now.milliseconds > 1000 else { return }
    latest = now
    for index in records.indices {
      let record = records[index]
      guard record.course.state == .scheduled, record.startedAt != nil, record.enteredAt > now,
        let runAt = record.course.runAt
      else { continue }
      records[index].course.runAt = now.adding(milliseconds: runAt.milliseconds - record.enteredAt.milliseconds)
      records[index].enteredAt = now
    }
  }

  // MARK: News

  mutating func tell(_ record: Record, concernsClaim: Bool = false, isRemoved: Bool = false) {
    transitions.append(
      JobTransition(
        id: record.id, queue: record.job.queue, kind: record.job.kind, state: record.course.state,
        concernsClaim: concernsClaim, isRemoved: isRemoved))
  }

  mutating func tellDoubt() { hasDoubts = true }

  /// What there is to say about the transaction that ends here.
  mutating func takeNews() -> [StoreSignal] {
    var news: [StoreSignal] = []
    if !transitions.isEmpty { news.append(.committed(transitions)) }
    if hasDoubts { news.append(.changedElsewhere(.doubt)) }
    transitions = []
    hasDoubts = false
    return news
  }
}

extension JobTable.Record {
  mutating func store(_ progress: JobProgress) {
    self.progress = progress
    if progress.fraction > highestFraction {
      highestFraction = progress.fraction
      course.progressed()
    }
  }

  mutating func remember(_ failure: AttemptFailure) {
    failures = (failures + [failure]).suffix(Limits.failuresKept)
  }
}

extension Date {
  func adding(_ duration: Duration) -> Date { adding(milliseconds: duration.milliseconds) }

  func adding(milliseconds: Int64) -> Date { Date(milliseconds: self.milliseconds + milliseconds) }
}
