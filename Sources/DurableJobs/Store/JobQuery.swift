import Foundation

/// A page of jobs, by id.
public struct JobQuery: Hashable, Sendable {
  public struct Detail: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let payload = Detail(rawValue: 1)
    public static let output = Detail(rawValue: 2)
    public static let failures = Detail(rawValue: 4)
    /// What each job waits for, or waited for.
    public static let edges = Detail(rawValue: 8)
    /// The names of its steps that have finished.
    public static let steps = Detail(rawValue: 16)
    /// What keeps each job from running: ``JobSnapshot/waits``. Not in ``all``.
    public static let waits = Detail(rawValue: 32)
    public static let all: Detail = [.payload, .output, .failures, .edges, .steps]
  }

  public enum Order: Hashable, Sendable {
    case oldestFirst, newestFirst
  }

  public var filter: JobFilter
  /// What to read beside what every snapshot has.
  public var detail: Detail
  public var order: Order
  /// The last id of the page before this one, in `order`.
  public var after: JobID?
  public var limit: Int

  public init(
    _ filter: JobFilter = .all, detail: Detail = [], order: Order = .oldestFirst, after: JobID? = nil,
    limit: Int = 100
  ) {
    self.filter = filter
    self.detail = detail
    self.order = order
    self.after = after
    self.limit = limit
  }
}

/// Whose work is asked about.
public enum WorkScope: Hashable, Sendable {
  /// What a worker on these queues that knows these kinds, and for which these conditions hold, can serve.
  case worker(queues: Set<String>, kinds: Set<String>, satisfied: Set<JobConstraint> = [])
  /// What any living worker can serve of this queue, and these, of which the store may not have heard.
  case queue(String, and: [WorkerReach] = [])
}

/// What a worker can serve of its queues.
public struct WorkerReach: Hashable, Sendable {
  public var kinds: Set<String>
  /// By what it knows itself.
  public var satisfied: Set<JobConstraint>

  public init(kinds: Set<String>, satisfied: Set<JobConstraint> = []) {
    self.kinds = kinds
    self.satisfied = satisfied
  }
}

/// What keeps a scope from being idle.
///
/// Idle means: no job that can be served is ready or running, and none that was claimed before waits for its next
/// attempt. Not waited for: a first start that is ahead, what is suspended or paused, kinds that nobody knows,
/// and what requires a condition that does not hold.
public struct OutstandingWork: Hashable, Sendable {
  /// Jobs that can be served and are ready or running.
  public var active: Int
  /// Whether a job that can be served was claimed before and waits for its next attempt.
  public var isReturning: Bool
  /// All unfinished jobs of the scope's queues, whether they can be served or not.
  public var left: JobCounts

  public var isIdle: Bool { active == 0 && !isReturning }

  public init(active: Int, isReturning: Bool, left: JobCounts) {
    self.active = active
    self.isReturning = isReturning
    self.left = left
  }
}
