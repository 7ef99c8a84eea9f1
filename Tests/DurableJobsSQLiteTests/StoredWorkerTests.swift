import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct StoredWorkerTests {
  let folder: StoreFolder
  let clock = ManualClock()

  init() throws { folder = try StoreFolder() }

  @Test func `A worker is told with its process, what it serves and what it runs`() async throws {
    let store = try folder.store(clock: clock)
    let ids = try await store.insert(.plain(), .plain(), .plain("other"))
    _ = try await store.claim(.of(2, kinds: ["work", "rest"]))
    let worker = try #require(try await store.workers().first)
    #expect(worker.process == Int64(ProcessInfo.processInfo.processIdentifier))
    #expect(worker.queues == ["default"])
    #expect(worker.kinds == ["work", "rest"])
    #expect(worker.jobs == Set(ids.prefix(2)))
    #expect(worker.since == clock.now)
    #expect(worker.standing == .alive)
  }

  @Test func `A worker whose lease lapsed while its process lives does not answer`() async throws {
    let store = try folder.store(clock: clock)
    _ = try await store.claim(.of(1))
    clock.advance(by: Defaults.lease)
    #expect(try await store.workers().map(\.standing) == [.silent])
    _ = try await store.renew(RenewalRequest(worker: "w", renewals: []))
    #expect(try await store.workers().map(\.standing) == [.alive])
  }

  @Test func `A worker with two rows is one, with the jobs of both`() async throws {
    var configuration = SQLiteStore.Configuration()
    configuration.firstClaim = ClaimNumber.limit - 3
    let store = try SQLiteStore(path: folder.path(), configuration: configuration)
    let ids = try await store.insert(.plain(), .plain(), .plain(), .plain())
    for _ in ids { _ = try await store.claim(.of(1)) }
    #expect(try await store.numbers("SELECT count(*) FROM durable_worker") == [2])
    #expect(try await store.workers().map(\.jobs) == [Set(ids)])
  }

  @Test func `A worker that is being recovered is dead`() async throws {
    let store = try folder.store()
    _ = try await store.claim(.of(1))
    try await store.execute("UPDATE durable_worker SET lease_until=-1")
    #expect(try await store.workers().map(\.standing) == [.dead])
  }
}
