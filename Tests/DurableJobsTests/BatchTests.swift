import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

private struct Piece: Job {
  static let kind = "piece"
  static let options = JobOptions(maxAttempts: 1)
  var number: Int
  struct Odd: Error {}

  func run(in context: JobContext) async throws { if number % 2 == 1 { throw Odd() } }
}

private struct Tally: Job {
  static let kind = "sum"
  var name: String

  func run(in context: JobContext) async throws -> String { name }
}

/// Batches as the users of a queue see them.
@Suite struct BatchTests {
  let clock = ManualClock()
  let store: InMemoryStore
  let queue: JobQueue
  let worker: JobWorker

  init() {
    store = InMemoryStore(clock: clock)
    queue = JobQueue(store: store)
    worker = JobWorker(queue)
    worker.register(Piece.self)
    worker.register(Tally.self)
  }

  @Test func `A batch is waited for, and its job runs after it, however its jobs ended`() async throws {
    let batch = try await queue.enqueueBatch(
      "pieces", contentsOf: (1...5).map { Piece(number: $0) }, whenDone: Tally(name: "s"))
    async let done = batch.waitUntilDone()
    try await worker.runUntilIdle()
    let status = try await done
    #expect((status.batch.total, status.batch.succeeded, status.unsuccessful, status.fraction) == (5, 2, 3, 1))
    let follower = try #require(status.batch.whenDone)
    #expect(try await queue.handle(follower, as: Tally.self).value == "s")
    #expect(try await queue.counts(where: .batch(batch.id)) == JobCounts([.succeeded: 2, .failed: 3]))
    #expect(try await queue.batch(named: "pieces").status == status)
  }

  @Test func `Batches are listed, the newest first, and take jobs one by one`() async throws {
    let first = try await queue.openBatch("first")
    let second = try await queue.openBatch("second")
    let job = try await second.enqueue(Tally(name: "t"))
    try await second.close()
    try await worker.runUntilIdle()
    #expect(try await job.value == "t")
    let batches = try await queue.batches()
    #expect(batches.map(\.id) == [second.id, first.id])
    #expect(batches.map(\.isOpen) == [false, true])
    #expect(batches.map(\.total) == [1, 0])
    #expect(try await queue.batches(limit: 1).map(\.name) == ["second"])
  }

  @Test func `A handler that fills a batch in steps stores each job once, and one batch, whenever it is tried again`()
    async throws
  {
    struct Announce: JobPayload {
      var names: [String]
      static let kind = "announce"
    }
    let jobs = TestJobs()
    let (queue, isBroken) = (jobs.queue, Lock(true))
    jobs.worker.register(Tally.self)
    jobs.worker.register(Announce.self, retry: .constant(.seconds(1))) { job, context in
      let id = try await context.step("batch") {
        let name = "mails \(context.id)"
        do { return try await queue.batch(named: name).id } catch let error as JobError where error.code == .notFound {}
        let id = try await queue.openBatch(name).id
        if context.attempt == 1 {
          // Before the step is stored, with many batches of others after this one.
          for number in 0..<100 { try await queue.openBatch("\(number)").close() }
          throw Piece.Odd()
        }
        return id
      }
      for name in job.names {
        if name == "grace", isBroken.withLock({ $0 }) { throw JobExit.permanent("no such name") }
        _ = try await context.step("mail \(name)") {
          let key = UniqueKey("\(context.id) \(name)", scope: .whileStored)
          return try await queue.batch(id).enqueue(Tally(name: name), options: JobOptions(unique: key)).id
        }
      }
      try await queue.batch(id).close()
    }
    let announce = try await queue.enqueue(Announce(names: ["ada", "grace"]))
    try await jobs.advance(by: .seconds(10))
    #expect(try await announce.snapshot.state == .failed)
    try await jobs.advance(by: .seconds(2 * 86_400))
    while try await queue.store.recover(RecoveryRequest()).hasMore {}
    #expect(try await queue.counts()[.succeeded] == 0, "ada's is gone by now")
    isBroken.withLock { $0 = false }
    try await announce.retry()
    try await jobs.advance(by: .seconds(10))
    let batches = try await queue.batches(limit: 200).filter { $0.name.hasPrefix("mails") }
    #expect(batches.map(\.total) == [2])
    #expect(batches.map(\.isDone) == [true])
  }

