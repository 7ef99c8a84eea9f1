import Foundation

/// Names a worker to its store, for as long as the worker lives.
public struct WorkerID: Hashable, Sendable, CustomStringConvertible {
  public let name: String

  public init(_ name: String) { self.name = name }
  public var description: String { name }
}

/// A worker says what it serves, and asks for jobs.
public struct ClaimRequest: Sendable {
  public var worker: WorkerID
  /// What it serves, while it lives: jobs of these kinds in these queues, and no others.
  public var queues: Set<String>
  public var kinds: Set<String>
  /// What holds for this worker by what it knows itself, and what it provides and does not hold. What was set by hand goes
  /// before both. Jobs that require anything else are never looked at.
  public var satisfied: Set<JobConstraint>
  public var absent: Set<JobConstraint>
  /// How many it has room for now, by queue. A queue that it serves and that is not here is full.
  public var free: [String: Int]
  /// How long the worker is believed to live without a sign of life.
  public var lease: Duration
  /// The one job that it wants, if it wants no other.
  public var only: JobID?
  /// Queues in which a limit, and not the worker, has no room for more.
  package var limited: Set<String> = []

  /// `queues`, if it is not given, are those in `free`.
  public init(
    worker: WorkerID, queues: Set<String>? = nil, kinds: Set<String>, satisfied: Set<JobConstraint> = [],
    absent: Set<JobConstraint> = [], free: [String: Int], lease: Duration = Defaults.lease
  ) {
    self.worker = worker
    self.queues = queues ?? Set(free.keys)
    self.kinds = kinds
    self.satisfied = satisfied
    self.absent = absent
    self.free = free
    self.lease = lease
  }
}

public struct ClaimBatch: Sendable {
  /// By priority, then by id. At most what was asked for.
  public var jobs: [ClaimedJob]
  /// There may be more that this worker could have had, had its capacity been larger.
  public var hasMore: Bool
  /// Until the next scheduled job that this worker could run is due, or a rate lets the next ready one begin.
  public var nextDue: Duration?
  /// Queues of which so many jobs run as their limits allow: when one of those ends, there may be more for this worker.
  public var full: Set<String> = []

  public init(jobs: [ClaimedJob] = [], hasMore: Bool = false, nextDue: Duration? = nil) {
    self.jobs = jobs
    self.hasMore = hasMore
    self.nextDue = nextDue
  }
}

/// A job, and the right to report on it.
public struct ClaimedJob: Sendable {
  public var token: ClaimToken
  public var queue: String
  public var kind: String
  public var payload: Data
  /// Which attempt this is, from 1.
  public var attempt: Int
  public var maxAttempts: Int
  public var timeout: Duration?
  /// When the job is given up if it has not ended by then.
  public var deadline: Date?
  public var requires: Set<JobConstraint>
  public var whenLost: JobConstraint.Loss
  /// Its ``JobTerms/key``.
  public var key: String?
  /// When it was stored.
  public var createdAt: Date?
  /// The batch that it is in, or whose `whenDone` it is.
  public var batch: BatchID?
  /// How those ended that it waited for, by ``JobEdge/slot``.
  public var inputs: [Int: JobEnd]
  /// What the steps gave that earlier attempts finished, by their names.
  public var steps: [String: Data]

  public init(
    token: ClaimToken, queue: String, kind: String, payload: Data, attempt: Int, maxAttempts: Int,
    timeout: Duration? = nil, requires: Set<JobConstraint> = [], whenLost: JobConstraint.Loss = .goesOn,
    inputs: [Int: JobEnd] = [:], steps: [String: Data] = [:]
  ) {
    (self.token, self.queue, self.kind, self.payload) = (token, queue, kind, payload)
    (self.attempt, self.maxAttempts, self.timeout) = (attempt, maxAttempts, timeout)
    (self.requires, self.whenLost, self.inputs, self.steps) = (requires, whenLost, inputs, steps)
  }
}

/// One claim of one job. A pair that was used once is never used again, by anyone.
public struct ClaimToken: Hashable, Sendable {
  public var job: JobID
  public var claim: Int64

  public init(job: JobID, claim: Int64) {
    self.job = job
    self.claim = claim
  }
}

/// A worker gives a sign of life, and says what it holds.
public struct RenewalRequest: Sendable {
  public var worker: WorkerID
  public var lease: Duration
  /// Every claim that the worker holds: jobs that run under another of its claims go back, as interrupted. Such are left
  /// when the answer to a claim was lost.
  public var renewals: [ClaimRenewal]
  /// These are not all: none goes back that is not among them.
  public var isPartial: Bool

  public init(
    worker: WorkerID, lease: Duration = Defaults.lease, renewals: [ClaimRenewal], isPartial: Bool = false
  ) {
    self.worker = worker
    self.lease = lease
    self.renewals = renewals
    self.isPartial = isPartial
  }
}

public struct ClaimRenewal: Hashable, Sendable {
  public var token: ClaimToken
  /// To be stored, if there is any news.
  public var progress: JobProgress?
  /// What steps gave that have finished since, by their names. That counts as progress.
  public var steps: [String: Data]

  public init(token: ClaimToken, progress: JobProgress? = nil, steps: [String: Data] = [:]) {
    self.token = token
    self.progress = progress
    self.steps = steps
  }
}

/// What a worker learns of a claim when it renews.
public enum ClaimStanding: Hashable, Sendable {
  case held
  /// Recovered by somebody, or ended from outside.
  case lost
  /// Held, and somebody wants it to stop.
  case stopRequested(StopReason)
}

/// A worker reports how an attempt ended.
public struct ClaimSettlement: Hashable, Sendable {
  public enum Result: Hashable, Sendable {
    case succeeded(output: Data?)
    /// The attempt failed, and there is to be another at that time, if the job has one left. A
    /// back-off ends sooner when what the job requires returns; a date, or another time that was named, does not.
    case retry(JobTime, message: String, isBackOff: Bool = true)
    /// The job failed, for good.
    case failed(message: String)
    /// Later, the attempt given back; not before ``Defaults/leastSnooze``.
    case snoozed(JobTime, isBackOff: Bool = false)
    /// Kept from running, the attempt given back.
    case suspended(reason: String, by: JobHold = .handler)
    /// Back at once, the attempt given back: the worker stops.
    case interrupted
    /// What ran the job for the worker died, and the worker lives: counted as the death of a process.
    case crashed
  }

  public var token: ClaimToken
  public var result: Result
  /// Of the error by which the attempt failed: see ``AttemptFailure/code``.
  public var code: String?
  /// The last news of its progress, if it was not stored yet.
  public var progress: JobProgress?
  /// Stored with a success, if it is accepted and no repetition. An edge to a sibling counts from the first of these.
  public var followUps: [NewJob]

  public init(
    token: ClaimToken, result: Result, code: String? = nil, progress: JobProgress? = nil, followUps: [NewJob] = []
  ) {
    self.token = token
    self.result = result
    self.code = code
    self.progress = progress
    self.followUps = followUps
  }
}

public struct SettlementReply: Hashable, Sendable {
  /// False if the claim was lost: then nothing changed.
  public var isAccepted: Bool
  /// The job's state after the whole call; nil if there is no such job any more.
  public var state: JobState?

  public init(isAccepted: Bool, state: JobState?) {
    self.isAccepted = isAccepted
    self.state = state
  }
}

public struct SettlementBatch: Sendable {
  public var replies: [SettlementReply]
  /// Present if a claim was asked for.
  public var claimed: ClaimBatch?

  public init(replies: [SettlementReply], claimed: ClaimBatch? = nil) {
    self.replies = replies
    self.claimed = claimed
  }
}
