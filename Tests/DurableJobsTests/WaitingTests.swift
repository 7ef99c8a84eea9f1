import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobs

/// Who waits for jobs and queues: when it is woken, and what that costs. On a clock that stands still no sweep helps.
@Suite struct WaitingTests {
  let store = FaultyStore(InMemoryStore(clock: ManualClock()))
  let queue: JobQueue

  init() { queue = JobQueue(store: store) }

  // MARK: What it costs

  /// Tasks that wait for the ends of `jobs`, once they have looked for the first time.
  private func waiters(for jobs: [JobID]) async -> Task<[JobState], any Error> {
    let (store, known) = (store, store.signals.watch.count)
    let task = Task {
      try await withThrowingTaskGroup(of: JobState.self) { group in
        for job in jobs { group.addTask { try await store.whenFinished(job).state } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
    }
    while store.signals.watch.count < known + jobs.count { await Task.yield() }
    await store.signals.watch.rest()
    return task
  }

  private func enqueue(_ count: Int) async throws -> [JobID] {
    let job = NewJob(queue: queue.name, kind: "k", payload: Data())
    return try await store.insert(JobInsertion(Array(repeating: job, count: count))).ids
  }

  @Test func `a signal costs those who wait one look at what ended, and one in pages at what others did`() async throws
  {
    let jobs = try await enqueue(1000)
    let others = try await enqueue(1)
    let task = await waiters(for: jobs)
    var looks = store.calls(of: .jobs)
    func newLooks() async -> Int {
      await store.signals.watch.rest()
      defer { looks = store.calls(of: .jobs) }
      return store.calls(of: .jobs) - looks
    }
    try await queue.complete(others[0])
    #expect(await newLooks() == 0)
    try await queue.complete(jobs[0])
    #expect(await newLooks() == 1)
    #expect(store.signals.watch.count == 999)
    store.signals.post(.changedElsewhere(.work))
    #expect(await newLooks() == 0)
    for _ in 1...20 { store.signals.post(.changedElsewhere(.results)) }
    #expect((4...8).contains(await newLooks()), "a pass, and at most one more for what came during it")
    _ = try await store.change(.cancel(reason: nil), where: .all, after: nil, limit: 1000)
    #expect(await newLooks() <= 6)
    #expect(try await task.value.count == 1000)
    #expect(store.signals.watch.count == 0)
    #expect(!store.signals.hasListeners)
  }

  @Test func `jobs of which each is waited for by a task cost no more looks than commits`() async throws {
    let worker = JobWorker(queue, maxConcurrentJobs: 50)
    worker.register(kind: "k") { _, _ in nil }
    let jobs = try await enqueue(1000)
    let task = await waiters(for: jobs)
    let (looks, commits) = (store.calls(of: .jobs), Lock(0))
    let subscription = store.signals.listen { signal in
      guard case .committed(let changes) = signal, changes.contains(where: \.state.isFinished) else { return }
      commits.withLock { $0 += 1 }
    }
    try await worker.runUntilIdle()
    #expect(try await task.value == Array(repeating: .succeeded, count: 1000))
    #expect(store.calls(of: .jobs) - looks <= commits.withLock { $0 })
    withExtendedLifetime(subscription) {}
  }

  @Test func `who waits on is not troubled by who is cancelled`() async throws {
    let jobs = try await enqueue(2)
    let (cancelled, waiting) = (await waiters(for: jobs), await waiters(for: jobs))
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    for job in jobs { try await queue.complete(job) }
    #expect(try await waiting.value == [.succeeded, .succeeded])
  }

  @Test func `who waits for a job that is removed is told so, and gets what the store throws`() async throws {
    let jobs = try await enqueue(2)
    let removed = await waiters(for: [jobs[0]])
    try await queue.remove(jobs[0])
    await #expect { try await removed.value } throws: { ($0 as? JobError)?.message == "there is no job 1" }
    let refused = await waiters(for: [jobs[1]])
    store.fail(.jobs, with: JobError(.damaged, "the file is damaged"))
    store.signals.post(.changedElsewhere(.results))
    await #expect { try await refused.value } throws: { ($0 as? JobError)?.code == .damaged }
  }

  @Test func `should every signal be lost, a sweep finds the end`() async throws {
    let clock = ManualClock()
    let store = FaultyStore(InMemoryStore(clock: clock), fault: .noSignals)
    let queue = JobQueue(store: store)
    let id = try await queue.enqueue(kind: "k", payload: Data())
    async let job = store.whenFinished(id)
    await clock.timerScheduled(within: Defaults.sweepInterval)
    try await queue.complete(id)
    clock.advance(by: Defaults.sweepInterval)
    #expect(try await job.state == .succeeded)
  }

  @Test func `who waits for many jobs to end counts them again only after ten times as long as that took`() async throws
  {
    let (clock, looks) = (ManualClock(), Lock(0))
    let store = InMemoryStore(clock: clock)
    let queue = JobQueue(store: store)
    let id = try await queue.enqueue(kind: "k", payload: Data())
    async let counts: JobCounts = store.wait(
      for: .endOfAll(.all), concerning: { _ in true }, until: { $0.unfinished == 0 }
    ) { store in
      looks.withLock { $0 += 1 }
      clock.advance(by: .milliseconds(200))  // so long it takes
      return try await store.counts(where: .all)
    }
    await clock.timerScheduled(within: Defaults.sweepInterval)
    for number in 1...100 { try await queue.report(id, progress: Double(number) / 1000) }
    await clock.timerScheduled(within: .seconds(2))
    #expect(looks.withLock(\.self) == 1)
    try await queue.complete(id)
    clock.advance(by: .seconds(2))
    #expect(try await counts[.succeeded] == 1)
    #expect(looks.withLock(\.self) == 2)
  }

  // MARK: Idleness

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

  /// A worker whose only job runs until the gate is opened.
  private func busyWorker(until mayEnd: Gate) async throws -> JobWorker {
    let (worker, began) = (JobWorker(queue), Gate())
    worker.register(kind: "k") { _, _ in
      began.open()
      await mayEnd.pass()
      return nil
    }
    try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    await began.pass()
    return worker
  }

  @Test func `who waits for a queue looks again whenever others may have changed it`() async throws {
    let (queue, mayEnd) = (queue, Gate())
    let worker = try await busyWorker(until: mayEnd)
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
    let worker = try await busyWorker(until: mayEnd)
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

  // MARK: Handlers that wait

  /// A worker whose handlers of "parent" wait for a "child" that they enqueue.
  private func family(slots: Int, _ logger: LogBook = LogBook()) -> JobWorker {
    let (queue, store) = (queue, store)
    let worker = JobWorker(queue, maxConcurrentJobs: slots, logger: logger.logger)
    worker.register(kind: "child") { _, _ in Data("done".utf8) }
    worker.register(kind: "parent", retry: .never) { _, _ in
      try await store.whenFinished(try await queue.enqueue(kind: "child", payload: Data())).output
    }
    return worker
  }

  @Test func `C23 a handler that waits in the last slot for a job of its own worker is told that it can't`()
    async throws
  {
    let parent = try await queue.enqueue(kind: "parent", payload: Data())
    try await family(slots: 1).runUntilIdle()
    let job = try await queue.job(parent)
    #expect(job.state == .failed)
    #expect(
      job.failures.map(\.message) == [
        "job 2 (child) can't run while job 1 waits for it: handlers that wait hold every slot of their worker for the "
          + "queue 'default'. Raise its maxConcurrentJobs, or enqueue such jobs in another queue"
      ])
  }

  /// A worker whose handler of "parent" waits for the last of the jobs that `jobs` makes of its own id.
  private func parent(
    slots: Int, of options: JobOptions = JobOptions(), _ jobs: @escaping @Sendable (JobID) -> [NewJob]
  ) async throws -> (JobWorker, JobID) {
    let worker = JobWorker(queue, maxConcurrentJobs: slots, logger: LogBook().logger)
    worker.register(kind: "child") { _, _ in nil }
    worker.register(kind: "parent", retry: .never) { [store] _, context in
      let ids = try await store.insert(JobInsertion(jobs(context.id))).ids
      return try await store.whenFinished(ids[ids.count - 1]).output
    }
    return (worker, try await queue.enqueue(kind: "parent", payload: Data(), options: options))
  }

  private func child(_ terms: JobTerms = JobTerms(), after edges: [JobEdge] = []) -> NewJob {
    NewJob(queue: queue.name, kind: "child", payload: Data(), terms: terms, edges: edges)
  }

  @Test func `C23 a handler that waits in the last slot for the end of a chain is told that it can't`() async throws {
    let child = child()
    let (worker, parent) = try await parent(slots: 1) { _ in
      var last = child
      last.edges = [JobEdge(.sibling(0))]
      return [child, last]
    }
    #expect(try await worker.runUntilIdle() == JobCounts([.failed: 1, .succeeded: 2]))
    #expect(try await queue.job(parent).failures.last?.message.contains("hold every slot") == true)
  }

  @Test func `C23 a handler that waits for a job behind itself in its lane is told that it can't`() async throws {
    let behind = child(JobTerms(lane: "chat"))
    let (worker, parent) = try await parent(slots: 2, of: JobOptions(lane: "chat")) { _ in [behind] }
    #expect(try await worker.runUntilIdle()[.failed] == 1)
    #expect(
      try await queue.job(parent).failures.last?.message
        == "job 2 (child) can't run while job 1 waits for it: it is behind that job in the lane 'chat'")
  }

  @Test func `a handler may wait for a job of its lane where that is wide enough`() async throws {
    try await queue.setWidth(of: "chat", to: 2)
    let beside = child(JobTerms(lane: "chat"))
    let (worker, _) = try await parent(slots: 3, of: JobOptions(lane: "chat")) { _ in [beside, beside] }
    #expect(try await worker.runUntilIdle() == JobCounts([.succeeded: 3]))
  }

  @Test func `C23 a handler that waits for a job that needs its own end is told that it can't`() async throws {
    let child = child()
    let (worker, parent) = try await parent(slots: 2) { own in
      var after = child
      after.edges = [JobEdge(.job(own), .ended)]
      return [after]
    }
    #expect(try await worker.runUntilIdle() == JobCounts([.failed: 1, .succeeded: 1]))
    #expect(
      try await queue.job(parent).failures.last?.message
        == "job 2 (child) can't run while job 1 waits for it: it needs the end of that job")
  }

