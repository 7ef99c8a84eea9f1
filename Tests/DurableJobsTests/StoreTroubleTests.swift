import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

/// What a worker does when its store fails, on a clock that only the test moves.
@Suite struct StoreTroubleTests {
  let clock = ManualClock()
  let store: FaultyStore
  let queue: JobQueue

  init() {
    store = FaultyStore(InMemoryStore(clock: clock))
    queue = JobQueue(store: store)
  }

  @Test func `a run that a store ends with an error says good-bye, and gives back what it did not know of`()
    async throws
  {
    let worker = JobWorker(queue, logger: LogBook().logger)
    worker.register(kind: "k") { _, _ in nil }
    let id = try await queue.enqueue(kind: "k", payload: Data())
    store.fail(next: 1, .claim, with: JobError(.locked, "busy"), isDone: true)
    await #expect(throws: JobError.self) { try await worker.runUntilIdle() }
    #expect(try await queue.job(id).state == .ready)
    #expect(try await queue.isIdle, "no worker is left that could run it")
    store.fail(next: 1, .outstanding, with: JobError(.locked, "busy"))
    await #expect(throws: JobError.self) { try await worker.runUntilIdle() }
    #expect(try await queue.jobs().map(\.state) == [.succeeded])
    let next = try await queue.enqueue(kind: "k", payload: Data())
    #expect(try await queue.explain(next).reasons == [.noWorker])
  }

  @Test func `a store's trouble is told once, and again when it comes back`() async throws {
    let book = LogBook()
    let worker = JobWorker(queue, logger: book.logger)
    let began = Gate()
    worker.register(kind: "k") { _, _ in
      began.open()
      await untilCancelled()
      throw CancellationError()
    }
    try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    await began.pass()
    let full = JobError(.diskFull, "the disk is full")
    func renew(_ number: Int) async {
      let interval = number == 1 ? Defaults.renewalInterval : .seconds(1)
      await clock.timerScheduled(within: interval)
      clock.advance(by: interval)
      while store.calls(of: .renew) < number { await Task.yield() }
    }
    store.fail(next: 5, .renew, with: full)
    for number in 1...6 { await renew(number) }
    await clock.timerScheduled(within: Defaults.renewalInterval)
    #expect(book.warnings == ["the lease could not be renewed; trying again: the disk is full"])
    store.fail(next: 2, .renew, with: full)
    clock.advance(by: Defaults.renewalInterval)
    while store.calls(of: .renew) < 7 { await Task.yield() }
    await renew(8)
    await renew(9)
    await clock.timerScheduled(within: Defaults.renewalInterval)
    #expect(book.warnings.count == 2)
    await worker.stop(grace: .zero)
  }

  @Test func `that the store is at a result is told once, however often that is offered`() async throws {
    let book = LogBook()
    let worker = JobWorker(queue, logger: book.logger)
    worker.register(kind: "k") { _, _ in nil }
    store.fail(next: 5, .settle, with: JobError(.storeFailed, "it is at it", cause: ResultUnderWay.goesOn))
    let id = try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    for number in 1...5 {
      while store.calls(of: .settle) < number { await Task.yield() }
      let claims = store.calls(of: .claim)
      try await queue.enqueue(kind: "another", payload: Data())
      await clock.timerScheduled(within: .seconds(1))
      clock.advance(by: .seconds(1))
      while store.calls(of: .claim) == claims { await Task.yield() }
    }
    while try await queue.job(id).state != .succeeded { await Task.yield() }
    #expect(book.warnings.count == 1, "\(book.warnings)")
    await worker.stop(grace: .zero)
  }

  @Test func `a worker that ends while its store is at a result says that this may be stored all the same`()
    async throws
  {
    let book = LogBook()
    let worker = JobWorker(queue, logger: book.logger)
    worker.register(kind: "k") { _, _ in nil }
    store.fail(
      next: 1_000_000, .settle, with: JobError(.storeFailed, "it is at it", cause: ResultUnderWay.goesOn))
    try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    while store.calls(of: .settle) == 0 { await Task.yield() }
    await worker.stop(grace: .zero)
    let told = book.all.filter { $0.level == .error }.map(\.text)
    #expect(told.first == "results are not stored yet; jobs whose results never are run again: it is at it", "\(told)")
  }

  @Test func `a stop ends also where the store has no room for a result`() async throws {
    let worker = JobWorker(queue, logger: LogBook().logger)
    let mayEnd = Gate()
    let began = Gate()
    worker.register(kind: "k") { _, _ in
      began.open()
      await mayEnd.pass()
      return nil
    }
    let id = try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    await began.pass()
    store.fail(next: 1_000_000, .settle, with: JobError(.diskFull, "the disk is full"))
    mayEnd.open()
    while store.calls(of: .settle) == 0 { await Task.yield() }
    await worker.stop(grace: .zero)
    #expect(try await queue.job(id).state == .ready, "it was given back with the good-bye")
  }

