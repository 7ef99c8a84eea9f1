/// One attempt under way: what its handler told, and what it was told.
final class RunningAttempt: Sendable {
  private struct State {
    var stopReason: StopReason?
    var progress: JobProgress?
    var task: Task<Void, Never>?
  }

  let claim: ClaimedJob
  private let state = Lock(State())
  private let onProgress: @Sendable () -> Void

  init(_ claim: ClaimedJob, onProgress: @escaping @Sendable () -> Void) {
    self.claim = claim
    self.onProgress = onProgress
  }

  var stopReason: StopReason? { state.withLock { $0.stopReason } }

  /// The task that the handler runs in, so that it can be cancelled.
  func attach(_ task: Task<Void, Never>) {
    let isStopped = state.withLock { state in
      state.task = task
      return state.stopReason != nil
    }
    if isStopped { task.cancel() }
  }

  /// Asks the handler to stop. The first reason stands, except that a lost claim outweighs all.
  func stop(_ reason: StopReason) {
    let task = state.withLock { state -> Task<Void, Never>? in
      if state.stopReason == nil || reason == .claimLost { state.stopReason = reason }
      return state.task
    }
    task?.cancel()
  }

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
}
