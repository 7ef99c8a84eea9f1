import DurableJobs
import DurableJobsTesting
import Foundation
import GRDBSQLite

/// Does to a store's file what no store does: random values in random columns, rows deleted and rows doubled.
struct RandomDamage {
  private enum Value {
    case null
    case int(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])
  }

  private struct Table {
    let name: String
    let columns: [String]
    let key: [String]
    /// The job that a row is about, or jobs, as SQL over one row.
    let jobs: String?
  }

  private(set) var random: SeededNumbers
  /// Jobs of which something was touched.
  private(set) var touched: Set<Int64> = []
  /// Numbers of routes may be wrong by a little, which nothing tells.
  private(set) var hasMiscounted = false
  /// What was done, to be read by a person.
  private(set) var deeds: [String] = []
  private let handle: OpaquePointer

  static func strike(_ path: String, _ random: SeededNumbers) throws -> RandomDamage {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    guard sqlite3_open(path, &handle) == SQLITE_OK, let handle else { throw Finding("\(path) can't be opened") }
    var damage = RandomDamage(random: random, handle: handle)
    let tables = try damage.tables()
    for _ in 0..<Int.random(in: 1...6, using: &damage.random) { try damage.strikeOnce(tables) }
    return damage
  }

  private init(random: SeededNumbers, handle: OpaquePointer) {
    (self.random, self.handle) = (random, handle)
  }

  private mutating func strikeOnce(_ tables: [Table]) throws {
    // Jobs are hit more often than what there is one row of.
    let table =
      Int.random(in: 0..<3, using: &random) == 0
      ? tables.first { $0.name == "durable_job" }! : tables.randomElement(using: &random)!
    let count = try rows("SELECT count(*) FROM \(table.name)").first?.first.flatMap { Int($0) } ?? 0
    guard count > 0 else { return }
    let key = table.key.joined(separator: ",")
    // The last of all has a part of its own: new ones come after it.
    let row = Int.random(in: 0..<4, using: &random) == 0 ? count - 1 : Int.random(in: 0..<count, using: &random)
    let one = "(\(key))=(SELECT \(key) FROM \(table.name) ORDER BY \(key) LIMIT 1 OFFSET \(row))"
    try note(table, one)
    let way = Int.random(in: 0..<10, using: &random)
    var value = randomValue()
    if way == 0, !["durable_meta", "durable_job", "durable_queue", "durable_route"].contains(table.name) {
      try change("DELETE FROM \(table.name) WHERE \(one)", nil)
    } else if way == 1, table.name != "durable_meta", table.name != "durable_job" {
      let changed = table.key.last!
      if table.name == "durable_route" { hasMiscounted = true }
      let values = table.columns.map { $0 == changed ? "?1" : $0 }.joined(separator: ",")
      try change(
        "INSERT INTO \(table.name)(\(table.columns.joined(separator: ","))) SELECT \(values) FROM \(table.name) WHERE \(one)",
        value)
      try note(table, "\(changed)=?1", value)
    } else {
      let column = table.columns.randomElement(using: &random)!
      let text = ["completion": Self.follower, "options": Self.options.randomElement(using: &random)!][column]
      if let text, Bool.random(using: &random) { value = .text(Array(text.utf8)) }
      if table.name == "durable_route" || ["state", "route"].contains(column) { hasMiscounted = true }
      try change("UPDATE \(table.name) SET \(column)=?1 WHERE \(one)", value)
      if table.key.contains(column) { try note(table, "\(column)=?1", value) } else { try note(table, one) }
    }
  }

  // MARK: Values

  private mutating func randomValue() -> Value {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: .null
    case 1...4: .int(randomInt())
    case 5: .real([0.5, -1.5, 5.5, 1e15, 1e300, -1e300, .infinity, -.infinity].randomElement(using: &random)!)
    case 6...7: .text(randomText())
    default: .blob(Array(randomText().prefix(Int.random(in: 0...40, using: &random))))
    }
  }

  private mutating func randomInt() -> Int64 {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: [.min, .max, .min + 1, .max - 1, 1 << 40, 1 << 53, -1, 0].randomElement(using: &random)!
    case 1: Int64.random(in: -3...50, using: &random)
    case 2: 1_800_000_000_000 + Int64.random(in: -1_000_000_000...1_000_000_000, using: &random)
    default: Int64.random(in: .min ... .max, using: &random)
    }
  }

  private mutating func randomText() -> [UInt8] {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: Array(["", "NaN", "inf", "-1", "9e999", "abc", "default", "work"].randomElement(using: &random)!.utf8)
    case 1: Array(Self.options.randomElement(using: &random)!.utf8)
    case 2: [0xff, 0xfe, 0x00, 0xc3, 0x28]
    case 3: Array(repeating: UInt8(ascii: "x"), count: Int.random(in: 1...200_000, using: &random))
    default: (0..<Int.random(in: 1...30, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
  }

  private static let options = [
    "{}", "[]", "{", "7", #"{"maxAttempts":-5}"#, #"{"maxAttempts":9223372036854775807}"#, #"{"maxAttempts":1e300}"#,
    #"{"timeout":9223372036854775807}"#, #"{"timeout":-9223372036854775808}"#, #"{"timeout":0}"#, #"{"unique":""}"#,
    #"{"unique":"u12"}"#, #"{"key":"k1"}"#, #"{"tags":["a","a",""]}"#, #"{"tags":7}"#,
    #"{"endBy":9223372036854775807}"#, #"{"startBy":-9223372036854775808}"#, #"{"lane":"one"}"#, #"{"batch":2}"#,
    #"{"uniqueUntil":-9223372036854775808,"unique":"stored"}"#, String(repeating: "[", count: 10_000),
  ]

  /// What follows a batch, as no program asked for it.
  private static let follower = String(
    decoding: (try? JSONEncoder().encode(
      NewJob(
        queue: "default", kind: "work", payload: Data(),
        terms: JobTerms(priority: JobPriority(rawValue: .min), start: .after(.seconds(Int64.max) * 9)),
        edges: [JobEdge(.sibling(7)), JobEdge(.job(JobID(rawValue: -1)))]))) ?? Data(), as: UTF8.self)

  // MARK: SQL

  private func tables() throws -> [Table] {
    try rows("SELECT name FROM sqlite_master WHERE type='table' AND name LIKE 'durable%' ORDER BY name").map { row in
      let columns = try rows("SELECT name,pk FROM pragma_table_info('\(row[0])') ORDER BY cid")
      let names = columns.map { $0[0] }
      let jobs: String? =
        switch row[0] {
        case "durable_meta", "durable_worker", "durable_constraint", "durable_lane_width", "durable_batch": nil
        case "durable_queue":
          "SELECT id FROM durable_job WHERE route IN(SELECT r.id FROM durable_route r WHERE r.queue=durable_queue.id)"
        case "durable_route": "SELECT id FROM durable_job WHERE route=durable_route.id"
        default: "SELECT \(["job", "child"].first { names.contains($0) } ?? "id")"
        }
      return Table(name: row[0], columns: names, key: columns.filter { $0[1] != "0" }.map { $0[0] }, jobs: jobs)
    }
  }

  /// The jobs that these rows are about are not whole any more.
  private mutating func note(_ table: Table, _ condition: String, _ value: Value? = nil) throws {
    guard let jobs = table.jobs else { return }
    let ids = try rows(
      jobs.hasPrefix("SELECT id FROM")
        ? "\(jobs.replacingOccurrences(of: "=\(table.name).id", with: " IN(SELECT id FROM \(table.name) WHERE \(condition))"))"
        : "\(jobs) FROM \(table.name) WHERE \(condition)", value)
    touched.formUnion(ids.compactMap { Int64($0[0]) })
  }

  /// What the database itself refuses does not happen.
  private mutating func change(_ sql: String, _ value: Value?) throws {
    do {
      _ = try rows(sql, value)
      deeds.append("\(sql) [\(value.map { String("\($0)".prefix(120)) } ?? "")]")
    } catch is Finding {}
  }

  private func rows(_ sql: String, _ value: Value? = nil) throws -> [[String]] {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
      fatalError("\(sql): \(String(cString: sqlite3_errmsg(handle)))")
    }
    let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    if sqlite3_bind_parameter_count(statement) > 0 {
      switch value {
      case .int(let value): sqlite3_bind_int64(statement, 1, value)
      case .real(let value): sqlite3_bind_double(statement, 1, value)
      case .text(let bytes):
        bytes.withUnsafeBufferPointer { bytes in
          _ = bytes.withMemoryRebound(to: CChar.self) {
            sqlite3_bind_text(statement, 1, $0.baseAddress, Int32($0.count), copied)
          }
        }
      case .blob(let bytes): sqlite3_bind_blob(statement, 1, bytes, Int32(bytes.count), copied)
      case .null, nil: sqlite3_bind_null(statement, 1)
      }
    }
    var rows: [[String]] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        rows.append(
          (0..<sqlite3_column_count(statement)).map { column in
            sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
          })
      case SQLITE_DONE: return rows
      default: throw Finding("\(sql): \(String(cString: sqlite3_errmsg(handle)))")
      }
    }
  }
}
