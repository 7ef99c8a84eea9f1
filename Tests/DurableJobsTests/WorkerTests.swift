import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

/// The worker, the queue and a store together: what a user of them sees.
@Suite struct WorkerTests {
  struct Double: Job {
    static let kind = "double"
    static let retry = RetryPolicy.constant(.zero)
    static let options = JobOptions(maxAttempts: 3)
    var number: Int

    func run(in context: JobContext) async throws -> Int { number * 2 }
  }

  struct Message: JobPayload {
    static let kind = "message"
    static let formerKinds = ["mail"]
    static let retry = RetryPolicy.constant(.zero)
    static let options = JobOptions(maxAttempts: 3)
    var text: String

    func validate() throws {
      if text.isEmpty { throw Refusal(why: "a message needs a text") }
    }
  }

  struct Refusal: Error, CustomStringConvertible {
    var why: String
    var description: String { why }
  }

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
