import DurableJobs
import DurableJobsTesting
import Foundation
import TestProcesses
import Testing

@testable import DurableJobsOperations

/// Operations that an earlier process left.
@Suite struct LeftOperationTests {
  /// A store with operations of an earlier process, which is away when it is first read.
  private static func left(_ ids: String...) async -> (FaultyStore, ManualClock) {
    let clock = ManualClock()
    let bench = Bench(InMemoryStore(clock: clock))
    await onThread { bench.queue.addOperations(ids.map(Bench.work), waitUntilFinished: false) }
    await bench.queue.stop()
    let store = FaultyStore(bench.store)
    store.fail(.jobs, with: JobError(.locked, "away"))
    return (store, clock)
  }

  @Test func `A barrier comes after what an earlier process left`() async throws {
    let (store, clock) = await Self.left("a", "b")
    let (queue, record) = (DurableOperationQueue(name: "bench", store: store), Record())
    await passing(clock) { await onThread { queue.addBarrierBlock { record.add("barrier") } } }
    queue.register("work") { operation, _ in record.add(operation.id) }
    await queue.finished()
    #expect(record.all == ["a", "b", "barrier"])
    await queue.stop()
  }

  @Test func `A queue that is made again has the operations that were left, and finishes them`() async throws {
    let first = Bench()
    await onThread { first.queue.addOperations(["a", "b", "c"].map(Bench.work), waitUntilFinished: false) }
    try await first.queue.jobs.enqueue(kind: "work", payload: Data())  // of no operation
    await first.queue.stop()

    let second = Bench(first.store)
    let left = await onThread { second.queue.durableOperations }
    #expect(left.map(\.id) == ["a", "b", "c", "4"])
    left[1].cancel()
    await left[1].finished()
    second.registerWork()
    await second.queue.finished()
    #expect(second.record.all == ["a", "c", "4"])
    await second.ended.reached(4)
    #expect(Set(second.ended.all.map { $0.prefix(1) }) == ["a", "b", "c", "4"])
    #expect(second.queue.progress.completedUnitCount == 4)
    await second.queue.stop()
  }

  @Test func `What was left is found though the store is away at first, and comes before what is added meanwhile`()
    async throws
  {
    let (store, clock) = await Self.left("a", "b")
    let queue = DurableOperationQueue(name: "bench", store: store)
    let ids = await passing(clock) {
      await queue.add(Bench.work("new"))
      return await onThread { queue.durableOperations.map(\.id) }
    }
    #expect(ids == ["a", "b", "new"])
    await queue.stop()
  }

  @Test func `All are cancelled without a wait for the store, and what was left once it is found`() async throws {
    let (store, clock) = await Self.left("a", "b")
    store.fail(next: 9, .jobs, with: JobError(.locked, "away"))
    let queue = DurableOperationQueue(name: "bench", store: store)
    let new = Bench.work("new")
    await queue.add(new)
    await onThread { queue.cancelAllOperations() }
    #expect(new.isCancelled)
    await passing(clock) { await queue.finished() }
    #expect(try await queue.jobs.counts() == JobCounts([.cancelled: 3]))
    await queue.add(Bench.work("later"))
    #expect(await onThread { queue.durableOperations.map(\.isCancelled) } == [false])
    await queue.stop()
  }

  @Test func `What has ended while it was being read as left is no operation again`() async throws {
    let store = LateStore()
    let (queue, operation) = (DurableOperationQueue(name: "bench", store: store), Bench.work("a"))
    await queue.add(operation)
    store.mayRead.open()
    await store.hasRead.pass()
    queue.register("work") { _, _ in }
    await operation.finished()
    store.mayAnswer.open()
    await queue.finished()
    #expect(queue.progress.totalUnitCount == 1)
    await queue.stop()
  }

  @Test func `A schedule in the queue is no operation, and is not cancelled with them`() async throws {
    let store = InMemoryStore()
    let schedule = NewJob(queue: "bench", kind: "durable.schedule", payload: Data())
    let id = try await store.insert(JobInsertion([schedule])).ids[0]
    let bench = Bench(store)
    await onThread {
      #expect(bench.queue.durableOperations == [])
      bench.queue.cancelAllOperations()
      bench.queue.waitUntilAllOperationsAreFinished()
    }
    #expect(try await bench.queue.jobs.job(id).state == .ready)
    #expect(bench.queue.progress.totalUnitCount == 0)
    await bench.queue.stop()
  }
}

/// Holds its answer to who asks for what was left.
private final class LateStore: PassingStore {
  let (mayRead, hasRead, mayAnswer) = (Door(), Door(), Door())
  let base: any JobStore = InMemoryStore()

  func jobs(_ query: JobQuery) async throws -> [JobSnapshot] {
    guard query.detail == .payload else { return try await base.jobs(query) }
    await mayRead.pass()
    let jobs = try await base.jobs(query)
    hasRead.open()
    await mayAnswer.pass()
    return jobs
  }
}
