import GRDBSQLite

/// The writer's connection with its prepared statements. Only used on the writer's thread, inside GRDB's write access.
final class WriterConnection {
  let handle: OpaquePointer
  /// Those that were used, by their numbers.
  @exclusivity(unchecked) private(set) var statements: [Statement?] = []
  private(set) var pickers: [Statement] = []

  init(handle: OpaquePointer) { self.handle = handle }

  subscript(_ name: WriterStatement) -> Statement {
    get throws {
      while statements.count <= name.number { statements.append(nil) }
      if let statement = statements[name.number] { return statement }
      let statement = try Statement(name.sql, on: handle, isHeld: true)
      statements[name.number] = statement
      return statement
    }
  }

  /// The statement with this index, from 0, for reading the ready jobs of a route.
  func picker(_ number: Int) throws -> Statement {
    while pickers.count <= number { pickers.append(try Statement(WriterStatement.pick, on: handle, isHeld: true)) }
    return pickers[number]
  }

  var lastInsertedID: Int64 { sqlite3_last_insert_rowid(handle) }

  /// False once SQLite has rolled back by itself.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Releases all statements so that the connection can be closed.
  func finish() {
    statements = []
    pickers = []
  }
}
