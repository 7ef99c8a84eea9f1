#if Postgres
  import DurableJobs
  import DurableJobsPostgres
  import DurableJobsSchedules
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  /// Schedules in a fleet.
  @Suite struct ScheduleTests {
    private struct Tick: JobPayload { static let kind = "tick" }

    @Test(
      "C50 C52 C53 Of ten workers on five stores one stores the job of a tick, late ticks too, and one of ten declarations counts"
    )
    func fleet() async throws {
      let server = try TestServer.shared.get()
      let (schema, clock) = (TestServer.schema(), ManualClock())
      var stores: [PostgresStore] = []
      for _ in 0..<5 { stores.append(try await server.store(schema, clock: clock)) }
      let queues = stores.map { JobQueue(store: $0) }
      let declarations = try await withThrowingTaskGroup(of: ScheduleDeclaration.self) { group in
        for queue in queues + queues {
          group.addTask { try await queue.schedule("often", .every(.seconds(60)), Tick(), catchUp: .all) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(declarations.filter { $0 == .added }.count == 1 && declarations.filter { $0 == .unchanged }.count == 9)
      let workers = (queues + queues).map { JobWorker($0) }
      for worker in workers {
        worker.register(JobSchedule.self)
        worker.register(Tick.self) { _, _ in }
        worker.start()
      }
      var wanted = 0
      for late in [1, 1, 1, 5, 1] {
        wanted += late
        if late > 1 { for worker in workers { await worker.stop() } }
        clock.advance(by: .seconds(60 * late))
        if late > 1 { for worker in workers { worker.start() } }
        let count = wanted
        _ = try await stores[0].firstAfterEachSignal {
          let jobs = try await queues[0].jobs(where: .kind(Tick.self), limit: 100)
          return jobs.filter { $0.state == .succeeded }.count >= count ? true : nil as Bool?
        }
      }
      for worker in workers { await worker.stop() }
      let start = Date(timeIntervalSince1970: 1_800_000_000)
      let keys = try await queues[0].jobs(where: .kind(Tick.self), limit: 100).map(\.key)
      #expect(keys == (1...9).map { "often@\((start + 60 * Double($0)).formatted(.iso8601))" })
      #expect(try await queues[1].schedule("often", .every(.seconds(60)), Tick(), catchUp: .latest) == .changed)
      try await queues[2].pauseSchedule("often")
      #expect(try await queues[3].schedules().map(\.isPaused) == [true])
      try await queues[3].resumeSchedule("often")
      #expect(try await queues[4].unschedule("often"))
      #expect(try await queues[0].schedules().isEmpty)
      try WholeStore.expect(of: server, schema: schema)
      for store in stores { await store.close() }
    }

    /// 5, or what `DURABLE_KILLS` says.
    private static let kills = ProcessInfo.processInfo.environment["DURABLE_KILLS"].flatMap(Int.init) ?? 5

    @Test("C50 Whatever process is killed, each tick has one job")
    func killed() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let store = try await server.store(schema)
      let queue = JobQueue(store: store)
      let origin = Date().timeIntervalSince1970.rounded(.down)
      let start = Date(timeIntervalSince1970: origin)
      try await queue.schedule("second", .every(.seconds(1), from: start), Tick(), catchUp: .all)
      func worker() throws -> ChildProcess {
        let words = ["work", "\(server.string()) schema=\(schema)", "\(origin)", "\(Int.random(in: -400...400))"]
        return try ChildProcess(URL.built("ScheduleProbe").path, words)
      }
      var workers = try (0..<4).map { _ in try worker() }
      @Sendable func ticks() async throws -> [JobSnapshot] {
        try await queue.jobs(where: .kind(Tick.self), limit: 1_000_000)
      }
      var seen = 0
      for round in 0..<Self.kills {
        // Each is killed after the next tick that anybody stored.
        let before = seen
        seen = try await store.firstAfterEachSignal {
          let count = try await ticks().count
          return count > before ? count : nil
        }
        let index = round % workers.count
        workers[index].send(SIGKILL)
        #expect(await workers[index].ended() == .killed(by: SIGKILL))
        workers[index] = try worker()
      }
      for process in workers { process.send(SIGKILL) }
      for process in workers { await process.ended() }
      let keys = try await ticks().map(\.key)
      #expect(keys.count >= Self.kills)
      #expect(keys == keys.indices.map { "second@\((start + Double($0 + 1)).formatted(.iso8601))" })
      #expect(try await queue.jobs(where: .kind(JobSchedule.self) && !.state(.succeeded)).count == 1)
      try WholeStore.expect(of: server, schema: schema)
      await store.close()
    }
  }
#endif
