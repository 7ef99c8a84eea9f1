import DurableJobs
import DurableJobsOperations
import DurableJobsTesting
import Foundation
import Testing

/// Operations whose ids jobs have already.
@Suite struct OperationIDTests {
  @Test func `An operation whose id is in use is a view of the job that is there`() async throws {
    let bench = Bench()
    let (one, other) = (Bench.work("a"), Bench.work("a"))
    await bench.queue.add(one, other)
    #expect(one.jobID != nil && one.jobID == other.jobID)
    bench.registerWork()
    await bench.queue.finished()
    #expect(one.isFinished && other.isFinished)
    #expect(bench.record.all == ["a"])
    await bench.queue.stop()
  }

  /// Two on one store, as of two processes, that have nothing to load. The second stores, and runs nothing.
  private static func twoQueues() async -> (mine: DurableOperationQueue, others: DurableOperationQueue) {
    let store = InMemoryStore()
    let (mine, others) = (
      DurableOperationQueue(name: "bench", store: store), DurableOperationQueue(name: "bench", store: store)
    )
    others.isSuspended = true
    #expect(await onThread { mine.durableOperations.count + others.durableOperations.count } == 0)
    return (mine, others)
  }

  @Test func `An operation whose id another process's job has does the work of that job, and not its own`() async throws
  {
    let (mine, others) = await Self.twoQueues()
    let read = Record()
    let (one, other) = (
      try DurableOperation(id: "x", kind: "work", payload: "1"),
      try DurableOperation(id: "x", kind: "other", payload: "2")
    )
    await others.add(one)
    await mine.add(other)
    mine.register("work") { operation, context in
      read.add("\(operation.kind) \(try operation.decode(String.self))")
      try context.report(progress: 0.5)
    }
    mine.register("other") { _, _ in read.add("what was never stored") }
    await other.finished()
    #expect(read.all == ["work 1"])
    #expect(other.error == nil && other.jobID == one.jobID)
    await one.finished()
    await mine.stop()
    await others.stop()
  }

  @Test func `An operation that waits to be stored does not do the work of another process's job of its id`()
    async throws
  {
    let (mine, others) = await Self.twoQueues()
    let read = Record()
    let (one, other) = (
      try DurableOperation(id: "x", kind: "work", payload: "1"),
      try DurableOperation(id: "x", kind: "work", payload: "2")
    )
    let gate = BlockOperation {}
    other.addDependency(gate)
    await mine.add(other)
    mine.register("work") { operation, _ in read.add(try operation.decode(String.self)) }
    await others.add(one)
    await one.finished()
    #expect(read.all == ["1"])
    await mine.add(gate)
    await other.finished()
    #expect(read.all == ["1", "2"])
    await mine.stop()
    await others.stop()
  }

  @Test func `An operation that waits to be stored is not the job of its id, and its cancel does not reach that`()
    async throws
  {
    let (mine, others) = await Self.twoQueues()
    let (one, other, gate, attempts) = (Bench.work("x"), Bench.work("x"), BlockOperation {}, Record())
    other.addDependency(gate)
    await mine.add(other)
    mine.register("work", retry: .constant(.milliseconds(1))) { operation, context in
      attempts.add("\(context.attempt)")
      #expect(operation !== other)
      guard context.attempt == 1 else { return }
      other.cancel()
      throw Trouble()
    }
    await others.add(one)
    await one.finished()
    #expect(attempts.all == ["1", "2"])
    #expect(one.error == nil && other.error is CancellationError)
    await mine.stop()
    await others.stop()
  }
}
