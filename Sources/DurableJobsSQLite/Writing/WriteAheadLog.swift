import DurableJobs
import GRDBSQLite

/// Keeps SQLite's log, the `-wal` file, from growing without end.
///
/// SQLite begins the log anew by itself, but only at a moment at which nobody reads; where readers always overlap there is
/// none. So once the log is large, the writer waits for those that read now, while those that come read from the file.
struct WriteAheadLog {
  /// Four times as long as SQLite lets it become while nobody reads.
  static let largest: Int64 = 16 << 20
  /// How long readers are waited for. One that reads for longer keeps the log as it is, and is not waited for again before
  /// as much was written once more.
  private static let patience: Int32 = 100

  private let path: String
  private var limit = largest

  init(path: String) { self.path = path }

  private var size: Int64 { FileStatus(path)?.size ?? 0 }

  var isTooLarge: Bool { size > limit }

  /// On the writer's connection, between two transactions.
  mutating func shorten(on connection: OpaquePointer) {
    sqlite3_busy_timeout(connection, Self.patience)
    sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    limit = size + Self.largest
  }
}
