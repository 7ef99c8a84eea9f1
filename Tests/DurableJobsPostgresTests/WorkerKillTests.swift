#if Postgres
  import DurableJobs
  import DurableJobsPostgres
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  /// Processes that are really killed.
  @Suite struct WorkerKillTests {
    /// 15, or what `DURABLE_KILLS` says.
    private static let kills = ProcessInfo.processInfo.environment["DURABLE_KILLS"].flatMap(Int.init) ?? 15

    @Test("C1 C11 Whatever process is killed, every acknowledged job ends, and none runs twice without a kill")
    func killed() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let record = FileManager.default.temporaryDirectory.appending(path: "record-\(schema)").path
      defer { try? FileManager.default.removeItem(atPath: record) }
      let store = try await server.store(schema)
      // By the number of each life: on a busy machine another process soon has the same process id.
      var lives: [ObjectIdentifier: Int] = [:]
      var all: [ChildProcess] = []
      func start(_ words: String...) throws -> ChildProcess {
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

      var workers = try (0..<2).map { _ in try start("work") }
      var producer = try start("produce", "100000", "3")
      while killed.count < Self.kills {
        let goal = Self.size(of: record) + .random(in: 0...3000)
        await until { [workers, producer] in
          Self.size(of: record) >= goal || !producer.isRunning || !workers.allSatisfy(\.isRunning)
        }
        if Int.random(in: 0..<4) == 0 {
          await kill(producer)
          producer = try start("produce", "100000", "3")
        } else {
          let index = workers.indices.randomElement() ?? 0
          await kill(workers[index])
          workers[index] = try start("work")
        }
      }
      for process in workers + [producer] { await kill(process) }
      // By a clock for which all leases have lapsed; nobody is left to be asked.
      #expect(await (try start("recover", "120", "0")).ended() == .exited(0))
      #expect(await (try start("work", "idle")).ended() == .exited(0))

      let jobs = try await store.jobs(JobQuery(limit: 1_000_000))
      let deeds = try Self.deeds(record)
      let byID = Dictionary(uniqueKeysWithValues: jobs.map { ($0.id, $0) })
      #expect(!deeds.stored.isEmpty)
      #expect(deeds.stored.subtracting(byID.keys) == [], "acknowledged and not there")
      #expect(jobs.filter { $0.state != .succeeded }.map(\.id) == [], "not succeeded")
      #expect(Set(byID.keys).subtracting(deeds.runs.keys) == [], "succeeded without having run")
      for (id, runs) in deeds.runs {
        for (attempt, same) in Dictionary(grouping: runs, by: \.attempt) {
          for earlier in same.dropLast() {
            #expect(killed.contains(earlier.life), "job \(id), attempt \(attempt): \(same)")
          }
        }
      }
      try WholeStore.expect(of: server, schema: schema)
      print("kills \(killed.count), jobs \(jobs.count), runs \(deeds.runs.values.map(\.count).reduce(0, +))")
    }

    private static func size(of path: String) -> Int {
      (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? 0
    }

    private struct Deeds {
      var stored: Set<JobID> = []
      var runs: [JobID: [(life: Int, attempt: Int)]] = [:]
    }

    private static func deeds(_ record: String) throws -> Deeds {
      var deeds = Deeds()
      for line in try String(contentsOfFile: record, encoding: .utf8).split(separator: "\n") {
        let words = line.split(separator: " ")
        let life = try #require(Int(words[0]))
        switch words[1] {
        case "stored": deeds.stored.formUnion(words[2...].compactMap { JobID(String($0)) })
        case "run":
          let id = try #require(JobID(String(words[2])))
          deeds.runs[id, default: []].append((life, try #require(Int(words[3]))))
        case "recovered": break
        default: Issue.record("what is '\(line)'?")
        }
      }
      return deeds
    }

    private static let probe = URL.built("CrashProbe")
  }
#endif
