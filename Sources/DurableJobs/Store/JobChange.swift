import Foundation

/// What a person does to a job, or a callback from outside. ``JobCourse/apply(_:now:random:keyOwner:)`` has the rules.
public enum JobChange: Hashable, Sendable {
  /// Runs it again, from its first attempt, if it failed or was cancelled; at once, if it waits for a time or is suspended.
  /// Refused if it has ended and another job has its unique key.
  case retry
  /// Ends it. A running job is asked to stop, and ends when its handler does.
  case cancel(reason: String?)
  /// Suspends it. A running job is asked to stop, and is suspended when its handler ends.
  case suspend(reason: String?)
  case resume
  /// What goes first: at once for one that waits, from its next attempt on for one that runs. Refused once it has ended.
  case setPriority(JobPriority)
  /// When an unfinished job may begin, whatever it waited for a time before; one that waits for others begins no sooner
  /// than they end. Refused while it runs or is suspended.
  case setStart(JobTime)
  /// Deletes it. Refused while it runs.
  case remove
  /// Ends an unfinished job with success, from outside its handler, whether that has begun or not. Nothing changes if it
  /// has succeeded already.
  case complete(output: Data?)
  /// Ends an unfinished job with failure, from outside its handler. Nothing changes if it has failed already.
  case fail(message: String, code: String? = nil)
  case progress(JobProgress)
  /// Ends a back-off within that time, at random: what it requires has returned. Refused for any other wait.
  case wake(within: Duration)
  /// Makes a running or suspended job ready, its attempt given back, whoever runs it.
  case reset
  /// Gives it another payload. Refused while it runs and once it has ended.
  case replacePayload(Data)
}

public struct ChangeReport: Hashable, Sendable {
  /// The jobs that `change` holds for now, by id.
  public var changed: [JobID]
  /// Those that matched the filter, and were in no state for it.
  public var refused: [Refusal]
  /// Where to go on, if more jobs may match.
  public var next: JobID?

  public struct Refusal: Hashable, Sendable {
    public var job: JobID
    /// What ``JobCourse/apply(_:now:random:keyOwner:)`` said, as in "is running; cancel it first".
    public var message: String

    public init(job: JobID, message: String) {
      self.job = job
      self.message = message
    }
  }

  public init(changed: [JobID] = [], refused: [Refusal] = [], next: JobID? = nil) {
    self.changed = changed
    self.refused = refused
    self.next = next
  }
}
