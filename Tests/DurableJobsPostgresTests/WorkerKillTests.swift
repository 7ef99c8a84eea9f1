#if Postgres
  import DurableJobs
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  /// Processes that are really killed.
  @Suite struct WorkerKillTests {
    /// 5, or what `DURABLE_KILLS` says.
    private static let kills = ProcessInfo.processInfo.environment["DURABLE_KILLS"].flatMap(Int.init) ?? 5

    /// A store, and what processes did to it that were killed meanwhile.
    private struct Campaign {
      let server: TestServer
      let schema: String
      let store: PostgresStore
      let killed: Set<Int>
      let jobs: [JobSnapshot]
      let deeds: Deeds
    }

    /// Two workers and a producer are killed at random, and what is left is done.
    private func campaign(producing what: String...) async throws -> Campaign {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let record = FileManager.default.temporaryDirectory.appending(path: "record-\(schema)").path
      defer { try? FileManager.default.removeItem(atPath: record) }
      let store = try await server.store(schema)
      // By the number of each life: on a busy machine another process soon has the same process id.
      var lives: [ObjectIdentifier: Int] = [:]
      var all: [ChildProcess] = []
      func start(_ words: [String]) throws -> ChildProcess {
        var environment = ProcessInfo.processInfo.environment
        environment["DURABLE_LIFE"] = "\(all.count + 1)"
        let arguments = [words[0], "\(server.string()) schema=\(schema)", record] + words.dropFirst()
        let process = try ChildProcess(Self.probe.path, arguments, environment: environment)
        all.append(process)
        lives[ObjectIdentifier(process)] = all.count
        return process
      }
      var killed: Set<Int> = []
      func kill(_ process: ChildProcess) async {
        process.send(SIGKILL)
        #expect(await process.ended() == .killed(by: SIGKILL))
        if let life = lives[ObjectIdentifier(process)] { killed.insert(life) }
      }

      var workers = try (0..<2).map { _ in try start(["work"]) }
      var producer = try start(what)
      while killed.count < Self.kills {
        let goal = Self.size(of: record) + .random(in: 0...3000)
        await until { [workers, producer] in
          Self.size(of: record) >= goal || !producer.isRunning || !workers.allSatisfy(\.isRunning)
        }
        if Int.random(in: 0..<4) == 0 {
          await kill(producer)
          producer = try start(what)
        } else {
          let index = workers.indices.randomElement() ?? 0
          await kill(workers[index])
          workers[index] = try start(["work"])
        }
      }
      for process in workers + [producer] { await kill(process) }
      // By a clock for which all leases have lapsed; nobody is left to be asked.
      #expect(await (try start(["recover", "120", "0"])).ended() == .exited(0))
      #expect(await (try start(["work", "idle"])).ended() == .exited(0))
      let jobs = try await store.jobs(JobQuery(detail: [.edges, .output], limit: 1_000_000))
      let deeds = try Deeds(String(contentsOfFile: record, encoding: .utf8))
      print("kills \(killed.count), jobs \(jobs.count), runs \(deeds.runs.values.map(\.count).reduce(0, +))")
      #expect(!deeds.stored.isEmpty)
      #expect(deeds.stored.subtracting(jobs.map(\.id)) == [], "acknowledged and not there")
      #expect(deeds.repeats(without: killed) == [])
      try WholeStore.expect(of: server, schema: schema)
      #expect(try await store.check() == [])
      return Campaign(server: server, schema: schema, store: store, killed: killed, jobs: jobs, deeds: deeds)
    }

    @Test("C1 C11 Whatever process is killed, every acknowledged job ends, and none runs twice without a kill")
    func killed() async throws {
      let campaign = try await campaign(producing: "produce", "100000", "3")
      #expect(campaign.jobs.filter { $0.state != .succeeded }.map(\.id) == [], "not succeeded")
      #expect(Set(campaign.jobs.map(\.id)).subtracting(campaign.deeds.runs.keys) == [], "succeeded without having run")
    }

    @Test("C39 C40 Whatever process is killed, graphs, lanes, appended jobs, plans, batches and steps keep their order")
    func graphs() async throws {
      let campaign = try await campaign(producing: "produce-graphs", "100000", "1")
      let (jobs, deeds) = (campaign.jobs, campaign.deeds)
      /// Whether what the first did was done before the other began.
      func isBefore(_ first: JobID, _ other: JobID) -> Bool {
        guard let end = deeds.ends[first], let begin = deeds.runs[other]?.first?.line else { return false }
        return end < begin
      }
      #expect(deeds.faults(inGraphs: jobs) == [])
      #expect(deeds.absences(inGraphs: jobs) == [])
      // A batch has as many jobs as came, and one that follows the last of them.
      let batches = Dictionary(grouping: jobs.filter { $0.batch != nil }, by: \.batch)
      var followers: Set<JobID> = []
      for (id, members) in batches {
        guard let id else { continue }
        let batch = try #require(try await campaign.store.batches(.id(id)).first)
        #expect((batch.total, batch.unfinished, batch.isDone) == (members.count, 0, true))
        #expect(batch.succeeded == members.count { $0.state == .succeeded })
        let follower = try #require(batch.whenDone)
        followers.insert(follower)
        #expect(members.allSatisfy { isBefore($0.id, follower) }, "job \(follower) ran before batch \(id) was done")
      }
      #expect(followers == Set(jobs.filter { $0.kind == "completes" }.map(\.id)))
      #expect(followers.count == batches.count)
    }

    /// Who is killed where, and how many jobs a call stores.
    private static let places: [(mode: String, point: FaultPoint, batch: Int)] =
      [FaultPoint.insertJob, .commitBefore, .commitSent, .commitAfter].flatMap {
        [("produce", $0, 1), ("produce", $0, 3)]
      }
      + [FaultPoint.claimMarked, .settleMarked, .commitBefore, .commitSent, .commitAfter].map { ("work", $0, 3) }

    @Test(
      "C1 C11 Who is killed at a place between statements, or around a commit, loses nothing, and has nothing done twice",
      .enabled(if: hasFaultPoints, "needs the trait FaultPoints"), arguments: places)
    func killed(mode: String, point: FaultPoint, batch: Int) async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let record = FileManager.default.temporaryDirectory.appending(path: "record-\(schema)").path
      defer { try? FileManager.default.removeItem(atPath: record) }
      let store = try await server.store(schema) {
        $0.policy.crashBackOff = BackOff(base: .milliseconds(40), factor: 2, cap: .milliseconds(500))
      }
      func run(_ words: [String], life: Int, fault: String? = nil) async throws -> ChildProcess.End {
        var environment = ProcessInfo.processInfo.environment
        (environment["DURABLE_LIFE"], environment["DURABLE_FAULT"]) = ("\(life)", fault)
        let arguments = [words[0], "\(server.string()) schema=\(schema)", record] + words.dropFirst()
        return await (try ChildProcess(Self.probe.path, arguments, environment: environment)).ended()
      }
      let produce = ["produce", "30", "\(batch)"]
      let fault = "\(point):\(Int.random(in: 2...6))"
      if mode == "work" { #expect(try await run(produce, life: 1) == .exited(0)) }
      #expect(
        try await run(mode == "work" ? ["work"] : produce, life: 2, fault: fault) == .killed(by: SIGKILL), "\(fault)")
      // Who is on the same machine sees that it has died.
      _ = try await store.recover(RecoveryRequest())
      #expect(try await run(["work", "idle"], life: 3) == .exited(0))
      let jobs = try await store.jobs(JobQuery(limit: 1000))
      let deeds = try Deeds(String(contentsOfFile: record, encoding: .utf8))
      #expect(deeds.stored.subtracting(jobs.map(\.id)) == [], "acknowledged and not there, \(fault)")
      #expect(jobs.count - deeds.stored.count <= batch, "\(fault)")
      #expect(jobs.filter { $0.state != .succeeded }.map(\.id) == [], "\(fault)")
      #expect(Set(jobs.map(\.id)) == Set(deeds.runs.keys), "\(fault)")
      #expect(deeds.repeats(without: [2]) == [], "\(fault)")
      try WholeStore.expect(of: server, schema: schema)
      #expect(try await store.check() == [])
      await store.close()
    }

    private static func size(of path: String) -> Int {
      (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? 0
    }

    private static let probe = URL.built("CrashProbe")
  }
#endif
