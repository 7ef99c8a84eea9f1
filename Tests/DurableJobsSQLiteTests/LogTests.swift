import DurableJobs
import Foundation
import GRDBSQLite
import Testing

@testable import DurableJobsSQLite

@Suite struct LogTests {
  @Test("C73 The log stays small where short readers always overlap")
  func overlappingReaders() async throws {
    let folder = try StoreFolder(inMemory: true)
    let store = try folder.store()
    let readers = OverlappingReaders(of: folder.path())
    let payload = String(repeating: "x", count: 128 << 10)
    var (size, largest, cuts, inserts) = (0, 0, 0, 0)
    while cuts < 3 && inserts < 2000 || readers.count < 3 {
      try await store.insert(.plain(payload: payload))
      let before = size
      size = try Data.size(of: folder.path() + "-wal")
      if size < before { cuts += 1 }
      largest = max(largest, size)
      inserts += 1
    }
    await readers.end()
    #expect(cuts >= 3, "the log has \(size) bytes after \(inserts) insertions")
    // Cut at 16 MB; once where a reader was stopped in the middle by a busy machine, when as much has come again.
    #expect(largest <= 33 << 20)
    await store.close()
  }

  @Test("C73 A reader that never ends is waited for once for each 16 MB; the log grows, and is cut when it has ended")
  func endlessReader() async throws {
    let folder = try StoreFolder(inMemory: true)
    let store = try folder.store()
    let (reader, other) = (try Reader(of: folder.path()), try Reader(of: folder.path()))
    var log = WriteAheadLog(path: folder.path() + "-wal")
    let payload = String(repeating: "x", count: 1 << 20)
    func grow() async throws {
      for _ in 0..<20 { try await store.insert(.plain(payload: payload)) }
      try await store.onWriter { _ in }  // it has tried to shorten the log itself by now
    }
    reader.begin()
    try await grow()
    #expect(log.isTooLarge)
    log.shorten(on: other.handle)
    #expect(!log.isTooLarge)
    try await grow()
    #expect(log.isTooLarge)
    reader.end()
    log.shorten(on: other.handle)
    #expect(try Data.size(of: folder.path() + "-wal") == 0)
    #expect(try await store.counts(where: .all).total == 40)
    await store.close()
  }

  @Test("A look at the log's size, which costs the next commit a wait for the disk, is due each 256 pages")
  func looks() async throws {
    let folder = try StoreFolder(inMemory: true)
    let store = try folder.store()
    var log = WriteAheadLog(path: folder.path() + "-wal")
    func grow() async throws {
      log = try await store.onWriter { [log] transaction in
        var log = log
        log.hasGrown(by: transaction.connection.handle)
        return log
      }
    }
    func mustLook() -> Bool { log.mustLook() }
    // Others may have left a long one.
    try await grow()
    #expect(mustLook())
    try await grow()
    #expect(!mustLook())
    try await store.insert(.plain(payload: String(repeating: "x", count: 1 << 20)))
    // What is carried out together may take several commits, before anybody looks.
    for _ in 1...2 { try await grow() }
    #expect(mustLook())
    try await grow()
    #expect(!mustLook())
    await store.close()
  }

  @Test("The log of processes that have ended without closing is read once by the next that opens the file")
  func openingReadsOnce() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await store.insert(.plain())
    for end in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: folder.path() + end, toPath: folder.path("left.sqlite") + end)
    }
    await store.close()
    let probe = try ProcessProbe("open", folder.path("left.sqlite"))
    #expect(try await probe.lines(to: "opened") == ["recovered", "opened"])
  }
}

extension Data {
  fileprivate static func size(of path: String) throws -> Int {
    try URL(fileURLWithPath: path).resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
  }
}

/// Another program's connection, which reads.
private final class Reader {
  let handle: OpaquePointer

  /// It has read once: before, SQLite does not know that there is a log.
  init(of path: String) throws {
    var handle: OpaquePointer?
    try #require(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    self.handle = try #require(handle)
    begin()
    end()
  }

  deinit { sqlite3_close_v2(handle) }

  func begin() { run("BEGIN; SELECT * FROM durable_meta") }
  func end() { run("COMMIT") }

  /// About a millisecond.
  func work() {
    run("WITH RECURSIVE n(i) AS(SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<5000) SELECT count(*) FROM n")
  }

  private func run(_ sql: String) { sqlite3_exec(handle, sql, nil, nil, nil) }
}

/// Two readers that take turns, each of which begins before the other ends, on a thread of their own.
private final class OverlappingReaders: Sendable {
  private let isOver = Lock(false)
  private let changes = Lock(0)
  private let ended = Gate()

  init(of path: String) {
    Thread { [self] in
      guard var one = try? Reader(of: path), var other = try? Reader(of: path) else { return ended.open() }
      one.begin()
      while !isOver.withLock({ $0 }) {
        one.work()
        other.begin()
        one.end()
        swap(&one, &other)
        changes.withLock { $0 += 1 }
      }
      one.end()
      ended.open()
    }.start()
  }

  /// How often one followed the other.
  var count: Int { changes.withLock { $0 } }

  func end() async {
    isOver.withLock { $0 = true }
    await ended.pass()
  }
}
