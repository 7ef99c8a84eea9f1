/// What knows whether a condition holds here. `DurableJobsSystem` has some; your own is a few lines:
///
///     struct VPNMonitor: ConstraintMonitor {
///       func changes() -> some AsyncSequence<Bool, Never> { AsyncStream { … } }
///     }
public protocol ConstraintMonitor: Sendable {
  associatedtype Changes: AsyncSequence<Bool, Never>

  /// Whether it holds now, at once, and then each change. Asked for once each time the worker runs, and cancelled with that
  /// run. Until the first has come, the condition does not hold, and a worker that runs until it is idle waits for it.
  func changes() -> Changes
}
