import DurableJobs
import GRDBSQLite

@testable import DurableJobsSQLite

/// What the writer's held statements did.
struct StatementWork: Sendable, Equatable {
  /// How many times a statement was started.
  var runs = 0
  /// Steps of SQLite's virtual machine.
  var steps = 0
  /// Statements that read a job's row, to make a value of it.
  var rows = 0
  /// Steps through a whole table or index, and sorts.
  var scans = 0
  var sorts = 0
  /// Transactions committed.
  var commits = 0
}

extension WriterConnection {
  /// What was done since the last call, but for what is done once a minute.
  func takeWork() -> StatementWork {
    var work = StatementWork()
    func used(_ name: WriterStatement) -> Statement? {
      statements.indices.contains(name.number) ? statements[name.number] : nil
    }
    let (commit, load, noteTime) = (used(.commit), used(.load), used(.noteTime))
    for statement in statements.compactMap({ $0 }) + pickers where statement !== noteTime {
      func take(_ counter: Int32) -> Int { Int(sqlite3_stmt_status(statement.handle, counter, 1)) }
      let runs = take(SQLITE_STMTSTATUS_RUN)
      work.runs += runs
      if statement === commit { work.commits += runs }
      if statement === load { work.rows += runs }
      work.steps += take(SQLITE_STMTSTATUS_VM_STEP)
      work.scans += take(SQLITE_STMTSTATUS_FULLSCAN_STEP)
      work.sorts += take(SQLITE_STMTSTATUS_SORT)
    }
    return work
  }
}

extension SQLiteStore {
  /// What the writer does for `body`. The reading itself takes a transaction, which is not counted.
  func work<R: Sendable>(_ body: () async throws -> R) async throws -> (StatementWork, R) {
    _ = try await onWriter { $0.connection.takeWork() }
    _ = try await onWriter { $0.connection.takeWork() }
    let result = try await body()
    var work = try await onWriter { $0.connection.takeWork() }
    // The COMMIT of the reading before, and the BEGIN of the reading after.
    work.runs -= 2
    work.commits -= 1
    work.steps -= try await emptyTransactionSteps()
    return (work, result)
  }

  private func emptyTransactionSteps() async throws -> Int {
    _ = try await onWriter { $0.connection.takeWork() }
    return try await onWriter { $0.connection.takeWork().steps }
  }
}
