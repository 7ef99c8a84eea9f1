import DurableJobs
import Foundation

extension SQLiteStore {
  /// Deletes matching jobs that ended at least `age` ago, regardless of their retention, and returns how many. Works in
  /// chunks of 500 jobs, each in its own transaction, so that no one waits for long. Jobs that an unfinished job
  /// depends on are kept. The freed space is reused; ``compact()`` returns it to the file system.
  @discardableResult
  public func prune(where filter: JobFilter = .all, endedFor age: Duration = .zero) async throws -> Int {
    let filter = filter && .states(JobState.allCases.filter(\.isFinished))
    let latest = clock.now.addingTimeInterval(-age.seconds)
    var pruned = 0
    var last: JobID?
    repeat {
      let page = try await jobs(JobQuery(filter, after: last, limit: 500))
      let old = page.filter { $0.finishedAt.map { $0 <= latest } ?? false }.map(\.id)
      last = page.last?.id
      guard !old.isEmpty else { continue }
      // A job may have been retried in the meantime.
      pruned += try await change(.remove, where: filter && .ids(old), after: nil, limit: old.count).changed.count
    } while last != nil
    return pruned
  }
}
