#if Shell
  import Foundation
  import Testing

  @Suite("The command line")
  struct LookTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test(
      "bad values are refused with exit code 2 and words, and nothing is stored",
      arguments: [
        ["add"], ["add", "--"], ["add", "--nonsense", "--", "true"], ["add", "--delay", "soon", "--", "true"],
        ["add", "--delay", "-5", "--", "true"], ["add", "--at", "2026-13-01", "--", "true"],
        ["add", "--delay", "1", "--at", "10:00", "--", "true"], ["add", "--max-attempts", "0", "--", "true"],
        ["add", "--max-attempts", "many", "--", "true"], ["add", "--timeout", "0", "--", "true"],
        ["add", "--priority", "high", "--", "true"], ["add", "--cwd", "/no/such/folder", "--", "true"],
        ["add", "--env", "DURABLE_TEST_UNSET", "--", "true"], ["add", "--env", "=x", "--", "true"],
        ["add", "--key", String(repeating: "k", count: 10_000), "--", "true"], ["add", "--queue", "", "--", "true"],
        ["work", "--concurrency", "0"], ["work", "--concurrency", "-1"], ["work", "--queue", ""],
        ["wait", "--timeout", "x"], ["show", "abc"], ["show", "0"], ["log", "1", "--attempt", "0"],
        ["status", "--state", "odd"], ["status", "--limit", "-1"], ["complete", "1", "--output", "{"], ["bogus"],
        ["cancel"], ["add", "--store", "mysql://host/db", "--", "true"],
      ])
    func usage(arguments: [String]) async throws {
      let outcome = try await durable.run(arguments.map { Array($0.utf8) })
      #expect(outcome.status == .exited(2))
      #expect(outcome.text == "")
      #expect(outcome.stderr.count > 20)
      #expect(!FileManager.default.fileExists(atPath: durable.store))
    }

    @Test("a store that does not exist has no jobs, and looking does not create it")
    func nothingYet() async throws {
      let status = try await durable("status")
      #expect(status.status == .exited(0))
      #expect(status.text == "no jobs\n")
      #expect(status.stderr.contains(durable.store))
      #expect(try await durable("status", "--json").json["jobs"] as? [Int] == [])
      #expect(try await durable("wait").status == .exited(0))
      #expect(try await durable("retry").status == .exited(0))
      for verb in ["show", "log", "cancel", "retry", "suspend", "resume", "complete", "fail", "remove", "wait"] {
        let outcome = try await durable(verb, "1")
        #expect(outcome.status == .exited(3))
        #expect(outcome.stderr.contains("there is no job 1"))
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: durable.folder) == [])
    }

    @Test("all who meet a store whose folder is missing say to make it first, and none makes it")
    func noFolder() async throws {
      let store = durable.folder + "/a b/jobs.sqlite"
      for (line, status) in [
        (["status"], 0), (["wait"], 0), (["prune"], 0), (["show", "1"], 3), (["cancel", "1"], 3), (["check"], 5),
      ] as [([String], Int32)] {
        let outcome = try await durable.run((line + ["--store", store]).map { Array($0.utf8) })
        #expect(outcome.status == .exited(status))
        #expect(outcome.stderr.contains("Make that first: mkdir -p '\(durable.folder)/a b'"), "\(outcome.stderr)")
      }
      let added = try await durable("add", "--store", store, "--", "true")
      #expect(added.status == .exited(5))
      #expect(added.stderr.contains("its folder \(durable.folder)/a b doesn't exist; make it first"), "\(added.stderr)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: durable.folder) == [])
    }

    @Test("without an id, a store with no command says that none was stored")
    func noCommand() async throws {
      try await durable("pause")
      #expect(try await durable("show").stderr.contains("no job has been stored here"))
      let log = try await durable("log")
      #expect(log.status == .exited(3))
      #expect(log.stderr.contains("no command has been stored here"), "\(log.stderr)")
    }

    @Test("an id that does not exist is exit code 3, and the others are acted on")
    func noSuchJob() async throws {
      let id = try await durable.add("--", "true")
      let outcome = try await durable("cancel", "999", "\(id)")
      #expect(outcome.status == .exited(3))
      #expect(outcome.text == "job \(id) cancelled\n")
      #expect(try await durable.state(id) == "cancelled")
    }

    @Test(
      "a store that can't be used is exit code 5, and stays as it is", arguments: ["folder", "text", "missing/folder"])
    func unusable(kind: String) async throws {
      let path = durable.folder + "/" + kind
      if kind == "folder" { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) }
      if kind == "text" {
        try Data("just a text, no database, but long enough to be looked at".utf8).write(to: URL(fileURLWithPath: path))
      }
      let before = FileManager.default.contents(atPath: path)
      let outcome = try await durable("add", "--store", path, "--", "true")
      #expect(outcome.status == .exited(5))
      #expect(outcome.stderr.contains(kind))
      #expect(FileManager.default.contents(atPath: path) == before)
    }

    @Test("a job in JSON has the names that were promised")
    func fields() async throws {
      let id = try await durable.add(
        "--key", "k", "--tag", "b", "--tag", "a", "--priority", "3", "--max-attempts", "2", "--timeout", "90",
        "--delay", "1h",
        "--queue", "q", "--", "echo", "x")
      let job = try await durable.job(id)
      #expect(
        Set(job.keys) == [
          "id", "queue", "kind", "key", "state", "priority", "attempt", "maxAttempts", "crashes", "timeout", "deadline",
          "createdAt",
          "runAt", "startedAt", "finishedAt", "progress", "reason", "payload", "output", "errors", "tags", "lane",
          "requires",
          "after",
          "cause", "worker",
        ])
      #expect(job["id"] as? Int == id)
      #expect(job["queue"] as? String == "q")
      #expect(job["kind"] as? String == "command")
      #expect(job["key"] as? String == "k")
      #expect(job["state"] as? String == "scheduled")
      #expect(job["priority"] as? Int == 3)
      #expect(job["maxAttempts"] as? Int == 2)
      #expect(job["timeout"] as? Double == 90)
      #expect(job["tags"] as? [String] == ["a", "b"])
      let created = try #require(job["createdAt"] as? String)
      #expect(created.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
      let payload = try #require(job["payload"] as? [String: Any])
      #expect(Set(payload.keys) == ["arguments", "cwd", "umask", "env", "shell"])
      #expect(payload["arguments"] as? [String] == ["echo", "x"])
      let status = try await durable(
        "status", "--json", "--tag", "a", "--key", "k", "--queue", "q", "--kind", "command", "--state", "scheduled"
      ).json
      #expect((status["jobs"] as? [[String: Any]])?.count == 1)
      #expect((status["counts"] as? [String: Int])?["scheduled"] == 1)
      #expect((try await durable("status", "--json", "--tag", "other").json["jobs"] as? [[String: Any]])?.count == 0)
    }

    @Test("status lists a job a line with its time, with control characters made harmless")
    func status() async throws {
      _ = try await durable.add("--", "echo", "one")
      _ = try await durable.add("--", "echo", "\u{1b}[2Jtwo\nlines")
      let text = try await durable("status").text.replacing(/\d+ s old +/, with: "TIME  ")
      #expect(text == "1  ready  TIME  echo one\n2  ready  TIME  echo $'\\x1b[2Jtwo\\nlines'\n2 ready\n")
      let first = try await durable("status", "--limit", "1").text.split(separator: "\n")
      #expect(first.count == 3)
      #expect(first.first?.hasPrefix("1  ready") == true)
      #expect(first.dropFirst().first == "… and 1 more (ready); all: --all")
    }

    @Test("a closed stdout ends the program quietly")
    func closedOutput() async throws {
      for _ in 1...3 { _ = try await durable.add("--", "echo", String(repeating: "x", count: 100_000)) }
      let result = try await durable.shell(
        #""$DURABLE" status --all 2>err | head -1 | cut -c 1-8; echo "${PIPESTATUS[0]}"; cat err"#)
      let lines = result.text.split(separator: "\n")
      #expect(lines == ["1  ready", "0", "Store: \(durable.store)"])
    }

    @Test("wait ends with the jobs, with 1 if one failed, and gives up with 4")
    func wait() async throws {
      let good = try await durable.add("--", "true")
      let bad = try await durable.add("--", "false")
      let late = try await durable.add("--delay", "1h", "--", "true")
      let tooLong = try await durable("wait", "\(good)", "--timeout", "0.2")
      #expect(tooLong.status == .exited(4))
      #expect(tooLong.stderr.contains("durable: still not done after 0.2 s\n"), "\(tooLong.stderr)")
      async let waiting = durable("wait", "\(good)")
      try await durable("work", "--drain")
      #expect(try await waiting.status == .exited(0))
      #expect(try await durable("wait", "\(good)", "\(bad)").status == .exited(1))
      #expect(try await durable("wait", "\(late)", "--timeout", "50ms").status == .exited(4))
      let idle = try await durable("wait")
      #expect(idle.status == .exited(0))
      #expect(idle.stderr.contains("1 scheduled"))
    }

    @Test("wait looks before it gives up, however little time it has")
    func waitLooksFirst() async throws {
      #expect(try await durable("wait", "--timeout", "0").status == .exited(0))
      let done = try await durable.add("--", "true")
      try await durable("work", "--drain")
      let late = try await durable.add("--delay", "1h", "--", "true")
      for _ in 0..<5 {
        #expect(try await durable("wait", "--timeout", "0", "\(done)").status == .exited(0))
        #expect(try await durable("wait", "--timeout", "0").status == .exited(0))
        #expect(try await durable("wait", "--timeout", "0", "\(done)", "\(late)").status == .exited(4))
      }
    }

    @Test(
      "who waits learns that the store's file was deleted",
      arguments: [["wait", "1"], ["wait"], ["batch", "wait", "b"], ["log", "-f", "1"]])
    func deleted(words: [String]) async throws {
      try await durable("batch", "create", "b")
      _ = try await durable.add("--batch", "b", "--", "true")
      let store = durable.store
      let ended = try await durable.run(words) { program in
        try await program.says("no worker is running")
        unlink(store)
      }
      #expect(ended.status == .exited(5))
      #expect(ended.stderr.contains("durable: the store's file \(store) is gone: "), "\(ended.stderr)")
    }

    @Test("retry without ids runs all again that failed")
    func retryAll() async throws {
      let id = try await durable.add("--shell", "--", "test -e fixed")
      try await durable("work", "--drain")
      #expect(try await durable.state(id) == "failed")
      #expect(FileManager.default.createFile(atPath: durable.folder + "/fixed", contents: nil))
      #expect(try await durable("retry").text == "job \(id) will run again\n")
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try await durable.state(id) == "succeeded")
    }

    @Test("log and show tell a run from another of the same attempt")
    func runs() async throws {
      let line = "if [ -e again ]; then echo two; exit 1; fi; touch again; echo one; kill -9 $PPID; sleep 600"
      let id = try await durable.add("--shell", "--", line)
      try await durable("work", "--drain")
      let heads = try await durable("log", "\(id)").stderr.split(separator: "\n").filter { $0.contains("started") }
      #expect(heads.count == 2)
      #expect(heads.first?.hasPrefix("── attempt 1, started") == true, "\(heads)")
      #expect(heads.last?.hasPrefix("── attempt 1 again (run 2), started") == true, "\(heads)")
      #expect(try await durable("show", "\(id)").text.contains("attempt    1 of 1, begun 2 times\n"))
      let once = try await durable.add("--", "true")
      try await durable("work", "--drain")
      #expect(try await durable("show", "\(once)").text.contains("attempt    1 of 1\n"))
    }

    @Test("suspend, resume, complete, fail, remove, pause and unpause do what they say")
    func verbs() async throws {
      let a = try await durable.add("--", "true")
      let b = try await durable.add("--", "true")
      try await durable("suspend", "\(a)", "\(b)", "--reason", "not now")
      let work = try await durable("work", "--drain")
      #expect(work.status == .exited(0))
      #expect(work.stderr.contains("2 suspended (job \(a): not now)"))
      #expect(try await durable("complete", "\(a)", "--output", #"{"by":"hand"}"#).status == .exited(0))
      #expect(try await durable.job(a)["output"] as? [String: String] == ["by": "hand"])
      #expect(try await durable("fail", "\(b)", "--message", "no use").status == .exited(0))
      #expect(try await durable.message(b) == "no use")
      #expect(try await durable("resume", "\(b)").status == .exited(2))
      #expect(try await durable("remove", "\(b)").text == "job \(b) removed\n")
      #expect(try await durable("show", "\(b)").status == .exited(3))
      let c = try await durable.add("--", "true")
      try await durable("pause")
      let paused = try await durable("work", "--drain")
      #expect(paused.stderr.contains("1 ready; paused: default"))
      try await durable("unpause")
      try await durable("work", "--drain")
      #expect(try await durable.state(c) == "succeeded")
    }

    @Test("a moment that is past is refused, as by at, but for the minute in which it was typed")
    func past() async throws {
      let now = Date.now.formatted(.iso8601)
      let id = try await durable.add("--at", now, "--", "true")
      for words in [["add", "--at", "2001-01-01T00:00Z", "--", "true"], ["edit", "1", "--at", "2001-01-01"]] {
        let refused = try await durable.run(words.map { Array($0.utf8) })
        #expect(refused.status == .exited(2))
        #expect(refused.stderr.firstMatch(of: /--at 2001-01-01\S* was \d+ d \d+ h ago/) != nil, "\(refused.stderr)")
      }
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try await durable.state(id) == "succeeded")
      #expect(try await durable("show", "2").status == .exited(3))
    }

    @Test(
      "a local time is refused in a zone that is another one for this program than for the C library",
      arguments: [
        "GMT-14", "CET-1CEST,M3.5.0,M10.5.0/3",
      ])
    func misreadZone(zone: String) async throws {
      let verbs = [
        ["add", "--at", "2040-07-01T12:00", "--", "true"], ["schedule", "add", "n", "0 4 * 7 *", "--", "true"],
      ]
      for words in verbs {
        let there = try await durable.run(words.map { Array($0.utf8) }, environment: ["TZ": "Europe/Berlin"])
        #expect(there.status == .exited(0), "\(there)")
        let refused = try await durable.run(words.map { Array($0.utf8) }, environment: ["TZ": zone])
        #expect(refused.status == .exited(2) && refused.stderr.contains(zone), "\(refused)")
      }
      let told = try await durable("add", "--at", "2040-07-01T12:00+14:00", "--", "true", environment: ["TZ": zone])
      #expect(told.status == .exited(0), "an offset needs no zone: \(told)")
    }

    @Test("the store, its folders and its logs are the user's alone")
    func privacy() async throws {
      let id = try await durable.add("--", "true")
      try await durable("work", "--drain")
      let walk = try #require(FileManager.default.enumerator(atPath: durable.folder))
      for case let path as String in walk {
        let mode =
          try FileManager.default.attributesOfItem(atPath: durable.folder + "/" + path)[.posixPermissions] as? Int
        #expect(try #require(mode) & 0o077 == 0, "\(path)")
      }
      #expect(FileManager.default.fileExists(atPath: "\(durable.store)-jobs/\(id)/1.stdout"))
    }

    @Test("--version and --help go to stdout")
    func help() async throws {
      #expect(try await durable("--version").line.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
      let help = try await durable("add", "--help")
      #expect(help.status == .exited(0))
      #expect(help.text.contains("durable add [options] -- CMD ARG…"))
      #expect(!help.text.contains("supervise"))
    }
  }
#endif
