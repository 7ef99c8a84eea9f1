import DurableJobs
import DurableJobsTesting
import GRDBSQLite
import Testing

@testable import DurableJobsSQLite

/// What a look of who watches reads of a file.
@Suite struct WatchCostTests {
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder(inMemory: true)
    store = try folder.store(clock: ManualClock())
  }

  private func insert(_ count: Int, in batch: BatchID? = nil) async throws {
    for _ in stride(from: 0, to: count, by: 10_000) {
      let jobs = (0..<min(count, 10_000)).map { _ in NewJob.plain() }
      _ = try await store.insert(JobInsertion(jobs, batch: batch.map { .join($0) }))
    }
  }

  private func cost(_ query: JobQuery) async throws -> (steps: Int, jobs: Int) {
    try await cost { try readJobs(query, now: 0, on: $0).count }
  }

  /// Steps of SQLite's virtual machine, and jobs that came.
  private func cost(
    _ read: @escaping @Sendable (OpaquePointer) throws -> Int
  ) async throws -> (steps: Int, jobs: Int) {
    try await store.engine.read { connection in
      let steps = Lock(0)
      return try withExtendedLifetime(steps) {
        let context = Unmanaged.passUnretained(steps).toOpaque()
        sqlite3_progress_handler(
          connection, 1,
          { context in
            Unmanaged<Lock<Int>>.fromOpaque(context!).takeUnretainedValue().withLock { $0 += 1 }
            return 0
          }, context)
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        let jobs = try read(connection)
        return (steps.withLock { $0 }, jobs)
      }
    }
  }

  @Test func `A look at the first ten of 100,000 reads what one at the first ten of 100 reads`() async throws {
    let filter = JobFilter.queue("default") && .kind("work")
    try await insert(100)
    var few: [Int] = []
    for order in [JobQuery.Order.oldestFirst, .newestFirst] {
      let cost = try await cost(JobQuery(filter, order: order, limit: 10))
      #expect(cost.jobs == 10)
      few.append(cost.steps)
    }
    try await insert(100_000)
    for (order, steps) in zip([JobQuery.Order.oldestFirst, .newestFirst], few) {
      let cost = try await cost(JobQuery(filter, order: order, limit: 10))
      #expect(cost.jobs == 10)
      #expect(abs(cost.steps - steps) <= 2)
    }
    let more = try await cost(JobQuery(filter, limit: 12)).steps
    #expect(more > few[0] + 20, "two rows more would show")
  }

  /// A store of twelve jobs has no more rows to read than that: what a look costs there, one at 20,000 more may cost, too.
  private func expectFewRows(
    _ terms: JobTerms, _ order: JobQuery.Order, _ filters: (BatchID) -> [JobFilter]
  ) async throws {
    let new = NewJob.plain(terms: terms)
    func insert(_ count: Int, _ batch: BatchMembership) async throws -> BatchID {
      try #require(
        try await store.insert(JobInsertion(Array(repeating: new, count: count), batch: batch)).batch)
    }
    let batch = try await insert(12, .new(name: "b", whenDone: nil))
    let filters = filters(batch)
    var few: [Int] = []
    for filter in filters { few.append(try await cost(JobQuery(filter, order: order, limit: 10)).steps) }
    for _ in 0..<4 { _ = try await insert(5_000, .join(batch)) }
    for (filter, steps) in zip(filters, few) {
      let cost = try await cost(JobQuery(filter, order: order, limit: 10))
      #expect(cost.jobs == 10, "\(filter)")
      // A row takes ten and more; in which order the ids of a page are looked up, a few.
      #expect(cost.steps <= steps + 8, "\(filter)")
      #expect(try await self.cost(JobQuery(filter, order: order, limit: 14)).steps > steps + 20, "\(filter)")
    }
  }

  @Test(arguments: [JobQuery.Order.oldestFirst, .newestFirst])
  func `A look at the first ten reads at most two rows more, whatever it looks for`(order: JobQuery.Order) async throws
  {
    try await expectFewRows(JobTerms(tags: ["t"], requires: ["vpn"]), order) { batch in
      [
        .all, .queue("default"), .kind("work"), .state(.ready), .unfinished, .tag("t"), .batch(batch), .requires("vpn"),
        .queue("default") && .state(.ready), .kind("work") && .tag("t"),
        .queue("default") && .kind("work") && .unfinished, .queue("default") && !.state(.succeeded),
        .state(.ready) || .state(.failed), .tag("t") || .kind("other"),
      ]
    }
  }

  @Test(arguments: [JobQuery.Order.oldestFirst, .newestFirst])
  func `A look at a lane does so, too`(order: JobQuery.Order) async throws {
    try await expectFewRows(JobTerms(lane: "l"), order) { _ in
      [
        .lane("l"), .state(.blocked), .queue("default") && .lane("l"), .lane("l") && .unfinished,
        .queue("default") && .lane("l") && .state(.blocked),
      ]
    }
  }

  @Test(arguments: [12, 20_000])
  func `C64 A look at the last that failed passes by none of 100,000 newer jobs`(failed: Int) async throws {
    try await insert(failed)
    try await store.execute("UPDATE durable_job SET state=8")
    try await store.execute("UPDATE durable_route SET failed=\(failed)")
    for filter in [JobFilter.state(.failed), .queue("default") && .states([.failed, .cancelled]) && !.tag("t")] {
      let query = JobQuery(filter, order: .newestFirst, limit: 10)
      let before = try await cost(query)
      try await insert(100_000)
      let behind = try await cost(query)
      #expect((before.jobs, behind.jobs) == (10, 10))
      #expect(behind.steps <= before.steps + 2)
    }
  }

  @Test func `C64 A look at the first that are ready passes by none of 20,000 that have ended`() async throws {
    try await insert(20_000)
    try await store.execute("UPDATE durable_job SET state=8-id%2")
    try await store.execute("UPDATE durable_route SET failed=10000,succeeded=10000")
    try await insert(11)
    for filter in [JobFilter.unfinished, .queue("default") && !.states([.failed, .succeeded])] {
      let first = try await cost(JobQuery(filter, limit: 10))
      #expect(first.jobs == 10)
      #expect(first.steps < 2_000, "\(filter)")
    }
  }

  @Test func `C64 Counts for a screen cost of 100,000 jobs what they cost of 100`() async throws {
    func counts() async throws -> (steps: Int, jobs: Int) {
      try await cost { try readCounts(where: .queue("default"), on: $0).total }
    }
    try await insert(100)
    let few = try await counts()
    try await insert(100_000)
    let many = try await counts()
    #expect((few.jobs, many.jobs) == (100, 100_100))
    #expect(abs(many.steps - few.steps) <= 2)
  }

  @Test func `How far a batch is costs by the jobs that run, and not by those that are in it`() async throws {
    let batch = try #require(
      try await store.insert(JobInsertion([.plain()], batch: .new(name: "b", whenDone: nil))).batch)
    try await insert(100, in: batch)
    _ = try await store.claim(.of(4))
    let query = JobQuery(.batch(batch) && .state(.running), limit: 10_000)
    let few = try await cost(query)
    try await insert(20_000, in: batch)
    let many = try await cost(query)
    #expect((few.jobs, many.jobs) == (4, 4))
    #expect(abs(many.steps - few.steps) <= 2)
  }
}
