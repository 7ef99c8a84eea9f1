import Foundation

/// Identifies a worker to its store for as long as the worker exists.
public struct WorkerID: Hashable, Sendable, CustomStringConvertible {
  public let name: String

  public init(_ name: String) { self.name = name }
  public var description: String { name }
}

/// A worker's request for jobs, stating what it serves.
public struct ClaimRequest: Sendable {
  public var worker: WorkerID
  /// The queues and kinds that the worker serves for as long as it lives, whether or not it has room.
  public var queues: Set<String>
  public var kinds: Set<String>
  /// Conditions that the worker says hold, and those that it monitors and that do not hold. Settings made by hand take
  /// precedence over both. Jobs that require any other condition are never read.
  public var satisfied: Set<JobConstraint>
  public var absent: Set<JobConstraint>
  /// The number of free slots by queue. A queue that the worker serves and that is missing here is full.
  public var free: [String: Int]
  /// How long the worker counts as alive after its last claim or renewal.
  public var lease: Duration
  /// The only job to claim, if set.
  public var only: JobID?
  /// Queues in which a limit leaves no room, rather than the worker.
  package var limited: Set<String> = []
  package typealias Join = (results: [ClaimSettlement], free: [String: Int])
  /// What ended since the request was made, and the slots that this freed: a store may do it in the same transaction,
  /// and append the replies. The worker takes each result as offered by then.
  package var join: (@Sendable () -> Join?)?

  /// `queues` defaults to those in `free`.
  public init(
    worker: WorkerID, queues: Set<String>? = nil, kinds: Set<String>, satisfied: Set<JobConstraint> = [],
    absent: Set<JobConstraint> = [], free: [String: Int], lease: Duration = Defaults.lease
  ) {
    self.worker = worker
    self.queues = queues ?? Set(free.keys)
    (self.kinds, self.satisfied, self.absent, self.free, self.lease) = (kinds, satisfied, absent, free, lease)
  }
}

public struct ClaimBatch: Sendable {
  /// The claimed jobs, by priority, then by id; no more than requested.
  public var jobs: [ClaimedJob]
  /// Whether this worker might have got more jobs with more free slots.
  public var hasMore: Bool
  /// Time until the next scheduled job for this worker is due, or until a rate lets the next ready one start.
  public var nextDue: Duration?
  /// Queues at their limit of running jobs: when one of those ends, there may be more for this worker.
  public var full: Set<String> = []

  public init(jobs: [ClaimedJob] = [], hasMore: Bool = false, nextDue: Duration? = nil) {
    (self.jobs, self.hasMore, self.nextDue) = (jobs, hasMore, nextDue)
  }
}

/// A claimed job, with the token that allows reporting on it.
public struct ClaimedJob: Sendable {
  public var token: ClaimToken
  public var queue: String
  public var kind: String
  public var payload: Data
  /// The attempt's number, starting at 1.
  public var attempt: Int
  public var maxAttempts: Int
  public var timeout: Duration?
  /// When to give up on the job if it has not ended by then.
  public var deadline: Date?
  public var requires: Set<JobConstraint>
  public var whenLost: JobConstraint.Loss
  /// The job's ``JobTerms/key``.
  public var key: String?
  /// When the job was stored.
  public var createdAt: Date?
  /// The batch that the job is in, or whose `whenDone` it is.
  public var batch: BatchID?
  /// The results of steps that earlier attempts finished, by name.
  public var steps: [String: Data]
  /// How the jobs ended that this one waited for, by ``JobEdge/slot``.
  public var inputs: [Int: JobEnd]
}

extension ClaimedJob {
  public init(
    token: ClaimToken, queue: String, kind: String, payload: Data, attempt: Int, maxAttempts: Int,
    timeout: Duration? = nil, deadline: Date? = nil, requires: Set<JobConstraint> = [],
    whenLost: JobConstraint.Loss = .goesOn, key: String? = nil, createdAt: Date? = nil, batch: BatchID? = nil,
    inputs: [Int: JobEnd] = [:], steps: [String: Data] = [:]
  ) {
    self.init(
      token: token, queue: queue, kind: kind, payload: payload, attempt: attempt, maxAttempts: maxAttempts,
      timeout: timeout, deadline: deadline, requires: requires, whenLost: whenLost, key: key, createdAt: createdAt,
      batch: batch, steps: steps, inputs: inputs)
  }
}

