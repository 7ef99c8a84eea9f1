import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct PatienceTests {
  @Test("What waits in several places waits no longer in all than it was told")
  func sum() {
    let now = Lock(Duration.seconds(7))
    var patience = Patience(.seconds(5), uptime: { now.withLock { $0 } })
    var limits: [Duration] = []
    for wait in [Duration.seconds(1), .zero, .milliseconds(3500), .seconds(9), .seconds(1)] {
      patience.wait { limit in
        limits.append(limit)
        now.withLock { $0 += wait }
      }
    }
    #expect(limits == [.seconds(5), .seconds(4), .seconds(4), .milliseconds(500), .zero])
    #expect(Patience(.seconds(-1)).rest == .zero)
  }

  @Test("As long as a transaction goes on, other processes see that by the turn's file")
  func sign() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    let turn = store.engine.folder.path + "/turn"
    func goesOn() async throws -> Bool {
      try await store.onWriter { transaction in
        let before = FileStat(turn)?.modified
        for _ in 0..<200 where FileStat(turn)?.modified == before {
          let long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 100000) SELECT max(i) FROM n"
          try Statement(long, on: transaction.connection.handle).run()
        }
        return FileStat(turn)?.modified != before
      }
    }
    #expect(try await goesOn())
    await store.close()
  }

  @Test("A write that waited for its turn in vain leaves SQLite none of its patience")
  func turn() async throws {
    let folder = try StoreFolder()
    var configuration = SQLiteStore.Configuration()
    configuration.busyTimeout = .milliseconds(50)
    let store = try SQLiteStore(path: folder.path(), configuration: configuration)
    func busyTimeout() async throws -> Int64 {
      try await store.onWriter { transaction in
        let pragma = try Statement("PRAGMA busy_timeout", on: transaction.connection.handle)
        return try pragma.step() ? pragma.int(0) : -1
      }
    }
    let turn = try WriterLock(folder: store.engine.folder)
    try #require(turn.take(within: .seconds(5)))
    #expect(try await busyTimeout() == 0)
    turn.giveBack()
  }
}
