import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobs

/// Handlers that wait for jobs, and so hold their slots: who would wait for ever is told.
@Suite struct HandlerWaitTests {
  let store = FaultyStore(InMemoryStore(clock: ManualClock()))
  let queue: JobQueue

  init() { queue = JobQueue(store: store) }

  /// A worker whose handlers of "parent" wait for a "child" that they enqueue.
  private func family(slots: Int, _ logger: LogBook = LogBook()) -> JobWorker {
    let (queue, store) = (queue, store)
    let worker = JobWorker(queue, maxConcurrentJobs: slots, logger: logger.logger)
    worker.register(kind: "child") { _, _ in Data("done".utf8) }
    worker.register(kind: "parent", retry: .never) { _, _ in
      try await store.whenFinished(try await queue.enqueue(kind: "child", payload: Data())).output
    }
    return worker
  }

  @Test func `C23 a handler that waits in the last slot for a job of its own worker is told that it can't`()
    async throws
  {
    let parent = try await queue.enqueue(kind: "parent", payload: Data())
    try await family(slots: 1).runUntilIdle()
    let job = try await queue.job(parent)
    #expect(job.state == .failed)
    #expect(
      job.failures.map(\.message) == [
        "job 2 (child) can't run while job 1 waits for it: handlers that wait hold every slot of their worker for the "
          + "queue 'default'. Raise its maxConcurrentJobs, or enqueue such jobs in another queue"
      ])
  }

  @Test func `C23 a handler that waits in the last place that a limit of its queue allows is told that it can't`()
    async throws
  {
    try await queue.setLimits(JobLimits(running: 2))
    for _ in 1...2 { try await queue.enqueue(kind: "parent", payload: Data()) }
    let counts = try await family(slots: 4).runUntilIdle()
    #expect(counts == JobCounts([.failed: 1, .succeeded: 3]))
    let job = try #require(try await queue.jobs(where: .state(.failed), detail: .failures).first)
    let words = try #require(job.failures.last?.message)
    #expect(
      words.hasSuffix(
        "handlers that wait hold every place that the limit of the queue 'default' allows. Raise that limit, or enqueue such "
          + "jobs in another queue"), "\(words)")
  }

  /// A worker whose handler of "parent" waits for the last of the jobs that `jobs` makes of its own id.
  private func parent(
    slots: Int, of options: JobOptions = JobOptions(), _ jobs: @escaping @Sendable (JobID) -> [NewJob]
  ) async throws -> (JobWorker, JobID) {
    let worker = JobWorker(queue, maxConcurrentJobs: slots, logger: LogBook().logger)
    worker.register(kind: "child") { _, _ in nil }
    worker.register(kind: "parent", retry: .never) { [store] _, context in
      let ids = try await store.insert(JobInsertion(jobs(context.id))).ids
      return try await store.whenFinished(ids[ids.count - 1]).output
    }
    return (worker, try await queue.enqueue(kind: "parent", payload: Data(), options: options))
  }

  private func child(_ terms: JobTerms = JobTerms(), after edges: [JobEdge] = []) -> NewJob {
    NewJob(queue: queue.name, kind: "child", payload: Data(), terms: terms, edges: edges)
  }

  @Test func `C23 a handler that waits in the last slot for the end of a chain is told that it can't`() async throws {
    let child = child()
    let (worker, parent) = try await parent(slots: 1) { _ in
      var last = child
      last.edges = [JobEdge(.sibling(0))]
      return [child, last]
    }
    #expect(try await worker.runUntilIdle() == JobCounts([.failed: 1, .succeeded: 2]))
    #expect(try await queue.job(parent).failures.last?.message.contains("hold every slot") == true)
  }

  @Test func `C23 a handler that waits for a job behind itself in its lane is told that it can't`() async throws {
    let behind = child(JobTerms(lane: "chat"))
    let (worker, parent) = try await parent(slots: 2, of: JobOptions(lane: "chat")) { _ in [behind] }
    #expect(try await worker.runUntilIdle()[.failed] == 1)
    #expect(
      try await queue.job(parent).failures.last?.message
        == "job 2 (child) can't run while job 1 waits for it: it is behind that job in the lane 'chat'")
  }

  @Test func `a handler may wait for a job of its lane where that is wide enough`() async throws {
    try await queue.setWidth(of: "chat", to: 2)
    let beside = child(JobTerms(lane: "chat"))
    let (worker, _) = try await parent(slots: 3, of: JobOptions(lane: "chat")) { _ in [beside, beside] }
    #expect(try await worker.runUntilIdle() == JobCounts([.succeeded: 3]))
  }

  @Test func `C23 a handler that waits for a job that needs its own end is told that it can't`() async throws {
    let child = child()
    let (worker, parent) = try await parent(slots: 2) { own in
      var after = child
      after.edges = [JobEdge(.job(own), .ended)]
      return [after]
    }
    #expect(try await worker.runUntilIdle() == JobCounts([.failed: 1, .succeeded: 1]))
    #expect(
      try await queue.job(parent).failures.last?.message
        == "job 2 (child) can't run while job 1 waits for it: it needs the end of that job")
  }

  @Test func `C23 a handler that waits for its own end, in any way, is told that it would`() async throws {
    let (queue, store) = (queue, store)
    let waits: [String: @Sendable () async throws -> Void] = [
      "idle": { _ = try await queue.waitUntilIdle() },
      "finished": { _ = try await queue.waitUntilFinished(where: .state(.running)) },
      "value": { _ = try await store.whenFinished(JobID(rawValue: 1)) },
    ]
    let worker = JobWorker(queue)
    worker.register(kind: "waits", retry: .never) { job, _ in
      try await waits[String(decoding: job.payload, as: UTF8.self)]?()
      return nil
    }
    for kind in ["value", "idle", "finished"] { try await queue.enqueue(kind: "waits", payload: Data(kind.utf8)) }
    #expect(try await worker.runUntilIdle()[.failed] == 3)
    for job in try await queue.jobs(detail: .failures) {
      #expect(job.failures[0].message.hasPrefix("job \(job.id) would wait for its own end"))
    }
  }

  @Test func `a handler may wait for the jobs of its queue that it is none of`() async throws {
    let queue = queue
    let worker = JobWorker(queue)
    worker.register(kind: "child") { _, _ in nil }
    worker.register(kind: "parent", retry: .never) { _, _ in
      try await queue.enqueue(kind: "child", payload: Data())
      return Data("\(try await queue.waitUntilFinished(where: .kind("child"))[.succeeded])".utf8)
    }
    let parent = try await queue.enqueue(kind: "parent", payload: Data())
    try await worker.runUntilIdle()
    #expect(try await queue.job(parent).output == Data("1".utf8))
  }

  @Test func `a handler that waits for a job for which there is a slot gets its output`() async throws {
    let parent = try await queue.enqueue(kind: "parent", payload: Data())
    try await family(slots: 2).runUntilIdle()
    #expect(try await queue.job(parent).output == Data("done".utf8))
  }

  @Test func `C23 of handlers that wait in all slots one is told, and the others go on`() async throws {
    for _ in 1...3 { try await queue.enqueue(kind: "parent", payload: Data()) }
    let counts = try await family(slots: 3).runUntilIdle()
    #expect(counts == JobCounts([.failed: 1, .succeeded: 5]))
  }

  @Test func `a handler may wait in the last slot for what another worker of the process runs`() async throws {
    let other = JobWorker(queue, maxConcurrentJobs: 1)
    other.register(kind: "child") { _, _ in Data("done".utf8) }
    let parent = try await queue.enqueue(kind: "parent", payload: Data())
    other.start()
    try await family(slots: 1).runUntilIdle()
    #expect(try await queue.job(parent).output == Data("done".utf8))
    await other.stop()
  }
}
