import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

private struct Letter: JobPayload, Equatable {
  typealias Output = String
  static let kind = "letter"
  var text: String
}

private struct Refused: Error {}

/// Writes down what it sees, and marks the payload with its name on the way in and takes the mark off on the way out.
private struct Wrapper: JobMiddleware {
  let name: String
  let seen: Recorder<String>

  func enqueue(_ job: inout NewJob) throws {
    seen.add("\(name) in")
    if job.payload == Data(#"{"text":"bomb"}"#.utf8) { throw Refused() }
    job.payload = Data("<\(name)>".utf8) + job.payload
  }

  func run(
    _ job: ClaimedJob, context: JobContext, next: @Sendable (ClaimedJob, JobContext) async throws -> Data?
  ) async throws -> Data? {
    var job = job
    let mark = Data("<\(name)>".utf8)
    guard job.payload.starts(with: mark) else { throw Refused() }
    job.payload = job.payload.dropFirst(mark.count)
    seen.add("\(name) out")
    defer { seen.add("\(name) done") }
    return try await next(job, context)
  }
}

@Suite struct MiddlewareTests {
  let seen = Recorder<String>()
  let store = InMemoryStore()
  var queue: JobQueue {
    JobQueue(store: store, middleware: [Wrapper(name: "a", seen: seen), Wrapper(name: "b", seen: seen)])
  }

  @Test func `Middleware stands around a job from the program to the store and back`() async throws {
    let handle = try await queue.enqueue(Letter(text: "hello"))
    #expect(
      try await store.jobs(JobQuery(.id(handle.id), detail: .all)).first?.payload
        == Data(#"<b><a>{"text":"hello"}"#.utf8))
    let worker = JobWorker(queue)
    worker.register(Letter.self) { letter, _ in letter.text.uppercased() }
    try await worker.runUntilIdle()
    #expect(try await handle.value == "HELLO")
    #expect(seen.all == ["a in", "b in", "b out", "a out", "a done", "b done"])
  }

  @Test func `A job of a kind that would bypass the middleware when it runs is refused`() async throws {
    struct Order: JobPayload { static let kind = "durable.order" }
    _ = try await JobQueue(store: store).enqueue(Order())
    let error = await #expect(throws: JobError.self) { try await queue.enqueue(Order()) }
    #expect(error?.code == .invalidArgument && error?.message.contains("durable.order") == true)
  }

  @Test func `Each way in passes the middleware, what follows a job too`() async throws {
    let worker = JobWorker(queue)
    worker.register(Letter.self) { letter, context in
      if letter.text == "first" { try context.enqueueOnSuccess(Letter(text: "follower")) }
      return letter.text
    }
    var plan = JobPlan()
    plan.add(Letter(text: "planned"))
    try await queue.enqueue(plan)
    try await queue.enqueue(Letter(text: "first"))
    try await queue.enqueue(contentsOf: [Letter(text: "one"), Letter(text: "two")])
    try await queue.enqueue(mixed: [Letter(text: "mixed")])
    try await queue.enqueue(kind: "letter", payload: Data(#"{"text":"untyped"}"#.utf8))
    try await queue.enqueueBatch("all", contentsOf: [Letter(text: "batch")])
    let counts = try await worker.runUntilIdle()
    #expect((counts[.succeeded], counts.unfinished, counts[.failed]) == (8, 0, 0))
  }

  @Test func `What middleware refuses is not stored, and its error is the caller's`() async throws {
    await #expect(throws: Refused.self) {
      try await queue.enqueue(contentsOf: [Letter(text: "one"), Letter(text: "bomb")])
    }
    #expect(try await queue.counts().total == 0)
  }

  @Test func `What middleware throws around an attempt counts as thrown by the handler`() async throws {
    let handle = try await JobQueue(store: store).enqueue(Letter(text: "plain"), options: JobOptions(maxAttempts: 1))
    let worker = JobWorker(queue)
    worker.register(Letter.self) { letter, _ in letter.text }
    try await worker.runUntilIdle()
    #expect(try await handle.snapshot.state == .failed)
    #expect(try await handle.snapshot.failures.last?.message.contains("Refused") == true)
  }

  @Test func `A worker on two queues keeps their middleware apart, and a handler called by a test has it too`()
    async throws
  {
    let plain = JobQueue("plain", store: store)
    let worker = JobWorker([queue: 1, plain: 1])
    worker.register(Letter.self) { letter, _ in letter.text }
    try await queue.enqueue(Letter(text: "wrapped"))
    try await plain.enqueue(Letter(text: "bare"))
    try await worker.runUntilIdle()
    #expect(seen.all.filter { $0.hasPrefix("a") } == ["a in", "a out", "a done"])

    let jobs = TestJobs(middleware: [Wrapper(name: "t", seen: seen)])
    jobs.worker.register(Letter.self) { letter, _ in letter.text }
    #expect(try await jobs.perform(Letter(text: "hi")) == "hi")
    #expect(seen.all.suffix(3) == ["t in", "t out", "t done"])
  }
}
