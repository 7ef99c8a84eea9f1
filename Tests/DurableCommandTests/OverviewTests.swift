#if Shell
  import Console
  import DurableJobs
  import Foundation
  import Testing

  @testable import durable

  @Suite("status")
  struct OverviewTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("shows what runs first, then what failed, what waits and what ended last, each with its reason")
    func order() async throws {
      let fifo = try Fifo(in: durable)
      let failed = try await durable.add("--", "false")
      let done = try await durable.add("--", "true")
      try await durable("work", "--drain")
      let late = try await durable.add("--delay", "1h", "--", "true")
      let running = try await durable.add("--shell", "--", "echo x > said; exec sleep 1000")
      let held = try await durable.add("--after", "\(late)", "--", "true")
      _ = try await durable.work { [durable] worker in
        try await worker.says("started", running)
        _ = await fifo.said()
        let text = try await durable("status").text.replacing(/\d+ (s|min)\b/, with: "TIME").replacing(
          /took .*/, with: "took TIME")
        #expect(
          text.split(separator: "\n").map { $0.replacing(#/ +/#, with: " ") } == [
            "\(running) running for TIME sh -c 'echo x > said; exec sleep 1000'",
            "\(failed) failed TIME ago false exited with code 1",
            "\(late) scheduled in TIME true",
            "\(held) blocked TIME old true after \(late)",
            "\(done) succeeded TIME ago true took TIME",
            "1 scheduled, 1 blocked, 1 running, 1 succeeded, 1 failed",
          ], "\(text)")
        try await durable("cancel", "\(running)")
      }
    }

    @Test("what failed and what ended last is told by the end, and not by when it was stored")
    func lastEnded() async throws {
      _ = try await durable.shell(#"for i in {1..20}; do echo "echo $i"; done | "$DURABLE" add -i -"#)
      for (verb, ids) in [("fail", ["2-10", "1"]), ("complete", ["12-20", "11"])] {
        for id in ids { try await durable(verb, id, "--yes") }
      }
      func shown(_ arguments: String...) async throws -> [String] {
        let text = try await durable.run((["status"] + arguments).map { Array($0.utf8) }).text
        return text.split(separator: "\n").compactMap { $0.firstMatch(of: #/^ *(\d+)  /#).map { String($0.1) } }
      }
      #expect(try await shown() == ["1", "10", "9", "8", "7", "11", "20", "19", "18", "17"])
      #expect(try await shown("--state", "failed", "--limit", "2") == ["1", "10"])
      #expect(try await shown("--all").prefix(2) == ["1", "10"])
    }

    private static let jobs: [JobSnapshot] = {
      let now = Date(timeIntervalSince1970: 2_000_000_000)
      var failed = JobSnapshot(
        id: JobID(rawValue: 12), queue: "default", kind: "a-kind-with-a-name-that-is-rather-long", state: .failed,
        createdAt: now)
      failed.finishedAt = now.addingTimeInterval(-720)
      failed.failures = [
        AttemptFailure(attempt: 1, at: now, message: "exited with code 22, and said a lot about why it did")
      ]
      var scheduled = failed
      scheduled.id = JobID(rawValue: 7)
      scheduled.state = .scheduled
      scheduled.runAt = now.addingTimeInterval(300)
      return [failed, scheduled]
    }()

    @Test(
      "fits the width, with time and reason in lines of their own where it is narrow",
      arguments: [40, 60, 80, 120, 200])
    func width(width: Int) {
      let table = JobTable(jobs: Self.jobs, now: Date(timeIntervalSince1970: 2_000_000_000))
      let lines = table.lines(for: .out, width: width, JobTable.Columns(table.jobs, now: table.now))
      #expect(lines.allSatisfy { $0.columns <= width }, "\(lines)")
      #expect(lines.count == (width < 60 ? 5 : width < 120 ? 3 : 2))
      #expect(lines.contains { $0.contains("12 min ago") })
      #expect(lines.contains { $0.contains("in 5 min") })
      #expect(lines.contains { $0.contains("exited") }, "\(lines)")
    }

    @Test("a reason that has no room beside what it is about has lines of its own", arguments: [80, 120])
    func reasons(width: Int) {
      let now = Date(timeIntervalSince1970: 2_000_000_000)
      let message =
        "exited with code 128: fatal: Could not read from remote repository git@example.org:team/project.git: "
        + "Permission denied (publickey)"
      var failed = Self.jobs[0]
      failed.kind = "fetches-a-repository-and-all-that-belongs-to-it-from-another-machine"
      failed.failures = [AttemptFailure(attempt: 1, at: now, message: message)]
      let table = JobTable(jobs: [failed], now: now)
      let lines = table.lines(for: .out, width: width, JobTable.Columns(table.jobs, now: now))
      #expect(lines.allSatisfy { $0.columns <= width }, "\(lines)")
      #expect(lines.count == 3)
      #expect(lines[0].hasPrefix("12  failed  12 min ago  fetches-a-repository"))
      #expect(lines.dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ") == message)
    }

    @Test("what a job lacks is told before what went wrong with it")
    func lacks() {
      var job = Self.jobs[1]
      job.attempt = 1
      job.requires = ["network"]
      #expect(job.detail(absent: ["network"]).hasPrefix("requires network, attempt 1 of "), "\(job.detail())")
    }

    @Test("on a narrow terminal no line is broken within a word")
    func narrow() async throws {
      let long = "/a/folder/with/a/long/name/and/a/file/in/it"
      for delay in ["0", "1h"] { _ = try await durable.add("--delay", delay, "--", "cat", long) }
      for id in ["1", "2", "3"] { _ = try await durable.add("--after", id, "--", "cat", long) }
      try await durable("suspend", "2")
      try await durable("cancel", "1")
      _ = try await durable.add("--requires", "vpn", "--", "true")
      let status = try await durable.onTerminal("status", columns: 40, rows: 40) { _ in }
      #expect(
        status.text.lines.suffix(6) == [
          "1 ready, 1 blocked, 1 suspended,", "1 cancelled, 2 skipped", "vpn: no worker provides it, required by",
          "1 job", "Workers: none. Start one with: durable", "work",
        ], "\(status.text.lines)")
      let tree = try await durable.onTerminal("tree", "2", columns: 40) { _ in }
      #expect(tree.text.lines.count == 2, "\(tree.text.lines)")
    }

    @Test("where there is no store yet, --watch --json has one line, of the same kind")
    func watchNothing() async throws {
      let watched = try await durable("status", "--watch", "--json")
      #expect(watched.text.hasPrefix(#"{"event":"status","status":{"store""#), "\(watched.text)")
    }

    @Test("--watch writes a line of JSON for each change")
    func watch() async throws {
      _ = try await durable.add("--", "true")
      let watched = try await durable.shell(
        #"""
        mkfifo lines; "$DURABLE" status --watch --json > lines & watcher=$!
        while read -r line; do
          echo "$line"
          case $line in
            *'"ready":1'*) "$DURABLE" work --drain > /dev/null & ;;
            *'"succeeded":1'*) break ;;
          esac
        done < lines
        kill $watcher; wait
        """#)
      let lines = watched.text.split(separator: "\n")
      #expect(lines.count >= 2)
      #expect(lines.allSatisfy { $0.hasPrefix(#"{"event":"status","status":{"store""#) }, "\(watched.text)")
    }

    @Test("after Ctrl-Z and fg, --watch goes on below what the shell has written")
    func resumed() async throws {
      _ = try await durable.add("--", "true")
      _ = try await durable.onTerminal("status", "--watch") { terminal in
        try await terminal.shows("Workers: none")
        kill(terminal.process.withLock { $0 }, SIGCONT)
        try await terminal.shows("what was there, and what is") { $0.text.matches(of: /Workers: none/).count == 2 }
        kill(terminal.process.withLock { $0 }, SIGTERM)
      }
    }

    @Test("on a terminal --watch shows each change in the place of what was there, until Ctrl-C")
    func watchOnTerminal() async throws {
      _ = try await durable.add("--", "true")
      let outcome = try await durable.onTerminal("status", "--watch") { [durable] terminal in
        try await terminal.shows("1 ready")
        _ = try await durable.add("--delay", "1h", "--", "false")
        try await terminal.shows("1 ready, 1 scheduled")
        try await durable("work", "--drain")
        let end = try await terminal.shows("1 scheduled, 1 succeeded")
        #expect(!end.text.contains("ready"), "\(end.text)")
        #expect(end.lines.filter { $0.contains("scheduled, ") }.count == 1, "\(end.text)")
        // Nothing changes now but the time that has passed.
        for _ in 0..<2 {
          let times = terminal.text.timesBack
          try await terminal.shows("the next second") { $0.timesBack > times }
        }
        terminal.resize(columns: 50, rows: 3)
        try await terminal.shows("its end on three lines") { $0.rows == 3 && $0.text.contains("Workers: none") }
        terminal.press("\u{3}")
      }
      #expect(outcome.status == .signaled(SIGINT))
      #expect(outcome.isAsBefore && !outcome.text.hidesCursor)
      #expect(outcome.text.unknown == [])
    }

    @Test("Enter beside --watch leaves nothing behind, and q ends it")
    func entered() async throws {
      _ = try await durable.add("--", "true")
      let outcome = try await durable.onTerminal("status", "--watch") { terminal in
        try await terminal.shows("Workers: none")
        terminal.press("\n\n\n")
        let times = terminal.text.timesBack
        let text = try await terminal.shows("three more pictures") { $0.timesBack > times + 2 }
        #expect(text.lines.filter { $0.hasPrefix("1  ready") }.count == 1, "\(text.text)")
        try await terminal.shows("Ctrl-C, or q and Enter, ends this")
        terminal.press("q\n")
      }
      #expect(outcome.status == .exited(0))
      #expect(outcome.isAsBefore)
    }

    @Test("where nothing can be shown in place, --watch says what to do instead")
    func watchNowhere() async throws {
      let refused = try await durable("status", "--watch")
      #expect(refused.status == .exited(2))
      #expect(refused.stderr.contains("--watch needs a terminal, or --json"), "\(refused.stderr)")
    }

    @Test("log and show without an id mean the last one")
    func last() async throws {
      #expect(try await durable("show").status == .exited(3))
      _ = try await durable.add("--", "echo", "one")
      let id = try await durable.add("--", "echo", "two")
      _ = try await durable("send", "--delay", "1h", "GET", "http://127.0.0.1:9/")
      try await durable("work", "--drain")
      #expect(try await durable("log").text == "two\n")
      #expect(try await durable("show", "--json").json["id"] as? Int == id + 1)
    }
  }
#endif
