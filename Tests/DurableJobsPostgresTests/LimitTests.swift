#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  /// Limits that hold over connections, stores and processes.
  @Suite struct LimitTests {
    private let server: TestServer
    private let schema = TestServer.schema()
    private let store: PostgresStore

    init() async throws {
      server = try TestServer.shared.get()
      store = try await server.store(schema)
    }

    private func set(_ limits: JobLimits, of queue: String = "default") async throws {
      try await store.configure([.limits(queue: queue, limits)])
    }

    private func add(_ count: Int, kind: String = "work") async throws {
      _ = try await store.insert(JobInsertion((0..<count).map { _ in .plain(kind) }))
    }

    private func running(atMost limit: Int) async throws -> JobCounts {
      let counts = try await store.counts(where: .queue("default"))
      #expect(counts[.running] <= limit)
      return counts
    }

    @Test("A fleet under load never runs more than the limit, and leaves no place empty for good")
    func fleet() async throws {
      try await set(JobLimits(running: 5))
      try await add(300)
      let handled = Lock((now: 0, highest: 0))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<3 {
          let worker = JobWorker(JobQueue(store: try await server.store(schema)), maxConcurrentJobs: 4)
          worker.register(kind: "work") { _, _ in
            handled.withLock { $0 = ($0.now + 1, max($0.highest, $0.now + 1)) }
            defer { handled.withLock { $0.now -= 1 } }
            for _ in 0..<50 { await Task.yield() }
            return nil
          }
          group.addTask { try await worker.runUntilIdle() }
        }
        group.addTask { try await until { try await running(atMost: 5)[.succeeded] == 300 } }
        try await group.waitForAll()
      }
      #expect(handled.withLock(\.highest) <= 5)
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("No window has more starts than the rate and its burst, whoever claims")
    func rate() async throws {
      let (schema, clock) = (TestServer.schema(), ManualClock())
      let stores = try await [
        server.store(schema, clock: clock), server.store(schema, clock: clock), server.store(schema, clock: clock),
      ]
      let rate = JobRate(200, per: .seconds(1), burst: 5)
      try await stores[0].configure([.limits(queue: "default", JobLimits(rate: rate))])
      _ = try await stores[0].insert(JobInsertion((0..<200).map { _ in .plain() }))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, store) in stores.enumerated() {
          group.addTask {
            let request = ClaimRequest.of(4, worker: "w\(number)")
            while try await store.counts(where: .all)[.ready] > 0 {
              let batch = try await store.claim(request)
              _ = try await store.settle(batch.jobs.map { $0.settled() }, thenClaim: nil)
              // Time goes on where there is nothing to do, whatever the others are at.
              if batch.jobs.isEmpty { clock.advance(by: .milliseconds(.random(in: 1...10))) }
            }
          }
        }
        try await group.waitForAll()
      }
      let jobs = try await stores[0].jobs(JobQuery(limit: 1000))
      let starts = jobs.compactMap { $0.startedAt?.milliseconds }.sorted()
      #expect(starts.count == 200)
      #expect(rate.allows(starts))
    }

    @Test("A killed worker that had all places leaves no more than the limit running, and others go on")
    func killed() async throws {
      try await set(JobLimits(running: 4))
      try await add(200, kind: "lingers")
      let record = FileManager.default.temporaryDirectory.appending(path: "record-\(schema)").path
      defer { try? FileManager.default.removeItem(atPath: record) }
      func work() throws -> ChildProcess {
        try ChildProcess(
          URL.built("CrashProbe").path, ["work", "\(server.string()) schema=\(schema)", record])
      }
      var workers = [try work()]
      for round in 0..<2 {
        let ended = try await running(atMost: 4)[.succeeded]
        try await until {
          let now = try await running(atMost: 4)
          return now[.running] == 4 && now[.succeeded] > ended || now[.succeeded] >= 180
        }
        let victim = workers.removeFirst()
        victim.send(SIGKILL)
        #expect(await victim.ended() == .killed(by: SIGKILL))
        while workers.count < 1 + round % 2 { workers.append(try work()) }
      }
      try await until { try await running(atMost: 4)[.succeeded] == 200 }
      for worker in workers { worker.send(SIGKILL) }
      for worker in workers { _ = await worker.ended() }
    }

    /// Workers do all that is stored, and five of them are killed on the way.
    private func workUnderKills(_ notes: StartNotes, jobs: Int) async throws {
      let record = FileManager.default.temporaryDirectory.appending(path: "record-\(schema)").path
      defer { try? FileManager.default.removeItem(atPath: record) }
      func work() throws -> ChildProcess {
        try ChildProcess(URL.built("CrashProbe").path, ["work", "\(server.string()) schema=\(schema)", record])
      }
      var workers = [try work(), try work()]
      for round in 0..<5 {
        let goal = min(try notes.all(on: server).count + .random(in: 1...20), jobs)
        try await until { try notes.all(on: server).count >= goal }
        let victim = workers.remove(at: round % 2)
        victim.send(SIGKILL)
        #expect(await victim.ended() == .killed(by: SIGKILL))
        workers.append(try work())
      }
      try await until {
        try await store.counts(where: .state(.ready) || .state(.scheduled) || .state(.blocked) || .state(.running))
          .total == 0
      }
      for worker in workers { worker.send(SIGKILL) }
      for worker in workers { _ = await worker.ended() }
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("No window has more starts than the rate and its burst, also when workers are killed")
    func rateUnderKills() async throws {
      let rate = JobRate(200, per: .seconds(1), burst: 5)
      try await set(JobLimits(rate: rate))
      try await add(300)
      let notes = try StartNotes(of: server, schema: schema)
      try await workUnderKills(notes, jobs: 300)
      let starts = try notes.all(on: server)
      #expect(starts.count >= 300)
      #expect(rate.allows(starts.map(\.at)))
    }

    @Test("No lane runs more than its width or begins more often than its rate, also when workers are killed")
    func lanesUnderKills() async throws {
      let rate = JobRate(50, per: .seconds(1), burst: 3)
      try await store.configure([.lane("wide", width: 3), .laneRate("paced", rate)])
      let (wide, paced) = (JobTerms(lane: JobLane("wide")), JobTerms(lane: JobLane("paced")))
      _ = try await store.insert(
        JobInsertion(
          (0..<60).map { _ in .plain("lingers", terms: wide) } + (0..<60).map { _ in .plain(terms: paced) }))
      let notes = try StartNotes(of: server, schema: schema)
      try await workUnderKills(notes, jobs: 120)
      let starts = try notes.all(on: server)
      let (ofWide, ofPaced) = (starts.filter { $0.kind == "lingers" }, starts.filter { $0.kind == "work" })
      #expect(ofWide.count >= 60 && ofPaced.count >= 60)
      #expect(ofWide.map(\.ofKind).max() == 3)
      #expect(ofPaced.map(\.ofKind).max() == 1)
      #expect(rate.allows(ofPaced.map(\.at)))
    }

    @Test("A queue without room is not waited for, whoever has it to himself")
    func others() async throws {
      try await set(JobLimits(running: 1))
      try await add(2)
      _ = try await store.insert(JobInsertion([NewJob(queue: "free", kind: "work", payload: Data())]))
      let first = try await store.claim(.of(1))
      #expect(first.jobs.count == 1)
      let (one, other) = (Session(engine: store.engine, number: 7), Session(engine: store.engine, number: 8))
      let end = SystemClock().uptime + .seconds(60)
      try one.write(until: end) { transaction in
        transaction.begin()
        transaction.connection.send("SELECT 1 FROM §queue WHERE name='default' FOR UPDATE")
        try transaction.sync()
        let request = ClaimRequest(worker: WorkerID("v"), kinds: ["work"], free: ["default": 1, "free": 1])
        let batch = try other.write(until: end) { try $0.claim(request) }
        #expect(batch.jobs.map(\.queue) == ["free"])
        #expect(batch.full == ["default"])
      }
    }

    @Test("A transaction that has waited long leaves times alone that others wrote meanwhile, and is begun again")
    func old() async throws {
      let rate = JobRate(1, per: .seconds(60), burst: 5)
      try await store.configure([.limits(queue: "default", JobLimits(rate: rate)), .laneRate("l", rate)])
      _ = try await store.insert(JobInsertion([.plain(), .plain(terms: JobTerms(lane: JobLane("l")))]))
      let session = Session(engine: store.engine, number: 7)
      let end = SystemClock().uptime + .seconds(60)
      let verbs: [(Transaction) throws -> Void] = [
        { _ = try $0.claim(.of(1)) },
        { _ = try $0.insert(JobInsertion([.plain(terms: JobTerms(lane: JobLane("l")))])) },
      ]
      for verb in verbs {
        var begun = 0
        try session.write(until: end) { transaction in
          begun += 1
          transaction.begin()
          if begun == 1 { transaction.timedAt -= .seconds(6) }
          try verb(transaction)
        }
        #expect(begun == 2)
      }
    }

    @Test("A limit costs its queue one round trip a claim, a rate two, and other queues none")
    func roundTrips() async throws {
      let session = Session(engine: store.engine, number: 7)
      func count(_ limits: JobLimits?, of queue: String) async throws -> Int {
        try await store.configure([.limits(queue: queue, limits)])
        try await add(20)
        var number = 0
        for _ in 0..<2 {
          let before = session.connection?.roundTrips ?? 0
          let batch = try session.write(until: SystemClock().uptime + .seconds(60)) {
            try $0.claim(.of(5))
          }
          #expect(batch.jobs.count == 5)
          number = (session.connection?.roundTrips ?? 0) - before
        }
        return number
      }
      let free = try await count(nil, of: "default")
      let rate = JobRate(1_000_000, per: .seconds(1), burst: 1000)
      #expect(try await count(JobLimits(running: 1000, rate: rate), of: "other") == free)
      #expect(try await count(JobLimits(running: 1000), of: "default") == free + 1)
      #expect(try await count(JobLimits(running: 1000, rate: rate), of: "default") == free + 2)
    }
  }
#endif
