import DurableJobs
import DurableJobsSQLite
import DurableJobsTesting
import Foundation
import Testing

@Suite struct StoreConformanceTests {
  private let opened = OpenedStores()

  private func subject() throws -> StoreUnderTest {
    let folder = try StoreFolder()
    return StoreUnderTest { [opened] policy in
      var configuration = SQLiteStore.Configuration()
      let clock = ManualClock()
      configuration.policy = policy
      configuration.clock = clock
      return (try opened.open(folder.path("\(UUID().uuidString.prefix(8)).sqlite"), configuration), clock)
    } reopen: { [opened] store in
      try await opened.reopen(store)
    }
  }

  @Test("The store on SQLite does what every store has to", arguments: StoreConformance.cases)
  func storeOnSQLite(conformanceCase: StoreConformance.Case) async throws {
    try await conformanceCase.run(subject())
  }

  /// With `HISTORIES=100` in the environment, as many histories for each seed, and longer ones.
  @Test("The store on SQLite does in random lives what it has to, and contradicts itself nowhere", arguments: 1...20)
  func randomLives(seed: Int) async throws {
    let more = ProcessInfo.processInfo.environment["HISTORIES"].flatMap(Int.init)
    for round in 0..<(more ?? 1) {
      let subject = try subject()
      try await RandomHistory(seed: UInt64(seed + 20 * round), steps: more == nil ? 150 : 400).run(subject)
      for store in opened.takeAll() { #expect(try await store.check() == []) }
      withExtendedLifetime(subject) {}  // it has the folder
    }
  }
}

/// Remembers how each store was opened, so that it can be opened again.
private final class OpenedStores: Sendable {
  private struct Way {
    let store: SQLiteStore
    let path: String
    let configuration: SQLiteStore.Configuration
  }

  private let ways = Lock<[ObjectIdentifier: Way]>([:])

  func takeAll() -> [SQLiteStore] { ways.exchange([:]).values.map(\.store) }

  func open(_ path: String, _ configuration: SQLiteStore.Configuration) throws -> SQLiteStore {
    let store = try SQLiteStore(path: path, configuration: configuration)
    ways.withLock { $0[ObjectIdentifier(store)] = Way(store: store, path: path, configuration: configuration) }
    return store
  }

  func reopen(_ store: any JobStore) async throws -> any JobStore {
    guard let way = ways.withLock({ $0.removeValue(forKey: ObjectIdentifier(store)) }) else { return store }
    await way.store.close()
    return try open(way.path, way.configuration)
  }
}
