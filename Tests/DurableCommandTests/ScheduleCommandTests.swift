#if Shell
  import Foundation
  import Testing

  @Suite("durable schedule")
  struct ScheduleCommandTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    private func schedules() async throws -> [[String: Any]] {
      let outcome = try await durable("schedule", "--json")
      return try #require(try JSONSerialization.jsonObject(with: Data(outcome.stdout)) as? [[String: Any]])
    }

    @Test("a worker runs the command of each tick")
    func ticks() async throws {
      let added = try await durable(
        "schedule", "add", "often", "--every", "1s", "--max-attempts", "3", "--", "sh", "-c", "echo x >> ticks")
      #expect(added.status == .exited(0), "\(added.stderr)")
      #expect(added.text.hasPrefix("often  every second\n       "), "\(added.text)")
      let worker = try await durable.shell(
        #"""
        "$DURABLE" work --json > lines & worker=$!
        for _ in $(seq 600); do [ "$(grep -c succeeded lines)" -ge 2 ] && break; sleep 0.05; done
        kill $worker; wait $worker
        """#)
      #expect(worker.status == .exited(0), "\(worker.stderr)")
      let ran = try String(contentsOfFile: durable.folder + "/ticks", encoding: .utf8).split(separator: "\n").count
      let jobs = try #require(
        try await durable("status", "--kind", "command", "--all", "--json").json["jobs"] as? [[String: Any]])
      let keys = jobs.compactMap { $0["key"] as? String }
      #expect(
        ran >= 2 && jobs.count >= ran && Set(keys).count == jobs.count && keys.allSatisfy { $0.hasPrefix("often@20") },
        "\(jobs)")
      let status = try await durable("status").text
      #expect(status.contains("schedule often: every second"), "\(status)")
      #expect(!status.split(separator: "\n").contains { $0.contains("succeeded") && $0.contains("schedule often") })
    }

    @Test("what is done to many jobs, and an end by its id, leave a schedule alone")
    func spared() async throws {
      try await durable("schedule", "add", "nightly", "@daily", "--", "true")
      let job = try await durable.add("--", "true")
      #expect(try await durable("cancel", "--all").text == "job \(job) cancelled\n")
      for verb in ["cancel", "complete", "fail", "remove"] {
        let refused = try await durable(verb, "1", "99", "--json")
        let record = try #require(try refused.json["refused"] as? [[String: Any]])
        #expect(record.map { $0["job"] as? Int } == [1, 99], "\(verb): \(refused.text)")
        #expect(refused.stderr.contains("is the schedule 'nightly'; 'durable schedule remove nightly' ends it"))
        let missing = #"{"code":"notFound","event":"error","message":"there is no job 99"}"#
        #expect(refused.stderr.contains(missing), "\(refused.stderr)")
        _ = try await durable(verb, "1-99", "--yes")
      }
      #expect(try await durable("wait", "--all", "--timeout", "30").status == .exited(0), "it is not waited for")
      let waited = try await durable("wait", "1", "--timeout", "30")
      #expect(waited.status == .exited(2) && waited.stderr.contains("job 1 is the schedule 'nightly'"), "\(waited)")
      try await durable("schedule", "pause", "nightly")
      #expect(try await durable("resume", "--all").stderr.contains("No job matches"))
      #expect(try await schedules().map { $0["state"] as? String } == ["paused"])
      #expect(try await durable("cancel", "--kind", "durable.schedule").text == "job 1 cancelled\n", "it was asked for")
    }

    @Test("it is shown in words and dates, and is paused, resumed and removed by its name")
    func words() async throws {
      #expect(try await durable("schedule").text == "no schedules\n")
      let added = try await durable(
        "schedule", "add", "nightly", "30 4 * * MON-FRI", "--time-zone", "Europe/Berlin", "--catch-up", "all", "--",
        "pg_dump", "shop")
      #expect(
        added.text.hasPrefix("nightly  at 04:30 from Monday to Friday, Europe/Berlin\n         in "), "\(added.text)")
      #expect(added.text.hasSuffix(" 04:30\n         runs pg_dump shop\n"), "\(added.text)")
      let shown = try await durable("show", "1").text
      #expect(shown.hasPrefix("schedule nightly: at 04:30 from Monday to Friday, Europe/Berlin\n"), "\(shown)")
      #expect(shown.contains("runs       pg_dump shop\n") && shown.contains("catch-up   all\n"), "\(shown)")
      let again = try await durable(
        "schedule", "add", "nightly", "30 4 * * MON-FRI", "--time-zone", "Europe/Berlin", "--catch-up", "all", "--json",
        "--", "pg_dump", "shop")
      #expect(try again.json["declaration"] as? String == "unchanged")
      let other = try await durable("schedule", "add", "nightly", "@daily", "--time-zone", "UTC", "--", "true")
      #expect(other.stderr == "It was there: changed\n")
      #expect(try await durable("schedule", "pause", "nightly").text == "nightly paused\n")
      #expect(try await schedules().map { $0["state"] as? String } == ["paused"])
      #expect(try await durable("schedule", "list").text.hasPrefix("nightly  paused  at 00:00 every day, UTC\n"))
      let resumed = try await durable("schedule", "resume", "nightly", environment: ["TZ": "Asia/Tokyo"])
      #expect(
        resumed.text.wholeMatch(of: /nightly goes on, on [A-Z][a-z]{2} [0-9-]{10} 00:00, UTC\n/) != nil,
        "\(resumed.text)")
      #expect(try await schedules().map { ($0["next"] as? [Any])?.count } == [3])
      #expect(try await durable("schedule", "remove", "nightly").text == "nightly removed\n")
      #expect(try await schedules().isEmpty)
      let gone = try await durable("schedule", "remove", "nightly")
      #expect(gone.status == .exited(3))
      #expect(gone.stderr.contains("there is no schedule 'nightly'"))
    }

    @Test("times of which one has seconds have them all")
    func seconds() async throws {
      let added = try await durable(
        "schedule", "add", "t", "--every", "20s", "--from", "2026-01-01T00:00", "--", "true")
      #expect(added.text.matches(of: /\d\d:\d\d:\d\d/).count == 3, "\(added.text)\(added.stderr)")
    }

    @Test("each that is named is paused, also if nobody reads what is said of it")
    func closedOutput() async throws {
      for name in ["a", "b"] { try await durable("schedule", "add", name, "@daily", "--", "true") }
      let outcome = try await durable.shell(#"exec 3> >(exec true); wait $!; "$DURABLE" schedule pause a b >&3"#)
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      #expect(try await schedules().map { $0["state"] as? String } == ["paused", "paused"])
    }

    @Test("the values of a command's variables are shown nowhere")
    func secrets() async throws {
      try await durable("schedule", "add", "s", "@daily", "--env", "TOKEN=hunter2", "--", "true")
      for words in [
        ["schedule", "--json"], ["schedule"], ["status", "--json"], ["show", "1", "--json"], ["show", "1"],
      ] {
        let outcome = try await durable.run(words.map { Array($0.utf8) })
        #expect(outcome.status == .exited(0))
        #expect(!outcome.text.contains("hunter2"), "\(words)")
      }
      #expect(try await durable("show", "1", "--secrets", "--json").text.contains("hunter2"))
    }

    @Test(
      "what can't be is refused, with the place that is wrong",
      arguments: [
        (["0 25 * * *"], "the hour is 0 to 23, not '25'\n  0 25 * * *\n    ^^"),
        ([], "when? As in: durable schedule add n '0 4 * * *'"),
        (["@daily", "--time-zone", "Berlin"], "there is no time zone 'Berlin'; did you mean 'Europe/Berlin'?"),
        (["@daily", "--every", "5m"], "--every and a cron expression exclude each other"),
        (["--every", "0.5s"], "it must be whole seconds"), (["--every", "0"], "--every is 0; it must be"),
        (["--every", "soon"], "'soon' is no length of time"),
        (["--every", "5m", "--seconds"], "--seconds goes with a cron expression"),
        (["@daily", "--from", "18:30"], "--from goes with --every"),
        (["@daily", "--key", "k"], "--key goes with one job"),
        (["@daily", "--after", "1"], "--after goes with one job"),
        (["@daily", "--catch-up", "some"], "some"),
        (["@daily", "--deadline", "2099-01-01"], "is a time after each tick, and not a date"),
      ])
    func refused(_ words: [String], _ why: String) async throws {
      let all = ["schedule", "add", "n"] + words + ["--", "true"]
      let outcome = try await durable.run(all.map { Array($0.utf8) })
      #expect(outcome.status == .exited(2))
      #expect(outcome.stderr.contains(why), "\(outcome.stderr)")
      #expect(try await schedules().isEmpty)
    }
  }
#endif
