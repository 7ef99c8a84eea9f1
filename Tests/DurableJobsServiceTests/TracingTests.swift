#if Service
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import InMemoryTracing
  import Testing
  import Tracing

  @testable import DurableJobsService

  @Suite struct TracingTests {
    let tracer = InMemoryTracer()

    @Test func `An attempt is a span below the one that enqueued the job`() async throws {
      let jobs = TestJobs(middleware: [JobTracing(tracer: tracer)])
      let done = Lock<[String]>([])
      jobs.worker.register(Errand.self) { errand, _ in done.withLock { $0.append(errand.name) } }
      try await tracer.withSpan("request") { _ in _ = try await jobs.queue.enqueue(Errand(name: "shop")) }
      try await jobs.queue.enqueue(Errand(name: "of nobody"))
      try await jobs.drain()
      #expect(done.withLock(\.self) == ["shop", "of nobody"])
      let spans = tracer.finishedSpans
      let request = try #require(spans.first { $0.operationName == "request" })
      let runs = spans.filter { $0.operationName == "run errand" }
      #expect(runs.map(\.parentSpanID) == [request.spanID, nil])
      #expect(runs.first?.traceID == request.traceID)
    }

    @Test func `Jobs that were enqueued in different traces are compared as they were`() throws {
      let tracing = JobTracing(tracer: tracer)
      let plain = NewJob(queue: "q", kind: "errand", payload: Data(#"{"name":"shop"}"#.utf8))
      var job = plain
      try tracer.withSpan("request") { _ in try tracing.enqueue(&job) }
      #expect(job.payload != plain.payload)
      tracing.undo(&job)
      #expect(job == plain)
    }

    @Test func `A worker without tracing runs a job that was traced`() async throws {
      let store = InMemoryStore()
      try await tracer.withSpan("request") { _ in
        _ = try await JobQueue(store: store, middleware: [JobTracing(tracer: tracer)]).enqueue(Errand(name: "shop"))
      }
      let worker = JobWorker(JobQueue(store: store))
      let done = Lock<[String]>([])
      worker.register(Errand.self) { errand, _ in done.withLock { $0.append(errand.name) } }
      try await worker.runUntilIdle()
      #expect(done.withLock(\.self) == ["shop"])
    }

    @Test(arguments: [#"{"a":1}"#, "{}", "{ }", #"{"a":{"$trace":{}}}"#, "[1]", "7", "", "{"])
    func `The payload comes back as it was`(text: String) {
      let payload = Data(text.utf8)
      for carrier in [[:], ["traceparent": "00-0af7-b7ad-01", "tracestate": #"a="1",b=2"#], ["odd": "a}b"]] {
        #expect(TracedPayload(TracedPayload(carrier, payload).bytes).payload == payload)
      }
      let carrier = ["traceparent": "00-0af7-b7ad-01", "tracestate": #"a="1",b=2"#]
      let traced = TracedPayload(carrier, payload).bytes
      #expect(TracedPayload(traced).carrier == (text.hasPrefix("{") ? carrier : [:]))
    }
  }
#endif
