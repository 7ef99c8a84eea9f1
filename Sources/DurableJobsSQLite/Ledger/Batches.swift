import DurableJobs
import Foundation

/// Jobs that are counted together.
extension WriteTransaction {
  func batch(_ membership: BatchMembership) throws -> BatchID {
    if case .join(let id) = membership { return id }
    if case .close(let id) = membership {
      try run(.closeBatch, id.rawValue)
      news.touch(id)
      return id
    }
    let (name, whenDone, isOpen) = membership.made!
    let insert = try connection[.insertBatch]
    insert.bind(1, name: name)
    insert.bindNull(2)
    insert.bind(3, isOpen ? openCode : 0)
    if let whenDone { try insert.run(with: JSONEncoder().encode(whenDone), at: 2) } else { try insert.run() }
    let id = BatchID(rawValue: connection.lastInsertedID)
    news.touch(id)
    return id
  }

  func load(_ id: BatchID) throws -> BatchRow? {
    let statement = try connection[.batch]
    statement.bind(1, id.rawValue)
    return try read(statement, id).map(\.row)
  }

  /// A batch goes with the last of its jobs, unless it is open.
  func count(_ tally: BatchTally, of id: BatchID) throws -> BatchRow? {
    let statement = try connection[.tally]
    for (index, number) in [id.rawValue, tally.total, tally.live, tally.succeeded, tally.jobs].enumerated() {
      statement.bind(Int32(index + 1), number)
    }
    let batch = try read(statement, id)
    if tally.jobs < 0, let batch, batch.jobs <= 0 { try run(.deleteBatch, id.rawValue) }
    return batch?.row
  }

  private func read(_ statement: Statement, _ id: BatchID) throws -> (row: BatchRow, jobs: Int64)? {
    var batch: (row: BatchRow, jobs: Int64)?
    while try statement.step() {
      // A completion that can't be read stops no job of the batch.
      let whenDone = statement.data(2).flatMap { try? JSONDecoder().decode(NewJob.self, from: $0) }
      batch = (
        BatchRow(
          id: id, live: statement.int(0), isDone: statement.int(1) == 1, isOpen: statement.int(1) == openCode,
          whenDone: whenDone), statement.int(3)
      )
    }
    return batch
  }
}

/// In the column that is 1 once a batch is done.
private let openCode: Int64 = 2

let batchColumns = "SELECT id,name,total,live,succeeded,done,follower FROM durable_batch"
let batchByIDSQL = "\(batchColumns) WHERE id=?1"
let newestBatchesSQL = "\(batchColumns) ORDER BY id DESC LIMIT ?1"
let batchByNameSQL = "\(batchColumns) WHERE name=?1 ORDER BY id DESC LIMIT 1"

func readBatches(_ query: BatchQuery, on connection: OpaquePointer) throws -> [BatchSnapshot] {
  let rows: Statement
  switch query {
  case .id(let id):
    rows = try Statement(batchByIDSQL, on: connection)
    rows.bind(1, id.rawValue)
  case .name(let name):
    rows = try Statement(batchByNameSQL, on: connection)
    rows.bind(1, name: name)
  case .newest(let limit):
    rows = try Statement(newestBatchesSQL, on: connection)
    rows.bind(1, Int64(limit))
  }
  var batches: [BatchSnapshot] = []
  while try rows.step() {
    batches.append(
      BatchSnapshot(
        id: BatchID(rawValue: rows.int(0)), name: rows.text(1) ?? "", total: rows.count(2), unfinished: rows.count(3),
        succeeded: rows.count(4), isDone: rows.int(5) == 1, isOpen: rows.int(5) == openCode,
        whenDone: rows.intOrNull(6).map(JobID.init(rawValue:))))
  }
  return batches
}
