#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  /// Lanes and keys are locked by name while jobs are stored: who waits for whom.
  @Suite struct NameLockTests {
    private let server: TestServer
    private let database: String
    private let schema = TestServer.schema()
    private let store: PostgresStore

    init() async throws {
      server = try TestServer.shared.get()
      database = try server.database()
      store = try await server.store(schema, "dbname=\(database)", clock: ManualClock())
      _ = try await store.insert(JobInsertion([.plain()]))
    }

    private func lanes(_ count: Int) -> [NewJob] {
      (0..<count).map { .plain(terms: JobTerms(lane: JobLane("lane \($0)"))) }
    }

    /// Runs `body` while a transaction of this store stands open that stores the jobs.
    private func storing<R>(_ jobs: [NewJob], _ body: () async throws -> R) async throws -> R {
      let (stored, mayCommit) = (Gate(), DispatchSemaphore(value: 0))
      let call = Task { [store] in
        try await store.engine.write { transaction in
          _ = try transaction.insert(JobInsertion(jobs))
          try transaction.sync()
          stored.open()
          mayCommit.wait()
        }
      }
      await stored.pass()
      let result: Result<R, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      mayCommit.signal()
      try await call.value
      return try result.get()
    }

    @Test("Who stores jobs with names waits for nobody who stores some with others")
    func otherNames() async throws {
      let jobs = lanes(33)
      try await storing([jobs[32]]) {
        let ids = try await store.insert(JobInsertion(Array(jobs.prefix(32)))).ids
        #expect(ids.count == 32)
      }
    }

    @Test("However many names a call has, it takes few of the server's locks")
    func fewLocks() async throws {
      try await storing(lanes(1000)) {
        let sql =
          "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid=database WHERE locktype='advisory' AND datname="
        let locks = try server.psql(sql + "'\(database)'", database: database)[0][0]
        #expect((1...256).contains(Int(locks) ?? 0), "\(locks)")
      }
    }

    @Test("A name that a large call has among thousands is not another's meanwhile", arguments: [true, false])
    func sameName(isLargeFirst: Bool) async throws {
      let (large, small) = (lanes(1500), lanes(1))
      let second = try await storing(isLargeFirst ? large : small) {
        let second = Task { [store] in try await store.insert(JobInsertion(isLargeFirst ? small : large)).ids.count }
        try await until { try server.waiting(in: database) == 1 }
        return second
      }
      #expect(try await second.value == (isLargeFirst ? 1 : 1500))
      // One of both has the lane.
      #expect(try await store.counts(where: .all) == JobCounts([.ready: 1501, .blocked: 1]))
      try WholeStore.expect(of: server, schema: schema, database: database)
    }

    @Test("Who comes from few names to many waits for nobody who has a few others")
    func fewThenMany() async throws {
      func names(_ letter: String, _ numbers: Range<Int>) -> [String] { numbers.map { "\(letter)\($0)" } }
      let (one, other) = (Session(engine: store.engine, number: 7), Session(engine: store.engine, number: 8))
      let end = SystemClock().uptime + .seconds(600)
      try one.write(until: end, waitingForLocks: .milliseconds(100)) { first in
        first.begin()
        first.lock(names("a", 0..<30), .lane)
        try first.sync()
        try other.write(until: end, waitingForLocks: .milliseconds(100)) { second in
          second.begin()
          second.lock(names("b", 0..<30), .lane)
          try second.sync()
          first.lock(names("a", 30..<230), .lane)
          try first.sync()
        }
      }
    }
  }
#endif
