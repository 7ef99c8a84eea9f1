import DurableJobs
import DurableJobsApp
import DurableJobsTesting
import Foundation
import Observation
import Testing

/// What a screen shows. Time stands still but for what a test says.
@MainActor @Suite struct JobListTests {
  struct Note: JobPayload {
    static let kind = "note"
    var text: String
  }

  let clock = ManualClock()
  let store: FaultyStore
  let queue: JobQueue

  init() {
    store = FaultyStore(InMemoryStore(clock: clock))
    queue = JobQueue(store: store)
  }

  /// Waits, as a screen does, for changes of what `condition` reads.
  private func until(_ condition: @escaping @MainActor () -> Bool) async {
    while !condition() {
      await withCheckedContinuation { changed in
        withObservationTracking {
          _ = condition()
        } onChange: {
          changed.resume()
        }
      }
    }
  }

  @Test func `A list loads, and follows the store`() async throws {
    try await queue.enqueue(Note(text: "a"))
    let list = JobList(queue, of: Note.self)
    #expect(list.isLoading && list.rows.isEmpty)
    await until { !list.isLoading && list.counts[.ready] == 1 }
    #expect(list.rows.map(\.payload.text) == ["a"])
    try await queue.enqueue(Note(text: "b"))
    clock.advance(by: .milliseconds(100))
    await until { list.rows.count == 2 && list.counts[.ready] == 2 }
    #expect(list.rows.map(\.payload.text) == ["b", "a"])
    #expect(list.error == nil)
  }

  @Test func `What can't be read is told, with what was there, until it can be again`() async throws {
    let id = try await queue.enqueue(kind: "k", payload: Data())
    let list = JobList(queue)
    await until { list.rows.count == 1 }
    store.fail(.jobs, with: JobError(.locked, "busy"))
    try await queue.cancel(id)
    clock.advance(by: .milliseconds(100))
    await until { list.error != nil }
    #expect(list.rows.map(\.state) == [.ready])
    while list.rows[0].state == .ready {
      clock.advance(by: .seconds(1))
      await Task.yield()
    }
    #expect(list.error == nil)
    #expect(list.rows.map(\.state) == [.cancelled])
  }

  @Test func `A list that is let go of watches no more`() async throws {
    var list: JobList<JobSnapshot>? = JobList(queue)
    await until { list?.isLoading == false }
    weak let gone = list
    list = nil
    #expect(gone == nil)
    while store.signals.hasListeners { await Task.yield() }
  }
}
