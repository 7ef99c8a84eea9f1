/// The jobs of a store whose ends are awaited, and which may have ended: signals go in, the next read comes out.
///
/// A value without a store or I/O. Jobs come off the list before they are read: a change meanwhile causes another read.
struct Watchlist: Sendable {
  /// Jobs in one query: fewer than any store's limit.
  static let pageSize = 250

  private var jobs: Set<JobID> = []
  private var jobsToSee: Set<JobID> = []
  /// Any job may have ended. All are read after those already listed: each gets its turn however often this is set.
  private var mustSeeAll = false

  mutating func add(_ job: JobID) {
    jobs.insert(job)
    jobsToSee.insert(job)
  }

  /// Called when nobody waits for the job any more.
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

  /// Called when signals may have been lost.
  mutating func mustSeeEverything() { mustSeeAll = true }

  var hasNews: Bool { mustSeeAll || !jobsToSee.isEmpty }

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
