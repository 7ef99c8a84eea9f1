/// Every default of the queue, in one place.
public enum Defaults {
  /// How many jobs a worker runs at once: 4.
  public static let concurrency = 4
  /// How many attempts a job gets before it fails: 10.
  public static let maxAttempts = 10
  /// The first back-off, 1 s; each later one is 3 times longer, up to 6 hours, and half of it is random.
  public static let backOffBase = Duration.seconds(1)
  public static let backOffFactor = 3.0
  public static let backOffCap = Duration.seconds(6 * 3600)
  /// The shortest snooze, 0.1 s: shorter ones are extended to it, so that a handler that polls lets others run.
  public static let leastSnooze = Duration.milliseconds(100)
  /// How many process deaths a job survives, in a row and in total. See ``StorePolicy``.
  public static let maxCrashesInRow = 10
  public static let maxCrashes = 50
  /// How long after its worker's last sign of life a claim may be taken by recovery: 30 s.
  public static let lease = Duration.seconds(30)
  /// How often a worker that holds claims renews its lease: every 10 s.
  public static let renewalInterval = Duration.seconds(10)
  /// How long running jobs may continue after a stop was requested, before they are interrupted: 10 s.
  public static let grace = Duration.seconds(10)
  /// How often a running worker checks the store on its own, in case signals were lost: every 15 s.
  public static let sweepInterval = Duration.seconds(15)
  /// How long a worker whose lease lapsed but whose process is alive has to answer before its jobs are taken: 3 s. One that
  /// can't be asked has ``renewalInterval`` more, in which it renews unasked.
  public static let doubtInterval = Duration.seconds(3)
  /// How long finished jobs are kept: a day, and those that failed 30 days.
  public static let retention = Duration.seconds(24 * 3600)
  public static let failedRetention = Duration.seconds(30 * 24 * 3600)
  /// The shortest time between two writes of a running job's progress: 0.5 s.
  public static let progressInterval = Duration.milliseconds(500)
  /// How long a write waits for another process before it throws ``JobError/Code/locked``.
  public static let busyTimeout = Duration.seconds(5)
}

/// Limits on size: what is larger is rejected or truncated. Text is measured in bytes of UTF-8.
public enum Limits {
  /// A payload or an output. Larger ones are rejected.
  public static let payloadBytes = 64 * 1024 * 1024
  /// An error message, a reason or a progress message. Longer ones are truncated.
  public static let messageBytes = 8 * 1024
  /// A key, a tag, or the name of a queue or a kind. Longer ones are rejected.
  public static let nameBytes = 512
  /// How many of a job's failed attempts are kept, the newest.
  public static let failuresKept = 10
  /// Parts of a filter, including operators, and its depth. Larger filters are rejected: SQLite can't handle more.
  public static let filterParts = 500
  public static let filterDepth = 20
}

extension String {
  /// The text truncated to ``Limits/messageBytes``, between two characters, with a mark where it was cut.
  package var cutToMessage: String {
    guard utf8.count > Limits.messageBytes else { return self }
    let mark = " …"
    var end = utf8.index(startIndex, offsetBy: Limits.messageBytes - mark.utf8.count)
    while end > startIndex, String.Index(end, within: self) == nil { end = utf8.index(before: end) }
    return String(self[..<end]) + mark
  }
}
