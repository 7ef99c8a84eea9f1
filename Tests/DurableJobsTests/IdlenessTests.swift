import DurableJobsTesting
import Foundation
import TestProcesses
import Testing

@testable import DurableJobs

/// Who waits until a queue or a worker has nothing more to do.
@Suite struct IdlenessTests {
  let store = FaultyStore(InMemoryStore(clock: ManualClock()))
  let queue: JobQueue

  init() { queue = JobQueue(store: store) }

  @Test func `a worker counts as living from the moment at which start has returned`() async throws {
    for _ in 1...20 {
      let mayEnd = Gate()
      let queue = JobQueue(store: InMemoryStore(clock: ManualClock()))
      let worker = JobWorker(queue)
      worker.register(kind: "k") { _, _ in
        await mayEnd.pass()
        return nil
      }
      try await queue.enqueue(kind: "k", payload: Data())
      worker.start()
      #expect(try await queue.isIdle == false)
      mayEnd.open()
      #expect(try await queue.waitUntilIdle() == JobCounts([.succeeded: 1]))
      await worker.stop()
    }
  }

  @Test func `a worker of this process counts for the queues and kinds that it serves, until it has ended`()
    async throws
  {
    let worker = JobWorker(queue, logger: LogBook().logger)
    worker.register(kind: "k") { _, _ in nil }
    store.fail(next: 1_000_000, .claim, with: JobError(.locked, "busy"))
    worker.start()
    try await JobQueue("other", store: store).enqueue(kind: "k", payload: Data())
    try await queue.enqueue(kind: "unknown", payload: Data())
    #expect(try await queue.isIdle)
    #expect(try await JobQueue("other", store: store).isIdle)
    worker.register(kind: "unknown") { _, _ in nil }
    #expect(try await queue.isIdle == false)
    let looks = store.calls(of: .outstanding)
    async let left = queue.waitUntilIdle()
    while store.calls(of: .outstanding) == looks { await Task.yield() }
    await worker.stop()
    #expect(try await left[.ready] == 1)
  }

  /// A store with so many jobs that it takes long to say whether there is more to do, also for who gives up.
  private final class SlowStore: PassingStore {
    let base: any JobStore
    let isAsked = Gate()
    let mayAnswer = Gate()

    init(_ base: any JobStore) { self.base = base }

    func outstanding(_ scope: WorkScope) async throws -> OutstandingWork {
      isAsked.open()
      await Task { await mayAnswer.pass() }.value
      return try await base.outstanding(scope)
    }
  }

  @Test func `a worker that is stopped does not wait for the answer whether there is more to do`() async throws {
    let slow = SlowStore(store)
    let worker = JobWorker(JobQueue(store: slow))
    worker.register(kind: "k") { _, _ in nil }
    try await queue.enqueue(kind: "k", payload: Data())
    async let counts = worker.runUntilIdle()
    await slow.isAsked.pass()
    await worker.stop()
    #expect(try await counts == JobCounts([.succeeded: 1]))
    slow.mayAnswer.open()
  }

  @Test func `who waits for a queue looks again whenever others may have changed it`() async throws {
    let (queue, mayEnd) = (queue, Gate())
    let worker = try await JobWorker.busy(on: queue, until: mayEnd)
    var looks = store.calls(of: .outstanding)
    async let counts = queue.waitUntilIdle()
    while store.calls(of: .outstanding) == looks { await Task.yield() }
    for change: ForeignChange in [.work, .results, .settings] {
      looks = store.calls(of: .outstanding)
      store.signals.post(.changedElsewhere(change))
      while store.calls(of: .outstanding) == looks { await Task.yield() }
    }
    mayEnd.open()
    #expect(try await counts == JobCounts([.succeeded: 1]))
    await worker.stop()
  }

  @Test func `2,000 who wait for a queue share their looks`() async throws {
    let (queue, mayEnd) = (queue, Gate())
    let worker = try await JobWorker.busy(on: queue, until: mayEnd)
    let (looks, begun) = (store.calls(of: .outstanding), Lock(0))
    let waiting = Task {
      try await withThrowingTaskGroup(of: JobCounts.self) { group in
        for _ in 1...2000 {
          group.addTask {
            begun.withLock { $0 += 1 }
            return try await queue.waitUntilIdle()
          }
        }
        return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
    }
    while begun.withLock({ $0 < 2000 }) { await Task.yield() }
    mayEnd.open()
    #expect(try await waiting.value == [JobCounts([.succeeded: 1]): 2000])
    #expect(store.calls(of: .outstanding) - looks <= 8)
    await worker.stop()
  }

  @Test func `a worker of two queues serves also the one that is full`() async throws {
    let (full, free) = (JobQueue("full", store: store), JobQueue("free", store: store))
    let worker = JobWorker([full: 1, free: 1])
    let began = Gate()
    let mayEnd = Gate()
    worker.register(kind: "long") { _, _ in
      began.open()
      await mayEnd.pass()
      return nil
    }
    worker.register(kind: "short") { _, _ in nil }
    try await full.enqueue(kind: "long", payload: Data())
    try await full.enqueue(kind: "short", payload: Data())
    async let counts = worker.runUntilIdle()
    await began.pass()
    // It claims for the free one alone, and a process that knows it from the store alone finds both served.
    _ = try await store.whenFinished(try await free.enqueue(kind: "short", payload: Data()))
    let elsewhere = FaultyStore(store, fault: .noSignals)
    #expect(try await JobQueue("full", store: elsewhere).isIdle == false)
    mayEnd.open()
    #expect(try await counts == JobCounts([.succeeded: 3]))
  }

  @Test func `a run that is stopped tells what it leaves`() async throws {
    let worker = JobWorker(queue, maxConcurrentJobs: 1)
    worker.register(kind: "quit") { _, _ in
      await worker.stop()
      return nil
    }
    for _ in 1...3 { try await queue.enqueue(kind: "quit", payload: Data()) }
    #expect(try await worker.runUntilIdle() == JobCounts([.ready: 2, .succeeded: 1]))
  }

  @Test func `what is left and what has failed is told in the same way, however a queue was worked on`() async throws {
    let worker = JobWorker(queue)
    worker.register(kind: "k", retry: .never) { _, _ in throw CancellationError() }
    try await queue.enqueue(kind: "k", payload: Data())
    try await queue.enqueue(kind: "unknown", payload: Data())
    let counts = JobCounts([.failed: 1, .ready: 1])
    #expect(try await worker.runUntilIdle() == counts)
    #expect(try await queue.waitUntilIdle() == counts)
    #expect(try await queue.counts() == counts)
  }
}
