import Foundation

/// A change to a job from outside its handler. ``JobCourse/apply(_:now:random:keyOwner:)`` holds the rules.
public enum JobChange: Hashable, Sendable {
  /// Runs the job again: from the first attempt if it failed or was cancelled, at once if it waits for a time or is
  /// suspended. Refused if the job has ended and another job holds its unique key.
  case retry
  /// Cancels the job. A running job is asked to stop, and ends when its handler does.
  case cancel(reason: String?)
  /// Suspends the job. A running job is asked to stop, and is suspended when its handler ends.
  case suspend(reason: String?)
  case resume
  /// Sets the priority: at once if the job waits, from its next attempt on if it is running. Refused once it has ended.
  case setPriority(JobPriority)
  /// Sets when an unfinished job may start, replacing any time that it waits for. A job that waits for others still
  /// waits for them. Refused while the job is running or suspended.
  case setStart(JobTime)
  /// Deletes the job. Refused while it is running.
  case remove
  /// Ends an unfinished job with success, whether or not its handler has started. Changes nothing if the job has
  /// already succeeded.
  case complete(output: Data?)
  /// Ends an unfinished job with failure. Changes nothing if the job has already failed.
  case fail(message: String, code: String? = nil)
  case progress(JobProgress)
  /// Ends a back-off at a random time within this duration, because a condition returned. Refused for any other wait.
  case wake(within: Duration)
  /// Makes a running or suspended job ready without using an attempt, whichever worker runs it.
  case reset
  /// Replaces the payload. Refused while the job is running and once it has ended.
  case replacePayload(Data)
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
