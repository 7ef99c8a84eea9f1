#if Postgres
  import DurableJobs
  import Foundation

  /// The server's clock, as this process reckons it from what the server told last and its own uptime: all processes of a store
  /// take the same time, and none asks for it before each call.
  final class ServerClock: JobClock {
    /// What the server's clock is ahead of the uptime, in milliseconds.
    private let offset = Lock<Int64?>(nil)
    /// What the reckoning may be off without being put right.
    private static let tolerance: Int64 = 200

    var now: Date { offset.withLock { $0 }.map { Date(milliseconds: uptime.milliseconds + $0) } ?? Date() }
    var uptime: Duration { SystemClock().uptime }

    func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> any JobTimer {
      SystemClock().schedule(at: due, action)
    }

    /// The server said this at some moment since `sent`. False if what was taken as now till then was wrong.
    func heard(_ time: Int64, since sent: Duration) -> Bool {
      offset.withLock { offset in
        let (first, last) = (sent.milliseconds, uptime.milliseconds)
        if let known = offset, time >= first + known - Self.tolerance, time <= last + known + Self.tolerance {
          return true
        }
        offset = time - (first + last) / 2
        return false
      }
    }
  }
#endif
