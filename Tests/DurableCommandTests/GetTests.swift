#if Shell
  import DurableJobs
  import Foundation
  import LyingServer
  import Subprocess
  import TestProcesses
  import Testing

  @testable import durable

  @Suite("durable get")
  struct GetTests {
    let durable: Durable
    let server: LyingServer
    private let content = Content(300_000)

    init() async throws {
      durable = try Durable()
      server = try await LyingServer()
      server.serve("/a.bin", .file(content))
      try FileManager.default.createDirectory(atPath: durable.folder + "/out", withIntermediateDirectories: false)
    }

    private func holds(_ content: Content, _ name: String) -> Bool {
      FileManager.default.contents(atPath: durable.folder + "/" + name) == Data(content.bytes)
    }

    @Test(
      "no file takes a name beside the store that the store would read as its own",
      arguments: ["-journal", "-jobs", ""])
    func namesOfTheStore(ending: String) async throws {
      _ = try await durable("status")
      let name = "jobs.sqlite" + ending
      server.serve("/doc.pdf", .file(content).with("Content-Disposition", "attachment; filename=\(name)"))
      server.serve("/\(name)", .file(content))
      // A server's own name that ends as SQLite's files do gets another end.
      for path in ending == "-journal" ? ["/" + name] : ["/doc.pdf", "/" + name] {
        let outcome = try await durable("get", "--max-attempts", "1", "-o", durable.folder, server.url(path))
        #expect(outcome.status == .exited(1))
        #expect(outcome.text.contains("the store's own files") || outcome.stderr.contains("the store's own files"))
      }
      #expect(!FileManager.default.fileExists(atPath: durable.folder + "/jobs.sqlite-journal"))
      #expect(try await durable("status").status == .exited(0))
    }

    #if os(Linux)
      @Test("a connection that does not come about is given up after --connect-timeout")
      func connecting() async throws {
        let full = try FullPort()
        // By default another 15 s would pass.
        let outcome = try await durable(
          "get", "--connect-timeout", "200ms", "--max-attempts", "1", "--deadline", "10s",
          "http://127.0.0.1:\(full.number)/a.bin")
        #expect(outcome.status == .exited(1))
        #expect(try await durable.message(1).contains("can't connect to 127.0.0.1:\(full.number): no answer"))
        withExtendedLifetime(full) {}
      }
    #endif

    @Test(
      "a file of unknown length leaves room for the store", .enabled(if: SmallDisk.isPossible, "mounts a file system"))
    func roomForStore() async throws {
      let disk = try await SmallDisk(at: durable.folder)
      server.serve("/a.bin", .file(Content(8_000_000)).framed(.chunked))
      let line = """
        "$DURABLE" get \(server.url("/a.bin")) > words 2>&1 & program=$!
        while kill -0 $program && ! grep -q 'no room in' words; do sleep 0.05; done
        "$DURABLE" add -- true > out; added=$?; kill -TERM $program; wait $program
        "$DURABLE" cancel 1 > out; echo $added $?
        """
      let outcome = try await durable.shell(line)
      #expect(outcome.line == "0 0", "\(outcome.stderr)")
      try await disk.remove()
    }

    @Test("what was edited since --overwrite was asked for stays, until it is asked for again")
    func overwriteAgain() async throws {
      let place = durable.folder + "/a.bin"
      server.serve("/a.bin", .page(503), .page(503))
      try Data("old".utf8).write(to: URL(filePath: place))
      #expect(try await durable("get", "--detach", "--overwrite", server.url("/a.bin")).line == "1")
      _ = try await durable.run("work") { [server] worker in
        await server.until { !$0.isEmpty }
        kill(worker.process, SIGTERM)
      }
      try Data("edited".utf8).write(to: URL(filePath: place))
      server.serve("/a.bin", .file(content))
      let again = try await durable("get", "--overwrite", server.url("/a.bin"))
      #expect(again.status == .exited(0), "\(again.text)\(again.stderr)")
      #expect(holds(content, "a.bin"))
    }

    @Test(
      "what a download waits for is told once, and it comes when that is there",
      arguments: [
        (["get", "--requires", "lunch"], "Job 1 waits for lunch", ["constraint", "set", "lunch", "yes"]),
        (["get"], "Job 1 waits: the queue 'default' is paused; 'durable unpause' lets it go on", ["unpause"]),
        (["get", "-q"], "Job 2 waits for job 1, which is scheduled", ["complete", "1"]),
      ])
    func tellsWhatIsWaitedFor(get: [String], words: String, help: [String]) async throws {
      if help == ["unpause"] { _ = try await durable("pause") }
      if help.first == "complete" {
        _ = try await durable("add", "--delay", "1h", "--", "true")
        _ = try await durable("get", "--detach", "--after", "1", "-o", "out", server.url("/a.bin"))
      }
      let ended = try await durable.run(get + ["-o", "out", server.url("/a.bin")]) { [durable] program in
        try await program.says(words)
        _ = try await durable.run(help.map { Array($0.utf8) })
      }
      #expect(ended.status == .exited(0), "\(ended.stderr)")
      #expect(ended.stderr.components(separatedBy: "waits").count == 2, "\(ended.stderr)")
      #expect(holds(content, "out/a.bin"))
    }

    @Test("of many that wait for the same thing ten are told, at the second look, and nothing that passes by itself")
    func obstacles() {
      let ids = (1...20).map { JobID(rawValue: $0) }
      var obstacles = DownloadObstacles()
      func news(_ name: JobConstraint) -> [JobID] {
        obstacles.news(ids.map { ($0, [.constraint(name, .absent)]) }).map(\.id)
      }
      #expect(news("lunch") == [])
      #expect(news("lunch") == Array(ids.prefix(10)))
      #expect(news("lunch") == [])
      #expect(news("tea") == [])
      #expect(news("tea") == Array(ids.prefix(10)))
      #expect(!DownloadObstacles.isOne(.slotsTaken(running: 6, workers: 1)))
      #expect(!DownloadObstacles.isOne(.noWorker), "this process is one")
      #expect(DownloadObstacles.isOne(.paused("default")))
    }

    // MARK: Bad input

    private static let url = "https://127.0.0.1:9/x"

    @Test(
      "bad input is refused with exit code 2 and words, and nothing is stored",
      arguments: [
        ([], "nothing to get"), (["example.org/x"], "write https://example.org/x"),
        (["ftp://example.org/x"], "not ftp"),
        ([url, "nonsense"], "nonsense"), (["-o", "missing/x", url], "mkdir -p missing"), (["-o", "file", url], "-O"),
        (["-o", "l", url], "can't be made: File exists; choose another folder"),
        (["-o", "/dev/fd/x", url], "can't be made: No such file or directory; choose another folder"),
        (["-O", "name", url, url + "2"], "one URL"), (["-O", "a/b", url], "-o"),
        (["-O", "..", url], "-O: '..' can't be"), (["-O", String(repeating: "x", count: 250), url], "-O: "),
        (["--sha256", "abc", url], "--sha256: 'abc' is no SHA-256"), (["--header", "Accept", url], "colon is missing"),
        (["--header", "A: b\r\nC: d", url], "--header: the value of the header A"),
        (["-H", "content-length: 5", url], "the header content-length is set by what sends the request"),
        (["-H", "Connection: close", url], "leave it out"), (["-H", "Range: bytes=5-", url], "asks by itself"),
        (["-H", "@missing", url], "--header @missing: this file can't be read"),
        (["-H", "@headers", url], "headers:2: the colon is missing"), (["-H", "@-", "-i", "-"], "read once"),
        (["--cacert", "missing", url], "can't be read"), (["--netrc-file", "missing", url], "can't be read"),
        (["--netrc-file", "/dev/null", url], "no plain file"),
        (["--detach", "--netrc-file", "file", url], "--detach"),
        (["--cacert", "file", url], "PEM"), (["-i", "missing"], "can't be read"), (["-i", "empty"], "names no URL"),
        (["-i", "broken"], "broken:2: nonsense"), (["-i", "broken"], "durable: 1 line"),
        (["--size=-1", url], "--size: "),
        (["--limit-rate", "fast", url], "800K"),
        (["--concurrency", "0", url], "at least 1"), (["--per-host", "0", url], "at least 1"),
        (["--max-attempts", "0", url], "at least 1"), (["--detach", "--limit-rate", "1M", url], "--detach"),
        (["--detach", "--concurrency", "2", url], "--detach"), (["--detach", "--timeout", "60", url], "--detach"),
        (["--timeout", "0", url], "--timeout"), (["--timeout", "long", url], "no length of time"),
        (["--queue", "", url], "1 to 512"),
      ] as [([String], String)])
    func usage(arguments: [String], words: String) async throws {
      for (name, text) in [
        ("file", "text"), ("empty", "# nothing\n"), ("broken", Self.url + "\nnonsense\n"),
        ("headers", "A: b\nsecret\n"),
      ] {
        try Data(text.utf8).write(to: URL(fileURLWithPath: durable.folder + "/" + name))
      }
      symlink("nowhere", durable.folder + "/l")
      let outcome = try await durable.run((["get"] + arguments).map { Array($0.utf8) })
      #expect(outcome.status == .exited(2))
      #expect(outcome.text == "")
      #expect(outcome.stderr.contains(words), "\(outcome.stderr)")
      #expect(!outcome.stderr.contains("secret"))
      #expect(!FileManager.default.fileExists(atPath: durable.store))
    }

    @Test("a name, a folder or a URL that is no UTF-8 is refused with words", arguments: ["-O", "-o", "-i"])
    func noUTF8(option: String) async throws {
      let word: [UInt8] = [0x61, 0xff]
      let outcome = try await durable.run([Array("get".utf8), Array(option.utf8), word, Array(Self.url.utf8)])
      #expect(outcome.status == .exited(2))
      #expect(outcome.stderr.contains(#"$'a\xff' is no UTF-8"#), "\(outcome.stderr)")
      #expect(!FileManager.default.fileExists(atPath: durable.store))
    }

    @Test("of a list with a thousand broken lines twenty are told")
    func manyBroken() async throws {
      let text = (1...1000).map { "nonsense\($0)\n" }.joined()
      try Data(text.utf8).write(to: URL(fileURLWithPath: durable.folder + "/list.txt"))
      let outcome = try await durable("get", "-i", "list.txt")
      #expect(outcome.status == .exited(2))
      #expect(outcome.stderr.split(separator: "\n").count == 22)
      #expect(outcome.stderr.contains("… and 980 more"))
      #expect(outcome.stderr.contains("1000 lines of the list can't be read"))
    }

    // geteuid() is 0 in most containers, and root may write everywhere.
    @Test("a folder that can't be written to is refused", .enabled(if: geteuid() != 0, "root may write anywhere"))
    func readOnly() async throws {
      try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: durable.folder + "/out")
      let outcome = try await durable("get", "-o", "out", Self.url)
      #expect(outcome.status == .exited(2))
      #expect(outcome.stderr.contains("no file can be written there"))
    }

    // MARK: Through a pipe

    @Test("a file comes, with plain lines; asked for again, it is there already")
    func fetches() async throws {
      let first = try await durable("get", "-o", "out", server.url("/a.bin"))
      #expect(first.status == .exited(0), "\(first.stderr)")
      let lines = first.text.split(separator: "\n")
      #expect(lines.count == 2)
      #expect(lines.first?.contains("start   \(server.url("/a.bin"))") == true)
      #expect(lines.last?.contains("done    a.bin  300 kB in ") == true)
      #expect(!first.text.contains("\u{1b}"))
      #expect(holds(content, "out/a.bin"))
      let second = try await durable("get", "-o", "out", server.url("/a.bin"))
      #expect(second.status == .exited(0))
      #expect(second.text.contains("already there: a.bin  fetched "), "\(second.text)")
      #expect(second.text.contains("ago; the server was not asked (--overwrite fetches it anew)"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: durable.folder + "/out") == ["a.bin"])
    }

    @Test("a file that is there is another one's, and with --skip-existing the one that is wanted if it fits")
    func skipping() async throws {
      let path = durable.folder + "/out/a.bin"
      let later = Date(timeIntervalSince1970: 1_800_000_000)
      try Data(content.bytes).write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.modificationDate: later], ofItemAtPath: path)
      let refused = try await durable("get", "-o", "out", server.url("/a.bin"))
      #expect(refused.status == .exited(1))
      let taken = try await durable("get", "--skip-existing", "-o", "out", server.url("/a.bin"))
      #expect(taken.status == .exited(0), "\(taken.stderr)")
      #expect(taken.text.contains("already there: a.bin"))
      #expect(!taken.text.contains("was not asked"))
      try Data("another".utf8).write(to: URL(fileURLWithPath: path))
      let other = try await durable("get", "--skip-existing", "-o", "out", server.url("/a.bin"))
      #expect(other.status == .exited(1))
      #expect(FileManager.default.contents(atPath: path) == Data("another".utf8))
    }

    @Test(
      "a list that was fetched is fetched again weeks later, when the store has forgotten it, and nothing comes twice",
      arguments: ["--skip-existing", "--remote-time"])
    func listOfBefore(option: String) async throws {
      server.serve("/b.bin", .file(content))
      let list = "\(server.url("/a.bin"))\n\(server.url("/b.bin"))\n"
      try Data(list.utf8).write(to: URL(fileURLWithPath: durable.folder + "/list.txt"))
      let words = ["get", option, "-o", "out", "-i", "list.txt"].map { Array($0.utf8) }
      #expect(try await durable.run(words).status == .exited(0))
      let sent = server.bytesSent
      #expect(try await durable("prune").status == .exited(0))
      #expect(try await durable("status", "--json").text.contains("a.bin") == false)
      let again = try await durable.run(words)
      #expect(again.status == .exited(0), "\(again.stderr)")
      for name in ["a.bin", "b.bin"] {
        #expect(again.text.contains("already there: \(name)"), "\(again.text)")
        #expect(holds(content, "out/" + name))
      }
      #expect(server.bytesSent - sent <= 2, "a byte of each tells its size and time")
      server.serve("/b.bin", .file(Content(300_001)))
      #expect(try await durable("prune").status == .exited(0))
      let changed = try await durable.run(words)
      #expect(changed.status == .exited(1), "another file is not taken for it")
      #expect(holds(content, "out/b.bin"))
    }

    @Test("a file whose end nothing tells but the connection's is refused, and taken if that is accepted")
    func unknownLength() async throws {
      server.serve("/a.bin", .file(content).framed(.close))
      let refused = try await durable("get", "--max-attempts", "1", "-o", "out", server.url("/a.bin"))
      #expect(refused.status == .exited(1))
      #expect(!FileManager.default.fileExists(atPath: durable.folder + "/out/a.bin"))
      let taken = try await durable("get", "--accept-unknown-length", "-o", "out", server.url("/a.bin"))
      #expect(taken.status == .exited(0), "\(taken.stderr)")
      #expect(holds(content, "out/a.bin"))
    }

    @Test("a download that was asked for with other options is not taken for the one that is asked for now")
    func otherOptions() async throws {
      let first = try await durable("get", "--detach", "-o", "out", server.url("/a.bin"))
      #expect(first.status == .exited(0))
      let wrong = String(repeating: "0", count: 64)
      let second = try await durable("get", "--sha256", wrong, "-o", "out", server.url("/a.bin"))
      #expect(second.status == .exited(1))
      #expect(second.stderr.contains(", not \(wrong)"), "\(second.stderr)")
      #expect(!FileManager.default.fileExists(atPath: durable.folder + "/out/a.bin"))
      let jobs = try await durable("status", "--all")
      #expect(jobs.text.contains("cancelled"), "\(jobs.text)")
    }

    @Test("a list is done again once what was done is pruned, by a byte of each file")
    func pruned() async throws {
      let names = ["a.bin", "b.bin", "c.bin"]
      for name in names { server.serve("/" + name, .file(content)) }
      let list = names.map { server.url("/" + $0) + "\n" }.joined()
      try Data(list.utf8).write(to: URL(fileURLWithPath: durable.folder + "/list.txt"))
      for round in 1...3 {
        let outcome = try await durable("get", "-o", "out", "-i", "list.txt")
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(
          outcome.text.split(separator: "\n").count { $0.contains("already there") } == (round == 1 ? 0 : 3),
          "\(outcome.text)")
        #expect(server.requests.count == 3 * round)
        #expect(try await durable("prune").line == "3 jobs removed")
      }
      #expect(server.bytesSent == 3 * content.size + 6)
    }

    @Test("a download whose process was killed is asked for again with other options, and goes on")
    func otherOptionsAfterKill() async throws {
      server.serve("/a.bin", .file(content).holding(after: content.size / 2), .file(content))
      let killed = try await durable.get("-o", "out", server.url("/a.bin")) { [server] process in
        await server.held("/a.bin")
        kill(process, SIGKILL)
      }
      #expect(killed.status == .signaled(SIGKILL))
      let second = try await durable("get", "--overwrite", "-o", "out", server.url("/a.bin"))
      #expect(second.status == .exited(0), "\(second.stderr)")
      #expect(holds(content, "out/a.bin"))
    }

    @Test("with --overwrite, two URLs may not be one file")
    func replacingEachOther() async throws {
      let outcome = try await durable(
        "get", "--overwrite", "-o", "out", server.url("/a.bin"), server.url("/else/a.bin"))
      #expect(outcome.status == .exited(2))
      #expect(outcome.stderr.contains("would replace each other as a.bin"))
      // The names are those that are written, and not what stands in the URLs.
      let harmless = try await durable("get", "--overwrite", "-o", "out", server.url("/a/"), server.url("/b/"))
      #expect(harmless.status == .exited(2))
      #expect(harmless.stderr.contains("would replace each other as download"), "\(harmless.stderr)")
    }

    @Test("with --overwrite, files of one name may go into different folders, and not into one by two paths")
    func oneNameInTwoFolders() async throws {
      for path in ["/en/f.bin", "/de/f.bin"] { server.serve(path, .file(content)) }
      let list = URL(fileURLWithPath: durable.folder + "/list.txt")
      func write(_ first: String, _ second: String) throws {
        let text = "\(server.url("/en/f.bin"))\n  dir=\(first)\n\(server.url("/de/f.bin"))\n  dir=\(second)\n"
        try Data(text.utf8).write(to: list)
      }
      try write("en", "de")
      let outcome = try await durable("get", "--overwrite", "-i", "list.txt")
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      #expect(holds(content, "en/f.bin") && holds(content, "de/f.bin"))
      try write("out", "en/../out")
      let same = try await durable("get", "--overwrite", "-i", "list.txt")
      #expect(same.status == .exited(2))
      #expect(same.stderr.contains("would replace each other as f.bin"), "\(same.stderr)")
    }

    @Test("with --overwrite, a URL that is named twice for one file is told as that")
    func namedTwice() async throws {
      let text = "\(server.url("/a.bin"))\n\(server.url("/a.bin"))\n  out=a.bin\n"
      try Data(text.utf8).write(to: URL(fileURLWithPath: durable.folder + "/list.txt"))
      let outcome = try await durable("get", "--overwrite", "-i", "list.txt")
      #expect(outcome.status == .exited(2))
      #expect(outcome.stderr.contains("/a.bin is named twice for a.bin"), "\(outcome.stderr)")
    }

    @Test(
      "a URL that stands twice in a list with other requirements is told with both places, and nothing is fetched",
      arguments: ["checksum=sha-256=\(String(repeating: "0", count: 64))", "size=5", "header=Cookie: user=alice"])
    func namedOtherwise(option: String) async throws {
      let text = "\(server.url("/a.bin"))\n\(server.url("/a.bin"))\n  \(option)\n"
      try Data(text.utf8).write(to: URL(fileURLWithPath: durable.folder + "/list.txt"))
      let outcome = try await durable("get", "-i", "list.txt", "-o", "out")
      #expect(outcome.status == .exited(2), "\(outcome.text)")
      #expect(outcome.stderr.contains("list.txt:1 and list.txt:2"), "\(outcome.stderr)")
      #expect(!outcome.stderr.contains("alice"))
      #expect(server.requests.isEmpty)
    }

    @Test("a URL that is given twice with two users is told without their passwords")
    func namedByTwoUsers() async throws {
      let urls = ["alice:s3cret", "bob:hush"].map { server.url("/a.bin", by: "\($0)@127.0.0.1") }
      let outcome = try await durable("get", "-o", "out", urls[0], urls[1])
      #expect(outcome.status == .exited(2), "\(outcome.text)")
      #expect(outcome.stderr.contains("/a.bin") && outcome.stderr.contains("different"), "\(outcome.stderr)")
      #expect(!outcome.stderr.contains("s3cret") && !outcome.stderr.contains("hush"))
      #expect(server.requests.isEmpty)
    }

    @Test("an answer may take so long to begin as is said")
    func timeout() async throws {
      server.serve("/a.bin", .silence)
      let outcome = try await durable(
        "get", "--timeout", "1", "--max-attempts", "1", "-o", "out", server.url("/a.bin"))
      #expect(outcome.status == .exited(1))
      #expect(outcome.stderr.contains("in 1 s"), "\(outcome.stderr)")
    }

    @Test("each file that failed is told at the end with its reason, and the others come")
    func failure() async throws {
      let outcome = try await durable(
        "get", "-o", "out", server.url("/missing.bin"), server.url("/a.bin"), server.url("/a.bin"))
      #expect(outcome.status == .exited(1))
      #expect(outcome.stderr.contains("durable: missing.bin: the server answered 404"))
      #expect(outcome.stderr.contains("1 of 2 done, 1 failed"))
      #expect(outcome.stderr.contains("named twice"))
      #expect(holds(content, "out/a.bin"))
    }

    @Test("the files of a list come, from a file and from standard input", arguments: ["list.txt", "-"])
    func list(name: String) async throws {
      let text = "\u{feff}# mine\r\n\(server.url("/a.bin"))\r\n"
      try Data(text.utf8).write(to: URL(fileURLWithPath: durable.folder + "/list.txt"))
      let outcome = try await durable.shell("\"$DURABLE\" get -o out -i \(name) < list.txt")
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      #expect(holds(content, "out/a.bin"))
    }

    @Test("in JSON there is a line for each event, and at the end one for each job")
    func json() async throws {
      let outcome = try await durable("get", "--json", "-o", "out", server.url("/a.bin"), server.url("/missing.bin"))
      #expect(outcome.status == .exited(1))
      let lines = try outcome.text.split(separator: "\n").map {
        try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
      }
      let events = lines.compactMap { $0["event"] as? String }
      #expect(events.sorted() == ["ended", "ended", "job", "job", "started", "started"])
      let jobs = lines.filter { $0["event"] as? String == "job" }
      #expect(jobs.map { $0["state"] as? String } == ["succeeded", "failed"])
      let output = try #require(jobs.first?["output"] as? [String: Any])
      #expect(output["path"] as? String == durable.folder + "/out/a.bin")
      #expect(output["size"] as? Int == 300_000)
    }

    @Test("detached, it is only stored: a worker fetches it, and show says how to type it again")
    func detach() async throws {
      let stored = try await durable("get", "--detach", "-o", "out", "-O", "b.bin", server.url("/a.bin"))
      #expect(stored.status == .exited(0), "\(stored.stderr)")
      #expect(stored.text == "1\n")
      #expect(server.requests.isEmpty)
      let shown = try await durable("show", "1")
      #expect(shown.text.hasPrefix("durable get \(server.url("/a.bin")) -o \(durable.folder)/out -O b.bin\n"))
      let work = try await durable("work", "--drain")
      #expect(work.status == .exited(0), "\(work.stderr)")
      #expect(work.text.contains("done    b.bin  300 kB"))
      #expect(holds(content, "out/b.bin"))
      let status = try await durable("status").text
      #expect(status.contains(/succeeded  .+ ago  get -o out -O b.bin http/), "\(status)")
      #expect(try await durable("log", "1").stderr.contains("a download"))
    }

    // MARK: Interrupted, and side by side

    @Test(
      "Ctrl-C keeps what has come and says how to go on; the same command does, from there",
      arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) async throws {
      let large = Content(2_000_000)
      server.serve("/large.bin", .file(large).holding(after: 1_000_000), .file(large))
      let url = server.url("/large.bin")
      let outcome = try await durable.get("-o", "out", url) { [server] process in
        await server.held("/large.bin")
        await server.sent("/large.bin", atLeast: 1_000_000)
        kill(process, signal)
      }
      #expect(outcome.status == .exited(130))
      #expect(outcome.stderr.contains("Go on with: durable get -o out \(url)"))
      #expect(try await durable.state(1) == "ready")
      #expect(!FileManager.default.fileExists(atPath: durable.folder + "/out/large.bin"))
      let again = try await durable("get", "-o", "out", url)
      #expect(again.status == .exited(0), "\(again.stderr)")
      #expect(holds(large, "out/large.bin"))
      #expect(server.requests("/large.bin").count == 2)
      let start = try #require(server.requests("/large.bin").last?.rangeStart)
      #expect(start > 0)
      #expect(
        try await durable("status", "--json").json["counts"] as? [String: Int] == [
          "ready": 0, "scheduled": 0, "blocked": 0, "running": 0, "suspended": 0, "succeeded": 1, "failed": 0,
          "cancelled": 0, "skipped": 0,
        ])
    }

    @Test("two that want the same file fetch it once, and both have it")
    func twice() async throws {
      server.serve("/shared.bin", .file(content).holding(after: 100_000))
      let url = server.url("/shared.bin")
      let first = try await durable.get("-o", "out", url) { [durable, server] _ in
        await server.held("/shared.bin")
        let second = try await durable.onTerminal("get", "-o", "out", url) { terminal in
          try await terminal.shows("elsewhere")
          server.release()
          try await terminal.shows("done    shared.bin  300 kB")
        }
        #expect(second.status == .exited(0))
      }
      #expect(first.status == .exited(0), "\(first.stderr)")
      #expect(server.requests("/shared.bin").count == 1)
      #expect(holds(content, "out/shared.bin"))
    }

    @Test("one that was cancelled or suspended by somebody ends with words", arguments: ["cancel", "suspend"])
    func ended(verb: String) async throws {
      server.serve("/held.bin", .file(content).holding(after: 0))
      let outcome = try await durable.get("-o", "out", server.url("/held.bin")) { [durable, server] _ in
        await server.held("/held.bin")
        let change = try await durable(verb, "1", "--reason", "not now")
        #expect(change.status == .exited(0))
      }
      #expect(outcome.status == .exited(1))
      #expect(outcome.stderr.contains("held.bin: \(verb == "cancel" ? "cancelled" : "suspended"): not now"))
      if verb == "suspend" {
        server.serve("/held.bin", .file(content))
        #expect(try await durable("get", "-o", "out", server.url("/held.bin")).status == .exited(0))
        #expect(holds(content, "out/held.bin"))
      }
    }

    @Test("one that was completed by hand has failed, unless its file is there", arguments: [false, true])
    func completed(hasFile: Bool) async throws {
      try await durable("pause")
      let outcome = try await durable.run("get", "-o", "out", server.url("/a.bin")) { [durable] program in
        try await program.says("the queue 'default' is paused")
        if hasFile { try Data("mine".utf8).write(to: URL(fileURLWithPath: durable.folder + "/out/a.bin")) }
        #expect(try await durable("complete", "1").status == .exited(0))
      }
      #expect(outcome.status == .exited(hasFile ? 0 : 1), "\(outcome.stderr)")
      #expect(outcome.stderr.contains("a.bin: completed by hand; there is no file") != hasFile, "\(outcome.stderr)")
    }

    @Test("what others of the store have left behind is not begun while ours can run")
    func others() async throws {
      server.serve("/left.bin", .file(content).holding(after: 0))
      try await durable("get", "--detach", "-o", "out", server.url("/left.bin"))
      server.serve("/held.bin", .file(content).holding(after: 0))
      let outcome = try await durable.get("-o", "out", server.url("/held.bin")) { [server] _ in
        await server.held("/held.bin")
        #expect(server.requests("/left.bin").isEmpty)
        server.release("/held.bin")
      }
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      #expect(!outcome.text.contains("left.bin"))
      #expect(try await durable.state(1) == "ready")
    }

    @Test(
      "what others have left behind and is begun while ours wait is told, with its folder, as a note",
      arguments: [[], ["--json"], ["-q"]])
    func othersTold(options: [String]) async throws {
      let other = try await LyingServer(on: "127.0.0.2")
      other.serve("/left.bin", .file(content))
      try await durable("get", "--detach", "-o", ".", other.url("/left.bin"))
      // It waits for its server alone.
      server.serve("/a.bin", .page(503).with("Retry-After", "5"), .file(content))
      let outcome = try await durable.get(options + ["-o", "out", server.url("/a.bin")]) { _ in
        await other.asked("/left.bin")
      }
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      let line = outcome.stderr.split(separator: "\n").filter { $0.contains(other.url("/left.bin")) }
      guard options != ["-q"] else {
        #expect(line.isEmpty, "\(outcome.stderr)")
        return
      }
      #expect(line.count == 1, "\(outcome.stderr)")
      #expect(options.isEmpty || line.first?.contains(#""event":"note""#) == true, "\(outcome.stderr)")
      #expect(line.first?.contains("another call") == true && line.first?.contains(durable.folder) == true)
    }

    @Test("a server that can't go on has its file begin anew, and Ctrl-C says so")
    func interruptedForNothing() async throws {
      let url = server.url("/a.bin")
      for answer in [
        LyingAnswer.file(content, etag: nil, lastModified: nil), .file(content).with("Accept-Ranges", "none"),
      ] {
        server.serve("/a.bin", answer.holding(after: 290_000))
        let record = URL(fileURLWithPath: durable.folder).appendingPathComponent("out/a.bin.part.json")
        let before = try? Data(contentsOf: record)
        let outcome = try await durable.get("-o", "out", url) { [server] process in
          await server.held("/a.bin")
          // What was sent may be on its way still.
          await until { (try? Data(contentsOf: record)) != before }
          kill(process, SIGINT)
        }
        #expect(outcome.status == .exited(130))
        #expect(outcome.stderr.contains("begins anew"), "\(outcome.stderr)")
        #expect(!outcome.stderr.contains("what has come is kept"), "\(outcome.stderr)")
        #expect(outcome.stderr.contains("durable get -o out \(url)"), "\(outcome.stderr)")
        server.release()
      }
    }

    @Test("through a pipe, a line for another attempt says when it is")
    func again() async throws {
      server.serve("/a.bin", .page(503), .file(content))
      let outcome = try await durable("get", "-o", "out", server.url("/a.bin"))
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      #expect(outcome.text.contains(/again .* in \d+ s, attempt 1 of 20: the server answered 503/), "\(outcome.text)")
    }

    @Test("where one reads both of its outputs, a failure is told once", arguments: ["", " 2>&1"])
    func toldOnce(redirection: String) async throws {
      let outcome = try await durable.shell(
        "\"$DURABLE\" get -o out \(server.url("/missing.bin")) \(server.url("/a.bin"))\(redirection)")
      #expect(outcome.status == .exited(1))
      #expect(outcome.text.components(separatedBy: "answered 404").count == 2, "\(outcome.text)")
      #expect(outcome.stderr.components(separatedBy: "answered 404").count == (redirection.isEmpty ? 2 : 1))
    }

    @Test("a folder that is made may be seen by those whom the umask lets see it")
    func madeFolder() async throws {
      let outcome = try await durable.shell("umask 027; \"$DURABLE\" get --detach -o new \(server.url("/a.bin"))")
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      let status = try FileManager.default.attributesOfItem(atPath: durable.folder + "/new")
      #expect((status[.posixPermissions] as? NSNumber)?.intValue == 0o750)
    }

    @Test("a folder that isn't there is made, but not what it is in")
    func makesFolder() async throws {
      let outcome = try await durable("get", "-o", "new/", server.url("/a.bin"))
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      #expect(holds(content, "new/a.bin"))
      let refused = try await durable("get", "-o", "newer", "nonsense")
      #expect(refused.status == .exited(2))
      #expect(!FileManager.default.fileExists(atPath: durable.folder + "/newer"))
    }

    // MARK: On a terminal

    private static let plain: [Environment.Key: String?] = ["TERM": "xterm", "XTERM_VERSION": "test"]

    @Test("on a terminal each file has its bar while it runs, and a line when it is done; both keep to its size")
    func terminal() async throws {
      server.serve("/one.bin", .file(content).holding(after: 150_000))
      let path = "/%E6%BC%A2%E5%AD%97.bin"
      server.serve(path, .file(content).holding(after: 75_000))
      let other = server.url(path)
      let outcome = try await durable.onTerminal(
        "get", "-o", "out", server.url("/one.bin"), other, server.url("/missing"), environment: Self.plain
      ) { [server] terminal in
        // Nothing comes any more: the speed has come to its stop.
        let text = try await terminal.shows("two bars that stand still") {
          $0.lines.count == 4 && $0.text.matches(of: /of 300 kB/).count == 2
            && $0.text.matches(of: #/ {2}0 B/s/#).count >= 2 && $0.lines[3].hasSuffix(", 0 B/s")
        }
        #expect(text.lines[0].hasPrefix("failed  missing  the server answered 404"))
        let bars = text.lines[1...2].sorted()
        #expect(bars[0] == "one.bin              █████░░░░░░   50 %       150 of 300 kB       0 B/s")
        #expect(bars[1] == "漢字.bin             ██░░░░░░░░░   25 %      75.0 of 300 kB       0 B/s")
        #expect(text.lines[3].hasSuffix("0 of 3 done, 1 failed, 225 of 600 kB, 0 B/s"))
        terminal.resize(columns: 40, rows: 10)
        try await terminal.shows("bars on 40 columns") {
          $0.lines.contains("one.bin        50 %       0 B/s") && $0.lines.contains("漢字.bin       25 %       0 B/s")
        }
        server.release()
        try await terminal.shows("2 of 3 done, 1 failed: ")
      }
      #expect(outcome.status == .exited(1))
      #expect(outcome.isAsBefore)
      #expect(outcome.text.unknown.isEmpty)
      #expect(!outcome.text.hidesCursor)
      let lines = outcome.text.lines
      #expect(lines[0].hasPrefix("failed  missing"))
      #expect(lines[1...2].contains { $0.hasPrefix("done    one.bin  300 kB in ") })
      #expect(lines[1...2].contains { $0.hasPrefix("done    漢字.bin  300 kB in ") })
      #expect(lines[3].hasPrefix("2 of 3 done, 1 failed: 600 kB in "))
      #expect(!lines.dropFirst(4).contains { $0.contains("missing") }, "it was told")
      #expect(!outcome.text.text.contains("█"))
    }

    @Test("a file that others of its host go before says so on its bar")
    func inLine() async throws {
      for name in ["/one.bin", "/two.bin"] { server.serve(name, .file(content).holding(after: 150_000)) }
      let outcome = try await durable.onTerminal(
        "get", "-o", "out", "--per-host", "1", server.url("/one.bin"), server.url("/two.bin"), environment: Self.plain
      ) { [server] terminal in
        let text = try await terminal.shows("waits: another file of this host comes, 1 at once")
        #expect(!text.text.contains("elsewhere") && !text.text.contains("scheduled"), "\(text.text)")
        await server.until { $0.contains(where: \.isHeld) }
        let first = try #require(server.exchanges.first { $0.isHeld }).path
        server.release(first)
        await server.until { $0.contains { $0.isHeld && $0.path != first } }
        server.release()
      }
      #expect(outcome.status == .exited(0))
    }

    @Test("Ctrl-C on a terminal takes the bars away and leaves the way to go on")
    func terminalInterrupted() async throws {
      server.serve("/held.bin", .file(content).holding(after: 150_000))
      let outcome = try await durable.onTerminal("get", "-o", "out", server.url("/held.bin"), environment: Self.plain) {
        terminal in
        try await terminal.shows("held.bin ")
        terminal.press("\u{3}")
        try await terminal.shows("Go on with: durable get -o out")
      }
      #expect(outcome.status == .exited(130))
      #expect(outcome.isAsBefore)
      let words = "1 of 1 left; what has come is kept. Go on with: durable get -o out \(server.url("/held.bin"))"
      #expect(outcome.text.lines.first == String(words.prefix(80)))
    }

    @Test("one SIGTERM ends it on a terminal that takes nothing more")
    func deafTerminal() async throws {
      server.serve("/held.bin", .file(content).holding(after: 150_000))
      let go = try Fifo(in: durable, "go")
      var (master, slave): (Int32, Int32) = (-1, -1)
      var name = [CChar](repeating: 0, count: 200)
      try #require(openpty(&master, &slave, &name, nil, nil) == 0)
      for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      defer { for end in [master, slave] { close(end) } }
      let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let full = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
      while write(full, "x", 1) == 1 {}
      close(full)
      let line = """
        "$DURABLE" get -o out "$URL" < /dev/null > "$TTY" 2>&1 & program=$!
        read -r line < go; kill -TERM $program; wait $program
        """
      async let outcome = durable.shell(
        line, environment: ["TTY": path, "TERM": "xterm", "URL": server.url("/held.bin")])
      await server.held("/held.bin")
      await go.say("go")
      #expect(try await outcome.status == .exited(130))
    }

    @Test("in the background of a terminal it draws no bars over what stands there, and does once it is in front")
    func background() async throws {
      for name in ["/one.bin", "/two.bin"] { server.serve(name, .file(content).holding(after: 150_000)) }
      let line = #"set -m; "$DURABLE" get -o out "$ONE" "$TWO" & read -r line; fg"#
      let outcome = try await durable.onTerminal(
        "-c", line, program: "bash",
        environment: Self.plain.merging(
          ["DURABLE": durable.program, "ONE": server.url("/one.bin"), "TWO": server.url("/two.bin")]) { $1 }
      ) { [server] terminal in
        for name in ["/one.bin", "/two.bin"] { await server.held(name) }
        server.release("/one.bin")
        let text = try await terminal.shows("done    one.bin  300 kB in ")
        #expect(text.timesBack == 0 && !text.text.contains("two.bin"), "\(text.text)")
        terminal.press("\n")
        try await terminal.shows("the bar of what is left") { $0.text.contains(#/two\.bin .* 50 %/#) }
        server.release("/two.bin")
        try await terminal.shows("2 of 2 done: ")
      }
      #expect(outcome.status == .exited(0))
      #expect(!outcome.text.text.contains("█"), "\(outcome.text.text)")
    }

    @Test("a terminal that can't move lines gets plain ones")
    func dumb() async throws {
      let outcome = try await durable.onTerminal(
        "get", "-o", "out", server.url("/a.bin"), environment: ["TERM": "dumb"]
      ) { terminal in
        try await terminal.shows("done    a.bin")
      }
      #expect(outcome.status == .exited(0))
      #expect(outcome.text.lines.first?.contains("start   http") == true)
    }
  }

  extension Durable {
    /// Runs `get` to its end, and `body` beside it.
    func get(_ arguments: String..., body: @escaping @Sendable (pid_t) async throws -> Void) async throws -> Outcome {
      try await get(arguments, body: body)
    }

    func get(_ arguments: [String], body: @escaping @Sendable (pid_t) async throws -> Void) async throws -> Outcome {
      let result = try await Subprocess.run(
        .path(.init(program)), arguments: Arguments(["get"] + arguments), environment: environment([:]),
        workingDirectory: .init(folder), input: .none, output: .sequence, error: .string(limit: 1 << 20)
      ) { execution in
        let process = execution.processIdentifier.value
        return try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            do {
              try await body(process)
            } catch {
              kill(process, SIGKILL)
              throw error
            }
          }
          var text: [UInt8] = []
          for try await buffer in execution.standardOutput { buffer.withUnsafeBytes { text.append(contentsOf: $0) } }
          try await group.waitForAll()
          return text
        }
      }
      return Outcome(
        status: result.terminationStatus, stdout: result.closureResult, stderr: result.standardError)
    }
  }

  #if os(Linux)
    /// A port whose server takes no connection, and has no room for more that wait: who connects hears nothing.
    private final class FullPort: Sendable {
      let number: UInt16
      private let sockets: [Int32]

      init() throws {
        func make(_ flags: Int) -> Int32 { socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(flags), 0) }
        let server = make(Int(SOCK_CLOEXEC.rawValue))
        var sockets = [server]
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        func withAddress(_ body: (UnsafeMutablePointer<sockaddr>) -> Int32) -> Int32 {
          withUnsafeMutablePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
        }
        try #require(server >= 0 && withAddress { bind(server, $0, size) } == 0 && listen(server, 0) == 0)
        try #require(withAddress { getsockname(server, $0, &size) } == 0)
        number = UInt16(bigEndian: address.sin_port)
        // One that waits leaves no room: the next ones do not come about, however long they are waited for.
        for _ in 0..<8 {
          let client = make(Int(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue))
          sockets.append(client)
          try #require(client >= 0 && (withAddress { connect(client, $0, size) } == 0 || errno == EINPROGRESS))
        }
        self.sockets = sockets
      }

      deinit { for socket in sockets { close(socket) } }
    }
  #endif
#endif
