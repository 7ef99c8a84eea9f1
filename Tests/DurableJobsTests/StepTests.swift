import DurableJobs
import DurableJobsTesting
import Foundation
import TestProcesses
import Testing

private struct Trip: JobPayload {
  typealias Output = Int
  static let kind = "trip"
  static let retry = RetryPolicy.constant(.zero)
  static let options = JobOptions(maxAttempts: 5)
}

private struct Ticket: Codable, Sendable, Equatable { var seat: Int }
private struct Rained: Error {}

@Suite struct StepTests {
  let store = InMemoryStore()
  var queue: JobQueue { JobQueue(store: store) }
  let done = Recorder<String>()

  /// Runs one job with the handler until nothing is left to do.
  private func run(
    on store: (any JobStore)? = nil, _ handler: @escaping @Sendable (JobContext) async throws -> Int
  ) async throws -> JobSnapshot {
    let queue = JobQueue(store: store ?? self.store)
    let worker = JobWorker(queue)
    worker.register(Trip.self) { _, context in try await handler(context) }
    let handle = try await queue.enqueue(Trip())
    try await worker.runUntilIdle()
    return try #require(try await queue.store.jobs(JobQuery(.id(handle.id), detail: .all)).first)
  }

  @Test func `A step that finished is not done again, and later attempts get what it gave`() async throws {
    let job = try await run { [done] context in
      let ticket = try await context.step("book") {
        done.add("book")
        return Ticket(seat: 7)
      }
      try await context.step("pack") { done.add("pack") }
      let none: String? = try await context.step("note") { nil }
      done.add("attempt \(context.attempt) \(ticket.seat) \(none ?? "nothing")")
      if context.attempt < 3 { throw Rained() }
      return ticket.seat
    }
    #expect(job.output == Data("7".utf8))
    #expect(done.all == ["book", "pack"] + (1...3).map { "attempt \($0) 7 nothing" })
    #expect(job.steps == [])
  }

  @Test func `What a step gave is stored when it returns`() async throws {
    _ = try await run { [queue] context in
      let before = try await context.step("book") { try await queue.store.steps(of: context.id) }
      let after = try await queue.store.steps(of: context.id)
      #expect((before, after) == ([], ["book"]))
      return 0
    }
  }

  /// Its first turn with a result takes as long as it is told to.
  private final class SlowStore: PassingStore {
    let base: any JobStore = InMemoryStore()
    let (settles, goesOn) = (Gate(), Gate())
    private let isFirst = Lock(true)

    func settle(_ settlements: [ClaimSettlement], thenClaim: ClaimRequest?) async throws -> SettlementBatch {
      if !settlements.isEmpty, isFirst.exchange(false) {
        settles.open()
        await goesOn.pass()
      }
      return try await base.settle(settlements, thenClaim: thenClaim)
    }
  }

  @Test func `A step is stored, and returns, while the store is at a turn with another job's result`() async throws {
    let store = SlowStore()
    let queue = JobQueue(store: store)
    let worker = JobWorker(queue, maxConcurrentJobs: 2)
    let isFirst = Lock(true)
    worker.register(Trip.self) { _, context in
      if isFirst.exchange(false) { return 0 }
      await store.settles.pass()
      try await context.step("book") {}
      // Else nothing lets the turn go on.
      #expect(try await store.steps(of: context.id) == ["book"])
      store.goesOn.open()
      return 0
    }
    try await queue.enqueue(contentsOf: [Trip(), Trip()])
    try await worker.runUntilIdle()
    #expect(try await queue.counts() == JobCounts([.succeeded: 2]))
  }

  @Test func `A step uses variables and objects of its handler, and steps run side by side`() async throws {
    final class Bag { var things: [String] = [] }
    let job = try await run { context in
      let bag = Bag()
      var count = 0
      try await context.step("pack") {
        bag.things.append("tent")
        count += 1
      }
      async let left = context.step("left") { 20 }
      async let right = context.step("right") { 22 }
      return try await left + right + bag.things.count - count
    }
    #expect(job.output == Data("42".utf8))
  }

