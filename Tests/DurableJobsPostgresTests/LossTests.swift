#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct LossTests {
    /// What was told to be stored, and what ran.
    private struct Load: Sendable {
      var stored: [JobID] = []
      var ended: [JobID] = []
    }

    /// Producers and workers, until `disturb` is over and all is done. What was acknowledged is there, and what was finished was
    /// finished once.
    private func load(
      on server: TestServer, _ schema: String, disturb: @escaping @Sendable () async throws -> Void
    ) async throws {
      let seen = Lock(Load())
      let isOver = Lock(false)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
          let store = try await server.store(schema) { $0.callLimit = .seconds(60) }
          group.addTask {
            while !isOver.withLock({ $0 }) {
              let jobs = (0..<Int.random(in: 1...5)).map { place in
                NewJob.plain(after: place > 0 && Bool.random() ? [JobEdge(.sibling(place - 1))] : [])
              }
              let ids = try await store.insert(JobInsertion(jobs)).ids
              seen.withLock { $0.stored += ids }
            }
          }
        }
        for number in 0..<2 {
          let store = try await server.store(schema) { $0.callLimit = .seconds(60) }
          group.addTask {
            let request = ClaimRequest.of(10, worker: "w\(number)")
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
              if wasOver, held.isEmpty {
                if isLast { break }
                isLast = true
              } else {
                isLast = false
              }
            }
          }
        }
        do { try await disturb() } catch { Issue.record("\(error)") }
        isOver.withLock { $0 = true }
        try await group.waitForAll()
      }
      let store = try await server.store(schema)
      // What the last look of one worker freed may be left.
      while case let rest = try await store.claim(.of(100)).jobs, !rest.isEmpty {
        _ = try await store.settle(rest.map { $0.settled() }, thenClaim: nil)
      }
      let load = seen.withLock { $0 }
      let there = try await store.jobs(JobQuery(limit: 1_000_000))
      #expect(Set(load.stored).count == load.stored.count)
      #expect(Set(load.stored) == Set(there.map(\.id)), "what was acknowledged is there, and nothing twice")
      #expect(Set(load.ended).count == load.ended.count, "no job was finished twice")
      #expect(there.allSatisfy { $0.attempt == 1 || $0.state != .succeeded })
      try WholeStore.expect(of: server, schema: schema)
      print("\(load.stored.count) jobs stored, \(load.ended.count) finished")
    }

    @Test("C75 Nothing is lost or done twice when the server is killed under load, and comes back")
    func serverKilled() async throws {
      let server = try TestServer()
      let schema = TestServer.schema()
      await (try server.store(schema)).close()
      try await load(on: server, schema) {
        for _ in 0..<4 {
          try await Self.grown(server, schema, by: .random(in: 20...200))
          try server.kill()
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
        for _ in 0..<60 {
          try await Self.grown(server, schema, by: .random(in: 0...10))
          try server.psql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name='durable_jobs' AND pid<>pg_backend_pid() "
              + "ORDER BY random() LIMIT 2")
        }
      }
    }

    /// Waits until so many more jobs are stored.
    private static func grown(_ server: TestServer, _ schema: String, by number: Int) async throws {
      func count() throws -> Int { Int(try server.psql("SELECT count(*) FROM job", schema: schema)[0][0]) ?? 0 }
      let goal = try count() + number
      while try count() < goal { await Task.yield() }
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
          _ = try transaction.run(ChangeVerb(.suspend(reason: nil), [id], limit: 1, now: transaction.now))
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
