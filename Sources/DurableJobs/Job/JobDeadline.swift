import Foundation

/// When a job is given up: it fails, and what waits for its success is skipped.
///
/// Whoever recovers sees to it, so a worker has to be up somewhere. It is a date from the moment on at which the job is
/// stored, and stays where it is when the clock is set.
public enum JobDeadline: Hashable, Codable, Sendable {
  /// Unless a worker has begun with it by then.
  case start(by: JobTime)
  /// Unless it has ended by then. If it runs, it is asked to stop, with ``StopReason/overdue``, and has failed when its
  /// handler ends in any way but with success.
  case end(by: JobTime)
}

extension JobDeadline {
  /// Of one that ``dated(at:)`` gave.
  package var date: Date {
    switch self {
    case .start(by: .at(let date)), .end(by: .at(let date)): date
    default: .distantPast
    }
  }

  package func dated(at now: Date) -> JobDeadline {
    switch self {
    case .start(let time): .start(by: .at(time.moment(from: now)))
    case .end(let time): .end(by: .at(time.moment(from: now)))
    }
  }

  /// What it must have done by then.
  package var deed: String { if case .start = self { "begun" } else { "ended" } }

  /// Why the job failed.
  var words: String {
    "its deadline has passed: it had not \(deed) by \(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))"
  }
}

extension JobTime {
  /// The date that this is at `now`, ahead or not.
  fileprivate func moment(from now: Date) -> Date {
    if let date = date(at: now) { return date }
    return if case .at(let date) = self { Date(milliseconds: date.milliseconds) } else { now }
  }
}
