#if Postgres
  import DurableJobs
  import DurableJobsPostgres
  import Foundation
  import PostgresTestServer
  import Testing

  /// One message to a server has less than 2^30 bytes: it takes a larger one for an attack, and cuts the connection.
  @Suite struct LargeCallTests {
    private let store: PostgresStore
    /// Seventeen of these are too much, whose bytes are in memory once.
    private let large = Data(count: Limits.payloadBytes)
    private static let count = 17

    init() async throws {
      store = try await TestServer.shared.get().store()
    }

    private func refusal(_ body: () async throws -> Void) async -> JobError? {
      await #expect(throws: JobError.self) { try await body() }
    }

    @Test("More jobs than a server takes at once are refused before they are sent, and none is stored")
    func insertion() async throws {
      let jobs = [NewJob](
        repeating: NewJob(queue: "default", kind: "work", payload: large), count: Self.count)
      let error = await refusal { _ = try await store.insert(JobInsertion(jobs)) }
      #expect(error?.code == .notEncodable, "\(error as Any)")
      #expect(error?.message.contains("at once") == true)
      #expect(try await store.counts(where: .all).total == 0)
      #expect(try await store.insert(JobInsertion([.plain()])).ids.count == 1)
    }

    @Test("More names than a server has locks are taken in one call, and those of all that follows an end in another")
    func names() async throws {
      let server = try TestServer(options: "-c max_connections=100")
      #expect(try server.psql("SHOW max_locks_per_transaction") == [["64"]])
      let schema = TestServer.schema()
      let store = try await server.store(schema) { $0.callLimit = .seconds(600) }
      let parent = try await store.insert(JobInsertion([.plain()])).ids[0]
      let children = (0..<14_000).map { number in
        var terms = JobTerms(lane: JobLane("lane \(number)"))
        (terms.key, terms.unique) = ("key \(number)", UniqueKey("unique \(number)"))
        return NewJob.plain(terms: terms, after: [JobEdge(.job(parent))])
      }
      #expect(try await store.insert(JobInsertion(children)).ids.count == children.count)
      let claimed = try #require(try await store.claim(.of(1)).jobs.first)
      #expect(claimed.token.job == parent)
      #expect(try await store.settle([claimed.settled()], thenClaim: nil).replies.map(\.isAccepted) == [true])
      #expect(try await store.counts(where: .all) == JobCounts([.succeeded: 1, .ready: children.count]))
      await store.close()
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("More results than a server takes at once are refused for good, so that a worker offers them one at a time")
    func results() async throws {
      _ = try await store.insert(JobInsertion((0..<Self.count).map { _ in .plain() }))
      let held = try await store.claim(.of(Self.count)).jobs
      let results = held.map { $0.settled(.succeeded(output: large)) }
      let error = await refusal { _ = try await store.settle(results, thenClaim: .of(1)) }
      #expect(error?.code == .notEncodable && error?.isPassing == false, "\(error as Any)")
      #expect(try await store.counts(where: .all) == JobCounts([.running: Self.count]))
      #expect(try await store.settle([results[0]], thenClaim: nil).replies.map(\.isAccepted) == [true])
    }
  }
#endif
