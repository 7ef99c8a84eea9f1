import Foundation

/// What may keep a job from running: the data of a ``JobExplanation``, bounded however many jobs wait in the store.
public struct JobWaits: Hashable, Sendable {
  /// A dependency that has not been met yet.
  public struct Need: Hashable, Sendable {
    /// A job, or a key that no job has had yet.
    public var target: JobEdge.Target
    public var condition: JobEdge.Condition
    /// The state of that job; nil for a key.
    public var state: JobState?
    /// Whether the two share a unique key: this job was appended to that one, or replaces it.
    public var hasUniqueKey: Bool

    public init(
      _ target: JobEdge.Target, _ condition: JobEdge.Condition = .succeeded, state: JobState? = nil,
      hasUniqueKey: Bool = false
    ) {
      (self.target, self.condition, self.state, self.hasUniqueKey) = (target, condition, state, hasUniqueKey)
    }

    package var edge: JobEdge { JobEdge(target, condition) }
  }

  /// The job that must leave a lane first.
  public struct LaneHead: Hashable, Sendable {
    public var job: JobID
    public var state: JobState
    /// It failed, and has this one's unique key. Only told by explanations.
    package var hasUniqueKey = false

    public init(job: JobID, state: JobState) { (self.job, self.state) = (job, state) }
  }

  /// How close a queue is to its limits, or a lane to its rate.
  public struct Limit: Hashable, Sendable {
    public var limits: JobLimits
    /// The queue's running jobs, counted up to the limit.
    public var running: Int
    /// When the rate allows the next start; nil if there is no rate.
    public var next: Date?

    public init(_ limits: JobLimits, running: Int = 0, next: Date? = nil) {
      (self.limits, self.running, self.next) = (limits, running, next)
    }

    package init(_ limit: QueueLimit) {
      self.init(limit.limits, running: limit.running, next: limit.next.map(Date.init(milliseconds:)))
    }
  }

  /// The most needs that are listed for a job.
  public static let mostNeeds = 100

  /// The store's current time.
  public var now: Date
  /// Unmet dependencies: jobs by id, then keys; at most ``mostNeeds``.
  public var needs: [Need] = []
  /// The job's unique key, if a job that it needs shares it.
  public var uniqueKey: String?
  /// If the job waits for its lane: the first failed job that has a seat there, else the first job with a seat.
  public var laneHead: LaneHead?
  /// Whether the queue is paused.
  public var isPaused = false
  /// The queue's limits, if it has any.
  public var limit: Limit?
  /// The lane's rate, if it has one.
  public var laneLimit: Limit?
  /// Conditions set by hand for all workers.
  public var setByHand: [JobConstraint: Bool] = [:]
  /// The workers on the store, oldest first.
  public var workers: [StoredWorker] = []

  public init(now: Date) { self.now = now }
}

/// A worker as its store knows it, and whether it is alive.
public struct StoredWorker: Hashable, Sendable {
  public enum Standing: String, Hashable, Sendable {
    case alive
    /// The process exists, but the lease has lapsed: the process is stopped or hangs.
    case silent
    /// The process has ended. The next recovery gives its jobs back.
    case dead
  }

  /// The process id.
  public var process: Int64
  public var since: Date
  public var queues: Set<String>
  public var kinds: Set<String>
  /// The monitored conditions that hold for the worker, and those that do not.
  public var satisfied: Set<JobConstraint>
  public var absent: Set<JobConstraint>
  /// The jobs that run under the worker's claims.
  public var jobs: Set<JobID>
  public var standing: Standing

  public init(
    process: Int64, since: Date, queues: Set<String>, kinds: Set<String>, satisfied: Set<JobConstraint> = [],
    absent: Set<JobConstraint> = [], jobs: Set<JobID> = [], standing: Standing
  ) {
    (self.process, self.since, self.queues, self.kinds) = (process, since, queues, kinds)
    (self.satisfied, self.absent, self.jobs, self.standing) = (satisfied, absent, jobs, standing)
  }
}
