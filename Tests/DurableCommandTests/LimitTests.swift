#if Shell
  import DurableJobs
  import DurableJobsSQLite
  import Foundation
  import Testing

  @testable import durable

  @Suite("limits")
  struct LimitTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("sets the limits of a queue, shows them, and lifts them")
    func setAndClear() async throws {
      #expect(try await durable("limits").line == "no queue has limits")
      #expect(try await durable("limits", "set", "--running", "4").line == "default: 4 at once")
      let mail = try await durable("limits", "set", "--queue", "mail", "--rate", "100/1m", "--burst", "10")
      #expect(mail.line == "mail: 100 a minute and 10 in a row")
      #expect(
        try await durable("limits").text == """
          default  4 at once; 0 running
          mail     100 a minute and 10 in a row; 0 running

          """)
      let json = try await durable("limits", "--json").text
      let records = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
      #expect(records.map { $0["queue"] as? String } == ["default", "mail"])
      #expect(records[0]["running"] as? Int == 4 && records[0]["rate"] is NSNull)
      #expect(records[1]["rate"] as? Int == 100 && records[1]["period"] as? Int == 60)
      _ = try await durable.add("--", "true")
      let status = try await durable("status").stderr
      #expect(status.contains("Limited: mail: 100 a minute and 10 in a row, 0 running"), "\(status)")
      #expect(try await durable("limits", "clear", "--queue", "mail").line == "mail: no limits")
      #expect(try await durable("limits", "list").text == "default  4 at once; 0 running\n")
    }

    @Test("of a lane are a width or a rate, and what one replaces is told")
    func lane() async throws {
      #expect(try await durable("limits", "set", "--lane", "a", "--running", "3").line == "lane a: 3 at once")
      #expect(
        try await durable("limits", "set", "--lane", "a", "--rate", "10/1m").line
          == "lane a: 10 a minute, instead of 3 at once")
      #expect(
        try await durable("limits", "set", "--lane", "a", "--running", "2").line
          == "lane a: 2 at once, instead of 10 a minute")
      #expect(try await durable("limits", "set", "--lane", "a", "--running", "4").line == "lane a: 4 at once")
    }

    @Test("a rate is typed as a number in a time", arguments: ["100/1m", "100/m", "100/60s", "100/60"])
    func rates(text: String) throws {
      #expect(try RateArgument.parse(text, burst: 2) == JobRate(100, per: .seconds(60), burst: 2))
    }

    @Test(
      "what is no limit is refused, and said what is meant",
      arguments: [
        (["set"], "name a limit: --running N, --rate N/TIME, or both"),
        (["set", "--running", "0"], "--running is 0; it must be at least 1"),
        (["set", "--running", "some"], "--running"),
        (["set", "--rate", "100"], "'100' is no rate. Write how many in what time, as in 100/1m"),
        (["set", "--rate", "many/1m"], "'many/1m' is no rate"),
        (["set", "--rate", "0/1m"], "--rate is 0/1m; the number must be at least 1"),
        (["set", "--rate", "-5/1m"], "--rate is -5/1m; the number must be at least 1"),
        (["set", "--rate", "5/0s"], "--rate is 5/0s; the time must be more than 0"),
        (["set", "--rate", "5/soon"], "is no length of time"),
        (["set", "--rate", "5/1m", "--burst", "0"], "--burst is 0; it must be at least 1"),
        (["set", "--burst", "3", "--running", "1"], "--burst belongs to --rate"),
        (["set", "--queue", "", "--running", "1"], "queue"),
        (["set", "--rate", "5/5000d"], "period"),
      ])
    func refused(words: [String], message: String) async throws {
      let run = try await durable.run((["limits"] + words).map { Array($0.utf8) }, environment: [:])
      #expect(run.status == .exited(2) || run.stderr.contains("invalid"), "\(run.status)")
      #expect(run.stderr.contains(message), "\(run.stderr)")
      #expect(!FileManager.default.fileExists(atPath: durable.store), "nothing was made")
    }

    @Test("explain says which limit keeps a job, and when a rate lets it go on")
    func explained() async throws {
      try await durable("limits", "set", "--running", "1", "--rate", "1/1h")
      let ids = [try await durable.add("--", "true"), try await durable.add("--", "true")]
      let store = try SQLiteStore(path: durable.store)
      let claim = ClaimRequest(worker: WorkerID("w"), kinds: OpenStore.kinds, free: ["default": 2])
      let jobs = try await store.claim(claim).jobs
      #expect(jobs.count == 1)
      let text = try await durable("explain", "\(ids[1])").text
      #expect(text.contains("Job \(ids[1]) waits for the limit of the queue 'default': 1 of 1 run; "), "\(text)")
      #expect(text.contains("waits for the rate of the queue 'default', 1 an hour: the next begins "), "\(text)")
      #expect(text.contains("'durable limits set' sets others, and 'clear' none"), "\(text)")
      let reasons = try #require(
        try await durable("explain", "\(ids[1])", "--json").json["reasons"] as? [[String: Any]])
      #expect(reasons.compactMap { $0["reason"] as? String } == ["limit", "rate"])
      #expect(reasons[0]["running"] as? Int == 1 && reasons[0]["queue"] as? String == "default")
      #expect(reasons[1]["until"] is String)
      await store.close()
    }

    @Test("work runs no more at once than the limit, whatever it has room for")
    func worked() async throws {
      try await durable("limits", "set", "--running", "1")
      let marks = durable.folder + "/marks"
      for _ in 0..<5 {
        _ = try await durable.add("--", "sh", "-c", "echo in >> '\(marks)'; echo out >> '\(marks)'")
      }
      #expect(try await durable("work", "--drain", "--concurrency", "4").status == .exited(0))
      let words = try String(contentsOfFile: marks, encoding: .utf8).split(separator: "\n")
      #expect(words == ["in", "out", "in", "out", "in", "out", "in", "out", "in", "out"])
    }
  }
#endif
