#if Shell
  import Foundation
  import LyingServer
  import Testing

  @Suite("durable batch")
  struct BatchCommandTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("counts what is added to it until it is closed, and runs its command then")
    func whole() async throws {
      let created = try await durable("batch", "create", "photos", "--", "touch", "all-done")
      #expect(created.status == .exited(0), "\(created.stderr)")
      #expect(created.text == "1\n")
      let good = try await durable.add("--batch", "photos", "--", "true")
      _ = try await durable.add("--batch", "1", "--", "false")
      try await durable("work", "--drain")
      let open = try await durable("batch", "list", "--json")
      let first = try #require(
        (try JSONSerialization.jsonObject(with: Data(open.stdout)) as? [[String: Any]])?.first)
      #expect(first["state"] as? String == "open")
      #expect((first["total"] as? Int, first["succeeded"] as? Int, first["unsuccessful"] as? Int) == (2, 1, 1))
      #expect(
        try await durable("batch", "close", "photos").text
          == "1  photos  done     2 of 2 ended, 1 did not succeed, then job 3\n")
      #expect(!FileManager.default.fileExists(atPath: durable.folder + "/all-done"))
      try await durable("work", "--drain")
      #expect(FileManager.default.fileExists(atPath: durable.folder + "/all-done"))
      #expect(try await durable("batch", "wait", "photos").status == .exited(1))
      let shown = try await durable("batch", "show", "photos").text
      #expect(
        shown.contains("2 of 2 ended") && shown.contains("failed") && !shown.contains("\(good)  succeeded"), "\(shown)")
      let late = try await durable("add", "--batch", "photos", "--", "true")
      #expect(late.status == .exited(2))
      #expect(
        late.stderr.contains("all jobs of the batch 'photos' have ended; 'durable batch create photos' begins another"))
      let status = try await durable("status", "--batch", "photos", "--json").json
      let counts = try #require(status["counts"] as? [String: Int])
      #expect(counts["succeeded"] == 1 && counts["failed"] == 1 && counts.values.reduce(0, +) == 2, "\(counts)")
    }

    @Test("that is open already is told where another of its name is made")
    func twice() async throws {
      #expect(try await durable("batch", "create", "b").stderr == "")
      let again = try await durable("batch", "create", "b")
      #expect(again.status == .exited(0) && again.text == "2\n")
      #expect(again.stderr.hasPrefix("Batch 1 of that name is open, too; "), "\(again.stderr)")
      try await durable("batch", "close", "1")
      try await durable("batch", "close", "2")
      #expect(try await durable("batch", "create", "b").stderr == "")
    }

    @Test("waits until the last of its jobs has ended, with a line for each change in JSON")
    func wait() async throws {
      try await durable("batch", "create", "b")
      _ = try await durable.add("--batch", "b", "--", "true")
      let early = try await durable("batch", "wait", "b", "--timeout", "50ms")
      #expect(early.status == .exited(4))
      #expect(
        early.stderr.contains("It is open: 'durable batch close 1' says that no more jobs come"), "\(early.stderr)")
      async let waiting = durable("batch", "wait", "b", "--json")
      try await durable("batch", "close", "b")
      try await durable("work", "--drain")
      let waited = try await waiting
      #expect(waited.status == .exited(0))
      let last = try #require(waited.text.split(separator: "\n").last)
      #expect(last.hasPrefix(#"{"event":"batch","batch":{"id":1,"name":"b","state":"done","total":1"#), "\(last)")
    }

    @Test(
      "says what the last of its jobs waits for, whatever that is",
      arguments: [
        (["--lane", "l"], "Job 2 waits for job 1, which failed and holds the lane l"),
        (["--delay", "1h"], "Job 2 waits for its time"),
        (["--after", "nobody"], "Job 2 waits for the key 'nobody', which no job has yet"),
        (["--tag", "suspend"], "Job 2 is suspended"),
      ])
    func obstructed(options: [String], says: String) async throws {
      try await durable("batch", "create", "b")
      _ = try await durable.add("--batch", "b", "--lane", "l", "--", "false")
      let words = ["add", "--batch", "b"] + options + ["--", "true"]
      #expect(try await durable.run(words.map { Array($0.utf8) }).line == "2")
      try await durable("batch", "close", "b")
      try await durable("suspend", "--tag", "suspend")
      try await durable("work", "--drain")
      let waited = try await durable.run("batch", "wait", "b") { [durable] program in
        try await program.says(says)
        try await durable("cancel", "2")
      }
      #expect(waited.status == .exited(1))
    }

    @Test("on a terminal one line changes, below what it waits for")
    func terminal() async throws {
      try await durable("batch", "create", "b")
      _ = try await durable.add("--batch", "b", "--", "true")
      try await durable("batch", "close", "b")
      let waited = try await durable.onTerminal("batch", "wait", "b") { [durable] terminal in
        try await terminal.shows("0 of 1 ended")
        try await durable("work", "--drain")
        try await terminal.shows("1 of 1 ended")
      }
      #expect(waited.status == .exited(0))
      #expect(waited.text.lines.count == 2, "\(waited.text.text)")
      #expect(waited.text.lines.first?.hasPrefix("Job 1 waits: no worker") == true, "\(waited.text.text)")
    }

    @Test("on a terminal a time that it waits for stands above that line, and no second one changes")
    func time() async throws {
      try await durable("batch", "create", "b")
      _ = try await durable.add("--batch", "b", "--delay", "1h", "--", "true")
      try await durable("batch", "close", "b")
      let waited = try await durable.onTerminal("batch", "wait", "b") { [durable] terminal in
        try await terminal.shows("both") { $0.text.contains("waits for its time") && $0.text.contains("0 of 1 ended") }
        try await durable("cancel", "1")
        try await terminal.shows("1 of 1 ended")
      }
      #expect(waited.status == .exited(1))
      #expect(waited.text.lines.count == 3, "\(waited.text.text)")
      #expect(waited.text.lines.last?.contains("1 of 1 ended") == true, "\(waited.text.text)")
      #expect(waited.text.lines.first?.contains(#/^Job 1 waits for its time, (at|on) /#) == true, "\(waited.text.text)")
    }

    @Test("holds commands and downloads that wait for each other")
    func mixed() async throws {
      let server = try await LyingServer()
      server.serve("/a.bin", .file(Content(1000)))
      try await durable("batch", "create", "b")
      let got = try await durable("get", "--detach", "--batch", "b", "--tag", "t", server.url("/a.bin"))
      let file = try #require(Int(got.line), "\(got.stderr)")
      let size = try await durable.add("--batch", "b", "--after", "\(file)", "--shell", "--", "wc -c < a.bin > size")
      let last = try await durable(
        "get", "--detach", "--batch", "b", "--after", "\(size)", "-O", "b.bin", server.url("/a.bin"))
      #expect(last.status == .exited(0), "\(last.stderr)")
      try await durable("batch", "close", "b")
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try await durable("batch", "wait", "b").text.contains("3 of 3 ended\n"))
      #expect(try String(contentsOfFile: durable.folder + "/size", encoding: .utf8).contains("1000"))
      let now = try await durable("get", "--after", "\(size)", server.url("/a.bin"))
      #expect(now.status == .exited(2))
      #expect(now.stderr.contains("--detach leaves it to 'durable work'"))
    }

    @Test("a download takes its turn in a lane, and is left to a worker for that")
    func lane() async throws {
      let server = try await LyingServer()
      server.serve("/a.bin", .file(Content(1000)))
      let first = try await durable.add("--lane", "l", "--", "true")
      let now = try await durable("get", "--lane", "l", server.url("/a.bin"))
      #expect(now.status == .exited(2) && now.stderr.contains("--concurrency 1 fetches one after the other"))
      let got = try await durable("get", "--detach", "--lane", "l", server.url("/a.bin"))
      let file = try #require(Int(got.line), "\(got.stderr)")
      #expect(try await durable.state(file) == "blocked")
      try await durable("cancel", "\(first)")
      #expect(try await durable.state(file) == "ready")
    }

    @Test("that there is not is told, and a name that is a number is refused")
    func refused() async throws {
      let id = try await durable.add("--", "true")
      for arguments in [["batch", "show", "b"], ["add", "--batch", "b", "--", "true"], ["cancel", "--batch", "b"]] {
        let outcome = try await durable.run(arguments.map { Array($0.utf8) })
        #expect(outcome.status == .exited(3))
        #expect(outcome.stderr.contains("there is no batch 'b'"))
      }
      let spaced = try await durable("batch", "show", "my photos").stderr
      #expect(spaced.contains("'durable batch create 'my photos'' makes one"), "\(spaced)")
      for name in ["5", ""] {
        let outcome = try await durable("status", "--batch", name)
        #expect(outcome.status == .exited(3))
        #expect(outcome.stderr.contains("there is no batch '\(name)'\n"), "\(outcome.stderr)")
      }
      #expect(try await durable("batch", "create", "7").status == .exited(2))
      #expect(try await durable.state(id) == "ready")
      #expect(try await durable("batch").text == "no batches\n")
    }
  }
#endif
