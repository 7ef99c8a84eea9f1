import Foundation

/// What keeps jobs: the seam between the queue and a database.
///
/// Each call is one transaction: all of it holds, or nothing does. When it returns, it is durable as the store promises.
/// A store may put calls that wait into one commit, as long as one caller's error is nobody else's.
///
/// No call carries a clock: times are relative, and become dates by the store's own, in whole milliseconds. A clock may be
/// set back: when it goes back by more than a second, jobs that wait are moved with it, so that what is left of their wait
/// is left; a time that was told as a date stays where it is. After each commit, once it is
/// durable, the store posts what changed to ``signals``; commits of other processes arrive there too. Signals may merge
/// and may be lost: they wake who waits, and no correctness rests on them.
///
/// Names of queues and kinds, keys, unique keys and tags are equal where Swift says so of strings: also if their letters are
/// composed of other bytes, as `é` may be. A database that compares bytes keeps them in one form.
///
/// The rules are ``JobCourse``'s. `DurableJobsTesting` has a conformance suite that holds a store against them.
public protocol JobStore: AnyObject, Sendable {
  /// Stores new jobs and gives them ascending ids, in their order. One whose unique key an unfinished job of the
  /// store has, or one before it in the insertion, is not stored: that one stands for it.
  /// A batch that they are to join must not be done.
  func insert(_ insertion: JobInsertion) async throws -> InsertionReply

  /// Takes ready jobs to run them, and grants the worker its lease. Scheduled jobs whose time has come count as ready. One
  /// whose deadline has passed is given up instead. Of a queue with limits no more begin than those allow, whoever claims
  /// at the same time; what they keep is no reason to say that there is more.
  func claim(_ request: ClaimRequest) async throws -> ClaimBatch

  /// Extends the worker's lease and stores progress and what steps gave, under claims that still hold. The renewals are all
  /// that the worker holds, unless the request says otherwise: what else it claimed goes back. One standing for each
  /// renewal, in their order. What steps gave is kept until the job has succeeded or is deleted.
  func renew(_ request: RenewalRequest) async throws -> [ClaimStanding]

  /// Ends attempts, under claims that still hold, and then claims in the same transaction if asked to. One reply for each
  /// settlement, in their order. One that is repeated under the claim that ended the job is accepted, and changes nothing.
  /// Follow-ups of those that succeeded are stored before the claim; one that can't be stored refuses the whole call.
  func settle(_ settlements: [ClaimSettlement], thenClaim: ClaimRequest?) async throws -> SettlementBatch

  /// One bounded bite of what time demands: jobs of dead workers and of lapsed leases go back, due jobs become ready,
  /// jobs past their deadline are given up, finished jobs past their retention are deleted. Anybody may call it at any time.
  ///
  /// A lease that lapsed is first doubted: the store posts ``ForeignChange/doubt``, answers with
  /// ``RecoveryReport/comeAgain``, and takes the jobs only if the worker has not renewed or claimed
  /// ``StorePolicy/doubtInterval`` later, by ``JobClock/uptime``. A worker that holds nothing is dropped at once.
  func recover(_ request: RecoveryRequest) async throws -> RecoveryReport

  /// What a person does to jobs, or a callback from outside: to at most `limit` jobs with ids after `after`, the lowest
  /// first.
  func change(_ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int) async throws -> ChangeReport

  /// Settings that hold for every process, until they are set again.
  func configure(_ settings: [StoreSetting]) async throws

  /// Jobs as they are now, consistent within the call.
  func jobs(_ query: JobQuery) async throws -> [JobSnapshot]

  /// How many jobs there are in each state.
  func counts(where filter: JobFilter) async throws -> JobCounts

  /// What is still to be done for `scope`; see ``OutstandingWork``. A scheduled job that is due counts as ready. A worker
  /// is living while its lease has not lapsed, and can serve what it said with its last claim.
  func outstanding(_ scope: WorkScope) async throws -> OutstandingWork

  /// When the earliest scheduled job of the queue is due; nil if none is scheduled. By default by reading them all.
  func nextDue(in queue: String) async throws -> Date?

  func settings() async throws -> [StoreSetting]

  /// Batches as they are now, the newest first. A batch is counted in the transaction of what
  /// happens to its jobs, and in that in which the last of them ends, the job that follows it is stored. It is kept as long
  /// as one of its jobs is, and one that was done without jobs as long as a job that succeeded.
  func batches(_ query: BatchQuery) async throws -> [BatchSnapshot]

  var signals: StoreSignals { get }

  /// The time that this store takes as now, and the timers that go with it.
  var clock: any JobClock { get }

  /// Gives back what its workers of this process run, ends what the store does by itself, and lets go of its database. Calls
  /// that come later throw ``JobError/Code/closed``. By default there is nothing to close.
  func close() async

  /// The file that the store is in, as an absolute path without symbolic links, for what is kept beside it. Nil, the
  /// default, for a store that is in no file.
  var path: String? { get }
}

extension JobStore {
  /// That number of jobs, or what one transaction should hold if that is less. Throws ``JobError/Code/invalidArgument`` below 1.
  @discardableResult
  package func checked(limit: Int) throws -> Int {
    guard limit >= 1 else { throw JobError(.invalidArgument, "limit is \(limit); it must be at least 1") }
    return min(limit, 1_000_000)
  }
  public var path: String? { nil }

  public func close() async {}

  public func nextDue(in queue: String) async throws -> Date? {
    try await jobs(JobQuery(.queue(queue) && .state(.scheduled), limit: .max)).compactMap(\.runAt).min()
  }
}

/// A setting of a store.
@nonexhaustive
public enum StoreSetting: Hashable, Sendable {
  /// No job of a paused queue is claimed. Those that run go on.
  case queue(String, isPaused: Bool)
  /// So many jobs of a lane run at once, at least 1, which is the default.
  case lane(String, width: Int)
  /// So often an attempt of a lane begins at most; nil for any number, which is the default. Its width must be 1.
  case laneRate(String, JobRate?)
  /// What a queue lets run, over all workers; nil for as much as they like, which is the default.
  case limits(queue: String, JobLimits?)
  /// The condition holds for every worker, or for none, whatever they say; nil leaves it to them, which is the default.
  case constraint(JobConstraint, satisfied: Bool?)
}

extension StoreSetting {
  /// Throws ``JobError/Code/invalidArgument`` for what no store could keep.
  package func check() throws {
    switch self {
    case .queue(let name, _): try NewJob.check(queue: name)
    case .lane(let name, let width):
      try NewJob.check(name: name, "the lane")
      guard width >= 1 else {
        throw JobError(.invalidArgument, "the width of a lane is \(width); it must be at least 1")
      }
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
