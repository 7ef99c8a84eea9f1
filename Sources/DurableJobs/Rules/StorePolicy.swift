/// What a store decides by itself: how many process deaths a job survives, and how long finished jobs are kept.
public struct StorePolicy: Hashable, Sendable {
  /// Process deaths in a row, and in all, after which a job is failed.
  public var maxCrashesInRow = Defaults.maxCrashesInRow
  public var maxCrashes = Defaults.maxCrashes
  /// The wait after the second death in a row and each later one. After the first, the job is back at once.
  public var crashBackOff = BackOff(base: .milliseconds(250), factor: 2, cap: .seconds(30))
  /// How long succeeded and cancelled jobs are kept, and failed and skipped ones.
  public var retention = Defaults.retention
  public var failedRetention = Defaults.failedRetention
  /// The same for jobs of these kinds. Each process that has the store open goes by its own policy: so they should be alike.
  public var retentionOfKind: [String: Retention] = [:]

  /// How long jobs are kept that have ended.
  public struct Retention: Hashable, Sendable {
    /// Those that succeeded or were cancelled.
    public var ended: Duration
    /// Those that failed, or were skipped because of that.
    public var failed: Duration

    public init(_ ended: Duration, failed: Duration) {
      self.ended = ended
      self.failed = failed
    }
  }
  /// How long a worker whose lease lapsed, but whose process lives, is given to answer.
  public var doubtInterval = Defaults.doubtInterval

  public init() {}
}
