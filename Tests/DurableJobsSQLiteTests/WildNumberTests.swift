import DurableJobs
import DurableJobsTesting
import Foundation
import GRDBSQLite
import Testing

@testable import DurableJobsSQLite

/// Numbers that concern more than one job, and can't be right.
@Suite struct WildNumberTests {
  let folder: StoreFolder
  let clock = ManualClock()
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store(clock: clock)
  }

  @Test(
    "Numbers of a route that can't be right are counted anew",
    arguments: ["jobs", "scheduled", "suspended", "succeeded"])
  func counts(column: String) async throws {
    try await store.insert(.plain(), .plain(terms: JobTerms(start: .after(.seconds(9)))), .plain(), .plain())
    let job = try await store.claim(.of(1)).jobs[0]
    _ = try await store.settle([job.settled()], thenClaim: nil)
    _ = try await store.change(.suspend(reason: nil), where: .id(JobID(rawValue: 3)), after: nil, limit: 1)
    for value in ["9223372036854775807", "-9223372036854775808", "-1e300", "'many'", "x'ff'"] {
      try await store.execute("UPDATE durable_route SET \(column)=\(value)")
      _ = try await store.counts(where: .all)
      _ = try await store.recover(RecoveryRequest())
      #expect(
        try await store.counts(where: .all) == JobCounts([.ready: 1, .scheduled: 1, .suspended: 1, .succeeded: 1]))
    }
  }

  @Test func `Jobs in a state are found though the numbers say that there are none`() async throws {
    let ids = try await store.insert(.plain(), .plain())
    try await store.execute("UPDATE durable_route SET jobs=0")
    #expect(try await store.jobs(JobQuery(.state(.ready))).map(\.id) == ids)
  }

  @Test(
    "C7 A failure is remembered whatever number the one before it has",
    arguments: ["9223372036854775807", "-9223372036854775808", "1e300", "'x'", "x'01'"])
  func failureNumber(number: String) async throws {
    let id = try await store.insert(.plain())[0]
    for attempt in 1...9 {
      let job = try await store.claim(.of(1)).jobs[0]
      let result = ClaimSettlement.Result.retry(.now, message: "\(attempt)")
      #expect(try await store.settle([job.settled(result)], thenClaim: nil).replies[0].isAccepted)
      if attempt == 1 { try await store.execute("UPDATE durable_failure SET number=\(number)") }
    }
    let messages = try #require(await store.job(id)).failures.map(\.message)
    #expect(messages.contains("9"))
    #expect(messages.count <= Limits.failuresKept)
  }

  @Test func `C7 A worker gets a number for its claims though the highest of all is taken`() async throws {
    try await store.insert(.plain(), .plain())
    _ = try await store.claim(.of(1, worker: "a"))
    try await store.execute("UPDATE durable_worker SET id=9223372036854775807")
    let job = try await store.claim(.of(1, worker: "b")).jobs[0]
    #expect(try await store.settle([job.settled()], thenClaim: nil).replies[0].isAccepted)
    try await store.execute("UPDATE sqlite_sequence SET seq=1099511627776")
    _ = try await store.recover(RecoveryRequest())
    let other = try await store.claim(.of(1, worker: "c")).jobs[0]
    #expect(try await store.settle([other.settled()], thenClaim: nil).replies[0].isAccepted)
  }

  @Test(
    "A number at its end is followed by another", arguments: ["9223372036854775807", "-9223372036854775808", "'x'"])
  func ends(value: String) async throws {
    let later = JobTerms(start: .after(.seconds(600)))
    let id = try await store.insert(.plain(terms: later), .plain())[0]
    let job = try await store.claim(.of(1)).jobs[0]
    try await store.execute("UPDATE durable_meta SET epoch=\(value),changes=\(value)")
    try await store.execute("UPDATE durable_worker SET asked=\(value),lease_until=\(value)")
    _ = try await store.claim(.of(1))
    _ = try await store.change(.cancel(reason: nil), where: .id(job.token.job), after: nil, limit: 1)
    let renewal = RenewalRequest(worker: "w", renewals: [ClaimRenewal(token: job.token)])
    #expect(try await store.renew(renewal) == [.stopRequested(.cancelled)])
    clock.stepWallClock(by: .seconds(-3600))
    _ = try await store.recover(RecoveryRequest())
    clock.stepWallClock(by: .seconds(-3600))
    _ = try await store.recover(RecoveryRequest())
    #expect(try await store.job(id)?.state == .scheduled)
  }

  @Test("A store opens whatever its newest job says of the time", arguments: ["-9223372036854775808", "1e300", "'x'"])
  func newestTime(value: String) async throws {
    let id = try await store.insert(.plain(terms: JobTerms(start: .after(.seconds(600)))))[0]
    try await store.execute("UPDATE durable_spec SET created_at=\(value)")
    await store.close()
    let again = try folder.store(clock: clock)
    _ = try await again.recover(RecoveryRequest())
    #expect(try await again.job(id)?.state == .scheduled)
  }

  @Test(
    "Whatever a deadline's row says, recovery goes on",
    arguments: ["at=-9223372036854775807", "at=-1e300", "at='x'", "at=x'ff'", "at=9223372036854775807", "at=0,job='x'"])
  func deadline(value: String) async throws {
    try await store.insert(.plain(terms: JobTerms(deadline: .end(by: .after(.seconds(60))))), .plain())
    try await store.execute("UPDATE durable_deadline SET \(value)")
    for _ in 1...2 { _ = try await store.recover(RecoveryRequest()) }
    let report = try await store.recover(RecoveryRequest())
    #expect(!report.hasMore && report.comeAgain == nil)
    let last = try #require(await store.claim(.of(9)).jobs.last)
    #expect(try await store.settle([last.settled()], thenClaim: nil).replies[0].isAccepted)
  }

  @Test(
    "A lane's rate counts an attempt whenever it says that it began",
    arguments: ["-9223372036854775808", "9223372036854775807", "-1e300", "'x'"])
  func pace(value: String) async throws {
    try await store.configure([.laneRate("l", JobRate(1, per: .seconds(1)))])
    try await store.insert(.plain(terms: JobTerms(lane: "l")), .plain(terms: JobTerms(lane: "l")))
    let job = try await store.claim(.of(1)).jobs[0]
    try await store.execute("UPDATE durable_job SET entered_at=\(value)")
    #expect(try await store.settle([job.settled()], thenClaim: nil).replies[0].isAccepted)
    clock.advance(by: .seconds(1))
    #expect(try await store.claim(.of(1)).jobs.count == 1)
  }

  @Test(
    "A new batch is done, and followed, whatever another is like",
    arguments: [
      "id=9223372036854775807", "completion='x'", "jobs=9,empty_at=0,done=1", "live=9223372036854775807,total='x'",
      #"completion='{"queue":"q","kind":"k","payload":"","terms":{},"edges":[]}'"#,
    ])
  func batches(value: String) async throws {
    _ = try await store.insert(JobInsertion([.plain()], batch: .new(name: "a", whenDone: .plain())))
    try await store.execute("UPDATE durable_batch SET \(value)")
    let id = try #require(
      await store.insert(JobInsertion([.plain()], batch: .new(name: "b", whenDone: .plain()))).batch)
    clock.advance(by: .seconds(60 * 86400))
    #expect(try await store.recover(RecoveryRequest(limit: 1)).hasMore == false)
    let jobs = try await store.claim(.of(2)).jobs
    #expect(try await store.settle(jobs.map { $0.settled() }, thenClaim: nil).replies.allSatisfy(\.isAccepted))
    #expect(try #require(await store.batches(.id(id)).first).whenDone != nil)
  }

  @Test func `To look for damage costs as little among many jobs as among few`() async throws {
    func steps(_ count: Int) async throws -> [Int32] {
      let folder = try StoreFolder()
      let store = try folder.store()
      try await store.insert(.plain(), .plain("other"))
      try await store.execute(
        """
        WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i+1 FROM n LIMIT \(count))
        INSERT INTO durable_job(id,route,state,rank,priority,links,attempt,claim,run_at,entered_at,started_at)
        SELECT i,1+i%2,2+i%9,9000,0,0,0,1099511627776,NULL,1,1 FROM n WHERE i%9<>3
        """)
      return try await store.engine.read { connection in
        try [Damage.rowsSQL, Damage.pairsSQL].map { sql in
          let statement = try Statement(sql, on: connection)
          statement.bind(1, Int64(10))
          try statement.run()
          return sqlite3_stmt_status(statement.handle, SQLITE_STMTSTATUS_VM_STEP, 0)
        }
      }
    }
    let (few, many) = (try await steps(1_000), try await steps(50_000))
    #expect(few.allSatisfy { $0 > 100 })
    #expect(many == few)
  }
}
