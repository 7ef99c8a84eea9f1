/// Jobs that run one at a time in the order in which they were enqueued, even across retries. Other lanes go on.
///
/// A job takes its place in a lane such as `"chat-7"` when it is stored. It keeps its place while it waits for a time,
/// for other jobs or to be resumed, and the jobs behind it wait too.
public struct JobLane: Hashable, Codable, Sendable, ExpressibleByStringInterpolation {
  /// What happens to a lane when its first job fails.
  public enum FailedHead: String, Hashable, Codable, Sendable {
    /// The others wait until that job is retried and ends in another way, or is removed. Only a job that runs after its
    /// failure, such as a `catch` in the same lane, may take its place.
    case holds
    case letsNextRun
  }

  /// The lane's name, at most ``Limits/nameBytes``.
  public var name: String
  public var failedHead: FailedHead

  public init(_ name: String, failedHead: FailedHead = .holds) { (self.name, self.failedHead) = (name, failedHead) }

  public init(stringLiteral name: String) { self.init(name) }
}
