import DurableJobs
import DurableJobsTesting
import Foundation
import Logging
import TestProcesses
import Testing

private struct Resize: Job, Equatable {
  static let kind = "resize"
  static let retry = RetryPolicy.constant(.seconds(5))
  static let options = JobOptions(maxAttempts: 2)
  var photo: String

  func run(in context: JobContext) async throws -> Int {
    if photo == "broken" { throw Unreadable() }
    return photo.count
  }
}

private struct Unreadable: Error {}

private struct Notify: Job {
  static let kind = "notify"
  var user: String
  func run(in context: JobContext) async throws {}
}

private struct Find: JobPayload {
  typealias Output = String?
  static let kind = "find"
  var word: String
}

/// What a person and a program do to jobs, and see of them.
@Suite struct LookAndActTests {
  let jobs = TestJobs()
  var queue: JobQueue { jobs.queue }

  init() {
    jobs.worker.register(Resize.self)
    jobs.worker.register(Notify.self)
  }

  @Test func `unfinished jobs of a filter are ended from outside, with success or with failure`() async throws {
    let (a, b) = (try await queue.enqueue(Resize(photo: "a")), try await queue.enqueue(Resize(photo: "b")))
    let (first, second) = (try await queue.enqueue(Notify(user: "1")), try await queue.enqueue(Notify(user: "2")))
    try await a.cancel()
    #expect(try await queue.completeAll(where: .kind(Resize.self), output: Data("7".utf8)) == 1)
    #expect(try await b.value == 7)
    #expect(try await queue.failAll(where: .kind(Notify.self), message: "no network") == 2)
    #expect(try await queue.failAll(where: .all, message: "again") == 0)
    #expect(try await a.snapshot.state == .cancelled)
    for job in [first, second] { #expect(try await job.snapshot.failures.map(\.message) == ["no network"]) }
    await #expect(throws: JobError.self) {
      try await queue.completeAll(where: .all, output: Data(count: Limits.payloadBytes + 1))
    }
  }

  // MARK: Look

  @Test func `typed jobs answer as their snapshots do, with payload and output decoded`() async throws {
    try await queue.enqueue(contentsOf: [Resize(photo: "a"), Resize(photo: "broken"), Resize(photo: "abc")])
    try await jobs.advance(by: .seconds(60))
    let rows = try await queue.jobs(of: Resize.self, order: .newestFirst)
    #expect(rows.map(\.payload.photo) == ["abc", "broken", "a"])
    #expect(rows.map(\.output) == [3, nil, 1])
    #expect(rows.map(\.state) == [.succeeded, .failed, .succeeded])
    #expect(rows.map(\.attempt) == [1, 2, 1])
    let second = try await queue.jobs(of: Resize.self, order: .newestFirst, after: rows[0].id, limit: 1)
    #expect(second.map(\.id) == [rows[1].id])
  }

