#if HTTP
  import DurableJobs

  /// Bytes a second for all who share it, a turn of equal size to each that has something to take, one after the other.
  final class SpeedLimit: Sendable {
    private let bytesPerSecond: Double
    /// So small that none waits long for another, and so large that few timers do.
    private let turn: Int
    private let clock: any JobClock
    /// When all bytes that came until now have had their time.
    private let paidUntil = Lock(Duration.zero)

    init(bytesPerSecond: Int64, clock: any JobClock) {
      self.bytesPerSecond = Double(max(bytesPerSecond, 1))
      turn = Int(min(max(bytesPerSecond / 20, 1), 65_536))
      self.clock = clock
    }

    /// Waits until so many bytes have had their time, after all who asked before.
    private func pass(_ bytes: Int) async throws {
      let now = clock.uptime
      let wait = paidUntil.withLock { paidUntil in
        paidUntil = max(paidUntil, now) + .seconds(Double(bytes) / bytesPerSecond)
        return paidUntil - now
      }
      if wait > .zero { try await clock.sleep(wait) }
    }

    /// What one transfer takes of it.
    struct Share {
      private let limit: SpeedLimit
      private var owed = 0

      init(of limit: SpeedLimit) { self.limit = limit }

      /// Waits until bytes that came have had their time, up to less than a turn of them.
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
