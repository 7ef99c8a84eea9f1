import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct RouteRowTests {
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store()
  }

  private static let constrained = "SELECT id FROM durable_route WHERE requires<>'' ORDER BY id"

  private func insert(_ names: String...) async throws -> [JobID] {
    try await store.insert(
      JobInsertion(names.map { .plain(terms: JobTerms(requires: [JobConstraint(rawValue: $0)])) })
    ).ids
  }

  @Test func `What jobs required goes from the store with the last of them, and is not walked by claims`() async throws
  {
    let left = try await insert("kept")
    try await store.insert(.plain())
    for number in 0..<50 { _ = try await insert("c\(number)", "d\(number)") }
    #expect(try await store.numbers(Self.constrained).count == 101)
    _ = try await store.changeAll(.remove, where: !.ids(left))
    // The highest keeps its number from being given out again.
    #expect(try await store.numbers(Self.constrained).count <= 2)
    #expect(try await store.numbers("SELECT count(*) FROM durable_route WHERE requires=''") == [1])
    #expect(try await store.job(left[0])?.requires == ["kept"])
    #expect(try await store.onWriter { try $0.memory.routes.all(on: $0.connection).count } <= 3)
  }

  @Test func `Also the last that expired takes along what it required`() async throws {
    let ids = try await insert("a", "b", "c")
    _ = try await store.changeAll(.cancel(reason: nil), where: .ids(ids))
    try await store.execute("UPDATE durable_job SET entered_at=1")
    #expect(try await store.recover(RecoveryRequest(worker: "w")).pruned == 3)
    #expect(try await store.numbers(Self.constrained).count == 1)
  }

  @Test func `A number of a route is never given out twice`() async throws {
    var highest: Int64 = 0
    for _ in 0..<5 {
      let ids = try await insert("a", "b")
      let routes = try await store.numbers(Self.constrained)
      #expect(routes.last! > highest)
      highest = routes.last!
      _ = try await store.changeAll(.remove, where: .ids(ids))
      // Otherwise than by the same name, the next is another.
      _ = try await store.changeAll(.remove, where: .ids(try await insert("c\(highest)")))
      highest = try await store.numbers("SELECT max(id) FROM durable_route")[0]
    }
  }

  @Test func `Who adds a job sees that another process has taken its route away`() async throws {
    let ids = try await insert("a", "b")
    _ = try await store.claim(.of(1))
    // As the other does it: this one's writer learns of it when it looks at the number of changes.
    for table in ["durable_job", "durable_spec"] { try await store.execute("DELETE FROM \(table) WHERE id=\(ids[0])") }
    try await store.execute("DELETE FROM durable_route WHERE id=(SELECT min(id) FROM durable_route WHERE requires<>'')")
    try await store.execute("UPDATE durable_meta SET changes=changes+1")
    let again = try await insert("a")
    #expect(try await store.job(again[0])?.requires == ["a"])
    var request = ClaimRequest.of(9)
    request.satisfied = ["a"]
    let here = request
    #expect(try await store.claim(here).jobs.map(\.token.job) == again)
    #expect(try await store.check() == [])
  }

  @Test func `Jobs that require nothing go without a look at what others required`() async throws {
    _ = try await insert("a", "b")
    let ids = try await store.insert(JobInsertion((0..<100).map { _ in .plain() })).ids
    let (work, _) = try await store.work {
      try await store.change(.remove, where: .ids(ids), after: nil, limit: 100)
    }
    #expect(work.scans == 0)
  }
}
