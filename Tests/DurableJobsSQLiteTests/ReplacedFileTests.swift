import DurableJobs
import DurableJobsTesting
import Foundation
import GRDBSQLite
import Testing

@testable import DurableJobsSQLite

/// A log beside a file that it does not belong to: SQLite would put the two together, and damage the store.
@Suite struct ReplacedFileTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  private func copy(_ from: String, to path: String) throws {
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: from, toPath: path)
  }

  /// Leaves at `name` what a process that is killed now would leave.
  private func kill(_ store: SQLiteStore, as name: String) throws {
    for end in ["", "-wal"] { try copy(try #require(store.path) + end, to: folder.path(name) + end) }
  }

  /// A store that was killed after `checkpoints` rounds of writing, each of which began the log anew.
  private func killedStore(as name: String, checkpoints: Int) async throws {
    let store = try folder.store("living-\(name)")
    for _ in 0..<checkpoints {
      try await store.insert(.plain("old"), .plain("old"))
      try await store.engine.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }
    try await store.insert(.plain("old"))
    try await store.insert(.plain("old"))
    try kill(store, as: name)
    await store.close()
  }

  private func closedStore(_ name: String, jobs: Int) async throws {
    let store = try folder.store(name)
    for _ in 0..<jobs { try await store.insert(.plain("new")) }
    await store.close()
  }

  /// Expects that the store is refused with words that name its log, and that neither file is touched.
  private func expectRefusal(_ name: String) throws {
    let (path, log) = (folder.path(name), folder.path(name) + "-wal")
    func content() -> [Data?] { [path, log].map { FileManager.default.contents(atPath: $0) } }
    let before = content()
    for _ in 0..<2 {
      let error = #expect(throws: JobError.self) { try folder.store(name) }
      #expect(error?.code == .unusableFile)
      #expect(error?.message.contains(log) == true, "\(error?.message ?? "")")
      #expect(content() == before)
    }
  }

  private func kinds(_ name: String) async throws -> [String] {
    let store = try folder.store(name)
    defer { _ = store }
    let kinds = try await store.jobs(JobQuery()).map(\.kind)
    #expect(try await store.check() == [])
    await store.close()
    return kinds
  }

  @Test("The log of an earlier file is not read into another store that took its place", arguments: [0, 1, 3])
  func replaced(checkpoints: Int) async throws {
    try await killedStore(as: "old", checkpoints: checkpoints)
    try await closedStore("new", jobs: 5)
    let old = try Data(contentsOf: URL(fileURLWithPath: folder.path("old")))
    try copy(folder.path("new"), to: folder.path("old"))
    try expectRefusal("old")

    // Each of the two is whole once they are apart.
    try old.write(to: URL(fileURLWithPath: folder.path("apart")))
    try FileManager.default.moveItem(atPath: folder.path("old") + "-wal", toPath: folder.path("apart") + "-wal")
    #expect(try await kinds("old") == Array(repeating: "new", count: 5))
    #expect(try await kinds("apart") == Array(repeating: "old", count: checkpoints * 2 + 2))
  }

  @Test(
    "A backup that was put back beside the log of what came later is not read with it", arguments: [true, false],
    [0, 3])
  func backup(isVacuumed: Bool, openings: Int) async throws {
    var store = try folder.store()
    for _ in 0..<10 { try await store.insert(.plain()) }
    let backup = folder.path("backup")
    if isVacuumed {
      try await store.engine.pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO '\(backup)'") }
    } else {
      try await store.engine.pool.read { db in
        var target: OpaquePointer?
        defer { sqlite3_close_v2(target) }
        try #require(sqlite3_open(backup, &target) == SQLITE_OK)
        let copying = try #require(sqlite3_backup_init(target, "main", db.sqliteConnection, "main"))
        try #require(sqlite3_backup_step(copying, -1) == SQLITE_DONE)
        sqlite3_backup_finish(copying)
      }
    }
    for _ in 0..<openings {
      await store.close()
      store = try folder.store()
    }
    for _ in 0..<10 { try await store.insert(.plain()) }
    try kill(store, as: "killed")
    await store.close()
    try copy(backup, to: folder.path("killed"))
    try expectRefusal("killed")
    try FileManager.default.removeItem(atPath: folder.path("killed") + "-wal")
    #expect(try await kinds("killed").count == 10)
  }

  @Test func `Nothing is salvaged out of a file and the log of another`() async throws {
    try await killedStore(as: "old", checkpoints: 1)
    try await closedStore("new", jobs: 5)
    for content in [try Data(contentsOf: URL(fileURLWithPath: folder.path("new"))), Data()] {
      try content.write(to: URL(fileURLWithPath: folder.path("old")))
      let log = folder.path("old") + "-wal"
      let before = FileManager.default.contents(atPath: log)
      let (from, to) = (folder.path("old"), folder.path("salvaged"))
      let error = await #expect(throws: JobError.self) { try await SQLiteStore.repair(from: from, to: to) }
      #expect(error?.code == .unusableFile)
      #expect(error?.message.contains(log) == true, "\(error?.message ?? "")")
      #expect(FileManager.default.contents(atPath: log) == before)
      #expect(FileManager.default.contents(atPath: from) == content)
      #expect(!FileManager.default.fileExists(atPath: to))
    }
  }

  @Test func `A store that was made smaller again and again beside a reader that goes on opens with its log`()
    async throws
  {
    try await closedStore("jobs.sqlite", jobs: 1)
    var configuration = SQLiteStore.Configuration()
    configuration.busyTimeout = .milliseconds(1)
    let store = try SQLiteStore(path: folder.path(), configuration: configuration)
    var reader: OpaquePointer?
    defer { sqlite3_close_v2(reader) }
    try #require(sqlite3_open_v2(folder.path(), &reader, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    try #require(sqlite3_exec(reader, "BEGIN; SELECT * FROM durable_job", nil, nil, nil) == SQLITE_OK)
    for _ in 0..<40 {
      let error = await #expect(throws: JobError.self) { try await store.compact() }
      #expect(error?.code == .locked)
    }
    try kill(store, as: "killed")
    #expect(try await kinds("killed") == ["new"])
    sqlite3_exec(reader, "COMMIT", nil, nil, nil)
    await store.close()
  }

  @Test("Who watches a store whose file is gone, or works on it, is told so", arguments: [true, false])
  func watched(isReplaced: Bool) async throws {
    let clock = ManualClock()
    let store = try folder.store(clock: clock)
    let queue = JobQueue(store: store)
    let batch = try await queue.openBatch("b")
    let handle = queue.handle(try await queue.enqueue(kind: "k", payload: Data()), as: Unit.self)
    let worker = JobWorker(JobQueue("other", store: store))
    worker.register(kind: "k") { _, _ in nil }
    let waits: [@Sendable () async throws -> Void] = [
      { _ = try await handle.value }, { _ = try await batch.waitUntilDone() },
      { _ = try await queue.waitUntilFinished() },
      { for try await _ in handle.snapshots {} }, { try await worker.run() },
    ]
    let tasks = waits.map { wait in Task { try await wait() } }
    while !store.signals.hasListeners || clock.timers.isEmpty { await Task.yield() }
    if isReplaced { try await closedStore("new", jobs: 1) }
    try FileManager.default.removeItem(atPath: folder.path())
    if isReplaced { try FileManager.default.moveItem(atPath: folder.path("new"), toPath: folder.path()) }
    let time = Task {
      while !Task.isCancelled {
        clock.advance(by: Defaults.sweepInterval)
        await Task.yield()
      }
    }
    defer { time.cancel() }
    for task in tasks {
      await #expect { try await task.value } throws: { error in
        (error as? JobError)?.code == .fileGone && (error as? JobError)?.message.contains(folder.path()) == true
      }
    }
    await store.close()
  }

  @Test func `What runs while its store's file is moved away is cancelled once its lease is over`() async throws {
    let clock = ManualClock()
    let store = try folder.store(clock: clock)
    let queue = JobQueue(store: store)
    try await queue.enqueue(kind: "k", payload: Data())
    let worker = JobWorker(queue)
    let (begin, end) = (Lock<Duration?>(nil), Lock<Duration?>(nil))
    worker.register(kind: "k") { _, _ in
      begin.withLock { $0 = clock.uptime }
      await Gate().pass()  // until it is cancelled
      end.withLock { $0 = clock.uptime }
      return nil
    }
    let run = Task { try await worker.run() }
    while begin.withLock({ $0 }) == nil { await Task.yield() }
    for end in ["", "-wal", "-shm"] { rename(folder.path() + end, folder.path("moved") + end) }
    let time = Task {
      while !Task.isCancelled {
        clock.advance(by: .seconds(1))
        await Task.yield()
      }
    }
    defer { time.cancel() }
    await #expect { try await run.value } throws: { ($0 as? JobError)?.code == .fileGone }
    let (from, to) = (try #require(begin.withLock { $0 }), try #require(end.withLock { $0 }))
    #expect(to - from >= Defaults.lease)
    await store.close()
  }

  @Test func `A log whose file is gone is left alone, and no new store is made beside it`() async throws {
    try await killedStore(as: "old", checkpoints: 1)
    let path = folder.path("old")
    for content in [nil, Data()] {
      try? FileManager.default.moveItem(atPath: path, toPath: path + ".away")
      if let content { try content.write(to: URL(fileURLWithPath: path)) }
      try expectRefusal("old")
    }
    try copy(path + ".away", to: path)
    #expect(try await kinds("old").count == 4)
  }

  @Test func `An empty log whose file is gone is told to be empty`() throws {
    try Data().write(to: URL(fileURLWithPath: folder.path() + "-wal"))
    try expectRefusal("jobs.sqlite")
    #expect { try folder.store() } throws: { error in
      let message = (error as? JobError)?.message ?? ""
      return message.contains("is empty") && !message.contains("has jobs") && !message.contains("have jobs")
    }
  }

  @Test func `A store that was moved away while it is open is not begun anew by somebody else`() async throws {
    let store = try folder.store()
    try await store.insert(.plain())
    let path = folder.path()
    try FileManager.default.moveItem(atPath: path, toPath: folder.path("moved"))
    try expectRefusal("jobs.sqlite")
    #expect(!FileManager.default.fileExists(atPath: path))
    await store.close()
    try FileManager.default.moveItem(atPath: folder.path("moved"), toPath: path)
    #expect(try await kinds("jobs.sqlite") == ["work"])
  }

  @Test func `A store that is killed anywhere opens with its own log, whoever began that anew`() async throws {
    var count = 0
    for round in 0..<12 {
      let name = "s\(round % 3)"
      let store = try folder.store(name)
      if round < 3 { count = 0 } else { count = try await store.counts(where: .all).total }
      for step in 0..<6 {
        try await store.insert(.plain(), .plain())
        count += 2
        switch (round + step) % 4 {
        case 0: try await store.engine.pool.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
        case 1: try await store.engine.pool.writeWithoutTransaction { _ = try $0.checkpoint(.restart) }
        case 2: _ = try await store.compact()
        default: break
        }
        try kill(store, as: "killed")
        #expect(try await kinds("killed").count == count)
      }
      await store.close()
    }
  }

  @Test func `A store without a mark, as older versions made it, opens with its log and is marked by its next commit`()
    async throws
  {
    let store = try folder.store()
    try await store.execute("PRAGMA user_version = 0")
    try await store.engine.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try await store.execute("INSERT INTO durable_note VALUES(77,'x',NULL)")
    try await store.execute("DELETE FROM durable_note")
    try kill(store, as: "killed")
    await store.close()
    let again = try folder.store("killed")
    try await again.insert(.plain())
    #expect(try await again.numbers("PRAGMA user_version") != [0])
    await again.close()
  }
}

private struct Unit: JobPayload {
  static let kind = "k"
}
