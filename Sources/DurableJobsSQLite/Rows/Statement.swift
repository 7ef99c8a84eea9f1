import DurableJobs
import Foundation
import GRDBSQLite

/// A prepared statement over SQLite's C interface. GRDB's own costs several microseconds more per statement, and its
/// decoding traps on values of an unexpected type, where this one takes SQLite's conversion.
///
/// Only valid with its connection, inside the access in which GRDB provided that.
final class Statement {
  private let connection: OpaquePointer
  let handle: OpaquePointer

  /// `isHeld` tells SQLite that the statement will be kept for a long time.
  init(_ sql: String, on connection: OpaquePointer, isHeld: Bool = false) throws {
    var handle: OpaquePointer?
    let flags = isHeld ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let code = sqlite3_prepare_v3(connection, sql, -1, flags, &handle, nil)
    guard code == SQLITE_OK, let handle else { throw SQLiteFailure(code: code, on: connection) }
    (self.connection, self.handle) = (connection, handle)
  }

  deinit { sqlite3_finalize(handle) }

  // MARK: Values in

  func bind(_ index: Int32, _ value: some StatementValue) { value.bind(to: self, index) }

  /// The statement with these values bound from ?1 on. Names must be passed as ``Swift/String/composed``, so that those
  /// that are equal in Swift, such as the two spellings of `é`, are equal bytes.
  func with<each Value: StatementValue>(_ values: repeat each Value) -> Statement {
    var index: Int32 = 0
    for value in repeat each values {
      index += 1
      value.bind(to: self, index)
    }
    return self
  }

  // MARK: Running

  /// Returns whether there is a row. Resets the statement after the last one and before throwing.
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

  /// Runs the statement to its end, ignoring rows.
  func run() throws { while try step() {} }

  /// The results of `read` for each row.
  func map<T>(_ read: (Statement) throws -> T) throws -> [T] {
    var all: [T] = []
    defer { reset() }
    while try step() { all.append(try read(self)) }
    return all
  }

  /// The same without nil results.
  func compactMap<T>(_ read: (Statement) throws -> T?) throws -> [T] { try map(read).compactMap(\.self) }

  /// The result of `read` for the first row; nil if there is none.
  func first<T>(_ read: (Statement) throws -> T?) throws -> T? {
    guard try step() else { return nil }
    defer { reset() }
    return try read(self)
  }

  /// The first number that `sql` selects; 0 if there is none.
  static func number(_ sql: String, on connection: OpaquePointer) throws -> Int64 {
    try Statement(sql, on: connection).first { $0.int(0) } ?? 0
  }

  /// Runs the statement to its end with `data` bound, which is not copied.
  func run(with data: Data, at index: Int32) throws {
    guard !data.isEmpty else {
      sqlite3_bind_zeroblob(handle, index, 0)
      return try run()
    }
    try data.withUnsafeBytes { bytes in
      sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), nil)
      defer { sqlite3_bind_null(handle, index) }
      try run()
    }
  }

  /// How many rows the last run changed.
  var changes: Int { Int(sqlite3_changes(connection)) }

  func reset() { sqlite3_reset(handle) }

  // MARK: Values out

  func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
  func id(_ column: Int32) -> JobID { JobID(rawValue: int(column)) }
  /// A count, clamped to a valid range.
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

  /// Adds a function for a number or a name in JSON. Names are as they are stored elsewhere: composed, and whole, where
  /// those that SQLite's own functions give end at a NUL.
  static func addJSONValue(to connection: OpaquePointer) {
    sqlite3_create_function_v2(
      connection, "durable_json_value", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
      {
        guard let value = $2?[0], let bytes = sqlite3_value_text(value) else { return }
        let json = UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value)))
        guard json.first == UInt8(ascii: "\"") else { return sqlite3_result_int64($0, sqlite3_value_int64(value)) }
        let hasEscape = json.contains(UInt8(ascii: "\\"))  // the usual names have none, and need no decoder
        let plain = hasEscape ? nil : String(decoding: json.dropFirst().dropLast(), as: UTF8.self)
        guard let name = (plain ?? (try? JSONDecoder().decode(String.self, from: Data(json))))?.composed else { return }
        sqlite3_result_text($0, name, Int32(name.utf8.count), copied)
      }, nil, nil, nil)
  }

  private func length(_ column: Int32) -> Int { Int(sqlite3_column_bytes(handle, column)) }
}

protocol StatementValue { func bind(to statement: Statement, _ index: Int32) }

extension StatementValue where Self: FixedWidthInteger {
  func bind(to statement: Statement, _ index: Int32) { sqlite3_bind_int64(statement.handle, index, Int64(self)) }
}
extension Int64: StatementValue {}
extension Int: StatementValue {}

extension Bool: StatementValue {
  func bind(to statement: Statement, _ index: Int32) { Int64(self ? 1 : 0).bind(to: statement, index) }
}

extension JobID: StatementValue {
  func bind(to statement: Statement, _ index: Int32) { rawValue.bind(to: statement, index) }
}

extension Double: StatementValue {
  func bind(to statement: Statement, _ index: Int32) { sqlite3_bind_double(statement.handle, index, self) }
}

/// Has SQLite copy a text that it is given.
private var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

extension String: StatementValue {
  /// Handles strings that contain NUL, at which GRDB's own binding would stop.
  func bind(to statement: Statement, _ index: Int32) {
    withCString { _ = sqlite3_bind_text(statement.handle, index, $0, Int32(utf8.count), copied) }
  }
}

extension Optional: StatementValue where Wrapped: StatementValue {
  func bind(to statement: Statement, _ index: Int32) {
    if let self { self.bind(to: statement, index) } else { sqlite3_bind_null(statement.handle, index) }
  }
}
