import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobs

/// Who waits for jobs and queues: when it is woken, and what that costs. On a clock that stands still no sweep helps.
@Suite struct WaitingTests {
  let store = FaultyStore(InMemoryStore(clock: ManualClock()))
  let queue: JobQueue

  init() { queue = JobQueue(store: store) }

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

  @Test func `who waits for a job of another kind is told so before it ends`() async throws {
    struct Other: JobPayload { static let kind = "other" }
    let own = OwnThread()
    let id = try await enqueue(1)[0]
    let task = Task(executorPreference: own) { [queue] in
      try await queue.handle(id, as: Other.self).value
    }
    await own.rests()
    await store.signals.watch.rest()
    task.cancel()
    await #expect { try await task.value } throws: { ($0 as? JobError)?.code == .invalidArgument }
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

  @Test(arguments: [LookoutQuestion.endOfAll(.all), .idleness(of: "default")])
  func `who waits for many jobs to end counts them again only after ten times as long as that took`(
    question: LookoutQuestion
  ) async throws {
    let (clock, looks) = (ManualClock(), Lock(0))
    let store = InMemoryStore(clock: clock)
    let queue = JobQueue(store: store)
    let id = try await queue.enqueue(kind: "k", payload: Data())
    async let counts: JobCounts = store.wait(
      for: question, concerning: { _ in true }, until: { $0.unfinished == 0 }
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
}
