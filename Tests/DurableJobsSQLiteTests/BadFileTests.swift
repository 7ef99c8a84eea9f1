import DurableJobs
import Foundation
import GRDBSQLite
import Testing

@testable import DurableJobsSQLite

/// C72: what can't be a store is told by name, with what to do, and left as it is.
@Suite struct BadFileTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  /// Opens `path`, and returns how that was refused.
  private func refusal(_ path: String, busyTimeout: Duration = Defaults.busyTimeout) -> JobError? {
    var configuration = SQLiteStore.Configuration()
    configuration.busyTimeout = busyTimeout
    do {
      _ = try SQLiteStore(path: path, configuration: configuration)
      return nil
    } catch {
      return error as? JobError
    }
  }

  /// Expects that opening is refused with that code, names the file, and changes nothing of it.
  private func expect(_ code: JobError.Code, _ path: String, isFile: Bool = true) throws {
    let before = isFile ? try Data(contentsOf: URL(fileURLWithPath: path)) : nil
    let error = try #require(refusal(path))
    #expect(error.code == code, "\(error)")
    #expect(error.message.contains(path))
    if let before { #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before) }
  }

  private func execute(_ sql: String, at path: String) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
  }

  private func closedStore(jobs: Int = 1) async throws -> String {
    let store = try folder.store()
    _ = try await store.insert(
      JobInsertion((0..<jobs).map { _ in .plain(payload: "\"\(String(repeating: "x", count: 500))\"") }))
    await store.close()
    return folder.path()
  }

  @Test func `C72 A folder is no store`() throws {
    try expect(.unusableFile, folder.path, isFile: false)
  }

  @Test("C72 A path that names no file is refused", arguments: ["", ":memory:"])
  func noFile(path: String) throws {
    #expect(refusal(path)?.code == .unusableFile)
  }

  @Test(
    "C72 A store whose file is not there any more takes no jobs, and leaves alone what took its place",
    arguments: [true, false])
  func goneFile(isMoved: Bool) async throws {
    let old = try folder.store()
    try await old.insert(.plain())
    for end in ["", "-wal", "-shm"] {
      let path = folder.path() + end
      _ = isMoved ? rename(path, folder.path("moved") + end) : unlink(path)
    }
    let refused = await #expect(throws: JobError.self) { try await old.insert(.plain()) }
    #expect(refused?.code == .fileGone)
    let new = try folder.store()
    try await new.insert(.plain(), .plain())
    await old.close()
    for end in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: folder.path() + end, toPath: folder.path("copy") + end)
    }
    #expect(try await folder.store("copy").counts(where: .all).total == 2)
    await new.close()
  }

  @Test func `C72 What is not committed yet when the store's file is moved away is refused`() async throws {
    let store = try folder.store()
    let (path, elsewhere) = (folder.path(), folder.path("moved"))
    let refused = await #expect(throws: JobError.self) {
      try await store.onWriter { transaction in
        _ = try transaction.insert(JobInsertion([.plain()]))
        rename(path, elsewhere)
      }
    }
    #expect(refused?.code == .fileGone)
    rename(elsewhere, path)
    #expect(try await store.insert(.plain()).map(\.rawValue) == [1])
    await store.close()
  }

  @Test func `C72 A file with two names is refused: its companions go by one of them`() async throws {
    let path = try await closedStore(jobs: 1)
    try FileManager.default.linkItem(atPath: path, toPath: folder.path("other.sqlite"))
    #expect(refusal(path)?.code == .unusableFile)
    #expect(refusal(folder.path("other.sqlite"))?.code == .unusableFile)
  }

  @Test func `C72 A path is a path, though it looks like a URI`() async throws {
    let path = folder.path("file:jobs.sqlite")
    let store = try SQLiteStore(path: path)
    await store.close()
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(refusal("jobs\0.sqlite")?.code == .unusableFile)
  }

  @Test func `A busy time-out beyond all sense is no trap`() async throws {
    for timeout in [Duration.seconds(-5), .seconds(3_000_000), .seconds(Int64.max)] {
      var configuration = SQLiteStore.Configuration()
      configuration.busyTimeout = timeout
      await (try SQLiteStore(path: folder.path(), configuration: configuration)).close()
    }
  }

  @Test func `C72 A folder that doesn't exist is not made`() throws {
    let path = folder.path("none/jobs.sqlite")
    try expect(.unusableFile, path, isFile: false)
    #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
  }

  @Test func `C72 Where nobody has expanded a ~, the folder that is missing is told, and why`() throws {
    let name = "durable-\(UUID().uuidString)"
    let error = #expect(throws: JobError.self) { try SQLiteStore(path: "~/\(name)/jobs.sqlite") }
    let here = FileManager.default.currentDirectoryPath
    #expect(
      error?.message.hasSuffix("folder \(here)/~/\(name) doesn't exist; only a shell takes ~ for your home folder")
        == true,
      "\(error?.message ?? "")")
  }

  @Test("C72 A file of something else is no store", arguments: [12, 600, 20_000])
  func text(size: Int) throws {
    let path = folder.path()
    try Data(String(repeating: "hello world ", count: size / 12).utf8).write(to: URL(fileURLWithPath: path))
    try expect(.notAStore, path)
  }

  @Test func `C72 A database of something else is no store`() throws {
    let path = folder.path()
    try execute("CREATE TABLE notes(text); INSERT INTO notes VALUES('mine')", at: path)
    try expect(.notAStore, path)
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
  }

  @Test func `C72 A file that was cut short is damaged`() async throws {
    let path = try await closedStore(jobs: 200)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: path))
    try expect(.damaged, path)
  }

  @Test("C72 A store that has lost its first bytes is a damaged one, and whole with them", arguments: [0, 0xa5])
  func beginning(byte: UInt8) async throws {
    let path = try await closedStore(jobs: 20)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.write(contentsOf: Data(repeating: byte, count: 16))
    try expect(.damaged, path)
    let words = try #require(refusal(path)).message
    #expect(words.contains("printf 'SQLite format 3\\0' | dd of=\(path) conv=notrunc"), "\(words)")
    let error = await #expect(throws: JobError.self) {
      try await SQLiteStore.repair(from: path, to: folder.path("new.sqlite"))
    }
    #expect(error?.message == words)
    try file.seek(toOffset: 0)
    try file.write(contentsOf: Data("SQLite format 3\0".utf8))
    #expect(refusal(path) == nil)
  }

  @Test func `C72 A store of a newer version is refused`() async throws {
    let path = try await closedStore()
    try execute("UPDATE durable_meta SET version=\(Schema.version + 1)", at: path)
    try expect(.newerVersion, path)
  }

  @Test func `C72 A store that another program holds for longer than the time-out is locked, and then opens`()
    async throws
  {
    let path = try await closedStore()
    let store = try SQLiteStore(path: path)
    var handle: OpaquePointer?
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    defer { sqlite3_close_v2(handle) }
    try #require(sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
    await store.close()

    var configuration = SQLiteStore.Configuration()
    configuration.busyTimeout = .milliseconds(50)
    let hurried = try SQLiteStore(path: path, configuration: configuration)
    let error = await #expect(throws: JobError.self) { try await hurried.insert(.plain()) }
    #expect(error?.code == .locked)
    #expect(error?.message.contains(path) == true)
    try #require(sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) == SQLITE_OK)
    #expect(try await hurried.insert(.plain()).count == 1)
    #expect(try await hurried.counts(where: .all)[.ready] == 2)
  }

  @Test func `An empty file is a new store`() async throws {
    try Data().write(to: URL(fileURLWithPath: folder.path()))
    #expect(try await folder.store().insert(.plain()).count == 1)
  }

  #if os(Linux)
    /// Sets or clears what `chattr +i` does. False if the file system or the user's rights don't allow it.
    private static func setImmutable(_ isImmutable: Bool, _ path: String) -> Bool {
      let (getFlags, setFlags, immutable): (UInt, UInt, Int) = (0x8008_6601, 0x4008_6602, 0x10)
      let file = open(path, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return false }
      defer { close(file) }
      var flags = 0
      guard ioctl(file, getFlags, &flags) == 0 else { return false }
      flags = isImmutable ? flags | immutable : flags & ~immutable
      return ioctl(file, setFlags, &flags) == 0
    }

    private enum Protection { case mode, flag, mount }

    /// Root may write what modes forbid, so the file is made immutable, or its folder mounted for reading alone.
    private static let protection: Protection? = {
      guard getuid() == 0 else { return .mode }
      guard let folder = try? StoreFolder(), (try? Data().write(to: URL(fileURLWithPath: folder.path()))) != nil else {
        return nil
      }
      if setImmutable(true, folder.path()) { return setImmutable(false, folder.path()) ? .flag : nil }
      return mount(folder.path, folder.path, nil, bind, nil) == 0 && umount(folder.path) == 0 ? .mount : nil
    }()
    private static let bind: UInt = 4096
    private static let remountReadOnly: UInt = 4096 | 32 | 1

    @Test(.enabled("neither an immutable flag nor a read-only mount can be had here") { protection != nil })
    func `C72 A file that can't be written is read-only`() async throws {
      let path = try await closedStore()
      switch try #require(Self.protection) {
      case .mode:
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
        try expect(.readOnly, path)
      case .flag:
        try #require(Self.setImmutable(true, path))
        defer { _ = Self.setImmutable(false, path) }
        try expect(.readOnly, path)
      case .mount:
        try #require(mount(folder.path, folder.path, nil, Self.bind, nil) == 0)
        defer { umount(folder.path) }
        try #require(mount(nil, folder.path, nil, Self.remountReadOnly, nil) == 0)
        try expect(.readOnly, path)
        try expect(.readOnly, folder.path("new.sqlite"), isFile: false)
      }
    }
  #endif

  @Test(
    "What SQLite says in numbers is told in words, with what to do",
    arguments: [
      (4874, JobError.Code.storeFailed, "can't be written"), (778, .storeFailed, "can't be written"),
      (10, .storeFailed, "can't be written"), (266, .storeFailed, "can't be read"),
      (3850, .storeFailed, "can't be locked"), (3082, .storeFailed, "memory"), (7, .storeFailed, "memory"),
      (1, .storeFailed, "integrity_check"), (19, .damaged, "integrity_check"), (20, .damaged, "a row"),
      (18, .damaged, "a row"), (13, .diskFull, "no room"),
    ] as [(Int32, JobError.Code, String)])
  func words(code: Int32, expected: JobError.Code, words: String) {
    let error = JobError(SQLiteFailure(code: code, on: nil), path: "/a/jobs.sqlite")
    #expect(error.code == expected)
    #expect(error.message.contains(words), "\(error)")
    #expect(error.message.contains("/a/jobs.sqlite"))
    #expect(!error.message.contains("\(code)"))
    #expect((error.cause as? SQLiteFailure)?.code == code)
  }
}
