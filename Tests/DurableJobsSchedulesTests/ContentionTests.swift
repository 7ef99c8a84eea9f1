import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobsSchedules

/// Schedules of a store in which others always come first.
struct ContentionTests {
  @Test func `to pause or to end a schedule that others change each time comes to an end, and says so`() async throws {
    let store = StubbornStore()
    let queue = JobQueue(store: store)
    try await queue.schedule("often", .every(.seconds(60)), Cleanup())
    let paused = await #expect(throws: JobError.self) { try await queue.pauseSchedule("often") }
    #expect(paused?.code == .wrongState && paused?.message.contains("often") == true)
    let ended = await #expect(throws: JobError.self) { try await queue.unschedule("often") }
    #expect(ended?.code == .wrongState && ended?.message.contains("often") == true)
  }
}

/// A store that takes changes, and in which they are undone before anybody looks.
private final class StubbornStore: JobStore {
  private let store = InMemoryStore()

  var signals: StoreSignals { store.signals }
  var clock: any JobClock { store.clock }
  var path: String? { nil }
  func insert(_ insertion: JobInsertion) async throws -> InsertionReply { try await store.insert(insertion) }
  func claim(_ request: ClaimRequest) async throws -> ClaimBatch { try await store.claim(request) }
  func renew(_ request: RenewalRequest) async throws -> [ClaimStanding] { try await store.renew(request) }
  func settle(_ settlements: [ClaimSettlement], thenClaim: ClaimRequest?) async throws -> SettlementBatch {
    try await store.settle(settlements, thenClaim: thenClaim)
  }
  func recover(_ request: RecoveryRequest) async throws -> RecoveryReport { try await store.recover(request) }
  func change(
    _ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int
  ) async throws -> ChangeReport {
    // It matches nothing.
    try await store.change(change, where: .id(JobID(rawValue: .max)), after: after, limit: limit)
  }
  func configure(_ settings: [StoreSetting]) async throws { try await store.configure(settings) }
  func jobs(_ query: JobQuery) async throws -> [JobSnapshot] { try await store.jobs(query) }
  func counts(where filter: JobFilter) async throws -> JobCounts { try await store.counts(where: filter) }
  func outstanding(_ scope: WorkScope) async throws -> OutstandingWork { try await store.outstanding(scope) }
  func nextDue(in queue: String) async throws -> Date? { try await store.nextDue(in: queue) }
  func batches(_ query: BatchQuery) async throws -> [BatchSnapshot] { try await store.batches(query) }
  func settings() async throws -> [StoreSetting] { try await store.settings() }
}
