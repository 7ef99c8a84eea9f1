#if Service
  import DurableJobs
  import DurableJobsService
  import DurableJobsTesting
  import Foundation
  import MetricsTestKit
  import ServiceLifecycle
  import ServiceLifecycleTestKit
  import Testing

  private struct Broken: Error {}

  @Suite struct MetricsTests {
    let factory = TestMetrics()
    var metrics: JobMetrics { JobMetrics(factory: factory) }

    private func runs(_ outcome: JobMetrics.Outcome) throws -> Int {
      let dimensions = [("queue", "default"), ("kind", "errand"), ("outcome", outcome.rawValue)]
      return try factory.expectTimer("durable_jobs_run", dimensions).values.count
    }

    @Test func `Each attempt is timed under its outcome, and the first one's wait`() async throws {
      let jobs = TestJobs(middleware: [metrics])
      jobs.worker.register(Errand.self, retry: .constant(.zero)) { errand, context in
        switch (errand.name, context.attempt) {
        case ("fails once", 1): throw Broken()
        case ("snoozes", _): throw .snooze(for: .seconds(600))
        case ("asks", _): throw .suspend(because: "who pays?")
        default: return
        }
      }
      for name in ["shop", "fails once", "snoozes", "asks"] { try await jobs.queue.enqueue(Errand(name: name)) }
      try await jobs.advance(by: .seconds(1))
      #expect(try runs(.succeeded) == 2)
      #expect(try runs(.failed) == 1)
      #expect(try runs(.putOff) == 2)
      #expect(
        try factory.expectTimer("durable_jobs_wait", [("queue", "default"), ("kind", "errand")]).values.count == 4)
      try await jobs.advance(by: .seconds(700))
      #expect(try runs(.putOff) == 3)
      let waits = try factory.expectTimer("durable_jobs_wait", [("queue", "default"), ("kind", "errand")]).values
      #expect(waits.count == 5, "what was put off is measured again")
      #expect(waits[4] >= 600_000_000_000)
      #expect(
        try factory.expectCounter("durable_jobs_retries", [("queue", "default"), ("kind", "errand")]).values == [1],
        "what was put off has not failed")
    }

    @Test func `Times are nanoseconds: a wait with the delay that was asked for, a run as long as it took`()
      async throws
    {
      let jobs = TestJobs(middleware: [metrics])
      jobs.worker.register(Errand.self) { _, _ in
        let end = ContinuousClock.now + .milliseconds(2)
        while ContinuousClock.now < end { await Task.yield() }
      }
      try await jobs.queue.enqueue(Errand(), options: JobOptions(start: .after(.seconds(600))))
      try await jobs.advance(by: .seconds(600))
      let dimensions = [("queue", "default"), ("kind", "errand")]
      #expect(try factory.expectTimer("durable_jobs_wait", dimensions).values == [600_000_000_000])
      let runs = try factory.expectTimer("durable_jobs_run", dimensions + [("outcome", "succeeded")]).values
      #expect(runs.count == 1)
      #expect(runs[0] >= 2_000_000)
    }

    @Test func `An attempt that was cancelled counts as stopped`() async throws {
      let queue = JobQueue(store: InMemoryStore(), middleware: [metrics])
      let worker = JobWorker(queue)
      worker.register(Errand.self) { _, context in
        try await queue.cancel(context.id)
        while context.stopReason == nil { await Task.yield() }
        throw CancellationError()
      }
      try await queue.enqueue(Errand())
      try await worker.runUntilIdle()
      #expect(try runs(.stopped) == 1)
    }

    @Test func `An attempt that ends after its job was ended by another counts as a lost claim`() async throws {
      let queue = JobQueue(store: InMemoryStore(), middleware: [metrics])
      let worker = JobWorker(queue)
      worker.register(Errand.self) { _, context in
        try await context.step("look away") {
          _ = try await queue.store.change(.complete(output: nil), where: .id(context.id), after: nil, limit: 1)
        }
      }
      try await queue.enqueue(Errand())
      try await worker.runUntilIdle()
      #expect(try runs(.claimLost) == 1)
    }

    @Test func `Gauges tell how many jobs are in each state, and whether the queue is paused`() async throws {
      let queue = JobQueue("mail", store: InMemoryStore())
      try await queue.enqueue(contentsOf: [Errand(), Errand()])
      try await queue.pause()
      try await testGracefulShutdown { trigger in
        trigger.triggerGracefulShutdown()
        try await metrics.gauges(of: [queue]).run()
      }
      func jobs(_ state: String) throws -> Double? {
        try factory.expectGauge("durable_jobs_jobs", [("queue", "mail"), ("state", state)]).lastValue
      }
      #expect(try (jobs("ready"), jobs("running"), jobs("failed")) == (2, 0, 0))
      #expect(try factory.expectGauge("durable_jobs_paused", [("queue", "mail")]).lastValue == 1)
    }
  }
#endif
