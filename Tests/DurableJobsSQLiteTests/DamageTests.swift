import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct DamageTests {
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store()
  }

  enum Damage: String, CaseIterable {
    case specGone = "DELETE FROM durable_spec WHERE id=2"
    case payloadGone = "UPDATE durable_spec SET payload=NULL WHERE id=2"
    case payloadNoData = "UPDATE durable_spec SET payload=7 WHERE id=2"
    case optionsNoJSON = "UPDATE durable_spec SET options='{' WHERE id=2"
  }

  @Test("C7 A damaged row is set aside and reported, and the others run", arguments: Damage.allCases)
  func damagedRow(damage: Damage) async throws {
    let ids = try await store.insert(.plain(), .plain(), .plain())
    try await store.execute(damage.rawValue)
    let batch = try await store.claim(.of(3))
    #expect(batch.jobs.map(\.token.job) == [ids[0], ids[2]])
    #expect(!batch.hasMore)
    let damaged = try #require(await store.job(ids[1]))
    #expect(damaged.state == .suspended)
    #expect(damaged.reason?.contains("damaged") == true)
    #expect(try await store.recover(RecoveryRequest()).unreadable == [ids[1]])
    #expect(try await store.recover(RecoveryRequest()).unreadable == [])
    #expect(try await store.counts(where: .all) == JobCounts([.running: 2, .suspended: 1]))
  }

  @Test func `C7 A row in no known state is in nobody's way`() async throws {
    let ids = try await store.insert(.plain(), .plain())
    try await store.execute("UPDATE durable_job SET state=77 WHERE id=1")
    #expect(try await store.claim(.of(2)).jobs.map(\.token.job) == [ids[1]])
    #expect(try await store.jobs(JobQuery()).map(\.id) == [ids[1]])
  }

  @Test func `C57 The row of a running job is deleted: its result is refused, and the worker goes on`() async throws {
    let ids = try await store.insert(.plain(), .plain())
    let job = try await store.claim(.of(1)).jobs[0]
    try await store.execute("DELETE FROM durable_job WHERE id=1")
    try await store.execute("DELETE FROM durable_spec WHERE id=1")
    for result in [ClaimSettlement.Result.succeeded(output: Data("1".utf8)), .retry(.now, message: "no")] {
      let batch = try await store.settle([job.settled(result)], thenClaim: nil)
      #expect(batch.replies == [SettlementReply(isAccepted: false, state: nil)])
    }
    #expect(try await store.claim(.of(1)).jobs.map(\.token.job) == [ids[1]])
  }

  @Test func `C63 Error texts are cut, and only the last failures are kept`() async throws {
    let id = try await store.insert(.plain(terms: JobTerms(maxAttempts: 100)))[0]
    let long = String(repeating: "é", count: 100_000)
    for attempt in 1...25 {
      let job = try await store.claim(.of(1)).jobs[0]
      _ = try await store.settle([job.settled(.retry(.now, message: "\(attempt) \(long)"))], thenClaim: nil)
    }
    let failures = try #require(await store.job(id)).failures
    #expect(failures.map(\.attempt) == Array(16...25))
    #expect(failures.allSatisfy { $0.message.utf8.count <= Limits.messageBytes })
    #expect(try await store.numbers("SELECT count(*) FROM durable_failure") == [10])
  }
}
