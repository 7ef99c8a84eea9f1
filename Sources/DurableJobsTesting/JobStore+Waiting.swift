import DurableJobs

extension JobStore {
  /// Asks `look` now and after each signal, until it answers; each sweep interval too, should a signal be lost. For tests
  /// that wait for what nothing else waits for.
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
