import DurableJobs
import Foundation
import GRDBSQLite

/// The result of salvaging a damaged store.
public struct StoreSalvage: Hashable, Sendable {
  /// How many jobs are complete in the new store.
  public var jobs = 0
  /// Jobs in the new store of which some part could not be read. A worker that claims one suspends it with the reason.
  /// One whose queue or kind is lost keeps its payload, and waits under a name such as `lost-3` in place of the lost one.
  public var damaged: [JobID] = []
  /// Jobs that are not in the new store, since their own rows could not be read, as far as their ids are known.
  public var lost: [JobID] = []
  /// Tables that could not be read to the end.
  public var cutTables: [String] = []
  /// Inconsistencies that were corrected in the new store.
  public var mended: [StoreFinding] = []
}

extension SQLiteStore {
  /// Copies what is readable in the damaged store at `from` to a new store at `to`, where no file may exist. No process
  /// may have the old file open; it is left as it is, for other tools to try. Running jobs are recovered as after a
  /// crash. What was salvaged is durable when this returns.
  ///
  /// Throws `JobError.Code.unusableFile` if there is a file at `to`, or none at `from` or one beside another's `-wal`,
  /// `JobError.Code.notAStore` if that has no trace of jobs, and else what opening a store throws; delete an incomplete
  /// new file in that case.
  public static func repair(from damaged: String, to path: String) async throws -> StoreSalvage {
    guard access(damaged, R_OK) == 0 else {
      throw JobError(.unusableFile, "\(damaged) can't be read: \(SystemError.words())")
    }
    guard access(path, F_OK) != 0 else {
      throw JobError(.unusableFile, "\(path) exists already; give the new store a path of its own")
    }
    try StoreInspection.checkFile(damaged)
    do { try StoreMark.checkLog(of: damaged, Defaults.busyTimeout) } catch is SQLiteFailure {}  // what is left is read
    let source = try Result { try Salvager.Source(damaged) }.mapError { JobError($0, path: damaged) }.get()
    let store = try SQLiteStore(path: path)
    do {
      var salvage = try await store.engine.write(.other) { transaction in
        var salvager = Salvager(source: source, target: transaction.connection.handle)
        try salvager.copyAll()
        transaction.memory.routes.forget()
        return salvager.salvage
      }
      salvage.mended = try await store.check(mending: true)
      await store.close()
      return salvage
    } catch {
      await store.close()
      throw JobError(error, path: damaged)
    }
  }
}

/// Copies rows from one file to another, table by table, from both ends up to what can't be read.
private struct Salvager {
  let source: Source
  let target: OpaquePointer
  private(set) var salvage = StoreSalvage()

  final class Source: @unchecked Sendable {  // one transaction alone uses it
    let handle: OpaquePointer

    /// Throws if there is no trace of jobs at `path`, or nothing of it can be read.
    init(_ path: String) throws {
      var handle: OpaquePointer?
      let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, nil)
      guard code == SQLITE_OK, let handle else {
        defer { sqlite3_close_v2(handle) }
        throw SQLiteFailure(code: code, on: handle)
      }
      self.handle = handle
      guard try Statement("SELECT 1 FROM pragma_table_info('durable_job')", on: handle).step() else {
        throw SQLiteFailure(code: SQLITE_NOTADB, on: nil)
      }
    }

