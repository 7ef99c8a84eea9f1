import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobsSQLite

/// A clock that is set back, and who notices.
@Suite struct EpochTests {
  let folder: StoreFolder
  let clock = ManualClock()
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store(clock: clock)
  }

  private func backOff(_ wait: Duration) async throws -> JobID {
    let id = try await store.insert(.plain())[0]
    let job = try await store.claim(.of(1)).jobs[0]
    let retry = ClaimSettlement(token: job.token, result: .retry(.after(wait), message: "no"))
    _ = try await store.settle([retry], thenClaim: nil)
    return id
  }

  private func due(_ id: JobID) async throws -> Duration? {
    let job = try await store.jobs(JobQuery(.id(id))).first
    return job?.runAt.map { .milliseconds($0.milliseconds - clock.now.milliseconds) }
  }

  @Test func `C42 Waits that another process has put right are not moved again`() async throws {
    let id = try await backOff(.seconds(600))
    // What the other does in one transaction, before this one looks.
    try await store.execute("UPDATE durable_job SET run_at=run_at-3600000,rank=rank-3600000")
    try await store.execute("UPDATE durable_meta SET epoch=epoch+1,epoch_at=epoch_at-3600000")
    clock.stepWallClock(by: .seconds(-3600))
    #expect(try await due(id) == .seconds(600))
    #expect(try await store.numbers("SELECT epoch FROM durable_meta") == [1])
  }

  @Test func `C42 Of two set-backs, of which another process has put right the first, the second is put right`()
    async throws
  {
    let id = try await backOff(.seconds(600))
    try await store.execute("UPDATE durable_job SET run_at=run_at-3600000,rank=rank-3600000")
    try await store.execute("UPDATE durable_meta SET epoch=epoch+1,epoch_at=epoch_at-3600000")
    clock.stepWallClock(by: .seconds(-7200))
    for _ in 1...2 { #expect(try await due(id) == .seconds(600)) }
    #expect(try await store.numbers("SELECT epoch FROM durable_meta") == [2])
  }

  @Test func `A single job with a time beyond reason is not taken for a clock that was set back`() async throws {
    let id = try await backOff(.seconds(600))
    try await store.insert(.plain(), .plain())
    try await store.execute("UPDATE durable_spec SET created_at=1<<52 WHERE id=3")
    await store.close()
    let again = try folder.store(clock: clock)
    try await again.insert(.plain())
    #expect(try await again.jobs(JobQuery(.id(id))).first?.runAt == clock.now.addingTimeInterval(600))
    #expect(try await again.numbers("SELECT epoch FROM durable_meta") == [0])
    await again.close()
  }

  @Test func `C42 Who took the time before the clock was set back, and tells of it after, has no wait moved again`()
    async throws
  {
    let id = try await backOff(.seconds(600))
    let slow = store.engine.time.moment
    clock.advance(by: .seconds(1))
    clock.stepWallClock(by: .seconds(-3600))
    #expect(try await due(id) == .seconds(599))
    store.engine.time.saw(slow)
    #expect(try await due(id) == .seconds(599))
    #expect(try await store.numbers("SELECT epoch FROM durable_meta") == [1])
  }

  @Test func `C42 A clock that is set back inside a transaction moves the waits once`() async throws {
    let id = try await backOff(.seconds(600))
    try await store.onWriter { [clock] _ in clock.stepWallClock(by: .seconds(-3600)) }
    for _ in 1...2 { #expect(try await due(id) == .seconds(600)) }
    #expect(try await store.numbers("SELECT epoch FROM durable_meta") == [1])
  }

  @Test func `C42 A process that opens the file after the clock was set back finds the waits as they should be`()
    async throws
  {
    let id = try await backOff(.seconds(600))
    clock.stepWallClock(by: .seconds(-3600))
    #expect(try await due(id) == .seconds(600))
    await store.close()
    let again = try folder.store(clock: clock)
    _ = try await again.insert(.plain())
    let job = try await again.jobs(JobQuery(.id(id))).first
    #expect(job?.runAt == clock.now.addingTimeInterval(600))
    await again.close()
  }

  @Test(arguments: [7200, 75 * 365 * 86400])
  func `C42 What was stored long before its wait was set hides no step of the clock from the next process`(ahead: Int)
    async throws
  {
    _ = try await store.insert(.plain(), .plain())
    clock.stepWallClock(by: .seconds(ahead))
    let retried = try await store.claim(.of(1)).jobs[0].token
    let wait = ClaimSettlement(token: retried, result: .retry(.after(.seconds(600)), message: "no"))
    _ = try await store.settle([wait], thenClaim: nil)
    let new = try await store.insert(.plain(terms: JobTerms(start: .after(.milliseconds(200)))))[0]
    await store.close()
    clock.stepWallClock(by: .seconds(-ahead))
    for _ in 1...2 {
      let again = try folder.store(clock: clock)
      _ = try await again.insert(.plain())
      #expect(try await again.jobs(JobQuery(.id(retried.job))).first?.runAt == clock.now.addingTimeInterval(600))
      #expect(try await again.jobs(JobQuery(.id(new))).first?.runAt == clock.now.addingTimeInterval(0.2))
      #expect(try await again.numbers("SELECT epoch FROM durable_meta") == [1])
      await again.close()
    }
  }

  @Test func `A wait with a time beyond reason is not taken for a clock that was set back`() async throws {
    let id = try await backOff(.seconds(600))
    let other = try await backOff(.seconds(600))
    try await store.execute("UPDATE durable_job SET entered_at=1<<52 WHERE id=\(other)")
    await store.close()
    let again = try folder.store(clock: clock)
    _ = try await again.insert(.plain())
    #expect(try await again.jobs(JobQuery(.id(id))).first?.runAt == clock.now.addingTimeInterval(600))
    await again.close()
  }

  @Test func `C42 A process that was not there when the clock was set back puts right what was left`() async throws {
    let id = try await backOff(.seconds(600))
    await store.close()
    clock.stepWallClock(by: .seconds(-3600))
    let again = try folder.store(clock: clock)
    _ = try await again.insert(.plain())
    let job = try await again.jobs(JobQuery(.id(id))).first
    #expect(job?.runAt == clock.now.addingTimeInterval(600))
    await again.close()
  }
}