  @Test func `a stop ends with its grace where the store is full, and says whose results are lost`() async throws {
    let (book, lost) = (LogBook(), Lock<Set<JobID>>([]))
    let worker = JobWorker(queue, logger: book.logger)
    worker.onLoss { claim, _ in _ = lost.withLock { $0.insert(claim.job) } }
    let (began, mayEnd) = (Gate(), Gate())
    worker.register(kind: "early") { _, _ in
      await mayEnd.pass()
      return nil
    }
    worker.register(kind: "late") { _, _ in
      began.open()
      await untilCancelled()
      return nil
    }
    let early = try await queue.enqueue(kind: "early", payload: Data())
    let late = try await queue.enqueue(kind: "late", payload: Data())
    worker.start()
    await began.pass()
    for verb in [FaultyStore.Verb.settle, .renew, .recover, .claim] {
      store.fail(next: 1_000_000, verb, with: JobError(.diskFull, "the disk is full"))
    }
    mayEnd.open()
    while store.calls(of: .settle) == 0 { await Task.yield() }
    async let stopped: Void = worker.stop(grace: .seconds(1))
    let hasStopped = Flag(false)
    async let ticking: Void = {
      while !hasStopped.value {
        clock.advance(by: .milliseconds(100))
        await Task.yield()
      }
    }()
    await stopped
    hasStopped.value = true
    await ticking
    let told = book.all.filter { $0.level == .error }.map(\.text)
    #expect(told.first == "results could not be stored; their jobs run again: the disk is full")
    #expect(lost.value == [early, late])
    // Another worker has them once this one's lease has lapsed, as it said no good-bye.
    store.stopFailing()
    clock.advance(by: Defaults.lease)
    _ = try await store.recover(RecoveryRequest())
    clock.advance(by: Defaults.doubtInterval)
    _ = try await store.recover(RecoveryRequest())
    for id in [early, late] { #expect(try await queue.job(id).state == .ready) }
  }

  @Test func `C8 C28 a result that the store can't take now is kept and stored later`() async throws {
    let worker = JobWorker(queue)
    worker.register(kind: "k") { _, _ in
      store.fail(next: 3, .settle, with: JobError(.diskFull, "no room"))
      return Data("1".utf8)
    }
    let id = try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    // A turn that fails sets its next time only after the call, so time goes on until it has found that time.
    while store.calls(of: .settle) < 4 {
      clock.advance(by: .milliseconds(100))
      await Task.yield()
    }
    let job = try await store.whenFinished(id)
    #expect(job.state == .succeeded)
    #expect(job.attempt == 1)
    await worker.stop()
  }

  @Test func `C16 a result whose answer was lost is offered again, and the success stays`() async throws {
    let worker = JobWorker(queue)
    worker.register(kind: "k") { _, _ in
      store.fail(next: 1, .settle, with: JobError(.locked, "busy"), isDone: true)
      return Data("1".utf8)
    }
    let id = try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    _ = try await store.whenFinished(id)
    let job = try await queue.job(id)
    while store.calls(of: .settle) < 2 {
      clock.advance(by: .milliseconds(100))
      await Task.yield()
    }
    await worker.stop()
    #expect(job.state == .succeeded)
    #expect(try await queue.job(id) == job)
  }

  @Test func `C28 a result that the store refuses by itself gives the job back, and others are stored`() async throws {
    let refused = Flag(false)
    let worker = JobWorker(queue)
    worker.register(kind: "k") { _, context in
      if context.id.rawValue == 1, !refused.value {
        refused.value = true
        store.fail(next: 2, .settle, with: JobError(.notEncodable, "too strange"))
      }
      return nil
    }
    let ids = [
      try await queue.enqueue(kind: "k", payload: Data()), try await queue.enqueue(kind: "k", payload: Data()),
    ]
    worker.start()
    for id in ids {
      #expect(try await store.whenFinished(id).state == .succeeded)
    }
    await worker.stop()
  }

  @Test func `what waits for a result is told where that is refused, and its job can't even be given back`()
    async throws
  {
    let (worker, lost) = (JobWorker(queue, logger: LogBook().logger), Gate())
    worker.onLoss { _, _ in lost.open() }
    worker.register(kind: "k") { _, _ in
      store.fail(next: 1_000_000, .settle, with: JobError(.notEncodable, "too strange"))
      return nil
    }
    try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    await lost.pass()
    store.stopFailing()
    await worker.stop()
  }

  @Test func `a store that can't be used at all ends a run that was to be idle, with its error`() async throws {
    let worker = JobWorker(queue)
    worker.register(kind: "k") { _, _ in nil }
    store.fail(next: 1, .claim, with: JobError(.damaged, "the file is damaged"))
    await #expect { try await worker.runUntilIdle() } throws: { ($0 as? JobError)?.code == .damaged }
  }

  @Test func `a store that is closed under a worker ends it, with that error, once its handlers have returned`()
    async throws
  {
    let (worker, lost) = (JobWorker(queue, logger: LogBook().logger), Lock<[JobID]>([]))
    worker.onLoss { claim, _ in lost.withLock { $0.append(claim.job) } }
    worker.register(kind: "k") { _, _ in
      store.fail(next: 1000, .settle, with: JobError(.closed, "the store was closed"))
      return nil
    }
    let id = try await queue.enqueue(kind: "k", payload: Data())
    await #expect { try await worker.run() } throws: { ($0 as? JobError)?.code == .closed }
    #expect(lost.value == [id], "what waits for the result is told that none comes")
  }
}
