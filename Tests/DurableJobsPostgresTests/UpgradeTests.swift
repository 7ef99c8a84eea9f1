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