  @Test func `Two steps of one name in one attempt are refused, and one that threw may be tried again`() async throws {
    let job = try await run { [done] context in
      do { try await context.step("book") { throw Rained() } } catch is Rained { done.add("rained") }
      try await context.step("book") { done.add("booked") }
      try await context.step("book") { done.add("booked twice") }
      return 0
    }
    #expect(done.all.prefix(2) == ["rained", "booked"])
    #expect(!done.all.contains("booked twice"))
    #expect(job.state == .failed)
    #expect(
      job.failures.first?.message
        == "it has two steps 'book' in one attempt: each needs a name of its own")
  }

  @Test func `A result that no longer decodes suspends the job, and nothing is done again`() async throws {
    let job = try await run { [done] context in
      if context.attempt == 1 {
        try await context.step("book") { "seat 7" }
        throw Rained()
      }
      let ticket: Ticket = try await context.step("book") {
        done.add("booked again")
        return Ticket(seat: 8)
      }
      return ticket.seat
    }
    #expect(job.state == .suspended)
    #expect(job.reason?.hasPrefix("the result of its step 'book' does not decode as Ticket: ") ?? false)
    #expect(job.attempt == 1)
    #expect(done.all == [])
  }

  @Test func `A result that can't be stored fails the job at once`() async throws {
    let unencodable = try await run { context in Int(try await context.step("s") { Double.infinity }) }
    #expect(unencodable.state == .failed)
    #expect(
      unencodable.failures.map(\.message).first?.hasPrefix("the result of its step 's' can't be encoded") ?? false)
    let large = try await run { context in
      try await context.step("s") { String(repeating: "a", count: Limits.payloadBytes) }.count
    }
    #expect(
      large.failures.map(\.message) == [
        "the result of its step 's' has \(Limits.payloadBytes + 2) bytes; at most \(Limits.payloadBytes) can be stored"
      ])
    let unnamed = try await run { context in try await context.step("") { 1 } }
    #expect(unnamed.failures.first?.message == "the name of the step is empty; it must have 1 to 512 bytes")
  }

  @Test func `A step under a claim that was lost throws, and its handler is cancelled`() async throws {
    let queue = queue
    let job = try await run { [done] context in
      do {
        try await context.step("book") {
          _ = try await queue.store.change(
            .complete(output: Data("1".utf8)), where: .id(context.id), after: nil, limit: 1)
        }
      } catch {
        while !Task.isCancelled { await Task.yield() }
        done.add("\(error is CancellationError) \(context.stopReason == .claimLost)")
        throw error
      }
      return 0
    }
    #expect(done.all == ["true true"])
    #expect(job.output == Data("1".utf8))
  }

  @Test func `Once a stop was asked for, the step under way is stored, and none is begun`() async throws {
    let queue = queue
    let job = try await run { [done] context in
      try await context.step("book") { try await queue.cancel(context.id) }
      done.add("\(context.stopReason == .cancelled)")
      try await context.step("pack") { done.add("packed") }
      return 0
    }
    #expect(done.all == ["true"])
    #expect((job.state, job.steps) == (.cancelled, ["book"]))
  }

  @Test func `A store that is busy is waited for, and what failed for good is thrown`() async throws {
    let clock = ManualClock()
    let store = FaultyStore(InMemoryStore(clock: clock))
    store.fail(next: 3, .renew, with: JobError(.locked, "busy"))
    async let job = run(on: store) { context in try await context.step("book") { 7 } }
    for wait in [100, 200, 400] {
      await clock.timerScheduled(within: .seconds(1))
      clock.advance(by: .milliseconds(wait))
    }
    #expect(try await job.output == Data("7".utf8))
    store.fail(.renew, with: JobError(.damaged, "damaged"))
    let damaged = try await run(on: store) { context in
      try await context.attempt == 1 ? context.step("book") { 7 } : 0
    }
    #expect(damaged.failures.map(\.message) == ["damaged"])
  }
}

extension JobStore {
  fileprivate func steps(of id: JobID) async throws -> [String] {
    try await jobs(JobQuery(.id(id), detail: .steps)).first?.steps ?? []
  }
}
