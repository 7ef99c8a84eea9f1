/// Rings once, when a worker or its handlers are asked to stop.
package final class StopBell: Sendable {
  /// Nil once it has rung.
  private let listeners = Lock<[@Sendable () -> Void]?>([])

  package var isRung: Bool { listeners.withLock { $0 == nil } }

  /// Calls `body` once it rings, or now if it has.
  package func listen(_ body: @escaping @Sendable () -> Void) {
    if listeners.withLock({ $0?.append(body) }) == nil { body() }
  }

  func ring() { for body in listeners.exchange(nil) ?? [] { body() } }
}
