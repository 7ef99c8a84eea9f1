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

    /// Returns once no session of the store's waits for a standby, whatever its statement.
    private func nobodyWaits() async throws { try await until { try waiting("%") == waiting("%probe%") } }

    /// Stores a job whose commit nobody confirms until its outcome is told.
    private func loseOne(in store: PostgresStore, meanwhile: () async throws -> Void = {}) async throws {
      let isTold = Lock(false)
      let call = Task {
        defer { isTold.withLock { $0 = true } }
        return try await store.insert(JobInsertion([.plain()]))
      }
      try await until { try isTold.withLock(\.self) || waiting("COMMIT") == 1 }
      try await meanwhile()
      let error = await #expect(throws: JobError.self) { try await call.value }
      #expect(error?.code == .storeFailed && error?.cause is UnknownOutcome, "\(error as Any)")
      try await nobodyWaits()
      #expect(try server.psql("SELECT 1 FROM job", schema: schema).count == 2)
    }

    @Test(
      "A commit that no standby confirms in time is told to be of unknown outcome, and then no session waits for it",
      arguments: [false, true])
    func nobody(isPooled: Bool) async throws {
      let pooler = isPooled ? try TestPooler(before: server) : nil
      defer { withExtendedLifetime(pooler) {} }
      let store = try await server.store(schema, pooler?.way ?? "") {
        ($0.isPooled, $0.callLimit) = (isPooled, .seconds(1))
      }
      _ = try await store.insert(JobInsertion([.plain()]))
      try await requireStandby()
      try await loseOne(in: store)
      try setStandby("")
      await store.close()
    }

    @Test("A session waits no longer for a standby whose client has lost it, once the outcome is told")
    func cut() async throws {
      let wire = try TestWire(before: server)
      defer { withExtendedLifetime(wire) {} }
      let store = try await server.store(schema, "host=\(wire.folder)") { $0.callLimit = .seconds(1) }
      _ = try await store.insert(JobInsertion([.plain()]))
      try await requireStandby()
      try await loseOne(in: store) { wire.cutAll() }
      try setStandby("")
      await store.close()
    }

    @Test(
      "What a worker's first claim took, whose outcome stayed unknown, goes back with its next list, as if not begun")
    func firstClaim() async throws {
      let store = try await server.store(schema) { $0.callLimit = .seconds(1) }
      let ids = try await store.insert(JobInsertion([.plain()])).ids
      try await requireStandby()
      let error = await #expect(throws: JobError.self) { try await store.claim(.of(1)) }
      #expect(error?.cause is UnknownOutcome, "\(error as Any)")
      try await nobodyWaits()
      try setStandby("")
      // Returns once no commit waits for a standby any more.
      try server.psql("COMMENT ON SCHEMA public IS 'over'")
      #expect(try await store.counts(where: .all) == JobCounts([.running: 1]))
      _ = try await store.renew(RenewalRequest(worker: WorkerID("w"), renewals: []))
      let jobs = try await store.claim(.of(1)).jobs
      #expect(jobs.map(\.token.job) == ids && jobs.map(\.attempt) == [1])
      await store.close()
    }

    @Test("What is reported again after an unknown outcome is acknowledged once the standby has it, and not before")
    func again() async throws {
      let hasty = try await server.store(schema) { $0.callLimit = .seconds(1) }
      _ = try await hasty.insert(JobInsertion([.plain()]))
      let results = try await hasty.claim(.of(1)).jobs.map { $0.settled() }
      try await requireStandby()
      let error = await #expect(throws: JobError.self) { try await hasty.settle(results, thenClaim: nil) }
      #expect(error?.cause is UnknownOutcome, "\(error as Any)")
      try await nobodyWaits()
      let store = try await server.store(schema) { $0.callLimit = .seconds(600) }
      let isTold = Lock(false)
      let call = Task {
        let replies = try await store.settle(results, thenClaim: nil).replies
        isTold.withLock { $0 = true }
        return replies
      }
      try await until { try isTold.withLock(\.self) || waiting("COMMIT") == 1 }
      #expect(!isTold.withLock { $0 })
      try setStandby("")
      #expect(try await call.value.map(\.isAccepted) == [true])
      await hasty.close()
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
      #expect(try server.psql("SELECT 1 FROM job", schema: schema).count == 1, "nobody else sees it")
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
