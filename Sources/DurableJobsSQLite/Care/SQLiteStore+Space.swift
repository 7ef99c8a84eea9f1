import DurableJobs
import Foundation
import GRDB

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

  /// Returns the space of deleted rows to the file system. Returns by how many bytes the file and its log shrank.
  ///
  /// Everything that is left is rewritten, which takes time and as much free disk space as the result needs. Reads
  /// continue; writers in all processes wait, for at most their busy time-out. Deleted space is reused anyway, so call
  /// this rarely and at a quiet time. Throws `JobError.Code.locked` if another process does not release the file,
  /// `JobError.Code.diskFull`, and `JobError.Code.wrongStore` for an app's own database: SQLite gives rows of tables
  /// without an `INTEGER PRIMARY KEY` new numbers then, so `VACUUM` is for the app to run.
  @discardableResult
  public func compact() async throws -> Int64 {
    try engine.checkProcess()
    try engine.writer.checkOpen()
    let engine = engine
    let before = engine.fileSize
    do {
      try await engine.turnstile.pass {
        try await engine.pool.writeWithoutTransaction { db in
          try require(
            String.fetchOne(db, sql: Schema.foreignTableSQL) == nil,
            "\(engine.path) has tables of an app, whose rows might get other numbers. It is for the app to run VACUUM",
            code: .wrongStore)
          // Else the log of one that is called again and again beside a reader would not look like the file's own.
          try db.checkpoint(.full)
          try db.execute(sql: "VACUUM")
          try db.checkpoint(.truncate)
        }
      }
    } catch {
      try engine.writer.checkOpen()
      throw JobError(error, path: engine.path)
    }
    return before - engine.fileSize
  }
}
