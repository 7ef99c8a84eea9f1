#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  /// A newer version of the library comes while an older one is at work.
  @Suite struct UpgradeTests {
    private let server: TestServer
    private let database: String
    private let schema = TestServer.schema()

    init() throws {
      server = try TestServer.shared.get()
      database = try server.database()
    }

    private func store() async throws -> PostgresStore { try await server.store(schema, "dbname=\(database)") }

    @discardableResult
    private func sql(_ text: String) throws -> [[String]] { try server.psql(text, schema: schema, database: database) }

    /// As the version before made it.
    private func goBack() throws {
      try sql("ALTER TABLE worker DROP COLUMN machine, DROP COLUMN process_start; UPDATE meta SET version=5")
    }

    @Test("Who brings a store up while somebody reads from it keeps nobody waiting, and does it when they are through")
    func reader() async throws {
      await (try await store()).close()
      try goBack()
      let isUp = Lock(false)
      let opening = try await server.holding("SELECT 1 FROM \"\(schema)\".worker", database: database) {
        let opening = Task { () async throws -> PostgresStore in
          defer { isUp.withLock { $0 = true } }
          return try await self.store()
        }
        try await until {
          try !sql("SELECT 1 FROM pg_stat_activity WHERE wait_event_type='Lock' AND query LIKE 'ALTER TABLE%'").isEmpty
        }
        #expect(try sql("SELECT count(*) FROM worker") == [["0"]])
        #expect(!isUp.withLock { $0 }, "the others had to wait until it gave up")
        return opening
      }
      let store = try await opening.value
      #expect(try sql("SELECT version FROM meta") == [["\(PostgresStore.version)"]])
      #expect(try await store.insert(JobInsertion([.plain()])).ids.count == 1)
    }

    @Test("A store of each older version is brought up with what is in it", arguments: 1..<PostgresStore.version)
    func old(version: Int64) async throws {
      let all = Schema.statements(schema, from: 0)
      try sql(Schema.creation(of: schema))
      for statement in all.dropLast(Schema.statements(schema, from: version).count) { try sql(statement) }
      #expect(try sql("SELECT version FROM meta") == [["\(version)"]])
      try sql(
        """
        INSERT INTO queue(name) VALUES('default'); INSERT INTO route(queue,kind) VALUES(1,'work');
        INSERT INTO job SELECT nextval('job_id'),1,0,0,\(ClaimNumber.nobody.rawValue),0,0,0,0,s FROM unnest(ARRAY[4,8]) s;
        INSERT INTO spec SELECT id,0,NULL,NULL,NULL,'{}' FROM job;
        INSERT INTO failure VALUES(2,1,1,0,'because');
        INSERT INTO tally VALUES(1,0,2,0,0,0,0,1,0,0);
        INSERT INTO lane_width VALUES('wide',3);
        INSERT INTO batch(id,name,done) VALUES(nextval('batch_id'),'empty',true);
        """)
      let store = try await self.store()
      #expect(store.versionBefore == version)
      #expect(try sql("SELECT version FROM meta") == [["\(PostgresStore.version)"]])
      #expect(try await store.claim(.of(9)).jobs.map(\.token.job) == [JobID(rawValue: 1)])
      let failed = try await store.jobs(JobQuery(.state(.failed), detail: .failures)).first
      #expect(failed?.failures.map(\.message) == ["because"])
      #expect(try await store.settings() == [.lane("wide", width: 3)])
      #expect(try await store.batches(.newest(1)).map(\.isDone) == [true])
      try sql("SELECT enqueue('default','work','{}')")
      #expect(try await store.counts(where: .all) == JobCounts([.running: 1, .failed: 1, .ready: 1]))
      try WholeStore.expect(of: server, schema: schema, database: database)
    }

    @Test("A store that has its functions from before gets those of now")
    func functions() async throws {
      await (try await store()).close()
      try sql(
        """
        CREATE OR REPLACE FUNCTION enqueue(queue text, kind text, payload json, priority bigint DEFAULT 0,
          run_at timestamptz DEFAULT NULL, max_attempts integer DEFAULT \(Defaults.maxAttempts))
        RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'old'; END $$;
        UPDATE meta SET version=7
        """)
      let store = try await self.store()
      #expect(try sql("SELECT enqueue('default','work','{}',run_at=>'-infinity')") == [["1"]])
      await store.close()
    }

    /// The statements of a worker of version 5, on a connection that has prepared them.
    private final class OldWorker {
      private let connection: Connection
      private let now: Int64
      private let id: Int64
      private(set) var claim: Int64 = 0

      init(_ server: ServerName, schema: String, number: Int64, now: Date) throws {
        connection = try Connection(server, schema: Schema.quoted(schema) + ".", isPreparing: true)
        (self.now, id) = (now.milliseconds, 100_000 + number)
        connection.send(Connection.settingsSQL, [.bool(false)])
      }

      private func run(_ sql: String, _ values: [Value] = []) throws -> [Int64] {
        let rows = Lock<[Int64]>([])
        connection.send(sql, values) { result in
          rows.withLock { $0 = (0..<result.count).compactMap { result.intOrNull($0, 0) } }
        }
        try connection.sync()
        return rows.withLock(\.self)
      }

      func begin() throws {
        _ = try run("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
        _ = try run(
          """
          INSERT INTO §worker(id,lease_until,name,session,kinds,queues,satisfied,absent,host,pid,started_at)
          VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)
          """,
          [.int(id), .int(now + 30_000), .text("old \(id)"), .text("session \(id)")]
            + ["work", "default", "", "", "host"].map { .text($0) } + [.int(1), .int(now)])
      }
      func take() throws -> [Int64] {
        claim = id << ClaimNumber.bits | 1
        return try run(
          Transaction.takeSQL,
          [.ints([1]), .ints([0]), .ints([1]), .int(now), .int(claim), .ints([.min]), .ints([.min]), .ints([.max])])
      }
      func commit() throws { _ = try run("COMMIT") }
      func renew() throws -> Bool {
        try run(Transaction.renewSQL, [.ints([id]), .text("session \(id)"), .int(now + 40_000)]) == [id]
      }
      func finish(_ job: Int64) throws -> Bool {
        let values: [Value] = [.ints([0]), .ints([job]), .ints([claim]), .datas([nil]), .int(now)]
        let isDone = try !run(Transaction.finishSQL, values).isEmpty
        if isDone {
          _ = try run("INSERT INTO §tally AS t VALUES(1,1999,0,0,0,0,1,0,0,0)")
        }
        return isDone
      }
    }

    @Test("A worker of the version before goes on while a newer one comes, and is refused once it was given up")
    func oldWorker() async throws {
      let clock = ManualClock()
      let first = try await server.store(schema, "dbname=\(database)", clock: clock)
      let jobs = try await first.insert(JobInsertion([.plain(), .plain(), .plain()])).ids.map(\.rawValue)
      await first.close()
      try goBack()
      let name = try ServerName(server.string(database: database))
      func old(_ number: Int64) throws -> OldWorker {
        try OldWorker(name, schema: schema, number: number, now: clock.now)
      }
      let (one, two) = (try old(1), try old(2))
      try one.begin()
      #expect(try one.take() == [jobs[0]])
      // The newer one waits for what the old one has begun.
      let opening = Task { try await server.store(schema, "dbname=\(database)", clock: clock) }
      try await until {
        try !sql("SELECT 1 FROM pg_stat_activity WHERE wait_event_type='Lock' AND query LIKE 'ALTER TABLE%'").isEmpty
      }
      try one.commit()
      let store = try await opening.value
      #expect(try sql("SELECT version FROM meta") == [["\(PostgresStore.version)"]])
      // Its statements were prepared before, or are now.
      #expect(try one.renew())
      #expect(try one.finish(jobs[0]))
      try two.begin()
      #expect(try two.take() == [jobs[1]])
      try two.commit()
      #expect(try await store.workers().count == 2)
      #expect(try await store.claim(.of(9)).jobs.map(\.token.job.rawValue) == [jobs[2]])
      _ = try await store.recover(RecoveryRequest())
      #expect(try await store.counts(where: .all) == JobCounts([.succeeded: 1, .running: 2]))
      // It gives no sign of life and no answer.
      for _ in 0..<4 {
        clock.advance(by: .seconds(15))
        _ = try await store.renew(RenewalRequest(worker: WorkerID("w"), renewals: []))
        _ = try await store.recover(RecoveryRequest(worker: WorkerID("w")))
      }
      #expect(try await store.counts(where: .id(JobID(rawValue: jobs[1])))[.running] == 0)
      #expect(try !two.finish(jobs[1]))
      #expect(try !two.renew())
      await store.close()
    }

    /// What no version has done yet, but might: new columns at the end of every table.
    private func bringUp() throws {
      for table in try sql("SELECT tablename FROM pg_tables WHERE schemaname='\(schema)'") {
        try sql("ALTER TABLE \"\(table[0])\" ADD COLUMN later text NOT NULL DEFAULT 'later'")
      }
      try sql("UPDATE meta SET version=\(PostgresStore.version + 1)")
    }

    @Test("Who works on a store that a newer version brings up goes on, also after its connections are lost")
    func live() async throws {
      let store = try await self.store()
      var terms = JobTerms()
      (terms.lane, terms.tags, terms.key, terms.unique) = (
        JobLane("lane"), ["tag"], "key", UniqueKey("unique", policy: .append)
      )
      terms.deadline = .end(by: .after(.seconds(3600)))
      func turn() async throws {
        let first = try await store.insert(JobInsertion([.plain(terms: terms), .plain()])).ids
        let batch = BatchMembership.new(name: "b", whenDone: .plain())
        let edges = [JobEdge(.job(first[1]), .ended), JobEdge(.key("none"), .ended)]
        _ = try await store.insert(JobInsertion([.plain(after: edges), .plain("other")], batch: batch))
        let claimed = try await store.claim(.of(10)).jobs
        #expect(Set(claimed.map(\.token.job)).isSuperset(of: first))
        let renewals = claimed.map {
          ClaimRenewal(token: $0.token, progress: JobProgress(fraction: 0.5), steps: ["step": Data()])
        }
        _ = try await store.renew(RenewalRequest(worker: WorkerID("w"), renewals: renewals))
        let results: [ClaimSettlement.Result] = [
          .succeeded(output: Data("1".utf8)), .retry(.after(.seconds(3600)), message: "later"), .failed(message: "no"),
        ]
        let ends = claimed.enumerated().map { $1.settled(results[$0 % 3]) }
        let replies = try await store.settle(ends, thenClaim: .of(1)).replies
        #expect(replies.allSatisfy { $0.isAccepted })
        _ = try await store.recover(RecoveryRequest(worker: WorkerID("w")))
        _ = try await store.change(.cancel(reason: "because"), where: .kind("other"), after: nil, limit: 10)
        try await store.configure([.queue("default", isPaused: false), .lane("lane", width: 2)])
        _ = try await store.jobs(JobQuery(detail: [.failures, .edges, .steps, .waits], limit: 100))
      }
      try await turn()
      try bringUp()
      try await turn()
      try sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname='\(database)' AND pid<>pg_backend_pid()")
      try await turn()
      try WholeStore.expect(of: server, schema: schema, database: database)
      let error = await #expect(throws: JobError.self) { try await self.store() }
      #expect(error?.code == .newerVersion)
      await store.close()
    }
  }
#endif
