import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct BatchRowTests {
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store()
  }

  private func insert(_ count: Int, whenDone: NewJob? = nil) async throws -> BatchID? {
    let jobs = (0..<count).map { _ in NewJob.plain() }
    return try await store.insert(JobInsertion(jobs, batch: .new(name: "b", whenDone: whenDone))).batch
  }

  @Test func `A batch is counted once a transaction, and its jobs end at the cost of plain ones`() async throws {
    try await store.insert(.plain())
    _ = try await store.claim(.of(1))
    let (enqueueing, _) = try await store.work { try await insert(200) }
    #expect(enqueueing.runs <= 3 * 200 + 6)  // the job, what was asked for, its place in the batch
    let first = try await store.claim(.of(100))
    let (work, second) = try await store.work {
      try await store.settle(first.jobs.map { $0.settled() }, thenClaim: .of(100))
    }
    #expect(second.claimed?.jobs.count == 100)
    #expect((work.runs <= 211, work.commits) == (true, 1))
    #expect(try await store.numbers("SELECT live FROM durable_batch") == [100])
  }

  @Test func `What a job of a batch costs does not depend on how many it has`() async throws {
    var works: [(enqueue: StatementWork, turn: StatementWork)] = []
    for size in [1_000, 100_000] {
      let folder = try StoreFolder()
      let store = try folder.store()
      let jobs = (0..<100).map { _ in NewJob.plain() }
      let batch = try #require(try await store.insert(JobInsertion(jobs, batch: .new(name: "b", whenDone: nil))).batch)
      // As many more, behind them.
      try await store.execute(
        """
        WITH RECURSIVE n(i) AS (SELECT 101 UNION ALL SELECT i+1 FROM n LIMIT \(size))
        INSERT INTO durable_job(id,route,state,rank,priority,links,attempt,claim,run_at,entered_at,started_at)
        SELECT i,job.route,4,10,-10,job.links,0,job.claim,NULL,1,1 FROM n,durable_job job WHERE job.id=1
        """)
      for line in [
        "INSERT INTO durable_spec(id,created_at,payload) SELECT id,1,x'7b7d' FROM durable_job WHERE id>100",
        "INSERT INTO durable_batch_job SELECT \(batch.rawValue),id FROM durable_job WHERE id>100",
        "UPDATE durable_batch SET total=total+\(size),live=live+\(size),jobs=jobs+\(size)",
      ] {
        try await store.execute(line)
      }
      let insertion = JobInsertion(jobs, batch: .join(batch))
      _ = try await store.insert(insertion)
      let (enqueue, _) = try await store.work { try await store.insert(insertion) }
      let first = try await store.claim(.of(100))
      let (turn, second) = try await store.work {
        try await store.settle(first.jobs.map { $0.settled() }, thenClaim: .of(100))
      }
      #expect(second.claimed?.jobs.count == 100)
      #expect(try await store.batches(.id(batch)).first?.unfinished == size + 200)
      works.append((enqueue, turn))
      await store.close()
    }
    for (few, many) in [(works[0].enqueue, works[1].enqueue), (works[0].turn, works[1].turn)] {
      #expect(few.steps > 5_000)
      #expect(abs(Double(many.steps) / Double(few.steps) - 1) <= 0.01)
      #expect((many.runs, many.scans, many.sorts) == (few.runs, 0, 0))
    }
  }

  @Test func `A batch outlives its process, with the job that follows it`() async throws {
    let whenDone = NewJob(
      queue: "later", kind: "sum", payload: Data("{}".utf8),
      terms: JobTerms(
        priority: .low, start: .after(.seconds(3600)), maxAttempts: 3, timeout: .seconds(5),
        deadline: .end(by: .after(.seconds(7200))), key: "k", unique: UniqueKey("u"), tags: ["t"]))
    let id = try #require(try await insert(1, whenDone: whenDone))
    await store.close()
    let again = try folder.store()
    let jobs = try await again.claim(.of(1)).jobs
    _ = try await again.settle(jobs.map { $0.settled() }, thenClaim: nil)
    let batch = try #require(try await again.batches(.id(id)).first)
    #expect((batch.isDone, batch.succeeded, batch.name) == (true, 1, "b"))
    let follower = try #require(batch.whenDone)
    let job = try #require(try await again.job(follower))
    #expect((job.queue, job.kind, job.state, job.priority) == ("later", "sum", .scheduled, .low))
    #expect((job.maxAttempts, job.timeout, job.key, job.tags) == (3, .seconds(5), "k", ["t"]))
    #expect(job.deadline != nil)
  }

  @Test func `A batch whose last end is rolled back is not done, and is done with the next`() async throws {
    let id = try #require(try await insert(1, whenDone: .plain("sum")))
    let jobs = try await store.claim(.of(1)).jobs
    let settled = jobs.map { $0.settled() }
    await #expect(throws: (any Error).self) {
      try await store.onWriter { transaction in
        _ = try transaction.settle(settled)
        throw CancellationError()
      }
    }
    #expect(try await store.batches(.id(id)).first?.unfinished == 1)
    _ = try await store.settle(settled, thenClaim: nil)
    #expect(try await store.batches(.id(id)).first?.isDone == true)
    #expect(try await store.counts(where: .kind("sum")).total == 1)
  }
}
