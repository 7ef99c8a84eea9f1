/// What a store decides by itself: how many process deaths a job survives, and how long finished jobs are kept.
public struct StorePolicy: Hashable, Sendable {
  /// Process deaths in a row, and in all, after which a job is failed.
  public var maxCrashesInRow = Defaults.maxCrashesInRow
  public var maxCrashes = Defaults.maxCrashes
  /// The wait after the second death in a row and each later one. After the first, the job is back at once.
  public var crashBackOff = BackOff(base: .milliseconds(250), factor: 2, cap: .seconds(30))
  /// How long succeeded, cancelled and skipped jobs are kept, and failed ones.
  public var retention = Defaults.retention
  public var failedRetention = Defaults.failedRetention
  /// How long a worker whose lease lapsed, but whose process lives, is given to answer.
  public var doubtInterval = Defaults.doubtInterval

  public init() {}
}
