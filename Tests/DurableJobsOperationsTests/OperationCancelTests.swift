import DurableJobs
import DurableJobsOperations
import DurableJobsTesting
import Foundation
import Testing

@Suite struct OperationCancelTests {
  @Test func `C55 A cancelled operation does not run, and says so`() async throws {
    let bench = Bench()
    bench.queue.isSuspended = true
    bench.registerWork()
    let (one, other) = (Bench.work("one"), Bench.work("other"))
    await bench.queue.add(one, other)
    one.cancel()
    await one.finished()
    #expect(one.isCancelled)
    #expect((one.error as? JobFailure)?.message == "cancelled")
    bench.queue.isSuspended = false
    await bench.queue.finished()
    #expect(bench.record.all == ["other"])
    await bench.queue.stop()
  }

  @Test func `C55 An operation whose cancel did not reach its job does not begin`() async throws {
    let (store, ran) = (FaultyStore(InMemoryStore()), Record())
    let queue = DurableOperationQueue(name: "q", store: store)
    queue.isSuspended = true
    queue.register("work") { operation, _ in ran.add(operation.id) }
    let one = Bench.work("one")
    await queue.add(one)
    store.fail(.change, with: JobError(.locked, "away"))
    one.cancel()
    while store.calls(of: .change) == 0 { await Task.yield() }
    queue.isSuspended = false
    await one.finished()
    #expect(ran.all == [])
    #expect((one.error as? JobFailure)?.message == "cancelled")
    await queue.stop()
  }

  @Test func `A cancelled handler is told, in either form`() async throws {
    let bench = Bench(maxConcurrency: 2)
    let begun = Record()
    let callbacks = Lock<[DurableOperation]>([])
    bench.queue.register("task") { _, context in
      begun.add("task")
      while !Task.isCancelled { await Task.yield() }
      #expect(context.stopReason == .cancelled)
      try Task.checkCancellation()
    }
    bench.queue.register("callback") { operation in
      callbacks.withLock { $0.append(operation) }
      begun.add("callback")
    }
    let operations = [DurableOperation(kind: "task"), DurableOperation(kind: "callback")]
    await onThread { bench.queue.addOperations(operations, waitUntilFinished: false) }
    await begun.reached(2)
    await onThread { bench.queue.cancelAllOperations() }
    await operations[0].finished()
    await onThread {
      let operation = callbacks.withLock { $0[0] }
      while operation.stopReason == nil { sched_yield() }
      operation.completed(CancellationError())
      operation.completed()  // the first call counts
    }
    await bench.queue.finished()
    #expect(operations.map { ($0.error as? JobFailure)?.message } == ["cancelled", "cancelled"])
    await bench.queue.stop()
  }

  @Test func `A cancel from elsewhere shows in the operation`() async throws {
    let bench = Bench()
    let operation = Bench.work("a")
    await bench.queue.add(operation)
    try await bench.queue.jobs.cancel(#require(operation.jobID), reason: "not needed")
    await operation.finished()
    #expect(operation.isCancelled)
    #expect((operation.error as? JobFailure)?.message == "cancelled: not needed")
    await bench.queue.stop()
  }

  @Test func `Cancelled before it was added, it is never stored`() async throws {
    let bench = Bench()
    let operation = Bench.work("a")
    operation.cancel()
    await bench.queue.add(operation)
    #expect(operation.isFinished && operation.error is CancellationError)
    #expect(try await bench.queue.jobs.counts().total == 0)
    await bench.queue.stop()
  }
}
