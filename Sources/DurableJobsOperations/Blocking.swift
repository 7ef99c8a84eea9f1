import DurableJobs
import Foundation

/// Runs `body` and blocks the calling thread until it returns, for synchronous entry points.
///
/// It does not use Swift's pool: `body` and its calls of a store run on ``EngineThread``. So it returns even if any
/// number of the pool's threads are blocked here, including those of handlers, or the main thread. Only `EngineThread`
/// itself must not call it, and no user code runs there.
func blocking<R: Sendable>(_ body: @escaping @Sendable () async -> R) -> R {
  let (result, done) = (Lock<R?>(nil), DispatchSemaphore(value: 0))
  // Unstructured, since the caller can't suspend; it has ended before this returns.
  Task(executorPreference: EngineThread.shared) {
    let value = await body()
    result.withLock { $0 = value }
    done.signal()
  }
  done.wait()
  return result.withLock { $0! }
}
