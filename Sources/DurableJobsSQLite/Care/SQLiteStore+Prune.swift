import DurableJobs
import Foundation

extension SQLiteStore {
  /// Deletes matching jobs that ended at least `age` ago, regardless of their retention, and returns how many. Works in
  /// chunks of 500 jobs, each in its own transaction, so that no one waits for long. Jobs that an unfinished job
  /// depends on are kept. The freed space is reused; ``compact()`` returns it to the file system.
  @discardableResult
  public func prune(where filter: JobFilter = .all, endedFor age: Duration = .zero) async throws -> Int {
    var pruned = 0
    try await bitesOfEnded(where: filter, for: age) { ids in
      // A job may have been retried in the meantime.
      let change = try await change(.remove, where: filter && Self.ended && .ids(ids), after: nil, limit: ids.count)
      pruned += change.changed.count
    }
    return pruned
  }

  private static let ended = JobFilter.states(JobState.allCases.filter(\.isFinished))

  /// The matching jobs that ended at least `age` ago, by id.
  package func bitesOfEnded(
    where filter: JobFilter, for age: Duration, _ body: ([JobID]) async throws -> Void
  ) async throws {
    let latest = clock.now.addingTimeInterval(-age.seconds)
    var last: JobID?
    repeat {
      let page = try await jobs(JobQuery(filter && Self.ended, after: last, limit: 500))
      let old = page.filter { $0.finishedAt.map { $0 <= latest } ?? false }.map(\.id)
      last = page.last?.id
      if !old.isEmpty { try await body(old) }
    } while last != nil
  }
}
