import DurableJobs
import DurableJobsTesting
import Foundation
import TestProcesses
import Testing

@testable import DurableJobsOperations

@Suite struct OperationQueueTests {
  @Test func `Handlers that end with a callback end when it comes, from any thread, and fail with its error`()
    async throws
  {
    let bench = Bench(maxRetries: 1)
    bench.queue.register("work", retry: .constant(.milliseconds(1))) { operation in
      bench.record.add("\(operation.id) \(operation.attempt)")
      let isFirst = operation.attempt == 1
      DispatchQueue.global().async { operation.completed(isFirst ? Trouble() : nil) }
    }
    let operation = Bench.work("a")
    await bench.queue.add(operation)
    await bench.queue.finished()
    #expect(bench.record.all == ["a 1", "a 2"])
    #expect(operation.error == nil)
    await bench.queue.stop()
  }

  @Test func `Suspended, it begins nothing, and what runs goes on`() async throws {
    let bench = Bench()
    let (begun, mayEnd) = (Record(), Door())
    bench.queue.register("work") { operation, _ in
      begun.add(operation.id)
      await mayEnd.pass()
      bench.record.add(operation.id)
    }
    let operations = ["a", "b"].map(Bench.work)
    await onThread { bench.queue.addOperations(operations, waitUntilFinished: false) }
    await begun.reached(1)
    bench.queue.isSuspended = true
    mayEnd.open()
    await operations[0].finished()
    // A claim that was made now would be here before what is stored next.
    let mark = try await bench.queue.jobs.enqueue(kind: "mark", payload: Data())
    #expect(try await bench.queue.jobs.job(#require(operations[1].jobID)).state == .ready)
    try await bench.queue.jobs.cancel(mark)
    #expect(begun.all == ["a"])
    bench.queue.isSuspended = false
    await bench.queue.finished()
    #expect(bench.record.all == ["a", "b"])
    await bench.queue.stop()
  }

  @Test func `So many run at once as maxConcurrentOperationCount says, which may change`() async throws {
    let bench = Bench(maxConcurrency: 0)
    let mayEnd = Door()
    bench.queue.register("work") { operation, _ in
      bench.record.add(operation.id)
      await mayEnd.pass()
    }
    await onThread {
      bench.queue.addOperations((0..<4).map { Bench.work("\($0)") }, waitUntilFinished: false)
    }
    #expect(bench.queue.maxConcurrentOperationCount == 0)
    #expect(bench.record.all == [])
    bench.queue.maxConcurrentOperationCount = 3
    await bench.record.reached(3)
    #expect(try await bench.queue.jobs.counts() == JobCounts([.running: 3, .ready: 1]))
    mayEnd.open()
    await bench.queue.finished()
    await bench.queue.stop()
  }

  @Test func `Plain operations run as in Foundation, before and after durable ones`() async throws {
    let bench = Bench()
    bench.registerWork()
    let durable = Bench.work("durable")
    let before = BlockOperation { bench.record.add("before") }
    let after = BlockOperation { bench.record.add("after") }
    durable.addDependency(before)
    after.addDependency(durable)
    await bench.queue.add(after, durable)
    #expect(durable.jobID == nil && !durable.isFinished)
    await bench.queue.add(before)
    await onThread { bench.queue.addOperation { bench.record.add("block") } }
    await bench.queue.finished()
    #expect(bench.record.all.filter { $0 != "block" } == ["before", "durable", "after"])
    #expect(bench.record.all.contains("block"))
    await bench.queue.stop()
  }

  @Test func `What waits for a plain operation can be cancelled, and is never stored`() async throws {
    let bench = Bench()
    let (plain, durable) = (BlockOperation {}, Bench.work("a"))
    durable.addDependency(plain)
    await bench.queue.add(durable)
    durable.cancel()
    #expect(durable.isFinished && durable.error is CancellationError)
    await bench.queue.add(plain)
    await bench.queue.finished()
    #expect(try await bench.queue.jobs.counts().total == 0)
    await bench.queue.stop()
  }

  @Test func `A barrier comes after all that was added before it, and before all that is added later`() async throws {
    let bench = Bench(maxConcurrency: 4)
    bench.registerWork()
    await onThread {
      bench.queue.addOperations(["a", "b"].map(Bench.work), waitUntilFinished: false)
      bench.queue.addOperation { bench.record.add("plain") }
      bench.queue.addBarrierBlock { bench.record.add("barrier") }
      bench.queue.addOperations(["c", "d"].map(Bench.work), waitUntilFinished: false)
      bench.queue.addOperation { bench.record.add("later") }
    }
    await bench.queue.finished()
    let parts = bench.record.all.split(separator: "barrier")
    #expect(parts.map { Set($0) } == [["a", "b", "plain"], ["c", "d", "later"]])
    await bench.queue.stop()
  }

