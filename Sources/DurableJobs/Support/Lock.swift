import Foundation

/// A value that one thread at a time may touch.
///
/// Over `NSLock` and not `Synchronization.Mutex`, because Thread Sanitizer on Linux does not see the latter and reports
/// every use of it as a race.
package final class Lock<State>: @unchecked Sendable {
  // Safe without the compiler's proof: `state` is reached only inside `withLock`, under `lock`.
  private let lock = NSLock()
  private var state: State

  package init(_ state: State) { self.state = state }

  package func withLock<R>(_ body: (inout State) throws -> R) rethrows -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }

  /// Puts another in its place, and returns the one that was there.
  package func exchange(_ new: State) -> State {
    withLock { state in
      defer { state = new }
      return state
    }
  }
}
