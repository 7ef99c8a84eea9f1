import DurableJobs
import DurableJobsTesting
import Foundation
import TestProcesses
import Testing

private typealias Double = WorkerTests.Double
private typealias Message = WorkerTests.Message
private typealias Refusal = WorkerTests.Refusal

/// How attempts and jobs end: by their handlers, by callbacks, by people and by a stop.
@Suite struct WorkerEndTests {
  let queue = JobQueue(store: InMemoryStore())

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

  @Test func `an attempt that timed out, and ends by an exit that takes effect, has the code of that`() async throws {
    let worker = JobWorker(queue)
    worker.register(Message.self) { _, _ in
      await untilCancelled()
      throw .permanent(JobError(.invalidArgument, "it has ended before"))
    }
    let handle = try await queue.enqueue(Message(text: "hi"), options: JobOptions(timeout: .milliseconds(5)))
    try await worker.runUntilIdle()
    let failures = try await handle.snapshot.failures
    #expect(failures.map(\.message) == ["it has ended before"])
    #expect(failures.map(\.code) == [JobError(.invalidArgument, "").codeToKeep])
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

  @Test func `C54 a stop interrupts what runs when its grace is over, also while the store does not answer`()
    async throws
  {
    let clock = ManualClock()
    let store = SilentStore(InMemoryStore(clock: clock))
    let queue = JobQueue(store: store)
    let (began, asked) = (Gate(), Gate())
    let worker = JobWorker(queue)
    worker.register(Message.self) { _, context in
      began.open()
      await untilCancelled()
      #expect(context.stopReason == .shutdown)
      asked.open()
      throw CancellationError()
    }
    let handle = try await queue.enqueue(Message(text: "hi"))
    worker.start()
    await began.pass()
    clock.advance(by: Defaults.lease / 2)
    await store.isAsked.pass()
    async let stopped: Void = worker.stop(grace: .seconds(7))
    while !clock.timers.contains(.seconds(7)) { await Task.yield() }
    clock.advance(by: .seconds(7))
    await asked.pass()
    store.mayAnswer.open()
    await stopped
    #expect(try await handle.snapshot.state == .ready)
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
}

/// Is silent when it is asked to renew a lease.
private final class SilentStore: PassingStore {
  let base: any JobStore
  let (isAsked, mayAnswer) = (Gate(), Gate())

  init(_ base: any JobStore) { self.base = base }

  func renew(_ request: RenewalRequest) async throws -> [ClaimStanding] {
    isAsked.open()
    await mayAnswer.pass()
    return try await base.renew(request)
  }
}
