/// A query for a page of jobs, ordered by id.
public struct JobQuery: Hashable, Sendable {
  public struct Detail: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let payload = Detail(rawValue: 1)
    public static let output = Detail(rawValue: 2)
    public static let failures = Detail(rawValue: 4)
    /// What each job waits or waited for.
    public static let edges = Detail(rawValue: 8)
    /// The names of finished steps.
    public static let steps = Detail(rawValue: 16)
    /// What keeps each job from running: ``JobSnapshot/waits``. Not part of ``all``.
    public static let waits = Detail(rawValue: 32)
    public static let all: Detail = [.payload, .output, .failures, .edges, .steps]
  }

  public enum Order: Hashable, Sendable { case oldestFirst, newestFirst }

  public var filter: JobFilter
  /// What to read in addition to what every snapshot has.
  public var detail: Detail
  public var order: Order
  /// The last id of the previous page, in `order`.
  public var after: JobID?
  public var limit: Int

  public init(
    _ filter: JobFilter = .all, detail: Detail = [], order: Order = .oldestFirst, after: JobID? = nil,
    limit: Int = 100
  ) {
    (self.filter, self.detail, self.order) = (filter, detail, order)
    (self.after, self.limit) = (after, limit)
  }
}

/// Which work to ask about.
public enum WorkScope: Hashable, Sendable {
  /// What a worker with these queues, kinds and satisfied conditions can serve.
  case worker(queues: Set<String>, kinds: Set<String>, satisfied: Set<JobConstraint> = [])
  /// What any living worker can serve of this queue, including these, which the store may not know yet.
  case queue(String, and: [WorkerReach] = [])
}

/// What a worker can serve of its queues.
public struct WorkerReach: Hashable, Sendable {
  public var kinds: Set<String>
  /// The conditions that hold for the worker, apart from settings made by hand.
  public var satisfied: Set<JobConstraint>

  public init(kinds: Set<String>, satisfied: Set<JobConstraint> = []) {
    (self.kinds, self.satisfied) = (kinds, satisfied)
  }
}

/// What keeps a scope from being idle.
///
/// A scope is idle when no job that can be served is ready or running, none that was claimed before waits for its next
/// attempt, and none waits for the rate of its lane. Not counted: first starts in the future, suspended and paused jobs,
/// kinds that no worker knows, and jobs that require a condition that does not hold.
public struct OutstandingWork: Hashable, Sendable {
  /// How many jobs that can be served are ready or running.
  public var active: Int
  /// Whether any job that can be served was claimed before and waits for its next attempt, or for its lane's rate.
  public var isReturning: Bool
  /// All unfinished jobs in the scope's queues, whether or not they can be served.
  public var left: JobCounts

  public var isIdle: Bool { active == 0 && !isReturning }

  public init(active: Int, isReturning: Bool, left: JobCounts) {
    (self.active, self.isReturning, self.left) = (active, isReturning, left)
  }
}

extension Array {
  /// All of it in order, at most so many in one piece.
  package func pages(of count: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
  }
}
