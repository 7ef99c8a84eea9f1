import Foundation

/// A change to a job from outside its handler. ``JobCourse/apply(_:now:random:keyOwner:)`` holds the rules; what is not
/// described here is what the function of ``JobQueue`` with its name does.
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
  /// Makes a running or suspended job ready without using an attempt, whichever worker runs it. One that was asked to
  /// cancel is cancelled.
  case reset
  /// Replaces the payload. Refused while the job is running and once it has ended.
  case replacePayload(Data)

  package var keepsFromRunning: Bool {
    switch self {
    case .cancel, .complete, .fail, .suspend, .remove: true
    default: false
    }
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
    /// The message of ``JobCourse/apply(_:now:random:keyOwner:)``, such as "is running; cancel it first".
    public var message: String

    public init(job: JobID, message: String) { (self.job, self.message) = (job, message) }
  }

  public init(changed: [JobID] = [], refused: [Refusal] = [], next: JobID? = nil) {
    (self.changed, self.refused, self.next) = (changed, refused, next)
  }
}

extension JobError {
  init(_ refusal: ChangeReport.Refusal) { self.init(.wrongState, "job \(refusal.job) \(refusal.message)") }
}
