import DurableJobs
import GRDB

extension SQLiteStore {
  /// Gives the room of what was deleted back to the file system. Returns by how many bytes the file and its log are smaller.
  ///
  /// All that is left is written anew, so it takes as long as that, and as much room on the disk beside the file meanwhile.
  /// Reading goes on; whoever writes waits, in this process and in others, for at most their busy time-out: so this is for a
  /// quiet hour, and for once in a while, since the room of deleted jobs is used again anyway. Throws
  /// `JobError.Code.locked` if another process does not let go, and `JobError.Code.diskFull`.
  @discardableResult
  public func compact() async throws -> Int64 {
    try engine.checkProcess()
    try engine.writer.checkOpen()
    let engine = engine
    let before = engine.fileSize
    do {
      try await engine.turnstile.pass {
        try await engine.pool.writeWithoutTransaction { db in
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
