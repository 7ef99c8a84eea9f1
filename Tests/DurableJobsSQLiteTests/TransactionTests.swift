import DurableJobs
import DurableJobsTesting
import Foundation
import GRDB
import GRDBSQLite
import Testing

@testable import DurableJobsSQLite

/// Jobs in transactions of an app's own.
@Suite struct TransactionTests {
  struct Order: JobPayload {
    static let kind = "order"
    static let options = JobOptions(maxAttempts: 1)
    typealias Output = String
    var number: Int
  }

  struct Rollback: Error {}

  let folder: StoreFolder
  let pool: DatabasePool
  let store: SQLiteStore
  let queue: JobQueue
  let clock = ManualClock()

  init() throws {
    folder = try StoreFolder()
    pool = try DatabasePool(path: folder.path("app.sqlite"))
    try pool.write { try $0.execute(sql: "CREATE TABLE sale(number INTEGER PRIMARY KEY)") }
    store = try Self.store(on: pool, clock)
    queue = JobQueue(store: store)
  }

  private static func store(on pool: DatabasePool, _ clock: any JobClock) throws -> SQLiteStore {
    var configuration = SQLiteStore.Configuration()
    configuration.clock = clock
    return try SQLiteStore(pool: pool, configuration: configuration)
  }

  private func sell(_ number: Int, _ db: Database) throws {
    try db.execute(sql: "INSERT INTO sale VALUES(?)", arguments: [number])
  }

  private func sales() async throws -> [Int] {
    try await pool.read { try Int.fetchAll($0, sql: "SELECT number FROM sale ORDER BY number") }
  }

  @Test func `An app's own way to wait for a locked database stays`() async throws {
    let asked = Lock(0)
    var configuration = GRDB.Configuration()
    configuration.busyMode = .callback { _ in
      asked.withLock { $0 += 1 }
      return false
    }
    let pool = try DatabasePool(path: folder.path("other.sqlite"), configuration: configuration)
    let store = try Self.store(on: pool, clock)
    try await store.insert(.plain())
    let locker = try DatabaseQueue(path: pool.path)
    try locker.inTransaction(.immediate) { _ in
      #expect(throws: DatabaseError.self) { try pool.write { try sell(1, $0) } }
      return .rollback
    }
    #expect(asked.withLock { $0 } > 0)
  }

  @Test func `An app that only enqueues in its own transactions notes the time once a minute`() async throws {
    func noted() async throws -> Int64? {
      try await pool.read { try Int64.fetchOne($0, sql: "SELECT epoch_at FROM durable_meta") }
    }
    var times: [Int64?] = []
    for wait in [120, 10, 10, 60] {
      clock.advance(by: .seconds(wait))
      try await pool.write { [queue] db in _ = try queue.enqueue(Order(number: 1), in: db) }
      times.append(try await noted())
    }
    #expect(Set(times[0...2]).count == 1)
    #expect(times[3] == clock.now.milliseconds)
  }

