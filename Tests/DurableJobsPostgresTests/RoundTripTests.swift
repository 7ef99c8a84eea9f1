#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct RoundTripTests {
    private let store: PostgresStore
    private let session: Session

    init() async throws {
      store = try await TestServer.shared.get().store()
      session = Session(engine: store.engine, number: 7)
    }

    /// How often `body` waits for the server, once what it needs is prepared and known.
    private func roundTrips<R>(_ body: (Transaction) throws -> R) throws -> (reply: R, count: Int) {
      let before = session.connection?.roundTrips ?? 0
      let reply = try session.write(until: SystemClock().uptime + .seconds(60), body)
      return (reply, (session.connection?.roundTrips ?? 0) - before)
    }

    private func insert(_ jobs: [NewJob]) throws -> (ids: [JobID], count: Int) {
      let (reply, count) = try roundTrips { transaction in
        transaction.expectedIDs = jobs.allSatisfy(\.edges.isEmpty) ? 0 : jobs.count
        return try transaction.run(InsertVerb(JobInsertion(jobs), now: transaction.now))
      }
      return (reply.ids, count)
    }

    private func claim(_ count: Int) throws -> (jobs: [ClaimedJob], count: Int) {
      let (reply, count) = try roundTrips { try $0.run(ClaimVerb(.of(count), now: $0.now)) }
      return (reply.jobs, count)
    }

    private func settle(_ jobs: [ClaimedJob], thenClaim count: Int) throws -> (jobs: [ClaimedJob], count: Int) {
      let request = ClaimRequest.of(count)
      let (reply, count) = try roundTrips { transaction in
        transaction.expectedWorker = request.worker
        let settled = try transaction.run(
          SettleVerb(jobs.map { $0.settled() }, policy: StorePolicy(), now: transaction.now))
        #expect(settled.replies.allSatisfy { $0.isAccepted })
        return try transaction.run(ClaimVerb(request, now: transaction.now))
      }
      return (reply.jobs, count)
    }

    @Test("A thousand plain jobs are stored in three round trips at most")
    func insertion() throws {
      _ = try insert([.plain()])
      let (ids, count) = try insert((0..<1000).map { _ in .plain() })
      #expect(ids.count == 1000 && ids == ids.sorted())
      #expect(count <= 3, "\(count) round trips")
    }

    @Test("A hundred results and a claim of a hundred take three round trips at most")
    func turn() throws {
      _ = try insert((0..<300).map { _ in .plain() })
      let first = try claim(100).jobs
      let second = try settle(first, thenClaim: 100).jobs
      let (third, count) = try settle(second, thenClaim: 100)
      #expect(third.count == 100)
      #expect(count <= 3, "\(count) round trips")
    }

    @Test("A result that a hundred wait for takes three round trips more at most")
    func children() throws {
      let parents = try insert([.plain(), .plain(), .plain(), .plain("child")]).ids.dropLast()
      for parent in parents.dropFirst() {
        let (_, count) = try insert((0..<100).map { _ in .plain("child", after: [JobEdge(.job(parent))]) })
        #expect(count <= 3, "\(count) round trips")
      }
      var held = try claim(3).jobs
      for _ in 0..<2 { held = try settle([held[0]], thenClaim: 0).jobs + held.dropFirst() }
      let (_, count) = try settle([held[0]], thenClaim: 100)
      #expect(count <= 6, "\(count) round trips")
      let counts = try session.read(until: SystemClock().uptime + .seconds(60)) { try $0.counts(where: .kind("child")) }
      #expect(counts[.ready] == 201)
    }

    @Test("A claim that finds nothing is cheap")
    func nothing() throws {
      _ = try insert([.plain("other")])
      _ = try claim(1)
      let (jobs, count) = try claim(1)
      #expect(jobs.isEmpty)
      #expect(count <= 3, "\(count) round trips")
    }
  }
#endif