  @Test func `C23 a handler that waits for its own end, in any way, is told that it would`() async throws {
    let (queue, store) = (queue, store)
    let waits: [String: @Sendable () async throws -> Void] = [
      "idle": { _ = try await queue.waitUntilIdle() },
      "finished": { _ = try await queue.waitUntilFinished(where: .state(.running)) },
      "value": { _ = try await store.whenFinished(JobID(rawValue: 1)) },
    ]
    let worker = JobWorker(queue)
    worker.register(kind: "waits", retry: .never) { job, _ in
      try await waits[String(decoding: job.payload, as: UTF8.self)]?()
      return nil
    }
    for kind in ["value", "idle", "finished"] { try await queue.enqueue(kind: "waits", payload: Data(kind.utf8)) }
    #expect(try await worker.runUntilIdle()[.failed] == 3)
    for job in try await queue.jobs(detail: .failures) {
      #expect(job.failures[0].message.hasPrefix("job \(job.id) would wait for its own end"))
    }
  }

  @Test func `a handler may wait for the jobs of its queue that it is none of`() async throws {
    let queue = queue
    let worker = JobWorker(queue)
    worker.register(kind: "child") { _, _ in nil }
    worker.register(kind: "parent", retry: .never) { _, _ in
      try await queue.enqueue(kind: "child", payload: Data())
      return Data("\(try await queue.waitUntilFinished(where: .kind("child"))[.succeeded])".utf8)
    }
    let parent = try await queue.enqueue(kind: "parent", payload: Data())
    try await worker.runUntilIdle()
    #expect(try await queue.job(parent).output == Data("1".utf8))
  }

  @Test func `a handler that waits for a job for which there is a slot gets its output`() async throws {
    let parent = try await queue.enqueue(kind: "parent", payload: Data())
    try await family(slots: 2).runUntilIdle()
    #expect(try await queue.job(parent).output == Data("done".utf8))
  }

  @Test func `C23 of handlers that wait in all slots one is told, and the others go on`() async throws {
    for _ in 1...3 { try await queue.enqueue(kind: "parent", payload: Data()) }
    let counts = try await family(slots: 3).runUntilIdle()
    #expect(counts == JobCounts([.failed: 1, .succeeded: 5]))
  }

  @Test func `a handler may wait in the last slot for what another worker of the process runs`() async throws {
    let other = JobWorker(queue, maxConcurrentJobs: 1)
    other.register(kind: "child") { _, _ in Data("done".utf8) }
    let parent = try await queue.enqueue(kind: "parent", payload: Data())
    other.start()
    try await family(slots: 1).runUntilIdle()
    #expect(try await queue.job(parent).output == Data("done".utf8))
    await other.stop()
  }
}
