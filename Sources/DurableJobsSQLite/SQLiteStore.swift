import DurableJobs
import Foundation
import GRDB

/// A store in a single SQLite file: the embedded default.
///
/// Everything stored is on disk when the call returns and survives a power cut: the file is written in WAL mode with
/// `synchronous=FULL` (on Apple platforms with `fullfsync`). Any number of processes on one machine may use a file at
/// the same time; keep it on a local disk. Next to it are SQLite's own `-wal` and `-shm` files, and a folder in which
/// the processes notice each other.
///
/// A second store for the same file in one process shares the first one's connections, writer and signals.
public final class SQLiteStore: JobStore {
  public struct Configuration: Sendable {
    /// How many process deaths a job survives, and how long finished jobs are kept.
    public var policy = StorePolicy()
    /// How long a write waits for other processes before it is refused with `JobError.Code.locked`. One that works through
    /// many jobs in a transaction is waited for until that has ended; one that was stopped is not.
    public var busyTimeout = Defaults.busyTimeout
    /// The clock that defines the current time.
    public var clock: any JobClock = SystemClock()
    /// How many claims a new worker's row counts as already made.
    var firstClaim: Int64 = 0

    public init() {}
  }

  private let share: SharedEngine

  /// Opens the store at `path`. If the file does not exist but its folder does, creates it, private to the user.
  ///
  /// Changes nothing if it throws: `JobError.Code.unusableFile` for a folder, a missing folder, missing permissions, or
  /// beside another file's `-wal`; `JobError.Code.readOnly`; `JobError.Code.notAStore`; `JobError.Code.damaged`;
  /// `JobError.Code.newerVersion`; `JobError.Code.locked` if another process did not release it within the busy time-out;
  /// `JobError.Code.weakDurability` if a commit might not survive a power cut.
  ///
  /// If another store of this process has the file open, that one's configuration applies.
  public convenience init(path: String, configuration: Configuration = Configuration()) throws {
    self.init(share: try SharedEngine(path: path, configuration: configuration))
  }

  /// Opens a store in an app's own database, next to the app's tables, so that jobs can be enqueued and completed in
  /// the same transaction as the app's data. See `JobQueue.enqueue(_:after:options:in:)`.
  ///
  /// The pool stays the app's: it must outlive the store, and closing the store leaves it open. All commits of the
  /// pool, including the app's own, use `synchronous=FULL` (on Apple platforms with `fullfsync`). The app's migrations
  /// are not touched; the store's tables start with `durable_`. Do not call this inside an access of the pool.
  ///
  /// Throws like ``init(path:configuration:)``, `JobError.Code.readOnly` for a read-only pool, and
  /// `JobError.Code.wrongStore` if the file is already open in this process by its path or in another pool.
  public convenience init(pool: DatabasePool, configuration: Configuration = Configuration()) throws {
    self.init(share: try SharedEngine(path: pool.path, configuration: configuration, lent: pool))
  }

  init(share: SharedEngine) { self.share = share }

  var engine: Engine { share.engine }

  /// Closes the file. When the last store of this process on it closes, workers give back their running jobs, pending
  /// calls are written, the threads end, other processes no longer see this one, and later calls are refused; waiting
  /// for a job throws `JobError.Code.closed`. Releasing a store closes it too.
  public func close() async { await share.close() }

  /// Releases all transactions and locks on the file, except for SQLite's shared ones of a file that is open, until
  /// ``resumeFromBackground()``: iOS terminates a suspended app that holds them if its store is in a shared container
  /// (`0xdead10cc`). Returns once they are released; calls to the store wait meanwhile. Stop its workers first, since
  /// other processes take over what they claimed. Nothing is lost if the process ends instead.
  public func suspendForBackground() async { await engine.suspend() }

  public func resumeFromBackground() { engine.resume() }

  public var signals: StoreSignals { engine.signals }
  public var clock: any JobClock { engine.configuration.clock }
  public var path: String? { engine.resolvedPath }

  // MARK: JobStore

  public func insert(_ insertion: JobInsertion) async throws -> InsertionReply {
    try insertion.check()
    guard !insertion.jobs.isEmpty || insertion.batch != nil else { return InsertionReply([]) }
    return try await engine.write(.insert) { try $0.insert(insertion) }
  }

  public func claim(_ request: ClaimRequest) async throws -> ClaimBatch {
    try await engine.write(.claim) { try $0.claim(request) }
  }

  public func renew(_ request: RenewalRequest) async throws -> [ClaimStanding] {
    try await engine.write(.other) { try $0.renew(request) }
  }

  public func settle(_ settlements: [ClaimSettlement], thenClaim: ClaimRequest?) async throws -> SettlementBatch {
    for job in settlements.flatMap(\.followUps) { try job.check() }
    let settle = WriteRequest.Part<SettlementBatch>(order: .settle) { transaction, _ in
      if !settlements.isEmpty { FaultPoint.settleBegun.reach() }
      return SettlementBatch(replies: try transaction.settle(settlements).replies)
    }
    let claim = thenClaim.map { claim in
      WriteRequest.Part<SettlementBatch>(order: .claim) { transaction, settled in
        SettlementBatch(replies: settled?.replies ?? [], claimed: try transaction.claim(claim))
      }
    }
    return try await engine.write([settle, claim].compactMap(\.self))
  }

  public func recover(_ request: RecoveryRequest) async throws -> RecoveryReport {
    try await engine.recover(request, limit: checked(limit: request.limit))
  }

  public func change(
    _ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int
  ) async throws -> ChangeReport {
    let limit = try checked(limit: limit)
    try filter.check()
    return try await engine.write(.other) { transaction in
      let handle = transaction.connection.handle
      let ids = try JobPage(JobQuery(filter, after: after, limit: limit + 1), on: handle).ids(on: handle)
      return try transaction.change(change, ids, limit: limit)
    }
  }

  public func configure(_ settings: [StoreSetting]) async throws {
    for setting in settings { try setting.check() }
    try await engine.write(.other) { try $0.configure(settings) }
  }

  public func jobs(_ query: JobQuery) async throws -> [JobSnapshot] {
    try checked(limit: query.limit)
    try query.filter.check()
    let now = engine.time.now
    guard query.detail.contains(.waits) else { return try await engine.read { try readJobs(query, now: now, on: $0) } }
    var (jobs, claims) = try await engine.read {
      (try readJobs(query, now: now, on: $0), (try Census.readWorkers(on: $0), try Census.readClaims(on: $0)))
    }
    let workers = workers(claims.0, claims.1, now)
    for index in jobs.indices { jobs[index].waits?.workers = workers }
    return jobs
  }

  public func counts(where filter: JobFilter) async throws -> JobCounts {
    try filter.check()
    return try await engine.read { try readCounts(where: filter, on: $0) }
  }

  public func outstanding(_ scope: WorkScope) async throws -> OutstandingWork {
    let now = engine.time.now
    return try await engine.read { try readOutstanding(scope, now: now, on: $0) }
  }

  public func nextDue(in queue: String) async throws -> Date? {
    try await engine.read { connection in
      let next = try Statement(RouteTotals.nextSQL, on: connection).with(queue.composed)
      return try next.first { $0.intOrNull(0).map(Date.init(milliseconds:)) }
    }
  }

  public func batches(_ query: BatchQuery) async throws -> [BatchSnapshot] {
    try check(query)
    return try await engine.read { try readBatches(query, on: $0) }
  }

  public func settings() async throws -> [StoreSetting] { try await engine.read { try readSettings(on: $0) } }
}
