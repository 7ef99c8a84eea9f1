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
