#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
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

    /// What a claim gets, and how many entries of an index, that of the jobs' lines, the server came to for it.
    private func claim(_ count: Int, index: String = "job_line") throws -> (batch: ClaimBatch, met: Int64) {
      try session.write(until: SystemClock().uptime + .seconds(60)) { transaction in
        transaction.begin()
        func met() throws -> Int64 {
          let met = Lock<Int64>(0)
          transaction.connection.send("SELECT pg_stat_get_xact_tuples_returned('§\(index)'::regclass)") { rows in
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

    @Test("A change by a filter spares a job that does not match any more once who had it locked has committed")
    func changed() async throws {
      let ids = try await insert(3)
      let store = self.store
      @Sendable func change(_ change: JobChange, _ filter: JobFilter, after: JobID? = nil, limit: Int) async throws
        -> ChangeReport
      {
        try await store.change(change, where: filter, after: after, limit: limit)
      }
      _ = try await change(.cancel(reason: nil), .all, limit: 9)
      let (retried, mayCommit) = (Gate(), DispatchSemaphore(value: 0))
      let retry = Task {
        try await store.engine.write { transaction in
          let report = try transaction.change(.retry, [ids[0]], limit: 1)
          try transaction.sync()
          retried.open()
          mayCommit.wait()
          return report
        }
      }
      await retried.pass()
      let removal = Task { try await change(.remove, .state(.cancelled), limit: 2) }
      try await until { try server.waiting(in: database) == 1 }
      mayCommit.signal()
      #expect(try await retry.value.changed == [ids[0]])
      let report = try await removal.value
      #expect(report.changed == [ids[1]] && report.refused == [])
      // It goes on behind what it looked at.
      #expect(report.next == ids[1])
      #expect(try await change(.remove, .state(.cancelled), after: report.next, limit: 2).changed == [ids[2]])
      #expect(try await store.jobs(JobQuery()).map(\.state) == [.ready])
      try WholeStore.expect(of: server, schema: schema, database: database)
    }

    @Test("A claim looks at no more than a thousand that have passed their deadline, however many have")
    func manyOverdue() async throws {
      _ = try await insert(3000, terms: JobTerms(deadline: .end(by: .after(.seconds(1)))))
      clock.advance(by: .seconds(2))
      let first = try claim(1, index: "deadline_pkey")
      // Those that it ends are found once more.
      #expect(first.met <= 2100, "\(first.met)")
      #expect(try await store.counts(where: .all)[.failed] == 1000)
      // And while there are as many, it leaves the line in which they stand alone.
      let other = try await insert(1)
      let second = try claim(1)
      #expect(second.batch.jobs.isEmpty && second.batch.hasMore)
      #expect(second.met <= 100, "\(second.met)")
      var claimed: [JobID] = []
      while claimed.isEmpty { claimed = try claim(1).batch.jobs.map(\.token.job) }
      #expect(claimed == other)
      #expect(try await store.counts(where: .all) == JobCounts([.failed: 3000, .running: 1]))
    }

    @Test("Results of a job that a program keeps locked hold up no renewal, nor does its progress")
    func lockedResult() async throws {
      let store = try await server.store(schema, "dbname=\(database)", clock: clock) {
        ($0.lockPatience, $0.callLimit) = (.milliseconds(50), .seconds(600))
      }
      _ = try await insert(2)
      let held = try await store.claim(.of(2)).jobs
      let renewals = held.map { ClaimRenewal(token: $0.token, progress: JobProgress(fraction: 0.5)) }
      func lease() throws -> String {
        try server.psql("SELECT lease_until FROM worker", schema: schema, database: database)[0][0]
      }
      let first = try lease()
      try await holding("SELECT 1 FROM \"\(schema)\".job WHERE id=\(held[0].token.job.rawValue) FOR UPDATE") {
        let error = await #expect(throws: JobError.self) {
          try await store.settle(held.map { $0.settled() }, thenClaim: .of(1))
        }
        #expect(error?.code == .locked && error?.isPassing == true, "\(error as Any)")
        clock.advance(by: .seconds(10))
        await #expect(throws: JobError.self) {
          try await store.renew(RenewalRequest(worker: WorkerID("w"), renewals: renewals))
        }
        let second = try lease()
        #expect(second > first, "it gave a sign of life all the same")
      }
      #expect(try await store.renew(RenewalRequest(worker: WorkerID("w"), renewals: renewals)) == [.held, .held])
      #expect(
        try await store.settle(held.map { $0.settled() }, thenClaim: nil).replies.map(\.isAccepted) == [true, true])
      await store.close()
    }

    @Test("A sweep whose look for what has expired takes too long does all else, and looks at less the next time")
    func slowLook() async throws {
      let store = try await server.store(schema, "dbname=\(database)", clock: clock) {
        ($0.lockPatience, $0.callLimit) = (.milliseconds(50), .seconds(600))
      }
      _ = try await insert(1, terms: JobTerms(start: .after(.seconds(10))))
      clock.advance(by: .seconds(20))
      // Of what a sweep reads, only that look needs this table.
      try await holding("LOCK TABLE \"\(schema)\".batch") {
        _ = try await WorkerLoop.$isWaiting.withValue(true) { try await store.recover(RecoveryRequest()) }
      }
      #expect(try await store.counts(where: .all) == JobCounts([.ready: 1]))
      #expect(store.engine.pruningRows.withLock(\.self) == PruningPass.mostRows / 2)
      await store.close()
    }

    @Test("A worker that can't read all it would claim in the time of a call claims less", arguments: [false, true])
    func slowClaim(isLimited: Bool) async throws {
      let store = try await server.store(schema, "dbname=\(database)", clock: clock) {
        ($0.lockPatience, $0.callLimit) = (.seconds(600), .seconds(5))
      }
      _ = try await insert(40)
      try await store.configure([.limits(queue: "default", isLimited ? JobLimits(running: 35) : nil)])
      // Whoever claims more than ten waits for what a program has locked.
      try server.delay(.update, ofMoreThan: 10, byLockOf: "note", schema: schema, database: database)
      try await holding("LOCK TABLE \"\(schema)\".note") {
        for _ in 0..<2 { await #expect(throws: JobError.self) { try await store.claim(.of(40)) } }
        let first = try await store.claim(.of(40))
        #expect(first.jobs.count == 10 && first.hasMore && first.full.isEmpty)
      }
      #expect(try await store.claim(.of(40)).jobs.count == 20)
      await store.close()
    }

    @Test("However long it takes to set all waits right after the clock was set back, it is done, and once")
    func setBack() async throws {
      let late = try await insert(2, terms: JobTerms(start: .after(.seconds(3600))))
      func hasty(_ clock: ManualClock) async throws -> PostgresStore {
        try await server.store(schema, "dbname=\(database)", clock: clock) {
          ($0.lockPatience, $0.callLimit) = (.seconds(600), .seconds(1))
        }
      }
      let (store, other) = (try await hasty(clock), try await hasty(ManualClock()))
      clock.stepWallClock(by: .seconds(-1800))
      let counts = try await holding("SELECT 1 FROM \"\(schema)\".job WHERE id=\(late[0].rawValue) FOR UPDATE") {
        let counts = (0..<2).map { _ in Task { try await store.counts(where: .all).total } }
        try await until { try server.waiting(in: database) == 2 }
        // As long as a call may take has gone by after this.
        await #expect(throws: JobError.self) {
          try await other.change(.suspend(reason: nil), where: .id(late[0]), after: nil, limit: 1)
        }
        return counts
      }
      // The second may have waited too long for the first.
      let totals = [await counts[0].result, await counts[1].result].compactMap { try? $0.get() }
      #expect(totals.first == 2)
      let start = clock.now.addingTimeInterval(3600)
      #expect(try await self.store.jobs(JobQuery()).map(\.runAt) == [start, start])
      _ = try await self.store.insert(JobInsertion([.plain()]))
      #expect(try await self.store.jobs(JobQuery(.ids(late))).map(\.runAt) == [start, start])
      for store in [store, other] { await store.close() }
    }

    @Test(
      "C42 Of two set-backs of the clock, of which another process has seen only the first, the second is put right")
    func setBackTwice() async throws {
      let late = try await insert(1, terms: JobTerms(start: .after(.seconds(3600))))
      let theirs = ManualClock()
      let other = try await server.store(schema, "dbname=\(database)", clock: theirs)
      for store in [store, other] { _ = try await store.counts(where: .all) }
      theirs.stepWallClock(by: .seconds(-1800))
      _ = try await other.counts(where: .all)
      clock.stepWallClock(by: .seconds(-3000))
      for _ in 0..<2 {
        let start = clock.now.addingTimeInterval(3600)
        #expect(try await store.jobs(JobQuery(.ids(late))).map(\.runAt) == [start])
      }
      await other.close()
    }

    @Test("Who names jobs does not count all that there are")
    func named() async throws {
      let terms = JobTerms(key: "key", tags: ["tag"])
      let ids = try await insert(1, terms: terms)
      try await holding("LOCK TABLE \"\(schema)\".tally IN ACCESS EXCLUSIVE MODE") {
        for filter in [.id(ids[0]), .key("key"), .tag("tag") && .state(.ready)] as [JobFilter] {
          let jobs = try await store.jobs(JobQuery(filter, detail: .all))
          #expect(jobs.map(\.id) == ids)
        }
      }
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

    private func completing(_ id: JobID) -> String { "SELECT \"\(schema)\".complete(\(id.rawValue))" }

    @Test(
      "A job of a dead worker that a program keeps locked delays none of the others, and comes back once it is free")
    func lockedOfDead() async throws {
      let ids = try await insert(7)
      for worker in ["A", "B"] { _ = try await store.claim(.of(3, worker: worker)) }
      clock.advance(by: Defaults.lease)
      _ = try await store.recover(RecoveryRequest())
      clock.advance(by: Defaults.doubtInterval)
      var recovered = 0
      try await holding(completing(ids[0])) {
        for _ in 0..<9 {
          let report = try await store.recover(RecoveryRequest(limit: 1))
          recovered += report.recovered
          if !report.hasMore { break }
        }
        #expect(recovered == 5)
        #expect(try await store.counts(where: .all) == JobCounts([.ready: 6, .running: 1]))
      }
      #expect(try await store.recover(RecoveryRequest()).recovered == 1)
      #expect(try await store.counts(where: .all) == JobCounts([.ready: 7]))
      #expect(try server.psql("SELECT id FROM worker", schema: schema, database: database) == [])
    }

    @Test("A worker that leaves gives back its jobs but one that a program keeps locked, which comes back later")
    func lockedOfLeaving() async throws {
      let ids = try await insert(3)
      _ = try await store.claim(.of(3))
      let retiring = RecoveryRequest(worker: WorkerID("w"), isRetiring: true)
      try await holding(completing(ids[0])) {
        _ = try await store.recover(retiring)
        #expect(try await store.counts(where: .all) == JobCounts([.ready: 2, .running: 1]))
      }
      _ = try await store.recover(retiring)
      #expect(try await store.counts(where: .all) == JobCounts([.ready: 3]))
    }

    @Test(
      "A job past its retention that is locked, or has a child that is, stays until the next sweep, and nothing else does"
    )
    func lockedExpired() async throws {
      let ids = try await insert(3)
      let child = NewJob.plain("child", after: [JobEdge(.job(ids[1]), .ended)])
      let held = try await store.insert(JobInsertion([child])).ids
      for job in try await store.claim(.of(3)).jobs { _ = try await store.settle([job.settled()], thenClaim: nil) }
      for id in held { _ = try await store.change(.cancel(reason: nil), where: .id(id), after: nil, limit: 1) }
      clock.advance(by: .seconds(90_000))
      let both = (held + ids.prefix(1)).map { "\($0.rawValue)" }.joined(separator: ",")
      try await holding("SELECT 1 FROM \"\(schema)\".job WHERE id IN(\(both)) FOR UPDATE") {
        let report = try await store.recover(RecoveryRequest())
        #expect(report.pruned == 1)
        #expect(try await store.jobs(JobQuery()).map(\.id) == [ids[0], ids[1], held[0]])
      }
      #expect(try await store.recover(RecoveryRequest()).pruned == 3)
      #expect(try await store.check() == [])
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

    @Test("What a unique key is noted for goes with the next who asks for it, once its time is over")
    func idleKeys() async throws {
      let unique = UniqueKey("key", scope: .within(.seconds(60)))
      func add() async throws -> [JobID] { try await insert(1, terms: JobTerms(unique: unique)) }
      var ids: [JobID] = []
      for _ in 0..<5 {
        ids += try await add()
        for job in try await store.claim(.of(1)).jobs { _ = try await store.settle([job.settled()], thenClaim: nil) }
        #expect(try await add() == ids.suffix(1))
        clock.advance(by: .seconds(61))
      }
      #expect(Set(ids).count == 5)
      let rows = try server.psql("SELECT job FROM uniq", schema: schema, database: database)
      #expect(rows == [["\(ids[4].rawValue)"]])
    }
  }
#endif
