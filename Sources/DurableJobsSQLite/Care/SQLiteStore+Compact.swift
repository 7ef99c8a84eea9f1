import DurableJobs
import GRDB

extension SQLiteStore {
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
          guard try String.fetchOne(db, sql: Schema.foreignTableSQL) == nil else {
            throw JobError(
              .wrongStore,
              "\(engine.path) has tables of an app, whose rows might get other numbers. It is for the app to run VACUUM"
            )
          }
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
