import Foundation

/// How an attempt ended, decided from what its handler returned or threw and why it was asked to stop.
enum AttemptEnd {
  static func result(ofOutput output: Data?) -> ClaimSettlement.Result {
    if let output, output.count > Limits.payloadBytes {
      return .failed(
        message: "its output has \(output.count) bytes; at most \(Limits.payloadBytes) can be stored")
    }
    return .succeeded(output: output)
  }

  /// Nil if there is nothing to report: the claim is not this worker's any more.
  ///
  /// What the handler threw as a ``JobExit`` counts, whatever was asked of it. Any other error after it was asked to stop
  /// is taken as its way of stopping.
  static func result(
    ofError error: any Error, claim: ClaimedJob, stopReason: StopReason?, retry: RetryPolicy
  ) -> ClaimSettlement.Result? {
    if stopReason == .claimLost { return nil }
    switch error {
    case let exit as JobExit:
      switch exit.way {
      case .permanent(let error): return .failed(message: error.briefly.cutToMessage)
      case .retry(let time, let error): return .retry(time, message: error.briefly.cutToMessage)
      case .snooze(let time): return .snoozed(time)
      case .suspend(let reason): return .suspended(reason: reason.cutToMessage)
      case .crash: return .crashed
      }
    case let error as Undecodable:
      return .suspended(reason: error.reason.cutToMessage)
    default:
      break
    }
    var error = error
    switch stopReason {
    case .cancelled, .suspended, .shutdown: return .interrupted
    case .timedOut: error = TimedOut(limit: claim.timeout ?? .zero)
    case .claimLost, nil: break
    }
    let message = error.briefly.cutToMessage
    let attempt = RetryPolicy.Attempt(number: claim.attempt, maxAttempts: claim.maxAttempts, error: error)
    switch retry.decision(after: attempt) {
    case .retry(let delay): return .retry(.after(delay), message: message)
    case .fail: return .failed(message: message)
    }
  }
}
