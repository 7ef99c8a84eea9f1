import DurableJobs
import GRDBSQLite

/// Keeps SQLite's log, the `-wal` file, short, where no single reader keeps it.
///
/// SQLite restarts the log by itself, but only at a moment without readers; where reads always overlap there is none.
/// So once the log is large, the writer waits for the current readers, while new ones read from the file.
struct WriteAheadLog {
  /// Four times the size at which SQLite restarts it when there are no readers.
  static let largest: Int64 = 16 << 20
  /// How long to wait for readers. If one reads for longer, the log stays as it is, and there is no further attempt
  /// until as much has been written again.
  private static let patience: Int32 = 100

  private let path: String
  private var limit = largest
  /// The pages that the connection had written when a look was due; nil before its first commit.
  private var pages: Int32?
  /// Whether it has written 256 since then, 1 MB. Linux stamps a file that was looked at anew with the next write, for
  /// which the next flush waits once more, at least on ext4 without a journal: so it is not looked at after each commit.
  private var isDue = false

  init(path: String) { self.path = path }

  private var size: Int64 { FileStat(path)?.size ?? 0 }

  var isTooLarge: Bool { size > limit }

  /// Whether a look at the size is due since the last one.
  mutating func mustLook() -> Bool { exchange(&isDue, with: false) }

  /// Call on the writer's connection after a commit.
  mutating func hasGrown(by connection: OpaquePointer) {
    var (written, most): (Int32, Int32) = (0, 0)
    sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_WRITE, &written, &most, 0)
    if pages.map({ written - $0 >= 256 || written < $0 }) ?? true { (pages, isDue) = (written, true) }
  }

  /// Call on the writer's connection between transactions.
  mutating func shorten(on connection: OpaquePointer) {
    sqlite3_busy_timeout(connection, Self.patience)
    sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    limit = size + Self.largest
  }
}
