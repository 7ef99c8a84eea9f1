import Foundation

/// The storage of jobs: the interface between the queue and a database.
///
/// Each call is one transaction: all of it takes effect or none. On return, it is durable to the degree that the store
/// promises. A store may commit several waiting calls together, as long as an error of one does not affect the others.
///
/// No call carries the current time: times are relative, and become dates by the store's own clock, in whole
/// milliseconds. The clock may be set back: if it steps back by more than a second, waiting jobs are moved with it, so
/// that their remaining wait stays the same; a time that was given as a date stays where it is. After each commit, once
/// it is durable, the store posts what changed to ``signals``; commits of other processes arrive there too. Signals may
/// be merged and may be lost: they only wake those who wait, and correctness never depends on them.
///
/// Names of queues and kinds, keys, unique keys and tags compare as Swift strings do: by canonical equivalence, so that
/// both encodings of `é` are equal. A database that compares bytes must normalize them.
///
/// The rules of one job are those of ``JobCourse``. Those between jobs (keys, lanes, edges, batches, limits) are written
/// once, for the stores of this package, and are not public: a store from outside has to implement them, too. For one
/// of a few lines use a ``SnapshotProvider``. `DurableJobsTesting` has a conformance suite that tests any store.
public protocol JobStore: AnyObject, Sendable {
  /// Stores new jobs and gives them ascending ids, in the given order. A job whose unique key is held by an unfinished
  /// job, or by an earlier one of this insertion, is not stored by default: the reply names the holder. A batch that
  /// the jobs join must not be done.
  func insert(_ insertion: JobInsertion) async throws -> InsertionReply

  /// Claims ready jobs and grants the worker its lease. Scheduled jobs that are due count as ready. A job past its
  /// deadline is failed instead. Queue limits hold for all workers that claim at the same time; jobs that a limit holds
  /// back do not count for ``ClaimBatch/hasMore``.
  func claim(_ request: ClaimRequest) async throws -> ClaimBatch

  /// Extends the worker's lease, and stores progress and step results under claims that still hold. The renewals are
  /// all claims that the worker holds, unless the request says otherwise: any other claim of it is given back. Returns
  /// one standing for each renewal, in order. Step results are kept until the job has succeeded or is deleted.
  func renew(_ request: RenewalRequest) async throws -> [ClaimStanding]

  /// Ends attempts whose claims still hold, then claims in the same transaction if asked to. One reply per settlement,
  /// in order. Repeating a settlement under the claim that ended the job is accepted and changes nothing. Follow-ups of
  /// successes are stored before the claim; if one can't be stored, the whole call is refused.
  func settle(_ settlements: [ClaimSettlement], thenClaim: ClaimRequest?) async throws -> SettlementBatch

  /// Does one bounded round of maintenance: recovers jobs of dead workers and lapsed leases, makes due jobs ready,
  /// fails jobs past their deadline, deletes finished jobs past their retention. May be called by anyone at any time.
  ///
  /// A lapsed lease is first put in doubt: the store posts ``ForeignChange/doubt``, sets ``RecoveryReport/comeAgain``,
  /// and takes the jobs only if the worker has neither renewed nor claimed ``StorePolicy/doubtInterval`` later,
  /// measured by ``JobClock/uptime``, and where it could not be told, ``Defaults/renewalInterval`` more. A worker that
  /// holds nothing is removed at once.
  func recover(_ request: RecoveryRequest) async throws -> RecoveryReport

  /// Applies a change from outside to at most `limit` matching jobs with ids greater than `after`, in ascending order.
  func change(_ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int) async throws -> ChangeReport

  /// Stores settings that hold for every process until they are set again.
  func configure(_ settings: [StoreSetting]) async throws

  /// The current jobs, consistent within the call.
  func jobs(_ query: JobQuery) async throws -> [JobSnapshot]

  /// The number of jobs in each state.
  func counts(where filter: JobFilter) async throws -> JobCounts

  /// What is left to do in `scope`; see ``OutstandingWork``. A scheduled job that is due counts as ready. A worker is
  /// living until its lease lapses, and can serve what its last claim said.
  func outstanding(_ scope: WorkScope) async throws -> OutstandingWork

  /// When the queue's earliest scheduled job is due; nil if there is none. By default, reads all of them.
  func nextDue(in queue: String) async throws -> Date?

  func settings() async throws -> [StoreSetting]

  /// The current batches, newest first. Counts change in the transaction that changes the jobs, and the job that
  /// follows a batch is stored in the transaction in which its last job ends. A batch is kept as long as one of its
  /// jobs is; one that was done without jobs, as long as a job that succeeded.
  func batches(_ query: BatchQuery) async throws -> [BatchSnapshot]

  var signals: StoreSignals { get }

  /// The clock that defines the store's current time and runs its timers.
  var clock: any JobClock { get }

  /// Gives back what workers of this process are running, stops the store's own work, and closes its database. Later
  /// calls throw ``JobError/Code/closed``. The default implementation does nothing.
  func close() async

  /// The absolute path of the store's file, with symbolic links resolved. Nil, the default, for a store without one.
  var path: String? { get }
}

extension JobStore {
  /// `limit`, capped at what one transaction should hold. Throws ``JobError/Code/invalidArgument`` below 1.
  @discardableResult
  package func checked(limit: Int) throws -> Int {
    try require(limit >= 1, "limit is \(limit); it must be at least 1")
    return min(limit, 1_000_000)
  }

  package func check(_ query: BatchQuery) throws { if case .newest(let limit) = query { try checked(limit: limit) } }

  public var path: String? { nil }

  public func close() async {}

  public func nextDue(in queue: String) async throws -> Date? {
    try await jobs(JobQuery(.queue(queue) && .state(.scheduled), limit: .max)).compactMap(\.runAt).min()
  }
}

/// A setting of a store.
@nonexhaustive
public enum StoreSetting: Hashable, Sendable {
  /// Whether a queue is paused. No job of a paused queue is claimed; running ones continue.
  case queue(String, isPaused: Bool)
  /// The most jobs of a lane that run at once: at least 1, the default.
  case lane(String, width: Int)
  /// The highest rate at which attempts of a lane start; nil, the default, for no limit. The lane's width must be 1.
  case laneRate(String, JobRate?)
  /// How much of a queue may run, over all workers; nil, the default, for no limit.
  case limits(queue: String, JobLimits?)
  /// Whether a condition holds for every worker, whatever they say; nil, the default, leaves it to the workers.
  case constraint(JobConstraint, satisfied: Bool?)

  /// Throws ``JobError/Code/invalidArgument`` for what no store accepts.
  package func check() throws {
    switch self {
    case .queue(let name, _): try NewJob.check(queue: name)
    case .lane(let name, let width):
      try NewJob.check(name: name, "the lane")
      try require(width >= 1, "the width of a lane is \(width); it must be at least 1")
    case .laneRate(let name, let rate):
      try NewJob.check(name: name, "the lane")
      try rate?.check()
    case .limits(let name, let limits):
      try NewJob.check(queue: name)
      try limits?.check()
    case .constraint(let constraint, _): try NewJob.check(name: constraint.rawValue, "the constraint")
    }
  }
}
