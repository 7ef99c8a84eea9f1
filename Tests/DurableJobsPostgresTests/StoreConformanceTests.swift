#if Postgres
  import DurableJobs
  import DurableJobsPostgres
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import Testing

  @Suite struct PostgresConformanceTests {
    private let opened = OpenedStores()

    /// `options`: settings of the session, as somebody else's server may have them.
    private func subject(_ options: String = "", isPooled: Bool = false) throws -> StoreUnderTest {
      let server = try TestServer.shared.get()
      return StoreUnderTest { [opened] policy in
        let clock = ManualClock()
        let way = OpenedStores.Way(
          server: server, schema: TestServer.schema(), options: options, isPooled: isPooled, policy: policy,
          clock: clock)
        return (try await opened.open(way), clock)
      } reopen: { [opened] store in
        try await opened.reopen(store)
      }
    }

    /// The isolation level that the server has as its default: the store sets its own with each transaction. Behind PgBouncer,
    /// it has the usual one.
    private static let levels = ["serializable", "repeatable\\\\ read"]

    @Test(
      "The store on PostgreSQL does what every store has to, whatever the server's isolation level",
      arguments: StoreConformance.cases, levels)
    func storeOnPostgres(conformanceCase: StoreConformance.Case, level: String) async throws {
      try await conformanceCase.run(subject("options='-c default_transaction_isolation=\(level)'"))
    }

    @Test("C78 A store does the same behind PgBouncer", arguments: StoreConformance.cases)
    func behindPgBouncer(conformanceCase: StoreConformance.Case) async throws {
      try await conformanceCase.run(subject(TestPooler.shared.get().way, isPooled: true))
    }

    /// With `HISTORIES=100` in the environment, as many histories for each seed, and longer ones.
    @Test("The store on PostgreSQL does in random lives what it has to", arguments: 1...20)
    func randomLives(seed: Int) async throws {
      let more = ProcessInfo.processInfo.environment["HISTORIES"].flatMap(Int.init)
      for round in 0..<(more ?? 1) {
        try await RandomHistory(seed: UInt64(seed + 20 * round), steps: more == nil ? 100 : 400).run(subject())
      }
    }
  }

  /// Remembers how each store was opened, so that it can be opened again.
  private final class OpenedStores: Sendable {
    struct Way {
      let server: TestServer
      let schema: String
      let options: String
      let isPooled: Bool
      let policy: StorePolicy
      let clock: ManualClock
    }

    private let ways = Lock<[ObjectIdentifier: Way]>([:])

    func open(_ way: Way) async throws -> PostgresStore {
      let store = try await way.server.store(way.schema, way.options, clock: way.clock) {
        $0.policy = way.policy
        $0.isPooled = way.isPooled
      }
      ways.withLock { $0[ObjectIdentifier(store)] = way }
      return store
    }

    func reopen(_ store: any JobStore) async throws -> any JobStore {
      guard let way = ways.withLock({ $0[ObjectIdentifier(store)] }), let store = store as? PostgresStore else {
        return store
      }
      await store.close()
      return try await open(way)
    }
  }
#endif
