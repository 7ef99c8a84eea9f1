#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct VerbLossTests {
    /// All that a store is asked for, and what is to come of it where one of three jobs runs.
    enum Verb: String, CaseIterable, Sendable {
      case insert, claim, renew, settle, recover, change, configure, jobs, counts, outstanding, settings, batches
      case transaction

      func run(_ store: PostgresStore, _ held: ClaimedJob) async throws -> String {
        switch self {
        case .insert: "\(try await store.insert(JobInsertion([.plain()])).jobs.map(\.disposition))"
        case .claim: "\(try await store.claim(.of(1)).jobs.count)"
        case .renew:
          "\(try await store.renew(RenewalRequest(worker: WorkerID("w"), renewals: [ClaimRenewal(token: held.token)])))"
        case .settle: "\(try await store.settle([held.settled()], thenClaim: nil).replies.map(\.isAccepted))"
        case .recover: "\(try await store.recover(RecoveryRequest(worker: WorkerID("w"))).recovered)"
        case .change:
          "\(try await store.change(.cancel(reason: nil), where: .state(.ready), after: nil, limit: 9).changed.count)"
        case .configure: "\(try await store.configure([.queue("default", isPaused: true)]))"
        case .jobs: "\(try await store.jobs(JobQuery(detail: .all)).count)"
        case .counts: "\(try await store.counts(where: .all).total)"
        case .outstanding: "\(try await store.outstanding(.queue("default", and: [])).left[.running])"
        case .settings: "\(try await store.settings())"
        case .batches: "\(try await store.batches(.newest(1)).count)"
        case .transaction:
          "\(try await store.transaction { try $0.execute("SELECT 1").count })"
        }
      }

      var reply: String {
        switch self {
        case .insert: "[DurableJobs.InsertedJob.Disposition.inserted]"
        case .claim, .outstanding, .transaction: "1"
        case .renew: "[DurableJobs.ClaimStanding.held]"
        case .settle: "[true]"
        case .recover, .batches: "0"
        case .change: "2"
        case .configure: "()"
        case .jobs, .counts: "3"
        case .settings: "[]"
        }
      }

      var writes: Bool {
        switch self {
        case .insert, .claim, .renew, .settle, .recover, .change, .configure, .transaction: true
        case .jobs, .counts, .outstanding, .settings, .batches: false
        }
      }

      /// How many jobs are in each state then.
      var states: [JobState: Int] {
        switch self {
        case .insert: [.ready: 3, .running: 1]
        case .claim: [.ready: 1, .running: 2]
        case .settle: [.ready: 2, .succeeded: 1]
        case .change: [.cancelled: 2, .running: 1]
        default: [.ready: 2, .running: 1]
        }
      }
    }

    /// Stores three jobs, and claims one.
    private func oneOfThree(in store: PostgresStore, claimedBy other: PostgresStore? = nil) async throws -> ClaimedJob {
      _ = try await store.insert(JobInsertion([.plain(), .plain(), .plain()]))
      return try #require(try await (other ?? store).claim(.of(1)).jobs.first)
    }

    @Test("A call whose connection is lost in its middle is done on another, once", arguments: Verb.allCases)
    func lost(verb: Verb) async throws {
      let server = try TestServer.shared.get()
      let (database, schema) = (try server.database(), TestServer.schema())
      let store = try await server.store(schema, "dbname=\(database)")
      let held = try await oneOfThree(in: store)
      let tables = try server.psql(
        "SELECT string_agg(format('%I.%I',schemaname,tablename),',') FROM pg_tables WHERE schemaname='\(schema)'",
        database: database)[0][0]
      let waiting = "FROM pg_stat_activity WHERE datname=current_database() AND wait_event_type='Lock'"
      let call = try await server.holding("LOCK TABLE \(tables) IN ACCESS EXCLUSIVE MODE", database: database) {
        let call = Task { try await verb.run(store, held) }
        func waits() throws -> [String] { try server.psql("SELECT pid \(waiting)", database: database).map { $0[0] } }
        try await until { try !waits().isEmpty }
        let first = try waits()
        try server.psql("SELECT pg_terminate_backend(pid) \(waiting)", database: database)
        try await until { try waits().contains { !first.contains($0) } }
        return call
      }
      #expect(try await call.value == verb.reply)
      #expect(try await store.counts(where: .all) == JobCounts(verb.states))
      await store.close()
      try WholeStore.expect(of: server, schema: schema, database: database)
    }

    @Test(
      "A call whose transaction has come, and whose connection is cut before anybody hears of it, is done once",
      arguments: Verb.allCases)
    func unheard(verb: Verb) async throws {
      let server = try TestServer.shared.get()
      let wire = try TestWire(before: server)
      let schema = TestServer.schema()
      let store = try await server.store(schema, "host=\(wire.folder)")
      let held = try await oneOfThree(in: store)
      wire.cutAtEnd(isCommit: verb.writes)
      #expect(try await verb.run(store, held) == verb.reply)
      #expect(wire.cuts == 1)
      #expect(try await store.counts(where: .all) == JobCounts(verb.states))
      await store.close()
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test(
      "If nobody can be asked what became of a commit, the caller is told that, and not that nothing was stored",
      // To recover is to read first, which says what is wrong.
      arguments: Verb.allCases.filter { $0.writes && $0 != .recover })
    func unknown(verb: Verb) async throws {
      let server = try TestServer.shared.get()
      let wire = try TestWire(before: server)
      let schema = TestServer.schema()
      let store = try await server.store(schema, "host=\(wire.folder)") {
        ($0.connections, $0.callLimit) = (1, .seconds(5))
      }
      let held = try await oneOfThree(in: store)
      wire.refuse(1_000_000)
      wire.cutAtEnd(isCommit: true)
      let error = await #expect(throws: JobError.self) { try await verb.run(store, held) }
      #expect(
        error?.code == .storeFailed && error?.message.contains("look before you repeat it") == true,
        "\(error.map { "\($0)" } ?? "")")
      #expect(wire.cuts == 1)
      wire.refuse(0)
      #expect(try await store.counts(where: .all) == JobCounts(verb.states), "it came all the same")
    }

    @Test(
      "C76 A call ends in time if its connection falls silent, and the next one if nobody answers",
      arguments: Verb.allCases)
    func silent(verb: Verb) async throws {
      let server = try TestServer.shared.get()
      let wire = try TestWire(before: server)
      let schema = TestServer.schema()
      let store = try await server.store(schema, "host=\(wire.folder)") {
        ($0.connections, $0.callLimit) = (1, .seconds(3))
      }
      let other = try await server.store(schema)
      let held = try await oneOfThree(in: other, claimedBy: store)
      wire.fallSilent(true)
      for _ in 0..<2 {
        let error = await #expect(throws: JobError.self) { try await verb.run(store, held) }
        #expect(error?.code == .storeFailed, "\(error.map { "\($0)" } ?? "")")
        // It was given up here: while it waited for its answer, for a connection, or for what became of its commit.
        let isGivenUp = ["in time", "timeout expired"].contains { error?.message.contains($0) == true }
        #expect(isGivenUp || error?.cause is UnknownOutcome, "\(error as Any)")
      }
      wire.fallSilent(false)
      await until { (try? await store.counts(where: .all)) != nil }
      await store.close()
      await other.close()
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("Of two transactions that wait for each other one is run again, and its caller does not notice")
    func deadlock() async throws {
      let server = try TestServer.shared.get()
      let (database, schema) = (try server.database(), TestServer.schema())
      // The other one is more patient, so that this is the one that is ended.
      let store = try await server.store(schema, "dbname=\(database) options='-c deadlock_timeout=2s'")
      let ids = try await store.insert(JobInsertion([.plain(), .plain()])).ids
      let (first, second) = (ids[0].rawValue, ids[1].rawValue)
      let waiting = """
        SELECT 1 FROM pg_locks w JOIN pg_locks h USING(pid) JOIN pg_database d ON d.oid=h.database
        WHERE NOT w.granted AND h.relation='job'::regclass AND d.datname=current_database()
        """
      async let other = onThread {
        try server.psql(
          """
          BEGIN; SET LOCAL deadlock_timeout='60s'; SELECT 1 FROM job WHERE id=\(second) FOR UPDATE;
          DO $$ BEGIN FOR i IN 1..3000 LOOP EXIT WHEN EXISTS(\(waiting)); PERFORM pg_sleep(0.01); END LOOP; END $$;
          SELECT 1 FROM job WHERE id=\(first) FOR UPDATE; COMMIT
          """, schema: schema, database: database)
      }
      try await until {
        try !server.psql("SELECT 1 FROM pg_stat_activity WHERE wait_event='PgSleep' AND datname='\(database)'").isEmpty
      }
      let reply = try await store.change(.cancel(reason: nil), where: .ids(ids), after: nil, limit: 9)
      #expect(reply.changed == ids)
      _ = try await other
      // What a session counts is told with a delay.
      try await until {
        try server.psql("SELECT deadlocks FROM pg_stat_database WHERE datname='\(database)'") == [["1"]]
      }
      #expect(try await store.counts(where: .all) == JobCounts([.cancelled: 2]))
      await store.close()
      try WholeStore.expect(of: server, schema: schema, database: database)
    }

    private func onThread(_ body: @escaping @Sendable () throws -> [[String]]) async throws -> [[String]] {
      try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
      }
    }

    @Test("What became of a commit is known, too, where the server's statistics were reset since it was connected to")
    func reset() async throws {
      let server = try TestServer.shared.get()
      let wire = try TestWire(before: server)
      let store = try await server.store(TestServer.schema(), "host=\(wire.folder)") { $0.connections = 1 }
      #expect(try await store.transaction { try $0.execute("SELECT 1") } == [["1"]])
      try server.psql("SELECT pg_stat_reset_shared('bgwriter')")
      wire.cutAtEnd(isCommit: true)
      #expect(try await store.transaction { try $0.execute("SELECT 2") } == [["2"]])
      #expect(wire.cuts == 1)
      await store.close()
    }

    @Test(
      "A batch without jobs is made once, too, where its commit was not answered and the server has begun another life")
    func emptyBatch() async throws {
      let server = try TestServer.shared.get()
      let wire = try TestWire(before: server)
      let store = try await server.store(TestServer.schema(), "host=\(wire.folder)")
      let session = Session(engine: store.engine, number: 7)
      let end = SystemClock().uptime + .seconds(60)
      func make(_ name: String) throws -> BatchID? {
        try session.write(until: end) {
          try $0.insert(JobInsertion([], batch: .open(name: name, whenDone: nil)))
        }.batch
      }
      _ = try make("first")
      session.connection?.life = "the one before"
      wire.cutAtEnd(isCommit: true)
      let made = try make("second")
      #expect(wire.cuts == 1)
      #expect(try await store.batches(.newest(9)).map(\.name) == ["second", "first"])
      #expect(try await store.batches(.name("second")).map(\.id) == [made])
      await store.close()
    }

    @Test(
      "What was claimed is told where its commit was not answered and the server has begun another life, under a new row or not",
      arguments: [true, false])
    func claimed(isFirst: Bool) async throws {
      let server = try TestServer.shared.get()
      let wire = try TestWire(before: server)
      let store = try await server.store(TestServer.schema(), "host=\(wire.folder)")
      let session = Session(engine: store.engine, number: 7)
      let end = SystemClock().uptime + .seconds(60)
      func claim() throws -> [ClaimedJob] { try session.write(until: end) { try $0.claim(.of(1)) }.jobs }
      _ = try session.write(until: end) { try $0.insert(JobInsertion([.plain(), .plain()])) }
      var told = isFirst ? [] : try claim()
      session.connection?.life = "the one before"
      wire.cutAtEnd(isCommit: true)
      told += try claim()
      #expect(wire.cuts == 1)
      #expect(try await store.jobs(JobQuery(.state(.running))).map(\.id) == told.map(\.token.job))
      let renewals = told.map { ClaimRenewal(token: $0.token) }
      let standings = try await store.renew(RenewalRequest(worker: WorkerID("w"), renewals: renewals))
      #expect(standings == told.map { _ in .held } && told.count == (isFirst ? 1 : 2))
      await store.close()
    }

    @Test("A server has another life once it was started again, or has recovered from the crash of a process")
    func life() async throws {
      let server = try TestServer()
      func life() throws -> String { try server.psql("SELECT \(Transaction.lifeSQL)")[0][0] }
      func writer() throws -> [[String]] {
        try server.psql("SELECT pid FROM pg_stat_activity WHERE backend_type='checkpointer'")
      }
      var lives = [try life()]
      try server.psql("SELECT pg_stat_reset_shared('bgwriter')")
      #expect(try life() == lives[0])
      for _ in 0..<2 {
        let before = try writer()
        _ = try? server.psql("COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'")
        await until { (try? writer()).map { $0 != before && !$0.isEmpty } ?? false }
        lives.append(try life())
      }
      try server.stop()
      try server.start()
      lives.append(try life())
      #expect(Set(lives).count == 4, "\(lives)")
    }
  }
#endif
