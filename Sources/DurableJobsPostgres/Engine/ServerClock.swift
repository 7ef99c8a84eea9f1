#if Postgres
  import DurableJobs
  import Foundation

  /// The server's clock, estimated from the time that the server told last and this process's uptime: all processes of
  /// a store use the same time, and none asks for it before each call.
  final class ServerClock: JobClock {
    /// How far the server's clock is ahead of the uptime, in milliseconds.
    private let offset = Lock<Int64?>(nil)
    /// How far the estimate may be off without being corrected.
    private static let tolerance: Int64 = 200

    var now: Date { offset.withLock { $0 }.map { Date(milliseconds: uptime.milliseconds + $0) } ?? Date() }
    var uptime: Duration { SystemClock().uptime }

    func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> any JobTimer {
      SystemClock().schedule(at: due, action)
    }

    /// The server told this time at some moment since `sent`. False if the time assumed until then was wrong.
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