/// Identifies one claim of one job. Never reused by any worker.
public struct ClaimToken: Hashable, Sendable {
  public var job: JobID
  public var claim: Int64

  public init(job: JobID, claim: Int64) { (self.job, self.claim) = (job, claim) }
}

/// A worker's renewal of its lease, listing the claims that it holds.
public struct RenewalRequest: Sendable {
  public var worker: WorkerID
  public var lease: Duration
  /// Every claim that the worker holds. A job running under any other claim of this worker becomes ready again, as
  /// interrupted: the reply to that claim was lost.
  public var renewals: [ClaimRenewal]
  /// The list is incomplete: no claim is given back for being absent from it.
  public var isPartial: Bool

  public init(worker: WorkerID, lease: Duration = Defaults.lease, renewals: [ClaimRenewal], isPartial: Bool = false) {
    (self.worker, self.lease, self.renewals, self.isPartial) = (worker, lease, renewals, isPartial)
  }
}

public struct ClaimRenewal: Hashable, Sendable {
  public var token: ClaimToken
  /// Progress to store, if there is any news.
  public var progress: JobProgress?
  /// The results of steps that finished since the last renewal, by name. They count as progress.
  public var steps: [String: Data]

  public init(token: ClaimToken, progress: JobProgress? = nil, steps: [String: Data] = [:]) {
    (self.token, self.progress, self.steps) = (token, progress, steps)
  }
}

/// The state of a claim, as reported to the worker when it renews.
public enum ClaimStanding: Hashable, Sendable {
  /// It holds, or the job's end was stored under it.
  case held
  /// The job was recovered by another process, or ended from outside.
  case lost
  /// The claim is held, but the job was asked to stop.
  case stopRequested(StopReason)
}

/// A worker's report of how an attempt ended.
public struct ClaimSettlement: Hashable, Sendable {
  public enum Result: Hashable, Sendable {
    case succeeded(output: Data?)
    /// The attempt failed. The job runs again at that time if it has attempts left. A back-off ends early when a
    /// condition that the job requires returns; a time that was set explicitly does not.
    case retry(JobTime, message: String, isBackOff: Bool = true)
    /// The job failed permanently.
    case failed(message: String)
    /// Runs again later without using an attempt, after at least ``Defaults/leastSnooze``.
    case snoozed(JobTime, isBackOff: Bool = false)
    /// Suspended without using an attempt.
    case suspended(reason: String, by: JobHold = .handler)
    /// Ready again at once without using an attempt: the worker is stopping.
    case interrupted
    /// The process that ran the job for the worker died, but the worker lives. Counts as a crash.
    case crashed
  }

  public var token: ClaimToken
  public var result: Result
  /// The code of the error that failed the attempt: see ``AttemptFailure/code``.
  public var code: String?
  /// The latest progress, if it has not been stored.
  public var progress: JobProgress?
  /// Jobs to store with a success, unless it is refused or a repetition. A sibling edge counts from the first of these.
  public var followUps: [NewJob]

  public init(
    token: ClaimToken, result: Result, code: String? = nil, progress: JobProgress? = nil, followUps: [NewJob] = []
  ) { (self.token, self.result, self.code, self.progress, self.followUps) = (token, result, code, progress, followUps) }
}

/// Why a result was not stored in the time of a call: the store is at it, and has it when it is offered again, or failed.
package enum ResultUnderWay: Error { case goesOn, failed }

public struct SettlementReply: Hashable, Sendable {
  /// False if the claim was lost, in which case nothing changed.
  public var isAccepted: Bool
  /// The job's state after the whole call; nil if the job no longer exists.
  public var state: JobState?

  public init(isAccepted: Bool, state: JobState?) { (self.isAccepted, self.state) = (isAccepted, state) }
}

public struct SettlementBatch: Sendable {
  public var replies: [SettlementReply]
  /// Present if the call included a claim.
  public var claimed: ClaimBatch?

  public init(replies: [SettlementReply], claimed: ClaimBatch? = nil) {
    (self.replies, self.claimed) = (replies, claimed)
  }
}