  @Test func `Each is stored by enqueue once it can be, though another one waits for longer`() async throws {
    let bench = Bench()
    bench.registerWork()
    let (first, second, plain, last) = (Bench.work("1"), Bench.work("3"), BlockOperation {}, BlockOperation {})
    first.addDependency(last)
    last.addDependency(second)
    second.addDependency(plain)
    await bench.queue.add(last)
    async let stored: Void = bench.queue.enqueue(first, second)
    await bench.queue.add(plain)
    try await stored
    await bench.queue.finished()
    #expect(bench.record.all == ["3", "1"])
    await bench.queue.stop()
  }

  @Test func `Progress counts what was added and what has finished`() async throws {
    let bench = Bench(maxConcurrency: 4)
    bench.registerWork()
    await onThread { bench.queue.addOperations((0..<7).map { Bench.work("\($0)") }, waitUntilFinished: false) }
    #expect(bench.queue.progress.totalUnitCount == 7)
    await bench.queue.finished()
    #expect(bench.queue.progress.completedUnitCount == 7)
    await bench.queue.stop()
  }

  @Test func `An operation is cancelled once the store takes that`() async throws {
    let clock = ManualClock()
    let store = FaultyStore(InMemoryStore(clock: clock))
    let (queue, operation) = (DurableOperationQueue(name: "bench", store: store), Bench.work("a"))
    await queue.add(operation)
    store.fail(.change, with: JobError(.locked, "away"))
    operation.cancel()
    await passing(clock) { await operation.finished() }
    #expect(try await queue.jobs.counts() == JobCounts([.cancelled: 1]))
    await queue.stop()
  }

