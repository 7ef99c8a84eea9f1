import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct LeaseTests {
  let folder: StoreFolder
  let clock = ManualClock()

  init() throws { folder = try StoreFolder() }

  @Test func `A worker whose claims are counted through takes a new row, and nothing stops`() async throws {
    var configuration = SQLiteStore.Configuration()
    configuration.firstClaim = ClaimNumber.limit - 3
    let store = try SQLiteStore(path: folder.path(), configuration: configuration)
    for _ in 0..<6 { try await store.insert(.plain()) }
    var held: [ClaimedJob] = []
    for _ in 0..<4 { held += try await store.claim(.of(1)).jobs }
    #expect(held.count == 4)
    #expect(Set(held.map(\.token.claim)).count == 4)
    #expect(Set(held.map { ClaimNumber(rawValue: $0.token.claim).worker }).count == 2)
    let standings = try await store.renew(
      RenewalRequest(worker: "w", renewals: held.map { ClaimRenewal(token: $0.token) }))
    #expect(standings == held.map { _ in .held })
    let batch = try await store.settle(held.map { $0.settled() }, thenClaim: .of(1))
    #expect(batch.replies.map(\.isAccepted) == held.map { _ in true })
    _ = try await store.renew(RenewalRequest(worker: "w", renewals: []))
    // The old row goes when nothing is claimed under it any more.
    #expect(try await store.numbers("SELECT count(*) FROM durable_worker") == [1])
    #expect(batch.claimed?.jobs.count == 1)
  }

  @Test func `A heartbeat learns of a stop that was asked for, and of a job that was ended from outside`() async throws
  {
    let store = try folder.store()
    let ids = try await store.insert(.plain(), .plain(), .plain())
    let jobs = try await store.claim(.of(3)).jobs
    let renewal = RenewalRequest(worker: "w", renewals: jobs.map { ClaimRenewal(token: $0.token) })
    #expect(try await store.renew(renewal) == [.held, .held, .held])
    try await store.change(.cancel(reason: nil), ids[0])
    try await store.change(.complete(output: nil), ids[1])
    for _ in 0..<2 {
      #expect(try await store.renew(renewal) == [.stopRequested(.cancelled), .lost, .held])
    }
  }

  @Test func `A claim writes its worker's row again only when a third of the lease is gone`() async throws {
    let store = try folder.store(clock: clock)
    for _ in 0..<4 { try await store.insert(.plain()) }
    _ = try await store.claim(.of(1))
    let lease = try await store.numbers("SELECT lease_until FROM durable_worker")
    clock.advance(by: .seconds(9))
    _ = try await store.claim(.of(1))
    #expect(try await store.numbers("SELECT lease_until FROM durable_worker") == lease)
    clock.advance(by: .seconds(2))
    _ = try await store.claim(.of(1))
    #expect(try await store.numbers("SELECT lease_until FROM durable_worker") == [lease[0] + 11_000])
  }

  @Test func `C42 A back-off keeps its length when the clock is set back while the store is closed`() async throws {
    let store = try folder.store(clock: clock)
    let id = try await store.insert(.plain())[0]
    let job = try await store.claim(.of(1)).jobs[0]
    _ = try await store.settle([job.settled(.retry(.after(.seconds(10)), message: "no"))], thenClaim: nil)
    await store.close()
    clock.stepWallClock(by: .seconds(-3600))
    let again = try folder.store(clock: clock)
    #expect(try await again.job(id)?.runAt == clock.now + 10)
    clock.advance(by: .seconds(10))
    #expect(try await again.claim(.of(1)).jobs.map(\.token.job) == [id])
  }
}
