import DurableJobs
import DurableJobsTesting
import Foundation
import TestProcesses
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
private final class StubbornStore: PassingStore {
  let base: any JobStore = InMemoryStore()

  func change(
    _ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int
  ) async throws -> ChangeReport {
    // It matches nothing.
    try await base.change(change, where: .id(JobID(rawValue: .max)), after: after, limit: limit)
  }
  func nextDue(in queue: String) async throws -> Date? { try await base.nextDue(in: queue) }
}