  @Test func `a snapshot decodes as its type, and says which job is of another`() async throws {
    let handle = try await queue.enqueue(Resize(photo: "ab"))
    try await jobs.drain()
    let job = try await handle.snapshot
    #expect(try job.payload(as: Resize.self) == Resize(photo: "ab"))
    #expect(try job.output(as: Resize.self) == 2)
    #expect { try job.payload(as: Notify.self) } throws: { error in
      let error = error as? JobError
      return error?.code == .notDecodable && error?.message.contains("job \(handle.id) (resize) is no Notify") ?? false
    }
  }

  @Test func `waiting for jobs to finish returns when all have, failed ones included`() async throws {
    let worker = JobWorker(queue)
    worker.register(Resize.self)
    worker.register(Notify.self)
    try await queue.enqueue(
      contentsOf: [Resize(photo: "a"), Resize(photo: "broken")], options: JobOptions(maxAttempts: 1))
    try await queue.enqueue(Notify(user: "u"), options: JobOptions(start: .after(.seconds(3600))))
    worker.start()
    let counts = try await queue.waitUntilFinished(where: .kind(Resize.self))
    #expect(counts == JobCounts([.succeeded: 1, .failed: 1]))
    await worker.stop()
    #expect(try await queue.waitUntilFinished(where: .kind("none")) == JobCounts())
  }

  // MARK: Act

  @Test func `each verb does by filter what it does by id`() async throws {
    let ids = try await queue.enqueue(mixed: [Resize(photo: "a"), Notify(user: "u"), Resize(photo: "b")])
    let resizes = JobFilter.kind(Resize.self)
    #expect(try await queue.suspendAll(where: resizes, reason: "not now") == 2)
    #expect(try await queue.counts() == JobCounts([.suspended: 2, .ready: 1]))
    #expect(try await queue.resumeAll() == 2)
    #expect(try await queue.setPriority(.high, where: resizes && !.id(ids[0])) == 1)
    #expect(try await queue.setStart(.after(.seconds(60)), where: .kind(Notify.self)) == 1)
    #expect(try await queue.jobs().map(\.priority) == [.normal, .normal, .high])
    #expect(try await queue.job(ids[1]).state == .scheduled)
    #expect(try await queue.cancelAll(where: .all) == 3)
    #expect(try await queue.retryAll(where: resizes) == 2)
    #expect(try await queue.removeAll(where: resizes) == 2)
  }

  @Test func `what is to end ends from the last on, so that nothing begins that is still to end`() async throws {
    let store = FaultyStore(InMemoryStore())
    let queue = JobQueue(store: store)
    let line = ["a", "b", "c"].map { Notify(user: $0) }
    let ids = try await queue.enqueue(contentsOf: line, options: JobOptions(lane: "line"))
    store.fail(.change, with: JobError(.storeFailed, "only the first bite is done"), isDone: true)
    await #expect(throws: JobError.self) { try await store.changeAll(.cancel(reason: nil), where: .all, bite: 1) }
    for (id, state) in zip(ids, [JobState.ready, .blocked, .cancelled]) {
      #expect(try await queue.job(id.id).state == state)
    }
  }

  @Test(arguments: [JobChange.setPriority(.high), .cancel(reason: nil)])
  func `what is enqueued once a change of all has begun is left as it is`(_ change: JobChange) async throws {
    let store = BusyStore(InMemoryStore(), adds: 20)
    let job = NewJob(queue: "q", kind: "k", payload: Data())
    let ids = try await store.insert(JobInsertion(Array(repeating: job, count: 5))).ids
    #expect(try await store.changeAll(change, where: .unfinished, bite: 2).sorted() == ids)
    #expect(try await store.jobs(JobQuery(limit: 100)).count > ids.count)
  }

  @Test func `what is done to all that are unfinished leaves alone what has ended, and does not count it`() async throws
  {
    try await queue.enqueue(mixed: [Notify(user: "a"), Notify(user: "b"), Notify(user: "c")])
    #expect(try await queue.cancelAll(where: .all) == 3)
    #expect(try await queue.cancelAll(where: .all) == 0)
    try await queue.enqueue(mixed: [Notify(user: "d"), Notify(user: "e")])
    #expect(try await queue.setStart(.after(.seconds(60)), where: .all) == 2)
    #expect(try await queue.setPriority(.low, where: .all) == 2)
    #expect(try await queue.suspendAll(where: .all) == 2)
    #expect(try await queue.cancelAll(where: .all) == 2)
  }

  @Test func `what is done to all that are unfinished does not go through what has ended`() async throws {
    let store = FaultyStore(InMemoryStore())
    let queue = JobQueue(store: store)
    let job = NewJob(queue: queue.name, kind: "k", payload: Data())
    for id in try await store.insert(JobInsertion(Array(repeating: job, count: 1200))).ids.dropLast() {
      try await queue.complete(id)
    }
    let before = store.calls(of: .change)
    #expect(try await queue.setStart(.after(.seconds(60)), where: .all) == 1)
    #expect(try await queue.setPriority(.low, where: .all) == 1)
    #expect(try await queue.suspendAll(where: .all) == 1)
    #expect(try await queue.cancelAll(where: .all) == 1)
    #expect(store.calls(of: .change) == before + 4, "a transaction each")
  }

  @Test func `a handle has the verbs of its job`() async throws {
    let handle = try await queue.enqueue(Resize(photo: "broken"))
    try await jobs.advance(by: .seconds(60))
    #expect(try await handle.explain().reasons == [.ended(.failed, reason: "Unreadable()")])
    try await handle.retry()
    try await handle.setPriority(.low)
    try await handle.setStart(.after(.seconds(9)))
    #expect(try await handle.snapshot.priority == .low)
    #expect(try await handle.snapshot.state == .scheduled)
    try await handle.suspend(reason: "look")
    #expect(try await handle.explain().reasons.first == .held(by: .request, reason: "look"))
    try await handle.resume()
    try await handle.cancel()
    try await handle.remove()
    await #expect(throws: JobError.self) { try await handle.snapshot }
  }

  @Test func `a queue's defaults stand behind those of a kind, a payload and a call`() async throws {
    let requests = JobQueue(
      "requests", store: queue.store, defaults: JobOptions(priority: .low, maxAttempts: 6, tags: ["request"]))
    let resize = try await requests.enqueue(Resize(photo: "a"), options: JobOptions(tags: ["mine"])).snapshot
    #expect(resize.maxAttempts == 2 && resize.priority == .low && resize.tags == ["request", "mine"])
    #expect(try await requests.enqueue(Notify(user: "u")).snapshot.maxAttempts == 6)
    #expect(
      try await requests.enqueue(Notify(user: "u"), options: JobOptions(maxAttempts: 9)).snapshot.maxAttempts == 9)
    #expect(try await requests.job(requests.enqueue(kind: "k", payload: Data())).maxAttempts == 6)
  }

  @Test func `a paused queue says that it is`() async throws {
    #expect(try await !queue.isPaused)
    try await queue.pause()
    #expect(try await queue.isPaused)
    #expect(try await !JobQueue("other", store: queue.store).isPaused)
    try await queue.unpause()
    #expect(try await !queue.isPaused)
  }

  @Test func `a failure says whether its job failed, was cancelled or was skipped`() async throws {
    func failure<Output>(of job: JobHandle<Output>) async throws -> JobFailure? {
      await #expect(throws: JobFailure.self) { _ = try await job.value }
    }
    let broken = try await queue.enqueue(Resize(photo: "broken"), options: JobOptions(maxAttempts: 1))
    let (after, cancelled) = (
      try await queue.enqueue(Notify(user: "u"), after: [broken]), try await queue.enqueue(Notify(user: "u"))
    )
    let skipped = try await queue.enqueue(Notify(user: "v"), after: [cancelled])
    try await cancelled.cancel()
    try await jobs.drain()
    #expect(try await failure(of: broken)?.state == .failed)
    let failed = try await failure(of: after)
    #expect(failed?.state == .failed && failed?.job == broken.id, "it is that of the job that skipped it")
    #expect(try await failure(of: cancelled)?.state == .cancelled)
    #expect(try await failure(of: skipped)?.state == .skipped)
    let told = try #require(try await failure(of: skipped))
    #expect(try JSONDecoder().decode(JobFailure.self, from: JSONEncoder().encode(told)) == told)
    let old = Data(#"{"job":7,"kind":"k","message":"m","attempts":2}"#.utf8)
    #expect(
      try JSONDecoder().decode(JobFailure.self, from: old)
        == JobFailure(job: JobID(rawValue: 7), kind: "k", state: .failed, message: "m", attempts: 2))
  }

  @Test func `what gives nothing, or perhaps nothing, is completed from outside without an output`() async throws {
    let (notify, find) = (try await queue.enqueue(Notify(user: "u")), try await queue.enqueue(Find(word: "w")))
    try await notify.complete()
    try await find.complete()
    try await notify.value
    #expect(try await find.value == nil)
    let other = try await queue.enqueue(Find(word: "x"))
    try await queue.complete(other.id)
    #expect(try await other.value == nil)
    let resize = try await queue.enqueue(Resize(photo: "a"))
    try await queue.complete(resize.id)
    await #expect { try await resize.value } throws: { ($0 as? JobError)?.code == .notDecodable }
  }

  // MARK: Workers and handlers

  @Test func `a worker tells of each job that ended in it, before its run is over`() async throws {
    let told = Recorder<String>()
    jobs.worker.onFinish { job in
      told.add("\(job.kind) \(job.state) \(job.failures.last?.message ?? "-")")
    }
    try await queue.enqueue(mixed: [Resize(photo: "broken"), Notify(user: "u")])
    try await jobs.drain()
    #expect(told.all == ["notify succeeded -"], "one that is to be tried again has not ended")
    try await jobs.advance(by: .seconds(5))
    #expect(told.all.last == "resize failed Unreadable()")
  }

  @Test func `a worker tells of an end also where its store can't be read at that moment`() async throws {
    let (clock, told) = (ManualClock(), Recorder<JobState>())
    let store = FaultyStore(InMemoryStore(clock: clock))
    let queue = JobQueue(store: store)
    let worker = JobWorker(queue, logger: LogBook().logger)
    worker.register(kind: "one") { _, _ in nil }
    worker.onFinish { job in told.add(job.state) }
    try await queue.enqueue(kind: "one", payload: Data())
    store.fail(next: 2, .jobs, with: JobError(.locked, "busy"))
    async let counts = worker.runUntilIdle()
    for _ in 1...2 {
      await clock.timerScheduled(within: .seconds(1))
      clock.advance(by: .seconds(1))
    }
    #expect(try await counts == JobCounts([.succeeded: 1]))
    #expect(told.all == [.succeeded])
  }

  @Test func `a held worker finishes what runs and takes nothing more until it is let go`() async throws {
    let (began, goOn) = (Gate(), Gate())
    let worker = JobWorker(queue, maxConcurrentJobs: 2)
    worker.register(kind: "long") { _, _ in
      began.open()
      await goOn.pass()
      return nil
    }
    let first = try await queue.enqueue(kind: "long", payload: Data())
    worker.start()
    await began.pass()
    worker.hold()
    let second = try await queue.enqueue(kind: "long", payload: Data())
    goOn.open()
    try await queue.waitUntilFinished(where: .id(first))
    #expect(try await queue.job(second).state == .ready)
    worker.unhold()
    goOn.open()
    try await queue.waitUntilFinished(where: .id(second))
    await worker.stop()
  }

  @Test func `who is told of an end may stop the worker`() async throws {
    let worker = JobWorker(queue, maxConcurrentJobs: 1)
    worker.register(kind: "one") { _, _ in nil }
    worker.onFinish { [weak worker] _ in await worker?.stop() }
    try await queue.enqueue(kind: "one", payload: Data())
    try await queue.enqueue(kind: "one", payload: Data())
    try await worker.run()
    #expect(try await queue.counts()[.succeeded] >= 1)
  }

  @Test func `a worker that is held runs no next job`() async throws {
    try await queue.enqueue(Notify(user: "u"))
    jobs.worker.hold()
    #expect(try await !jobs.worker.runNext())
    jobs.worker.unhold()
    #expect(try await jobs.worker.runNext())
  }

  @Test func `a handler knows its job by name, and logs with it`() async throws {
    let seen = Recorder<String>()
    jobs.worker.register(kind: "seen") { _, context in
      let metadata = ["job", "kind", "queue", "attempt"].map { "\(context.logger[metadataKey: $0] ?? "")" }
      seen.add("\(context.kind) \(context.key ?? "-") \(metadata)")
      #expect(context.createdAt == Date(timeIntervalSince1970: 1_800_000_000))
      return nil
    }
    let id = try await queue.enqueue(kind: "seen", payload: Data(), options: JobOptions(key: "mine"))
    jobs.clock.advance(by: .seconds(60))
    try await jobs.drain()
    #expect(seen.all == [#"seen mine ["\#(id)", "seen", "default", "1"]"#])
  }

  @Test func `a handler is called in a test as that attempt, and its steps and what follows are real`() async throws {
    jobs.worker.register(kind: "other") { _, _ in nil }
    jobs.worker.register(Notify.self) { notify, context in
      let text = try await context.step("text") { "attempt \(context.attempt) for \(notify.user)" }
      try context.enqueueOnSuccess(Resize(photo: text))
      if context.attempt > 2 { throw .snooze(for: .seconds(60)) }
    }
    #expect(try await jobs.perform(Resize(photo: "abcd")) == 4)
    try await jobs.perform(Notify(user: "u"), attempt: 2)
    #expect(try await jobs.enqueued(Resize.self) == [Resize(photo: "attempt 2 for u")])
    await #expect(throws: JobExit.self) { try await jobs.perform(Notify(user: "u"), attempt: 3) }
    await #expect(throws: Unreadable.self) { try await jobs.perform(Resize(photo: "broken")) }
    #expect(try await queue.counts() == JobCounts([.ready: 1]), "nothing else is in the queue")
    await #expect(throws: JobError.self) { try await TestJobs().perform(Notify(user: "u")) }
  }
}

/// Gets a job more with each question and each change, so many times.
private final class BusyStore: PassingStore {
  let base: any JobStore
  private let left: Lock<Int>

  init(_ base: InMemoryStore, adds: Int) { (self.base, left) = (base, Lock(adds)) }

  private func add() async throws {
    let mayAdd = left.withLock { left in
      left -= 1
      return left >= 0
    }
    if mayAdd { _ = try await base.insert(JobInsertion([NewJob(queue: "q", kind: "k", payload: Data())])) }
  }

  func change(_ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int) async throws -> ChangeReport {
    try await add()
    return try await base.change(change, where: filter, after: after, limit: limit)
  }

  func jobs(_ query: JobQuery) async throws -> [JobSnapshot] {
    let jobs = try await base.jobs(query)
    try await add()
    return jobs
  }
}
