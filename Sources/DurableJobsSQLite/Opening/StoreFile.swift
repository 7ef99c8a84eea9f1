import DurableJobs
import Foundation
import GRDB
import GRDBSQLite

/// A store's file that has been opened, migrated and checked for durability.
struct StoreFile {
  let pool: DatabasePool
  let folder: MeetingFolder
  let lock: WriterLock
  /// The latest time known from the file, and how often the clock had been set back by then.
  let latest: Int64
  let epoch: Int64

  init(path: String, busyTimeout: Duration) throws {
    var isFile = false
    do {
      var patience = Patience(busyTimeout)
      try StoreInspection.checkFile(path)
      isFile = true
      // Closed once the pool is open: the first connection of all reads the whole log, the last moves it into the file.
      let reader = try? StoreInspection.open(path, SQLITE_OPEN_READONLY)
      defer { sqlite3_close_v2(reader) }
      try patience.wait { try StoreMark.checkLog(of: path, on: reader, $0) }
      let look = try patience.wait { try StoreInspection.look(path, $0) }
      defer { sqlite3_close_v2(look) }
      let folder = try MeetingFolder(databasePath: path)
      let lock = try WriterLock(folder: folder)
      // Two processes that create the same file must not do so at the same time.
      _ = patience.wait { lock.take(within: $0) }
      defer { lock.giveBack() }
      if FileStat(path)?.size == 0 { try StoreMark.begin(on: look) }
      patience.tell(look)
      try patience.wait { _ in try StoreMark.beginLog(of: path, on: look) }
      try self.init(Self.open(path, busyTimeout), folder, lock, patience)
    } catch {
      let error = JobError(error, path: path)
      // If a file beside the store can't be created, report its folder.
      if isFile, [.unusableFile, .readOnly].contains(error.code) { try StoreInspection.checkFolder(of: path) }
      throw error
    }
  }

  /// Uses an app's own pool, whose path SQLite has already opened.
  init(lent pool: DatabasePool) throws {
    do {
      let folder = try MeetingFolder(databasePath: pool.path)
      try self.init(pool, folder, WriterLock(folder: folder), nil)
    } catch {
      throw JobError(error, path: pool.path)
    }
  }

  /// `patience`: nil for a lent pool.
  private init(_ pool: DatabasePool, _ folder: MeetingFolder, _ lock: WriterLock, _ patience: Patience?) throws {
    (self.pool, self.folder, self.lock) = (pool, folder, lock)
    try Self.migrate(pool, patience)
    try Self.makeDurable(pool)
    let times = try pool.read { try Row.fetchOne($0, sql: Self.timeSQL) }
    (latest, epoch) = (times?[0] as? Int64 ?? 0, times?[1] as? Int64 ?? 0)
  }

  /// The time that was noted last, when the newest job since was enqueued, or when the last wait was set, of the first
  /// and the last fifty of each route. Of times more than a year apart, the earliest is believed, and of waits none
  /// that is longer than that: the other may be a damaged row.
  private static let timeSQL = """
    SELECT max(ifnull((SELECT CASE WHEN max(at)-min(at)>\(SeenTime.mostApart) THEN min(at) ELSE max(at) END FROM(
        SELECT * FROM(SELECT created_at at FROM durable_spec WHERE id>epoch_job ORDER BY id DESC LIMIT 2)
        UNION ALL SELECT epoch_at WHERE epoch_at>0)),0),
      ifnull((SELECT max(entered_at) FROM durable_route r CROSS JOIN durable_job j ON j.id IN(
          SELECT id FROM(\(scheduled) ORDER BY rank LIMIT 50) UNION ALL SELECT id FROM(\(scheduled) ORDER BY rank DESC LIMIT 50))
        WHERE run_at-entered_at BETWEEN 0 AND \(SeenTime.mostApart) AND links&\(Links.dated.rawValue)=0),0)),epoch
    FROM durable_meta WHERE id=1
    """
  private static let scheduled =
    "SELECT id FROM durable_job INDEXED BY durable_job_line WHERE route=r.id AND state=3 AND state<>7"

