import DurableJobs
import Testing

@testable import DurableJobsSQLite

@Suite struct StatementTests {
  private struct Unreadable: Error {}

  @Test func `A row that can't be read leaves a kept statement ready for its next use`() async throws {
    let folder = try StoreFolder()
    try await folder.store().onWriter { transaction in
      let statement = try Statement("SELECT ?1 UNION ALL SELECT 7", on: transaction.connection.handle, isHeld: true)
      #expect(throws: Unreadable.self) { try statement.with(1).map { _ in throw Unreadable() } }
      #expect(try statement.with(2).map { $0.int(0) } == [2, 7])
    }
  }
}
