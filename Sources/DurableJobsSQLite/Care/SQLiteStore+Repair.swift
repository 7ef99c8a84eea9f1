import DurableJobs
import Foundation
import GRDBSQLite

/// The result of salvaging a damaged store.
public struct StoreSalvage: Hashable, Sendable {
  /// How many jobs are complete in the new store.
  public var jobs = 0
  /// Jobs in the new store of which some part could not be read, as what they do or what they wait for. Unfinished ones
  /// are suspended, with the reason. One whose queue or kind is lost keeps its payload, under a name such as `lost-3`.
  public var damaged: [JobID] = []
  /// Jobs that are not in the new store, since their own rows could not be read, as far as their ids are known.
  public var lost: [JobID] = []
  /// Tables that could not be read to the end.
  public var cutTables: [String] = []
  /// Queues of which only the name could be read. They are paused: whether they were is lost, and so are their limits.
  public var paused: [String] = []
  /// Batches that lost unfinished jobs, or whose jobs can't all be found. They are open, so that nothing follows them
  /// before somebody closes them.
  public var opened: [BatchID] = []
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
    try require(access(damaged, R_OK) == 0, "\(damaged) can't be read: \(SystemError.words())", code: .unusableFile)
    let isNew = access(path, F_OK) != 0
    try require(isNew, "\(path) exists already; give the new store a path of its own", code: .unusableFile)
    try StoreInspection.checkFile(damaged)
    let reader = try? StoreInspection.open(damaged, SQLITE_OPEN_READONLY)
    defer { sqlite3_close_v2(reader) }
    // What is left is read.
    do { try StoreMark.checkLog(of: damaged, on: reader, Defaults.busyTimeout) } catch is SQLiteFailure {}
    let source = try Result { try Salvager.Source(damaged) }.mapError { error in
      let error = JobError(error, path: damaged)
      guard error.code == .damaged, !StoreMark.hasLostBeginning(damaged) else { return error }
      let advice = "It was left as it is; restore a backup, or try `sqlite3 \(damaged) .recover`"
      return JobError(.damaged, "no job can be read in \(damaged): it is damaged all over. \(advice)", cause: error)
    }.get()
    let store = try SQLiteStore(path: path)
    do {
      var salvage = try await store.engine.write(.other) { transaction in
        var salvager = Salvager(source: source, target: transaction.connection.handle)
        try salvager.copyAll()
        try transaction.derive()
        try salvager.hold(transaction)
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
  /// Whether what jobs wait for could be read in no way to its end.
  private(set) var hasLostEdges = false

  final class Source: @unchecked Sendable {  // one transaction alone uses it
    let handle: OpaquePointer

    /// Throws if there is no trace of jobs at `path`, or nothing of it can be read.
    init(_ path: String) throws {
      handle = try StoreInspection.open(path, SQLITE_OPEN_READONLY)
      // Else SQLite refuses all of a file that has lost its end, or one byte of its schema.
      try Statement("PRAGMA writable_schema=ON", on: handle).run()
      func has(_ sql: String) throws -> Bool { try Statement("SELECT 1 FROM \(sql)", on: handle).step() }
      guard try has("pragma_table_info('durable_job')") else {
        let isOne = try has("sqlite_master WHERE name GLOB 'durable_*'")
        throw SQLiteFailure(code: isOne ? SQLITE_CORRUPT : SQLITE_NOTADB, on: nil)
      }
    }

    deinit { sqlite3_close_v2(handle) }
  }

  private func texts(_ sql: String, on handle: OpaquePointer) throws -> [String] {
    try Statement(sql, on: handle).map { $0.text(0) ?? "" }
  }
  private func run(_ sql: String) throws { try Statement(sql, on: target).run() }

  mutating func copyAll() throws {
    let tables = try texts(
      "SELECT name FROM sqlite_master WHERE type='table' AND name LIKE 'durable~_%' ESCAPE '~'", on: target)
    // The old workers are gone, so the jobs that ran under their claims are recovered.
    for table in tables where table != "durable_worker" { try copy(table) }
    try run("UPDATE durable_meta SET version=\(Schema.version)")
    // Claim numbers are never reused. The lowest number has no absolute.
    try run(
      """
      UPDATE sqlite_sequence SET seq=max(seq,ifnull((SELECT max(max(claim,-claim)>>\(ClaimNumber.bits)) FROM durable_job
        WHERE max(claim,-claim)>>\(ClaimNumber.bits)<\(ClaimNumber.highestWorker)),0)) WHERE name='durable_worker'
      """)
  }

  /// Suspends jobs of which a part is lost, pauses queues and opens batches: what can't be known is for somebody to decide.
  mutating func hold(_ transaction: WriteTransaction) throws {
    func ids(_ sql: String) throws -> [JobID] { try Statement(sql, on: target).map { $0.id(0) } }
    let jobs = "FROM durable_job WHERE state<>\(stubCode)"
    let damaged = try Statement(
      """
      SELECT id,min(why),max(state BETWEEN 7 AND 10) FROM(
        SELECT id,'its state, its queue or its kind is none' why,state \(jobs) AND NOT(state BETWEEN 2 AND 10
          AND route IN(SELECT r.id FROM durable_route r JOIN durable_queue q ON q.id=r.queue))
        UNION ALL SELECT id,'what was asked for is missing',state \(jobs) AND id NOT IN(SELECT id FROM durable_spec)
        UNION ALL SELECT id,why,0 FROM(\(StoreCheck.damaged))
        UNION ALL SELECT id,'\(StoreCheck.lostWait)',state \(jobs) AND state BETWEEN 2 AND 6
          AND links&\(Links.parents.rawValue)<>0 AND \(hasLostEdges)
      ) GROUP BY id
      """, on: target
    ).map { (id: $0.id(0), why: $0.text(1) ?? "", hasEnded: $0.int(2) != 0) }
    for job in damaged where !job.hasEnded { try transaction.seize(job.id, because: job.why) }
    salvage.damaged = damaged.map(\.id)
    salvage.jobs = try ids("SELECT id \(jobs)").count - damaged.count
    salvage.lost = try ids("SELECT id FROM durable_spec WHERE id NOT IN(SELECT id FROM durable_job) ORDER BY id")
    salvage.opened = try Statement(
      """
      UPDATE durable_batch AS b SET done=\(openCode) WHERE done=0 AND live>\(StoreCheck.liveMembers) RETURNING id
      """, on: target
    ).map { BatchID(rawValue: $0.int(0)) }
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
    let version = try? Statement("SELECT version FROM durable_meta", on: source.handle).first { $0.int(0) }
    if names.isEmpty, let version, version < Schema.version { return }  // it had none yet
    let order = try texts("SELECT name FROM pragma_table_info('\(table)') WHERE pk>0 ORDER BY pk", on: target)
    if try !names.isEmpty && copy(names, of: table, by: order, "REPLACE INTO \(table)(\(names))") { return }
    salvage.cutTables.append(table)
    // An index has all of an edge, and the names. What else is in a route is counted anew; what of a queue, is a setting.
    guard let (index, order, read, written) = Self.indices[table] else { return }
    let known = Set(try texts("SELECT name FROM durable_queue", on: target))
    let isAll = try copy(
      read, of: "\(table) INDEXED BY \(index)", by: [order], "IGNORE INTO \(table)(\(written ?? read))")
    salvage.paused += try texts("SELECT name FROM durable_queue ORDER BY name", on: target).filter {
      !known.contains($0)
    }
    hasLostEdges = hasLostEdges || !isAll && table.hasPrefix("durable_edge")
  }

  private static let indices: [String: (index: String, order: String, read: String, written: String?)] = [
    "durable_queue": ("sqlite_autoindex_durable_queue_1", "name", "id,name,1", "id,name,paused"),
    "durable_route": ("sqlite_autoindex_durable_route_1", "queue", "id,queue,kind,requires", nil),
    "durable_edge": ("durable_edge_child", "child", "parent,child,need,slot", nil),
    "durable_edge_key": ("durable_edge_key_child", "child", "key,child,need,slot", nil),
  ]

  /// Tries both ends.
  private func copy(_ names: String, of rows: String, by order: [String], _ insert: String) throws -> Bool {
    try ["ASC", "DESC"].contains { direction in
      let terms = order.map { "\($0) \(direction)" }.joined(separator: ",")
      return try copy("SELECT \(names) FROM \(rows) ORDER BY \(terms)", "INSERT OR \(insert)")
    }
  }

  /// Returns false if reading stops before the end, or a row is none.
  private func copy(_ select: String, _ insert: String) throws -> Bool {
    guard let rows = try? Statement(select, on: source.handle) else { return false }
    let count = sqlite3_column_count(rows.handle)
    let marks = (1...max(count, 1)).map { "?\($0)" }.joined(separator: ",")
    let row = try Statement("\(insert) VALUES(\(marks))", on: target)
    var isWhole = true
    while true {
      do { guard try rows.step() else { return isWhole } } catch { return false }
      for column in 0..<count { sqlite3_bind_value(row.handle, column + 1, sqlite3_column_value(rows.handle, column)) }
      do { try row.run() } catch let failure as SQLiteFailure where failure.concernsRow { isWhole = false }
    }
  }
}
