#if Postgres
  import DurableJobs
  import Foundation

  /// The server's clock, estimated from the time that the server told last and this process's uptime: all processes of
  /// a store use the same time, and none asks for it before each call.
  final class ServerClock: JobClock {
    struct Estimate: Equatable {
      /// How far the server's clock is ahead of the uptime, in milliseconds.
      let offset: Int64
      /// Whether an answer confirmed it that came soon. What came late was told at any moment before.
      var isSure: Bool
    }

    private let state = Lock<Estimate?>(nil)
    /// How far the estimate may be off without being corrected.
    private static let tolerance: Int64 = 200

    var estimate: Estimate? { state.withLock(\.self) }
    var now: Date { estimate.map { Date(milliseconds: uptime.milliseconds + $0.offset) } ?? Date() }
    var uptime: Duration { SystemClock().uptime }
    var continuous: Duration { SystemClock().continuous }

    func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> any JobTimer {
      SystemClock().schedule(at: due, action)
    }

    /// The server told this time at some moment since `sent`. False if the time assumed until then was wrong.
    func heard(_ time: Int64, since sent: Duration) -> Bool {
      state.withLock { state in
        let (first, last) = (sent.milliseconds, uptime.milliseconds)
        let isSure = last - first <= 2 * Self.tolerance
        if let known = state?.offset, time >= first + known - Self.tolerance, time <= last + known + Self.tolerance {
          if isSure { state?.isSure = true }
          return true
        }
        state = Estimate(offset: time - (first + last) / 2, isSure: isSure)
        return false
      }
    }
  }
#endif
