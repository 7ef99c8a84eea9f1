import DurableJobs
import Foundation

extension SQLiteStore {
  /// Deletes jobs of the filter that ended at least `age` ago, without waiting for their retention: by state, by kind, or
  /// whatever else a filter can say. Returns how many. It goes in bites of 500 jobs, each a transaction of its own, so nobody
  /// waits for long. One that an unfinished job needs stays. The room is used again; ``compact()`` gives it back.
  @discardableResult
  public func prune(where filter: JobFilter = .all, endedFor age: Duration = .zero) async throws -> Int {
    var pruned = 0
    try await bitesOfEnded(where: filter, for: age) { ids in
      // One may have been retried meanwhile.
      let change = try await change(.remove, where: filter && Self.ended && .ids(ids), after: nil, limit: ids.count)
      pruned += change.changed.count
    }
    return pruned
  }

  private static let ended = JobFilter.states(JobState.allCases.filter(\.isFinished))

  /// The jobs of the filter that ended at least `age` ago, by id.
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
