/// Lets one waiting task through each time it is opened. If nobody waits, the next task passes at once, and no more.
package final class Gate: Sendable {
  private enum State {
    case closed
    case open
    case waiting(CheckedContinuation<Void, Never>)
  }

  private let state = Lock(State.closed)

  package init() {}

  package func open() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard case .waiting(let waiter) = state else {
        state = .open
        return nil
      }
      state = .closed
      return waiter
    }
    waiter?.resume()
  }

  /// Waits until the gate is open or the task is cancelled, and closes it again.
  package func pass() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if case .open = state {
            state = .closed
            return true
          }
          state = .waiting(continuation)
          return false
        }
        if isOpen || Task.isCancelled { isOpen ? continuation.resume() : open() }
      }
    } onCancel: {
      open()
    }
  }
}
