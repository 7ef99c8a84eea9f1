import Foundation

/// An attempt that is under way: what its handler reported, and whether it was asked to stop.
final class RunningAttempt: Sendable {
  private struct State {
    var stopReason: StopReason?
    var stopAskedAt: Duration?
    var progress: JobProgress?
    /// When the claim was last known to hold, by a clock that no sleep stops; and who waits to learn whether it does now.
    var heldAt: Duration
    var askers: [CheckedContinuation<Void, Never>] = []
    var followUps: [NewJob] = []
    /// Steps that have finished in this attempt or are under way.
    var steps: Set<String> = []
    var task: Task<Void, Never>?
    var timeout: (any JobTimer)?
    var hasEnded = false
    /// Whoever asks for the claim is not held up for an answer.
    var isOver: Bool { stopReason != nil || hasEnded }
  }

  let claim: ClaimedJob
  private let state: Lock<State>
  private let onNews: @Sendable (_ isUrgent: Bool) -> Void

  /// `onNews` makes the worker renew soon, or at once.
  init(_ claim: ClaimedJob, at now: Duration, onNews: @escaping @Sendable (_ isUrgent: Bool) -> Void) {
    (self.claim, self.onNews) = (claim, onNews)
    state = Lock(State(heldAt: now))
  }

  var stopReason: StopReason? { state.withLock { $0.stopReason } }

  /// Sets the handler's task and the timer of its timeout. The handler may have ended already.
  func attach(_ task: Task<Void, Never>, timeout: (any JobTimer)?) {
    let (isOver, hasEnded) = state.withLock { state in
      if !state.hasEnded { (state.task, state.timeout) = (task, timeout) }
      return (state.isOver, state.hasEnded)
    }
    if isOver { task.cancel() }
    if hasEnded { timeout?.cancel() }
  }

  /// Called when the handler has returned or thrown. Returns the progress to store, and the follow-ups of a success.
  func end() -> (progress: JobProgress?, followUps: [NewJob]) {
    let (timeout, askers, progress, followUps) = state.withLock { state in
      defer { (state.hasEnded, state.task, state.timeout, state.askers) = (true, nil, nil, []) }
      return (state.timeout, state.askers, state.progress, state.followUps)
    }
    timeout?.cancel()
    for asker in askers { asker.resume() }
    return (progress, followUps)
  }

  var followUps: [NewJob] { state.withLock(\.followUps) }

  /// Returns false if the handler has returned, since the job would not be stored.
  func follow(with job: NewJob) -> Bool {
    state.withLock { state in
      if !state.hasEnded { state.followUps.append(job) }
      return !state.hasEnded
    }
  }

  /// The step's result from an earlier attempt; nil if it must be done now.
  func begin(step: String) throws -> Data? {
    let (stopReason, isFirst) = state.withLock { state in
      (state.stopReason, state.stopReason == nil && state.steps.insert(step).inserted)
    }
    if stopReason != nil { throw CancellationError() }
    guard isFirst else {
      // Another attempt would fail in the same way.
      let refusal = "it has two steps '\(step)' in one attempt: each needs a name of its own"
      throw JobExit(way: .permanent(JobError(.invalidArgument, refusal)))
    }
    return claim.steps[step]
  }

  /// Called when the step has not finished, so that it may be tried again.
  func drop(step: String) { state.withLock { _ = $0.steps.remove(step) } }

  /// Asks the handler to stop. The first reason is kept, except that a lost claim replaces any other.
  func stop(_ reason: StopReason, at now: Duration) {
    let (task, askers) = state.withLock { state in
      if state.stopReason == nil || reason == .claimLost { state.stopReason = reason }
      if state.stopAskedAt == nil { state.stopAskedAt = now }
      return (state.task, exchange(&state.askers, with: []))
    }
    task?.cancel()
    for asker in askers { asker.resume() }
  }

  /// Whether the handler still has its claim, and was not asked to stop. Asks the store only if the lease may have lapsed.
  func isHeld(_ now: Duration) async -> Bool {
    await withCheckedContinuation { asker in
      let mustAsk = state.withLock { state in
        guard !state.isOver, now - state.heldAt >= Defaults.lease else { return false }
        state.askers.append(asker)
        return true
      }
      mustAsk ? onNews(true) : asker.resume()
    }
    return state.withLock { !$0.isOver }
  }

  /// Takes those who wait for the result of the renewal that starts now.
  func takeAskers() -> [CheckedContinuation<Void, Never>] { state.withLock { exchange(&$0.askers, with: []) } }

  /// Resumes them after that renewal; nil if it failed, and they wait for the next.
  func renewed(at time: Duration?, _ askers: [CheckedContinuation<Void, Never>]) {
    let isOver = state.withLock { state in
      if let time { state.heldAt = time } else if !state.isOver { state.askers += askers }
      return state.isOver
    }
    if time != nil || isOver { for asker in askers { asker.resume() } }
  }

  /// Whether nothing has told for a lease that the claim is held.
  func isLeaseOver(_ now: Duration) -> Bool { state.withLock { now - $0.heldAt >= Defaults.lease } }

  func sinceStop(_ now: Duration) -> Duration? { state.withLock { $0.stopAskedAt.map { now - $0 } } }

  func report(_ progress: JobProgress) {
    if state.withLock({ exchange(&$0.progress, with: progress) }) == nil { onNews(false) }
  }

  /// Takes the latest progress, if there is any that is not stored.
  func takeProgress() -> JobProgress? { state.withLock { exchange(&$0.progress, with: nil) } }

  /// Puts back progress that could not be stored, unless there is newer.
  func restore(_ progress: JobProgress) { state.withLock { if $0.progress == nil { $0.progress = progress } } }
}