  @Test func `A time to wait and a handler of progress that an app has set on its connection stay`() async throws {
    final class Calls: Sendable { let count = Lock(0) }
    let calls = Calls()
    var configuration = GRDB.Configuration()
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA busy_timeout=4321")
      sqlite3_progress_handler(
        db.sqliteConnection, 100,
        { calls in
          Unmanaged<Calls>.fromOpaque(calls!).takeUnretainedValue().count.withLock { $0 += 1 }
          return 0
        }, Unmanaged.passUnretained(calls).toOpaque())
    }
    let pool = try DatabasePool(path: folder.path("other.sqlite"), configuration: configuration)
    try await Self.store(on: pool, clock).insert(.plain())
    let before = calls.count.withLock(\.self)
    let rest = try await pool.writeWithoutTransaction { db in
      let many = "WITH RECURSIVE c(n) AS(SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n<1000) SELECT count(*) FROM c"
      #expect(try Int.fetchOne(db, sql: many) == 1000)
      return try Int.fetchOne(db, sql: "PRAGMA busy_timeout")
    }
    #expect(rest == 4321)
    #expect(calls.count.withLock(\.self) > before)
    withExtendedLifetime(calls) {}
  }

  // MARK: Enqueue

  @Test func `A job is stored with what the app writes, and a worker hears of it after the commit`() async throws {
    let worker = JobWorker(queue)
    worker.register(Order.self) { order, _ in "sent \(order.number)" }
    worker.start()
    #expect(try await queue.waitUntilIdle() == JobCounts())
    let handle = try await pool.write { db in
      try sell(1, db)
      return try queue.enqueue(Order(number: 1), in: db)
    }
    #expect(handle.isNew)
    #expect(try await handle.value == "sent 1")
    await worker.stop()
    #expect(try await sales() == [1])
    #expect(try await queue.counts() == JobCounts([.succeeded: 1]))
  }

  @Test func `A rollback takes a job back with what the app wrote, be it to a savepoint`() async throws {
    let kept = try await pool.write { db in
      try sell(1, db)
      try db.inSavepoint {
        try sell(2, db)
        try queue.enqueue(Order(number: 2), in: db)
        try queue.enqueue(Order(number: 3), options: JobOptions(lane: "new", requires: ["new"]), in: db)
        return .rollback
      }
      return try queue.enqueue(Order(number: 4), in: db)
    }
    try? await pool.write { db in
      try sell(5, db)
      try JobQueue("new", store: store).enqueue(Order(number: 5), in: db)
      throw Rollback()
    }
    #expect(try await sales() == [1])
    // By the way of jobs that nobody enqueued in a transaction: routes and counts are as if nothing had been.
    let other = try await JobQueue("new", store: store).enqueue(Order(number: 6))
    #expect(try await store.jobs(JobQuery()).map(\.id) == [kept.id, other.id])
    #expect(try await store.jobs(JobQuery()).map(\.queue) == ["default", "new"])
    #expect(try await store.counts(where: .all) == JobCounts([.ready: 2]))
    #expect(try await queue.counts(where: .requires("new")) == JobCounts())
    #expect(try await store.recover(RecoveryRequest(worker: "w")).unreadable == [])
    #expect(try await store.claim(.of(9, kinds: ["order"])).jobs.map(\.token.job) == [kept.id])
  }

  /// How often listeners of the store hear of more than that jobs were begun.
  private func listen() -> (heard: Lock<Int>, StoreSignals.Subscription) {
    let heard = Lock(0)
    return (
      heard,
      store.signals.listen { signal in
        if case .committed(let changes) = signal, changes.allSatisfy({ $0.state == .running }) { return }
        heard.withLock { $0 += 1 }
      }
    )
  }

  @Test(arguments: [true, false])
  func `Nobody hears of a job before the transaction is committed, and after a rollback nobody does`(
    isCommitted: Bool
  ) async throws {
    let (heard, listening) = listen()
    try pool.writeInTransaction { db in
      try queue.enqueue(Order(number: 1), in: db)
      #expect(heard.withLock { $0 } == 0)
      return isCommitted ? .commit : .rollback
    }
    #expect(heard.withLock { $0 } == (isCommitted ? 1 : 0))
    withExtendedLifetime(listening) {}
  }

  @Test func `A job that is refused leaves nothing, and the transaction goes on`() async throws {
    try await pool.write { db in
      try sell(1, db)
      #expect(throws: JobError.self) {
        try queue.enqueue(
          Order(number: 1), after: [JobDependency.end(of: queue.handle(JobID(rawValue: 99), as: Order.self))], in: db)
      }
      try queue.enqueue(Order(number: 2), options: JobOptions(unique: "two"), in: db)
      #expect(try !queue.enqueue(Order(number: 3), options: JobOptions(unique: "two"), in: db).isNew)
    }
    #expect(try await sales() == [1])
    #expect(try await store.counts(where: .all) == JobCounts([.ready: 1]))
  }

  @Test func `A job that is enqueued leaves the app the number of the row that it inserted last`() async throws {
    for number in [7, 9] {
      try await pool.write { db in
        try sell(number, db)
        try queue.enqueue(Order(number: number), in: db)
        #expect(db.lastInsertedRowID == Int64(number))
      }
    }
  }

  @Test func `A transaction of another database than the store's is refused`() async throws {
    let other = try DatabasePool(path: folder.path("other.sqlite"))
    @Sendable func refusal(_ queue: JobQueue, _ db: Database) -> JobError.Code? {
      do {
        try queue.enqueue(Order(number: 1), in: db)
        return nil
      } catch { return (error as? JobError)?.code }
    }
    let byPath = JobQueue(store: try folder.store("path.sqlite"))
    let inMemory = JobQueue(store: InMemoryStore())
    #expect(try await other.write { refusal(queue, $0) } == .wrongStore)
    #expect(try await pool.read { refusal(queue, $0) } == .wrongStore)
    #expect(try await pool.writeWithoutTransaction { refusal(queue, $0) } == .wrongStore, "none at all")
    #expect(try await pool.write { refusal(byPath, $0) } == .wrongStore)
    #expect(try await pool.write { refusal(inMemory, $0) } == .wrongStore)
    await store.close()
    #expect(try await pool.write { refusal(queue, $0) } == .closed)
  }

  // MARK: Complete

  @Test func `A job ends with what its handler wrote, and what the handler does then counts for nothing`() async throws
  {
    let worker = JobWorker(queue)
    worker.register(Order.self, retry: .never) { order, context in
      try context.enqueueOnSuccess(Order(number: order.number + 1), options: JobOptions(start: .after(.seconds(60))))
      try await pool.write { db in
        try sell(order.number, db)
        try context.complete(with: "sold", in: db)
      }
      throw Rollback()
    }
    let job = try await queue.enqueue(Order(number: 1))
    try await worker.runUntilIdle()
    #expect(try await job.value == "sold")
    #expect(try await sales() == [1])
    #expect(try await queue.counts() == JobCounts([.succeeded: 1, .scheduled: 1]))
    #expect(try await queue.job(job.id).failures == [])
  }

  @Test
  func `A job ends in one transaction: a second one, as after a commit of which nothing was heard, writes nothing`()
    async throws
  {
    let worker = JobWorker(queue)
    worker.register(Order.self, retry: .never) { order, context in
      for number in 1...2 {
        try await pool.write { db in
          try sell(number, db)
          try context.complete(with: "sold", in: db)
        }
      }
      return "unreachable"
    }
    let job = try await queue.enqueue(Order(number: 1))
    try await worker.runUntilIdle()
    #expect(try await job.value == "sold")
    #expect(try await sales() == [1])
    #expect(try await queue.job(job.id).failures == [])
  }

  @Test func `A rollback takes back the end of a job, too`() async throws {
    let worker = JobWorker(queue)
    worker.register(Order.self, retry: .never) { order, context in
      try await pool.write { db in
        try sell(order.number, db)
        try context.complete(with: "sold", in: db)
        throw Rollback()
      }
      return "unreachable"
    }
    let job = try await queue.enqueue(Order(number: 1))
    try await worker.runUntilIdle()
    #expect(try await job.snapshot.state == .failed)
    #expect(try await sales() == [])
  }

  @Test(arguments: [true, false])
  func `A rollback to a savepoint takes back the end of a job, which can end afterwards`(
    isEndedAgain: Bool
  ) async throws {
    let worker = JobWorker(queue)
    worker.register(Order.self, retry: .never) { order, context in
      guard order.number == 1 else { return "after" }
      try await pool.write { db in
        try sell(1, db)
        try db.inSavepoint {
          try sell(2, db)
          try context.complete(with: "taken back", in: db)
          return .rollback
        }
        if isEndedAgain { try context.complete(with: "sold", in: db) }
      }
      #expect(try await queue.job(context.id).state == (isEndedAgain ? .succeeded : .running))
      return "returned"
    }
    let job = try await queue.enqueue(Order(number: 1))
    let next = try await queue.enqueue(Order(number: 2), after: [job])
    try await worker.runUntilIdle()
    #expect(try await job.value == (isEndedAgain ? "sold" : "returned"))
    #expect(try await next.value == "after")
    #expect(try await sales() == [1])
    #expect(try await queue.counts() == JobCounts([.succeeded: 2]))
    #expect(try await store.check(mending: false) == [])
  }

  @Test(arguments: [true, false])
  func `Nobody hears of the end of a job before the transaction is committed, and after a rollback nobody does`(
    isCommitted: Bool
  ) async throws {
    let worker = JobWorker(queue)
    let (heard, listening) = listen()
    worker.register(Order.self, retry: .never) { order, context in
      guard order.number == 1 else { return "after" }
      heard.withLock { $0 = 0 }
      try pool.writeInTransaction { db in
        try context.complete(with: "sold", in: db)
        #expect(heard.withLock { $0 } == 0)
        return isCommitted ? .commit : .rollback
      }
      #expect(heard.withLock { $0 } == (isCommitted ? 1 : 0))
      return "returned"
    }
    let job = try await queue.enqueue(Order(number: 1))
    let next = try await queue.enqueue(Order(number: 2), after: [job])
    try await worker.runUntilIdle()
    #expect(try await job.value == (isCommitted ? "sold" : "returned"))
    #expect(try await next.value == "after")
    withExtendedLifetime(listening) {}
  }

  @Test func `C12 Who lost its claim writes nothing`() async throws {
    let worker = JobWorker(queue)
    worker.register(Order.self, retry: .never) { order, context in
      try await queue.complete(context.id, output: Data(#""by hand""#.utf8))
      // Not the asynchronous one: its task is cancelled with the claim, which is as good.
      let refusal = #expect(throws: JobError.self) {
        try pool.writeInTransaction { db in
          try sell(order.number, db)
          try context.complete(with: "sold", in: db)
          return .commit
        }
      }
      #expect(refusal?.code == .wrongState)
      return "late"
    }
    let job = try await queue.enqueue(Order(number: 1))
    try await worker.runUntilIdle()
    #expect(try await job.value == "by hand")
    #expect(try await sales() == [])
  }

  @Test func `What a job gives is of the type that its kind says`() async throws {
    let worker = JobWorker(queue)
    worker.register(Order.self, retry: .never) { _, context in
      try await pool.write { db in
        #expect(throws: JobExit.self) { try context.complete(in: db) }
        #expect(throws: JobExit.self) { try context.complete(with: 7, in: db) }
      }
      return "right"
    }
    let job = try await queue.enqueue(Order(number: 1))
    try await worker.runUntilIdle()
    #expect(try await job.value == "right")
  }

  @Test func `A job that gives another type fails at once, as it would each time`() async throws {
    struct Count: JobPayload {
      typealias Output = Int64
      static let kind = "count"
    }
    let worker = JobWorker(queue)
    worker.register(Count.self, retry: .constant(.seconds(1))) { _, context in
      try await pool.write { db in
        try sell(1, db)
        try context.complete(with: 5, in: db)
      }
      return 5
    }
    let job = try await queue.enqueue(Count())
    _ = try await worker.runNext()
    #expect(try await job.snapshot.state == .failed)
    #expect(try await sales() == [])
  }

  @Test func `A test performs one that ends in a transaction, with the options that its handler sees`() async throws {
    let jobs = TestJobs(store: store, clock: clock)
    jobs.worker.register(Order.self) { order, context in
      #expect((context.key, context.batch?.id.rawValue) == ("k", 1))
      try await pool.write { db in
        try sell(order.number, db)
        try context.complete(with: "sold", in: db)
      }
      return "sold"
    }
    let batch = try await queue.openBatch("orders")
    #expect(try await jobs.perform(Order(number: 1), in: batch, options: JobOptions(key: "k")) == "sold")
    #expect(try await sales() == [1])
    #expect(try await queue.counts(where: .kind(Order.self)) == JobCounts([:]))
  }

  // MARK: The app's pool

  @Test func `The app's migrations, observations and pool stay its own, and its commits are raised to FULL`()
    async throws
  {
    let migrator = ["v1", "v2"].reduce(into: DatabaseMigrator()) { $0.registerMigration($1) { _ in } }
    try migrator.migrate(pool)
    #expect(try await pool.read { try !migrator.hasBeenSuperseded($0) })
    #expect(try await pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 2)
    let seen = Recorded<[Int]>()
    let observation = ValueObservation.tracking { try Int.fetchAll($0, sql: "SELECT number FROM sale") }
    let watching = observation.start(in: pool, scheduling: .async(onQueue: .global())) { _ in
    } onChange: {
      seen.add($0)
    }
    for number in 1...3 {
      try await queue.enqueue(Order(number: number))
      try await pool.write { db in
        try sell(number, db)
        try queue.enqueue(Order(number: number), in: db)
      }
    }
    while seen.last != [1, 2, 3] { await Task.yield() }
    watching.cancel()
    await store.close()
    #expect(try await sales() == [1, 2, 3])
    let again = try Self.store(on: pool, clock)
    #expect(try await again.counts(where: .all) == JobCounts([.ready: 6]))
    #expect(throws: JobError.self) { try SQLiteStore(pool: DatabasePool(path: pool.path)) }
    await again.close()
    try pool.close()
    let byPath = try SQLiteStore(path: folder.path("app.sqlite"))
    #expect(try await byPath.counts(where: .all) == JobCounts([.ready: 6]))
  }

  @Test func `A file that a store made first can become an app's database`() async throws {
    let path = folder.path("first.sqlite")
    let first = try SQLiteStore(path: path)
    try await first.insert(.plain())
    await first.close()
    var migrator = DatabaseMigrator()
    for name in ["v1", "createSales"] {
      migrator.registerMigration(name) { try $0.execute(sql: "CREATE TABLE \(name)(number INTEGER PRIMARY KEY)") }
    }
    let pool = try DatabasePool(path: path)
    try migrator.migrate(pool)
    let lent = try Self.store(on: pool, clock)
    try await pool.write { try $0.execute(sql: "INSERT INTO v1 VALUES(1); INSERT INTO createSales VALUES(1)") }
    #expect(try await lent.counts(where: .all).total == 1)
    await lent.close()
    try pool.close()
    let byPath = try SQLiteStore(path: path)
    #expect(try await byPath.counts(where: .all).total == 1)
    await byPath.close()
  }
}

/// What an observer was told.
private final class Recorded<Value: Sendable>: Sendable {
  private let values = Lock<[Value]>([])
  var last: Value? { values.withLock { $0.last } }
  func add(_ value: Value) { values.withLock { $0.append(value) } }
}
