import Foundation

/// A change to a job from outside its handler. ``JobCourse/apply(_:now:random:keyOwner:causeState:)`` holds the rules;
/// what is not described here is what the function of ``JobQueue`` with its name does.
public enum JobChange: Hashable, Sendable {
  case retry
  case cancel(reason: String?)
  case suspend(reason: String?)
  case resume
  case setPriority(JobPriority)
  case setStart(JobTime)
  case remove
  case complete(output: Data?)
  case fail(message: String, code: String? = nil)
  case progress(JobProgress)
  /// Ends a back-off at a random time within this duration, because a condition returned. Refused for any other wait.
  case wake(within: Duration)
  /// Makes a running or suspended job ready without using an attempt, or cancels it if that was asked of it.
  case reset
  /// Replaces the payload. Refused while the job is running and once it has ended.
  case replacePayload(Data)

  package var keepsFromRunning: Bool {
    switch self {
    case .cancel, .complete, .fail, .suspend, .remove: true
    default: false
    }
  }

  /// Has `turn` make it of these jobs, a bite at a time. What waits for another mostly came after it: what keeps jobs
  /// from running goes from the last to the first, so that none becomes ready that is still to be changed. Those that
  /// refused have another round while one helps: what they were needed for may be gone, and what they need reopened.
  package func make(
    of ids: [JobID], bite: Int, by turn: ([JobID]) async throws -> ChangeReport
  ) async rethrows -> ChangeReport {
    var (all, left, count) = (ChangeReport(), ids.sorted(), 0)
    repeat {
      count = all.changed.count
      all.refused = []
      let pages = left.pages(of: bite)
      for page in keepsFromRunning ? pages.reversed() : pages {
        let report = try await turn(Array(page))
        all.changed += report.changed
        all.refused += report.refused
      }
      left = all.refused.map(\.job).sorted()
    } while (self == .remove || self == .retry) && !left.isEmpty && all.changed.count > count
    all.changed.sort()
    all.refused.sort { $0.job < $1.job }
    return all
  }
}

public struct ChangeReport: Hashable, Sendable {
  /// The jobs for which the change now holds, by id.
  public var changed: [JobID]
  /// The jobs that matched the filter but are in no state for the change.
  public var refused: [Refusal]
  /// Where to continue, if more jobs may match.
  public var next: JobID?

  public struct Refusal: Hashable, Sendable {
    public var job: JobID
    /// The message of ``JobCourse/apply(_:now:random:keyOwner:causeState:)``, such as "is running; cancel it first".
    public var message: String
    /// Of a job that can't be retried: the one that has its unique key.
    public var keyOwner: JobID?

    public init(job: JobID, message: String, keyOwner: JobID? = nil) {
      (self.job, self.message, self.keyOwner) = (job, message, keyOwner)
    }
  }

  public init(changed: [JobID] = [], refused: [Refusal] = [], next: JobID? = nil) {
    (self.changed, self.refused, self.next) = (changed, refused, next)
  }
}

extension JobError {
  init(_ refusal: ChangeReport.Refusal) { self.init(.wrongState, "job \(refusal.job) \(refusal.message)") }
}
