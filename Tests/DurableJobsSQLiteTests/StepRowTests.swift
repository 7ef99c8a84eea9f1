import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct StepRowTests {
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store()
  }

  private func step(_ job: ClaimedJob, _ name: String) async throws -> [ClaimStanding] {
    let renewal = ClaimRenewal(token: job.token, steps: [name: Data("1".utf8)])
    return try await store.renew(RenewalRequest(worker: "w", renewals: [renewal], isPartial: true))
  }

  @Test func `A step is one commit of a few statements, and only jobs with steps have more than a plain one`()
    async throws
  {
    try await store.insert(.plain(), .plain())
    let jobs = try await store.claim(.of(2)).jobs
    let (work, standings) = try await store.work { try await step(jobs[0], "a") }
    #expect(standings == [.held])
    // BEGIN, the worker's row, the job as it is and as it will be, the step, COMMIT.
    #expect((work.commits, work.runs) == (1, 6))
    let (again, _) = try await store.work { try await step(jobs[0], "b") }
    #expect(again.runs == 5, "the job's row knows already")
    let (plain, _) = try await store.work { try await store.settle([jobs[1].settled()], thenClaim: nil) }
    let (stepped, _) = try await store.work { try await store.settle([jobs[0].settled()], thenClaim: nil) }
    #expect(stepped.runs == plain.runs + 3)  // no fast path: looked at, saved, and its steps deleted
    #expect(try await store.numbers("SELECT count(*) FROM durable_step") == [0])
  }

  @Test func `Steps outlive their process and go with their job`() async throws {
    try await store.insert(.plain())
    let first = try await store.claim(.of(1)).jobs[0]
    _ = try await step(first, "a")
    _ = try await store.settle([first.settled(.interrupted)], thenClaim: nil)
    await store.close()
    let again = try folder.store()
    let job = try #require(try await again.claim(.of(1)).jobs.first)
    #expect(job.steps == ["a": Data("1".utf8)])
    let failed = ClaimSettlement(token: job.token, result: .failed(message: "f"))
    _ = try await again.settle([failed], thenClaim: nil)
    #expect(try await again.numbers("SELECT count(*) FROM durable_step") == [1])
    try await again.change(.remove, job.token.job)
    #expect(try await again.numbers("SELECT count(*) FROM durable_step") == [0])
  }
}
