/// What is waited for of a store, and what of it may have come: signals go in, the next look comes out.
///
/// A value, with no store and no I/O. What is looked at is off the list before the look begins, so that what changes
/// meanwhile brings another.
struct Watchlist: Sendable {
  enum Question: Hashable, Sendable {
    case end(of: JobID)
    case idleness(of: String)
  }

  enum Look: Equatable, Sendable {
    /// One query over these.
    case jobs([JobID])
    case queue(String)
  }

  /// Jobs in one query: fewer than any store refuses.
  static let pageSize = 250

  private var jobs: Set<JobID> = []
  private var queues: Set<String> = []
  private var jobsToSee: Set<JobID> = []
  private var queuesToSee: Set<String> = []
  /// Any job may have ended. They are looked at after those that are to be seen already, so that each has its turn
  /// however often this comes.
  private var mustSeeAll = false
  private var isQueuesTurn = false

  mutating func add(_ question: Question) {
    switch question {
    case .end(let job):
      jobs.insert(job)
      jobsToSee.insert(job)
    case .idleness(let queue):
      queues.insert(queue)
      queuesToSee.insert(queue)
    }
  }

  /// Nobody waits for it any more.
  mutating func remove(_ question: Question) {
    switch question {
    case .end(let job):
      jobs.remove(job)
      jobsToSee.remove(job)
    case .idleness(let queue):
      queues.remove(queue)
      queuesToSee.remove(queue)
    }
  }

  mutating func heard(_ signal: StoreSignal) {
    switch signal {
    case .committed(let transitions):
      for change in transitions where change.state != .running || change.isRemoved {
        if jobs.contains(change.id), change.state.isFinished || change.isRemoved { jobsToSee.insert(change.id) }
        if queues.contains(change.queue) { queuesToSee.insert(change.queue) }
      }
    case .changedElsewhere(let change):
      if change.contains(.results) { mustSeeAll = true }
      queuesToSee = queues
    }
  }

  /// Who serves the queues has changed.
  mutating func workersChanged() { queuesToSee = queues }

  /// Signals may have been lost.
  mutating func mustSeeEverything() {
    mustSeeAll = true
    queuesToSee = queues
  }

  var hasNews: Bool { mustSeeAll || !jobsToSee.isEmpty || !queuesToSee.isEmpty }

  mutating func nextLook() -> Look? {
    if jobsToSee.isEmpty, mustSeeAll {
      mustSeeAll = false
      jobsToSee = jobs
    }
    defer { isQueuesTurn.toggle() }
    if isQueuesTurn || jobsToSee.isEmpty, let queue = queuesToSee.popFirst() { return .queue(queue) }
    guard !jobsToSee.isEmpty else { return nil }
    let page = jobsToSee.prefix(Self.pageSize).sorted()
    jobsToSee.subtract(page)
    return .jobs(page)
  }
}
