import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

/// What a worker does as time passes, on a clock that only the test moves.
@Suite struct WorkerTimeTests {
  let clock = ManualClock()
  let store: FaultyStore
  let queue: JobQueue

  init() {
    store = FaultyStore(InMemoryStore(clock: clock))
    queue = JobQueue(store: store)
  }

  @Test func `a job that is due later starts at its time, without a sweep in between`() async throws {
    let worker = JobWorker(queue)
    worker.register(kind: "k") { _, _ in nil }
    let id = try await queue.enqueue(kind: "k", payload: Data(), options: JobOptions(start: .after(.seconds(3))))
    worker.start()
    await clock.timerScheduled(within: .seconds(3))
    clock.advance(by: .milliseconds(2999))
    #expect(try await queue.job(id).state == .scheduled)
    clock.advance(by: .milliseconds(1))
    _ = try await store.whenFinished(id)
    #expect(store.calls(of: .recover) == 1, "only the look at its start")
    await worker.stop()
  }

  @Test func `a failed attempt comes back after its back-off, exactly`() async throws {
    let attempts = Recorder<Int>()
    let failed = Gate()
    let worker = JobWorker(queue)
    worker.register(kind: "k", retry: .constant(.seconds(7))) { _, context in
      attempts.add(context.attempt)
      if context.attempt == 1 { throw JobFailure(job: context.id, kind: "k", message: "once", attempts: 1) }
      return nil
    }
    let subscription = store.signals.listen { signal in
      if case .committed(let changes) = signal, changes.contains(where: { $0.state == .scheduled }) { failed.open() }
    }
    let id = try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    await failed.pass()
    let due = try #require(try await queue.job(id).runAt)
    #expect(due == clock.now.addingTimeInterval(7))
    await clock.timerScheduled(within: .seconds(7))
    clock.advance(by: .seconds(7))
    _ = try await store.whenFinished(id)
    #expect(attempts.all == [1, 2])
    await worker.stop()
    withExtendedLifetime(subscription) {}
  }

  @Test func `C16 a job whose claim was never answered runs, though its worker holds nothing else`() async throws {
    let worker = JobWorker(queue, logger: LogBook().logger)
    worker.register(kind: "k") { _, _ in nil }
    let id = try await queue.enqueue(kind: "k", payload: Data())
    store.fail(next: 1, .claim, with: JobError(.locked, "busy"), isDone: true)
    worker.start()
    await clock.timerScheduled(within: .milliseconds(100))
    #expect(try await queue.job(id).state == .running, "for this worker, which does not know it")
    clock.advance(by: .milliseconds(100))
    let job = try await store.whenFinished(id)
    #expect((job.state, job.attempt, job.crashes) == (.succeeded, 1, 0))
    await worker.stop()
  }

  @Test func `C16 a job that was claimed with a result whose answer was lost runs before the worker is idle`()
    async throws
  {
    let worker = JobWorker(queue, maxConcurrentJobs: 1, logger: LogBook().logger)
    worker.register(kind: "k") { _, _ in nil }
    for _ in 1...2 { try await queue.enqueue(kind: "k", payload: Data()) }
    store.fail(next: 1, .settle, with: JobError(.locked, "busy"), isDone: true)
    async let counts = worker.runUntilIdle()
    await clock.timerScheduled(within: .milliseconds(100))
    clock.advance(by: .milliseconds(100))
    #expect(try await counts == JobCounts([.succeeded: 2]))
    #expect(try await queue.jobs().map(\.crashes) == [0, 0])
  }

  @Test func `C13 C14 a lease is renewed while handlers block every thread of the pool`() async throws {
    let threads = ProcessInfo.processInfo.activeProcessorCount  // of Swift's pool
    let begun = Recorder<JobID>()
    let mayEnd = DispatchSemaphore(value: 0)
    let worker = JobWorker(queue, maxConcurrentJobs: threads)
    worker.register(kind: "blocks") { _, context in
      begun.add(context.id)
      block(until: mayEnd)
      return nil
    }
    for _ in 0..<threads { try await queue.enqueue(kind: "blocks", payload: Data()) }
    worker.start()
    await onAThreadOfItsOwn {
      // Not for all of them: another test may hold a thread until this one lets go of its own.
      waitBlocking { !begun.all.isEmpty }
      for number in 1...5 {
        waitBlocking { clock.timers.contains { $0 <= Defaults.renewalInterval } }
        clock.advance(by: Defaults.renewalInterval)
        waitBlocking { store.calls(of: .renew) >= number }
      }
      for _ in 0..<threads { mayEnd.signal() }
    }
    try await queue.waitUntilIdle()
    #expect(try await queue.counts() == JobCounts([.succeeded: threads]))
    #expect(try await queue.jobs().allSatisfy { $0.crashes == 0 && $0.attempt == 1 })
    await worker.stop()
  }

