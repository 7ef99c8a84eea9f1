import Foundation
import GRDBSQLite

/// A prepared statement over SQLite's C interface: GRDB's own costs several microseconds more each, and its decoding
/// traps on values of another type than expected. Where a value is of another type, SQLite's conversion is taken.
///
/// Belongs to its connection, and to the access in which GRDB handed that out.
final class Statement {
  private let connection: OpaquePointer
  let handle: OpaquePointer

  /// `isHeld` tells SQLite that the statement will be kept for long.
  init(_ sql: String, on connection: OpaquePointer, isHeld: Bool = false) throws {
    var handle: OpaquePointer?
    let flags = isHeld ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let code = sqlite3_prepare_v3(connection, sql, -1, flags, &handle, nil)
    guard code == SQLITE_OK, let handle else { throw SQLiteFailure(code: code, on: connection) }
    self.connection = connection
    self.handle = handle
  }

  deinit { sqlite3_finalize(handle) }

  // MARK: Values in

  func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }
  func bind(_ index: Int32, _ value: Double) { sqlite3_bind_double(handle, index, value) }
  func bindNull(_ index: Int32) { sqlite3_bind_null(handle, index) }

  func bind(_ index: Int32, _ value: Int64?) {
    if let value { bind(index, value) } else { bindNull(index) }
  }

  func bind(_ index: Int32, _ value: String?) {
    guard var value else { return bindNull(index) }
    _ = value.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        // A pointer even where there are no bytes: a text of length 0 is no NULL.
        if let start = bytes.baseAddress {
          sqlite3_bind_text(handle, index, start, Int32(bytes.count), Self.copied)
        } else {
          sqlite3_bind_text(handle, index, "", 0, Self.copied)
        }
      }
    }
  }

  /// A name, of which Swift takes several spellings for one, as `é` and `e` with an accent: as bytes that are equal where
  /// Swift says so.
  func bind(_ index: Int32, name: String) {
    bind(index, name.composed)
  }

  // MARK: Running

  /// True as long as there is a row. Resets itself after the last one, and before it throws.
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE:
      reset()
      return false
    case let code:
      let failure = SQLiteFailure(code: code, on: connection)
      reset()
      throw failure
    }
  }

  /// Runs it to its end, whatever rows it has.
  func run() throws {
    while try step() {}
  }

  /// The same with `data` as a value, which is not copied.
  func run(with data: Data, at index: Int32) throws {
    guard !data.isEmpty else {
      sqlite3_bind_zeroblob(handle, index, 0)
      return try run()
    }
    try data.withUnsafeBytes { bytes in
      sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), nil)
      defer { bindNull(index) }
      try run()
    }
  }

  /// How many rows the last run changed.
  var changes: Int { Int(sqlite3_changes(connection)) }

  func reset() { sqlite3_reset(handle) }

  // MARK: Values out

  func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
  /// A number of something, as far as one can count.
  func count(_ column: Int32) -> Int { Int(min(max(int(column), 0), 1 << 40)) }
  func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
  func isBlob(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_BLOB }
  func isInt(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_INTEGER }
  func intOrNull(_ column: Int32) -> Int64? { isNull(column) ? nil : int(column) }

  func text(_ column: Int32) -> String? {
    guard let bytes = sqlite3_column_text(handle, column) else { return nil }
    return String(decoding: UnsafeBufferPointer(start: bytes, count: length(column)), as: UTF8.self)
  }

  func data(_ column: Int32) -> Data? {
    guard !isNull(column) else { return nil }
    guard let bytes = sqlite3_column_blob(handle, column) else { return Data() }
    return Data(bytes: bytes, count: length(column))
  }

  private func length(_ column: Int32) -> Int { Int(sqlite3_column_bytes(handle, column)) }

  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
