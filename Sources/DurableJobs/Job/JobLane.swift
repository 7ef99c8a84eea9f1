/// Jobs of one lane run one at a time, in the order in which they were enqueued, also over retries; other lanes go on.
///
/// A job takes its place when it is stored, and keeps it while it waits for a time, for other jobs or for a person: those
/// behind it wait too. `"chat-7"` is a lane.
public struct JobLane: Hashable, Codable, Sendable, ExpressibleByStringInterpolation {
  /// What becomes of a lane whose first job failed.
  public enum FailedHead: String, Hashable, Codable, Sendable {
    /// The others wait until it is retried and ends otherwise, or is removed. Only what was to run after its end, as a
    /// `catch` in the same lane, takes its place.
    case holds
    case letsNextRun
  }

  /// At most ``Limits/nameBytes``.
  public var name: String
  public var failedHead: FailedHead

  public init(_ name: String, failedHead: FailedHead = .holds) {
    self.name = name
    self.failedHead = failedHead
  }

  public init(stringLiteral name: String) { self.init(name) }
}
