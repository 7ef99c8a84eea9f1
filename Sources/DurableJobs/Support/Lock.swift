import Foundation

/// A value that only one thread at a time can access.
///
/// It uses `NSLock` rather than `Synchronization.Mutex` because Thread Sanitizer on Linux does not understand the
/// latter and reports every use of it as a race. Inlined elsewhere too, where generic code would be slow.
@usableFromInline package final class Lock<State>: @unchecked Sendable {
  // Checked by hand: `state` is only accessed inside `withLock`, under `lock`.
  @usableFromInline let lock = NSLock()
  @exclusivity(unchecked) @usableFromInline var state: State

  package init(_ state: State) { self.state = state }

  /// What is there now. To look at a function, use this: ``withLock(_:)`` puts back what it lends, and a function comes
  /// back from its caller in one more wrapper each time.
  @inlinable package var value: State {
    lock.lock()
    defer { lock.unlock() }
    return state
  }

  @inlinable package func withLock<R>(_ body: (inout State) throws -> R) rethrows -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }

  /// Puts another in its place, and returns the one that was there.
  package func exchange(_ new: State) -> State { withLock { Swift.exchange(&$0, with: new) } }
}
