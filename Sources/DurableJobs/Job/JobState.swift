/// Where a job stands in its life.
public enum JobState: String, Codable, Sendable, CaseIterable {
  /// May run now.
  case ready
  /// Waits for a time: a start that is ahead, a back-off, a snooze.
  case scheduled
  /// Waits for other jobs.
  case blocked
  /// Claimed, its handler at work.
  case running
  /// Kept from running: by a person, by its own handler, or because its payload could not be decoded.
  case suspended
  /// Done; its output is kept for the retention time.
  case succeeded
  /// Gave up. Kept, and can be retried.
  case failed
  /// Ended by a person.
  case cancelled
  /// Will not run, because a job that it needs ended without success.
  case skipped

  /// The job will not run again by itself.
  public var isFinished: Bool {
    switch self {
    case .succeeded, .failed, .cancelled, .skipped: true
    case .ready, .scheduled, .blocked, .running, .suspended: false
    }
  }
}
