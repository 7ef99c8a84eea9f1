#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  /// What somebody keeps locked, or can't be written in the time of a call, keeps nobody from all else.
  @Suite struct LockedRowTests {
    private let server: TestServer
    private let schema = TestServer.schema()
    private let clock = ManualClock()
    private let store: PostgresStore

    init() async throws {
      server = try TestServer.shared.get()
      store = try await server.store(schema, clock: clock) {
        ($0.lockPatience, $0.callLimit) = (.milliseconds(50), .seconds(600))
      }
    }

    private func holding<R>(_ sql: String, _ body: () async throws -> R) async throws -> R {
      try await server.holding("SET search_path=\"\(schema)\"; \(sql)", database: "postgres", body)
    }

    private func insert(_ count: Int, terms: JobTerms = JobTerms(), after edges: [JobEdge] = []) async throws
      -> [JobID]
    {
      try await store.insert(JobInsertion((0..<count).map { _ in .plain(terms: terms, after: edges) })).ids
    }

    /// What workers held whose leases have lapsed, and who were asked, and did not answer.
    private func die(_ workers: [String]) async throws -> [JobID] {
      _ = try await insert(workers.count)
      var held: [JobID] = []
      for worker in workers { held += try await store.claim(.of(1, worker: worker)).jobs.map(\.token.job) }
      clock.advance(by: Defaults.lease)
      _ = try await store.recover(RecoveryRequest())
      clock.advance(by: Defaults.doubtInterval)
      return held
    }

    @Test("A worker's row that is locked keeps no sweep from bringing back the jobs of others")
    func worker() async throws {
      let held = try await die(["a", "b"])
      try await holding("SELECT 1 FROM worker WHERE name='a' FOR UPDATE") {
        let report = try await store.recover(RecoveryRequest())
        #expect(report.recovered == 1)
        #expect(try await store.jobs(JobQuery(.state(.ready) || .state(.scheduled))).map(\.id) == [held[1]])
      }
      #expect(try await store.recover(RecoveryRequest()).recovered == 1)
      #expect(try server.psql("SELECT id FROM worker", schema: schema) == [])
    }

    private func step(_ name: String, of job: ClaimedJob) -> RenewalRequest {
      let renewal = ClaimRenewal(token: job.token, steps: [name: Data()])
      return RenewalRequest(worker: WorkerID("w"), renewals: [renewal], isPartial: true)
    }

    @Test("A step that waits for its job, which somebody keeps locked, keeps nothing else of its worker waiting")
    func step() async throws {
      _ = try await insert(3)
      let held = try await store.claim(.of(2)).jobs
      let steps = try await holding("SELECT 1 FROM job WHERE id=\(held[0].token.job) FOR UPDATE") {
        let request = step("a", of: held[0])
        let steps = Task { [store] in
          try await store.engine.run { session, deadline in try session.write(until: deadline) { try $0.renew(request) }
          }
        }
        let waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type='Lock' AND query LIKE '%\(schema)%'"
        try await until { try server.psql(waiting).count == 1 }
        let batch = try await store.settle([held[1].settled()], thenClaim: .of(1))
        #expect(batch.replies.map(\.isAccepted) == [true] && batch.claimed?.jobs.count == 1)
        let all = ([held[0]] + (batch.claimed?.jobs ?? [])).map { ClaimRenewal(token: $0.token) }
        #expect(try await store.renew(RenewalRequest(worker: WorkerID("w"), renewals: all)) == [.held, .held])
        return steps
      }
      #expect(try await steps.value == [.held])
      #expect(try server.psql("SELECT job,name FROM step", schema: schema) == [["\(held[0].token.job)", "a"]])
    }

    @Test("A step leaves its worker's row as it is while two thirds of the lease are left, and then renews that")
    func stepAndLease() async throws {
      _ = try await insert(1)
      let job = try #require(try await store.claim(.of(1)).jobs.first)
      func row() throws -> [[String]] { try server.psql("SELECT xmin,lease_until FROM worker", schema: schema) }
      let before = try row()
      clock.advance(by: Defaults.lease / 3)
      #expect(try await store.renew(step("a", of: job)) == [.held])
      #expect(try row() == before)
      clock.advance(by: .milliseconds(1))
      #expect(try await store.renew(step("b", of: job)) == [.held])
      let until = clock.now.addingTimeInterval(Defaults.lease.seconds).milliseconds
      #expect(try row().map { $0[1] } == ["\(until)"])
      #expect(try server.psql("SELECT name FROM step ORDER BY name", schema: schema) == [["a"], ["b"]])
    }

    @Test("A limited queue whose row somebody keeps locked costs its workers one call, and no other queue")
    func limited() async throws {
      try await store.configure([.limits(queue: "default", JobLimits(running: 5))])
      let limited = try await insert(1)
      let free = try await store.insert(JobInsertion([NewJob(queue: "free", kind: "work", payload: Data())])).ids
      let request = ClaimRequest(worker: WorkerID("w"), kinds: ["work"], free: ["default": 1, "free": 1])
      try await holding("SELECT 1 FROM queue WHERE name='default' FOR UPDATE") {
        await #expect(throws: JobError.self) { try await store.claim(request) }
        let batch = try await store.claim(request)
        #expect(batch.jobs.map(\.token.job) == free)
        // It is asked for again soon, and not at once.
        #expect(!batch.hasMore && batch.full == [])
        #expect(Duration.milliseconds(25)...Duration.milliseconds(75) ~= batch.nextDue ?? .zero)
      }
      #expect(try await store.claim(request).jobs.map(\.token.job) == limited)
      #expect(store.engine.context.heldQueues.value == [])
    }

    @Test("After the clock was set back, a job that somebody keeps locked is left alone, and all others are put right")
    func setBack() async throws {
      let late = try await insert(3, terms: JobTerms(start: .after(.seconds(3600))))
      let before = clock.now.addingTimeInterval(3600)
      clock.stepWallClock(by: .seconds(-1800))
      let after = clock.now.addingTimeInterval(3600)
      let lock =
        "SET idle_in_transaction_session_timeout='20s'; SELECT 1 FROM job WHERE id=\(late[1].rawValue) FOR UPDATE"
      try await holding(lock) {
        let counts = try await store.counts(where: .all)
        #expect(counts[.scheduled] == 3)
        #expect(try await store.jobs(JobQuery()).map(\.runAt) == [after, before, after])
      }
      // It is once that all are put right.
      #expect(try await store.jobs(JobQuery()).map(\.runAt) == [after, before, after])
    }

    @Test("What has expired and can't be deleted in time delays nothing else, and fewer are deleted at once")
    func expired() async throws {
      let old = try await insert(8)
      _ = try await store.change(.cancel(reason: nil), where: .ids(Set(old)), after: nil, limit: 9)
      clock.advance(by: .seconds(700_000))
      // Whoever deletes more than two waits for what a program has locked.
      try server.psql("CREATE TABLE slow()", schema: schema)
      try server.delay(.delete, ofMoreThan: 2, byLockOf: "slow", schema: schema)
      try await holding("LOCK TABLE slow") {
        _ = try await die(["a"])
        let first = try await store.recover(RecoveryRequest(limit: 8))
        #expect(first.recovered == 1 && first.pruned == 0)
        var pruned: [Int] = []
        while pruned.reduce(0, +) < 8 { pruned.append(try await store.recover(RecoveryRequest(limit: 8)).pruned) }
        #expect(pruned.max() == 2)
      }
      #expect(try await store.check() == [])
    }

    @Test("What has expired is deleted while somebody makes a kind known, and what no job requires any more goes later")
    func requirement() async throws {
      func expire(_ name: String) async throws {
        let old = try await insert(1, terms: JobTerms(requires: [JobConstraint(rawValue: name)]))
        _ = try await store.change(.cancel(reason: nil), where: .ids(Set(old)), after: nil, limit: 1)
        clock.advance(by: .seconds(700_000))
      }
      func routes() throws -> Int { try server.psql("SELECT 1 FROM route WHERE requires<>''", schema: schema).count }
      try await expire("a")
      try await holding("SELECT 1 FROM meta FOR UPDATE") {
        let report = try await store.recover(RecoveryRequest())
        #expect(report.pruned == 1)
      }
      #expect(try routes() == 1)
      try await expire("b")
      #expect(try await store.recover(RecoveryRequest()).pruned == 1)
      #expect(try routes() == 0)
      #expect(try await store.check() == [])
    }

    @Test("A child that succeeded keeps no parent, and is not waited for, nor looked at, when that is deleted")
    func succeededChild() async throws {
      let parent = try await insert(1)
      let child = try await insert(1, after: [JobEdge(.job(parent[0]))])
      for _ in 0..<2 {
        let jobs = try await store.claim(.of(1)).jobs
        _ = try await store.settle(jobs.map { $0.settled() }, thenClaim: nil)
      }
      clock.advance(by: .seconds(90_000))
      try await holding("SELECT 1 FROM job WHERE id=\(child[0].rawValue) FOR UPDATE") {
        let report = try await store.recover(RecoveryRequest())
        #expect(report.pruned == 1)
      }
      #expect(try await store.jobs(JobQuery()).map(\.id) == child)
    }

    /// Jobs whose ends can't be stored while that of another is held up, by a lock or for the time that it takes.
    private func hasty(_ isLate: Bool) async throws -> PostgresStore {
      try await server.store(schema, clock: clock) {
        ($0.lockPatience, $0.callLimit) = isLate ? (.seconds(600), .seconds(3)) : (.milliseconds(50), .seconds(600))
        $0.policy.maxCrashesInRow = 1
      }
    }

    @Test(
      "A job past its deadline whose end can't be stored stops its queue for one call, and ends once it can",
      arguments: [false, true])
    func overdueClaim(isLate: Bool) async throws {
      let store = try await hasty(isLate)
      let late = try await insert(1, terms: JobTerms(deadline: .end(by: .after(.seconds(1)))))
      let child = try await insert(1, after: [JobEdge(.job(late[0]))])
      let other = try await insert(1)
      clock.advance(by: .seconds(2))
      try await holding("SELECT 1 FROM job WHERE id=\(child[0].rawValue) FOR UPDATE") {
        await #expect(throws: JobError.self) { try await store.claim(.of(2)) }
        let batch = try await store.claim(.of(2))
        #expect(batch.jobs.map(\.token.job) == other && !batch.hasMore)
      }
      _ = try await store.recover(RecoveryRequest())
      try await until { try await store.counts(where: .all) == JobCounts([.failed: 1, .skipped: 1, .running: 1]) }
      await store.close()
    }

    @Test(
      "Jobs whose end can't be stored, overdue ones and those of the dead, keep no sweep from all else",
      arguments: [false, true])
    func lateEnds(isLate: Bool) async throws {
      let store = try await hasty(isLate)
      let crashing = try await insert(1)
      _ = try await store.claim(.of(1, worker: "a"))
      let other = try await insert(1)
      _ = try await store.claim(.of(1, worker: "b"))
      let overdue = try await insert(1, terms: JobTerms(deadline: .end(by: .after(.seconds(1)))))
      let children =
        try await insert(1, after: [JobEdge(.job(overdue[0]))]) + insert(1, after: [JobEdge(.job(crashing[0]))])
      func states(_ ids: [JobID]) async throws -> [JobState] {
        try await self.store.jobs(JobQuery(.ids(Set(ids)))).map(\.state)
      }
      // Till it is so, workers sweep again and again, whether one fails or not.
      func sweep(until isSo: () async throws -> Bool) async throws {
        try await until {
          _ = try? await store.recover(RecoveryRequest())
          clock.advance(by: .seconds(30))
          return try await isSo()
        }
      }
      clock.advance(by: Defaults.lease)
      let locked = children.map { "\($0.rawValue)" }.joined(separator: ",")
      try await holding("SELECT 1 FROM job WHERE id IN(\(locked)) FOR UPDATE") {
        try await sweep { try await states(other) != [.running] }
        #expect(try await states(children) == [.blocked, .blocked])
      }
      try await sweep { try await states(children) == [.skipped, .skipped] }
      #expect(try await states(overdue + crashing) == [.failed, .failed])
      try await sweep { try server.psql("SELECT id FROM worker", schema: schema) == [] }
      #expect(try await store.check() == [])
      await store.close()
    }
  }
#endif
