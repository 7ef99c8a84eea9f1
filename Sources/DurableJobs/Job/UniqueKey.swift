import Foundation

/// A key that identifies the same work across a store, whatever the queue and kind of the job.
///
///     try await queue.enqueue(Sync(account: 7), options: .init(unique: "sync-7"))
///     try await queue.enqueue(Save(draft), options: .init(unique: UniqueKey("draft-3", policy: .replace)))
///
/// A job holds its key from when it is stored until it has ended or is removed, including while it waits, is suspended,
/// or still runs after a cancel; and longer, if its ``scope`` says so. The store takes and releases keys in the
/// transaction that changes the job, so that among any number of callers in any processes, exactly one stores the job
/// and the others get a handle to it.
public struct UniqueKey: Hashable, Codable, Sendable, ExpressibleByStringInterpolation {
  /// What happens when another job already holds the key.
  @nonexhaustive
  public enum Policy: String, Hashable, Codable, Sendable {
    /// The new job is not stored: the caller gets the job that holds the key, unchanged.
    case keep
    /// The new job replaces those that hold the key. They are cancelled, along with jobs that need them; if one of them
    /// is running, it is asked to stop, and the new job waits until it has ended.
    case replace
    /// The new job shares the key and runs after its newest holder if that succeeds; otherwise it is skipped.
    case append
  }

  /// How long a job holds its key once it is stored.
  @nonexhaustive
  public enum Scope: Hashable, Codable, Sendable {
    case whileUnfinished
    /// While the job is unfinished and, if it succeeds, for at least this long after it was stored. The job itself is
    /// kept that long too, whatever the retention of its store.
    case within(Duration)
    /// However the job ends, until it is removed or deleted by the store's retention.
    case whileStored
  }

  /// The key: 1 to ``Limits/nameBytes`` bytes of UTF-8.
  public var key: String
  public var policy: Policy
  public var scope: Scope

  /// The key belongs to the store, and not to a kind: begin it with what the job does, as in "welcome-7", so that no
  /// other kind of job about the same record holds it.
  public init(_ key: String, policy: Policy = .keep, scope: Scope = .whileUnfinished) {
    (self.key, self.policy, self.scope) = (key, policy, scope)
  }

  public init(stringLiteral key: String) { self.init(key) }
}

/// A job's unique key, as it is stored.
package struct KeyHold: Sendable {
  package let key: String
  /// When an ended job releases it, in milliseconds since 1970; ``stored`` if never, nil if at its end.
  package let until: Int64?

  package static let stored = Int64.max

  package init(key: String, until: Int64?) { (self.key, self.until) = (key, until) }

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

  /// Whether an ended job is kept for the sake of its key, whatever its retention.
  package func keepsJob(in state: JobState, at now: Int64) -> Bool {
    until != Self.stored && isHeld(in: state, at: now)
  }
}
