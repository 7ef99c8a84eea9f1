import Foundation

/// One attempt under way: what its handler told, and what it was told.
final class RunningAttempt: Sendable {
  private struct State {
    var stopReason: StopReason?
    var stopAskedAt: Duration?
    var progress: JobProgress?
    /// When the claim was known to hold, and who wants to know whether it does now.
    var heldAt: Duration
    var askers: [CheckedContinuation<Void, Never>] = []
    var followUps: [NewJob] = []
    /// Steps that have finished in this attempt, or are under way.
    var steps: Set<String> = []
    var task: Task<Void, Never>?
    var timeout: (any JobTimer)?
    var hasEnded = false
  }

  let claim: ClaimedJob
  private let state: Lock<State>
  private let onNews: @Sendable (_ isUrgent: Bool) -> Void

  /// `onNews` has its worker renew soon, or at once.
  init(_ claim: ClaimedJob, at now: Duration, onNews: @escaping @Sendable (_ isUrgent: Bool) -> Void) {
    self.claim = claim
    self.onNews = onNews
    state = Lock(State(heldAt: now))
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

  var followUps: [NewJob] { state.withLock(\.followUps) }

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
      // Another attempt would do the same.
      let refusal = "it has two steps '\(step)' in one attempt: each needs a name of its own"
      throw JobExit(way: .permanent(JobError(.invalidArgument, refusal)))
    }
    return claim.steps[step]
  }

  /// It has not finished, and may be tried again.
  func drop(step: String) { state.withLock { _ = $0.steps.remove(step) } }

  /// Asks the handler to stop. The first reason stands, except that a lost claim outweighs all.
  func stop(_ reason: StopReason, at now: Duration) {
    let (task, askers) = state.withLock { state in
      if state.stopReason == nil || reason == .claimLost { state.stopReason = reason }
      if state.stopAskedAt == nil { state.stopAskedAt = now }
      defer { state.askers = [] }
      return (state.task, state.askers)
    }
    task?.cancel()
    for asker in askers { asker.resume() }
  }

  /// Whether the claim still holds, and nobody wants it to stop. Asks the store only if it may be lost by its age.
  func isHeld(_ now: Duration) async -> Bool {
    await withCheckedContinuation { asker in
      let mustAsk = state.withLock { state in
        guard state.stopReason == nil, now - state.heldAt >= Defaults.lease else { return false }
        state.askers.append(asker)
        return true
      }
      mustAsk ? onNews(true) : asker.resume()
    }
    return stopReason == nil
  }

  /// Those who are to be told what the renewal says that begins now.
  func takeAskers() -> [CheckedContinuation<Void, Never>] {
    state.withLock { state in
      defer { state.askers = [] }
      return state.askers
    }
  }

  /// A renewal that began then says that the claim holds; or nothing, if it failed.
  func renewed(at time: Duration?, _ askers: [CheckedContinuation<Void, Never>]) {
    let isStopped = state.withLock { state in
      if let time { state.heldAt = time } else if state.stopReason == nil { state.askers += askers }
      return state.stopReason != nil
    }
    if time != nil || isStopped { for asker in askers { asker.resume() } }
  }

  /// How long ago the handler was asked to stop.
  func sinceStop(_ now: Duration) -> Duration? { state.withLock { $0.stopAskedAt.map { now - $0 } } }

  func report(_ progress: JobProgress) {
    let isFirst = state.withLock { state in
      defer { state.progress = progress }
      return state.progress == nil
    }
    if isFirst { onNews(false) }
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