  private static func open(_ path: String, _ busyTimeout: Duration) throws -> DatabasePool {
    var configuration = GRDB.Configuration()
    configuration.busyMode = .timeout(min(max(busyTimeout.seconds, 0), 1_000_000))
    configuration.foreignKeysEnabled = false
    configuration.maximumReaderCount = 4
    configuration.label = "durable"
    // GRDB looks for the log beside the path that it is given. A whole path is not read as a URI either.
    return try DatabasePool(
      path: resolvedPath(path) ?? (path.hasPrefix("/") ? path : "./\(path)"), configuration: configuration)
  }

  private static func migrate(_ pool: DatabasePool, _ patience: Patience?) throws {
    let version = try pool.read(Schema.versionFound)
    guard version <= Schema.version else { throw StoreInspection.newer(pool.path, version) }
    if version == Schema.version { return }
    try pool.writeWithoutTransaction { db in
      patience?.tell(db.sqliteConnection)
      try Schema.migrate(db, isOwn: patience != nil)
    }
  }

  /// GRDB sets `synchronous` to NORMAL on a pool, whatever its configuration says: so it is set here, and read back.
  private static func makeDurable(_ pool: DatabasePool) throws {
    try pool.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA synchronous = FULL")
      #if canImport(Darwin)
        try db.execute(sql: "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
      #endif
      let synchronous = try Int.fetchOne(db, sql: "PRAGMA synchronous")
      let journal = try String.fetchOne(db, sql: "PRAGMA journal_mode")
      try require(
        synchronous == 2 && journal == "wal",
        "a commit to \(pool.path) would not survive a power cut (synchronous \(synchronous ?? -1), journal "
          + "\(journal ?? "unknown")). Keep the store on a local disk", code: .weakDurability)
    }
  }
}

/// The absolute path with symbolic links resolved; nil if there is no such file.
func resolvedPath(_ path: String) -> String? {
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}

/// Looks at a path before anything is opened for good, so that what is no store is never touched.
enum StoreInspection {
  static func checkFile(_ path: String) throws {
    guard !path.contains("\0") else { throw unusable(path, "its path has a NUL in it") }
    guard !path.isEmpty, path != ":memory:" else {
      throw unusable(path, "it names no file; for a store in memory use InMemoryStore")
    }
    // Looked for before the file is, as who makes a store fills that first. SQLite would delete it beside an empty file.
    let log = FileStat(log(of: path))
    var status = stat()
    if stat(path, &status) != 0 {
      guard errno == ENOENT else { throw unusable(path, SystemError.words()) }
      if log == nil { return try create(path) }
    }
    guard log == nil || status.st_size > 0 else {
      throw strayLog(
        of: path, "is the log of a file that is not here", isEmpty: log?.size == 0,
        "Put that file back beside it; for a new store, move the log away once no process has the old one open")
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw unusable(path, "it is a folder; name a file in it, as in \(path)/jobs.sqlite")
    default: throw unusable(path, "it is no regular file")
    }
    // SQLite's other files are named after the path, so two hard links would be two stores in one file.
    guard status.st_nlink == 1 else {
      throw unusable(path, "it has \(status.st_nlink) names (hard links); keep one of them, and use symbolic links")
    }
    guard access(path, R_OK) == 0 else { throw unusable(path, "you may not read it") }
  }

  static func log(of path: String) -> String { (resolvedPath(path) ?? path) + "-wal" }

  static func strayLog(of path: String, _ what: String, isEmpty: Bool = false, _ remedy: String) -> JobError {
    let jobs = isEmpty ? "it is empty, but may be written to yet" : "it may have jobs that are nowhere else"
    return unusable(path, "\(log(of: path)) \(what). Nothing was changed; \(jobs). \(remedy)")
  }