  @Test func `C54 A stop interrupts what runs when the grace is over, and the next queue runs it`() async throws {
    let first = Bench()
    first.queue.register("work") { operation, context in
      first.record.add(operation.id)
      while !Task.isCancelled { await Task.yield() }
      throw CancellationError()
    }
    let operation = Bench.work("a")
    await first.queue.add(operation)
    await first.record.reached(1)
    await first.queue.stop(grace: .zero)
    let job = try await first.queue.jobs.job(#require(operation.jobID))
    #expect((job.state, job.attempt, operation.isFinished) == (.ready, 0, false))
    let second = Bench(first.store)
    second.registerWork()
    await operation.finished()
    await second.queue.finished()
    #expect(second.record.all == ["a"])
    await second.queue.stop()
  }

  @Test func `An unfinished operation keeps its queue, and a queue without any lets its worker go`() async throws {
    let (store, record) = (InMemoryStore(), Record())
    let operation = DurableOperation(id: "a", kind: "work")
    let mayEnd = Door()
    await onThread {
      let made = DurableOperationQueue(name: "q", store: store)
      made.register("work") { operation, _ in
        await mayEnd.pass()
        record.add(operation.id)
      }
      made.addOperation(operation)
    }
    mayEnd.open()
    await operation.finished()
    #expect(record.all == ["a"])
    // Nobody stopped its worker.
    await onThread {
      while !store.signals.localWorkers.isEmpty { sched_yield() }
    }
  }

  @Test func `C14 Handlers that add operations, on all threads of the pool at once, go on`() async throws {
    let bench = Bench(maxConcurrency: 32)
    bench.registerWork()
    bench.queue.register("parent") { [unowned queue = bench.queue] operation, _ in
      for child in 0..<4 { queue.addOperation(Bench.work("\(operation.id)-\(child)")) }
    }
    await onThread {
      bench.queue.addOperations(
        (0..<32).map { DurableOperation(id: "\($0)", kind: "parent") }, waitUntilFinished: true)
    }
    await bench.queue.finished()
    #expect(Set(bench.record.all).count == 128)
    #expect(bench.record.all.count == 128)
    await bench.queue.stop()
  }

  @Test func `Added at the same moment as what it depends on, an operation runs, and after it`() async throws {
    let bench = Bench(maxConcurrency: 4)
    bench.registerWork()
    for _ in 0..<50 {
      let (first, second) = (Bench.work("first"), Bench.work("second"))
      second.addDependency(first)
      async let one: Void = bench.queue.add(first)
      async let other: Void = bench.queue.add(second)
      _ = await (one, other)
      await bench.queue.finished()
    }
    #expect(bench.record.all == (0..<50).flatMap { _ in ["first", "second"] })
    await bench.queue.stop()
  }

  @Test func `A dependency whose storing is under way is waited for, though its job has succeeded already`()
    async throws
  {
    let bench = Bench()
    let (first, second) = (Bench.work("first"), Bench.work("second"))
    second.addDependency(first)
    #expect(first.enter(bench.queue, bench.queue.board, mustWait: false))
    first.beginInserting()
    let job = try await bench.queue.jobs.enqueue(
      kind: "work", payload: Data(), options: JobOptions(key: "bench/first"))
    try await bench.queue.jobs.complete(job)  // and its insertion has not returned yet
    async let added: Void = bench.queue.add(second)
    await onThread {
      while first.state.withLock({ $0.dependents.isEmpty }) { sched_yield() }
    }
    #expect(second.jobID == nil)
    first.stored(as: job)
    await added
    let stored = try await bench.queue.jobs.job(#require(second.jobID))
    #expect(stored.state == .ready)
    #expect(stored.edges == [JobEdge(.job(job), .ended)])
    bench.registerWork()
    await second.finished()
    first.finish(nil)
    await bench.queue.stop()
  }

  @Test func `What can't be read of a dependency uses no attempt of what waits for it`() async throws {
    let clock = ManualClock()
    let (base, record) = (InMemoryStore(clock: clock), Record())
    let store = FaultyStore(base)
    let queue = DurableOperationQueue(name: "bench", store: store, maxRetries: 0)
    queue.isSuspended = true
    let (first, second) = (Bench.work("first"), Bench.work("second"))
    second.addDependency(first)
    // Its job has ended, and it has yet to hear of that.
    #expect(first.enter(queue, queue.board, mustWait: false))
    let job = try await queue.jobs.enqueue(kind: "work", payload: Data(), options: JobOptions(key: "bench/first"))
    try await queue.jobs.complete(job)
    first.stored(as: job)
    await queue.add(second)
    await onThread { while store.signals.watch.count == 0 { sched_yield() } }
    await store.signals.watch.rest()
    store.fail(.jobs, with: JobError(.locked, "away"))
    queue.register("work") { operation, _ in record.add("\(operation.id) \(operation.attempt) \(first.isFinished)") }
    queue.isSuspended = false
    let id = try #require(second.jobID)
    _ = try await store.firstAfterEachSignal { () -> Bool? in
      try await base.jobs(JobQuery(.id(id) && .states([.ready, .running]))).isEmpty ? true : nil
    }
    clock.advance(by: .seconds(1))
    await second.finished()
    #expect(record.all == ["second 1 true"])
    #expect(second.error == nil)
    await queue.stop()
  }

  @Test func `A job of another process is run without being read`() async throws {
    let (base, record) = (InMemoryStore(), Record())
    let store = FaultyStore(base)
    let queue = DurableOperationQueue(name: "bench", store: store, maxRetries: 0)
    queue.register("work") { operation, _ in record.add("\(operation.id) \(operation.attempt)") }
    #expect(await onThread { queue.durableOperations } == [])
    store.fail(.jobs, with: JobError(.locked, "away"))
    let id = try await JobQueue("bench", store: base).enqueue(
      kind: "work", payload: Data(), options: JobOptions(maxAttempts: 1, key: "bench/a"))
    try await queue.jobs.waitUntilFinished()
    #expect(record.all == ["a 1"])
    #expect(try await base.jobs(JobQuery(.id(id)))[0].state == .succeeded)
    await queue.stop()
  }

  @Test func `Many threads add and cancel at once, and each operation ends once`() async throws {
    let bench = Bench(maxConcurrency: 8)
    bench.registerWork()
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask {
          await onThread {
            for number in 0..<20 {
              let operation = Bench.work("\(thread)-\(number)")
              bench.queue.addOperation(operation)
              if number % 3 == 0 { operation.cancel() }
              if number % 7 == 0 { bench.queue.addBarrierBlock {} }
            }
          }
        }
      }
    }
    await bench.queue.finished()
    await bench.ended.reached(160)
    #expect(Set(bench.ended.all.map { $0.split(separator: ":")[0] }).count == 160)
    #expect(bench.ended.all.count == 160)
    #expect(bench.record.all.count == Set(bench.record.all).count)
    #expect(try await bench.queue.jobs.counts().unfinished == 0)
    await bench.queue.stop()
  }
}
