import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

private struct Double: Job {
  static let kind = "double"
  static let retry = RetryPolicy.constant(.zero)
  static let options = JobOptions(maxAttempts: 3)
  var number: Int

  func run(in context: JobContext) async throws -> Int { number * 2 }
}

private struct Message: JobPayload {
  static let kind = "message"
  static let formerKinds = ["mail"]
  static let retry = RetryPolicy.constant(.zero)
  static let options = JobOptions(maxAttempts: 3)
  var text: String

  func validate() throws {
    if text.isEmpty { throw Refusal(why: "a message needs a text") }
  }
}

private struct Refusal: Error, CustomStringConvertible {
  var why: String
  var description: String { why }
}

/// The worker, the queue and a store together: what a user of them sees.
@Suite struct WorkerTests {
  let queue = JobQueue(store: InMemoryStore())

  @Test func `a job runs and its output comes back to who waits for it`() async throws {
    let worker = JobWorker(queue)
    worker.register(Double.self)
    let handle = try await queue.enqueue(Double(number: 21))
    try await worker.runUntilIdle()
    #expect(try await handle.value == 42)
    #expect(try await queue.handle(handle.id, as: Double.self).value == 42, "also through its id alone")
  }

  @Test func `who waits for a value is woken by the commit that brings it`() async throws {
    let worker = JobWorker(queue)
    worker.register(Double.self)
    let handle = try await queue.enqueue(Double(number: 4))
    async let value = handle.value
    try await worker.runUntilIdle()
    #expect(try await value == 8)
  }

