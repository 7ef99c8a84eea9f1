import DurableJobs
import Foundation
import GRDBSQLite

/// The result of salvaging a damaged store.
public struct StoreSalvage: Hashable, Sendable {
  /// How many jobs are complete in the new store.
  public var jobs = 0
  /// Jobs of which some part can't be read, as far as their ids are known. If a job's own row was readable, it is in
  /// the new store, and is suspended with the reason once a worker claims it.
  public var damaged: [JobID] = []
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
  /// Throws `JobError.Code.unusableFile` if there is a file at `to` or none at `from`, `JobError.Code.notAStore` if
  /// that has no trace of jobs, and else what opening a store throws; delete an incomplete new file in that case.
  public static func repair(from damaged: String, to path: String) async throws -> StoreSalvage {
    guard access(damaged, R_OK) == 0, access(path, F_OK) != 0 else {
      throw JobError(
        .unusableFile, "\(damaged) must be a file that can be read, and nothing may be at \(path) yet: it is made anew")
    }
    let store = try SQLiteStore(path: path)
    do {
      var salvage = try await store.engine.write(.other) { transaction in
        var salvager = try Salvager(from: damaged, to: transaction.connection.handle)
        try salvager.copyAll()
        transaction.memory.routes.forget()
        return salvager.salvage
      }
      salvage.mended = try await store.check(mending: true)
      salvage.jobs = try await store.counts(where: .all).total - salvage.damaged.count
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
  private let source: Source
  private let target: OpaquePointer
  private(set) var salvage = StoreSalvage()

  /// A read-only connection.
  private final class Source {
    private(set) var handle: OpaquePointer?

    init(_ path: String) throws {
      let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, nil)
      guard code == SQLITE_OK else { throw SQLiteFailure(code: code, on: handle) }
    }

    deinit { sqlite3_close_v2(handle) }
  }

  init(from path: String, to target: OpaquePointer) throws {
    source = try Source(path)
    self.target = target
  }

  private func texts(_ sql: String, on handle: OpaquePointer?) throws -> [String] {
    guard let handle else { return [] }
    return try Statement(sql, on: handle).map { $0.text(0) ?? "" }
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
    let halves = """
      SELECT id FROM durable_job WHERE state<>\(stubCode) AND id NOT IN(SELECT id FROM durable_spec)
      UNION SELECT id FROM durable_spec WHERE id NOT IN(SELECT id FROM durable_job) ORDER BY 1
      """
    salvage.damaged = try texts(halves, on: target).compactMap { JobID($0) }
  }

  private mutating func copy(_ table: String) throws {
    let columns = "SELECT name FROM pragma_table_info('\(table)')"
    let theirs = Set(try texts(columns, on: source.handle))
    let names = try texts(columns, on: target).filter(theirs.contains).joined(separator: ",")
    guard !names.isEmpty else {
      if table == "durable_job" { throw SQLiteFailure(code: SQLITE_NOTADB, on: nil) }
      return
    }
    let order = try texts("SELECT name FROM pragma_table_info('\(table)') WHERE pk>0 ORDER BY pk", on: target)
    for direction in ["ASC", "DESC"] {
      let terms = order.map { "\($0) \(direction)" }.joined(separator: ",")
      if try copy("SELECT \(names) FROM \(table) ORDER BY \(terms)", "INSERT OR REPLACE INTO \(table)(\(names))") {
        return
      }
    }
    salvage.cutTables.append(table)
  }

  /// Returns false if reading stops before the end.
  private func copy(_ select: String, _ insert: String) throws -> Bool {
    guard let handle = source.handle, let rows = try? Statement(select, on: handle) else { return false }
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
