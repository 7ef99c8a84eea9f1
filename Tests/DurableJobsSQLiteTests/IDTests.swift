import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct IDTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  @Test(
    "C65 Ids beyond 2³¹ and 2⁵³ lead the life of any other",
    arguments: [2_147_483_648, 9_007_199_254_740_993] as [Int64])
  func largeIDs(first: Int64) async throws {
    let store = try folder.store()
    try await store.insert(.plain())
    try await store.execute("UPDATE durable_job SET id=\(first - 1)")
    try await store.execute("UPDATE durable_spec SET id=\(first - 1)")
    let ids = try await store.insert(.plain(terms: JobTerms(key: "k", tags: ["t"])), .plain())
    #expect(ids.map(\.rawValue) == [first, first + 1])
    let jobs = try await store.claim(.of(3)).jobs
    #expect(jobs.map(\.token.job.rawValue) == [first - 1, first, first + 1])
    let replies = try await store.settle(
      [jobs[0].settled(.failed(message: "no")), jobs[1].settled(.succeeded(output: Data("1".utf8)))], thenClaim: nil
    ).replies
    #expect(replies.map(\.state) == [.failed, .succeeded])
    #expect(try await store.jobs(JobQuery(.key("k"), detail: .all)).map(\.output) == [Data("1".utf8)])
    #expect(try await store.jobs(JobQuery(.all, after: ids[0])).map(\.id) == [ids[1]])
    let encoded = try JSONEncoder().encode(ids)
    #expect(try JSONDecoder().decode([JobID].self, from: encoded) == ids)
  }

  @Test func `An id is never used again, also when the newest job is removed or pruned, and the store closed`()
    async throws
  {
    let clock = ManualClock()
    var store = try folder.store(clock: clock)
    var seen: Set<JobID> = []
    for round in 0..<4 {
      let ids = try await store.insert(.plain(), .plain())
      #expect(seen.isDisjoint(with: ids))
      seen.formUnion(ids)
      if round.isMultiple(of: 2) {
        for id in ids.reversed() { try await store.change(.remove, id) }
      } else {
        for id in ids { try await store.change(.cancel(reason: nil), id) }
        clock.advance(by: Defaults.retention)
        #expect(try await store.recover(RecoveryRequest()).pruned == 2)
      }
      #expect(try await store.jobs(JobQuery()).isEmpty)
      #expect(try await store.counts(where: .all) == JobCounts())
      await store.close()
      store = try folder.store(clock: clock)
    }
    // One stub at most, whatever was removed, and nothing else is left anywhere.
    #expect(try await store.numbers("SELECT count(*) FROM durable_job") == [1])
    #expect(try await store.numbers("SELECT count(*) FROM durable_spec") == [0])
  }
}
