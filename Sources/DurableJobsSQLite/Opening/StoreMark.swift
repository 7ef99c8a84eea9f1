import DurableJobs
import Foundation
import GRDBSQLite

/// Tells whether the log beside a file is the file's own.
///
/// SQLite takes any `-wal` file of the right name for the database's, and would damage a file that took the place of
/// another. So each store has a random number as SQLite's `user_version`, in page 1 of its file, and that page is copied
/// into each new log. Copies of a store have its number, but SQLite gives them another `schema_version`: one more, or 1.
package enum StoreMark {
  /// Marks a new store before it has a log.
  static func begin(on connection: OpaquePointer) throws {
    try Statement("BEGIN IMMEDIATE", on: connection).run()
    try Statement("PRAGMA application_id = \(Schema.applicationID)", on: connection).run()
    try copy(on: connection)
    try Statement("COMMIT", on: connection).run()
  }

  /// Sees to it that there is a log with something in it, which stays as long as the connection. GRDB would begin an empty
  /// one by two changes of the schema: so a copy, which is one ahead, would soon be taken for the file of a log.
  static func beginLog(of path: String, on connection: OpaquePointer) throws {
    try Statement("PRAGMA journal_mode = WAL", on: connection).run()
    guard FileStat(StoreInspection.log(of: path))?.size ?? 0 == 0 else { return }
    try Statement("PRAGMA synchronous = NORMAL", on: connection).run()  // what it writes is in the file already
    try copy(on: connection)
  }

  /// Copies page 1 into the log with the current transaction. A store from before there were marks gets one; an app's own
  /// database keeps its `user_version`.
  static func copy(on connection: OpaquePointer) throws {
    guard try Statement.number("PRAGMA application_id", on: connection) == Schema.applicationID else { return }
    let mark = try Statement.number("PRAGMA user_version", on: connection)
    try Statement("PRAGMA user_version = \(mark == 0 ? .random(in: 1...0x7fff_ffff) : mark)", on: connection).run()
  }

  /// A number that changes when SQLite begins the log anew; 0 for an empty log.
  static func log(on connection: OpaquePointer) -> Int64 {
    number(at: 16, of: SQLITE_FCNTL_JOURNAL_POINTER, connection) ?? 0
  }

  /// Throws ``JobError/Code/unusableFile`` if the log belongs to another file. Both stay as they are: a connection that
  /// may only read, as that of `handle`, moves no log into its file when it closes.
  static func checkLog(of path: String, on handle: OpaquePointer?, _ busyTimeout: Duration) throws {
    guard let handle, let size = FileStat(StoreInspection.log(of: path))?.size, size > 0 else { return }
    sqlite3_busy_timeout(handle, Int32(clamping: busyTimeout.milliseconds))
    // As they are in the file, without the log. No log changes the schema 32 times but the one that makes all tables.
    let (pages, schema, mark) = (inFile(28, handle), inFile(40, handle), inFile(60, handle))
    guard mark != 0, inFile(68, handle) == Schema.applicationID else { return }
    let age = try Statement.number("PRAGMA schema_version", on: handle) - schema
    let isOwn = try Statement.number("PRAGMA user_version", on: handle) == mark
    guard !isOwn || age < 0 || age > 32 && pages > 4 else { return }
    throw StoreInspection.strayLog(
      of: path, "is the log of another file, whose place this one took",
      "To use this file, move the log away; for the jobs in the log, put its own file back")
  }

  /// Whether a store has lost its first bytes, by which SQLite knows its files, and what stands behind them is whole.
  package static func hasLostBeginning(_ path: String) -> Bool {
    let head = (try? FileHandle(forReadingAtPath: path)?.read(upToCount: 72)) ?? Data()
    let mark = withUnsafeBytes(of: Schema.applicationID.bigEndian) { Data($0) }
    return !head.starts(with: "SQLite format 3\0".utf8) && head.count == 72 && head.suffix(4) == mark
  }

  private static func inFile(_ offset: Int64, _ connection: OpaquePointer) -> Int64 {
    number(at: offset, of: SQLITE_FCNTL_FILE_POINTER, connection) ?? 0
  }

  private static func number(at offset: Int64, of file: Int32, _ connection: OpaquePointer) -> Int64? {
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(connection, nil, file, &pointer) == SQLITE_OK, let pointer,
      let methods = pointer.pointee.pMethods
    else { return nil }
    var number: Int32 = 0
    guard methods.pointee.xRead(pointer, &number, 4, offset) == SQLITE_OK else { return nil }
    return Int64(Int32(bigEndian: number))
  }
}