  @Test func `C12 a worker whose job was recovered elsewhere is told so and its result is refused`() async throws {
    let began = Gate()
    let stopped = Gate()
    let reason = Recorder<StopReason?>()
    let worker = JobWorker(queue, maxConcurrentJobs: 1)
    let isFirst = Flag(true)
    worker.register(kind: "k") { _, context in
      guard isFirst.take() else { return Data("2".utf8) }
      began.open()
      await untilCancelled()
      reason.add(context.stopReason)
      stopped.open()
      return Data("1".utf8)
    }
    let id = try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    await began.pass()
    // Its renewals fail for a minute, and somebody else comes by.
    store.fail(next: 1000, .renew, with: JobError(.locked, "busy"))
    clock.advance(by: .seconds(40))
    _ = try await store.recover(RecoveryRequest())
    clock.advance(by: Defaults.doubtInterval)
    #expect(try await store.recover(RecoveryRequest()).recovered == 1)
    store.stopFailing()
    while reason.all.isEmpty {
      clock.advance(by: .seconds(1))
      await Task.yield()
    }
    await stopped.pass()
    #expect(reason.all == [.claimLost])
    _ = try await store.whenFinished(id)
    #expect(try await queue.job(id).output == Data("2".utf8))
    await worker.stop()
  }

  @Test func `a handler whose claim may be lost by its age learns whether it is`() async throws {
    let (began, go) = (Gate(), Gate())
    let held = Recorder<Bool>()
    let worker = JobWorker(queue, maxConcurrentJobs: 1)
    let isFirst = Flag(true)
    worker.register(kind: "k") { _, context in
      guard isFirst.take() else { return nil }
      held.add(await context.isHeld())
      began.open()
      await Task { await go.pass() }.value  // as one that is stopped with its process
      held.add(await context.isHeld())
      return nil
    }
    let id = try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    await began.pass()
    #expect(store.calls(of: .renew) == 0, "nobody doubts a claim that is new")
    store.fail(next: 1000, .renew, with: JobError(.locked, "busy"))
    clock.advance(by: .seconds(40))
    _ = try await store.recover(RecoveryRequest())
    clock.advance(by: Defaults.doubtInterval)
    #expect(try await store.recover(RecoveryRequest()).recovered == 1)
    store.stopFailing()
    // No time passes, by which its worker would renew.
    go.open()
    while held.all.count < 2 { await Task.yield() }
    #expect(held.all == [true, false])
    _ = try await store.whenFinished(id)
    await worker.stop()
  }

  @Test func `a handler that slept with its machine for a lease's length asks whether its claim holds`() async throws {
    let (began, go) = (Gate(), Gate())
    let held = Recorder<Bool>()
    let worker = JobWorker(queue, maxConcurrentJobs: 1)
    worker.register(kind: "k") { _, context in
      began.open()
      await Task { await go.pass() }.value
      held.add(await context.isHeld())
      return nil
    }
    let id = try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    await began.pass()
    clock.sleep(for: Defaults.lease)
    #expect(store.calls(of: .renew) == 0, "no timer goes off while the machine sleeps")
    go.open()
    _ = try await store.whenFinished(id)
    #expect(held.all == [true])
    #expect(store.calls(of: .renew) > 0)
    await worker.stop()
  }

  @Test func `a handler that has stored its success itself is not stopped before it returns`() async throws {
    let (book, held, told) = (LogBook(), Recorder<Bool>(), Recorder<JobState>())
    let worker = JobWorker(queue, logger: book.logger)
    worker.onFinish { told.add($0.state) }
    worker.register(kind: "k") { [clock] _, context in
      let (store, end) = try context.success(with: Data?.none)
      _ = try await store.settle([end], thenClaim: nil)
      clock.advance(by: Defaults.lease)
      held.add(await context.isHeld())  // which asks the store, by its age
      held.add(!Task.isCancelled)
      return nil
    }
    try await queue.enqueue(kind: "k", payload: Data())
    try await worker.runUntilIdle()
    #expect(held.all == [true, true])
    #expect(told.all == [.succeeded])
    #expect(book.warnings == [])
  }

