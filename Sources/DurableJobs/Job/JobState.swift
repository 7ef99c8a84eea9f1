/// The state of a job in its life cycle.
public enum JobState: String, Codable, Sendable, CaseIterable {
  /// May run now.
  case ready
  /// Waits for a time: a future start, a back-off, a snooze.
  case scheduled
  /// Waits for other jobs: those that it depends on, or those ahead in its lane.
  case blocked
  /// Claimed, and its handler is running.
  case running
  /// Held: by a person, by its own handler, or because its payload could not be decoded.
  case suspended
  /// Finished; its output is kept for the retention time.
  case succeeded
  /// Gave up. The job is kept and can be retried.
  case failed
  /// Ended by a person or a program.
  case cancelled
  /// Will not run, because a job that it depends on did not end as it needs.
  case skipped

  /// Whether the job has ended and will not run again unless it is retried.
  public var isFinished: Bool {
    switch self {
    case .succeeded, .failed, .cancelled, .skipped: true
    case .ready, .scheduled, .blocked, .running, .suspended: false
    }
  }

  /// Whether a retry runs the job again, and with it what was skipped because of it.
  package var isRetriable: Bool { self == .failed || self == .cancelled }
}
