import DurableJobs
import DurableJobsTesting
import Foundation
import GRDB
import Testing

@testable import DurableJobsSQLite

/// The whole conformance suite, in an app's database.
@Suite struct LentPoolConformanceTests {
  @Test("A store in an app's database does what every store has to", arguments: StoreConformance.cases)
  func storeOnLentPool(conformanceCase: StoreConformance.Case) async throws {
    let folder = try StoreFolder()
    let pools = Lock<[ObjectIdentifier: (DatabasePool, SQLiteStore.Configuration)]>([:])
    @Sendable func open(_ pool: DatabasePool, _ configuration: SQLiteStore.Configuration) throws -> SQLiteStore {
      let store = try SQLiteStore(pool: pool, configuration: configuration)
      pools.withLock { $0[ObjectIdentifier(store)] = (pool, configuration) }
      return store
    }
    try await conformanceCase.run(
      StoreUnderTest { policy in
        let clock = ManualClock()
        var configuration = SQLiteStore.Configuration()
        configuration.policy = policy
        configuration.clock = clock
        return (try open(DatabasePool(path: folder.path("\(UUID().uuidString).sqlite")), configuration), clock)
      } reopen: { store in
        guard let (pool, configuration) = pools.withLock({ $0[ObjectIdentifier(store)] }),
          let store = store as? SQLiteStore
        else { return store }
        await store.close()
        return try open(pool, configuration)
      })
  }
}
