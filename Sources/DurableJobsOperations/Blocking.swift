import DurableJobs
import Foundation

/// Runs `body` and blocks the calling thread until it has returned: what a synchronous way in needs.
///
/// It needs no thread of Swift's pool: `body` runs on ``EngineThread``, and so does what it calls of a store. So any number
/// of those threads may be blocked here at once, a handler's and the main thread too, and it still returns. Only that thread
/// itself must not call it, and no code of a user's runs there.
func blocking<R: Sendable>(_ body: @escaping @Sendable () async -> R) -> R {
  let (result, done) = (Lock<R?>(nil), DispatchSemaphore(value: 0))
  // Unstructured, since who waits for it can't suspend; it is over before this returns.
  Task(executorPreference: EngineThread.shared) {
    let value = await body()
    result.withLock { $0 = value }
    done.signal()
  }
  done.wait()
  return result.withLock { $0! }
}
