import Logging

/// Running one job, from its claim to the report of its result.
extension WorkerEngine {
  func begin(_ attempt: RunningAttempt) {
    let claim = attempt.claim
    guard let handler = shared.withLock({ $0.handlers[claim.kind] }) else {
      return end(attempt, .interrupted)  // a store that answers with a kind that it was not asked for
    }
    // Ends by itself, or after `stop`; `drive` waits for it.
    let task = WorkerLoop.$caller.withValue(.init(stop: interruption, handler: (self, claim.token))) {
      Task { await self.run(attempt, handler) }
    }
    let timeout = claim.timeout.map { limit in
      store.clock.schedule(after: limit) { [weak self] in
        if let self { attempt.stop(.timedOut, at: uptime) }
      }
    }
    attempt.attach(task, timeout: timeout)
  }

  private func run(_ attempt: RunningAttempt, _ handler: HandlerTable.Handler) async {
    let claim = attempt.claim
    let home = shared.withLock { $0.handlers.queue(of: claim, in: store) }
    let context = JobContext(attempt, in: home, by: id, output: handler.output, logger: logger)
    do { end(attempt, AttemptEnd.result(ofOutput: try await handler.run(claim, within: context))) } catch {
      let result = AttemptEnd.result(ofError: error, claim: claim, stopReason: attempt.stopReason, retry: handler.retry)
      tell(of: error, claim, result)
      // An attempt that timed out threw whatever its cancellation caused, unless it is an exit that takes effect.
      let isExit = (error as? JobExit)?.wrapsCancellation == false
      end(attempt, result, code: attempt.stopReason == .timedOut && !isExit ? "TimedOut" : error.codeToKeep)
    }
  }

  private func tell(of error: any Error, _ claim: ClaimedJob, _ result: ClaimSettlement.Result?) {
    var metadata: Logger.Metadata = [
      "job": "\(claim.token.job)", "kind": "\(claim.kind)", "attempt": "\(claim.attempt)",
    ]
    switch result {
    case .retry(let time, let message, _) where claim.attempt < claim.maxAttempts:
      metadata["error"] = "\(message)"
      if case .after(let wait) = time { metadata["again"] = "\(wait)" }
      logger.info("attempt failed", metadata: metadata)
    case .retry(_, let message, _), .failed(let message):
      metadata["error"] = "\(message)"
      logger.error("job failed", metadata: metadata)
    case .suspended(let reason, let holder):
      metadata["reason"] = "\(reason)"
      logger.log(level: holder == .undecodable ? .error : .info, "job suspended", metadata: metadata)
    case .succeeded, .snoozed, .interrupted, .crashed, nil:
      metadata["error"] = "\(error.briefly)"
      logger.debug("attempt ended with an error", metadata: metadata)
    }
  }

  private func end(_ attempt: RunningAttempt, _ result: ClaimSettlement.Result?, code: String? = nil) {
    let (progress, followUps) = attempt.end()
    let settlement = result.map { result in
      let isSuccess = if case .succeeded = result { true } else { false }
      return ClaimSettlement(
        token: attempt.claim.token, result: result, code: code, progress: progress,
        followUps: isSuccess ? followUps : [])
    }
    var isLost = false
    tell { isLost = $0.state.ended(attempt, settlement) }
    if isLost { onLoss(attempt.claim.token, .running) }
  }

  func hasNews(isUrgent: Bool) { tell { isUrgent ? $0.state.mustAsk() : $0.state.progressReported(uptime) } }
}
