import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

/// Deadlines as the users of a queue and a worker see them.
@Suite struct DeadlineTests {
  let clock = ManualClock()
  let store: InMemoryStore
  let queue: JobQueue

  init() {
    store = InMemoryStore(clock: clock)
    queue = JobQueue(store: store)
  }

  private func add(_ deadline: JobDeadline, kind: String = "k") async throws -> JobID {
    try await queue.enqueue(kind: kind, payload: Data(), options: JobOptions(deadline: deadline))
  }

  @Test func `A handler is asked to stop at its deadline, knows why, and its job has failed without a retry`()
    async throws
  {
    let worker = JobWorker(queue)
    let stops = Recorder<StopReason?>()
    let begun = Gate()
    worker.register(kind: "k") { [clock] _, context in
      #expect(context.deadline == clock.now.addingTimeInterval(60))
      begun.open()
      await untilCancelled()
      stops.add(context.stopReason)
      throw CancellationError()
    }
    worker.start()
    let id = try await add(.end(by: .after(.seconds(60))))
    await begun.pass()
    clock.advance(by: .seconds(60))
    _ = try await store.whenFinished(id)
    await worker.stop()
    #expect(stops.all == [.overdue])
    let job = try await queue.job(id)
    #expect((job.state, job.attempt) == (.failed, 0))
    #expect(try #require(job.finishedAt) == Date(timeIntervalSince1970: 1_800_000_060))
  }

  @Test func `A job whose deadline comes before its start is refused`() async throws {
    let late = JobDeadline.end(by: .at(clock.now + 60))
    for (start, deadline) in [
      (JobTime.after(.seconds(60)), late), (.at(clock.now + 61), .start(by: .after(.seconds(61)))),
    ] {
      await #expect {
        try await queue.enqueue(
          kind: "k", payload: Data(), options: JobOptions(start: start, deadline: deadline))
      } throws: {
        ($0 as? JobError)?.code == .invalidArgument && "\($0)".contains("its deadline is 2027-01-15T08:01:0")
      }
    }
    _ = try await queue.enqueue(
      kind: "k", payload: Data(), options: JobOptions(start: .after(.seconds(59)), deadline: late))
  }

  @Test func `A worker without a free slot gives up what waits, at the moment that was told`() async throws {
    let worker = JobWorker(queue, maxConcurrentJobs: 1)
    let begun = Gate()
    worker.register(kind: "hold") { _, _ in
      begun.open()
      await untilCancelled()
      return nil
    }
    worker.start()
    _ = try await queue.enqueue(kind: "hold", payload: Data())
    await begun.pass()
    let ids = [
      try await add(.start(by: .after(.seconds(3))), kind: "hold"), try await add(.end(by: .after(.seconds(3)))),
    ]
    await clock.timerScheduled(within: .seconds(3))
    clock.advance(by: .seconds(3))
    for id in ids { #expect(try await store.whenFinished(id).state == .failed) }
    #expect(try await queue.job(ids[1]).finishedAt == clock.now)
    await worker.stop(grace: .zero)
  }

  @Test func `Who waits for the value of a job that was given up gets that as its failure`() async throws {
    let id = try await add(.end(by: .at(clock.now)))
    _ = try await store.recover(RecoveryRequest())
    let failure = await #expect(throws: JobFailure.self) { try await queue.handle(id, as: Nothing.self).value }
    #expect(failure?.message == "its deadline has passed: it had not ended by 2027-01-15T08:00:00.000Z")
  }

  @Test func `A call's deadline goes before the kind's`() {
    let options = JobOptions(deadline: .end(by: .now)).overridden(by: JobOptions(deadline: .start(by: .now)))
    #expect(options.deadline == .start(by: .now))
    #expect(options.overridden(by: JobOptions()).deadline == .start(by: .now))
  }
}

private struct Nothing: JobPayload { static let kind = "k" }
