#if HTTP
  import DurableJobs

  /// Bytes a second for all who share it.
  final class SpeedLimit: Sendable {
    private let bytesPerSecond: Double
    private let clock: any JobClock
    /// When all bytes that came until now have had their time.
    private let paidUntil = Lock(Duration.zero)

    init(bytesPerSecond: Int64, clock: any JobClock) {
      self.bytesPerSecond = Double(max(bytesPerSecond, 1))
      self.clock = clock
    }

    /// Waits until bytes that came have had their time. Returns how long that was.
    @discardableResult
    func pass(_ bytes: Int) async throws -> Duration {
      let now = clock.uptime
      let wait = paidUntil.withLock { paidUntil in
        paidUntil = max(paidUntil, now) + .seconds(Double(bytes) / bytesPerSecond)
        return paidUntil - now
      }
      if wait > .zero { try await clock.sleep(wait) }
      return wait
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
