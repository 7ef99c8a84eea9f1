import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct DeadlineRowTests {
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store()
  }

  private func timed(_ seconds: Int) -> NewJob {
    .plain(terms: JobTerms(deadline: .end(by: .after(.seconds(seconds)))))
  }
  private var rows: [Int64] { get async throws { try await store.numbers("SELECT count(*) FROM durable_deadline") } }

  @Test(
    "A deadline whose job is gone or damaged goes when it has passed, and stops nobody",
    arguments: ["DELETE FROM durable_job WHERE id=1", "UPDATE durable_spec SET options='{' WHERE id=1"])
  func damage(sql: String) async throws {
    try await store.insert(timed(0), .plain())
    try await store.execute(sql)
    let report = try await store.recover(RecoveryRequest())
    #expect((report.overdue, report.hasMore) == (0, false))
    #expect(try await rows == [0])
  }

  @Test func `A deadline costs a statement when its job is stored, none when it is claimed, and goes with its end`()
    async throws
  {
    try await store.insert(.plain(), .plain())
    let (plain, _) = try await store.work { try await store.insert(.plain()) }
    let (work, ids) = try await store.work { try await store.insert(timed(3600)) }
    #expect(work.runs == plain.runs + 1)
    _ = try await store.claim(.of(2))
    let (claiming, first) = try await store.work { try await store.claim(.of(1)) }
    let (claimingTimed, second) = try await store.work { try await store.claim(.of(1)) }
    #expect(claimingTimed.runs == claiming.runs)
    #expect((first.jobs.first?.deadline == nil, second.jobs.first?.token.job) == (true, ids[0]))
    #expect(try await rows == [1])
    let (settling, _) = try await store.work {
      try await store.settle(second.jobs.map { $0.settled() }, thenClaim: nil)
    }
    let (settlingPlain, _) = try await store.work {
      try await store.settle(first.jobs.map { $0.settled() }, thenClaim: nil)
    }
    #expect(settling.runs == settlingPlain.runs + 1)
    #expect(try await rows == [0])
    #expect(try await store.job(ids[0])?.deadline != nil)
  }

  @Test func `A deadline outlives its process, and goes with its job`() async throws {
    let ids = try await store.insert(timed(3600), timed(-1))
    await store.close()
    let again = try folder.store()
    let report = try await again.recover(RecoveryRequest())
    #expect((report.overdue, report.comeAgain.map { $0 > .seconds(3000) }) == (1, true))
    #expect(try await again.job(ids[1])?.state == .failed)
    try await again.change(.remove, ids[0])
    #expect(try await again.numbers("SELECT count(*) FROM durable_deadline") == [0])
  }
}
