#if Postgres
  import DurableJobs
  import Foundation
  import PostgresTestServer
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct TallyTests {
    private let server: TestServer
    private let database: String
    private let schema = TestServer.schema()
    private let store: PostgresStore
    private let session: Session

    init() async throws {
      server = try TestServer.shared.get()
      database = try server.database()
      store = try await server.store(schema, "dbname=\(database)")
      session = Session(engine: store.engine, number: 0)
    }

    private func shares() throws -> Int {
      try server.psql("SELECT share FROM tally", schema: schema, database: database).count
    }

    /// Stores a job in a transaction of its own, and gives how many entries of the counts it met.
    private func insert() throws -> Int64 {
      try session.write(until: SystemClock().uptime + .seconds(60)) { transaction in
        _ = try transaction.insert(JobInsertion([.plain()]))
      }
      return session.tallies.met
    }

    @Test("Processes count in different rows, so that no commit waits for that of another")
    func apart() async throws {
      for _ in 0..<8 {
        let store = try await server.store(schema, "dbname=\(database)")
        _ = try await store.insert(JobInsertion([.plain()]))
        await store.close()
      }
      // That chance gave all the same is less likely than 1 in 10^10.
      #expect(try shares() > 1)
      #expect(try await store.counts(where: .all).total == 8)
    }

    @Test("C79 However often a count is written while a transaction stands open, each time passes over few versions")
    func held() async throws {
      let met = try await server.holding("SELECT pg_current_xact_id()", database: database) {
        try (0..<2500).map { _ in try insert() }
      }
      #expect(met.max() ?? 0 > Tallies.bearable && met.max() ?? 0 <= Tallies.bearable + 5, "\(met.max() ?? 0)")
      #expect(try shares() > 1)
      #expect(try await store.counts(where: .all).total == 2500)
      try WholeStore.expect(of: server, schema: schema, database: database)
    }

    @Test("Counts that were left for others come together again, also after those who left them are gone")
    func together() async throws {
      for share in [40, 500, 999] {
        _ = try insert()
        try server.psql("UPDATE tally SET share=\(share) WHERE share<32", schema: schema, database: database)
      }
      #expect(try shares() == 3)
      let other = try await server.store(schema, "dbname=\(database)")
      _ = try await other.insert(JobInsertion([.plain()]))
      #expect(try shares() == 1)
      #expect(try await other.counts(where: .all).total == 4)
      try WholeStore.expect(of: server, schema: schema, database: database)
    }
  }
#endif
