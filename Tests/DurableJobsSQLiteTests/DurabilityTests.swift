import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct DurabilityTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  private func pragma(_ name: String, _ store: SQLiteStore) async throws -> String {
    try await store.onWriter { transaction in
      let statement = try Statement("PRAGMA \(name)", on: transaction.connection.handle)
      return try statement.step() ? statement.text(0) ?? "" : ""
    }
  }

  @Test func `Commits are flushed: the writer is at FULL in WAL mode, in a new store and in one opened again`()
    async throws
  {
    for _ in 0..<2 {
      let store = try folder.store()
      #expect(try await pragma("synchronous", store) == "2")
      #expect(try await pragma("journal_mode", store) == "wal")
      #if canImport(Darwin)
        #expect(try await pragma("fullfsync", store) == "1")
        #expect(try await pragma("checkpoint_fullfsync", store) == "1")
      #endif
      try await store.insert(.plain())
      await store.close()
    }
  }

  @Test func `A new store and its companions are private to the user`() async throws {
    let store = try folder.store()
    try await store.insert(.plain())
    for name in ["jobs.sqlite", "jobs.sqlite-wal", "jobs.sqlite-shm"] {
      let mode = try FileManager.default.attributesOfItem(atPath: folder.path(name))[.posixPermissions] as? Int
      #expect(mode == 0o600, "\(name)")
    }
  }
}
