#if Shell
  import DurableJobs
  import DurableJobsSQLite
  import Foundation
  import Testing

  @Suite("explain")
  struct ExplainTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("tells all that keeps a job and what helps, in words and in JSON")
    func reasons() async throws {
      let first = try await durable.add("--", "true")
      let second = try await durable.add("--after", "\(first)", "--", "true")
      try await durable("suspend", "\(first)", "--reason", "not now")
      try await durable("pause")
      #expect(
        try await durable("explain", "\(second)").text == """
          Job \(second) waits for job \(first), which is suspended; 'durable resume \(first)' lets that go on
          Job \(second) waits: the queue 'default' is paused; 'durable unpause' lets it go on
          Job \(second) waits: no worker is running for it. Start one with: durable work

          """)
      let report = try await durable("explain", "\(second)", "--json").json
      let reasons = try #require(report["reasons"] as? [[String: Any]])
      #expect(report["state"] as? String == "blocked")
      #expect(reasons.compactMap { $0["reason"] as? String } == ["needs", "paused", "noWorker"])
      #expect(reasons.first?["job"] as? Int == first && reasons.first?["state"] as? String == "suspended")
      #expect(try await durable("explain", "\(first)").text.hasPrefix("Job \(first) is suspended: not now; "))
      #expect(try await durable("explain", "99").status == .exited(3))
    }

    @Test("what helps is told for the store that was named")
    func namedStore() async throws {
      let id = try await durable.add("--queue", "q", "--", "true")
      let place = "--store \(durable.store)"
      try await durable("suspend", "\(id)")
      #expect(
        try await durable("explain", "\(id)", "--store", durable.store).text
          .hasPrefix("Job \(id) is suspended; 'durable resume \(id) \(place)' lets it go on\n"))
      let lane = try await durable.add("--lane", "l", "--", "false")
      _ = try await durable.add("--lane", "l", "--", "true")
      try await durable("fail", "\(lane)")
      let waited = try await durable("wait", "--store", durable.store)
      #expect(
        waited.stderr.contains("'durable retry \(lane) \(place)' or 'durable remove \(lane) \(place)' lets it go on"),
        "\(waited.stderr)")
    }

    @Test("tells since when a job runs")
    func running() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add("--", "sh", "-c", "echo runs >\(fifo.path); exec sleep 1000")
      _ = try await durable.work { [durable] _ in
        #expect(await fifo.said() == "runs")
        let text = try await durable("explain", "\(id)").text
        #expect(text.contains(/^Job \d+ runs, begun at \d\d:\d\d:\d\d/) || text.contains("runs, begun on "), "\(text)")
      }
    }

    @Test("tells what the handler said when it put a job off, in words and in JSON")
    func putOff() async throws {
      let store = try SQLiteStore(path: durable.store)
      let queue = JobQueue(store: store)
      let worker = JobWorker(queue)
      let begun = AsyncStream.makeStream(of: Void.self)
      worker.register(kind: "puts-off") { _, context in
        try context.report(progress: 0, "waits: nobody answers")
        begun.continuation.finish()
        throw .snooze(for: .seconds(3600))
      }
      let id = try await queue.enqueue(kind: "puts-off", payload: Data("{}".utf8))
      async let work: Void = worker.run()
      for await _ in begun.stream {}
      await worker.stop()
      try await work
      await store.close()
      let text = try await durable("explain", "\(id)").text
      #expect(text.contains(#/Job 1 was put off, and runs again .*: nobody answers\n/#), "\(text)")
      let reasons = try #require(try await durable("explain", "\(id)", "--json").json["reasons"] as? [[String: Any]])
      #expect(reasons.first?["reason"] as? String == "putOff")
      #expect(reasons.first?["message"] as? String == "nobody answers")
    }

    @Test("tells when a job is given up")
    func givenUp() async throws {
      let id = try await durable.add("--deadline", "2099-01-02T08:00", "--", "true")
      let line = "Job \(id) is given up on 2099-01-02 at 08:00:00 unless it has ended by then"
      #expect(try await durable("explain", "\(id)").text.split(separator: "\n").last.map(String.init) == line)
      let report = try await durable("explain", "\(id)", "--json").json
      #expect((report["givenUpAt"] as? String)?.hasPrefix("2099-01-0") ?? false)
      try await durable("cancel", "\(id)")
      let after = try await durable("explain", "\(id)")
      #expect(!after.text.contains("given up"))
    }

    @Test("names the jobs of a circle, in words and in JSON")
    func circle() async throws {
      let first = try await durable.add("--lane", "x", "--after", "k", "--", "true")
      let behind = try await durable.add("--lane", "x", "--", "true")
      let other = try await durable.add("--lane", "y", "--after", "\(behind)", "--", "true")
      let last = try await durable.add("--lane", "y", "--key", "k", "--", "true")
      let circle = [first, last, other, behind]
      let line = try await durable("explain", "\(other)").text.prefix { $0 != "\n" }
      let list = circle.map(\.description).joined(separator: ", ")
      #expect(line.hasPrefix("Job \(other) can't run: of the jobs \(list) each waits for the next"), "\(line)")
      let report = try await durable("explain", "\(other)", "--json").json
      let reasons = try #require(report["reasons"] as? [[String: Any]])
      #expect(reasons.first?["reason"] as? String == "circle" && reasons.first?["jobs"] as? [Int] == circle)
    }

    @Test("retry does not say that a job will run again that waits for others then")
    func retry() async throws {
      let first = try await durable.add("--lane", "l", "--", "true")
      let second = try await durable.add("--lane", "l", "--", "true")
      try await durable("cancel", "\(second)")
      let retried = try await durable("retry", "\(second)")
      #expect(retried.line == "job \(second) waits for job \(first) before it in the lane l")
      #expect(try await durable("retry", "\(first)").status == .exited(0))
    }

    @Test("wait ends with a blocked job whose deadline passes, though nobody works")
    func deadline() async throws {
      let id = try await durable.add("--after", "nobody", "--deadline", "1s", "--", "true")
      #expect(try await durable("wait", "\(id)").status == .exited(1))
      #expect(try await durable.message(id).contains("its deadline has passed"))
    }

    @Test("work says that it suspended a job that it can't read")
    func undecodable() async throws {
      let store = try SQLiteStore(path: durable.store)
      let id = try await JobQueue(store: store).enqueue(kind: "command", payload: Data("{}".utf8))
      await store.close()
      let drained = try await durable("work", "--drain")
      #expect(drained.stderr.contains("job \(id) is suspended: the payload does not decode"), "\(drained.stderr)")
      #expect(try await durable("explain", "\(id)").text.contains("can't be read, and is suspended: the payload"))
    }
  }
#endif
