#if Postgres
  import CPostgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  /// Jobs in transactions of a program's own.
  @Suite struct PostgresTransactionTests {
    struct Order: JobPayload {
      static let kind = "order"
      static let options = JobOptions(maxAttempts: 1)
      typealias Output = String
      var number: Int
    }

    private struct Rollback: Error {}

    private let server: TestServer
    private let schema = TestServer.schema()
    private let store: PostgresStore
    private let queue: JobQueue

    init() async throws {
      server = try TestServer.shared.get()
      store = try await server.store(schema)
      queue = JobQueue(store: store)
      try server.psql("CREATE TABLE sale(number bigint PRIMARY KEY)", schema: schema)
    }

    private func sell(_ number: Int, _ transaction: PostgresTransaction) throws {
      try transaction.execute("INSERT INTO \(schema).sale VALUES($1)", ["\(number)"])
    }

    private func sales() throws -> [Int] {
      try server.psql("SELECT number FROM sale ORDER BY 1", schema: schema).compactMap { Int($0[0]) }
    }

    // MARK: Enqueue

    @Test("A job is stored with what the program writes, and a worker that sleeps hears of it after the commit")
    func stored() async throws {
      let worker = JobWorker(queue)
      worker.register(Order.self) { order, _ in "sent \(order.number)" }
      worker.start()
      #expect(try await queue.waitUntilIdle() == JobCounts())
      let handle = try await store.transaction { transaction in
        try sell(1, transaction)
        return try queue.enqueue(Order(number: 1), in: transaction)
      }
      #expect(handle.isNew)
      #expect(try await handle.value == "sent 1")
      let handles = try await store.transaction { transaction in
        try queue.enqueue(contentsOf: (2...4).map(Order.init), in: transaction)
      }
      for (number, handle) in zip(2...4, handles) { #expect(try await handle.value == "sent \(number)") }
      await worker.stop()
      #expect(try sales() == [1])
      #expect(try await queue.counts() == JobCounts([.succeeded: 4]))
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("Nobody hears of a job before the commit, and others do after it")
    func told() async throws {
      let other = try await server.store(schema)
      let (told, continuation) = AsyncStream.makeStream(of: ForeignChange.self)
      let subscription = other.signals.listen {
        if case .changedElsewhere(let change) = $0 { continuation.yield(change) }
      }
      var changes = told.makeAsyncIterator()
      while await changes.next() != .all {}
      try await store.transaction { transaction in
        try queue.enqueue(Order(number: 1), in: transaction)
        #expect(try server.psql("SELECT count(*) FROM job", schema: schema) == [["0"]])
      }
      #expect(await changes.next() == .work)
      #expect(try await other.claim(.of(1, kinds: ["order"])).jobs.count == 1)
      withExtendedLifetime(subscription) {}
    }

    @Test(
      "What a program does to its session is gone with its transaction",
      arguments: [
        "SET synchronous_commit TO off", "/* all */ set SESSION statement_timeout = 1234", "DEALLOCATE ALL",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "CREATE TEMP TABLE left_behind(id int)", "LISTEN it",
        "DO $$ BEGIN PERFORM set_config('lock_timeout','1234',false); END $$", "SELECT 1 AS id INTO TEMP left_behind",
        "WITH a AS(SELECT 1 AS id) SELECT * INTO TEMP left_behind FROM a",
        "EXPLAIN (ANALYZE) CREATE TEMP TABLE left_behind AS SELECT 1",
      ])
    func session(sql: String) async throws {
      let store = try await server.store(schema) { $0.connections = 1 }
      let queue = JobQueue(store: store)
      try await store.transaction { transaction in
        try transaction.execute(sql)
        try queue.enqueue(Order(number: 1), in: transaction)
      }
      let settings = try await store.transaction {
        try $0.execute(
          """
          SELECT current_setting('synchronous_commit'),current_setting('statement_timeout'),
            current_setting('lock_timeout'),current_setting('default_transaction_read_only'),to_regclass('left_behind'),
            (SELECT count(*) FROM pg_listening_channels())
          """)
      }
      #expect(settings == [["on", "31s", "0", "off", nil, "0"]])
      #expect(try await store.counts(where: .all).total == 1)
    }

    @Test("A transaction that throws once its time is over leaves no connection with answers that nobody has read")
    func lateThrow() async throws {
      let id = try await queue.enqueue(Order(number: 1)).id
      let session = Session(engine: store.engine, number: 7)
      func limit() -> Duration { SystemClock().uptime + .seconds(60) }
      func expectRightAnswers() throws {
        #expect(session.connection == nil)
        for _ in 0..<3 {
          let found = try session.read(until: limit()) { try $0.jobs(JobQuery(), now: 0).map(\.id) }
          let changed = try session.write(until: limit()) { try $0.change(.setPriority(.high), [id], limit: 1).changed }
          #expect(found == [id] && changed == [id])
        }
      }
      #expect(throws: Rollback.self) {
        try session.write(until: limit()) { transaction in
          transaction.begin()
          try transaction.sync()
          transaction.connection.deadline = .zero
          throw Rollback()
        }
      }
      try expectRightAnswers()
      #expect(throws: Rollback.self) {
        try session.read(until: limit()) { reader in
          reader.connection.deadline = .zero
          throw Rollback()
        }
      }
      try expectRightAnswers()
    }

    @Test("What belongs to the transaction leaves its connection to the next one")
    func sameSession() async throws {
      let store = try await server.store(schema) { $0.connections = 1 }
      var sessions: Set<String?> = []
      for sql in [
        "SELECT 1", "SET LOCAL lock_timeout=1000", "set constraints all deferred", " WITH a AS (SELECT 1) TABLE a",
      ] {
        sessions.insert(
          try await store.transaction { transaction in
            try transaction.execute(sql)
            return try transaction.execute("SELECT pg_backend_pid()")[0][0]
          })
      }
      #expect(sessions.count == 1)
    }

    @Test("A rollback takes a job back with what the program wrote, be it to a savepoint")
    func rollback() async throws {
      let kept = try await store.transaction { transaction in
        try sell(1, transaction)
        #expect(throws: Rollback.self) {
          try transaction.savepoint {
            try sell(2, transaction)
            try queue.enqueue(Order(number: 2), in: transaction)
            try queue.enqueue(
              Order(number: 3), options: JobOptions(lane: "new", requires: ["new"]), in: transaction)
            try transaction.savepoint { _ = try queue.enqueue(Order(number: 3), in: transaction) }
            throw Rollback()
          }
        }
        return try transaction.savepoint { try queue.enqueue(Order(number: 4), in: transaction) }
      }
      await #expect(throws: Rollback.self) {
        try await store.transaction { transaction in
          try sell(5, transaction)
          try JobQueue("new", store: store).enqueue(Order(number: 5), in: transaction)
          throw Rollback()
        }
      }
      #expect(try sales() == [1])
      // Of a queue that was there for a moment only.
      let other = try await JobQueue("new", store: store).enqueue(Order(number: 6))
      #expect(try await store.jobs(JobQuery()).map(\.id) == [kept.id, other.id])
      #expect(try await store.counts(where: .all) == JobCounts([.ready: 2]))
      try WholeStore.expect(of: server, schema: schema)
      #expect(try await store.claim(.of(9, kinds: ["order"])).jobs.map(\.token.job) == [kept.id])
    }

    @Test("A job that is refused leaves nothing, and the transaction goes on")
    func refused() async throws {
      try await store.transaction { transaction in
        try sell(1, transaction)
        let missing = queue.handle(JobID(rawValue: 99), as: Order.self)
        #expect(throws: JobError.self) {
          try queue.enqueue(Order(number: 1), after: [JobDependency.end(of: missing)], in: transaction)
        }
        try queue.enqueue(Order(number: 2), options: JobOptions(unique: "two"), in: transaction)
        #expect(try !queue.enqueue(Order(number: 3), options: JobOptions(unique: "two"), in: transaction).isNew)
      }
      #expect(try sales() == [1])
      #expect(try await store.counts(where: .all) == JobCounts([.ready: 1]))
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("What the server refuses is told by its code, and nothing is committed after it but what a savepoint parted")
    func refusal() async throws {
      let refusal = await #expect(throws: PostgresTransaction.Refusal.self) {
        try await store.transaction { transaction in
          try queue.enqueue(Order(number: 1), in: transaction)
          try sell(1, transaction)
          try? sell(1, transaction)
        }
      }
      #expect(refusal?.sqlState == "23505" && refusal?.message.contains("sale_pkey") == true)
      #expect(try sales() == [])
      try await store.transaction { transaction in
        try sell(1, transaction)
        #expect(throws: PostgresTransaction.Refusal.self) { try transaction.savepoint { try sell(1, transaction) } }
        try queue.enqueue(Order(number: 1), in: transaction)
      }
      #expect(try sales() == [1])
      #expect(try await store.counts(where: .all) == JobCounts([.ready: 1]))
      try server.psql(
        "CREATE TABLE late(n bigint REFERENCES sale DEFERRABLE INITIALLY DEFERRED)", schema: schema)
      let deferred = await #expect(throws: PostgresTransaction.Refusal.self) {
        try await store.transaction { transaction in
          try queue.enqueue(Order(number: 2), in: transaction)
          try transaction.execute("INSERT INTO \(schema).late VALUES(7)")
        }
      }
      #expect(deferred?.sqlState == "23503")
      #expect(try await store.counts(where: .all) == JobCounts([.ready: 1]))
    }

    @Test(
      "That a lock is not to be had at once, or that nothing may be written, is a refusal, after which a savepoint goes on"
    )
    func askedFor() async throws {
      try server.psql("INSERT INTO sale VALUES(1)", schema: schema)
      let runs = Lock(0)
      try await server.holding("SELECT * FROM \(schema).sale FOR UPDATE", database: "postgres") {
        try await store.transaction { transaction in
          runs.withLock { $0 += 1 }
          for sql in [
            "SELECT * FROM \(schema).sale FOR UPDATE NOWAIT",
            "WITH a AS(SELECT set_config('transaction_read_only','on',true)) INSERT INTO \(schema).sale SELECT 2 FROM a",
          ] {
            #expect(throws: PostgresTransaction.Refusal.self) {
              try transaction.savepoint {
                try transaction.execute(sql)
                try sell(3, transaction)
              }
            }
          }
          try queue.enqueue(Order(number: 1), in: transaction)
        }
      }
      #expect(runs.withLock(\.self) == 1)
      #expect(try await store.counts(where: .all) == JobCounts([.ready: 1]))
    }

    @Test("A statement with too many values is refused before it is sent, and one without words gives no rows")
    func values65536() async throws {
      try await store.transaction { transaction in
        let error = #expect(throws: JobError.self) {
          try transaction.execute("SELECT 1", Array(repeating: "a", count: 65_536))
        }
        #expect(error?.code == .invalidArgument)
        for sql in ["", ";", "-- nothing"] { #expect(try transaction.execute(sql) == []) }
        try sell(1, transaction)
      }
      #expect(try sales() == [1])
    }

    @Test("A closure may pause for as long as a call may take", arguments: [false, true])
    func pause(isPooled: Bool) async throws {
      for (limit, expected) in [(30, "1min"), (200, "201s")] {
        let store = try await server.store(schema) { ($0.callLimit, $0.isPooled) = (.seconds(limit), isPooled) }
        let shown = try await store.transaction { transaction in
          try JobQueue(store: store).enqueue(Order(number: 1), in: transaction)
          return try transaction.execute("SHOW idle_in_transaction_session_timeout")
        }
        #expect(shown == [[expected]])
        await store.close()
      }
    }

    @Test(
      "What a program set for its transaction, or an administrator for all, does not make the commit less durable",
      arguments: ["off", "local", "remote_write", "on", "remote_apply"])
    func durable(setting: String) async throws {
      let store = try await server.store(schema, "options='-c synchronous_commit=\(setting)'")
      let queue = JobQueue(store: store)
      try server.psql(
        """
        CREATE TABLE seen(setting text);
        CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO \(schema).seen VALUES(current_setting('synchronous_commit')); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER see AFTER INSERT ON sale DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION see()
        """, schema: schema)
      for number in 1...2 {
        try await store.transaction { transaction in
          try queue.enqueue(Order(number: number), in: transaction)
          try sell(number, transaction)
          if number == 2 { try transaction.execute("SET LOCAL synchronous_commit TO \(setting)") }
        }
      }
      let committed = setting == "remote_apply" ? setting : "on"
      #expect(try server.psql("SELECT setting FROM seen", schema: schema) == [[committed], [committed]])
      await store.close()
    }

    @Test("Times count from each call, however long the transaction has been open")
    func times() async throws {
      let clock = ManualClock()
      let store = try await server.store(clock: clock)
      let queue = JobQueue(store: store)
      let after = JobTime.after(.seconds(5))
      let ids = try await store.transaction { transaction in
        try queue.enqueue(Order(number: 0), in: transaction)
        clock.advance(by: .seconds(6))
        return [
          try queue.enqueue(Order(number: 1), options: JobOptions(start: after), in: transaction).id,
          try queue.enqueue(
            Order(number: 2), options: JobOptions(deadline: .end(by: .after(.seconds(5)))), in: transaction
          ).id,
        ]
      }
      #expect(try await store.recover(RecoveryRequest()).overdue == 0)
      #expect(try await store.jobs(JobQuery(.ids(ids))).map(\.state) == [.scheduled, .ready])
      clock.advance(by: .seconds(5))
      #expect(try await store.recover(RecoveryRequest()).overdue == 1)
      #expect(try await store.jobs(JobQuery(.ids(ids))).map(\.state) == [.ready, .failed])
    }

    @Test(
      "A call that waited for others so long that its time is not right any more is done again, and not the closure")
    func surprise() async throws {
      let (runs, calls) = (Lock(0), Lock(0))
      try await store.transaction { transaction in
        runs.withLock { $0 += 1 }
        try transaction.join(store) { inner in
          _ = try inner.insert(JobInsertion([.plain()]))
          calls.withLock { $0 += 1 }
          if calls.withLock(\.self) < 3 { throw Transaction.Surprise() }
        }
      }
      #expect(runs.withLock(\.self) == 1 && calls.withLock(\.self) == 3)
      #expect(try await store.counts(where: .all) == JobCounts([.ready: 1]))
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("Later jobs of a transaction have later ids, also after one that was refused")
    func order() async throws {
      let inLane = JobOptions(lane: JobLane("lane"))
      let ids = try await store.transaction { transaction in
        let missing = queue.handle(JobID(rawValue: 999_999), as: Order.self)
        #expect(throws: JobError.self) {
          try queue.enqueue(Order(number: 0), after: [missing], options: inLane, in: transaction)
        }
        let first = try queue.enqueue(Order(number: 1), in: transaction)
        let second = try queue.enqueue(Order(number: 2), after: [first], options: inLane, in: transaction)
        let third = try queue.enqueue(Order(number: 3), in: transaction)
        return [
          first.id, second.id, third.id, try queue.enqueue(Order(number: 4), options: inLane, in: transaction).id,
        ]
      }
      #expect(ids == ids.sorted())
    }

    @Test("Values and rows are texts, and NULL is nil")
    func values() async throws {
      let rows = try await store.transaction { transaction in
        try transaction.execute("SELECT $1::int+1,$2,$3::text,now()<NULL", ["41", "ä'\\", nil])
      }
      #expect(rows == [["42", "ä'\\", nil, nil]])
    }

    @Test(
      "A statement that would end the transaction is refused before it is sent",
      arguments: [
        "COMMIT", " rollback to x", "-- a\n/* b /* c */ d */ ;end", "Savepoint x", "START TRANSACTION",
        "copy x FROM STDIN",
        "PREPARE TRANSACTION 'x'", "\tABORT", "select '\0'", "set /**/ transaction READ ONLY",
      ])
    func control(sql: String) async throws {
      try await store.transaction { transaction in
        let error = #expect(throws: JobError.self) { try transaction.execute(sql) }
        #expect(error?.code == .invalidArgument)
        try sell(1, transaction)
      }
      #expect(try sales() == [1])
    }

    @Test("The plans of a program's own statements are the server's, and those of the store stay pinned")
    func plans() async throws {
      let ask = "SELECT current_setting('enable_seqscan')"
      let shown = try await store.transaction { transaction in
        let before = try transaction.execute(ask)
        try queue.enqueue(Order(number: 1), in: transaction)
        try? transaction.savepoint {
          try queue.enqueue(Order(number: 1), in: transaction)
          throw Rollback()
        }
        return try before + transaction.execute(ask)
      }
      #expect(shown == [["on"], ["on"]])
      let own = try await store.engine.write { transaction in
        transaction.begin()
        var setting = ""
        transaction.connection.send(ask) { setting = $0.text(0, 0) ?? "" }
        try transaction.sync()
        return setting
      }
      #expect(own == "off")
    }

    @Test("A transaction of another store than the queue's is refused, and one that is over")
    func wrongStore() async throws {
      let other = try await server.store()
      let left = Lock<UInt>(0)
      try await other.transaction { transaction in
        for queue in [queue, JobQueue(store: InMemoryStore())] {
          let error = #expect(throws: JobError.self) { try queue.enqueue(Order(number: 1), in: transaction) }
          #expect(error?.code == .wrongStore)
        }
        left.withLock { $0 = UInt(bitPattern: Unmanaged.passRetained(transaction).toOpaque()) }
      }
      let address = try #require(UnsafeRawPointer(bitPattern: left.withLock { $0 }))
      let over = Unmanaged<PostgresTransaction>.fromOpaque(address).takeRetainedValue()
      #expect(throws: JobError.self) { try over.execute("SELECT 1") }
      #expect(throws: JobError.self) { try over.savepoint {} }
      await store.close()
      let error = await #expect(throws: JobError.self) { try await store.transaction { _ in } }
      #expect(error?.code == .closed)
    }

    // MARK: Complete

    @Test("A job ends with what its handler wrote, and what the handler does then counts for nothing")
    func complete() async throws {
      let worker = JobWorker(queue)
      worker.register(Order.self, retry: .never) { order, context in
        try context.enqueueOnSuccess(Order(number: order.number + 1), options: JobOptions(start: .after(.seconds(600))))
        try await store.transaction { transaction in
          try sell(order.number, transaction)
          try context.complete(with: "sold", in: transaction)
        }
        throw Rollback()
      }
      let job = try await queue.enqueue(Order(number: 1))
      try await worker.runUntilIdle()
      #expect(try await job.value == "sold")
      #expect(try sales() == [1])
      #expect(try await queue.counts() == JobCounts([.succeeded: 1, .scheduled: 1]))
      #expect(try await queue.job(job.id).failures == [])
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("A job ends in one transaction: a second one, as after a commit of which nothing was heard, writes nothing")
    func completeTwice() async throws {
      let worker = JobWorker(queue)
      worker.register(Order.self, retry: .never) { order, context in
        for number in 1...2 {
          try await store.transaction { transaction in
            try sell(number, transaction)
            try context.complete(with: "sold", in: transaction)
          }
        }
        return "unreachable"
      }
      let job = try await queue.enqueue(Order(number: 1))
      try await worker.runUntilIdle()
      #expect(try await job.value == "sold")
      #expect(try sales() == [1])
      #expect(try await queue.job(job.id).failures == [])
    }

    @Test("A rollback takes back the end of a job, too")
    func completeRollback() async throws {
      let worker = JobWorker(queue)
      worker.register(Order.self, retry: .never) { order, context in
        try await store.transaction { transaction in
          try sell(order.number, transaction)
          try context.complete(with: "sold", in: transaction)
          throw Rollback()
        }
        return "unreachable"
      }
      let job = try await queue.enqueue(Order(number: 1))
      try await worker.runUntilIdle()
      #expect(try await job.snapshot.state == .failed)
      #expect(try sales() == [])
    }

    @Test("C12 Who lost its claim writes nothing")
    func lost() async throws {
      let worker = JobWorker(queue)
      worker.register(Order.self, retry: .never) { order, context in
        try await queue.complete(context.id, output: Data(#""by hand""#.utf8))
        // In a task of its own: this one is cancelled with the claim, which is as good.
        let refusal = await Task { () -> JobError.Code? in
          do {
            try await store.transaction { transaction in
              try sell(order.number, transaction)
              try context.complete(with: "sold", in: transaction)
            }
            return nil
          } catch { return (error as? JobError)?.code }
        }.value
        #expect(refusal == .wrongState)
        return "late"
      }
      let job = try await queue.enqueue(Order(number: 1))
      try await worker.runUntilIdle()
      #expect(try await job.value == "by hand")
      #expect(try sales() == [])
    }
  }
#endif
