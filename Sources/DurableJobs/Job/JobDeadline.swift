import Foundation

/// When to give up on a job: it fails, and jobs that wait for its success are skipped.
///
/// Recovery enforces it, so some worker must be running. A relative time becomes a date when the job is stored, and
/// that date does not move when the clock is set.
public enum JobDeadline: Hashable, Codable, Sendable {
  /// Fails the job unless a worker has started it by then.
  case start(by: JobTime)
  /// Fails the job unless it has ended by then. A running job is asked to stop with ``StopReason/overdue``, and has
  /// failed once its handler ends, unless that ends in success.
  case end(by: JobTime)

  /// The date of a deadline that ``dated(at:)`` returned.
  package var date: Date {
    switch self {
    case .start(by: .at(let date)), .end(by: .at(let date)): date
    default: .distantPast
    }
  }

  /// That date, if the job must have ended by then.
  package var toEnd: Date? { if case .end = self { date } else { nil } }

  package func dated(at now: Date) -> JobDeadline {
    /// Whether past or future.
    func dated(_ time: JobTime) -> JobTime {
      if case .at(let date) = time { return .at(Date(milliseconds: date.milliseconds)) }
      return .at(time.date(at: now) ?? now)
    }
    return switch self {
    case .start(let time): .start(by: dated(time))
    case .end(let time): .end(by: dated(time))
    }
  }

  /// Throws if a job with this deadline would be given up before its start.
  func check(start: Date?, else code: JobError.Code) throws {
    guard let start, start >= date else { return }
    throw JobError(code, "would start at \(start.words), and be given up before: its deadline is \(date.words)")
  }

  /// What the job must have done by then.
  package var deed: String { if case .start = self { "begun" } else { "ended" } }

  /// The failure message of a job that missed it.
  var words: String {
    "its deadline has passed: it had not \(deed) by \(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))"
  }
}
