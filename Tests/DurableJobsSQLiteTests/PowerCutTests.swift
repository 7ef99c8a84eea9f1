import DurableJobs
import DurableJobsTesting
import Foundation
import GRDB
import Testing

@testable import DurableJobsSQLite

/// A disk that loses its power at any moment, of what was not flushed keeps what it likes, and never lies about a flush.
@Suite struct PowerCutTests {
  /// A store with jobs that are stored, claimed, done and cancelled, while its log is taken into its file now and then.
  private func record(synchronous: String) async throws -> DiskRecord {
    let folder = try StoreFolder(inMemory: true)
    let record = DiskRecord(of: folder.path())
    defer { record.end() }
    let store = try folder.store()
    try await store.engine.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous=\(synchronous)") }
    try record.begin()
    for round in 0..<12 {
      let ids = try await store.insert(
        .plain(), .unique("u\(round)"), .plain(payload: String(repeating: "x", count: 9000)))
      for id in ids { record.add(.acknowledged(id, .ready)) }
      let jobs = try await store.claim(.of(2)).jobs
      _ = try await store.settle(jobs.map { $0.settled(.succeeded(output: Data("{}".utf8))) }, thenClaim: nil)
      for job in jobs { record.add(.acknowledged(job.token.job, .succeeded)) }
      _ = try await store.change(.cancel(reason: nil), where: .ids([ids[2]]), after: nil, limit: 1)
      record.add(.acknowledged(ids[2], .cancelled))
      if round % 3 == 2 {
        _ = try await store.engine.pool.writeWithoutTransaction { try $0.checkpoint(round == 5 ? .truncate : .restart) }
      }
    }
    return record
  }

  /// What is missing after cuts all along the record.
  private func losses(_ record: DiskRecord) async throws -> [String] {
    var random = SeededNumbers(seed: 1)
    var losses: [String] = []
    for cut in stride(from: 0, through: record.count, by: max(1, record.count / 80)) {
      for remainder in DiskRecord.Remainder.allCases {
        let image = record.image(after: cut, remainder, &random)
        let folder = try StoreFolder(inMemory: true)
        for (name, bytes) in image.files { try bytes.write(to: URL(fileURLWithPath: folder.path() + name)) }
        let what = "after \(cut) of \(record.count) events, with \(remainder) of what was not flushed"
        do {
          let store = try folder.store()
          let found = try await store.jobs(JobQuery(limit: 1000)).map { ($0.id, $0.state) }
          let states = Dictionary(uniqueKeysWithValues: found)
          for (id, state) in image.acknowledged
          where states[id] == nil || state != .ready && states[id] != state {
            losses.append("\(what): job \(id) is \(states[id].map { "\($0)" } ?? "gone"), and was \(state)")
          }
          losses += try await store.check().map { "\(what): \($0)" }
          await store.close()
        } catch {
          losses.append("\(what): \(error)")
        }
      }
    }
    return losses
  }

  @Test func `Whenever the power is cut, the store opens, is whole and has all that was acknowledged`() async throws {
    #expect(try await losses(record(synchronous: "FULL")) == [])
  }

  @Test(arguments: ["NORMAL", "OFF"])
  func `A store that does not flush its commits is found to lose them`(synchronous: String) async throws {
    #expect(try await losses(record(synchronous: synchronous)) != [])
  }
}
