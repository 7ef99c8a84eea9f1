/// Reports whether a condition holds on this machine. `DurableJobsSystem` has some; your own takes a few lines:
///
///     struct VPNMonitor: ConstraintMonitor {
///       func changes() -> some AsyncSequence<Bool, Never> { AsyncStream { vpn.follow($0) } }
///     }
public protocol ConstraintMonitor: Sendable {
  associatedtype Changes: AsyncSequence<Bool, Never>

  /// Whether the condition holds: the current value, then each change. Called once per run of the worker, and cancelled
  /// with it. Before the first value the condition does not hold; a worker that runs until idle waits for it.
  func changes() -> Changes
}
