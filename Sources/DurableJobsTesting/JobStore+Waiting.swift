import DurableJobs

extension JobStore {
  /// Calls `look` now, after each signal, and at each sweep interval in case a signal is lost, until it returns a
  /// value. For tests that wait for what nothing else waits for.
  package func firstAfterEachSignal<R: Sendable>(_ look: @Sendable () async throws -> R?) async throws -> R {
    let gate = Gate()
    let subscription = signals.listen { _ in gate.open() }
    defer { withExtendedLifetime(subscription) {} }
    while true {
      if let answer = try await look() { return answer }
      let timer = clock.schedule(after: Defaults.sweepInterval) { gate.open() }
      await gate.pass()
      timer.cancel()
      try Task.checkCancellation()
    }
  }
}
