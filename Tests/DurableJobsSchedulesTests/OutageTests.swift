import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobsSchedules

/// Schedules on a store that fails.
struct OutageTests {
  private let clock = ManualClock()
  private let store: FaultyStore
  private let queue: JobQueue
  private let worker: JobWorker

  init() {
    store = FaultyStore(InMemoryStore(clock: clock))
    queue = JobQueue(store: store)
    worker = JobWorker(queue)
    worker.register(JobSchedule.self)
    worker.register(Cleanup.self)
  }

  private func ticks() async throws -> [String?] {
    try await queue.jobs(where: .kind(Cleanup.self), limit: 100).map { $0.key.map { String($0.suffix(9)) } }
  }

  @Test(arguments: [
    (CatchUp.skip, []), (.latest, ["09:00:00Z"]), (.all, ["08:15:00Z", "08:30:00Z", "08:45:00Z", "09:00:00Z"]),
  ])
  func `C52 a store that is away for an hour, under a worker that goes on asking, is made up for as declared`(
    _ catchUp: CatchUp, _ missed: [String]
  ) async throws {
    try await queue.schedule("often", .cron("*/15 * * * *", timeZone: "UTC"), Cleanup(), catchUp: catchUp)
    let away = JobError(.storeFailed, "it is away")
    for verb in [.claim, .renew, .settle, .recover, .jobs, .outstanding] as [FaultyStore.Verb] {
      store.fail(next: .max, verb, with: away)
    }
    worker.start()
    let before = store.calls(of: .claim)
    for _ in 0..<260 {
      await clock.timerScheduled()
      clock.advance(by: .seconds(15))
    }
    #expect(store.calls(of: .claim) > before)
    store.stopFailing()
    await worker.stop()
    try await worker.runUntilIdle()
    #expect(try await ticks() == missed)
    clock.advance(by: .seconds(600))
    try await worker.runUntilIdle()
    #expect(try await ticks() == missed + ["09:15:00Z"])
  }

  @Test func `C50 a tick whose commit was done, and whose answer was lost, has one job`() async throws {
    try await queue.schedule("often", .every(.seconds(60)), Cleanup())
    let tick = try #require(worker.handler(for: JobSchedule.kind))
    for number in 1...3 {
      clock.advance(by: .seconds(60))
      let request = ClaimRequest(worker: WorkerID("w"), kinds: [JobSchedule.kind], free: ["default": 1])
      let claim = try #require(try await store.claim(request).jobs.first)
      let (output, followUps) = try await tick(claim, WorkerID("w"), store)
      let end = ClaimSettlement(token: claim.token, result: .succeeded(output: output), followUps: followUps)
      store.fail(.settle, with: JobError(.storeFailed, "the answer is lost"), isDone: true)
      await #expect(throws: JobError.self) { try await store.settle([end], thenClaim: nil) }
      #expect(try await store.settle([end], thenClaim: nil).replies.map(\.isAccepted) == [true])
      #expect(try await ticks().count == number)
      #expect(try await queue.schedules().count == 1)
    }
  }
}
