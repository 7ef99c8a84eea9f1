import Dispatch

/// Waits until something is so that another process, thread or server brings about and that no signal tells of. Between two
/// looks the processor is left to those.
package func until(_ condition: () async throws -> Bool) async rethrows {
  while try await !condition() {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(2)) { continuation.resume() }
    }
  }
}
