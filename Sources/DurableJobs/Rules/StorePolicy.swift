/// What a store decides on its own: how many process deaths a job survives, and how long finished jobs are kept.
public struct StorePolicy: Hashable, Sendable {
  /// Process deaths in a row, and in total, after which a job fails.
  public var maxCrashesInRow = Defaults.maxCrashesInRow
  public var maxCrashes = Defaults.maxCrashes
  /// The delay after the second death in a row and each later one. After the first, the job is ready again at once.
  public var crashBackOff = BackOff(base: .milliseconds(250), factor: 2, cap: .seconds(30))
  /// How long succeeded and cancelled jobs are kept, and how long failed and skipped ones.
  public var retention = Defaults.retention
  public var failedRetention = Defaults.failedRetention
  /// The same for jobs of these kinds. Each process that opens the store uses its own policy, so they should be alike.
  public var retentionOfKind: [String: Retention] = [:]

  /// How long jobs are kept after they have ended.
  public struct Retention: Hashable, Sendable {
    /// For jobs that succeeded or were cancelled.
    public var ended: Duration
    /// For jobs that failed, or were skipped because of that.
    public var failed: Duration

    public init(_ ended: Duration, failed: Duration) { (self.ended, self.failed) = (ended, failed) }
  }
  /// How long a worker whose lease has expired, but whose process lives, has to answer.
  public var doubtInterval = Defaults.doubtInterval

  public init() {}
}
