#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct RoundTripTests {
    private let store: PostgresStore
    private let session: Session

    init() async throws {
      store = try await TestServer.shared.get().store()
      session = Session(engine: store.engine, number: 7)
    }

    /// How often `body` waits for the server, once what it needs is prepared and known.
    private func roundTrips<R>(_ body: (Transaction) throws -> R) throws -> (reply: R, count: Int) {
      let before = session.connection?.roundTrips ?? 0
      let reply = try session.write(until: SystemClock().uptime + .seconds(60), body)
      return (reply, (session.connection?.roundTrips ?? 0) - before)
    }

    private func insert(_ jobs: [NewJob]) throws -> (ids: [JobID], count: Int) {
      let (reply, count) = try roundTrips { transaction in
        transaction.expectedIDs = jobs.allSatisfy(\.edges.isEmpty) ? 0 : jobs.count
        return try transaction.insert(JobInsertion(jobs))
      }
      return (reply.ids, count)
    }

    private func claim(_ count: Int) throws -> (jobs: [ClaimedJob], count: Int) {
      let (reply, count) = try roundTrips { try $0.claim(.of(count)) }
      return (reply.jobs, count)
    }

    private func settle(_ jobs: [ClaimedJob], thenClaim count: Int) throws -> (jobs: [ClaimedJob], count: Int) {
      let request = ClaimRequest.of(count)
      let (reply, count) = try roundTrips { transaction in
        transaction.expectedWorker = request.worker
        let settled = try transaction.settle(jobs.map { $0.settled() }).replies
        #expect(settled.allSatisfy { $0.isAccepted })
        return try transaction.claim(request)
      }
      return (reply.jobs, count)
    }

    @Test("A thousand plain jobs are stored in three round trips at most")
    func insertion() throws {
      _ = try insert([.plain()])
      let (ids, count) = try insert((0..<1000).map { _ in .plain() })
      #expect(ids.count == 1000 && ids == ids.sorted())
      #expect(count <= 3, "\(count) round trips")
    }

    @Test("A plain job that is stored alone takes four statements, and COMMIT is sent while the server is at the third")
    func alone() throws {
      func insertAlone(_ job: NewJob) throws -> (id: JobID, statements: Int) {
        let before = session.connection?.statements ?? 0
        let ids = try session.write(until: SystemClock().uptime + .seconds(60)) { transaction in
          transaction.isLone = true
          return try transaction.insert(JobInsertion([job])).ids
        }
        return (try #require(ids.first), (session.connection?.statements ?? 0) - before)
      }
      let first = try insert([.plain()]).ids
      let terms = JobTerms(priority: .low, start: .after(.seconds(3600)), maxAttempts: 3)
      let (plain, rare) = (try insertAlone(.plain()), try insertAlone(.plain(terms: terms)))
      #expect(plain.statements == 4 && rare.statements == 4)
      // In the usual way: there is more to write.
      let tagged = try insertAlone(.plain(terms: JobTerms(tags: ["a"])))
      let ids = first + [plain.id, rare.id, tagged.id]
      #expect(ids == ids.sorted())
      let usual = try insert([.plain(terms: terms)]).ids
      let jobs = try session.read(until: SystemClock().uptime + .seconds(60)) {
        try $0.jobs(JobQuery(.ids(ids + usual), detail: .all), now: 0)
      }
      #expect(jobs.map(\.state) == [.ready, .ready, .scheduled, .ready, .scheduled])
      let (alone, other) = (jobs[2], jobs[4])
      #expect(alone.payload == other.payload && alone.priority == other.priority)
      #expect(alone.maxAttempts == other.maxAttempts && alone.key == other.key && alone.tags == other.tags)
      let counts = try session.read(until: SystemClock().uptime + .seconds(60)) { try $0.counts(where: .all) }
      #expect(counts == JobCounts([.ready: 3, .scheduled: 2]))
    }

    @Test(
      "A plain job that is stored alone is stored again with the right time if the server's clock was another",
      arguments: [0, 4_000_000_000_000])
    func aloneAfterClock(other: Int64) throws {
      _ = try insert([.plain()])
      _ = store.engine.serverClock?.heard(other, since: SystemClock().uptime)
      let ids = try session.write(until: SystemClock().uptime + .seconds(60)) { transaction in
        transaction.isLone = true
        return try transaction.insert(JobInsertion([.plain()])).ids
      }
      let jobs = try session.read(until: SystemClock().uptime + .seconds(60)) {
        try $0.jobs(JobQuery(limit: 10), now: 0)
      }
      #expect(jobs.count == 2 && ids.count == 1)
      #expect(jobs.allSatisfy { abs($0.createdAt.timeIntervalSinceNow) < 86_400 })
    }

    @Test("Who only reads hears what time it is, and reads again if it was another, which moves nothing that waits")
    func readAtOtherTime() throws {
      let id = try insert([.plain(terms: JobTerms(start: .after(.seconds(1800))))]).ids[0]
      let clock = try #require(store.engine.serverClock)
      let now = clock.now.milliseconds
      _ = clock.heard(now + 3_600_000, since: clock.uptime)
      let times = Lock<[Int64]>([])
      func read() throws -> JobSnapshot? {
        try session.read(until: SystemClock().uptime + .seconds(60)) { reader in
          let now = store.engine.time.now
          times.withLock { $0.append(now) }
          return try reader.jobs(JobQuery(.id(id)), now: now).first
        }
      }
      let runAt = try #require(try read()?.runAt)
      #expect(times.value.count == 2 && abs((times.value.last ?? 0) - now) < 60_000)
      #expect(abs(runAt.milliseconds - now - 1_800_000) < 60_000)
      #expect(try read()?.runAt == runAt)
    }

    @Test(
      "A time that was estimated from a slow answer, and never confirmed, moves nothing that waits",
      arguments: [106, -106])
    func guess(error: Int64) throws {
      let id = try insert([.plain(terms: JobTerms(start: .after(.seconds(3600))))]).ids[0]
      func read() throws -> JobSnapshot? {
        try session.read(until: SystemClock().uptime + .seconds(60)) { try $0.jobs(JobQuery(.id(id)), now: 0).first }
      }
      let before = try #require(try read())
      // As if the answer had been under way for long.
      let clock = try #require(store.engine.serverClock)
      let (now, uptime) = (clock.now.milliseconds, clock.uptime)
      _ = clock.heard(now - 60_000 + error * 1000, since: uptime - .seconds(120))
      #expect(abs(clock.now.milliseconds - now) > 30_000)
      _ = try read()
      _ = try insert([.plain()])
      #expect(abs(clock.now.milliseconds - now) < 10_000)
      #expect(try read()?.runAt == before.runAt)
    }

    @Test("A hundred plain jobs are claimed by as many statements as one, and a hundred results stored by as many")
    func statements() throws {
      func statements<R>(_ body: (Transaction) throws -> R) throws -> (reply: R, count: Int) {
        let before = session.connection?.statements ?? 0
        let reply = try session.write(until: SystemClock().uptime + .seconds(60), body)
        return (reply, (session.connection?.statements ?? 0) - before)
      }
      _ = try insert((0..<300).map { _ in .plain() })
      var counts: [[Int]] = []
      // The first time, there is a worker to be made known.
      for size in [10, 1, 100] {
        let claim = try statements { try $0.claim(.of(size)) }
        #expect(claim.reply.jobs.count == size)
        let ends = claim.reply.jobs.map { $0.settled() }
        let settling = try statements { try Turn(ends, nil).run(in: $0).replies }
        #expect(settling.reply.count == size && settling.reply.allSatisfy { $0.isAccepted })
        counts.append([claim.count, settling.count])
      }
      #expect(counts[1] == counts[2] && counts[1] == [8, 5], "\(counts)")
    }

    @Test("What is posted and fails changes nothing for what is sent later, and can be posted again")
    func posted() throws {
      _ = try insert([.plain()])
      let (sql, until) = ("INSERT INTO §noted VALUES(1)", SystemClock().uptime + .seconds(60))
      for sql in [sql, "SELECT 1/0", sql] { #expect(session.post(sql, [])) }
      #expect(try insert([.plain()]).ids.count == 1)
      try session.execute("CREATE TABLE §noted(n int)", [], until: until)
      for _ in 0..<2 { #expect(session.post(sql, [])) }
      var noted: Int64 = 0
      let connection = try #require(session.connection)
      connection.send("SELECT count(*) FROM §noted") { noted = $0.int(0, 0) }
      try connection.sync()
      #expect(noted == 2)
    }

    @Test("However many results there are, the row of the worker that brings them is looked up once")
    func worker() throws {
      _ = try insert((0..<101).map { _ in .plain() })
      func lookUps(_ count: Int) throws -> Int64 {
        let held = try claim(count).jobs
        return try session.write(until: SystemClock().uptime + .seconds(60)) { transaction in
          func scans() throws -> Int64 {
            var number: Int64 = 0
            let sql = "SELECT pg_stat_get_xact_numscans('§worker_pkey'::regclass)"
            transaction.connection.send(sql) { number = $0.int(0, 0) }
            try transaction.sync()
            return number
          }
          transaction.begin()
          let before = try scans()
          let replies = try transaction.settle(held.map { $0.settled() }).replies
          #expect(replies.count { $0.isAccepted } == count)
          return try scans() - before
        }
      }
      #expect(try lookUps(1) == 1)
      #expect(try lookUps(100) == 1)
    }

    @Test("A hundred results and a claim of a hundred take three round trips at most")
    func turn() throws {
      _ = try insert((0..<300).map { _ in .plain() })
      let first = try claim(100).jobs
      let second = try settle(first, thenClaim: 100).jobs
      let (third, count) = try settle(second, thenClaim: 100)
      #expect(third.count == 100)
      #expect(count <= 3, "\(count) round trips")
    }

    @Test("Results and a claim go out together, and what ended meanwhile joins their transaction")
    func join() throws {
      _ = try insert((0..<400).map { _ in .plain() })
      let held = try claim(100).jobs
      func turn(_ jobs: [ClaimedJob], joinedBy parts: [[ClaimedJob]]) throws -> (batch: SettlementBatch, count: Int) {
        let left = Lock(parts)
        var request = ClaimRequest.of(jobs.count)
        request.join = {
          guard let part = left.withLock({ $0.popLast() }) else { return nil }
          return (part.map { $0.settled() }, ["default": part.count])
        }
        let turn = Turn(jobs.map { $0.settled() }, request)
        let (batch, count) = try roundTrips { try turn.run(in: $0) }
        return (batch, count)
      }
      let (alone, count) = try turn(Array(held.prefix(50)), joinedBy: [])
      #expect(alone.replies.count { $0.isAccepted } == 50 && alone.claimed?.jobs.count == 50)
      #expect(count <= 2, "\(count) round trips")
      let next = alone.claimed?.jobs ?? []
      let (joined, more) = try turn(next, joinedBy: [Array(held.dropFirst(50))])
      #expect(joined.replies.count { $0.isAccepted } == 100 && joined.claimed?.jobs.count == 100)
      #expect(Set(joined.claimed?.jobs.map(\.token.job) ?? []).count == 100)
      #expect(more <= 3, "\(more) round trips")
      let counts = try session.read(until: SystemClock().uptime + .seconds(60)) { try $0.counts(where: .all) }
      #expect(counts == JobCounts([.ready: 150, .running: 100, .succeeded: 150]))
    }

    @Test("What joins a turn takes two statements more, and whoever waits for a time is looked for once")
    func joinStatements() throws {
      _ = try insert((0..<40).map { _ in .plain() } + [.plain(terms: JobTerms(start: .after(.seconds(3600))))])
      let held = Lock(try claim(8).jobs)
      func turn(joins: Int) throws -> Int {
        let left = Lock(joins)
        let next: @Sendable () -> [ClaimSettlement] = {
          held.withLock { held in
            defer { held.removeFirst(2) }
            return held.prefix(2).map { $0.settled() }
          }
        }
        var request = ClaimRequest.of(2)
        request.join = {
          left.withLock { left in
            left -= 1
            return left >= 0 ? (next(), ["default": 2]) : nil
          }
        }
        let turn = Turn(next(), request)
        let before = session.connection?.statements ?? 0
        let claimed = try roundTrips { try turn.run(in: $0) }.reply.claimed
        held.withLock { $0 += claimed?.jobs ?? [] }
        #expect(claimed?.jobs.count == 2 * (joins + 1))
        #expect(claimed?.nextDue.map { (.seconds(3500)...Duration.seconds(3600)).contains($0) } == true)
        return (session.connection?.statements ?? 0) - before
      }
      _ = try turn(joins: 0)
      #expect(try turn(joins: 1) - turn(joins: 0) == 2)
    }

    @Test("That a transaction waits for locks no longer than it may takes no statement of its own")
    func patience() throws {
      _ = try insert([.plain()])
      func statements(_ patience: Duration?) throws -> (limit: String?, count: Int) {
        let before = session.connection?.statements ?? 0
        let limit = try session.write(until: SystemClock().uptime + .seconds(60), waitingForLocks: patience) {
          var limit: String?
          $0.begin()
          $0.connection.send("SELECT current_setting('lock_timeout')") { limit = $0.text(0, 0) }
          try $0.sync()
          return limit
        }
        return (limit, (session.connection?.statements ?? 0) - before)
      }
      let (usual, hasty) = (try statements(nil), try statements(.milliseconds(70)))
      #expect(usual.limit == "0" && hasty.limit == "70ms" && usual.count == hasty.count)
      #expect(try statements(nil).limit == "0")
    }

    enum Locked: String, CaseIterable, Sendable { case nothingElse, lane, child, limit, retry }

    @Test("Nothing joins a turn that has locked more than its own plain jobs", arguments: Locked.allCases)
    func joinAfter(locked: Locked) async throws {
      if locked == .limit { try await store.configure([.limits(queue: "default", JobLimits(running: 9))]) }
      let terms = locked == .lane ? JobTerms(lane: JobLane("lane")) : JobTerms()
      let ids = try insert([.plain(terms: terms), .plain(), .plain()]).ids
      if locked == .child { _ = try insert([.plain("child", after: [JobEdge(.job(ids[0]))])]) }
      let held = try claim(1).jobs
      let asked = Lock(0)
      var request = ClaimRequest.of(1)
      request.join = {
        asked.withLock { $0 += 1 }
        return nil
      }
      let later = ClaimSettlement.Result.retry(.after(.seconds(9)), message: "later")
      let turn = Turn([held[0].settled(locked == .retry ? later : .succeeded(output: nil))], request)
      let batch = try roundTrips { try turn.run(in: $0) }.reply
      #expect(batch.replies.map(\.isAccepted) == [true] && batch.claimed?.jobs.count == 1)
      #expect(asked.withLock(\.self) == (locked == .nothingElse ? 1 : 0))
    }

    @Test("A worker whose claims have used up its row's numbers takes another row, also in the middle of a turn")
    func claimNumbers() throws {
      _ = try insert((0..<9).map { _ in .plain() })
      let held = try claim(2).jobs
      let row = ClaimNumber(rawValue: held[0].token.claim).worker
      store.engine.context.workers.state.withLock { $0.claims[row] = ClaimNumber.limit - 2 }
      let left = Lock(1)
      var request = ClaimRequest.of(1)
      request.join = {
        left.withLock { left in
          defer { left = 0 }
          return left > 0 ? ([held[1].settled()], ["default": 1]) : nil
        }
      }
      let turn = Turn([held[0].settled()], request)
      let batch = try roundTrips { try turn.run(in: $0) }.reply
      #expect(batch.replies.map(\.isAccepted) == [true, true])
      let claims = try #require(batch.claimed).jobs.map { ClaimNumber(rawValue: $0.token.claim) }
      #expect(claims.map { $0.worker == row } == [true, false])
    }

    @Test("What joined a turn that had to be carried out again is carried out with it")
    func joinAgain() throws {
      struct Again: Error {}
      _ = try insert((0..<4).map { _ in .plain() })
      let held = try claim(2).jobs
      let joins = Lock(0)
      var request = ClaimRequest.of(1)
      request.join = {
        joins.withLock { $0 += 1 }
        guard joins.withLock(\.self) == 1 else { return nil }
        return ([held[1].settled()], ["default": 1])
      }
      let turn = Turn([held[0].settled()], request)
      #expect(throws: Again.self) {
        try roundTrips { transaction in
          _ = try turn.run(in: transaction)
          throw Again()
        }
      }
      let batch = try roundTrips { try turn.run(in: $0) }.reply
      #expect(batch.replies.map(\.isAccepted) == [true, true] && batch.claimed?.jobs.count == 2)
    }

    @Test("A claim that was sent in advance takes nothing that another process forbade meanwhile")
    func surprise() async throws {
      _ = try insert((0..<9).map { _ in .plain() })
      let held = try claim(2).jobs
      let other = try await TestServer.shared.get().store(store.engine.configuration.schema)
      try await other.configure([.queue("default", isPaused: true)])
      let paused = Turn([held[0].settled()], .of(3))
      let batch = try roundTrips { try paused.run(in: $0) }.reply
      #expect(batch.replies.map(\.isAccepted) == [true] && batch.claimed?.jobs.isEmpty == true)
      try await other.configure([.queue("default", isPaused: false)])
      // Somebody took it for dead.
      try session.execute("UPDATE §worker SET lease_until=-1", [], until: SystemClock().uptime + .seconds(60))
      let lost = Turn([held[1].settled()], .of(3))
      let next = try roundTrips { try lost.run(in: $0) }.reply
      #expect(next.replies.map(\.isAccepted) == [false] && next.claimed?.jobs.count == 3)
      let row = ClaimNumber(rawValue: held[1].token.claim).worker
      #expect(next.claimed?.jobs.allSatisfy { ClaimNumber(rawValue: $0.token.claim).worker != row } == true)
      await other.close()
    }

    @Test("A result that a hundred wait for takes three round trips more at most")
    func children() throws {
      let parents = try insert([.plain(), .plain(), .plain(), .plain("child")]).ids.dropLast()
      for parent in parents.dropFirst() {
        let (_, count) = try insert((0..<100).map { _ in .plain("child", after: [JobEdge(.job(parent))]) })
        #expect(count <= 3, "\(count) round trips")
      }
      var held = try claim(3).jobs
      for _ in 0..<2 { held = try settle([held[0]], thenClaim: 0).jobs + held.dropFirst() }
      let (_, count) = try settle([held[0]], thenClaim: 100)
      #expect(count <= 6, "\(count) round trips")
      let counts = try session.read(until: SystemClock().uptime + .seconds(60)) { try $0.counts(where: .kind("child")) }
      #expect(counts[.ready] == 201)
    }

    /// That no compression makes less.
    private func large() throws -> Data {
      try #require(try FileHandle(forReadingFrom: URL(filePath: "/dev/urandom")).read(upToCount: 5_000_000))
    }

    @Test("Small jobs beside large ones take the round trips that they take alone")
    func beside() throws {
      func turn(_ payload: Data) throws -> [Int] {
        let jobs = (0..<100).map { $0 == 50 ? NewJob(queue: "default", kind: "work", payload: payload) : .plain() }
        let insertion = try insert(jobs).count
        let claim = try claim(100)
        #expect(claim.jobs.map(\.payload) == jobs.map(\.payload))
        let ends = claim.jobs.map { $0.settled(.succeeded(output: $0.payload)) }
        let (reply, count) = try roundTrips { transaction in
          try transaction.settle(ends).replies
        }
        #expect(reply.allSatisfy { $0.isAccepted })
        return [insertion, claim.count, count]
      }
      _ = try turn(Data("{}".utf8))
      let alone = try turn(Data("{}".utf8))
      #expect(try turn(try large()) == alone)
    }

    @Test("A list reads nothing of payloads and outputs that nobody asked for")
    func list() throws {
      let large = try large()
      let id = try insert([NewJob(queue: "default", kind: "work", payload: large)]).ids[0]
      let ends = try claim(1).jobs.map { $0.settled(.succeeded(output: large)) }
      _ = try roundTrips { try $0.settle(ends) }
      /// Blocks of what stands beside the rows because it is large.
      func blocks(_ detail: JobQuery.Detail) throws -> Int64 {
        try session.read(until: SystemClock().uptime + .seconds(60)) { reader in
          let sum = Lock<Int64>(0)
          func count(_ sign: Int64) {
            reader.connection.send(
              """
              SELECT coalesce(sum(pg_stat_get_xact_blocks_fetched(reltoastrelid)),0)::bigint FROM pg_class
              WHERE oid IN ('§spec'::regclass,'§output'::regclass)
              """
            ) { rows in sum.withLock { $0 += sign * rows.int(0, 0) } }
          }
          count(-1)
          let job = try reader.jobs(JobQuery(.id(id), detail: detail), now: 0)
          #expect(job.map(\.payload) == [detail.contains(.payload) ? large : nil])
          #expect(job.map(\.output) == [detail.contains(.output) ? large : nil])
          count(1)
          try reader.connection.sync()
          return sum.withLock { $0 }
        }
      }
      #expect(try blocks([]) == 0)
      #expect(try blocks(.payload) > 500)
      #expect(try blocks(.output) > 500)
    }

    @Test(
      "A page of a key, a tag or a batch reads no more than it holds, however many are named so",
      arguments: ["job_key", "tag", "batch_job"])
    func page(table: String) throws {
      let terms = JobTerms(key: "k", tags: ["t"])
      let reply = try session.write(until: SystemClock().uptime + .seconds(60)) {
        try $0.insert(
          JobInsertion((0..<500).map { _ in .plain(terms: terms) }, batch: .new(name: "b", whenDone: nil)))
      }
      let (ids, batch) = (reply.ids, try #require(reply.batch))
      let filter: JobFilter = table == "tag" ? .tag("t") : table == "batch_job" ? .batch(batch) : .key("k")
      let pages = [
        (JobQuery.Order.oldestFirst, Array(ids[201..<211])), (.newestFirst, ids[190..<200].reversed()),
      ]
      for (order, page) in pages {
        let read = Lock<Int64>(0)
        let found = try session.read(until: SystemClock().uptime + .seconds(60)) { reader in
          func count(_ sign: Int64) {
            reader.connection.send("SELECT pg_stat_get_xact_tuples_returned('§\(table)_pkey'::regclass)") { rows in
              read.withLock { $0 += sign * rows.int(0, 0) }
            }
          }
          count(-1)
          let jobs = JobPage(
            filter: filter, after: ids[200], order: order, limit: 10, routes: try reader.routes(for: filter))
          let found = try jobs.ids(on: reader.connection)
          count(1)
          try reader.connection.sync()
          return found
        }
        #expect(found == page)
        #expect(read.value <= 30, "\(read.value) entries")
      }
    }

    @Test("A claim that finds nothing is cheap")
    func nothing() throws {
      _ = try insert([.plain("other")])
      _ = try claim(1)
      let (jobs, count) = try claim(1)
      #expect(jobs.isEmpty)
      #expect(count <= 3, "\(count) round trips")
    }
  }
#endif
