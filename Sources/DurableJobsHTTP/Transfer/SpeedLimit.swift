#if HTTP
  import DurableJobs

  /// Bytes a second for all who share it.
  final class SpeedLimit: Sendable {
    private let bytesPerSecond: Double
    private let clock: any JobClock
    /// When all bytes that were let through until now have had their time.
    private let paidUntil = Lock(Duration.zero)

    init(bytesPerSecond: Int64, clock: any JobClock) {
      self.bytesPerSecond = Double(max(bytesPerSecond, 1))
      self.clock = clock
    }

    /// Waits until bytes that came may be counted as come.
    func pass(_ bytes: Int) async throws {
      let now = clock.uptime
      let wait = paidUntil.withLock { paidUntil in
        let wait = max(paidUntil - now, .zero)
        paidUntil = max(paidUntil, now) + .seconds(Double(bytes) / bytesPerSecond)
        return wait
      }
      if wait > .zero { try await clock.sleep(wait) }
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
