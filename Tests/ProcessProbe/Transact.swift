import DurableJobs
import DurableJobsSQLite
import Foundation
import GRDB

/// An app with a table of its own beside the store: it writes a row and a job, or a row and a job's end, in one transaction.
///
///     write N      says `written N` within the transaction, commits when it is told anything, and says `committed N`
///     complete     runs a job whose handler does so with its end: `written ID`, `committed ID`
///     flood        writes 1, 2, 3 … and says `committed N` for each
func transact(databasePath: String) async throws {
  let pool = try DatabasePool(path: databasePath)
  try await pool.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS deed(id INTEGER PRIMARY KEY)") }
  let queue = JobQueue(store: try SQLiteStore(pool: pool))
  struct Deed: JobPayload {
    static let kind = "deed"
  }
  @Sendable func deed(_ id: Int64, _ db: Database) throws {
    try db.execute(sql: "INSERT INTO deed VALUES(?)", arguments: [id])
  }
  @Sendable func write(_ id: Int64, _ last: () -> Void) throws {
    try pool.writeInTransaction { db in
      try deed(id, db)
      try queue.enqueue(Deed(), options: JobOptions(key: "\(id)"), in: db)
      last()
      return .commit
    }
    say("committed", id)
  }
  let worker = JobWorker(queue)
  worker.register(Deed.self) { _, context in
    try await pool.write { db in
      try deed(context.id.rawValue, db)
      try context.complete(in: db)
      say("written", context.id)
      _ = listen()
    }
    say("committed", context.id)
    _ = listen()
  }
  while let words = listen() {
    switch words.first {
    case "write":
      try write(Int64(words[1])!) {
        say("written", words[1])
        _ = listen()
      }
    case "complete": try await worker.runUntilIdle()
    case "flood": for id in 1... { try write(Int64(id)) {} }
    default: break
    }
  }
}
