import Foundation

/// A value that only one thread at a time can access.
///
/// It uses `NSLock` rather than `Synchronization.Mutex` because Thread Sanitizer on Linux does not understand the
/// latter and reports every use of it as a race.
package final class Lock<State>: @unchecked Sendable {
  // Checked by hand: `state` is only accessed inside `withLock`, under `lock`.
  private let lock = NSLock()
  private var state: State

  package init(_ state: State) { self.state = state }

  /// What is there now. To look at a function, use this: ``withLock(_:)`` puts back what it lends, and a function comes
  /// back from its caller in one more wrapper each time.
  package var value: State {
    lock.lock()
    defer { lock.unlock() }
    return state
  }

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

  /// The same for a part of it.
  package func exchange<Part>(_ part: WritableKeyPath<State, Part>, _ new: Part) -> Part {
    withLock { state in
      defer { state[keyPath: part] = new }
      return state[keyPath: part]
    }
  }
}