    deinit { sqlite3_close_v2(handle) }
  }

  private func texts(_ sql: String, on handle: OpaquePointer) throws -> [String] {
    try Statement(sql, on: handle).map { $0.text(0) ?? "" }
  }

  mutating func copyAll() throws {
    let tables = try texts(
      "SELECT name FROM sqlite_master WHERE type='table' AND name LIKE 'durable~_%' ESCAPE '~'", on: target)
    // The old workers are gone, so the jobs that ran under their claims are recovered.
    for table in tables where table != "durable_worker" { try copy(table) }
    func run(_ sql: String) throws { try Statement(sql, on: target).run() }
    try run("UPDATE durable_meta SET version=\(Schema.version)")
    // Claim numbers are never reused.
    try run(
      """
      UPDATE sqlite_sequence SET seq=max(seq,ifnull((SELECT max(abs(claim)>>\(ClaimNumber.bits)) FROM durable_job
        WHERE abs(claim)>>\(ClaimNumber.bits)<\(ClaimNumber.highestWorker)),0)) WHERE name='durable_worker'
      """)
    let isWhole = """
      state BETWEEN 2 AND 10 AND id IN(SELECT id FROM durable_spec)
        AND route IN(SELECT r.id FROM durable_route r JOIN durable_queue q ON q.id=r.queue)
      """
    let jobs = "FROM durable_job WHERE state<>\(stubCode)"
    salvage.jobs = try Statement("SELECT count(*) \(jobs) AND \(isWhole)", on: target).first { $0.count(0) } ?? 0
    func ids(_ sql: String) throws -> [JobID] {
      try Statement("SELECT id \(sql) ORDER BY id", on: target).map { $0.id(0) }
    }
    salvage.damaged = try ids("\(jobs) AND NOT(\(isWhole))")
    salvage.lost = try ids("FROM durable_spec WHERE id NOT IN(SELECT id FROM durable_job)")
    // A job without a queue or a kind would be seen by nobody.
    let lost = "SELECT DISTINCT route \(jobs) AND route NOT IN(SELECT id FROM durable_route)"
    try run(
      """
      INSERT OR IGNORE INTO durable_queue(id,name) SELECT queue,'lost-'||queue FROM durable_route
        UNION ALL SELECT NULL,'lost' WHERE EXISTS(\(lost))
      """)
    try run(
      """
      INSERT INTO durable_route(id,queue,kind)
        SELECT route,(SELECT id FROM durable_queue WHERE name='lost'),'lost-'||route FROM(\(lost))
      """)
  }

  private mutating func copy(_ table: String) throws {
    let columns = "SELECT name FROM pragma_table_info('\(table)')"
    let theirs = Set(try texts(columns, on: source.handle))
    let names = try texts(columns, on: target).filter(theirs.contains).joined(separator: ",")
    guard !names.isEmpty else { return }
    let order = try texts("SELECT name FROM pragma_table_info('\(table)') WHERE pk>0 ORDER BY pk", on: target)
    for direction in ["ASC", "DESC"] {
      let terms = order.map { "\($0) \(direction)" }.joined(separator: ",")
      if try copy("SELECT \(names) FROM \(table) ORDER BY \(terms)", "INSERT OR REPLACE INTO \(table)(\(names))") {
        return
      }
    }
    salvage.cutTables.append(table)
    // An index has the names, and what else is in these rows is counted anew, or a setting.
    guard let columns = ["durable_queue": "id,name", "durable_route": "id,queue,kind,requires"][table] else { return }
    _ = try copy(
      "SELECT \(columns) FROM \(table) INDEXED BY sqlite_autoindex_\(table)_1 ORDER BY \(columns.dropFirst(3))",
      "INSERT OR IGNORE INTO \(table)(\(columns))")
  }

  /// Returns false if reading stops before the end.
  private func copy(_ select: String, _ insert: String) throws -> Bool {
    guard let rows = try? Statement(select, on: source.handle) else { return false }
    let count = sqlite3_column_count(rows.handle)
    let marks = (1...max(count, 1)).map { "?\($0)" }.joined(separator: ",")
    let row = try Statement("\(insert) VALUES(\(marks))", on: target)
    while true {
      do { guard try rows.step() else { return true } } catch { return false }
      for column in 0..<count { sqlite3_bind_value(row.handle, column + 1, sqlite3_column_value(rows.handle, column)) }
      do { try row.run() } catch let failure as SQLiteFailure where failure.concernsRow {}
    }
  }
}
