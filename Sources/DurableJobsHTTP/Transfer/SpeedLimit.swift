#if HTTP
  import DurableJobs

  /// Bytes per second for all who share it: those with something to receive take turns of equal size.
  final class SpeedLimit: Sendable {
    private let bytesPerSecond: Double
    /// Small enough that none waits long for another, and large enough that few timers are needed.
    private let turn: Int
    private let clock: any JobClock
    /// When the time for all bytes that have arrived so far is up.
    private let paidUntil = Lock(Duration.zero)

    init(bytesPerSecond: Int64, clock: any JobClock) {
      self.bytesPerSecond = Double(max(bytesPerSecond, 1))
      turn = Int(min(max(bytesPerSecond / 20, 1), 65_536))
      self.clock = clock
    }

    /// Waits until the time for this many bytes is up, after all who asked before.
    private func pass(_ bytes: Int) async throws {
      let now = clock.uptime
      let wait = paidUntil.withLock { paidUntil in
        paidUntil = max(paidUntil, now) + .seconds(Double(bytes) / bytesPerSecond)
        return paidUntil - now
      }
      if wait > .zero { try await clock.sleep(wait) }
    }

    /// The share of one transfer.
    struct Share {
      private let limit: SpeedLimit
      private var owed = 0

      init(of limit: SpeedLimit) { self.limit = limit }

      /// Waits until the time for the bytes that arrived is up, except for less than a turn of them.
      mutating func pass(_ bytes: Int) async throws {
        owed += bytes
        while owed >= limit.turn {
          owed -= limit.turn
          try await limit.pass(limit.turn)
        }
      }

      /// Waits for the rest.
      mutating func settle() async throws {
        if owed > 0 { try await limit.pass(owed) }
        owed = 0
      }
    }
  }

  extension JobClock {
    /// Returns after `duration`, or throws when the task is cancelled.
    func sleep(_ duration: Duration) async throws {
      let gate = Gate()
      let timer = schedule(after: duration) { gate.open() }
      await gate.pass()
      timer.cancel()
      try Task.checkCancellation()
    }
  }
#endif