  @Test func `Who waits for a batch is told when it is closed after its jobs have ended`() async throws {
    let store = FaultyStore(store)
    let batch = try await JobQueue(store: store).openBatch("pieces")
    try await batch.enqueue(contentsOf: [Piece(number: 2)])
    try await worker.runUntilIdle()
    let looks = store.calls(of: .batches)
    let waiter = Task { try await batch.waitUntilDone() }
    while store.calls(of: .batches) == looks { await Task.yield() }
    try await batch.close()
    #expect(try await waiter.value.isDone)
  }

  @Test func `C23 A handler that waits for its own batch is told that it can't, and what follows the batch may`()
    async throws
  {
    worker.register(Piece.self, retry: .never) { _, context in
      try await context.batch?.waitUntilDone()
    }
    worker.register(Tally.self) { tally, context in
      let batch = try #require(context.batch)
      #expect(try await batch.waitUntilDone().batch.total == 1)
      return tally.name
    }
    try await queue.enqueueBatch("pieces", contentsOf: [Piece(number: 2)], whenDone: Tally(name: "s"))
    #expect(try await worker.runUntilIdle() == JobCounts([.failed: 1, .succeeded: 1]))
    let message = try await queue.job(JobID(rawValue: 1)).failures.last?.message
    #expect(message?.hasPrefix("job 1 would wait for its own end") == true)
  }

  @Test func `What follows a batch sees how its jobs ended, and one of its jobs may add others to it`() async throws {
    let seen = Lock<[String]>([])
    worker.register(Piece.self) { piece, context in
      if piece.number == 2 { try await context.batch?.enqueue(contentsOf: [Piece(number: 4)]) }
      if piece.number == 3 { throw Piece.Odd() }
    }
    worker.register(Tally.self) { tally, context in
      let batch = try #require(context.batch)
      let status = try await batch.status
      let failed = try await queue.jobs(of: Piece.self, where: .batch(batch.id) && .state(.failed))
      seen.withLock {
        $0.append(
          "\(status.batch.name): \(status.batch.total), \(status.unsuccessful), \(failed.map(\.payload.number))")
      }
      return tally.name
    }
    worker.register(kind: "alone") { _, context in
      seen.withLock { $0.append("alone: \(context.batch?.id.description ?? "-")") }
      return nil
    }
    try await queue.enqueueBatch(
      "pieces", contentsOf: [Piece(number: 2), Piece(number: 3)], whenDone: Tally(name: "s"))
    try await queue.enqueue(kind: "alone", payload: Data())
    try await worker.runUntilIdle()
    #expect(seen.withLock { $0 }.sorted() == ["alone: -", "pieces: 3, 1, [3]"])
  }

  @Test func `A running job counts in its batch as far as it has reported`() async throws {
    let batch = try await queue.enqueueBatch("pieces", contentsOf: (1...4).map { Piece(number: $0) })
    let jobs = try await store.claim(ClaimRequest(worker: WorkerID("w"), kinds: ["piece"], free: [queue.name: 2])).jobs
    let half = ClaimRenewal(token: jobs[0].token, progress: JobProgress(fraction: 0.5))
    _ = try await store.renew(RenewalRequest(worker: WorkerID("w"), renewals: [half], isPartial: true))
    _ = try await store.settle(
      [ClaimSettlement(token: jobs[1].token, result: .succeeded(output: nil))], thenClaim: nil)
    let status = try await batch.status
    #expect(status.fraction == 0.375)
    #expect(!status.isDone)
  }

  @Test func `Statuses come until a batch is done, and more jobs may join it till then`() async throws {
    let batch = try await queue.enqueueBatch("pieces", contentsOf: [Piece(number: 2)])
    #expect(try await batch.enqueue(contentsOf: [Piece(number: 4), Piece(number: 6)]).count == 2)
    var statuses = batch.statuses.makeAsyncIterator()
    #expect(try await statuses.next()?.batch.succeeded == 0)
    try await worker.runUntilIdle()
    clock.advance(by: .milliseconds(100))
    #expect(try await statuses.next()?.batch.succeeded == 3)
    #expect(try await statuses.next() == nil)
    let refusal = await #expect(throws: JobError.self) { try await batch.enqueue(contentsOf: [Piece(number: 8)]) }
    #expect(refusal?.code == .wrongState)
    let gone = await #expect(throws: JobError.self) { try await queue.batch(BatchID(rawValue: 99)).waitUntilDone() }
    #expect(gone?.code == .notFound)
  }

  @Test func `Who waits for a batch can be cancelled`() async throws {
    let batch = try await queue.enqueueBatch("pieces", contentsOf: [Piece(number: 2)])
    let waiting = Task { try await batch.waitUntilDone() }
    await clock.timerScheduled()
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }
}
