import DurableJobs
import Foundation

/// When a job is given up.
extension JobLog {
  /// As a date, which it is from the moment on at which the job was stored.
  var deadline: JobDeadline? {
    switch job.terms.deadline {
    case .start(let time): .start(by: .at(date(of: time)))
    case .end(let time): .end(by: .at(date(of: time)))
    case nil: nil
    }
  }

  private func date(of time: JobTime) -> Date {
    let stored = entries[entries.startIndex].at
    return switch time {
    case .now: stored
    case .after(let delay): delay > .zero ? stored.later(by: Int64((delay / .milliseconds(1)).rounded(.up))) : stored
    case .at(let date): date
    }
  }

  private var deadlineDate: Date? {
    switch deadline {
    case .start(by: .at(let date)), .end(by: .at(let date)): date
    default: nil
    }
  }

  /// The deadline that it still has to keep.
  var openDeadline: Date? {
    guard let date = deadlineDate, !standing.isFinished else { return nil }
    for entry in entries.reversed() {
      switch entry.event {
      case .deadlinePassed: return nil
      case .startedAnew where wrong != .retryKeepsDeadline, .reopened: return date > entry.at ? date : nil
      default: continue
      }
    }
    return date
  }

  func isOverdue(at now: Date) -> Bool { openDeadline.map { $0 <= now } ?? false }

  /// It had to begin by then, and has.
  var hasBegunInTime: Bool {
    if case .start = deadline { wasClaimed && wrong != .begunIsOverdue } else { false }
  }

  var words: String {
    let what = if case .start = deadline { "begun" } else { "ended" }
    let date = (deadlineDate ?? .distantPast).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    return "its deadline has passed: it had not \(what) by \(date)"
  }
}

extension ClaimSettlement.Result {
  var isFinal: Bool {
    switch self {
    case .succeeded, .failed: true
    default: false
    }
  }
}

extension Oracle {
  /// Gives up a job whose deadline has passed. False if it has begun in time.
  mutating func passDeadline(_ index: Int) -> Bool {
    let (job, isRunning) = (jobs[index], state(jobs[index]) == .running)
    note(.deadlinePassed, index)
    if job.hasBegunInTime { return false }
    if !isRunning {
      note(.givenUp(message: job.words), index)
    } else if job.asked?.stop != .cancelled {
      note(.asked(.overdue, reason: job.words), index)
    }
    return true
  }
}
