import DurableJobs
import GRDBSQLite

/// How long one call may still wait for other processes. What waits in several places, one after the other, waits no longer
/// in all than the user said.
struct Patience {
  private(set) var rest: Duration
  private let uptime: () -> Duration

  /// `uptime`: a clock that never steps.
  init(_ rest: Duration, uptime: @escaping () -> Duration = { SystemClock().uptime }) {
    self.rest = max(rest, .zero)
    self.uptime = uptime
  }

  /// Runs what may wait for so long. The time that it took is gone.
  mutating func wait<R>(_ body: (Duration) throws -> R) rethrows -> R {
    let start = uptime()
    defer { rest = max(rest - (uptime() - start), .zero) }
    return try body(rest)
  }

  /// Has SQLite wait no longer for a lock on this connection.
  func tell(_ connection: OpaquePointer?) {
    sqlite3_busy_timeout(connection, Int32(clamping: rest.milliseconds))
  }
}
