#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import Testing

  @testable import DurableJobsPostgres

  /// A server that comes back from an older backup, or a fail-over, may have lost the rows of workers that live, and
  /// gives their numbers out again.
  @Suite struct RestoreTests {
    private let server: TestServer
    private let schema = TestServer.schema()
    private let one: PostgresStore
    private let other: PostgresStore

    init() async throws {
      server = try TestServer.shared.get()
      let clock = ManualClock()
      one = try await server.store(schema, clock: clock)
      other = try await server.store(schema, clock: clock)
    }

    /// The store is as it was before the first worker came.
    private func restore() throws {
      try server.psql(
        """
        UPDATE job SET state=4,rank=0,attempt=0,claim=\(ClaimNumber.nobody.rawValue);
        SELECT setval('worker_id',(SELECT min(id) FROM worker),false);
        DELETE FROM worker
        """, schema: schema)
    }

    private func claim(_ store: PostgresStore, as worker: String) async throws -> ClaimedJob {
      try #require(try await store.claim(.of(1, worker: worker)).jobs.first)
    }

    @Test("A worker whose row was lost takes no other's with the same number for its own")
    func rows() async throws {
      _ = try await one.insert(JobInsertion([.plain(), .plain()]))
      let lost = try await claim(one, as: "a")
      try restore()
      let held = try await claim(other, as: "b")
      #expect(ClaimNumber(rawValue: held.token.claim).worker == ClaimNumber(rawValue: lost.token.claim).worker)
      let renewal = RenewalRequest(worker: WorkerID("a"), renewals: [ClaimRenewal(token: lost.token)])
      #expect(try await one.renew(renewal) == [.lost])
      let own = RenewalRequest(worker: WorkerID("b"), renewals: [ClaimRenewal(token: held.token)])
      #expect(try await other.renew(own) == [.held])
      let next = try await claim(one, as: "a")
      #expect(ClaimNumber(rawValue: next.token.claim).worker != ClaimNumber(rawValue: held.token.claim).worker)
      _ = try await one.recover(RecoveryRequest(worker: WorkerID("a"), isRetiring: true))
      #expect(try await other.renew(own) == [.held])
      #expect(try await other.settle([held.settled()], thenClaim: nil).replies.map(\.isAccepted) == [true])
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("A worker that leaves, and whose row was lost, leaves that of another with the same number alone")
    func leaving() async throws {
      _ = try await one.insert(JobInsertion([.plain()]))
      _ = try await claim(one, as: "a")
      try restore()
      let held = try await claim(other, as: "b")
      _ = try await one.recover(RecoveryRequest(worker: WorkerID("a"), isRetiring: true))
      let own = RenewalRequest(worker: WorkerID("b"), renewals: [ClaimRenewal(token: held.token)])
      #expect(try await other.renew(own) == [.held])
    }

    @Test("What was claimed under a row that was lost is not what another claims under one with the same number")
    func claims() async throws {
      _ = try await one.insert(JobInsertion([.plain()]))
      let lost = try await claim(one, as: "a")
      try restore()
      let held = try await claim(other, as: "b")
      #expect(held.token.job == lost.token.job && held.token.claim != lost.token.claim)
      #expect(try await one.settle([lost.settled()], thenClaim: nil).replies.map(\.isAccepted) == [false])
      #expect(try await other.settle([held.settled()], thenClaim: nil).replies.map(\.isAccepted) == [true])
    }
  }
#endif
