import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

/// Jobs that wait for jobs, over the end of a process.
@Suite struct ChainTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  /// What a process does, from opening the store to closing it.
  private func launch<R>(_ body: (JobQueue, JobWorker) async throws -> R) async throws -> R {
    let store = try folder.store()
    let queue = JobQueue(store: store)
    let worker = JobWorker(queue)
    worker.register(Count.self) { count, _ in
      if count.from < 0 { throw .permanent(Negative()) }
      return count.from
    }
    worker.register(Add.self) { add, _ in add.number + add.more }
    worker.register(Explain.self) { explain, _ in explain.failure.message }
    let result = try await body(queue, worker)
    await store.close()
    return result
  }

  @Test func `A chain goes on in the next launch with the outputs of the one before`() async throws {
    let id = try await launch { queue, worker in
      let chain = JobChain(Count(from: 1)).then { Add(number: $0, more: 10) }.then { Add(number: $0, more: 100) }
      let handle = try await queue.enqueue(chain)
      #expect(try await worker.runNext())
      #expect(try await queue.counts() == JobCounts([.succeeded: 1, .ready: 1, .blocked: 1]))
      return handle.id
    }
    try await launch { queue, worker in
      try await worker.runUntilIdle()
      #expect(try await queue.handle(id, as: Add.self).value == 111)
    }
    #expect(try await launch { queue, _ in try await queue.handle(id, as: Add.self).value } == 111)
  }

  @Test func `The failure of a chain's link is what its value throws, also in a later launch`() async throws {
    let id = try await launch { queue, worker in
      let chain = JobChain(Count(from: -1)).then { Add(number: $0, more: 1) }.then { Add(number: $0, more: 1) }
        .catch { Explain(failure: $0) }
      let handle = try await queue.enqueue(chain)
      #expect(try await worker.runNext())
      return handle.id
    }
    try await launch { queue, worker in
      try await worker.runUntilIdle()
      let failure = await #expect(throws: JobFailure.self) { try await queue.handle(id, as: Add.self).value }
      #expect(failure?.kind == "count")
      #expect(failure?.message == "Negative()")
      let report = try #require(try await queue.jobs(where: .kind("explain")).first)
      #expect(try await queue.handle(report.id, as: Explain.self).value == "Negative()")
    }
  }

  @Test func `A plan is found by its id in the next launch, with the values of its named nodes`() async throws {
    let id = try await launch { queue, _ in
      var plan = JobPlan("sums")
      let counts = (1...3).map { plan.add(Count(from: $0)) }
      let add = plan.add(Add(number: counts[0].output, more: 5), named: "first", after: counts)
      plan.add(Add(number: add.output, more: 50), named: "second")
      return try await queue.enqueue(plan).id
    }
    try await launch { queue, worker in
      let plan = queue.plan(id)
      #expect(try await plan.jobs.map(\.state) == [.ready, .ready, .ready, .blocked, .blocked])
      try await worker.runUntilIdle()
      #expect(try await plan.handle(named: "first", as: Add.self).value == 6)
      #expect(try await plan.handle(named: "second", as: Add.self).value == 56)
      #expect(try await queue.counts(where: .plan(id)) == JobCounts([.succeeded: 5]))
    }
    try await launch { queue, _ in
      let plan = queue.plan(id)
      #expect(try await plan.handle(named: "second", as: Add.self).value == 56)
      // Those without a name are found as jobs.
      let unnamed = try await plan.jobs.prefix(3)
      for (job, value) in zip(unnamed, 1...) { #expect(try await queue.handle(job.id, as: Count.self).value == value) }
    }
  }
}

private struct Negative: Error {}

private struct Count: JobPayload {
  typealias Output = Int
  var from: Int
  static let kind = "count"
}

private struct Add: JobPayload {
  typealias Output = Int
  @JobInput var number: Int
  var more: Int
  static let kind = "add"
}

private struct Explain: JobPayload {
  typealias Output = String
  @JobInput var failure: JobFailure
  static let kind = "explain"
}
