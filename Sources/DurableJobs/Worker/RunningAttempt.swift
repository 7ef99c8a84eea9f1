import Foundation

/// One attempt under way: what its handler told, and what it was told.
final class RunningAttempt: Sendable {
  private struct State {
    var stopReason: StopReason?
    var stopAskedAt: Duration?
    var progress: JobProgress?
    var followUps: [NewJob] = []
    /// Steps that have finished in this attempt, or are under way.
    var steps: Set<String> = []
    var task: Task<Void, Never>?
    var timeout: (any JobTimer)?
    var hasEnded = false
  }

  let claim: ClaimedJob
  private let state = Lock(State())
  private let onProgress: @Sendable () -> Void

  init(_ claim: ClaimedJob, onProgress: @escaping @Sendable () -> Void) {
    self.claim = claim
    self.onProgress = onProgress
  }

  var stopReason: StopReason? { state.withLock { $0.stopReason } }

  /// The task that the handler runs in and the timer of its timeout. Either may come after the handler has ended.
  func attach(_ task: Task<Void, Never>, timeout: (any JobTimer)?) {
    let (mustCancel, hasEnded) = state.withLock { state in
      guard !state.hasEnded else { return (false, true) }
      state.task = task
      state.timeout = timeout
      return (state.stopReason != nil, false)
    }
    if mustCancel { task.cancel() }
    if hasEnded { timeout?.cancel() }
  }

  /// The handler has returned or thrown. Returns the last news of its progress, and what is to follow from its success.
  func end() -> (progress: JobProgress?, followUps: [NewJob]) {
    let (progress, followUps, timeout) = state.withLock { state in
      defer {
        state.hasEnded = true
        state.task = nil
        state.timeout = nil
      }
      return (state.progress, state.followUps, state.timeout)
    }
    timeout?.cancel()
    return (progress, followUps)
  }

  /// False if the handler has returned: nobody would store it.
  func follow(with job: NewJob) -> Bool {
    state.withLock { state in
      if !state.hasEnded { state.followUps.append(job) }
      return !state.hasEnded
    }
  }

  /// What an earlier attempt left of the step; nil if it is to be done now.
  func begin(step: String) throws -> Data? {
    let (stopReason, isFirst) = state.withLock { state in
      (state.stopReason, state.stopReason == nil && state.steps.insert(step).inserted)
    }
    if stopReason != nil { throw CancellationError() }
    guard isFirst else {
      throw JobError(
        .invalidArgument,
        "job \(claim.token.job) (\(claim.kind)) has two steps '\(step)' in one attempt: each needs a name of its own")
    }
    return claim.steps[step]
  }

  /// It has not finished, and may be tried again.
  func drop(step: String) { state.withLock { _ = $0.steps.remove(step) } }

  /// Asks the handler to stop. The first reason stands, except that a lost claim outweighs all.
  func stop(_ reason: StopReason, at now: Duration) {
    let task = state.withLock { state -> Task<Void, Never>? in
      if state.stopReason == nil || reason == .claimLost { state.stopReason = reason }
      if state.stopAskedAt == nil { state.stopAskedAt = now }
      return state.task
    }
    task?.cancel()
  }

  /// How long ago the handler was asked to stop.
  func sinceStop(_ now: Duration) -> Duration? { state.withLock { $0.stopAskedAt.map { now - $0 } } }

  func report(_ progress: JobProgress) {
    let isFirst = state.withLock { state in
      defer { state.progress = progress }
      return state.progress == nil
    }
    if isFirst { onProgress() }
  }

  /// News of the progress that was not taken yet.
  func takeProgress() -> JobProgress? {
    state.withLock { state in
      defer { state.progress = nil }
      return state.progress
    }
  }

  /// The news could not be stored. It stays news, unless there is newer.
  func restore(_ progress: JobProgress) {
    state.withLock { if $0.progress == nil { $0.progress = progress } }
  }
}
