/// A key that at most one unfinished job of a store has at a time, whatever its queue and kind.
///
///     try await queue.enqueue(Sync(account: 7), options: .init(unique: UniqueKey("sync-7")))
///
/// A job has its key from the moment it is stored until it has ended or is removed: also while it waits, is suspended, or
/// still runs after a cancel was asked for. The store takes and releases keys in the transaction of what happens to the
/// job, so that of any number of callers, in any processes, one stores a job and the others are led to it.
public struct UniqueKey: Hashable, Codable, Sendable {
  /// What becomes of a job whose key another has.
  @nonexhaustive
  public enum Policy: String, Hashable, Codable, Sendable {
    /// It is not stored: the one that has the key stands for it, as it is.
    case keep
  }

  /// 1 to ``Limits/nameBytes`` bytes of UTF-8.
  public var key: String
  public var policy: Policy

  public init(_ key: String, policy: Policy = .keep) {
    self.key = key
    self.policy = policy
  }
}
