import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobs

/// What a reader of a queue's events is told. That every store posts them, and when, is in the conformance suite.
@Suite struct EventTests {
  let store = FaultyStore(InMemoryStore(clock: ManualClock()))
  let queue: JobQueue

  init() { queue = JobQueue(store: store) }

  @Test func `events end with their store, once all were read`() async throws {
    var events = queue.events.makeAsyncIterator()
    let id = try await queue.enqueue(kind: "k", payload: Data())
    let reader = Task {
      var read: [JobEvent] = []
      for await event in queue.events { read.append(event) }
      return read
    }
    store.signals.close()
    #expect(await events.next() == .changed(JobTransition(id: id, queue: "default", kind: "k", state: .ready)))
    #expect(await events.next() == .changedElsewhere)
    #expect(await events.next() == nil)
    #expect(
      Set(await reader.value).isSubset(of: [.changedElsewhere]), "it began before or after the end, and has ended")
  }

  @Test func `C67 A reader that does not keep up is told how many events it missed, and where`() async throws {
    var events = queue.events.makeAsyncIterator()
    let job = NewJob(queue: queue.name, kind: "k", payload: Data())
    for _ in 1...3 { _ = try await store.insert(JobInsertion(Array(repeating: job, count: 500))) }
    for number in 1...JobEvents.kept {
      guard case .changed(let change) = await events.next() else { return #expect(Bool(false)) }
      #expect(change.id.rawValue == Int64(number))
    }
    #expect(await events.next() == .missed(500))
    try await queue.cancel(JobID(rawValue: 7))
    guard case .changed(let change) = await events.next() else { return #expect(Bool(false)) }
    #expect((change.id.rawValue, change.state) == (7, .cancelled))
  }

  @Test func `Events are those of one queue, and what others changed is one event until it is read`() async throws {
    var events = queue.events.makeAsyncIterator()
    try await JobQueue("other", store: store).enqueue(kind: "k", payload: Data())
    for _ in 1...3 { store.signals.post(.changedElsewhere(.results)) }
    store.signals.post(.changedElsewhere(.doubt))
    let id = try await queue.enqueue(kind: "k", payload: Data())
    #expect(await events.next() == .changedElsewhere)
    guard case .changed(let change) = await events.next() else { return #expect(Bool(false)) }
    #expect(change.id == id)
  }

  @Test func `Who reads events costs the store nothing, and nothing stays of it`() async throws {
    var all: [JobEvents.Iterator] = (1...3).map { _ in queue.events.makeAsyncIterator() }
    let id = try await queue.enqueue(kind: "k", payload: Data())
    for index in all.indices {
      guard case .changed(let change) = await all[index].next() else { return #expect(Bool(false)) }
      #expect(change.id == id)
    }
    #expect(store.calls(of: .jobs) == 0)
    all = []
    #expect(!store.signals.hasListeners)
  }

  @Test func `Reading ends with its task`() async throws {
    let events = queue.events
    let reading = Task { for await _ in events {} }
    while !store.signals.hasListeners { await Task.yield() }
    reading.cancel()
    await reading.value
  }
}