  @MainActor
  @Test func `a handler that is the main actor's runs there, and any other elsewhere, whoever made the worker`()
    async throws
  {
    let mark = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: mark, value: true)
    defer { DispatchQueue.main.setSpecific(key: mark, value: nil) }
    let places = Recorder<String>()
    @Sendable func note(_ kind: String) {
      places.add("\(kind) \(DispatchQueue.getSpecific(key: mark) == true ? "on the main actor" : "elsewhere")")
    }
    let worker = JobWorker(queue)
    worker.register(kind: "a") { @MainActor _, _ in
      note("a")
      await Task.yield()
      note("a")
      return nil
    }
    worker.register(kind: "b") { @Sendable _, _ in
      note("b")
      return nil
    }
    for kind in ["a", "b"] { try await queue.enqueue(kind: kind, payload: Data()) }
    try await worker.runUntilIdle()
    #expect(places.all.sorted() == ["a on the main actor", "a on the main actor", "b elsewhere"])
  }

  @Test func `a limit holds over workers, and each place is taken when it comes free`() async throws {
    let load = LoadGauge()
    let workers = (0..<3).map { _ in JobWorker(queue, maxConcurrentJobs: 4) }
    for worker in workers {
      worker.register(kind: "n") { _, _ in
        load.enter()
        defer { load.leave() }
        for _ in 0..<20 { await Task.yield() }
        return nil
      }
    }
    try await queue.setLimits(JobLimits(running: 5))
    for _ in 0..<200 { try await queue.enqueue(kind: "n", payload: Data()) }
    // No sweep comes in so short a time: they are woken, or hang.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in workers { group.addTask { try await worker.runUntilIdle() } }
      try await group.waitForAll()
    }
    #expect(try await queue.counts() == JobCounts([.succeeded: 200]))
    #expect(load.highest <= 5)
  }

  @Test func `a worker waits for a rate, and is idle once all have begun`() async throws {
    let jobs = TestJobs()
    let starts = Recorder<Duration>()
    jobs.worker.register(kind: "n") { [clock = jobs.clock] _, _ in
      starts.add(clock.uptime)
      return nil
    }
    try await jobs.queue.setLimits(JobLimits(rate: JobRate(6, per: .seconds(60), burst: 2)))
    for _ in 0..<5 { try await jobs.queue.enqueue(kind: "n", payload: Data()) }
    try await jobs.drain()
    #expect(starts.all == [.zero, .zero])
    #expect(try await jobs.worker.runNext() == false)
    try await jobs.advance(by: .seconds(100))
    #expect(starts.all == [.zero, .zero, .seconds(10), .seconds(20), .seconds(30)])
  }

  @Test func `many jobs run, each once, and never more at a time than the worker has slots`() async throws {
    let runs = Recorder<Int>()
    let load = LoadGauge()
    let worker = JobWorker(queue, maxConcurrentJobs: 7)
    worker.register(kind: "n") { job, _ in
      load.enter()
      defer { load.leave() }
      await Task.yield()
      runs.add(Int(String(decoding: job.payload, as: UTF8.self))!)
      return nil
    }
    for number in 1...200 { try await queue.enqueue(kind: "n", payload: Data("\(number)".utf8)) }
    try await worker.runUntilIdle()
    #expect(runs.all.sorted() == Array(1...200))
    #expect((1...7).contains(load.highest))
    #expect(try await queue.counts() == JobCounts([.succeeded: 200]))
  }

  @Test func `priority first, then first in, first out`() async throws {
    let runs = Recorder<String>()
    let worker = JobWorker(queue, maxConcurrentJobs: 1)
    worker.register(Message.self) { message, _ in runs.add(message.text) }
    try await queue.enqueue(Message(text: "b1"))
    try await queue.enqueue(Message(text: "c"), options: JobOptions(priority: .low))
    try await queue.enqueue(Message(text: "a"), options: JobOptions(priority: .high))
    try await queue.enqueue(Message(text: "b2"))
    try await worker.runUntilIdle()
    #expect(runs.all == ["a", "b1", "b2", "c"])
  }

  @Test func `C2 C6 a job of an unknown kind waits, and runs once its kind is registered with the running worker`()
    async throws
  {
    let handle = try await queue.enqueue(Double(number: 1))
    let worker = JobWorker(queue)
    worker.register(kind: "other") { _, _ in nil }
    let left = try await worker.runUntilIdle()
    #expect(left[.ready] == 1, "it is left, and runUntilIdle says so")

    worker.start()
    worker.register(Double.self)
    #expect(try await handle.value == 2)
    await worker.stop()
  }

  @Test func `C3 a payload that does not decode is held with the error, and runs after the type is mended`()
    async throws
  {
    let id = try await queue.enqueue(kind: "message", payload: Data(#"{"txt":"hi"}"#.utf8))
    let old = JobWorker(queue)
    old.register(Message.self) { _, _ in }
    try await old.runUntilIdle()
    let held = try await queue.job(id)
    #expect(held.state == .suspended)
    #expect(held.reason == "the payload does not decode as Message: no 'text' at the top")
    #expect(held.attempt == 0, "no attempt was used")

    let mended = JobWorker(queue)
    mended.register(kind: "message") { _, _ in nil }
    try await queue.resume(id)
    try await mended.runUntilIdle()
    #expect(try await queue.job(id).state == .succeeded)
  }

  @Test func `C10 one of a batch that can't be run is held, and those claimed with it run`() async throws {
    let texts = (0..<10).map { $0 == 4 ? #"{"txt":"4"}"# : #"{"text":"\#($0)"}"# }
    let new = texts.map { NewJob(queue: queue.name, kind: "message", payload: Data($0.utf8)) }
    let ids = try await queue.store.insert(JobInsertion(new)).ids
    let runs = Recorder<String>()
    let worker = JobWorker(queue, maxConcurrentJobs: 10)
    worker.register(Message.self) { message, _ in runs.add(message.text) }
    try await worker.runUntilIdle()
    #expect(runs.all.sorted() == ["0", "1", "2", "3", "5", "6", "7", "8", "9"])
    #expect(try await queue.job(ids[4]).state == .suspended)
  }

  @Test func `C3 a job of a former kind runs`() async throws {
    let runs = Recorder<String>()
    let id = try await queue.enqueue(kind: "mail", payload: Data(#"{"text":"old"}"#.utf8))
    let worker = JobWorker(queue)
    worker.register(Message.self) { message, _ in runs.add(message.text) }
    try await worker.runUntilIdle()
    #expect(runs.all == ["old"])
    #expect(try await queue.job(id).state == .succeeded)
  }

  @Test func `C4 a payload that can't be encoded is refused by enqueue, and nothing is stored`() async throws {
    struct Ratio: JobPayload {
      static let kind = "ratio"
      var value: Swift.Double
    }
    await #expect { try await queue.enqueue(Ratio(value: .nan)) } throws: { ($0 as? JobError)?.code == .notEncodable }
    #expect(try await queue.counts().total == 0)
  }

  @Test func `an output that can't be encoded fails the job for good and says so`() async throws {
    struct Measure: JobPayload {
      typealias Output = Swift.Double
      static let kind = "measure"
    }
    let worker = JobWorker(queue)
    worker.register(Measure.self) { _, _ in .infinity }
    let handle = try await queue.enqueue(Measure())
    try await worker.runUntilIdle()
    let job = try await handle.snapshot
    #expect(job.state == .failed)
    #expect(job.attempt == 1)
    #expect(job.failures[0].message.hasPrefix("its output can't be encoded"))
  }

  @Test func `an output that is too large is refused from outside, and fails the job from inside`() async throws {
    let large = Data(count: Limits.payloadBytes + 1)
    let worker = JobWorker(queue)
    worker.register(kind: "large") { _, _ in large }
    worker.register(kind: "held") { _, _ in throw .suspend(because: "wait") }
    let inside = try await queue.enqueue(kind: "large", payload: Data())
    let outside = try await queue.enqueue(kind: "held", payload: Data())
    try await worker.runUntilIdle()
    let message = try await queue.job(inside).failures.first?.message
    #expect(message == "its output has 67108865 bytes; at most 67108864 can be stored")
    await #expect { try await queue.complete(outside, output: large) } throws: { error in
      (error as? JobError)?.code == .notEncodable
    }
    #expect(try await queue.job(outside).state == .suspended)
  }

  @Test func `what validate throws refuses the enqueue, and fails a job that was stored by other means`() async throws {
    await #expect(throws: Refusal.self) { try await queue.enqueue(Message(text: "")) }
    #expect(try await queue.counts().total == 0)

    let id = try await queue.enqueue(kind: "message", payload: Data(#"{"text":""}"#.utf8))
    let worker = JobWorker(queue)
    worker.register(Message.self) { _, _ in Issue.record("it must not run") }
    try await worker.runUntilIdle()
    let job = try await queue.job(id)
    #expect(job.state == .failed)
    #expect(job.failures.map(\.message) == ["a message needs a text"])
  }

  @Test func `C5 attempts used up keep the job with its errors, and retry runs it again`() async throws {
    let isBroken = Flag(true)
    let worker = JobWorker(queue)
    worker.register(Message.self) { _, context in
      if isBroken.value { throw Refusal(why: "no network, attempt \(context.attempt)") }
    }
    let handle = try await queue.enqueue(Message(text: "hi"))
    try await worker.runUntilIdle()
    let job = try await handle.snapshot
    #expect(job.state == .failed)
    #expect(job.failures.map(\.message) == (1...3).map { "no network, attempt \($0)" })
    await #expect { try await handle.value } throws: { error in
      (error as? JobFailure)?.message == "no network, attempt 3"
    }

    isBroken.value = false
    #expect(try await queue.retryAll() == 1)
    try await worker.runUntilIdle()
    #expect(try await handle.snapshot.state == .succeeded)
    #expect(try await handle.snapshot.attempt == 1)
  }

  @Test func `permanent fails at once, whatever attempts are left`() async throws {
    let worker = JobWorker(queue)
    worker.register(Message.self) { _, _ in throw .permanent(Refusal(why: "no such user")) }
    let handle = try await queue.enqueue(Message(text: "hi"))
    try await worker.runUntilIdle()
    #expect(try await handle.snapshot.state == .failed)
    #expect(try await handle.snapshot.attempt == 1)
  }

  @Test func `the retry policy may decide by the error`() async throws {
    let worker = JobWorker(queue)
    let policy = Message.retry.byError { ($0 as? Refusal)?.why == "gone" ? .fail : nil }
    worker.register(Message.self, retry: policy) { message, _ in throw Refusal(why: message.text) }
    let gone = try await queue.enqueue(Message(text: "gone"))
    let busy = try await queue.enqueue(Message(text: "busy"))
    try await worker.runUntilIdle()
    #expect(try await gone.snapshot.attempt == 1)
    #expect(try await busy.snapshot.attempt == 3)
  }

  @Test func `C59 a snoozed job comes back with its attempt given back`() async throws {
    let attempts = Recorder<Int>()
    let worker = JobWorker(queue)
    worker.register(Message.self) { _, context in
      attempts.add(context.attempt)
      if attempts.all.count < 3 { throw .snooze(for: .milliseconds(1)) }
    }
    let handle = try await queue.enqueue(Message(text: "hi"))
    try await worker.runUntilIdle()
    #expect(attempts.all == [1, 1, 1])
    #expect(try await handle.snapshot.state == .succeeded)
  }

  @Test func `a suspended job is finished from outside, also through its id alone`() async throws {
    let worker = JobWorker(queue)
    worker.register(Double.self) { _, _ in throw .suspend(because: "the upload goes on in the background") }
    let handle = try await queue.enqueue(Double(number: 3))
    try await worker.runUntilIdle()
    let held = try await handle.snapshot
    #expect(held.state == .suspended)
    #expect(held.reason == "the upload goes on in the background")

    let later = queue.handle(handle.id, as: Double.self)
    try await later.report(progress: 0.5, "half")
    #expect(try await later.snapshot.progress == JobProgress(fraction: 0.5, message: "half"))
    try await later.complete(with: 6)
    #expect(try await handle.value == 6)
  }

  @Test func `a callback may finish the job before its handler's own suspension arrives`() async throws {
    let queue = queue
    let worker = JobWorker(queue)
    worker.register(Double.self) { _, context in
      try await queue.handle(context.id, as: Double.self).complete(with: 7)
      throw .suspend(because: "too late")
    }
    let handle = try await queue.enqueue(Double(number: 3))
    try await worker.runUntilIdle()
    #expect(try await handle.value == 7)
    #expect(try await handle.snapshot.reason == nil)
  }

  @Test func `cancelling a running job cancels its handler and ends the job`() async throws {
    let began = Gate()
    let worker = JobWorker(queue)
    worker.register(Message.self) { _, context in
      began.open()
      await untilCancelled()
      #expect(context.stopReason == .cancelled)
      throw CancellationError()
    }
    let handle = try await queue.enqueue(Message(text: "hi"))
    worker.start()
    await began.pass()
    try await handle.cancel(reason: "not wanted")
    await #expect { try await handle.value } throws: { ($0 as? JobFailure)?.message == "cancelled: not wanted" }
    await worker.stop()
  }

  @Test func `C56 a success that comes after the cancel wins, completely`() async throws {
    let began = Gate()
    let worker = JobWorker(queue)
    worker.register(Double.self) { job, _ in
      began.open()
      await untilCancelled()
      return job.number
    }
    let handle = try await queue.enqueue(Double(number: 5))
    worker.start()
    await began.pass()
    try await handle.cancel()
    #expect(try await handle.value == 5)
    await worker.stop()
  }

  @Test func `C58 an attempt that takes too long is cancelled and follows the retry policy`() async throws {
    let worker = JobWorker(queue)
    worker.register(Message.self) { _, context in
      await untilCancelled()
      #expect(context.stopReason == .timedOut)
      throw CancellationError()
    }
    let handle = try await queue.enqueue(Message(text: "hi"), options: JobOptions(timeout: .milliseconds(5)))
    try await worker.runUntilIdle()
    let job = try await handle.snapshot
    #expect(job.state == .failed)
    #expect(job.failures.map(\.message) == Array(repeating: "timed out after 0.005 seconds", count: 3))
  }

  @Test func `C54 a stop lets running jobs end within the grace, and gives back those that do not`() async throws {
    let clock = ManualClock()
    let queue = JobQueue(store: InMemoryStore(clock: clock))
    let began = Gate()
    let mayEnd = Gate()
    let worker = JobWorker(queue, maxConcurrentJobs: 2)
    let quick = try await queue.enqueue(kind: "quick", payload: Data())
    let stubborn = try await queue.enqueue(kind: "stubborn", payload: Data())
    let waiting = try await queue.enqueue(kind: "quick", payload: Data())
    worker.register(kind: "quick") { _, _ in
      await mayEnd.pass()
      return nil
    }
    worker.register(kind: "stubborn") { _, context in
      began.open()
      await untilCancelled()
      #expect(context.stopReason == .shutdown)
      throw CancellationError()
    }
    worker.start()
    await began.pass()
    async let stopped: Void = worker.stop(grace: .seconds(7))
    while !clock.timers.contains(.seconds(7)) { await Task.yield() }
    mayEnd.open()
    #expect(try await queue.store.whenFinished(quick).state == .succeeded)
    #expect(try await queue.job(stubborn).state == .running)
    clock.advance(by: .seconds(7))
    await stopped
    let back = try await queue.job(stubborn)
    #expect(back.state == .ready)
    #expect(back.attempt == 0, "its attempt is given back")
    #expect(try await queue.job(waiting).attempt == 0, "no job is claimed after the stop")
  }

  @Test func `a cancel of the task that runs a worker is a graceful stop`() async throws {
    let began = Gate()
    let mayEnd = Gate()
    let worker = JobWorker(queue)
    worker.register(Message.self) { _, context in
      began.open()
      await mayEnd.pass()
      #expect(!Task.isCancelled)
    }
    let handle = try await queue.enqueue(Message(text: "hi"))
    let run = Task { try await worker.run() }
    await began.pass()
    run.cancel()
    mayEnd.open()
    try await run.value
    #expect(try await handle.snapshot.state == .succeeded)
  }

  @Test func `runNext runs one job and says whether there was one`() async throws {
    let runs = Recorder<String>()
    let worker = JobWorker(queue)
    worker.register(Message.self) { message, _ in runs.add(message.text) }
    try await queue.enqueue(contentsOf: [Message(text: "1"), Message(text: "2")])
    #expect(try await worker.runNext())
    #expect(runs.all == ["1"])
    #expect(try await worker.runNext())
    #expect(try await worker.runNext() == false)
    #expect(runs.all == ["1", "2"])
  }

  @Test func `a worker serves several queues, each within its own limit`() async throws {
    let other = JobQueue("other", store: queue.store)
    let load = LoadGauge()
    let worker = JobWorker([queue: 1, other: 3])
    worker.register(kind: "n") { _, context in
      if context.queue == "default" {
        load.enter()
        await Task.yield()
        load.leave()
      }
      return nil
    }
    for _ in 1...20 {
      try await queue.enqueue(kind: "n", payload: Data())
      try await other.enqueue(kind: "n", payload: Data())
    }
    try await worker.runUntilIdle()
    #expect(load.highest == 1)
    #expect(try await other.counts() == JobCounts([.succeeded: 20]))
  }

  @Test func `progress is stored while the job runs, and stays after it has ended`() async throws {
    let mayEnd = Gate()
    let worker = JobWorker(queue)
    worker.register(Message.self) { _, context in
      try context.report(progress: 0.25, "a quarter")
      await mayEnd.pass()
      try context.report(progress: 0.75, "more")
    }
    let handle = try await queue.enqueue(Message(text: "hi"))
    let store = queue.store
    let progressed = Gate()
    let subscription = store.signals.listen { _ in progressed.open() }
    worker.start()
    while try await handle.snapshot.progress == nil { await progressed.pass() }
    #expect(try await handle.snapshot.progress == JobProgress(fraction: 0.25, message: "a quarter"))
    mayEnd.open()
    try await handle.value
    #expect(try await handle.snapshot.progress == JobProgress(fraction: 0.75, message: "more"))
    await worker.stop()
    withExtendedLifetime(subscription) {}
  }

  @Test(arguments: [0, -1])
  func `a limit of less than 1 is refused when the worker is run`(limit: Int) async throws {
    let worker = JobWorker(queue, maxConcurrentJobs: limit)
    await #expect { try await worker.run() } throws: { error in
      (error as? JobError)?.message == "maxConcurrentJobs is \(limit) for the queue 'default'; it must be at least 1"
    }
    await #expect(throws: JobError.self) { try await worker.runNext() }
  }

  @Test func `queues of two stores, and no queue, are refused when the worker is run`() async throws {
    let elsewhere = JobQueue(store: InMemoryStore())
    for worker in [JobWorker([queue: 1, elsewhere: 1]), JobWorker([:])] {
      await #expect { try await worker.run() } throws: { ($0 as? JobError)?.code == .invalidArgument }
    }
  }

  @Test func `options that make no sense are refused, and nothing is stored`() async throws {
    let bad: [JobOptions] = [
      JobOptions(maxAttempts: 0), JobOptions(timeout: .zero), JobOptions(key: String(repeating: "k", count: 10_000)),
      JobOptions(key: ""), JobOptions(tags: [""]),
    ]
    for options in bad {
      await #expect { try await queue.enqueue(Double(number: 1), options: options) } throws: {
        ($0 as? JobError)?.code == .invalidArgument
      }
    }
    #expect(try await queue.counts().total == 0)
  }

  @Test func `a start in the past runs now`() async throws {
    let worker = JobWorker(queue)
    worker.register(Double.self)
    let handle = try await queue.enqueue(Double(number: 1), options: JobOptions(start: .at(.distantPast)))
    try await worker.runUntilIdle()
    #expect(try await handle.value == 2)
  }

  @Test func `verbs on an id that does not exist say so`() async throws {
    let nobody = JobID(rawValue: 4711)
    let queue = queue
    let verbs: [@Sendable () async throws -> Void] = [
      { try await queue.cancel(nobody) }, { try await queue.retry(nobody) }, { try await queue.suspend(nobody) },
      { try await queue.resume(nobody) }, { try await queue.remove(nobody) }, { try await queue.complete(nobody) },
      { _ = try await queue.job(nobody) }, { _ = try await queue.handle(nobody, as: Double.self).value },
    ]
    for verb in verbs {
      await #expect { try await verb() } throws: { error in
        (error as? JobError)?.code == .notFound && (error as? JobError)?.message == "there is no job 4711"
      }
    }
  }

  @Test func `a paused queue claims nothing until it is unpaused`() async throws {
    let worker = JobWorker(queue)
    worker.register(Double.self)
    try await queue.pause()
    let handle = try await queue.enqueue(Double(number: 1))
    let left = try await worker.runUntilIdle()
    #expect(left[.ready] == 1)
    try await queue.unpause()
    try await worker.runUntilIdle()
    #expect(try await handle.value == 2)
  }

  @Test func `waitUntilIdle returns when the last job that a living worker can serve has ended`() async throws {
    let mayEnd = Gate()
    let worker = JobWorker(queue)
    worker.register(Message.self) { _, _ in await mayEnd.pass() }
    try await queue.enqueue(Message(text: "hi"))
    try await queue.enqueue(kind: "unknown", payload: Data())
    let began = Gate()
    let subscription = queue.store.signals.listen { signal in
      if case .committed(let changes) = signal, changes.contains(where: { $0.state == .running }) { began.open() }
    }
    worker.start()
    await began.pass()
    #expect(try await queue.isIdle == false)
    async let counts = queue.waitUntilIdle()
    mayEnd.open()
    #expect(try await counts == JobCounts([.ready: 1, .succeeded: 1]))
    #expect(try await queue.isIdle)
    await worker.stop()
    withExtendedLifetime(subscription) {}
  }

  @Test func `resetAll makes running and suspended jobs ready, and what their handlers report is refused`() async throws
  {
    let began = Gate()
    let worker = JobWorker(queue)
    let isFirst = Flag(true)
    worker.register(Message.self) { _, _ in
      guard isFirst.take() else { return }
      began.open()
      await untilCancelled()
      throw Refusal(why: "lost")
    }
    let handle = try await queue.enqueue(Message(text: "first"))
    worker.start()
    await began.pass()
    #expect(try await queue.resetAll() == 1)
    try await handle.value
    #expect(try await handle.snapshot.failures.isEmpty)
    await worker.stop()
  }

  @Test func `a worker that knows no kind is idle at once, and says what is left`() async throws {
    try await queue.enqueue(Double(number: 1))
    #expect(try await JobWorker(queue).runUntilIdle() == JobCounts([.ready: 1]))
  }

  @Test func `a handler may stop its own worker, and is not waited for by itself`() async throws {
    let queue = queue
    let worker = JobWorker(queue)
    worker.register(kind: "quit") { _, _ in
      await worker.stop(grace: .zero)
      return Data("stopped".utf8)
    }
    let id = try await queue.enqueue(kind: "quit", payload: Data())
    try await worker.run()
    #expect(try await queue.job(id).output == Data("stopped".utf8))
  }

  @Test func `a worker that was started is running from then on`() async throws {
    let worker = JobWorker(queue)
    worker.register(Double.self)
    worker.start()
    await #expect { try await worker.run() } throws: { ($0 as? JobError)?.code == .alreadyRunning }
    await worker.stop()
    #expect(try await worker.runNext() == false, "and can be run again once it was stopped")
  }

  @Test func `a callback may end a job that has not begun again, and may come twice`() async throws {
    let handle = try await queue.enqueue(Double(number: 1), options: JobOptions(start: .after(.seconds(600))))
    try await handle.complete(with: 5)
    try await handle.complete(with: 6)
    #expect(try await handle.value == 5, "the first stands")
    await #expect { try await handle.fail(Refusal(why: "no")) } throws: { ($0 as? JobError)?.code == .wrongState }

    let other = try await queue.enqueue(Double(number: 1))
    try await other.fail(Refusal(why: "no"))
    try await other.fail(Refusal(why: "no"))
    #expect(try await other.snapshot.failures.count == 1)
  }

  @Test func `a handle of another kind can't end a job, nor read its output`() async throws {
    let handle = try await queue.enqueue(Double(number: 1))
    let other = queue.handle(handle.id, as: Message.self)
    let words = "job 1 is of the kind 'double', not 'message'"
    await #expect { try await other.complete() } throws: { ($0 as? JobError)?.message == words }
    try await handle.complete(with: 2)
    await #expect { try await other.value } throws: { ($0 as? JobError)?.message == words }
  }

  @Test func `a job that fails for good may say why in words alone`() async throws {
    let worker = JobWorker(queue)
    worker.register(Message.self) { _, _ in throw .permanent("the photo is too large") }
    let handle = try await queue.enqueue(Message(text: "hi"))
    try await worker.runUntilIdle()
    let job = try await handle.snapshot
    #expect((job.state, job.attempt, job.failures.map(\.message)) == (.failed, 1, ["the photo is too large"]))
  }

  @Test func `a former name of a kind never takes a job from the kind that has the name now`() async throws {
    struct Other: JobPayload {
      static let kind = "other"
      static let formerKinds = ["message"]
    }
    let runs = Recorder<String>()
    let worker = JobWorker(queue)
    worker.register(Message.self) { _, _ in runs.add("message") }
    worker.register(Other.self) { _, _ in runs.add("other") }
    try await queue.enqueue(Message(text: "hi"))
    try await worker.runUntilIdle()
    #expect(runs.all == ["message"])
  }

  @Test func `a list of a kind leaves out what does not decode, and goes on page by page`() async throws {
    try await queue.enqueue(contentsOf: (1...5).map { Message(text: "\($0)") })
    try await queue.enqueue(kind: "message", payload: Data("{}".utf8))
    let first = try await queue.jobs(of: Message.self, limit: 3)
    let second = try await queue.jobs(of: Message.self, after: first.last?.job.id, limit: 3)
    #expect((first + second).map(\.payload.text) == ["1", "2", "3", "4", "5"])
    #expect(try await queue.jobs(order: .newestFirst, limit: 1).map(\.id.rawValue) == [6])
  }

  @Test func `the number of jobs at once can be changed while a worker runs`() async throws {
    let load = LoadGauge()
    let mayEnd = Gate()
    let worker = JobWorker(queue, maxConcurrentJobs: 1)
    worker.register(kind: "n") { _, _ in
      load.enter()
      defer { load.leave() }
      if load.highest < 2 { await mayEnd.pass() }
      mayEnd.open()
      return nil
    }
    for _ in 1...2 { try await queue.enqueue(kind: "n", payload: Data()) }
    worker.start()
    try worker.setMaxConcurrentJobs(2)
    _ = try await queue.store.whenFinished(JobID(rawValue: 2))
    _ = try await queue.store.whenFinished(JobID(rawValue: 1))
    #expect(load.highest == 2)
    #expect(throws: JobError.self) { try worker.setMaxConcurrentJobs(0) }
    #expect(throws: JobError.self) { try worker.setMaxConcurrentJobs(1, for: JobQueue("other", store: queue.store)) }
    await worker.stop()
  }

  @Test func `a worker that has stopped is not counted with the living`() async throws {
    let worker = JobWorker(queue)
    worker.register(Double.self)
    try await worker.runUntilIdle()
    try await queue.enqueue(Double(number: 1))
    #expect(try await queue.isIdle)
  }

  @Test func `many jobs are enqueued in one call of the store`() async throws {
    let store = FaultyStore(InMemoryStore())
    try await JobQueue(store: store).enqueue(contentsOf: (1...10).map { Double(number: $0) })
    #expect(store.calls(of: .insert) == 1)
  }
}
