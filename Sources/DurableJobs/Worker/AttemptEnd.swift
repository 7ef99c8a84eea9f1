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
  /// What the handler threw as a ``JobExit`` counts, whatever was asked of it, unless it only wraps the cancellation that
  /// was asked for. Any other error after it was asked to stop is taken as its way of stopping.
  static func result(
    ofError error: any Error, claim: ClaimedJob, stopReason: StopReason?, retry: RetryPolicy
  ) -> ClaimSettlement.Result? {
    if stopReason == .claimLost { return nil }
    switch error {
    case let exit as JobExit where stopReason == nil || !exit.wrapsCancellation:
      switch exit.way {
      case .permanent(let error): return .failed(message: error.briefly.cutToMessage)
      case .retry(let time, let error):
        return .retry(time, message: error.briefly.cutToMessage, isBackOff: exit.isBackOff)
      case .snooze(let time): return .snoozed(time, isBackOff: exit.isBackOff)
      case .suspend(let reason): return .suspended(reason: reason.cutToMessage)
      case .crash: return .crashed
      }
    case let error as Undecodable:
      return .suspended(reason: error.reason.cutToMessage, by: .undecodable)
    default:
      break
    }
    var error = error
    switch stopReason {
    case .cancelled, .overdue, .suspended, .shutdown, .constraintLost: return .interrupted
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

extension JobExit {
  /// As of a handler that catches all errors of a call, and throws them on as final ones.
  fileprivate var wrapsCancellation: Bool {
    switch way {
    case .permanent(let error), .retry(_, let error): holdsCancellation(error)
    case .snooze, .suspend, .crash: false
    }
  }
}

/// Whether it is a cancellation, of a task, a URL session or a system call, or holds one, however that was wrapped.
private func holdsCancellation(_ value: Any, depth: Int = 8) -> Bool {
  if value is CancellationError { return true }
  var parts = Mirror(reflecting: value).children.map(\.value)
  if let error = (value as? any Error).map({ $0 as NSError }) {
    let cancelled = [
      NSURLErrorDomain: NSURLErrorCancelled, NSPOSIXErrorDomain: Int(ECANCELED), NSCocoaErrorDomain: 3072,
    ]
    if cancelled[error.domain] == error.code { return true }
    if let inner = error.userInfo[NSUnderlyingErrorKey] { parts.append(inner) }
  }
  return depth > 0 && parts.contains { holdsCancellation($0, depth: depth - 1) }
}
