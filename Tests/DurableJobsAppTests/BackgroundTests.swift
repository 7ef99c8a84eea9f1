import DurableJobs
import DurableJobsSQLite
import DurableJobsTesting
import Foundation
import Testing

/// Background time, and an app that is suspended.
@Suite final class BackgroundTests: Sendable {
  let clock = ManualClock()
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("app-\(UUID().uuidString)").path

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// A store in the folder, and a worker that does nothing with its jobs.
  private func storeWithWorker() throws -> (SQLiteStore, JobQueue, JobWorker) {
    let store = try SQLiteStore(path: path + "/jobs.sqlite")
    let queue = JobQueue(store: store)
    let worker = JobWorker(queue)
    worker.register(kind: "k") { _, _ in nil }
    return (store, queue, worker)
  }

  @Test func `A run that has a deadline gives back what is not done by then, and costs it no attempt`() async throws {
    let queue = JobQueue(store: InMemoryStore(clock: clock))
    let worker = JobWorker(queue, maxConcurrentJobs: 1)
    let began = Gate()
    worker.register(kind: "long") { _, context in
      began.open()
      while context.stopReason == nil { await Task.yield() }
      throw CancellationError()
    }
    for _ in 1...2 { try await queue.enqueue(kind: "long", payload: Data()) }
    async let left = worker.run(until: clock.now + 20)
    await began.pass()
    clock.advance(by: .seconds(20))
    #expect(try await left == JobCounts([.ready: 2]))
    #expect(try await queue.jobs().map(\.attempt) == [0, 0])
  }

  @Test func `A run that has nothing to do is over before its deadline, and says when there is more`() async throws {
    var configuration = SQLiteStore.Configuration()
    configuration.clock = clock
    for store: any JobStore in [
      InMemoryStore(clock: clock), try SQLiteStore(path: path + "/jobs.sqlite", configuration: configuration),
    ] {
      let queue = JobQueue(store: store)
      let worker = JobWorker(queue)
      worker.register(kind: "k") { _, _ in nil }
      #expect(try await queue.nextRun == nil)
      try await queue.enqueue(kind: "k", payload: Data())
      #expect(try await queue.nextRun == clock.now)
      for hours in [2.0, 1] {
        try await queue.enqueue(kind: "k", payload: Data(), options: JobOptions(start: .at(clock.now + hours * 3600)))
      }
      try await JobQueue("other", store: store).enqueue(
        kind: "k", payload: Data(), options: JobOptions(start: .after(.seconds(1))))
      #expect(try await worker.run(until: clock.now + 20) == JobCounts([.succeeded: 1, .scheduled: 2]))
      #expect(try await queue.nextRun == clock.now + 3600)
      try await queue.pause()
      try await queue.enqueue(kind: "k", payload: Data())
      #expect(try await worker.run(until: clock.now + 20) == JobCounts([.succeeded: 1, .scheduled: 2, .ready: 1]))
      #expect(try await queue.nextRun == nil, "what is paused asks for no time")
      try await queue.unpause()
      #expect(try await queue.nextRun == clock.now)
    }
  }

  @Test func `A store that is suspended keeps who comes waiting, and goes on where it was`() async throws {
    let (store, queue, worker) = try storeWithWorker()
    try await queue.enqueue(kind: "k", payload: Data())
    try await worker.runUntilIdle()

    await store.suspendForBackground()
    let events = Lock(0)
    let subscription = store.signals.listen { _ in events.withLock { $0 += 1 } }
    let (own, answers) = (OwnThread(), Lock(0))
    let waiting = Task(executorPreference: own) {
      defer { answers.withLock { $0 += 1 } }
      return try await queue.enqueue(kind: "k", payload: Data())
    }
    let reading = Task(executorPreference: own) {
      defer { answers.withLock { $0 += 1 } }
      return try await queue.counts().total
    }
    await own.rests()
    await store.suspendForBackground()  // which waits for whoever came in
    await own.rests()
    #expect((events.value, answers.value) == (0, 0))
    // It is the store of another process meanwhile, as it may be.
    store.resumeFromBackground()
    let id = try await waiting.value
    #expect(try await (1...2).contains(reading.value))
    worker.start()
    #expect(try await store.whenFinished(id).state == .succeeded)
    await worker.stop()
    withExtendedLifetime(subscription) {}
    await store.close()
  }

  @Test func `A store that is resumed while it is being suspended is whole, and its worker stays known`() async throws {
    let (store, queue, worker) = try storeWithWorker()
    worker.start()
    for _ in 1...50 {
      async let suspension: Void = store.suspendForBackground()
      async let insertion = queue.enqueue(kind: "k", payload: Data())
      store.resumeFromBackground()
      await suspension
      store.resumeFromBackground()
      let id = try await insertion
      #expect(try await store.whenFinished(id).state == .succeeded)
    }
    await worker.stop()
    await store.close()
  }

  @Test func `A suspended store that has a worker can be closed`() async throws {
    let (store, queue, worker) = try storeWithWorker()
    worker.start()
    try await queue.waitUntilIdle()
    await store.suspendForBackground()
    await store.close()
    await worker.stop()
  }

  @Test func `A store that is closed while it is suspended keeps nobody waiting`() async throws {
    let store = try SQLiteStore(path: path + "/jobs.sqlite")
    await store.suspendForBackground()
    let waiting = Task { try await JobQueue(store: store).enqueue(kind: "k", payload: Data()) }
    await store.close()
    await #expect { try await waiting.value } throws: { ($0 as? JobError)?.code == .closed }
  }
}
