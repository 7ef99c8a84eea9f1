import DurableJobs
import Foundation
import GRDBSQLite
import Testing

@testable import DurableJobsSQLite

/// What jobs of megabytes cost those beside them, and who looks at them.
@Suite struct LargeJobTests {
  private static let large = Data(repeating: 7, count: 5_000_000)
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder(inMemory: true)
    store = try folder.store()
  }

  /// Statements of an insertion, a claim and the results of 100 jobs, of which so many are large.
  private func turn(large count: Int) async throws -> [Int] {
    let jobs = (0..<100).map { place in
      NewJob(queue: "default", kind: "work", payload: place < count ? Self.large : Data("{}".utf8))
    }
    let (insertion, _) = try await store.work { try await store.insert(JobInsertion(jobs)) }
    let (claim, batch) = try await store.work { try await store.claim(.of(100)) }
    #expect(batch.jobs.map(\.payload) == jobs.map(\.payload))
    let ends = batch.jobs.map { $0.settled(.succeeded(output: $0.payload)) }
    let (settlement, _) = try await store.work { try await store.settle(ends, thenClaim: nil) }
    let read = try await store.jobs(JobQuery(.ids(batch.jobs.map(\.token.job)), detail: [.payload, .output]))
    #expect(read.map(\.payload) == jobs.map(\.payload) && read.map(\.output) == jobs.map(\.payload))
    return [insertion.runs, claim.runs, settlement.runs]
  }

  @Test func `Small jobs beside large ones cost the statements that they cost alone`() async throws {
    _ = try await turn(large: 0)
    let alone = try await turn(large: 0)
    #expect(try await turn(large: 3) == alone)
  }

  /// Pages that a look reads.
  private func pages(_ detail: JobQuery.Detail, jobs count: Int) async throws -> Int32 {
    try await store.engine.read { connection in
      func misses() -> Int32 {
        var (misses, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_MISS, &misses, &highest, 0)
        return misses
      }
      sqlite3_db_release_memory(connection)
      let before = misses()
      let jobs = try readJobs(JobQuery(detail: detail), now: 0, on: connection)
      #expect(jobs.count == count)
      return misses() - before
    }
  }

  @Test func `A list reads nothing of payloads and outputs that nobody asked for`() async throws {
    let new = (0..<3).map { _ in NewJob(queue: "default", kind: "work", payload: Self.large) }
    _ = try await store.insert(JobInsertion(new))
    let batch = try await store.claim(.of(3))
    _ = try await store.settle(batch.jobs.map { $0.settled(.succeeded(output: Self.large)) }, thenClaim: nil)
    let list = try await pages([], jobs: 3)
    #expect(list < 60, "\(list) pages")
    #expect(try await pages(.payload, jobs: 3) > 3_000)
    #expect(try await pages(.output, jobs: 3) > 3_000)
  }
}
