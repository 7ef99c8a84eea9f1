import Foundation

/// A key that says which jobs of a store mean the same work, whatever their queue and kind.
///
///     try await queue.enqueue(Sync(account: 7), options: .init(unique: "sync-7"))
///     try await queue.enqueue(Save(draft), options: .init(unique: UniqueKey("draft-3", policy: .replace)))
///
/// A job has its key from the moment it is stored until it has ended or is removed: also while it waits, is suspended, or
/// still runs after a cancel was asked for; and longer, if its ``scope`` says so. The store takes and releases keys in the
/// transaction of what happens to the job, so that of any number of callers, in any processes, one is the first and the
/// others meet its job.
public struct UniqueKey: Hashable, Codable, Sendable, ExpressibleByStringInterpolation {
  /// What becomes of a job whose key another has.
  @nonexhaustive
  public enum Policy: String, Hashable, Codable, Sendable {
    /// It is not stored: the one that has the key stands for it, as it is.
    case keep
    /// It takes the place of those that have the key. They are cancelled, with what needs them; if one of them runs, it is
    /// asked to stop, and the new one waits until it has ended.
    case replace
    /// It runs after the newest that has the key, if that succeeds, and has the key with it; else it is skipped.
    case append
  }

  /// How long a job has its key, once it is stored.
  @nonexhaustive
  public enum Scope: Hashable, Codable, Sendable {
    case whileUnfinished
    /// While it is unfinished, and if it succeeds at least so long from when it was stored. It is kept that long too,
    /// whatever the retention of its store.
    case within(Duration)
    /// However it ends, until it is removed or past the retention of its store.
    case whileStored
  }

  /// 1 to ``Limits/nameBytes`` bytes of UTF-8.
  public var key: String
  public var policy: Policy
  public var scope: Scope

  public init(_ key: String, policy: Policy = .keep, scope: Scope = .whileUnfinished) {
    self.key = key
    self.policy = policy
    self.scope = scope
  }

  public init(stringLiteral key: String) { self.init(key) }
}

/// A job's unique key as a store has it.
package struct KeyHold: Sendable {
  package let key: String
  /// The job has it till then though it ends, in milliseconds since 1970; ``stored`` is as long as the job is there.
  package let until: Int64?

  package static let stored = Int64.max

  package init(key: String, until: Int64?) {
    self.key = key
    self.until = until
  }

  package init(_ unique: UniqueKey, storedAt now: Int64) {
    key = unique.key
    switch unique.scope {
    case .whileUnfinished: until = nil
    case .within(let length): until = JobTime.after(length).date(at: Date(milliseconds: now))?.milliseconds
    case .whileStored: until = Self.stored
    }
  }

  package func isHeld(in state: JobState, at now: Int64) -> Bool {
    guard state.isFinished, let until else { return !state.isFinished }
    return until == Self.stored || state == .succeeded && now < until
  }

  /// Whether a job that has ended is kept for it, whatever its retention.
  package func keepsJob(in state: JobState, at now: Int64) -> Bool {
    until != Self.stored && isHeld(in: state, at: now)
  }
}
