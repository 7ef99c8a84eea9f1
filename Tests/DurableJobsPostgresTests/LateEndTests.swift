#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  /// Ends that take longer than a call may, since so many jobs wait for them.
  @Suite struct LateEndTests {
    private let server: TestServer
    private let schema = TestServer.schema()
    private let clock = ManualClock()
    private let store: PostgresStore
    /// Has the time for what is not in question.
    private let other: PostgresStore
    /// 20,000 children of one parent, or what `DURABLE_MASS` says.
    private static let children = ProcessInfo.processInfo.environment["DURABLE_MASS"].flatMap(Int.init) ?? 20_000

    init() async throws {
      server = try TestServer.shared.get()
      other = try await server.store(schema, clock: clock) { $0.callLimit = .seconds(600) }
      store = try await server.store(schema, clock: clock) {
        // Several times too little for what one end does to all of them.
        $0.callLimit = .milliseconds(max(Self.children / 20, 1000))
        $0.policy.maxCrashesInRow = 1
      }
    }

    private func insert(_ count: Int = 1, terms: JobTerms = JobTerms(), after parents: [JobID] = []) async throws
      -> [JobID]
    {
      let job = NewJob.plain(terms: terms, after: parents.map { JobEdge(.job($0)) })
      var ids: [JobID] = []
      while ids.count < count {
        let jobs = Array(repeating: job, count: min(10_000, count - ids.count))
        ids += try await other.insert(JobInsertion(jobs)).ids
      }
      return ids
    }

    private func state(of id: JobID) async throws -> JobState? {
      try await other.jobs(JobQuery(.id(id))).first?.state
    }

    /// Tries until it is in time: other tests are at the same server.
    private func claim(_ request: ClaimRequest) async throws -> ClaimedJob {
      var claimed: ClaimedJob?
      await until {
        claimed = (try? await store.claim(request))?.jobs.first
        return claimed != nil
      }
      return try #require(claimed)
    }

    private func expectWhole() async throws {
      #expect(try await other.check() == [])
      try WholeStore.expect(of: server, schema: schema)
      await store.close()
      await other.close()
    }

    @Test("A result is stored by itself, and once, and is accepted where its worker offers it again")
    func success() async throws {
      let parent = try await insert()[0]
      let children = try await insert(Self.children, after: [parent])
      var end = try await claim(.of(1)).settled(.succeeded(output: Data("1".utf8)))
      #expect(end.token.job == parent)
      end.followUps = [NewJob(queue: "after", kind: "work", payload: Data("{}".utf8))]
      let elsewhere = NewJob(queue: "elsewhere", kind: "work", payload: Data("{}".utf8))
      _ = try await other.insert(JobInsertion([elsewhere]))

      let begun = SystemClock().uptime
      try server.psql("CREATE TABLE slow()", schema: schema)
      try server.delay(.update, ofMoreThan: 999, byLockOf: "slow", schema: schema)
      let refusal = try await server.holding("LOCK TABLE \"\(schema)\".slow", database: "postgres") {
        await #expect(throws: JobError.self) { try await store.settle([end], thenClaim: nil) }
      }
      #expect(refusal?.isPassing == true && refusal?.cause is ResultUnderWay, "\(refusal as Any)")
      _ = try await claim(ClaimRequest(worker: WorkerID("v"), kinds: ["work"], free: ["elsewhere": 1]))
      var reply: SettlementReply?
      await until {
        reply = (try? await store.settle([end], thenClaim: nil))?.replies.first
        return reply != nil
      }
      #expect(reply == SettlementReply(isAccepted: true, state: .succeeded))
      print(
        "\(Self.children) children: their parent's end was stored \(SystemClock().uptime - begun) after it was offered")

      #expect(store.engine.context.lateEnds.count == 0)
      #expect(
        try await other.counts(where: .all)
          == JobCounts([.succeeded: 1, .ready: Self.children + 1, .running: 1]))
      #expect(try await other.counts(where: .queue("after")).total == 1)
      #expect(try await other.jobs(JobQuery(.id(parent), detail: .output)).first?.output == Data("1".utf8))
      let child = try await claim(.of(1))
      #expect(child.token.job == children.first)
      #expect(try await other.settle([child.settled()], thenClaim: nil).replies.map(\.isAccepted) == [true])
      try await expectWhole()
    }

    @Test("A deadline that has passed is, and what waits for its job is skipped")
    func deadline() async throws {
      let parent = try await insert(terms: JobTerms(deadline: .end(by: .after(.seconds(1)))))
      _ = try await insert(Self.children, after: parent)
      let next = try await insert()
      clock.advance(by: .seconds(2))
      let free = try await claim(.of(1))
      #expect(free.token.job == next.first)
      _ = try await other.settle([free.settled()], thenClaim: nil)
      try await sweep(until: [.failed: 1, .skipped: Self.children, .succeeded: 1])
      try await expectWhole()
    }

    @Test("The crash of a job for good is, and what waits for it is skipped")
    func crash() async throws {
      let parent = try await insert()
      _ = try await insert(Self.children, after: parent)
      _ = try await claim(.of(1))
      clock.advance(by: Defaults.lease)
      try await sweep(until: [.failed: 1, .skipped: Self.children])
      try await expectWhole()
    }

    /// As workers do, whether a sweep fails or not.
    private func sweep(until counts: [JobState: Int]) async throws {
      try await until {
        _ = try? await store.recover(RecoveryRequest())
        clock.advance(by: .seconds(30))
        return try await other.counts(where: .all) == JobCounts(counts)
      }
    }

    @Test(
      "A store that is closed waits for no such end, and gives its job back, which no worker of its own has again",
      arguments: [false, true], [false, true])
    func closing(isStopped: Bool, isLate: Bool) async throws {
      let store = try await patientStore(callLimit: .seconds(1))
      let parent = try await insert()[0]
      _ = try await insert(1000, after: [parent])
      let worker = JobWorker(JobQueue(store: store))
      let runs = Lock(0)
      worker.register(kind: "work") { _, _ in
        runs.withLock { $0 += 1 }
        return nil
      }
      try await whileEndsWait {
        let run = Task { try await worker.run() }
        try await until {
          // What was given up meanwhile, as the server was silent for so long, is offered again.
          clock.advance(by: .milliseconds(10))
          return try store.engine.context.lateEnds.contains(parent) == isLate && endWaits()
        }
        if isStopped { await worker.stop(grace: .zero) }
        await store.close()
        let job = try await other.jobs(JobQuery(.id(parent))).first
        #expect(job?.state == .ready && job?.crashes == 0, "\(job as Any)")
        await #expect(throws: JobError.self) { try await run.value }
        #expect(runs.value == 1)
      }
      try await expectWhole()
    }

    /// Runs `body` while whoever changes a thousand jobs waits for what a program has locked.
    private func whileEndsWait(_ body: () async throws -> Void) async throws {
      try server.psql("CREATE TABLE slow()", schema: schema)
      try server.delay(.update, ofMoreThan: 999, byLockOf: "slow", schema: schema)
      try await server.holding("LOCK TABLE \"\(schema)\".slow", database: "postgres", body)
    }

    /// Whether somebody does.
    private func endWaits() throws -> Bool {
      let waiting = "SELECT 1 FROM pg_locks WHERE relation='slow'::regclass AND NOT granted"
      return try !server.psql(waiting, schema: schema).isEmpty
    }

    @Test("A worker whose lease lapses while a result takes long keeps its other jobs, also if it claims no others")
    func doubted() async throws {
      let store = try await patientStore()
      let parent = try await insert()[0]
      _ = try await insert()
      _ = try await insert(1000, after: [parent])
      let held = try await store.claim(.of(2)).jobs
      #expect(held.map(\.token.job).first == parent && held.count == 2)
      let settling = Lock<Task<SettlementBatch, any Error>?>(nil)
      try await whileEndsWait {
        settling.withLock { $0 = Task { try await store.settle([held[0].settled()], thenClaim: nil) } }
        try await until { try endWaits() }
        for wait in [Defaults.lease, Defaults.doubtInterval] {
          clock.advance(by: wait)
          #expect(try await other.recover(RecoveryRequest()).recovered == 0)
        }
      }
      let batch = try await settling.value?.value
      #expect(batch?.replies.map(\.isAccepted) == [true])
      #expect(try await store.settle([held[1].settled()], thenClaim: nil).replies.map(\.isAccepted) == [true])
      await store.close()
      try await expectWhole()
    }

    @Test("A turn that took longer than its worker's lease has renewed that once it is over", arguments: [false, true])
    func lease(claims: Bool) async throws {
      let store = try await patientStore()
      let parent = try await insert()[0]
      _ = try await insert(1000, after: [parent])
      let end = try #require(try await store.claim(.of(1)).jobs.first).settled()
      let settling = Lock<Task<SettlementBatch, any Error>?>(nil)
      try await whileEndsWait {
        settling.withLock { $0 = Task { try await store.settle([end], thenClaim: claims ? .of(1) : nil) } }
        try await until { try endWaits() }
        clock.advance(by: Defaults.lease)
      }
      #expect(try await settling.value?.value.replies.map(\.isAccepted) == [true])
      let leaseUntil = clock.now.addingTimeInterval(Defaults.lease.seconds).milliseconds
      #expect(try server.psql("SELECT lease_until FROM worker", schema: schema) == [["\(leaseUntil)"]])
      await store.close()
      try await expectWhole()
    }

    /// A result that waits to be stored when its worker ends.
    private func whileLeft(in store: PostgresStore, _ body: (JobID) async throws -> Void) async throws {
      let parent = try await insert()[0]
      _ = try await insert(1000, after: [parent])
      let end = try #require(try await store.claim(.of(1)).jobs.first).settled()
      try await whileEndsWait {
        _ = store.engine.store(late: end)
        try await until { try endWaits() }
        _ = try await store.recover(RecoveryRequest(worker: WorkerID("w"), isRetiring: true))
        try await body(parent)
      }
    }

    /// Has the server do this to whoever waits to store one.
    private func endWait(by act: String) throws {
      try server.psql(
        "SELECT \(act)(pid) FROM pg_locks WHERE relation='slow'::regclass AND NOT granted", schema: schema)
    }

    @Test("A result of a worker that has ended is stored, however long that takes, also where it is begun again")
    func ended() async throws {
      let store = try await patientStore()
      var left: JobID?
      try await whileLeft(in: store) { parent in
        left = parent
        for wait in [Defaults.lease, Defaults.doubtInterval] {
          clock.advance(by: wait)
          #expect(try await other.recover(RecoveryRequest()).recovered == 0)
        }
        try endWait(by: "pg_terminate_backend")
      }
      await until { store.engine.context.lateEnds.count == 0 }
      let parent = try #require(left)
      #expect(try await state(of: parent) == .succeeded)
      await store.close()
      try await expectWhole()
    }

    @Test("The job of a worker that has ended is given back, and that is told here, where its result can't be stored")
    func givenBack() async throws {
      let store = try await patientStore()
      let heard = Lock<[JobTransition]>([])
      let subscription = store.signals.listen { signal in
        if case .committed(let changes) = signal { heard.withLock { $0 += changes } }
      }
      try await whileLeft(in: store) { parent in
        try endWait(by: "pg_cancel_backend")
        await until { store.engine.context.lateEnds.count == 0 }
        let job = try await other.jobs(JobQuery(.id(parent))).first
        #expect(job?.state == .ready && job?.crashes == 0, "\(job as Any)")
        #expect(heard.value.contains { $0.id == parent && $0.state == .ready })
      }
      withExtendedLifetime(subscription) {}
      await store.close()
      try await expectWhole()
    }

    @Test("The worker of a result that is still to be stored runs other jobs meanwhile")
    func worker() async throws {
      let schema = TestServer.schema()
      let store = try await server.store(schema) { $0.callLimit = .seconds(1) }
      let other = try await server.store(schema) { $0.callLimit = .seconds(600) }
      let parent = try await other.insert(JobInsertion([.plain()])).ids[0]
      let child = NewJob(queue: "after", kind: "work", payload: Data("{}".utf8), edges: [JobEdge(.job(parent))])
      _ = try await other.insert(JobInsertion(Array(repeating: child, count: 1000)))
      let next = try await other.insert(JobInsertion([.plain()])).ids[0]
      // Whoever changes all of them waits for what a program has locked.
      try server.psql("CREATE TABLE slow()", schema: schema)
      try server.delay(.update, ofMoreThan: 999, byLockOf: "slow", schema: schema)
      let worker = JobWorker(JobQueue(store: store), maxConcurrentJobs: 1)
      worker.register(kind: "work") { _, _ in nil }
      func hasSucceeded(_ id: JobID) async throws -> Bool {
        try await other.jobs(JobQuery(.id(id))).first?.state == .succeeded
      }
      try await server.holding("LOCK TABLE \"\(schema)\".slow", database: "postgres") {
        worker.start()
        try await until { try await hasSucceeded(next) }
        #expect(try await !hasSucceeded(parent))
      }
      try await until { try await hasSucceeded(parent) }
      await worker.stop()
      await store.close()
      await other.close()
      try WholeStore.expect(of: server, schema: schema)
    }

    /// Its calls take as long as they need, and wait long for what is locked.
    private func patientStore(callLimit: Duration = .seconds(600)) async throws -> PostgresStore {
      try await server.store(schema, clock: clock) { ($0.callLimit, $0.lockPatience) = (callLimit, .seconds(60)) }
    }

    @Test("A job that was asked to stop keeps no renewal of its worker waiting while its end is being stored")
    func stopAsked() async throws {
      let store = try await patientStore()
      let parent = try await insert()[0]
      _ = try await insert(1000, after: [parent])
      let end = try #require(try await store.claim(.of(1)).jobs.first).settled()
      _ = try await other.change(.cancel(reason: nil), where: .id(parent), after: nil, limit: 1)
      try server.psql("CREATE TABLE slow()", schema: schema)
      try server.delay(.update, ofMoreThan: 999, byLockOf: "slow", schema: schema)
      try await server.holding("LOCK TABLE \"\(schema)\".slow", database: "postgres") {
        _ = store.engine.store(late: end)
        let free = "SELECT id FROM job WHERE id=\(parent.rawValue) FOR UPDATE SKIP LOCKED"
        try await until { try server.psql(free, schema: schema).isEmpty }
        let renewal = RenewalRequest(worker: WorkerID("w"), renewals: [ClaimRenewal(token: end.token)])
        #expect(try await store.renew(renewal) == [.held])
        #expect(store.engine.context.lateEnds.contains(parent))
      }
      await until { (try? await store.settle([end], thenClaim: nil))?.replies.map(\.isAccepted) == [true] }
      await store.close()
      try await expectWhole()
    }

    @Test(
      "A result that is refused while it is stored by itself is so where its worker offers it again, and then forgotten"
    )
    func refused() async throws {
      _ = try await insert()
      var end = try await claim(.of(1)).settled()
      end.followUps = [.plain(after: [JobEdge(.job(JobID(rawValue: 999_999_999)))])]
      _ = store.engine.store(late: end)
      var answer: JobError?
      await until {
        answer = nil
        do { try store.engine.checkIsNotLate([end]) } catch { answer = error as? JobError }
        return !(answer?.cause is ResultUnderWay)
      }
      #expect(answer?.isPassing == false, "\(answer as Any)")
      try store.engine.checkIsNotLate([end])
      try await expectWhole()
    }

    @Test("A result that was stored in time is not late where the claim behind it is")
    func claimInVain() async throws {
      let store = try await patientStore(callLimit: .seconds(3))
      _ = try await insert()
      let end = try #require(try await store.claim(.of(1)).jobs.first).settled(.retry(.now, message: "no"))
      _ = try await insert(200)
      try server.psql("CREATE TABLE slow()", schema: schema)
      try server.delay(.update, ofMoreThan: 99, byLockOf: "slow", schema: schema)
      let error = try await server.holding("LOCK TABLE \"\(schema)\".slow", database: "postgres") {
        await #expect(throws: JobError.self) { try await store.settle([end], thenClaim: .of(200)) }
      }
      #expect(error?.isPassing == true && !(error?.cause is ResultUnderWay), "\(error as Any)")
      #expect(store.engine.context.lateEnds.count == 0)
      #expect(try await store.settle([end], thenClaim: nil).replies.map(\.isAccepted) == [true])
      await store.close()
      try await expectWhole()
    }

    @Test("What takes as long as it takes has a limit for each answer of the server, and not for all of them")
    func answers() throws {
      let session = Session(engine: other.engine, number: 7)
      func run(_ statements: [String]) throws {
        let patience = Connection.Patience(limit: .seconds(1)) { false }
        try session.write(until: SystemClock().uptime + .seconds(60), patience: patience) { transaction in
          transaction.begin()
          for statement in statements { transaction.connection.send(statement) }
          try transaction.sync()
        }
      }
      try run(Array(repeating: "SELECT count(*) FROM generate_series(1,200000)", count: 100))
      #expect { try run(["SELECT count(*) FROM generate_series(1,200000000)"]) } throws: { error in
        (error as? PostgresFailure)?.kind == .timedOut
      }
    }

    @Test("No statement changes more than a thousand jobs, however many an end concerns")
    func bites() async throws {
      let store = try await server.store(schema, clock: clock) {
        ($0.lockPatience, $0.callLimit) = (.milliseconds(50), .seconds(600))
      }
      let parent = try await insert()
      _ = try await insert(1500, after: parent)
      let end = try #require(try await store.claim(.of(1)).jobs.first).settled()
      try server.psql("CREATE TABLE slow()", schema: schema)
      try server.delay(.update, ofMoreThan: 1000, byLockOf: "slow", schema: schema)
      let replies = try await server.holding("LOCK TABLE \"\(schema)\".slow", database: "postgres") {
        try await store.settle([end], thenClaim: nil).replies
      }
      #expect(replies.map(\.isAccepted) == [true])
      await store.close()
      try await expectWhole()
    }

    @Test("What a person ends, and so many wait for, says what would help")
    func change() async throws {
      let parent = try await insert()
      let child = try await insert(after: parent)
      let lock = "SELECT 1 FROM \"\(schema)\".job WHERE id=\(child[0].rawValue) FOR UPDATE"
      let error = try await server.holding(lock, database: "postgres") {
        await #expect(throws: JobError.self) {
          try await store.change(.cancel(reason: nil), where: .ids(Set(parent)), after: nil, limit: 1)
        }
      }
      #expect(error?.message.contains("longer `callLimit`") == true, "\(error as Any)")
      #expect(try await state(of: parent[0]) == .ready)
      try await expectWhole()
    }
  }

  /// Which ends are kept, and what their workers are told.
  @Suite struct LateEndValueTests {
    private let ends = LateEnds()
    private let job = JobID(rawValue: 1)
    private var result: ClaimSettlement {
      ClaimSettlement(token: ClaimToken(job: job, claim: 7), result: .succeeded(output: nil))
    }

    @Test("A result that is kept is answered as before until it was tried, and only under its claim")
    func answer() {
      #expect(ends.answer(to: [result]) == nil)
      ends.keep(result, answer: JobError(.storeFailed, "late"))
      #expect(ends.answer(to: [result])?.message == "late")
      let another = ClaimSettlement(token: ClaimToken(job: job, claim: 8), result: .interrupted)
      #expect(ends.answer(to: [another]) == nil)
      #expect(ends.begin(at: .zero) && !ends.begin(at: .zero))
      #expect(ends.next(at: .zero)?.result == result)
      ends.tried(job, hasEnded: false, at: .zero)
      #expect(ends.answer(to: [result]) == nil && ends.next(at: .zero) == nil)
    }

    @Test("That a result could not be stored is said once, and whether it is to be tried again")
    func failure() {
      for code in [JobError.Code.locked, .notFound] {
        ends.keep(result, answer: JobError(.storeFailed, "late"))
        ends.tried(job, hasEnded: false, JobError(code, "why"), at: .zero)
        #expect(ends.count == 0)
        let answer = ends.answer(to: [result])
        #expect(answer?.code == code && answer?.message == "why")
        #expect(answer?.cause as? ResultUnderWay == (code == .locked ? .failed : nil))
        #expect(ends.answer(to: [result]) == nil)
      }
    }

    @Test("What is said of results that nobody offers again is forgotten, that of the oldest first")
    func forgotten() {
      func result(_ number: Int64) -> ClaimSettlement {
        ClaimSettlement(token: ClaimToken(job: JobID(rawValue: number), claim: 7), result: .succeeded(output: nil))
      }
      for number in 1...Int64(1200) {
        ends.keep(result(number), answer: JobError(.storeFailed, "late"))
        ends.tried(JobID(rawValue: number), hasEnded: false, JobError(.locked, "why"), at: .zero)
      }
      #expect(ends.answer(to: [result(200)]) == nil)
      #expect((201...1200).allSatisfy { ends.answer(to: [result($0)])?.message == "why" })
    }

    @Test("Results come before what nobody offers again, of which what waited longest is next")
    func order() {
      let others = (2...100).map { JobID(rawValue: $0) }
      ends.suspect(others)
      for (place, id) in others.enumerated() { ends.tried(id, hasEnded: false, at: .seconds(100 - place)) }
      ends.keep(result, answer: JobError(.storeFailed, "late"))
      var order: [JobID] = []
      while let next = ends.next(at: .seconds(1000)) {
        order.append(next.id)
        ends.tried(next.id, hasEnded: true, at: .seconds(1000))
      }
      #expect(order == [job] + others.reversed())
    }

    @Test("What nobody offers again is tried again after a while, and nothing is once the store is closed")
    func pause() async {
      ends.suspect([job])
      #expect(ends.begin(at: .zero))
      #expect(ends.next(at: .zero)?.id == job)
      ends.tried(job, hasEnded: false, at: .zero)
      #expect(ends.next(at: .seconds(299)) == nil && ends.next(at: .seconds(300))?.id == job)
      ends.rest()
      await ends.end()
      #expect(ends.next(at: .seconds(300)) == nil && !ends.begin(at: .seconds(300)))
    }
  }
#endif
