#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct LossTests {
    /// What was told to be stored, and what was told to have begun and ended.
    private struct Load: Sendable {
      static let limit = 12
      static let lanes = ["lane0", "lane1"]
      var stored: [JobID] = []
      /// Jobs in lanes, by lane, in the order in which they were claimed.
      var begun: [String: [JobID]] = [:]
      var ended: [JobID] = []

      mutating func began(_ jobs: [ClaimedJob]) {
        for job in jobs where Self.lanes.contains(job.kind) { begun[job.kind, default: []].append(job.token.job) }
      }
    }

    /// Producers and workers, until `disturb` is over and all is done. What was acknowledged is there, and what was finished was
    /// finished once; no more ran than the queue's limit, and each lane went on in its order.
    private func load(
      on server: TestServer, _ schema: String, more: String = "", thenOn last: TestServer? = nil,
      disturb: @escaping @Sendable () async throws -> Void
    ) async throws {
      let seen = Lock(Load())
      let isOver = Lock(false)
      let kinds = Set(["work"] + Load.lanes)
      let first = try await server.store(schema, more)
      try await first.configure([.limits(queue: "default", JobLimits(running: Load.limit))])
      // Enough for all slots of the workers from their first claims on, which are more than the limit.
      let backlog =
        Load.lanes.map { NewJob.plain($0, terms: JobTerms(lane: JobLane($0))) } + (0..<200).map { _ in .plain() }
      let ids = try await first.insert(JobInsertion(backlog)).ids
      seen.withLock { $0.stored += ids }
      await first.close()
      let notes = try StartNotes(of: server, schema: schema)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for lane in Load.lanes {
          let store = try await server.store(schema, more) { $0.callLimit = .seconds(60) }
          group.addTask {
            while !isOver.withLock({ $0 }) {
              let jobs = (0..<Int.random(in: 1...5)).map { place in
                Int.random(in: 0..<4) == 0
                  ? NewJob.plain(lane, terms: JobTerms(lane: JobLane(lane)))
                  : NewJob.plain(after: place > 0 && Bool.random() ? [JobEdge(.sibling(place - 1))] : [])
              }
              let ids = try await store.insert(JobInsertion(jobs)).ids
              seen.withLock { $0.stored += ids }
            }
          }
        }
        for number in 0..<2 {
          let store = try await server.store(schema, more) { $0.callLimit = .seconds(60) }
          group.addTask {
            let request = ClaimRequest.of(10, worker: "w\(number)", kinds: kinds)
            var held: [ClaimedJob] = []
            var isLast = false
            while true {
              let wasOver = isOver.withLock { $0 }
              let batch = try await store.settle(held.map { $0.settled() }, thenClaim: request)
              // Each claim was this worker's, and nobody was told that it was lost: its result counts, and once.
              #expect(batch.replies.allSatisfy { $0.isAccepted && $0.state == .succeeded })
              let ended = held.map(\.token.job)
              seen.withLock { $0.ended += ended }
              held = batch.claimed?.jobs ?? []
              seen.withLock { [held] in $0.began(held) }
              if wasOver, held.isEmpty {
                if isLast { break }
                isLast = true
              } else {
                isLast = false
              }
            }
          }
        }
        group.addTask {
          defer { isOver.withLock { $0 = true } }
          try await disturb()
        }
        // The first that fails ends the others.
        for try await _ in group {}
      }
      let server = last ?? server
      let store = try await server.store(schema)
      // What the last look of one worker freed may be left.
      while case let rest = try await store.claim(.of(100, kinds: kinds)).jobs, !rest.isEmpty {
        _ = try await store.settle(rest.map { $0.settled() }, thenClaim: nil)
      }
      let load = seen.withLock { $0 }
      let there = try await store.jobs(JobQuery(limit: 1_000_000))
      #expect(Set(load.stored).count == load.stored.count)
      #expect(Set(load.stored) == Set(there.map(\.id)), "what was acknowledged is there, and nothing twice")
      #expect(Set(load.ended).count == load.ended.count, "no job was finished twice")
      let starts = try notes.all(on: server)
      #expect(starts.map(\.running).max() == Load.limit)
      #expect(starts.filter { Load.lanes.contains($0.kind) }.map(\.ofKind).max() == 1)
      #expect(load.begun.count == Load.lanes.count)
      #expect(load.begun.values.allSatisfy { $0 == $0.sorted() }, "\(load.begun)")
      #expect(there.allSatisfy { $0.attempt == 1 || $0.state != .succeeded })
      try WholeStore.expect(of: server, schema: schema)
      print("\(load.stored.count) jobs stored, \(load.ended.count) finished")
    }

    @Test(
      "C75 Nothing is lost or done twice when the server is killed or restarted in order under load, and comes back",
      arguments: [true, false])
    func serverAway(isKilled: Bool) async throws {
      let server = try TestServer()
      let schema = TestServer.schema()
      await (try server.store(schema)).close()
      try await load(on: server, schema) {
        for _ in 0..<4 {
          try await Self.grown(server, schema, by: .random(in: 20...200))
          try isKilled ? server.kill() : server.stop()
          try server.start()
        }
      }
    }

    @Test("Nothing is lost or done twice when connections are ended by the server at any moment")
    func connectionsEnded() async throws {
      let server = try TestServer()
      let schema = TestServer.schema()
      await (try server.store(schema)).close()
      try await load(on: server, schema) {
        var ended = 0
        for _ in 0..<60 {
          try await Self.grown(server, schema, by: .random(in: 0...10))
          ended += try server.psql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name='durable_jobs' AND pid<>pg_backend_pid() "
              + "ORDER BY random() LIMIT 2"
          ).count
        }
        #expect(ended > 60)
      }
    }

    @Test(
      "C77 Nothing is lost or done twice when the server that leads is killed under load, and the one that follows leads"
    )
    func promoted() async throws {
      let server = try TestServer()
      let schema = TestServer.schema()
      await (try server.store(schema)).close()
      // It looks for its leader each second, and not each five.
      let other = try TestServer(options: "-c wal_retrieve_retry_interval=1s", following: server)
      // A commit is told once both have it.
      try server.psql("ALTER SYSTEM SET synchronous_standby_names='*'")
      try server.psql("SELECT pg_reload_conf()")
      let following = "SELECT count(*) FROM pg_stat_replication WHERE sync_state='sync'"
      try await until { try server.psql(following) == [["1"]] }
      let hosts = "host=\(server.folder),\(other.folder) target_session_attrs=read-write connect_timeout=5"
      try await load(on: server, schema, more: hosts, thenOn: other) {
        try await Self.grown(server, schema, by: 200)
        try server.kill()
        try other.promote()
        try await Self.grown(other, schema, by: 200)
      }
    }

    @Test(
      "C76 A connection whose packets are dropped without a reset is given up in time, and work goes on when they come again",
      .enabled(if: TestNetwork.isPossible, "needs Linux, iproute2, and the right to make networks"))
    func dropped() async throws {
      let server = try TestServer(options: "-c listen_addresses=0.0.0.0", isApart: true)
      let network = try TestNetwork(to: server)
      let schema = TestServer.schema()
      await (try server.store(schema)).close()
      let store = try await server.store(schema, "host=\(network.address)") {
        $0.callLimit = .seconds(3)
      }
      let queue = JobQueue(store: store)
      let worker = JobWorker(queue)
      let runs = Lock<[JobID]>([])
      worker.register(kind: "work") { _, context in
        runs.withLock { $0.append(context.id) }
        return nil
      }
      worker.start()
      func enqueue() async throws -> JobID { try await store.insert(JobInsertion([.plain()])).ids[0] }
      func done(_ id: JobID) async throws {
        try await until { try await store.jobs(JobQuery(.id(id))).first?.state == .succeeded }
      }
      var acknowledged = [try await enqueue()]
      try await done(acknowledged[0])
      for _ in 0..<2 {
        try network.drop(true)
        let error = await #expect(throws: JobError.self) { try await enqueue() }
        #expect(error?.code == .storeFailed, "\(error.map { "\($0)" } ?? "")")
        let reading = await #expect(throws: JobError.self) { try await store.counts(where: .all) }
        #expect(reading?.code == .storeFailed)
        try network.drop(false)
        // The server sends again what was not acknowledged to it, in its own time.
        while true {
          guard let id = try? await enqueue() else { continue }
          acknowledged.append(id)
          break
        }
        var isDone = false
        while !isDone { isDone = (try? await done(acknowledged.last!)) != nil }
      }
      await worker.stop()
      let there = try server.psql("SELECT id FROM job", schema: schema).compactMap { JobID($0[0]) }
      #expect(Set(acknowledged).isSubset(of: there))
      let all = runs.withLock { $0 }
      #expect(Set(all).count == all.count && Set(all).isSubset(of: there), "none ran twice")
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("What runs under a row that its own process has forgotten comes back by that process's own sweeps")
    func forgottenRow() async throws {
      let clock = ManualClock()
      let store = try await TestServer.shared.get().store(clock: clock)
      _ = try await store.insert(JobInsertion([.plain()]))
      _ = try await store.claim(.of(1))
      let workers = store.engine.context.workers
      workers.forget(Set(workers.allIDs))
      let sweep = RecoveryRequest(worker: WorkerID("w"))
      clock.advance(by: Defaults.lease)
      #expect(try await store.recover(sweep).recovered == 0, "it is asked first")
      clock.advance(by: Defaults.doubtInterval)
      #expect(try await store.recover(sweep).recovered == 1)
      await store.close()
    }

    @Test("A renewal that was under way when its worker took a new row does not have that row forgotten")
    func newRow() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let store = try await server.store(schema)
      _ = try await store.insert(JobInsertion([.plain(), .plain()]))
      let token = try #require(try await store.claim(.of(1)).jobs.first?.token)
      // Somebody took it for dead.
      try server.psql("UPDATE worker SET lease_until=-1", schema: schema)
      let step = RenewalRequest(
        worker: WorkerID("w"), renewals: [ClaimRenewal(token: token, steps: ["a": Data()])], isPartial: true)
      let (one, other) = (Session(engine: store.engine, number: 7), Session(engine: store.engine, number: 8))
      let end = SystemClock().uptime + .seconds(60)
      var claimed: [ClaimedJob] = []
      let standings = try one.write(until: end) { transaction in
        defer { claimed = (try? other.write(until: end) { try $0.claim(.of(1)) }.jobs) ?? [] }
        return try transaction.renew(step)
      }
      #expect(standings == [.lost] && claimed.count == 1)
      let renewals = claimed.map { ClaimRenewal(token: $0.token) }
      #expect(try await store.renew(RenewalRequest(worker: WorkerID("w"), renewals: renewals)) == [.held])
      await store.close()
    }

    /// Waits until so many more jobs are stored.
    private static func grown(_ server: TestServer, _ schema: String, by number: Int) async throws {
      func count() throws -> Int { Int(try server.psql("SELECT count(*) FROM job", schema: schema)[0][0]) ?? 0 }
      let goal = try count() + number
      try await until {
        try Task.checkCancellation()
        return try count() >= goal
      }
    }

    @Test("C76 A server that does not answer is given up in time, and told so")
    func silent() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let store = try await server.store(schema) { $0.callLimit = .seconds(5) }
      let id = try await store.insert(JobInsertion([.plain()])).ids[0]
      let other = try await server.store(schema)
      let release = DispatchSemaphore(value: 0)
      let locked = Gate()
      async let holder: Void = other.engine.run { session, deadline in
        try session.write(until: deadline) { transaction in
          _ = try transaction.change(.suspend(reason: nil), [id], limit: 1)
          locked.open()
          release.wait()
        }
      }
      await locked.pass()
      let error = await #expect(throws: JobError.self) {
        try await store.change(.cancel(reason: nil), where: .id(id), after: nil, limit: 1)
      }
      #expect(error?.code == .storeFailed && error?.message.contains("in time") == true)
      release.signal()
      try await holder
      #expect(try await store.jobs(JobQuery(.id(id))).map(\.state) == [.suspended])
    }

    @Test("A call that comes after the store was closed is refused")
    func closed() async throws {
      let store = try await TestServer.shared.get().store()
      await store.close()
      let error = await #expect(throws: JobError.self) { try await store.counts(where: .all) }
      #expect(error?.code == .closed)
    }
  }
#endif
