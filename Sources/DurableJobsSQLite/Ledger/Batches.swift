import DurableJobs
import Foundation

/// Counts of jobs in a batch.
extension WriteTransaction {
  func batch(_ membership: BatchMembership) throws -> BatchID {
    if case .join(let id) = membership { return id }
    if case .close(let id) = membership {
      try run(.closeBatch, id.rawValue)
      news.closed(id)
      return id
    }
    let (name, whenDone, isOpen) = membership.made!
    let insert = try connection[.insertBatch].with(name.composed, Int64?.none, isOpen ? openCode : 0)
    if let whenDone { try insert.run(with: JSONEncoder().encode(whenDone), at: 2) } else { try insert.run() }
    let id = BatchID(rawValue: connection.lastInsertedID)
    news.touch(id)
    return id
  }

  func load(_ id: BatchID) throws -> BatchRow? { try read(try connection[.batch].with(id.rawValue), id).map(\.row) }

  func count(_ tally: BatchTally, of id: BatchID) throws -> BatchRow? {
    let statement = try connection[.tally].with(id.rawValue, tally.total, tally.live, tally.succeeded, tally.jobs)
    let batch = try read(statement, id)
    if tally.jobs < 0, let batch, batch.jobs <= 0, batch.row.goesWithItsJobs { try run(.deleteBatch, id.rawValue) }
    return batch?.row
  }

  private func read(_ statement: Statement, _ id: BatchID) throws -> (row: BatchRow, jobs: Int64)? {
    try statement.map { row in
      // An undecodable completion must not block the jobs of the batch.
      let whenDone = row.data(2).flatMap { try? JSONDecoder().decode(NewJob.self, from: $0) }
        .flatMap { job in (try? BatchMembership.new(name: "any", whenDone: job).check()).map { job } }
      let batch = BatchRow(
        id: id, live: row.int(0), isDone: row.int(1) == 1, isOpen: row.int(1) == openCode, whenDone: whenDone)
      return (row: batch, jobs: row.int(3))
    }.last
  }
}

/// The value for open, in the column that is 1 once a batch is done.
let openCode: Int64 = 2

let batchColumns = "SELECT id,name,total,live,succeeded,done,follower FROM durable_batch"
let batchByIDSQL = "\(batchColumns) WHERE id=?1"
let newestBatchesSQL = "\(batchColumns) ORDER BY id DESC LIMIT ?1"
let batchByNameSQL = "\(batchColumns) WHERE name=?1 ORDER BY id DESC LIMIT 1"

func readBatches(_ query: BatchQuery, on connection: OpaquePointer) throws -> [BatchSnapshot] {
  let rows =
    switch query {
    case .id(let id): try Statement(batchByIDSQL, on: connection).with(id.rawValue)
    case .name(let name): try Statement(batchByNameSQL, on: connection).with(name.composed)
    case .newest(let limit): try Statement(newestBatchesSQL, on: connection).with(limit)
    }
  return try rows.map { row in
    BatchSnapshot(
      id: BatchID(rawValue: row.int(0)), name: row.text(1) ?? "", total: row.count(2), unfinished: row.count(3),
      succeeded: row.count(4), isDone: row.int(5) == 1, isOpen: row.int(5) == openCode,
      whenDone: row.intOrNull(6).map(JobID.init(rawValue:)))
  }
}
