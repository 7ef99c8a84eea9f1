#if Postgres
  import DurableJobs
  import Foundation

  /// A store on a PostgreSQL server, for workers on many machines.
  ///
  /// When a call returns, what it stored is committed with `synchronous_commit`: it survives a crash of the server,
  /// while its fate in a fail-over depends on the server's own settings. Any number of processes may use a store at
  /// once. Its tables are in a schema of their own. Times are the server's.
  ///
  /// Calls wait on threads of the store's own, each with a connection; a call that can't be answered within
  /// ``Configuration/callLimit`` is refused. A lost connection is re-established, and what was not committed is
  /// repeated; callers notice only if the server stays away.
  public final class PostgresStore: JobStore {
    public struct Configuration: Sendable {
      /// The schema of the tables: letters, digits and `_`, but not `pg_` at its beginning.
      public var schema = "durable_jobs"
      /// How many process deaths a job survives, and how long finished jobs are kept.
      public var policy = StorePolicy()
      /// The most connections, not counting one more that listens, and one while the end of a job takes longer than
      /// ``callLimit``. Of several, the last is for workers, if there are any: other calls don't take it then, and
      /// transactions of a program's own never do.
      public var connections = 4
      /// How long a call may take in total.
      public var callLimit = Duration.seconds(30)
      /// Whether the connection string leads to a transaction pooler, such as PgBouncer: no prepared statements,
      /// session settings or LISTEN.
      public var isPooled = false
      /// How often to check whether other processes did something, if they can't send notices: a quarter more or less.
      public var pollInterval = Duration.seconds(2)
      /// Whether the tables are created if there are none.
      public var makesTables = true
      /// Whether a store is created if there is none; an older one is migrated in any case.
      package var makesStore = true
      /// The folder in which this machine keeps what would be beside a store's file: the locks and logs of commands,
      /// copies of files that requests send, and notes of what these were answered. It is made if it is missing. Each
      /// store has a name of its own there, independent of how its server is reached. Without one, the default, workers
      /// leave commands to others, and only small files are copied. Programs of one machine that use the same store have
      /// to name the same folder: then no command runs twice at once there, and who is left learns at once of a process
      /// that died.
      public var folder: String?
      /// Whether to accept a server with `fsync=off`, for example in tests.
      public var acceptsWeakDurability = false
      /// How long what a worker asks for may wait for each lock, and half of how long it may read: its lease is renewed only
      /// when that is over.
      package var lockPatience = Defaults.lease / 6
      /// The clock to use in place of the server's.
      package var clock: (any JobClock)?

      public init() {}

      var listens: Bool { !isPooled }
    }

    let engine: Engine

    /// Opens the store on the server of a libpq connection string, and creates its tables if there are none.
    ///
    ///     let store = try await PostgresStore("postgres://jobs@db.example.com/app")
    ///
    /// Throws `JobError.Code.invalidArgument` for an invalid string or schema; `JobError.Code.unusableFile` if there is
    /// no such database, no right to it, a server older than PostgreSQL 13, or no way to make the folder;
    /// `JobError.Code.notAStore` and `JobError.Code.newerVersion` for a schema of something else, which is left unchanged;
    /// `JobError.Code.readOnly`; `JobError.Code.weakDurability`; and `JobError.Code.storeFailed` if nobody answers.
    public init(_ connectionString: String, configuration: Configuration = Configuration()) async throws {
      let server = try ServerName(connectionString)
      try Self.check(schema: configuration.schema)
      engine = try await withCheckedThrowingContinuation { continuation in
        do {
          try StoreThread.start("durable-postgres") {
            do {
              continuation.resume(returning: try Engine(server: server, configuration: configuration))
            } catch {
              continuation.resume(throwing: JobError(error, server: server.description))
            }
          }
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }

    deinit { engine.close() }

    /// Throws `JobError.Code.invalidArgument` for a name that can't be a schema.
    package static func check(schema: String) throws {
      guard !schema.isEmpty, schema.utf8.count <= 48,
        schema.utf8.allSatisfy({ UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || 0x30...0x39 ~= $0 || $0 == 0x5F }
        ), !schema.hasPrefix("pg_")
      else {
        throw JobError(
          .invalidArgument,
          "'\(schema)' can't be the schema of a store: it must have 1 to 48 letters, digits and _, and not begin with pg_"
        )
      }
    }

    /// Disconnects: what its workers run is given back and pending work is done before this returns, others are told of
    /// it, and later calls are refused; those waiting for a job get `JobError.Code.closed`. A released store eventually
    /// does the same.
    public func close() async { await engine.leave() }

    /// Throws `JobError.Code.invalidArgument` for a connection string with a password in the place of something that is shown.
    package static func check(connectionString: String) throws { try ServerName.checkedValues(of: connectionString) }

    /// The statements that create a store in a schema, for creating tables by hand.
    public static func script(schema: String = Configuration().schema) -> String {
      Schema.creation(of: schema) + ";\n\n" + Schema.script(schema)
    }

    /// The statements that migrate a store of that version to the current one.
    package static func script(schema: String = Configuration().schema, from version: Int64) -> String {
      Schema.script(schema, from: version)
    }

    package static var version: Int64 { Schema.version }
    /// The version of the store before it was opened; nil if there was none.
    package var versionBefore: Int64? { engine.versionBefore }
    /// What may be shown of a connection string. Throws `JobError.Code.invalidArgument` if it is not valid.
    package static func describe(_ connectionString: String) throws -> String {
      try ServerName(connectionString).description
    }

    public var signals: StoreSignals { engine.signals }
    public var clock: any JobClock { engine.clock }
    public var path: String? { engine.path }

    // MARK: JobStore

    public func insert(_ insertion: JobInsertion) async throws -> InsertionReply {
      try insertion.check()
      guard !insertion.jobs.isEmpty || insertion.batch != nil else { return InsertionReply([]) }
      return try await engine.run(inserting: insertion.isPlain ? insertion : nil) { session, deadline in
        try session.write(until: deadline) { transaction in
          if !insertion.isPlain { transaction.expectedIDs = insertion.jobs.count }
          transaction.isLone = insertion.isPlain && insertion.jobs.count == 1
          return try transaction.insert(insertion)
        }
      }
    }

    public func claim(_ request: ClaimRequest) async throws -> ClaimBatch {
      var request = request
      request.join = nil  // there would be nobody to tell of the results
      let turn = Turn([], request)
      return try await engine.writeForWorker { try turn.run(in: $0).claimed ?? ClaimBatch() }
    }

    public func renew(_ request: RenewalRequest) async throws -> [ClaimStanding] {
      do {
        return try await engine.writeForWorker(as: .renewal) { try $0.renew(request) }
      } catch let error as JobError where error.code == .locked {
        // What there is to write of one job, which somebody keeps locked, must not cost the worker the others.
        try await engine.writeForWorker(as: .renewal) { try $0.renew(request.worker, for: request.lease) }
        throw error
      }
    }

    public func settle(_ settlements: [ClaimSettlement], thenClaim: ClaimRequest?) async throws -> SettlementBatch {
      for job in settlements.flatMap(\.followUps) { try job.check() }
      let turn = Turn(settlements, thenClaim)
      try engine.checkIsNotLate(settlements)
      do { return try await engine.writeForWorker { try turn.run(in: $0) } } catch {
        guard let late = turn.late.value else { throw error }
        throw engine.store(late: late)
      }
    }

    public func recover(_ request: RecoveryRequest) async throws -> RecoveryReport {
      try await engine.recover(request, limit: try checked(limit: request.limit))
    }

    public func change(
      _ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int
    ) async throws -> ChangeReport {
      let limit = try checked(limit: limit)
      try filter.check()
      return try await engine.write { transaction in
        transaction.begin()
        let reader = Reader(connection: transaction.connection, process: transaction.context.process)
        let routes = try reader.routes(for: filter)
        let page = JobPage(filter: filter, after: after, limit: limit + 1, routes: routes)
        let found = try page.ids(on: transaction.connection)
        guard !found.isEmpty else { return ChangeReport() }
        let ids = Array(found.prefix(limit))
        // Others may have changed them until they are locked.
        transaction.lock(ids)
        let matching = try JobPage(filter: filter, among: ids, routes: routes).ids(on: transaction.connection)
        var report = try transaction.change(change, matching, limit: limit)
        report.next = found.count > limit ? ids.last : nil
        return report
      }
    }

    public func configure(_ settings: [StoreSetting]) async throws {
      for setting in settings { try setting.check() }
      try await engine.write { try $0.configure(settings) }
    }

    public func jobs(_ query: JobQuery) async throws -> [JobSnapshot] {
      try checked(limit: query.limit)
      try query.filter.check()
      let time = engine.time
      return try await engine.read { try $0.jobs(query, now: time.now) }
    }

    public func counts(where filter: JobFilter) async throws -> JobCounts {
      try filter.check()
      return try await engine.read { try $0.counts(where: filter) }
    }

    public func outstanding(_ scope: WorkScope) async throws -> OutstandingWork {
      let time = engine.time
      return try await engine.read { try $0.outstanding(scope, now: time.now) }
    }

    public func nextDue(in queue: String) async throws -> Date? {
      try await engine.read { try $0.nextDue(in: queue) }
    }

    public func batches(_ query: BatchQuery) async throws -> [BatchSnapshot] {
      try check(query)
      return try await engine.read { try $0.batches(query) }
    }

    public func settings() async throws -> [StoreSetting] { try await engine.read { try $0.settings() } }
  }

  extension JobInsertion {
    /// Whether it involves no other job: it may be stored together with others.
    fileprivate var isPlain: Bool {
      batch == nil && jobs.allSatisfy { $0.edges.isEmpty && $0.terms.unique == nil && $0.terms.lane == nil }
    }
  }
#endif
