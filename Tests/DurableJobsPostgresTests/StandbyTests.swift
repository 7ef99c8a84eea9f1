#if Postgres
  import DurableJobs
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  /// Servers whose commits a standby has to confirm.
  @Suite struct StandbyTests {
    private let server: TestServer
    private let schema = TestServer.schema()

    init() async throws {
      server = try TestServer()
      await (try server.store(schema)).close()
    }

    private func setStandby(_ names: String) throws {
      try server.psql("ALTER SYSTEM SET synchronous_standby_names='\(names)'")
      try server.psql("SELECT pg_reload_conf()")
    }

    /// Returns once a commit waits for a standby, of which there is none.
    private func requireStandby() async throws {
      try setStandby("*")
      let hasMet = Lock(false)
      Thread.detachNewThread { [server] in
        while !hasMet.withLock(\.self) { _ = try? server.psql("COMMENT ON SCHEMA public IS 'probe'") }
      }
      try await until { try waiting("%probe%") == 1 }
      hasMet.withLock { $0 = true }
    }

    /// How many sessions with such a statement wait for a standby.
    private func waiting(_ statement: String) throws -> Int {
      let sql = "SELECT 1 FROM pg_stat_activity WHERE wait_event='SyncRep' AND query LIKE '\(statement)'"
      return try server.psql(sql).count
    }

    @Test("A commit that no standby confirms in time is told to be of unknown outcome, and nobody else sees it")
    func nobody() async throws {
      let store = try await server.store(schema) { $0.callLimit = .seconds(1) }
      _ = try await store.insert(JobInsertion([.plain()]))
      try await requireStandby()
      let error = await #expect(throws: JobError.self) { try await store.insert(JobInsertion([.plain()])) }
      #expect(error?.code == .storeFailed && error?.cause is UnknownOutcome, "\(error as Any)")
      #expect(try server.psql("SELECT 1 FROM job", schema: schema).count == 1)
      #expect(try waiting("COMMIT") == 1)
      try setStandby("")
      try await until { try server.psql("SELECT 1 FROM job", schema: schema).count == 2 }
      await store.close()
    }

    @Test("A commit whose wait for a standby was ended by somebody is told once a later one is confirmed")
    func ended() async throws {
      let store = try await server.store(schema) { $0.callLimit = .seconds(600) }
      _ = try await store.insert(JobInsertion([.plain()]))
      try await requireStandby()
      let isTold = Lock(false)
      let call = Task {
        let ids = try await store.insert(JobInsertion([.plain()])).ids
        isTold.withLock { $0 = true }
        return ids
      }
      try await until { try waiting("COMMIT") == 1 }
      try server.psql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event='SyncRep'")
      try await until { try isTold.withLock(\.self) || waiting("%emit_message%") == 1 }
      #expect(!isTold.withLock { $0 })
      try setStandby("")
      let ids = try await call.value
      #expect(try server.psql("SELECT max(id) FROM job", schema: schema) == [["\(ids[0])"]])
      await store.close()
    }
  }
#endif
