import DurableJobs
import Foundation

extension SQLiteStore {
  /// Deletes jobs of the filter that ended at least `age` ago, without waiting for their retention: by state, by kind, or
  /// whatever else a filter can say. Returns how many. It goes in bites of 500 jobs, each a transaction of its own, so nobody
  /// waits for long. One that an unfinished job needs stays. The room is used again; ``compact()`` gives it back.
  @discardableResult
  public func prune(where filter: JobFilter = .all, endedFor age: Duration = .zero) async throws -> Int {
    let latest = clock.now.addingTimeInterval(-age.seconds)
    let ended = filter && .states(JobState.allCases.filter(\.isFinished))
    var (pruned, last): (Int, JobID?) = (0, nil)
    while true {
      let page = try await jobs(JobQuery(ended, after: last, limit: 500))
      guard let end = page.last?.id else { return pruned }
      let old = page.filter { $0.finishedAt.map { $0 <= latest } ?? false }.map(\.id)
      if !old.isEmpty {
        pruned += try await change(.remove, where: ended && .ids(old), after: nil, limit: 500).changed.count
      }
      last = end
    }
  }
}
