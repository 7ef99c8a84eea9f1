#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct HeldTransactionTests {
    /// How long it is passed over is in docs/fleet.md: with each job done meanwhile, a claim looks at one dead row more.
    @Test("C79 What is left behind while a transaction stays open is passed over, and goes with it")
    func held() async throws {
      let server = try TestServer.shared.get()
      let (database, schema) = (try server.database(), TestServer.schema())
      let store = try await server.store(schema, "dbname=\(database)")
      func sql(_ text: String) throws -> [[String]] { try server.psql(text, schema: schema, database: database) }
      _ = try sql("ALTER TABLE job SET (autovacuum_enabled=false)")
      let ids = try await store.insert(JobInsertion((0..<3000).map { _ in .plain() })).ids
      /// Pages that the first ready jobs are found in.
      func pages() throws -> Int {
        let settings = Connection.settingsSQL.replacing("$1", with: "false")
        let plan = try sql(
          "\(settings); EXPLAIN (ANALYZE,BUFFERS,TIMING OFF) SELECT id FROM job WHERE route=1 AND state=4 ORDER BY rank,id LIMIT 100"
        ).joined().joined(separator: "\n")
        return try #require(plan.firstMatch(of: /shared hit=(\d+)/).flatMap { Int($0.1) }, "\(plan)")
      }
      func work(_ rounds: Int) async throws -> [JobID] {
        var done: [JobID] = []
        for _ in 0..<rounds {
          let jobs = try await store.claim(.of(100)).jobs
          _ = try await store.settle(jobs.map { $0.settled() }, thenClaim: nil)
          done += jobs.map(\.token.job)
        }
        return done
      }
      var done = try await work(1)
      _ = try sql("VACUUM job")
      let before = try pages()
      let meanwhile = try await server.holding(
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM \(schema).job", database: database
      ) {
        done += try await work(20)
        _ = try sql("VACUUM job")
        return try pages()
      }
      _ = try sql("VACUUM job")
      let after = try pages()
      print("pages: \(before) before, \(meanwhile) with 2000 jobs done meanwhile, \(after) after")
      #expect(done == Array(ids.prefix(2100)), "each once, and in order")
      #expect(after <= 2 * before && meanwhile > after)
      #expect(try await work(9).count == 900)
      await store.close()
      try WholeStore.expect(of: server, schema: schema, database: database)
    }
  }
#endif
