import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

private struct Note: JobPayload {
  static let kind = "note"
  var text: String
}

private struct Other: JobPayload {
  static let kind = "note"
  var number: Int
}

/// Runs of one worker after each other, and what a worker says of how it was set up.
@Suite struct WorkerStartTests {
  let queue = JobQueue("notes", store: InMemoryStore())

  /// A worker, and a job for it that says when it begins and waits to be let go.
  private func slowWorker() async throws -> (JobWorker, began: Gate, mayEnd: Gate) {
    let (began, mayEnd) = (Gate(), Gate())
    let worker = JobWorker(queue)
    worker.register(Note.self) { note, _ in
      guard note.text == "slow" else { return }
      began.open()
      await mayEnd.pass()
    }
    try await queue.enqueue(Note(text: "slow"))
    return (worker, began, mayEnd)
  }

  @Test func `a start during the end of a run begins after it`() async throws {
    let (worker, began, mayEnd) = try await slowWorker()
    worker.start()
    await began.pass()
    async let stopped: Void = worker.stop()
    let next = try await queue.enqueue(Note(text: "next"))
    while !worker.isStopping { await Task.yield() }
    worker.start()
    mayEnd.open()
    await stopped
    _ = try await next.value
    await worker.stop()
  }

  @Test func `a start while a cancelled run ends begins after it`() async throws {
    let (worker, began, mayEnd) = try await slowWorker()
    let run = Task { try await worker.run() }
    await began.pass()
    run.cancel()
    worker.start()
    mayEnd.open()
    try await run.value
    _ = try await queue.enqueue(Note(text: "next")).value
    await worker.stop()
  }

  @Test func `a start during a run that ends by itself begins after it`() async throws {
    let (worker, began, mayEnd) = try await slowWorker()
    async let run = worker.runUntilIdle()
    await began.pass()
    worker.start()
    mayEnd.open()
    _ = try await run
    _ = try await queue.enqueue(Note(text: "next")).value
    await worker.stop()
  }

  @Test func `a stop takes back a start that has not begun`() async throws {
    let (worker, began, mayEnd) = try await slowWorker()
    async let run = worker.runUntilIdle()
    await began.pass()
    worker.start()
    async let stopped: Void = worker.stop()
    while !worker.isStopping { await Task.yield() }
    mayEnd.open()
    _ = try await run
    await stopped
    try await worker.runUntilIdle()  // which nothing is in the way of
  }

  @Test func `what follows from a job has the defaults of its worker's queue`() async throws {
    let queue = JobQueue("notes", store: queue.store, defaults: JobOptions(maxAttempts: 6))
    let worker = JobWorker(queue)
    worker.register(Note.self) { note, context in
      if note.text == "first" { try context.enqueueOnSuccess(Note(text: "second")) }
    }
    try await queue.enqueue(Note(text: "first"))
    try await worker.runUntilIdle()
    #expect(try await queue.jobs().map(\.maxAttempts) == [6, 6])
  }

  @Test func `a job of a kind that nobody registered is told once, by who runs its queue`() async throws {
    let book = LogBook()
    let worker = JobWorker(queue, logger: book.logger)
    worker.register(kind: "another") { _, _ in nil }
    try await worker.runUntilIdle()
    #expect(!book.all.contains { $0.level == .notice }, "there is none")
    try await queue.enqueue(Note(text: "waits"))
    let counts = try await worker.runUntilIdle()
    #expect(counts[.ready] == 1)
    #expect(book.all.filter { $0.level == .notice }.count == 1)
  }

  @Test func `where jobs that nobody can run were told, none is looked for until the worker can do others`()
    async throws
  {
    let (book, clock) = (LogBook(), ManualClock())
    let store = FaultyStore(InMemoryStore(clock: clock))
    let queue = JobQueue(store: store)
    let worker = JobWorker(queue, logger: book.logger)
    worker.register(kind: "another") { _, _ in nil }
    let vpn = ManualConstraint(false)
    worker.provide("vpn", vpn)
    try await queue.enqueue(Note(text: "waits"))
    worker.start()
    func sweep() async {
      await clock.timerScheduled(within: Defaults.sweepInterval)
      clock.advance(by: Defaults.sweepInterval)
      await clock.timerScheduled(within: Defaults.sweepInterval)
    }
    for _ in 1...3 { await sweep() }
    #expect(store.calls(of: .recover) > 3)
    #expect(store.calls(of: .jobs) == 1)
    worker.register(kind: "a third") { _, _ in nil }
    await sweep()
    #expect(store.calls(of: .jobs) == 2)
    vpn.isSatisfied = true
    // The worker hears of it in its own time.
    while store.calls(of: .jobs) < 3 { await sweep() }
    for _ in 1...2 { await sweep() }
    #expect(store.calls(of: .jobs) == 3)
    #expect(book.all.filter { $0.level == .notice }.count == 1)
    await worker.stop()
  }

  @Test func `a condition that nobody provides is told once, by who runs the queue`() async throws {
    let book = LogBook()
    let worker = JobWorker(queue, logger: book.logger)
    worker.register(Note.self) { _, _ in }
    worker.provide("vpn", ManualConstraint(false))
    try await queue.enqueue(Note(text: "waits"), options: JobOptions(requires: ["vpn"]))
    try await worker.runUntilIdle()
    #expect(!book.all.contains { $0.level == .notice }, "it is provided, and does not hold")
    try await queue.removeAll(where: .all)
    try await queue.enqueue(Note(text: "waits"), options: JobOptions(requires: ["netwrok"]))
    try await worker.runUntilIdle()
    #expect(
      book.all.filter { $0.level == .notice }.map(\.text)
        == ["a job is ready, and no worker provides 'netwrok', which it requires: "])
  }

  @Test func `a second type for one kind counts, and is told`() throws {
    let book = LogBook()
    let worker = JobWorker(queue, logger: book.logger)
    worker.register(Note.self) { _, _ in }
    worker.register(Note.self) { _, _ in }
    #expect(book.warnings == [])
    worker.register(Other.self) { _, _ in }
    #expect(book.warnings.count == 1)
  }
}
