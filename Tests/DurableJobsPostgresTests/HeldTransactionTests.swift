#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import Testing

  @testable import DurableJobsPostgres

  /// While a transaction stands open, the server keeps what it may see, and who it has locked.
  @Suite struct HeldTransactionTests {
    private let server: TestServer
    private let database: String
    private let schema = TestServer.schema()
    private let clock = ManualClock()
    private let store: PostgresStore
    private let session: Session

    init() async throws {
      server = try TestServer.shared.get()
      database = try server.database()
      store = try await server.store(schema, "dbname=\(database)", clock: clock)
      session = Session(engine: store.engine, number: 7)
    }

    private func holding<R>(_ sql: String, _ body: () async throws -> R) async throws -> R {
      try await server.holding(sql, database: database, body)
    }

    private func insert(_ count: Int, terms: JobTerms = JobTerms()) async throws -> [JobID] {
      try await store.insert(JobInsertion((0..<count).map { _ in .plain(terms: terms) })).ids
    }

    /// What a claim gets, and how many entries of the jobs' index the server came to for it.
    private func claim(_ count: Int) throws -> (batch: ClaimBatch, met: Int64) {
      try session.write(until: SystemClock().uptime + .seconds(60)) { transaction in
        transaction.begin()
        func met() throws -> Int64 {
          let met = Lock<Int64>(0)
          transaction.connection.send("SELECT pg_stat_get_xact_tuples_returned('§job_line'::regclass)") { rows in
            met.withLock { $0 = rows.int(0, 0) }
          }
          try transaction.sync()
          return met.withLock { $0 }
        }
        let before = try met()
        let batch = try transaction.claim(.of(count))
        return (batch, try met() - before)
      }
    }

    /// Does so many times a hundred jobs, and gives how many entries each claim met.
    private func work(_ turns: Int) async throws -> [Int64] {
      var met: [Int64] = []
      for _ in 0..<turns {
        let claim = try claim(100)
        #expect(claim.batch.jobs.count == 100)
        _ = try await store.settle(claim.batch.jobs.map { $0.settled() }, thenClaim: nil)
        met.append(claim.met)
      }
      return met
    }

    @Test("C79 However many jobs are done while a transaction stands open, a claim passes over few of them")
    func flat() async throws {
      _ = try await insert(5000)
      let met = try await holding("SELECT pg_current_xact_id()") { try await work(40) }
      #expect(met.max() ?? 0 <= LineStarts.bearable + 400, "\(met)")
      #expect(met.suffix(20).allSatisfy { $0 <= 2 * met[0] }, "\(met)")
    }

    @Test("C79 However small claims are while a transaction stands open, they seldom pass over all that was done")
    func small() async throws {
      _ = try await insert(10_500)
      let met = try await holding("SELECT pg_current_xact_id()") {
        _ = try await work(100)
        var met: [Int64] = []
        // Seventy-five times a second.
        for _ in 0..<200 {
          let claim = try claim(2)
          #expect(claim.batch.jobs.count == 2)
          _ = try await store.settle(claim.batch.jobs.map { $0.settled() }, thenClaim: nil)
          met.append(claim.met)
          clock.advance(by: .milliseconds(13))
        }
        return met
      }
      // It looks from the start all the same, and passes over 10,000 each time.
      #expect((2...8).contains(met.count { $0 > 10_000 }), "\(met)")
      #expect(met.reduce(0, +) / Int64(met.count) <= 800, "\(met)")
    }

    @Test("C79 However many jobs came due while a transaction stands open, most claims pass over few of them")
    func due() async throws {
      let step = Duration.milliseconds(10)
      let met = try await holding("SELECT pg_current_xact_id()") {
        var met: [Int64] = []
        for _ in 0..<60 {
          _ = try await insert(100, terms: JobTerms(start: .after(step / 2)))
          clock.advance(by: step)
          met += try await work(1)
        }
        return met
      }
      // It is whole from time to time.
      #expect(met.suffix(20).count { $0 <= LineStarts.bearable + 400 } >= 14, "\(met)")
    }

    @Test("What came due too early for where claims begin is had after a pause")
    func dueBefore() async throws {
      try await holding("SELECT pg_current_xact_id()") {
        for _ in 0..<15 {
          _ = try await insert(100, terms: JobTerms(start: .after(.milliseconds(5))))
          clock.advance(by: .milliseconds(10))
          _ = try await work(1)
        }
        // As one whose transaction was long.
        let late = try await insert(1, terms: JobTerms(start: .after(.milliseconds(1))))
        try server.psql("UPDATE job SET rank=rank-100 WHERE id=\(late[0].rawValue)", schema: schema, database: database)
        clock.advance(by: .milliseconds(2))
        let batch = try claim(10).batch
        #expect(batch.jobs.isEmpty)
        let pause = try #require(batch.nextDue)
        #expect(pause <= .seconds(5))
        clock.advance(by: pause)
        #expect(try claim(10).batch.jobs.map(\.token.job) == late)
      }
    }

    @Test("C79 However many jobs of a limited queue are done, a claim that finds it full passes over few of them")
    func full() async throws {
      try await store.configure([.limits(queue: "default", JobLimits(running: 100))])
      _ = try await insert(4300)
      try await holding("SELECT pg_current_xact_id()") {
        _ = try await work(40)
        #expect(try claim(100).batch.jobs.count == 100)
        let full = try claim(1)
        #expect(full.batch.jobs.isEmpty && full.batch.full == ["default"])
        #expect(full.met <= 2000, "\(full.met)")
      }
    }

    @Test("What comes to stand before where claims begin is had after a pause, and what is more urgent at once")
    func before() async throws {
      _ = try await insert(3000)
      let old = try #require(try claim(1).batch.jobs.first)
      try await holding("SELECT pg_current_xact_id()") {
        _ = try await work(20)
        _ = try await store.settle([old.settled(.interrupted)], thenClaim: nil)
        let urgent = try await insert(1, terms: JobTerms(priority: .high))
        let rest = try claim(5000)
        #expect(rest.batch.jobs.first?.token.job == urgent[0])
        #expect(rest.batch.jobs.count == 1000)
        let pause = try #require(rest.batch.nextDue)
        #expect(pause <= .seconds(5))
        #expect(try claim(10).batch.jobs.isEmpty)
        clock.advance(by: pause)
        let last = try claim(10)
        #expect(last.batch.jobs.map(\.token.job) == [old.token.job])
        // All has been looked at: nothing is to be come for again.
        #expect(last.batch.nextDue == nil)
      }
    }

    @Test("When it has ended and all is cleared away, claims begin at the start again")
    func after() async throws {
      _ = try await insert(3000)
      let old = try #require(try claim(1).batch.jobs.first)
      try await holding("SELECT pg_current_xact_id()") { _ = try await work(20) }
      try server.psql("VACUUM job", schema: schema, database: database)
      clock.advance(by: .seconds(5))
      _ = try await work(1)
      _ = try await store.settle([old.settled(.interrupted)], thenClaim: nil)
      #expect(try claim(1).batch.jobs.map(\.token.job) == [old.token.job])
    }

    @Test("Jobs that somebody keeps locked are asked for again after a while, and not at once")
    func locked() async throws {
      let ready = try await insert(1)
      try await holding("SELECT 1 FROM \"\(schema)\".job FOR UPDATE") {
        let batch = try await store.claim(.of(2))
        #expect(batch.jobs.isEmpty && !batch.hasMore)
        #expect(batch.nextDue ?? .zero > .zero)
      }
      #expect(try await store.claim(.of(2)).jobs.map(\.token.job) == ready)
      let due = try await insert(1, terms: JobTerms(start: .after(.seconds(1))))
      clock.advance(by: .seconds(2))
      try await holding("SELECT 1 FROM \"\(schema)\".job FOR UPDATE") {
        let batch = try await store.claim(.of(2))
        #expect(batch.jobs.isEmpty && !batch.hasMore)
        #expect(batch.nextDue ?? .zero > .zero)
      }
      #expect(try await store.claim(.of(2)).jobs.map(\.token.job) == due)
    }

    @Test("One whose deadline has passed, and that somebody keeps locked, stops neither claims nor recovery")
    func overdue() async throws {
      let late = try await insert(1, terms: JobTerms(deadline: .end(by: .after(.seconds(1)))))
      let other = try await insert(1)
      clock.advance(by: .seconds(2))
      try await holding("SELECT 1 FROM \"\(schema)\".job WHERE id=\(late[0].rawValue) FOR UPDATE") {
        #expect(try await store.claim(.of(2)).jobs.map(\.token.job) == other)
        let report = try await store.recover(RecoveryRequest())
        #expect(report.overdue == 0)
      }
      let report = try await store.recover(RecoveryRequest())
      #expect(report.overdue == 1)
      #expect(try await store.counts(where: .id(late[0]))[.failed] == 1)
    }
  }
#endif
