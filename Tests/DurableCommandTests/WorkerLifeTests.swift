#if Shell
  import DurableJobs
  import DurableJobsSQLite
  import Foundation
  import Testing

  @Suite("Who works")
  struct WorkerLifeTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    /// Runs a worker until it has begun a long command, and `body` beside it.
    private func withRunningJob(_ body: @escaping @Sendable (Int, RunningWorker) async throws -> Void) async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add("--shell", "--", "test -e again && exit 0; touch again; echo > said; sleep 600")
      _ = try await durable.work { worker in
        _ = await fifo.said()
        try await worker.says("started", id)
        try await body(id, worker)
      }
    }

    @Test("status and show name the worker that runs a job")
    func alive() async throws {
      try await withRunningJob { [durable] id, worker in
        let status = try await durable("status")
        #expect(status.text.contains(#/^1  running  for \d+ s  sh -c /#))
        #expect(!status.text.contains("worker"))
        #expect(
          status.stderr.contains("Workers: 1 on default (command, download, durable.schedule, request)"),
          "\(status.stderr)")
        let report = try await durable("status", "--json").json
        let workers = try #require(report["workers"] as? [[String: Any]])
        #expect(workers.count == 1)
        #expect(workers.first?["process"] as? Int == Int(worker.process))
        #expect(workers.first?["state"] as? String == "alive")
        #expect(workers.first?["queues"] as? [String] == ["default"])
        #expect(workers.first?["kinds"] as? [String] == ["command", "download", "durable.schedule", "request"])
        #expect(try await durable("status", "--queue", "other").stderr.contains("Workers: none"))
        #expect(try await durable("show", "\(id)").text.contains("worker     process \(worker.process)"))
        let holder = try #require(try await durable.job(id)["worker"] as? [String: Any])
        #expect(holder["process"] as? Int == Int(worker.process))
        #expect(holder["state"] as? String == "alive")
      }
    }

    @Test("a job whose worker was killed is shown as such, and looking leaves all as it is")
    func dead() async throws {
      try await withRunningJob { [durable] id, worker in
        kill(worker.process, SIGKILL)
        await worker.ends()
        let files = try FileManager.default.subpathsOfDirectory(atPath: durable.store + "-durable").sorted()
        for _ in 0..<2 {
          let status = try await durable("status")
          #expect(status.text.contains("its worker has died; the next worker runs it again"), "\(status.text)")
          #expect(!status.text.contains("since"))
          #expect(status.text.hasSuffix("\n1 running (1 whose worker has died)\n"), "\(status.text)")
          #expect(status.stderr.contains("Workers: none. Start one with: durable work"), "\(status.stderr)")
          let shown = try await durable("show", "\(id)").text
          #expect(shown.contains("worker     has died; the next worker runs it again"), "\(shown)")
          let job = try await durable.job(id)
          #expect(job["state"] as? String == "running")
          #expect(job["crashes"] as? Int == 0)
          #expect((job["worker"] as? [String: Any])?["state"] as? String == "dead")
        }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: durable.store + "-durable").sorted() == files)
        // The command's own end comes after its worker's.
        try await durable.untilGone(id)
        #expect(try await durable("work", "--drain").status == .exited(0))
        let job = try await durable.job(id)
        #expect(job["state"] as? String == "succeeded")
        #expect(job["worker"] is NSNull)
      }
    }

    @Test("without a worker, status says how to start one for the queue that is asked about")
    func none() async throws {
      _ = try await durable.add("--queue", "it's", "--", "true")
      let status = try await durable("status", "--queue", "it's", "--store", durable.store)
      #expect(
        status.stderr.contains(
          #"Workers: none. Start one with: durable work --queue 'it'\''s' --store \#(durable.store)"#),
        "\(status.stderr)")
      #expect(try await durable("status", "--json").json["workers"] as? [Int] == [])
    }

    /// Stores a job that only another program runs.
    private func enqueueForeign(_ kind: String, in queue: String = "default", delay: Duration = .zero) async throws {
      let store = try SQLiteStore(path: durable.store)
      _ = try await JobQueue(queue, store: store).enqueue(
        kind: kind, payload: Data("{}".utf8), options: JobOptions(start: .after(delay)))
      await store.close()
    }

    private func workers() async throws -> String {
      let said = try await durable("status").stderr
      return said.split(separator: "\n").drop { !$0.hasPrefix("Workers: ") }.joined(separator: "\n")
    }

    @Test("without a worker, status names the queues of all that is left, and the programs that run the rest")
    func whoIsMissing() async throws {
      try await enqueueForeign("slow", delay: .seconds(3600))
      #expect(try await workers() == "Workers: none. Start the program that runs 'slow'")
      _ = try await durable.add("--queue", "nightly", "--delay", "1h", "--", "true")
      #expect(
        try await workers()
          == "Workers: none. Start one with: durable work --queue nightly\nAnd start the program that runs 'slow'")
      _ = try await durable.add("--", "true")
      #expect(
        try await workers().hasPrefix("Workers: none. Start one with: durable work --queue default --queue nightly\n"))
      #expect(try await durable("status").text.contains(#/2  scheduled .* true  in queue nightly\n/#))
    }

    @Test("where nothing is left to a worker, status asks for none")
    func nothingToDo() async throws {
      _ = try await durable.add("--", "false")
      try await durable("work", "--drain")
      #expect(try await workers() == "Workers: none")
      let held = try await durable.add("--queue", "held", "--", "true")
      try await durable("suspend", "\(held)")
      _ = try await durable.add("--queue", "paused", "--", "true")
      try await durable("pause", "--queue", "paused")
      #expect(try await workers() == "Workers: none")
    }

    @Test("of many queues that nobody serves status names five, and says that there are more")
    func manyQueues() async throws {
      for number in 1...7 { _ = try await durable.add("--queue", "q\(number)", "--", "true") }
      let said = try await workers()
      #expect(said.ranges(of: "--queue q").count == 5 && said.hasSuffix(", and more queues"), "\(said)")
    }

    @Test("beside a worker, status tells which queues and kinds it does not serve")
    func notServed() async throws {
      try await withRunningJob { [self] _, _ in
        _ = try await durable.add("--", "true")
        #expect(try await workers() == "Workers: 1 on default (command, download, durable.schedule, request)")
        _ = try await durable.add("--queue", "nightly", "--", "true")
        let status = try await durable("status")
        #expect(status.text.contains(#/ready .* true  in queue nightly\n/#), "\(status.text)")
        #expect(!status.text.contains("in queue default"))
        #expect(try await workers().hasSuffix("request). Start another with: durable work --queue nightly"))
        try await enqueueForeign("slow")
        #expect(try await workers().hasSuffix("\nAnd start the program that runs 'slow'"))
      }
    }

    @Test("work --drain says that there was nothing to do, where, and which other queues have something it can run")
    func nothingToDrain() async throws {
      let none = try await durable("work", "--drain")
      let place = "The store is \(durable.store)\n"
      #expect(none.stderr == "Nothing to do: the queue 'default' has no unfinished job. \(place)")
      try await enqueueForeign("slow", in: "wants")
      #expect(
        try await durable("work", "--drain").stderr
          == "Nothing to do: the queue 'default' has no unfinished job. \(place)"
          + "In other queues: 1 ready, of kinds that run in another program\n")
      _ = try await durable.add("--queue", "nightly", "--delay", "1h", "--", "true")
      let other = try await durable("work", "--drain").stderr
      #expect(
        other.hasPrefix(
          "Nothing to do: the queue 'default' has no unfinished job. Others have some: 'nightly'; "
            + "--queue works on them. \(place)"), "\(other)")
      _ = try await durable.add("--queue", "nightly", "--", "true")
      _ = try await durable.add("--", "true")
      #expect(
        try await durable("work", "--drain").stderr
          == "In other queues: 1 ready; --queue works on them\n"
          + "In other queues: 1 ready, of kinds that run in another program\n")
    }

    @Test("add says on a terminal that nobody works, also right after the only worker was killed")
    func addAfterDeath() async throws {
      try await withRunningJob { [durable] _, worker in
        kill(worker.process, SIGKILL)
        await worker.ends()
        let outcome = try await durable.onTerminal("add", "--", "true") { terminal in
          try await terminal.shows("No worker is running. Start one with: durable work")
        }
        #expect(outcome.status == .exited(0))
      }
    }
  }
#endif
