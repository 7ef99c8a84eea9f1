import DurableJobs
import GRDBSQLite

/// How much longer a call may wait for other processes: in all places together, as long as the user configured.
struct Patience {
  private(set) var rest: Duration
  private let uptime: () -> Duration

  /// `uptime`: a clock that never steps.
  init(_ rest: Duration, uptime: @escaping () -> Duration = { SystemClock().uptime }) {
    self.rest = max(rest, .zero)
    self.uptime = uptime
  }

  /// Runs something that may wait that long, and subtracts the time that it took.
  mutating func wait<R>(_ body: (Duration) throws -> R) rethrows -> R {
    let start = uptime()
    defer { rest = max(rest - (uptime() - start), .zero) }
    return try body(rest)
  }

  /// Sets how long SQLite waits for a lock on this connection.
  func tell(_ connection: OpaquePointer?) { sqlite3_busy_timeout(connection, Int32(clamping: rest.milliseconds)) }
}