  @Test func `a task that outlives its handler learns at once that the claim is over`() async throws {
    let contexts = Recorder<JobContext>()
    let worker = JobWorker(queue)
    worker.register(kind: "k") { _, context in
      contexts.add(context)
      return nil
    }
    try await queue.enqueue(kind: "k", payload: Data())
    try await worker.runUntilIdle()
    let context = try #require(contexts.all.first)
    #expect(await context.isHeld() == false)
    clock.advance(by: Defaults.lease)
    #expect(await context.isHeld() == false)
  }

  @Test func `a task that asks for its claim as its handler returns is told that it is over`() async throws {
    let (began, go, answers) = (Gate(), Gate(), Recorder<Task<Bool, Never>>())
    let worker = JobWorker(queue)
    worker.register(kind: "k") { [store] _, context in
      began.open()
      await go.pass()
      answers.add(Task { await context.isHeld() })
      // It was asked for, and in vain: so the answer is still awaited.
      while store.calls(of: .renew) == 0 { await Task.yield() }
      return nil
    }
    let id = try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    await began.pass()
    store.fail(next: 1000, .renew, with: JobError(.locked, "busy"))
    clock.sleep(for: Defaults.lease)
    go.open()
    _ = try await store.whenFinished(id)
    #expect(await answers.all[0].value == false)
    await worker.stop()
  }

  @Test func `a run for one job takes no other`() async throws {
    let worker = JobWorker(queue)
    let ran = Recorder<JobID>()
    worker.register(kind: "k") { _, context in
      ran.add(context.id)
      return nil
    }
    _ = try await queue.enqueue(kind: "k", payload: Data(), options: JobOptions(priority: 5))
    let second = try await queue.enqueue(kind: "k", payload: Data())
    #expect(try await worker.runNext(only: second))
    #expect(try await !worker.runNext(only: second))
    #expect(ran.all == [second])
    #expect(try await worker.runNext())
    #expect(ran.all.count == 2)
  }

  @Test func `C29 a handler that ignores its cancellation keeps its slot until it returns`() async throws {
    let began = Gate()
    let mayEnd = Gate()
    let worker = JobWorker(queue, maxConcurrentJobs: 1)
    worker.register(kind: "stubborn") { _, _ in
      began.open()
      await Task { await mayEnd.pass() }.value  // deaf to the handler's own cancellation
      return nil
    }
    worker.register(kind: "next") { _, _ in nil }
    let stubborn = try await queue.enqueue(kind: "stubborn", payload: Data())
    let next = try await queue.enqueue(kind: "next", payload: Data())
    worker.start()
    await began.pass()
    let renewals = store.calls(of: .renew)
    try await queue.complete(stubborn)
    while store.calls(of: .renew) == renewals { await Task.yield() }
    #expect(try await queue.job(next).state == .ready, "the slot is taken by what still runs")
    mayEnd.open()
    _ = try await store.whenFinished(next)
    #expect(try await queue.job(stubborn).state == .succeeded)
    await worker.stop()
  }

  @Test func `C24 without any signal a sweep finds what is ready`() async throws {
    let store = FaultyStore(InMemoryStore(clock: clock), fault: .noSignals)
    let queue = JobQueue(store: store)
    let worker = JobWorker(queue)
    worker.register(kind: "k") { _, _ in nil }
    worker.start()
    while store.calls(of: .claim) == 0 { await Task.yield() }
    await clock.timerScheduled(within: Defaults.sweepInterval)
    let id = try await queue.enqueue(kind: "k", payload: Data())
    clock.advance(by: Defaults.sweepInterval)
    while try await !queue.job(id).state.isFinished { await Task.yield() }
    #expect(try await queue.job(id).state == .succeeded)
    await worker.stop()
  }
}

/// Blocks the calling thread, as a handler does that knows no better.
private func block(until semaphore: DispatchSemaphore) { semaphore.wait() }

/// Looks again and again, without the threads of the pool.
private func waitBlocking(until isTrue: () -> Bool) { while !isTrue() { sched_yield() } }
