#if Shell && Postgres
  import DurableJobs
  import Foundation
  import LyingServer
  import PostgresTestServer
  import Subprocess
  import TestProcesses
  import Testing

  @Suite struct ServerStoreTests {
    private let server: TestServer
    private let database: String
    private let durable: Durable
    /// The version of a store that this build makes.
    private let newest = 9

    init() throws {
      server = try TestServer.shared.get()
      database = try server.database()
      durable = try Durable(store: server.string(database: database))
    }

    private func sql(_ text: String) throws -> [[String]] {
      try server.psql(text, schema: "durable_jobs", database: database)
    }

    /// Where a machine keeps the folders of jobs.
    private func folders(_ durable: Durable) throws -> String {
      #if os(Linux)
        let data = durable.folder + "/.local/share/durable"
      #else
        let data = durable.folder + "/Library/Application Support/durable"
      #endif
      let identity = try sql("SELECT identity FROM meta")[0][0]
      return "\(data)/postgres-\(identity)-jobs"
    }

    @Test("Jobs of a store on a server are added, run and shown, and looking makes no store")
    func wholeWay() async throws {
      #expect(try await durable("status").stderr.contains("not created yet"))
      #expect(try sql("SELECT 1 FROM pg_namespace WHERE nspname='durable_jobs'") == [])
      let id = try await durable.add("--tag", "t", "--", "echo", "hello")
      let bad = try await durable.add("--", "false")
      let later = try await durable.add("--after", "\(id)", "--", "true")
      #expect(try await durable("explain", "\(later)").text.contains("\(id)"))
      #expect(try await durable("tree", "\(id)").text.contains("\(later)"))
      #expect(try await durable("work", "--drain").status == .exited(1))
      #expect(try await durable("log", "\(id)").text == "hello\n")
      #expect(try await durable("wait", "\(id)", "\(later)").status == .exited(0))
      #expect(try await durable.state(bad) == "failed")
      #expect(try await durable("retry", "\(bad)").status == .exited(0))
      #expect(try await durable.state(bad) == "ready")
      let status = try await durable("status", "--json", "--tag", "t").json
      #expect((status["jobs"] as? [[String: Any]])?.map { $0["id"] as? Int } == [id])
      #expect(try #require(status["store"] as? String).contains(database))
      #expect(try await durable("constraint", "set", "office", "yes").line.contains("holds"))
      #expect(try await durable("batch", "list").line == "no batches")
      #expect(try await durable("prune", "-y").line == "2 jobs removed")
    }

    @Test("Jobs on a server are held, let go on, ended, changed and removed by hand as those in a file")
    func byHand() async throws {
      var ids: [Int] = []
      for _ in 0..<4 { ids.append(try await durable.add("--", "true")) }
      func does(_ words: String..., says: String) async throws {
        let outcome = try await durable.run(words.map { Array($0.utf8) })
        #expect(outcome.status == .exited(0) && outcome.line == says, "\(words): \(outcome.text)\(outcome.stderr)")
      }
      let first = "\(ids[0])"
      try await does("suspend", first, "--reason", "who pays?", says: "job \(first) suspended")
      #expect(try await durable("explain", first).text.contains("Job \(first) is suspended: who pays?"))
      try await does("resume", first, says: "job \(first) resumed")
      #expect(try await durable.state(ids[0]) == "ready")
      try await does("complete", first, "--output", "17", says: "job \(first) succeeded")
      #expect(try await durable.job(ids[0])["output"] as? Int == 17)
      try await does("fail", "\(ids[1])", "--message", "no", says: "job \(ids[1]) failed")
      #expect(try await durable.message(ids[1]) == "no")
      try await does("edit", "\(ids[2])", "--priority", "7", "--", "echo", "edited", says: "\(ids[2]) echo edited")
      #expect(try await durable.job(ids[2])["priority"] as? Int == 7)
      try await does("remove", "\(ids[3])", says: "job \(ids[3]) removed")
      #expect(try await durable("show", "\(ids[3])").status == .exited(3))
      try await does("batch", "create", "b", "--", "echo", "all", says: "1")
      let member = try await durable.add("--batch", "b", "--", "true")
      try await does("batch", "close", "b", says: "1  b  running  0 of 1 ended")
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try await durable("log", "\(ids[2])").text == "edited\n")
      #expect(try await durable.state(member) == "succeeded")
      #expect(try await durable("batch", "list").line.hasPrefix("1  b  done"))
      #expect(try WholeStore.faults(of: server, schema: "durable_jobs", database: database) == [])
    }

    @Test("Schedules on a server tick, and are paused, resumed and removed by their names")
    func schedules() async throws {
      try await durable("schedule", "add", "often", "--every", "1s", "--", "true")
      let durable = durable
      @Sendable func ticks() async throws -> Int {
        let jobs = try await durable("status", "--kind", "command", "--all", "--json").json["jobs"] as? [[String: Any]]
        return jobs?.count { $0["state"] as? String == "succeeded" } ?? 0
      }
      _ = try await durable.work { _ in try await until { try await ticks() >= 2 } }
      #expect(try await durable("schedule", "pause", "often").text == "often paused\n")
      #expect(try await durable("schedule", "list").text.hasPrefix("often  paused  every second\n"))
      #expect(try await durable("schedule", "resume", "often").text.hasPrefix("often goes on, "))
      #expect(try await durable("schedule", "remove", "often").text == "often removed\n")
      #expect(try await durable("schedule").text == "no schedules\n")
    }

    @Test("What is for files alone is refused on a server, with what to do there")
    func forFiles() async throws {
      _ = try await durable.add("--", "true")
      let repair = try await durable("repair", durable.folder + "/new.sqlite")
      #expect(repair.status == .exited(2))
      #expect(repair.stderr.contains("durable check --mend") && repair.stderr.contains("pg_restore"))
      let compact = try await durable("prune", "-y", "--compact")
      #expect(compact.status == .exited(2))
      #expect(compact.stderr.contains("leave out --compact") && compact.stderr.contains("VACUUM FULL"))
      #expect(try await durable("check").line.contains(" is whole. Checked: its 1 job, "))
    }

    @Test("A command that runs is cancelled by another process")
    func cancel() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add("--", "sh", "-c", "echo runs >\(fifo.path); exec sleep 1000")
      let durable = durable
      _ = try await durable.work { worker in
        #expect(await fifo.said() == "runs")
        #expect(try await durable("cancel", "\(id)").status == .exited(0))
        try await worker.says("ended", id)
        // Its end is stored after that was said.
        #expect(try await durable("wait", "\(id)").status == .exited(1))
      }
      #expect(try await durable.state(id) == "cancelled")
    }

    @Test("What a killed worker ran is run again by another one of the machine, and never beside itself")
    func takeover() async throws {
      let fifo = try Fifo(in: durable)
      let place = durable.folder
      let script = """
        exec 9>\(place)/mutex; flock -n 9 || echo twin >\(place)/twin
        [ -e \(place)/again ] && exit 0
        echo runs >\(fifo.path); exec sleep 1000
        """
      let id = try await durable.add("--", "bash", "-c", script)
      _ = try await durable.work { worker in
        #expect(await fifo.said() == "runs")
        kill(worker.process, SIGKILL)
        await worker.ends()
      }
      try Data().write(to: URL(filePath: place + "/again"))
      // Its lease has not lapsed, and does not for an hour.
      _ = try sql("UPDATE worker SET lease_until=lease_until+3600000")
      #expect(try await durable("explain", "\(id)").text.contains("its worker has died"))
      #expect(try await !durable("status").text.contains("command"), "nobody works")
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try await durable.state(id) == "succeeded")
      #expect(!FileManager.default.fileExists(atPath: place + "/twin"))
      #expect(try await durable("log", "\(id)").stderr.contains("attempt 1"))
    }

    @Test("What a killed worker ran is left to its lease by who has another data folder, and sees no locks of commands")
    func otherFolder() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add("--queue", "q", "--", "sh", "-c", "echo runs >\(fifo.path); exec sleep 1000")
      _ = try await durable.work("--queue", "q") { worker in
        #expect(await fifo.said() == "runs")
        kill(worker.process, SIGKILL)
        await worker.ends()
      }
      _ = try sql("UPDATE worker SET lease_until=lease_until+3600000")
      let other = try Durable(store: durable.store)
      #expect(try await !other("explain", "\(id)").text.contains("died"))
      let next = try await durable.add("--", "true")
      #expect(try await other("work", "--drain").status == .exited(0))
      #expect(try await [other.state(id), other.state(next)] == ["running", "succeeded"])
      #expect(try await durable("explain", "\(id)").text.contains("its worker has died"))
    }

    @Test("A server that is killed and comes back is waited for by who works, and by who waits")
    func serverKilled() async throws {
      let server = try TestServer()
      let durable = try Durable(store: server.string())
      let (runs, goOn) = (try Fifo(in: durable, "runs"), try Fifo(in: durable, "goOn"))
      let id = try await durable.add("--", "sh", "-c", "echo runs >\(runs.path); cat \(goOn.path)")
      _ = try await durable.work { worker in
        #expect(await runs.said() == "runs")
        async let waited = durable("wait", "\(id)")
        try await until { try server.psql("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN%'").count >= 2 }
        try server.kill()
        try server.start()
        await goOn.say("on")
        try await worker.says("ended", id)
        #expect(try await waited.status == .exited(0))
      }
      #expect(try await durable.state(id) == "succeeded")
      #expect(try await durable("log", "\(id)").text == "on\n")
    }

    @Test(
      "A worker that is asked to stop while the server is away ends well, and does not wait for it longer than its grace"
    )
    func stopWithoutServer() async throws {
      let server = try TestServer()
      let durable = try Durable(store: server.string())
      let id = try await durable.add("--", "true")
      let ended = try await durable.work("--grace", "1") { worker in
        try await worker.says("ended", id)
        try server.stop()
        kill(worker.process, SIGTERM)
        await worker.ends()
      }
      #expect(ended.status == .exited(0), "\(ended.stderr)")
      let lines = ended.stderr.split(separator: "\n")
      #expect(lines.allSatisfy { $0.hasPrefix("{") }, "each is JSON, and none is libpq's: \(ended.stderr)")
    }

    @Test("A worker that stops and waits for its server no longer names the jobs whose results that has not taken")
    func resultsWithoutServer() async throws {
      let server = try TestServer()
      let durable = try Durable(store: server.string())
      let (runs, goOn) = (try Fifo(in: durable, "runs"), try Fifo(in: durable, "goOn"))
      let id = try await durable.add("--", "sh", "-c", "echo runs >\(runs.path); cat \(goOn.path)")
      _ = try await durable.work("--grace", "5") { worker in
        #expect(await runs.said() == "runs")
        try server.stop()
        kill(worker.process, SIGTERM)
        await goOn.say("on")
        await worker.ends()
        #expect(await worker.results(id) == ["returned"])
      }
    }

    @Test("The log of a command is where it ran, and others say so")
    func logElsewhere() async throws {
      let id = try await durable.add("--", "echo", "hello")
      #expect(try await durable("work", "--drain").status == .exited(0))
      let elsewhere = try Durable(store: durable.store)
      let log = try await elsewhere("log", "\(id)")
      #expect(log.text == "" && log.stderr.contains("has no log here"))
      #expect(try await durable("log", "\(id)").text == "hello\n")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folders(durable)).contains("\(id)"))
    }

    @Test(
      "add --follow takes no output for whole that another machine has, and has no exit code of that",
      arguments: ["echo hello", "exit 3"])
    func followedElsewhere(line: String) async throws {
      try await durable("pause")
      let elsewhere = try Durable(store: durable.store)
      let ended = try await durable.run("add", "--follow", "--shell", "--", line) { [durable] program in
        try await program.says("the queue 'default' is paused")
        kill(program.process, SIGSTOP)
        try await durable("unpause")
        _ = try await elsewhere("work", "--drain")
        kill(program.process, SIGCONT)
      }
      #expect(ended.status == .exited(1), "\(ended.stderr)")
      #expect(ended.stderr.contains("job 1 succeeded, but") == (line == "echo hello"), "\(ended.stderr)")
    }

    @Test("add --follow that is asked to stop while the server is away does not wait for it, and its job is not done")
    func followedWithoutServer() async throws {
      let server = try TestServer()
      let durable = try Durable(store: server.string())
      let (runs, goOn) = (try Fifo(in: durable, "runs"), try Fifo(in: durable, "goOn"))
      let line = "echo runs >\(runs.path); cat \(goOn.path)"
      let ended = try await durable.run("add", "--follow", "--shell", "--", line) { program in
        #expect(await runs.said() == "runs")
        try server.stop()
        kill(program.process, SIGTERM)
        await goOn.say("on")
      }
      #expect(ended.status == .exited(130), "\(ended.stderr)")
    }

    @Test("add --follow shows what its command says while the server is away")
    func outputWithoutServer() async throws {
      let server = try TestServer()
      let durable = try Durable(store: server.string())
      let (runs, goOn) = (try Fifo(in: durable, "runs"), try Fifo(in: durable, "goOn"))
      let line = "echo runs >\(runs.path); cat \(goOn.path) >&2"
      let ended = try await durable.run("add", "--follow", "--shell", "--", line) { program in
        #expect(await runs.said() == "runs")
        try server.stop()
        try await program.says("Waiting for the store")
        await goOn.say("it goes on")
        try await program.says("it goes on")
        try server.start()
      }
      #expect(ended.status == .exited(0), "\(ended.stderr)")
    }

    @Test("wait --timeout gives up in time also where the server does not answer")
    func timeoutInSilence() async throws {
      let wire = try TestWire(before: server)
      let id = try await durable.add("--", "true")
      let silent = "postgres://postgres@/\(database)?host=\(wire.folder)"
      let ended = try await durable.run("wait", "\(id)", "--timeout", "4", "--store", silent) { program in
        try await program.says("no worker is running for it")
        wire.fallSilent(true)
      }
      #expect(ended.status == .exited(4), "\(ended.stderr)")
      #expect(ended.stderr.contains("still not done after 4.0 s"), "\(ended.stderr)")
      // The call that was under way would fail by itself much later.
      #expect(!ended.stderr.contains("Waiting for the store"), "\(ended.stderr)")
    }

    /// On this server, the time is an hour later than here.
    private func setClockAhead() throws {
      try server.psql(
        """
        CREATE SCHEMA ahead; CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql
        AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$;
        ALTER DATABASE \(database) SET search_path = ahead, pg_catalog, public
        """, database: database)
    }

    @Test("add --follow and wait go by the server's clock, and not by that of their machine")
    func serversClock() async throws {
      try setClockAhead()
      let twice = try await durable("add", "--follow", "--max-attempts", "2", "--", "false")
      #expect(twice.status == .exited(1))
      #expect(try await durable.job(1)["attempt"] as? Int == 2)
      let created = try #require(try await durable.job(1)["createdAt"] as? String)
      let formatter = ISO8601DateFormatter()
      formatter.formatOptions.insert(.withFractionalSeconds)
      #expect(try #require(formatter.date(from: created)).timeIntervalSinceNow > 1800, "the server's time is another")
      let late = try await durable.add("--deadline", "1s", "--", "true")
      #expect(try await durable("wait", "\(late)").status == .exited(1))
    }

    @Test("get that is asked to stop while the server is away does not wait for it, and says how to go on")
    func fetchWithoutServer() async throws {
      let server = try TestServer()
      let files = try await LyingServer()
      files.serve("/a.bin", .file(Content(1_000_000)).holding(after: 1000))
      let durable = try Durable(store: server.string())
      let ended = try await durable.run("get", files.url("/a.bin")) { program in
        await files.held("/a.bin")
        try server.stop()
        kill(program.process, SIGTERM)
      }
      #expect(ended.status == .exited(130), "\(ended.stderr)")
      #expect(ended.stderr.contains("Go on with: durable get"), "\(ended.stderr)")
    }

    @Test("A worker in the background has no password among its words, and ends when it is asked to")
    func background() async throws {
      try server.psql("DO $$ BEGIN CREATE ROLE sealed LOGIN PASSWORD 'hunter2'; EXCEPTION WHEN OTHERS THEN END $$")
      try server.psql("GRANT CREATE ON DATABASE \(database) TO sealed")
      let secret = "postgres://sealed:hunter2@/\(database)?host=\(server.folder)"
      let started = try await durable("work", "--detach", "--store", secret)
      let process = try #require(Int(started.line), "\(started.stderr)")
      #if os(Linux)
        let words = try String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
        #expect(words.contains("--in-background") && !words.contains("hunter2"))
      #endif
      let id = try await durable("add", "--store", secret, "--", "true").line
      #expect(try await durable("wait", id, "--store", secret).status == .exited(0))
      let status = try await durable("status", "--store", secret)
      #expect(!(status.text + status.stderr).contains("hunter2"))
      #expect(try await durable("work", "stop", "--store", secret).line == "process \(process) has stopped")
    }

    @Test(
      "What is wrong with a server is told by each command alike, and never its password",
      arguments: [
        ["status"], ["add", "--", "true"], ["work", "--drain"], ["work", "--detach"], ["wait"], ["show", "1"], ["log"],
        ["cancel", "1"], ["retry", "--all"], ["get", "--detach", "http://localhost/x"],
        ["send", "POST", "http://localhost/x"], ["batch"], ["explain", "1"], ["pause"], ["constraint"], ["prune"],
        ["migrate"],
      ])
    func badServers(words: [String]) async throws {
      try server.psql("DO $$ BEGIN CREATE ROLE sealed LOGIN PASSWORD 'hunter2'; EXCEPTION WHEN OTHERS THEN END $$")
      let (newer, foreign) = (try server.database(), try server.database())
      for (name, sql) in [
        (newer, "CREATE TABLE meta AS SELECT 1 AS id,99 AS version,0 AS epoch_job"),
        (foreign, "CREATE TABLE things(id int)"),
      ] {
        try server.psql("CREATE SCHEMA durable_jobs", database: name)
        try server.psql(sql, schema: "durable_jobs", database: name)
      }
      for table in ["job", "spec", "route", "tally", "worker"] {
        try server.psql("CREATE TABLE \(table)(id int)", schema: "durable_jobs", database: newer)
      }
      let forPerson: Int32 = words[0] == "work" ? 6 : 5
      let cases: [(store: String, status: Int32, says: String)] = [
        (server.string(database: newer), forPerson, "of version 99"),
        (server.string(database: foreign), forPerson, "is no store"),
        ("postgres://me:hunter2@[::1/x", 2, "connection string"),
        ("postgres://sealed:hunter3@/\(database)?host=\(server.folder)", 5, "password"),
        ("postgres://sealed:hunter2@/nope?host=\(server.folder)", 5, "createdb"),
        ("host=127.0.0.1 port=1 user=me password=hunter2", 5, "can't be reached"),
        ("postgres://me:hunter2@db.invalid/x", 5, "host"),
      ]
      for (store, status, says) in cases {
        let outcome = try await durable.run(
          words.map { Array($0.utf8) }, environment: ["DURABLE_STORE": store])
        #expect(outcome.status == .exited(status), "\(words) \(says): \(outcome.stderr)")
        #expect(outcome.stderr.contains(says), "\(words): \(outcome.stderr)")
        #expect(!(outcome.text + outcome.stderr).contains("hunter"), "\(words): \(outcome.stderr)")
      }
    }

    @Test("Limits are set, shown, told and lifted on a server, and what is none makes no store")
    func limits() async throws {
      let durable = durable
      #expect(try await durable("limits").line == "no queue has limits")
      for (words, says) in [
        (["limits", "set", "--running", "0"], "it must be at least 1"),
        (["limits", "set", "--rate", "-5/1m"], "the number must be at least 1"),
        (["limits", "set", "--lane", "l", "--rate", "0/1m"], "the number must be at least 1"),
        (["limits", "set", "--lane", "l", "--rate", "1/1m", "--running", "2"], "and not both"),
        (["schedule", "add", "n", "0 25 * * *", "--", "true"], "the hour is 0 to 23, not '25'\n  0 25 * * *\n    ^^"),
        (["schedule", "add", "n", "@daily", "--time-zone", "Mars/Olympus", "--", "true"], "there is no time zone"),
      ] {
        let outcome = try await durable.run(words.map { Array($0.utf8) })
        #expect(outcome.status == .exited(2) && outcome.stderr.contains(says), "\(words): \(outcome.stderr)")
      }
      #expect(try sql("SELECT 1 FROM pg_namespace WHERE nspname='durable_jobs'") == [])
      #expect(try await durable("limits", "set", "--running", "1").line == "default: 1 at once")
      let mail = try await durable("limits", "set", "--queue", "mail", "--rate", "100/1m", "--burst", "10")
      #expect(mail.line == "mail: 100 a minute and 10 in a row")
      #expect(try await durable("limits", "set", "--lane", "wide", "--running", "3").line == "lane wide: 3 at once")
      #expect(try await durable("limits", "set", "--lane", "l", "--rate", "1/1h").line == "lane l: 1 an hour")
      #expect(
        try await durable("limits").text == """
          default    1 at once; 0 running
          mail       100 a minute and 10 in a row; 0 running
          lane wide  3 at once; 0 running
          lane l     1 an hour; 0 running

          """)
      #expect(try await durable("status").stderr.contains("Limited: lane l: 1 an hour, 0 running"))
      let fifo = try Fifo(in: durable)
      let (first, second) = (
        try await durable.add("--lane", "l", "--", "sh", "-c", "echo runs >\(fifo.path); cat \(fifo.path)"),
        try await durable.add("--lane", "l", "--", "true")
      )
      let third = try await durable.add("--", "true")
      _ = try await durable.work { worker in
        #expect(await fifo.said() == "runs")
        let told = try await durable("explain", "\(third)").text
        #expect(told.contains("waits for the limit of the queue 'default': 1 of 1 run"), "\(told)")
        await fifo.say("on")
        try await worker.says("ended", first)
        #expect(try await durable("wait", "\(third)").status == .exited(0))
      }
      let told = try await durable("explain", "\(second)").text
      #expect(told.contains("waits for the rate of the lane 'l', 1 an hour: it begins "), "\(told)")
      #expect(told.contains("limits set --lane l"), "\(told)")
      let reason = try #require(
        try (await durable("explain", "\(second)", "--json").json["reasons"] as? [[String: Any]])?.first)
      #expect(
        reason["reason"] as? String == "laneRate" && reason["lane"] as? String == "l" && reason["until"] is String)
      for words in [["clear"], ["clear", "--queue", "mail"], ["clear", "--lane", "wide"], ["clear", "--lane", "l"]] {
        #expect(
          try await durable.run((["limits"] + words).map { Array($0.utf8) }).text.contains("no limits"), "\(words)")
      }
      #expect(try await durable("limits").line == "no queue has limits")
      #expect(try await durable("retry", "\(second)").status == .exited(0))
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try await durable.state(second) == "succeeded")
    }

    @Test(
      "A right that is missing is told with the GRANT that gives it",
      arguments: [["add", "--", "true"], ["work", "--drain"], ["migrate"]])
    func missingRight(words: [String]) async throws {
      try server.psql("DO $$ BEGIN CREATE ROLE poor LOGIN; EXCEPTION WHEN OTHERS THEN END $$")
      let store = server.string(user: "poor", database: database)
      let outcome = try await durable.run(words.map { Array($0.utf8) }, environment: ["DURABLE_STORE": store])
      let grant = "GRANT CREATE ON DATABASE \"\(database)\" TO \"poor\"\n"
      #expect(outcome.status == .exited(5) && outcome.stderr.hasSuffix(grant), "\(outcome.stderr)")
    }

    @Test("A store that contradicts itself is told, and put right if that is asked for")
    func check() async throws {
      try await durable("add", "--", "true")
      let whole = try await durable("check").line
      #expect(whole.contains(" is whole. Checked: its 1 job, ") && whole.hasSuffix("deadlines, counts)"), "\(whole)")
      _ = try sql("UPDATE tally SET jobs=jobs+1")
      let wrong = try await durable("check")
      #expect(wrong.status == .exited(5) && wrong.line == "counts: 1 (1)", "\(wrong)")
      let mended = try await durable("check", "--mend")
      #expect(mended.status == .exited(0) && mended.line == "counts: 1 (1): put right", "\(mended)")
      #expect(try await durable("check").line == whole)
    }

    @Test("What is about a file says what to do with a server instead")
    func filesAlone() async throws {
      try await durable("migrate")
      for (words, says) in [
        (["repair", "new.sqlite"], "pg_restore"), (["prune", "--compact"], "VACUUM"),
        (["service", "install", "--print", "--store", "postgres://a:hunter2@/b"], ".pgpass"),
        (["service", "install", "--print", "--store", "host=a oauth_client_secret=hunter2"], ".pgpass"),
        (["service", "install", "--print", "--store", "postgres://a/b?oauth_client_secret=hunter2"], ".pgpass"),
      ] {
        let outcome = try await durable.run(words.map { Array($0.utf8) })
        #expect(outcome.status == .exited(2) && outcome.stderr.contains(says), "\(words): \(outcome.stderr)")
        #expect(!outcome.stderr.contains("hunter2"))
      }
      let file = try await durable("migrate", "--store", durable.folder + "/x.sqlite")
      #expect(file.status == .exited(2) && file.stderr.contains("--store postgres://"))
    }

    #if os(Linux)
      @Test("What is printed for a service makes no store")
      func servicePrinted() async throws {
        let printed = try await durable("service", "install", "--print", "--store", durable.store)
        #expect(printed.text.contains("\"--store\" \"\(durable.store)\""), "\(printed)")
        #expect(try sql("SELECT 1 FROM pg_namespace WHERE nspname='durable_jobs'") == [])
      }
    #endif

    @Test("A worker in the background is stopped also while its server is away")
    func stoppedWithoutServer() async throws {
      let store = "user=postgres dbname=\(database)"
      let there: [Environment.Key: String?] = ["PGHOST": server.folder, "DURABLE_STORE": store]
      let started = try await durable("work", "--detach", environment: there)
      try #require(started.status == .exited(0), "\(started.stderr)")
      let away: [Environment.Key: String?] = ["PGHOST": durable.folder, "DURABLE_STORE": store]
      let other = try await durable("work", "stop", "--store", store + " sslmode=prefer", environment: away)
      #expect(other.status == .exited(5), "\(other.stderr)")
      let stopped = try await durable("work", "stop", environment: away)
      #expect(stopped.text == "process \(started.line) has stopped\n", "\(stopped.stderr)")
    }

    @Test("The body of a request is in the store itself, and refused where it is too large for that")
    func bodies() async throws {
      let (small, large) = (durable.folder + "/small", durable.folder + "/large")
      try Data(repeating: 65, count: 100_000).write(to: URL(filePath: small))
      try Data(repeating: 65, count: 2 << 20).write(to: URL(filePath: large))
      #expect(try await durable("send", "POST", "http://localhost/x", "--data", "@" + small).status == .exited(0))
      #expect(try sql("SELECT octet_length(payload)>100000 FROM spec") == [["t"]])
      let refused = try await durable("send", "POST", "http://localhost/x", "--data", "@" + large)
      #expect(refused.status == .exited(2) && refused.stderr.contains("1 MB"), "\(refused.stderr)")
      let left = try FileManager.default.contentsOfDirectory(
        atPath: try folders(durable).replacing(/-jobs$/, with: "-outbox"))
      #expect(left == [])
    }

    // MARK: Tables

    @Test("What is printed makes the store that is made otherwise, and nothing is left to do to it")
    func printed() async throws {
      let other = try server.database()
      let applied = try await durable.shell(
        """
        set -o pipefail
        "$DURABLE" migrate --print | psql -X -q -v ON_ERROR_STOP=1 -h \(server.folder) -U postgres \(other)
        """)
      #expect(applied.status == .exited(0), "\(applied.stderr)")
      let printed = try Durable(store: server.string(database: other))
      #expect(try await printed("migrate").line == "version \(newest): nothing to do")
      #expect(try await durable("migrate").line == "made, version \(newest)")
      #expect(try await durable("migrate", "--json").json["before"] as? Int == newest)
      var dumps: [String] = []
      for name in [database, other] {
        let dump = try await durable.shell(
          "pg_dump --schema-only -h \(server.folder) -U postgres \(name) | grep -v restrict")
        #expect(dump.status == .exited(0), "\(dump.stderr)")
        dumps.append(dump.text)
      }
      #expect(dumps[0] == dumps[1] && dumps[0].contains("CREATE FUNCTION"))
      #expect(try await printed.add("--", "true") == 1)
    }

    @Test("Twenty that migrate at once make one store, or bring one up that is old", arguments: [false, true])
    func migrateAtOnce(isThere: Bool) async throws {
      let durable = durable
      if isThere {
        let (all, later) = (
          try await durable("migrate", "--print").text, try await durable("migrate", "--print", "--from", "1").text
        )
        _ = try sql("\(all.dropLast(later.count - "BEGIN;\n".count)) COMMIT")
        #expect(try sql("SELECT version FROM meta") == [["1"]])
      }
      let said = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<20 { group.addTask { try await durable("migrate").line } }
        return try await group.reduce(into: []) { $0.append($1) }.sorted()
      }
      #expect(
        said == [isThere ? "version 1 became \(newest)" : "made, version \(newest)"]
          + [String](repeating: "version \(newest): nothing to do", count: 19))
    }
  }
#endif
