import Foundation

/// What stands around a job, as far as it may keep the job from running: what a ``JobExplanation`` is made from. Bounded,
/// however much waits in the store.
public struct JobWaits: Hashable, Sendable {
  /// An end of another job that has not come yet.
  public struct Need: Hashable, Sendable {
    /// A job, or a key that nobody has brought.
    public var target: JobEdge.Target
    public var condition: JobEdge.Condition
    /// Where that job stands; nil for a key.
    public var state: JobState?
    /// That job has this one's unique key: this one was appended to it, or takes its place.
    public var hasUniqueKey: Bool

    public init(
      _ target: JobEdge.Target, _ condition: JobEdge.Condition = .succeeded, state: JobState? = nil,
      hasUniqueKey: Bool = false
    ) {
      self.target = target
      self.condition = condition
      self.state = state
      self.hasUniqueKey = hasUniqueKey
    }

    package var edge: JobEdge { JobEdge(target, condition) }
  }

  /// The job that has to leave a lane first.
  public struct LaneHead: Hashable, Sendable {
    public var job: JobID
    public var state: JobState
    /// It failed, and has this one's unique key. Only told by explanations.
    package var hasUniqueKey = false

    public init(job: JobID, state: JobState) {
      self.job = job
      self.state = state
    }
  }

  /// How far a queue is at its limits, or a lane at its rate.
  public struct Limit: Hashable, Sendable {
    public var limits: JobLimits
    /// Jobs of the queue that run, counted up to the limit.
    public var running: Int
    /// When the rate lets another begin; nil if there is no rate.
    public var next: Date?

    public init(_ limits: JobLimits, running: Int = 0, next: Date? = nil) {
      (self.limits, self.running, self.next) = (limits, running, next)
    }

    package init(_ limit: QueueLimit) {
      self.init(limit.limits, running: limit.running, next: limit.next.map(Date.init(milliseconds:)))
    }
  }

  /// As many needs as are told of a job.
  public static let mostNeeds = 100

  /// The store's time.
  public var now: Date
  /// Jobs by id, then keys; at most ``mostNeeds``.
  public var needs: [Need] = []
  /// Its unique key, where a need has it too.
  public var uniqueKey: String?
  /// Of those that have a seat in its lane, if it waits for one: the first that failed, else the first.
  public var laneHead: LaneHead?
  /// Its queue is.
  public var isPaused = false
  /// Where its queue has limits.
  public var limit: Limit?
  /// Where its lane has a rate.
  public var laneLimit: Limit?
  /// What people set of conditions.
  public var setByHand: [JobConstraint: Bool] = [:]
  /// Who works on the store, the oldest first.
  public var workers: [StoredWorker] = []

  public init(now: Date) { self.now = now }
}

/// A worker as its store knows it, and whether it lives.
public struct StoredWorker: Hashable, Sendable {
  public enum Standing: String, Hashable, Sendable {
    case alive
    /// Its process is there, and its lease has lapsed: it was stopped, or hangs.
    case silent
    /// Its process has ended. Whoever recovers next gives its jobs back.
    case dead
  }

  /// The number that its system gave its process.
  public var process: Int64
  public var since: Date
  public var queues: Set<String>
  public var kinds: Set<String>
  /// What it provides: conditions that hold for it, and such as do not.
  public var satisfied: Set<JobConstraint>
  public var absent: Set<JobConstraint>
  /// The jobs that run under its claims.
  public var jobs: Set<JobID>
  public var standing: Standing

  public init(
    process: Int64, since: Date, queues: Set<String>, kinds: Set<String>, satisfied: Set<JobConstraint> = [],
    absent: Set<JobConstraint> = [], jobs: Set<JobID> = [], standing: Standing
  ) {
    self.process = process
    self.since = since
    self.queues = queues
    self.kinds = kinds
    self.satisfied = satisfied
    self.absent = absent
    self.jobs = jobs
    self.standing = standing
  }
}
