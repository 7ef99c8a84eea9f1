import Foundation

/// How an attempt ended, given what its handler returned or threw and why it was asked to stop.
enum AttemptEnd {
  static func result(ofOutput output: Data?) -> ClaimSettlement.Result {
    output?.excess(of: "its output").map { .failed(message: $0) } ?? .succeeded(output: output)
  }

  /// Nil if there is nothing to report because the worker no longer holds the claim.
  ///
  /// A ``JobExit`` takes effect even if the handler was asked to stop, unless it merely wraps the cancellation that
  /// this caused. After such a request, any other error is taken as the handler's way of stopping.
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
    case let error as Undecodable: return .suspended(reason: error.reason.cutToMessage, by: .undecodable)
    default: break
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
  /// Whether the handler caught the cancellation of a call like any error, and rethrew it as a final one.
  var wrapsCancellation: Bool {
    switch way {
    case .permanent(let error), .retry(_, let error): holdsCancellation(error)
    case .snooze, .suspend, .crash: false
    }
  }
}

/// Whether this is, or in any way wraps, the cancellation of a task, a URL session or a system call. What an error holds
/// may be large, so only the first 200 values are looked at, those that are nearest.
private func holdsCancellation(_ error: any Error) -> Bool {
  let cancelled = [
    NSURLErrorDomain: NSURLErrorCancelled, NSPOSIXErrorDomain: Int(ECANCELED), NSCocoaErrorDomain: 3072,
  ]
  var (values, next): ([Any], Int) = ([error], 0)
  while next < values.count {
    let value = values[next]
    next += 1
    if value is CancellationError { return true }
    if let error = (value as? any Error).map({ $0 as NSError }) {
      if cancelled[error.domain] == error.code { return true }
      if let inner = error.userInfo[NSUnderlyingErrorKey] { values.append(inner) }
    }
    values += Mirror(reflecting: value).children.prefix(max(0, 200 - values.count)).map(\.value)
  }
  return false
}
