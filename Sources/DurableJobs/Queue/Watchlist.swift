/// The jobs whose ends are waited for in a store, and what of them may have come: signals go in, the next look comes out.
///
/// A value, with no store and no I/O. What is looked at is off the list before the look begins, so that what changes
/// meanwhile brings another.
struct Watchlist: Sendable {
  /// Jobs in one query: fewer than any store refuses.
  static let pageSize = 250

  private var jobs: Set<JobID> = []
  private var jobsToSee: Set<JobID> = []
  /// Any job may have ended. They are looked at after those that are to be seen already, so that each has its turn
  /// however often this comes.
  private var mustSeeAll = false

  mutating func add(_ job: JobID) {
    jobs.insert(job)
    jobsToSee.insert(job)
  }

  /// Nobody waits for it any more.
  mutating func remove(_ job: JobID) {
    jobs.remove(job)
    jobsToSee.remove(job)
  }

  mutating func heard(_ signal: StoreSignal) {
    switch signal {
    case .committed(let transitions):
      for change in transitions where change.state.isFinished || change.isRemoved {
        if jobs.contains(change.id) { jobsToSee.insert(change.id) }
      }
    case .changedElsewhere(let change): if change.contains(.results) { mustSeeAll = true }
    }
  }

  /// Signals may have been lost.
  mutating func mustSeeEverything() { mustSeeAll = true }

  var hasNews: Bool { mustSeeAll || !jobsToSee.isEmpty }

  /// The jobs of the next look, which is one query.
  mutating func nextLook() -> [JobID]? {
    if jobsToSee.isEmpty, mustSeeAll {
      mustSeeAll = false
      jobsToSee = jobs
    }
    guard !jobsToSee.isEmpty else { return nil }
    let page = jobsToSee.prefix(Self.pageSize).sorted()
    jobsToSee.subtract(page)
    return page
  }
}
