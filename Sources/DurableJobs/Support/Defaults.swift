/// Every default of the queue, in one place.
public enum Defaults {
  /// Jobs that a worker runs at once.
  public static let concurrency = 4
  /// Attempts before a job is failed.
  public static let maxAttempts = 10
  /// The first back-off; each later one is `backOffFactor` times longer, up to `backOffCap`, and half of it is random.
  public static let backOffBase = Duration.seconds(1)
  public static let backOffFactor = 3.0
  public static let backOffCap = Duration.seconds(6 * 3600)
  /// A snooze for less waits this long: a handler that looks again and again leaves others their turn.
  public static let leastSnooze = Duration.milliseconds(100)
  /// Process deaths in a row that a job survives, and in all. See ``JobCourse/crash(now:policy:random:)``.
  public static let maxCrashesInRow = 10
  public static let maxCrashes = 50
  /// A claim is lost this long after its worker's last sign of life, once somebody asks.
  public static let lease = Duration.seconds(30)
  /// How often a worker that holds claims renews its lease.
  public static let renewalInterval = Duration.seconds(10)
  /// How long running jobs may go on after a stop was asked for, before they are interrupted.
  public static let grace = Duration.seconds(10)
  /// How often a running worker looks by itself, should every signal have been lost.
  public static let sweepInterval = Duration.seconds(15)
  /// How long a worker whose lease lapsed, but whose process lives, is given to answer before its jobs are taken.
  public static let doubtInterval = Duration.seconds(3)
  /// How long finished jobs are kept.
  public static let retention = Duration.seconds(24 * 3600)
  public static let failedRetention = Duration.seconds(30 * 24 * 3600)
  /// The least time between two writes of a running job's progress.
  public static let progressInterval = Duration.milliseconds(500)
  /// How long a write waits for another process before it is refused with ``JobError/Code/locked``.
  public static let busyTimeout = Duration.seconds(5)
}

/// What is refused, or cut, because it is too large. In bytes of UTF-8 where it is text.
public enum Limits {
  /// A payload, or an output. Refused beyond.
  public static let payloadBytes = 64 * 1024 * 1024
  /// An error text, a reason or a progress message. Cut beyond.
  public static let messageBytes = 8 * 1024
  /// A key, a tag, the name of a queue or of a kind. Refused beyond.
  public static let nameBytes = 512
  /// Failed attempts that are kept of a job, the newest.
  public static let failuresKept = 10
  /// Parts of a filter, operators counted, and how deep they are nested. Refused beyond: SQLite takes no more.
  public static let filterParts = 500
  public static let filterDepth = 20
}

extension String {
  /// At most ``Limits/messageBytes`` of this text, cut between two characters, with a mark where it was cut.
  package var cutToMessage: String {
    guard utf8.count > Limits.messageBytes else { return self }
    let mark = " …"
    var end = utf8.index(startIndex, offsetBy: Limits.messageBytes - mark.utf8.count)
    while end > startIndex, String.Index(end, within: self) == nil { end = utf8.index(before: end) }
    return String(self[..<end]) + mark
  }
}