  /// Checks the folder where a path leads: SQLite's files and the session folder are created there.
  static func checkFolder(of path: String) throws {
    guard let resolved = resolvedPath(path) else { return }
    let folder = URL(fileURLWithPath: resolved).deletingLastPathComponent().path
    guard access(folder, W_OK | X_OK) != 0 else { return }
    let error = errno
    if error == EROFS { throw readOnly(path, in: folder) }
    throw unusable(
      path,
      "files must be made beside it, and you may not write in its folder \(folder) (\(SystemError.words(error))). "
        + "Run as a user who may, or move the store into a folder of your own")
  }

  private static func readOnly(_ path: String, in folder: String) -> JobError {
    JobError(
      .readOnly,
      "the store \(path) can't be used: its folder \(folder) is on a file system that is mounted read-only. Mount it "
        + "writable, or choose another path")
  }

  /// Creates a file that is private to the user. It is no error if another process created it in the meantime.
  private static func create(_ path: String) throws {
    let file = Foundation.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    let error = errno
    // No one else in this process has it open, so closing it can't drop a lock on it.
    if file >= 0 { close(file) }
    guard file < 0, error != EEXIST else { return }
    // A URL would read ~ as the home folder, and the system does not.
    let whole = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    let parent = NSString(string: whole).deletingLastPathComponent
    if error == ENOENT, access(parent, F_OK) != 0 {
      let hint = path.hasPrefix("~") ? "; only a shell takes ~ for your home folder" : "; make it first"
      throw unusable(path, "its folder \(parent) doesn't exist\(hint)")
    }
    if error == EROFS { throw readOnly(path, in: parent) }
    throw unusable(
      path,
      "it can't be made in the folder \(parent): \(SystemError.words(error)). Make that writable, or choose another path"
    )
  }

  /// Inspects a file; an empty one is a new store. The caller closes the connection once it has another.
  static func look(_ path: String, _ busyTimeout: Duration) throws -> OpaquePointer {
    let handle = try open(path, SQLITE_OPEN_READWRITE)
    sqlite3_busy_timeout(handle, Int32(clamping: busyTimeout.milliseconds))
    do { try check(handle, path) } catch {
      sqlite3_close_v2(handle)
      throw error
    }
    return handle
  }

  /// The caller closes the connection.
  static func open(_ path: String, _ flags: Int32) throws -> OpaquePointer {
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX, nil)
    if code == SQLITE_OK, let handle { return handle }
    defer { sqlite3_close_v2(handle) }
    throw SQLiteFailure(code: code, on: handle)
  }

  private static func check(_ handle: OpaquePointer, _ path: String) throws {
    let hasTables = try Statement.number("SELECT count(*) FROM sqlite_master", on: handle) != 0
    // If SQLite could only open the file for reading, its own error reports why.
    try require(
      sqlite3_db_readonly(handle, "main") == 0,
      "the store \(path) can't be written: the file or its file system is read-only. Make it writable, or choose "
        + "another path", code: .readOnly)
    guard hasTables else { return }
    try require(
      Statement.number("SELECT count(*) FROM sqlite_master WHERE name='durable_meta'", on: handle) == 1,
      "\(path) is no store: it is an SQLite database of something else. It was left as it is; choose another path",
      code: .notAStore)
    let version = try Statement.number("SELECT version FROM durable_meta WHERE id=1", on: handle)
    guard version <= Schema.version else { throw newer(path, version) }
  }

  static func newer(_ path: String, _ version: Int64) -> JobError {
    JobError(
      .newerVersion,
      "the store \(path) was written by a newer version of DurableJobs (its format is \(version), this one knows "
        + "\(Schema.version)). It was left as it is; update the program")
  }

  private static func unusable(_ path: String, _ why: String) -> JobError {
    JobError(.unusableFile, "the store \(path) can't be used: \(why)")
  }
}
