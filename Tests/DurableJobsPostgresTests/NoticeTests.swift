#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  private struct Double: Job {
    var number: Int
    static let kind = "double"
    func run(in context: JobContext) async throws -> Int { number * 2 }
  }

  @Suite struct NoticeTests {
    /// What a store hears of others, in order.
    private final class Heard: Sendable {
      private let changes: AsyncStream<ForeignChange>
      private let subscription: StoreSignals.Subscription

      init(_ store: PostgresStore) {
        let (changes, continuation) = AsyncStream.makeStream(of: ForeignChange.self)
        self.changes = changes
        subscription = store.signals.listen { signal in
          if case .changedElsewhere(let change) = signal { continuation.yield(change) }
        }
      }

      func first(where isWanted: (ForeignChange) -> Bool) async -> ForeignChange? {
        for await change in changes where isWanted(change) { return change }
        return nil
      }
    }

    @Test("What one process commits is told to the others that listen, and not to itself")
    func told() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let (one, other) = (try await server.store(schema), try await server.store(schema))
      let heard = Heard(one)
      // That it listens from now on: it may have missed anything till then.
      #expect(await heard.first { $0 == .all } != nil)
      let ids = try await other.insert(JobInsertion([.plain(), .plain()])).ids
      #expect(await heard.first { _ in true } == .work)
      let claimed = try await other.claim(.of(1)).jobs
      _ = try await other.settle(claimed.map { $0.settled() }, thenClaim: nil)
      #expect(await heard.first { $0.contains(.results) } != nil)
      let running = try await one.claim(.of(1)).jobs
      #expect(running.map(\.token.job) == [ids[1]])
      _ = try await other.change(.cancel(reason: nil), where: .id(ids[1]), after: nil, limit: 1)
      #expect(await heard.first { $0.contains(.stops) } != nil)
      await one.close()
      await other.close()
    }

    @Test("A notice goes with the connection of the commit of which it tells, and takes no other")
    func connections() async throws {
      let server = try TestServer.shared.get()
      let (schema, name) = (TestServer.schema(), TestServer.schema())
      let one = try await server.store(schema)
      let other = try await server.store(schema, "application_name=\(name)")
      let heard = Heard(one)
      #expect(await heard.first { $0 == .all } != nil)
      func connections() throws -> Int {
        try server.psql("SELECT 1 FROM pg_stat_activity WHERE application_name='\(name)'").count
      }
      // The one that it was opened with is closed, and the server needs a moment to see it.
      try await until { try connections() == 0 }
      let session = Session(engine: other.engine, number: 7)
      _ = try session.write(until: SystemClock().uptime + .seconds(60)) { try $0.insert(JobInsertion([.plain()])) }
      #expect(await heard.first { _ in true } == .work)
      #expect(try connections() == 1)
      withExtendedLifetime(session) {}
      await one.close()
      await other.close()
    }

    @Test("A store that is closed listens no more, also where programs were started that have all that was open")
    func inherited() async throws {
      let server = try TestServer.shared.get()
      let database = try server.database()
      let store = try await server.store(TestServer.schema(), "dbname=\(database)")
      let heard = Heard(store)
      #expect(await heard.first { $0 == .all } != nil)
      var pid: pid_t = 0
      var words = [strdup("sleep"), strdup("600"), nil]
      defer { for word in words { free(word) } }
      try #require(posix_spawn(&pid, "/bin/sleep", nil, nil, &words, nil) == 0)
      defer {
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
      }
      await store.close()
      try await until {
        try server.psql(
          "SELECT 1 FROM pg_stat_activity WHERE datname=current_database() AND query LIKE 'LISTEN%'", database: database
        ).isEmpty
      }
    }

    @Test("Commits that follow each other closely are few notices, and the last of them is told")
    func debounced() async throws {
      let notices = Notices(server: try ServerName(try TestServer.shared.get().string()), channel: "s", session: "one")
      let sent = Lock<[String]>([])
      let (changes, continuation) = AsyncStream.makeStream(of: String.self)
      notices.begin(
        post: { _ in },
        send: { payload, _ in
          sent.withLock { $0.append(payload) }
          continuation.yield(payload)
        }, isBack: {}, meet: { _ in })
      let begin = SystemClock().uptime
      for _ in 0..<1000 { notices.tellOthers(.work) }
      notices.tellOthers(.results)
      // However long that took: one at once, and one after each pause.
      let most = 2 + Int((SystemClock().uptime - begin) / Notices.pause)
      for await payload in changes where payload == "one \(ForeignChange.results.rawValue) *" || payload == "one 3 *" {
        break
      }
      #expect(sent.withLock(\.count) <= most + 1)
    }

    @Test("A notice waits for no disk and no standby: what it tells of is durable")
    func unflushed() async throws {
      let server = try TestServer()
      let schema = TestServer.schema()
      let (one, other) = (try await server.store(schema), try await server.store(schema))
      let heard = Heard(one)
      #expect(await heard.first { $0 == .all } != nil)
      try await server.whileCommitWaits {
        other.engine.notices.tellOthers(.work)
        #expect(await heard.first { _ in true } == .work)
      }
      await one.close()
      await other.close()
    }

    @Test("While some program's notice is held up in its commit, calls go on, on whatever connection one was sent")
    func heldUp() async throws {
      let server = try TestServer()
      let store = try await server.store(TestServer.schema()) {
        ($0.connections, $0.lockPatience) = (1, .milliseconds(200))
      }
      let queue = JobQueue(store: store)
      // That the worker is there is told before.
      _ = try await store.claim(.of(1))
      try await whileNoticesWait(on: server) {
        for _ in 0..<4 {
          _ = try await store.insert(JobInsertion([.plain()]))
          let jobs = try await store.claim(.of(1)).jobs
          #expect(try await store.settle(jobs.map { $0.settled() }, thenClaim: nil).replies.map(\.isAccepted) == [true])
        }
        #expect(try await queue.counts()[.succeeded] == 4)
        // A new one claims nothing with the call that would tell of it, and goes without.
        let ids = try await store.insert(JobInsertion([.plain()])).ids
        await #expect(throws: JobError.self) { try await store.claim(.of(1, worker: "new")) }
        #expect(try await store.claim(.of(1, worker: "new")).jobs.map(\.token.job) == ids)
      }
      await store.close()
    }

    @Test("What was committed just before a store was closed is told, too")
    func toldLast() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let (one, other) = (try await server.store(schema), try await server.store(schema))
      let ids = try await one.insert(JobInsertion([.plain("waiting")])).ids
      let heard = Heard(one)
      #expect(await heard.first { $0 == .all } != nil)
      // The last of them come in the pause after the first.
      _ = try await other.insert(JobInsertion([.plain()]))
      for change in [ForeignChange.stops, .deadlines, .settings] { other.engine.notices.tellOthers(change) }
      await other.close()
      let last = try await server.store(schema)
      _ = try await last.change(.cancel(reason: nil), where: .ids(ids), after: nil, limit: 1)
      let told = Lock<ForeignChange>([])
      _ = await heard.first { change in
        told.withLock { $0.formUnion(change) }
        return change.contains(.results)
      }
      #expect(told.withLock { $0 }.isSuperset(of: [.work, .stops, .deadlines, .settings]))
      await one.close()
      await last.close()
    }

    @Test("Who ends a job of a kind that it never saw tells its own process which job that was")
    func unseenKind() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let (one, other) = (try await server.store(schema), try await server.store(schema))
      _ = try await one.insert(JobInsertion([.plain()]))
      let claimed = try await one.claim(.of(1)).jobs
      let told = Lock<[JobTransition]>([])
      let subscription = other.signals.listen { signal in
        if case .committed(let transitions) = signal { told.withLock { $0 += transitions } }
      }
      _ = try await other.settle(claimed.map { $0.settled() }, thenClaim: nil)
      #expect(
        told.withLock { $0 }.map { [$0.kind, $0.queue, $0.state.rawValue] } == [["work", "default", "succeeded"]])
      withExtendedLifetime(subscription) {}
      await one.close()
      await other.close()
    }

    @Test("A listener whose connection was ended comes back, and says that it may have missed something")
    func comesBack() async throws {
      let server = try TestServer()
      let store = try await server.store()
      let heard = Heard(store)
      #expect(await heard.first { $0 == .all } != nil)
      try server.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND pid<>pg_backend_pid()")
      #expect(await heard.first { $0 == .all } != nil)
      await store.close()
    }

    @Test("C78 Behind a pooler, who listens has a look from time to time")
    func polls() async throws {
      let store = try await TestServer.shared.get().store {
        $0.isPooled = true
        $0.pollInterval = .milliseconds(10)
      }
      let heard = Heard(store)
      for _ in 0..<3 { #expect(await heard.first { $0.contains(.work) } != nil) }
      await store.close()
    }

    @Test("Who ends the looks while one goes on has ended them")
    func pollsNoMore() async throws {
      final class Mark: Sendable {}
      let notices = Notices(server: try ServerName(try TestServer.shared.get().string()), channel: "s", session: "one")
      let looked = Gate()
      weak let mark = poll(notices, for: Mark()) { looked.open() }
      await looked.pass()
      await until { mark == nil }
    }

    /// Looks for as long as nobody ends that; the first look does. It keeps `mark` for as long as it goes on.
    private func poll<M: AnyObject & Sendable>(_ notices: Notices, for mark: M, then: @escaping @Sendable () -> Void)
      -> M
    {
      notices.poll(true, each: .milliseconds(1)) { [weak notices] in
        notices?.poll(false, each: .milliseconds(1)) {}
        withExtendedLifetime(mark, then)
      }
      return mark
    }

    /// Runs `body` while another program's notice is held up in its commit, for which all others have to wait.
    private func whileNoticesWait(on server: TestServer, _ body: () async throws -> Void) async throws {
      try await server.whileCommitWaits("; NOTIFY other") {
        // From here on, no other commit waits for a standby.
        let waiting = try server.psql("SELECT pid FROM pg_stat_activity WHERE wait_event='SyncRep'")
        let session = try #require(pid_t(waiting[0][0]))
        kill(session, SIGSTOP)
        defer { kill(session, SIGCONT) }
        try server.psql("ALTER SYSTEM RESET synchronous_standby_names")
        try server.psql("SELECT pg_reload_conf()")
        try server.psql("CREATE TABLE free()")
        try await body()
      }
    }

    @Test("A worker that another process doubts gives a sign of life, and keeps its jobs")
    func doubt() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let one = try await server.store(schema)
      let heard = Heard(one)
      #expect(await heard.first { $0 == .all } != nil)
      _ = try await one.insert(JobInsertion([.plain()]))
      let held = try await one.claim(.of(1)).jobs
      // By a clock for which the lease has lapsed.
      let clock = ManualClock(now: Date().addingTimeInterval(120))
      let other = try await server.store(schema, clock: clock)
      let report = try await other.recover(RecoveryRequest())
      #expect(report.recovered == 0 && report.comeAgain == Defaults.doubtInterval)
      #expect(await heard.first { $0.contains(.doubt) } != nil)
      let renewal = RenewalRequest(
        worker: WorkerID("w"), lease: .seconds(600), renewals: held.map { ClaimRenewal(token: $0.token) })
      #expect(try await one.renew(renewal) == [.held])
      clock.advance(by: Defaults.doubtInterval)
      #expect(try await other.recover(RecoveryRequest()).recovered == 0)
      await one.close()
      await other.close()
    }

    @Test("A worker that can't be told of a doubt behind a pooler has the time in which it renews unasked")
    func untold() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      func pooled(_ clock: (any JobClock)? = nil) async throws -> PostgresStore {
        try await server.store(schema, clock: clock) { ($0.isPooled, $0.pollInterval) = (true, .seconds(60)) }
      }
      let one = try await pooled()
      _ = try await one.insert(JobInsertion([.plain()]))
      _ = try await one.claim(.of(1))
      let clock = ManualClock(now: Date().addingTimeInterval(120))
      let other = try await pooled(clock)
      let report = try await other.recover(RecoveryRequest())
      #expect(report.recovered == 0 && report.comeAgain == Defaults.doubtInterval + Defaults.renewalInterval)
      clock.advance(by: Defaults.doubtInterval)
      #expect(try await other.recover(RecoveryRequest()).recovered == 0)
      clock.advance(by: Defaults.renewalInterval)
      #expect(try await other.recover(RecoveryRequest()).recovered == 1)
      await one.close()
      await other.close()
    }

    @Test("So has one of which the notice is held up")
    func doubtHeldUp() async throws {
      let server = try TestServer()
      let schema = TestServer.schema()
      let one = try await server.store(schema)
      _ = try await one.insert(JobInsertion([.plain()]))
      _ = try await one.claim(.of(1))
      let clock = ManualClock(now: Date().addingTimeInterval(120))
      let other = try await server.store(schema, clock: clock)
      try await whileNoticesWait(on: server) {
        try await until {
          let report = try await other.recover(RecoveryRequest())
          #expect(report.recovered == 0)
          return report.comeAgain == Defaults.doubtInterval + Defaults.renewalInterval
        }
        clock.advance(by: Defaults.doubtInterval)
        #expect(try await other.recover(RecoveryRequest()).recovered == 0)
      }
      await one.close()
      await other.close()
    }

    @Test("A job of which no notice came is found with the worker's next sweep")
    func sweep() async throws {
      let server = try TestServer.shared.get()
      let (schema, clock) = (TestServer.schema(), ManualClock())
      let (one, other) = (try await server.store(schema, clock: clock), try await server.store(schema, clock: clock))
      let lostNotices = Lock(0)
      other.engine.notices.begin(
        post: { _ in }, send: { _, _ in lostNotices.withLock { $0 += 1 } }, isBack: {}, meet: { _ in })
      let heard = Heard(one)
      #expect(await heard.first { $0 == .all } != nil)
      let worker = JobWorker(JobQueue(store: one))
      worker.register(kind: "work") { _, _ in nil }
      worker.start()
      func state(_ id: JobID) async throws -> JobState? { try await other.jobs(JobQuery(.id(id))).first?.state }
      let first = try await one.insert(JobInsertion([.plain()])).ids[0]
      try await until { try await state(first) == .succeeded }
      let told = Lock<[ForeignChange]>([])
      let subscription = one.signals.listen { signal in
        if case .changedElsewhere(let change) = signal { told.withLock { $0.append(change) } }
      }
      let lost = try await other.insert(JobInsertion([.plain()])).ids[0]
      await until { lostNotices.value > 0 }
      #expect(try await state(lost) == .ready)
      clock.advance(by: Defaults.sweepInterval)
      try await until { try await state(lost) == .succeeded }
      #expect(told.value.isEmpty, "nobody told its worker")
      withExtendedLifetime(subscription) {}
      await worker.stop()
      await one.close()
      await other.close()
    }

    @Test("A store that hears of nobody looks for work each time, and has workers sweep only if there is a reason")
    func reasons() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let one = try await server.store(schema) { ($0.isPooled, $0.pollInterval) = (true, .milliseconds(10)) }
      let other = try await server.store(schema)
      let heard = Heard(one)
      await until { one.engine.outlook.withLock { $0 != nil } }
      for _ in 0..<10 { #expect(await heard.first { _ in true } == [.work, .results, .stops]) }
      try await other.configure([.constraint("c", satisfied: true)])
      #expect(await heard.first { !$0.contains(.work) } == .settings)
      let terms = JobTerms(deadline: .end(by: .after(.seconds(3600))))
      _ = try await other.insert(JobInsertion([.plain(terms: terms)]))
      #expect(await heard.first { $0.contains(.deadlines) } != nil)
      await one.close()
      await other.close()
    }

    @Test("In which process a worker is, is told by the commit that stores its row, and needs no call after that")
    func introduced() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let (one, other) = (try await server.store(schema), try await server.store(schema))
      let (listens, met) = (Gate(), Gate())
      one.engine.notices.begin(
        post: { _ in }, send: { _, _ in }, isBack: { listens.open() },
        meet: { if $0 == WorkerProcess.current() { met.open() } })
      other.engine.notices.begin(post: { _ in }, send: { _, _ in }, isBack: {}, meet: { _ in })
      let subscription = one.signals.listen { _ in }
      await listens.pass()
      _ = try await other.insert(JobInsertion([.plain()]))
      #expect(try await other.claim(.of(1)).jobs.count == 1)
      await met.pass()
      withExtendedLifetime(subscription) {}
      await one.close()
      await other.close()
    }

    @Test("A worker runs what another process stores, and its result is waited for from there")
    func acrossProcesses() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let (here, there) = (
        JobQueue(store: try await server.store(schema)), JobQueue(store: try await server.store(schema))
      )
      let worker = JobWorker(here)
      worker.register(Double.self)
      worker.start()
      for round in 1...5 { #expect(try await there.enqueue(Double(number: round)).value == 2 * round) }
      await worker.stop()
    }
  }

  extension TestServer {
    /// Runs `body` while a commit of another program, which also does `more`, waits for a standby that is not there.
    fileprivate func whileCommitWaits(_ more: String = "", _ body: () async throws -> Void) async throws {
      try psql("CREATE TABLE probe()")
      try psql("ALTER SYSTEM SET synchronous_standby_names='nobody'")
      try psql("SELECT pg_reload_conf()")
      // A commit that waits is not answered any more, once the server has read that.
      let isOver = Lock(false)
      Thread.detachNewThread {
        while !isOver.withLock({ $0 }) { _ = try? self.psql("INSERT INTO probe DEFAULT VALUES\(more)") }
      }
      let waiting = "FROM pg_stat_activity WHERE wait_event='SyncRep'"
      try await until { try !self.psql("SELECT 1 \(waiting)").isEmpty }
      try await body()
      isOver.withLock { $0 = true }
      try psql("SELECT pg_cancel_backend(pid) \(waiting)")
    }
  }
#endif
