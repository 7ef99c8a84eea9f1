#if Shell
  import DurableJobs
  import DurableJobsSQLite
  import Foundation
  import LyingServer
  import Subprocess
  import Testing

  @Suite("durable send")
  struct SendTests {
    let durable: Durable
    let server: LyingServer

    init() async throws {
      durable = try Durable()
      server = try await LyingServer()
    }

    private func send(_ arguments: String..., environment: [Environment.Key: String?] = [:]) async throws
      -> Durable.Outcome
    {
      try await durable.run((["send"] + arguments).map { Array($0.utf8) }, environment: environment)
    }

    private func bodies(_ path: String) -> [String] {
      server.requests(path).map { String(decoding: $0.body, as: UTF8.self) }
    }

    @Test("a request is stored, and a worker sends it")
    func sent() async throws {
      server.serve("/orders", .page(201, "made"))
      let added = try await send(
        "post", server.url("/orders"), "--json", #"{"item": "tea"}"#, "-HX-One: 1", "--idempotency-key", "k-1", "--tag",
        "t")
      #expect(added.status == .exited(0), "\(added.stderr)")
      #expect(added.line == "1")
      #expect(server.requests.isEmpty)
      let work = try await durable("work", "--drain")
      #expect(work.status == .exited(0), "\(work.stderr)")
      #expect(work.text.contains("1  start   send POST \(server.url("/orders"))"), "\(work.text)")
      #expect(work.text.contains("done    send POST \(server.url("/orders"))  201, 4 B of text/html"), "\(work.text)")
      let request = try #require(server.requests.first)
      #expect(request.method == "POST")
      #expect(bodies("/orders") == [#"{"item": "tea"}"#])
      #expect(["Content-Type", "X-One", "Idempotency-Key"].map { request[$0] } == ["application/json", "1", "k-1"])
      let job = try await durable.job(1)
      #expect(job["kind"] as? String == "request")
      #expect(job["tags"] as? [String] == ["t"])
      let answer = try #require(job["output"] as? [String: Any])
      #expect(answer["status"] as? Int == 201)
      #expect(answer["body"] as? String == "made")
      let shown = try await durable("show", "1").text
      for line in [
        #"durable send POST \#(server.url("/orders")) --header 'X-One: ***' --json-body '{"item": "tea"}'"#,
        "header     Idempotency-Key: k-1", #"{"item": "tea"}"#,
        "answer     201, 4 B of text/html",
      ] {
        #expect(shown.contains(line), "\(shown)")
      }
      #expect(try await durable("status").text.contains(/succeeded  .+ ago  send POST/))
      #expect(try await durable("log", "1").stderr.contains("a request; 'durable show 1' tells about it"))
    }

    @Test("of a body whose type a header sets, show names no other type")
    func typeOfHeader() async throws {
      let added = try await send("POST", server.url("/a"), "--data", "hello", "-H", "content-type: text/plain")
      #expect(added.line == "1", "\(added.stderr)")
      #expect(try await durable("show", "1").text.contains("body       5 B: hello\n"))
      #expect(try await durable("show", "1", "--secrets").text.contains("body       5 B of text/plain: hello\n"))
    }

    @Test(
      "a body for which the store would be left no room is refused, and so is one without an end",
      .enabled(if: getuid() == 0, "mounts a small disk"))
    func noRoom() async throws {
      let script = #"""
        set -e
        mount -t tmpfs -o size=24m none "$PWD"; cd "$PWD"
        "$DURABLE" add -- true
        head -c 30000000 /dev/zero > /dev/shm/durable-test-$$ && trap 'rm /dev/shm/durable-test-$$' EXIT
        for body in @/dev/zero @/dev/shm/durable-test-$$; do
          "$DURABLE" send PUT http://127.0.0.1:9/ --data $body || echo $?
        done
        ls jobs.sqlite-outbox | wc -l
        "$DURABLE" add -- true
        """#
      let outcome = try await durable.shell("unshare --mount bash -c \"$SCRIPT\"", environment: ["SCRIPT": script])
      #expect(outcome.text == "1\n5\n5\n0\n2\n", "\(outcome)")
      let told = outcome.stderr.split(separator: "\n")
      #expect(told.count == 2 && told.allSatisfy { $0.contains("no room but for what the store may need") }, "\(told)")
    }

    @Test("a file that is larger than what is copied of any is refused, and nothing of it is copied")
    func tooLarge() async throws {
      let file = open(durable.folder + "/big.bin", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      #expect(ftruncate(file, 5 << 30 + 1) == 0)
      close(file)
      let refused = try await send("PUT", server.url("/a"), "--data", "@big.bin")
      #expect(refused.status == .exited(2) && refused.stderr.contains("has more than 5 GB"), "\(refused.stderr)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: durable.store + "-outbox") == [])
    }

    @Test("of a request that is not stored no copy of its body stays")
    func unstored() async throws {
      try Data(repeating: 120, count: 70_000).write(to: URL(fileURLWithPath: durable.folder + "/body"))
      func copies() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: durable.store + "-outbox").count
      }
      for options in [["--unique", "u"], ["--idempotency-key", "k"]] {
        let before = (try? copies()) ?? 0
        for _ in 1...2 {
          let words = ["send", "POST", server.url("/a"), "--data", "@body"] + options
          #expect(try await durable.run(words.map { Array($0.utf8) }).status == .exited(0))
        }
        #expect(try copies() == before + 1)
      }
      let before = try copies()
      for options in [
        ["--after", "999"], ["--batch", "nope"], ["--deadline", "1s", "--delay", "5s"],
        ["-H", "Content-Length: 5", "--unique", "u"], ["--key", "k", "--lane", "l", "--after", "k"],
      ] {
        let words = ["send", "POST", server.url("/a"), "--data", "@body"] + options
        let refused = try await durable.run(words.map { Array($0.utf8) })
        #expect(refused.status != .exited(0), "\(options)")
      }
      #expect(try copies() == before)
    }

    @Test("a signal takes away the copy that was being made of a body", arguments: [SIGINT, SIGTERM, SIGHUP])
    func interrupted(signal: Int32) async throws {
      let fifo = durable.folder + "/body"
      try #require(mkfifo(fifo, 0o600) == 0)
      let ended = try await durable.run("send", "PUT", server.url("/a"), "--data", "@body") { program in
        await onThread {
          let file = open(fifo, O_WRONLY | O_CLOEXEC)
          // More than a pipe and a reader hold: once it is written, the copy has begun.
          let bytes = [UInt8](repeating: 0, count: 400_000)
          _ = write(file, bytes, bytes.count)
          kill(program.process, signal)
          var end = pollfd(fd: file, events: 0, revents: 0)
          while poll(&end, 1, -1) < 0, errno == EINTR {}
          close(file)
        }
      }
      #expect(ended.status == .exited(128 + signal))
      #expect(try FileManager.default.contentsOfDirectory(atPath: durable.store + "-outbox") == [])
      #expect(try await durable("status").text == "no jobs\n")
    }

    @Test("a worker that is killed after the server has the request sends it again, with the same key")
    func killed() async throws {
      server.serve("/orders", .silence, .page(200))
      let id = try #require(Int(try await send("POST", server.url("/orders"), "--data", "a=1").line))
      _ = try await durable.work { [server] worker in
        await server.held("/orders")
        kill(worker.process, SIGKILL)
        await worker.ends()
      }
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try await durable.state(id) == "succeeded")
      let requests = server.requests("/orders")
      #expect(requests.count == 2)
      #expect(Set(requests.map { $0["Idempotency-Key"] }).count == 1)
      #expect(requests.first?["Idempotency-Key"] != nil)
      #expect(bodies("/orders") == ["a=1", "a=1"])
      #expect(requests.first?["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test("requests of a lane arrive in their order, also where the first is refused at first")
    func lane() async throws {
      server.serve("/orders", .page(503).with("Retry-After", "0"), .page(200))
      for body in ["one", "two", "three"] {
        let added = try await send("POST", server.url("/orders"), "--lane", "orders", "--data", body)
        #expect(added.status == .exited(0), "\(added.stderr)")
      }
      #expect(try await durable("work", "--drain", "--concurrency", "4").status == .exited(0))
      #expect(bodies("/orders") == ["one", "one", "two", "three"])
    }

    @Test("while nobody can be reached it waits and says why, and arrives when somebody can be")
    func offline() async throws {
      server.serve("/orders", .page(200))
      try await server.stopListening()
      let id = try #require(Int(try await send("POST", server.url("/orders"), "--data", "x").line))
      let server = server
      let durable = durable
      _ = try await durable.work { worker in
        try await worker.says("waits", id)
        let status = try await durable("status").text
        #expect(status.contains("waits: can't connect to 127.0.0.1:\(server.port)"), "\(status)")
        try await server.listenAgain()
        #expect(try await durable("wait", "\(id)").status == .exited(0))
      }
      let job = try await durable.job(id)
      #expect(job["state"] as? String == "succeeded")
      #expect(job["attempt"] as? Int == 1)
      #expect(server.requests("/orders").count == 1)
    }

    @Test("a secret is a variable of the worker, and in no file, on no screen and in no error")
    func secret() async throws {
      server.serve("/a", .page(500, "hush is wrong"), .page(401, "hush is wrong"))
      let header = "Authorization: Bearer {secret:MY_TOKEN}"
      try Data("X-File: hush too\n".utf8).write(to: URL(fileURLWithPath: durable.folder + "/headers.txt"))
      let added = try await send("POST", server.url("/a"), "-H", header, "-H", "@headers.txt", "-H", "X-Plain: plain")
      #expect(added.status == .exited(0), "\(added.stderr)")
      // No variable, no request.
      let without = try await durable("work", "--drain")
      #expect(try await durable.state(1) == "suspended")
      #expect(without.text.contains("suspended: the worker knows no secret 'MY_TOKEN'"), "\(without.text)")
      #expect(server.requests.isEmpty)
      #expect(try await durable("resume", "1").status == .exited(0))
      let work = try await durable("work", "--drain", environment: ["MY_TOKEN": "hush"])
      #expect(work.status == .exited(1))
      #expect(server.requests.map { $0["Authorization"] } == ["Bearer hush", "Bearer hush"])
      #expect(server.requests.map { $0["X-File"] } == ["hush too", "hush too"])
      let shown = [
        try await durable("show", "1"), try await durable("show", "1", "--json"), try await durable("status"),
        try await durable("status", "--json"), try await durable("show", "1", "--secrets"), work, without, added,
      ]
      for outcome in shown {
        #expect(!(outcome.text + outcome.stderr).contains("hush"), "\(outcome.text) \(outcome.stderr)")
      }
      #expect(shown[0].text.contains("--header 'Authorization: Bearer {secret:MY_TOKEN}'"), "\(shown[0].text)")
      #expect(shown[0].text.contains("the server answered 401 Unauthorized: *** is wrong"), "\(shown[0].text)")
      #expect(!shown[1].text.contains("plain"))
      for name in try FileManager.default.contentsOfDirectory(atPath: durable.folder)
      where name.hasPrefix("jobs.sqlite") {
        let data = FileManager.default.contents(atPath: durable.folder + "/" + name) ?? Data()
        #expect(data.range(of: Data("hush".utf8)) == nil, "\(name)")
      }
    }

    @Test(
      "a large file is sent as it was when it was added, also where it came through a pipe",
      arguments: ["@big.bin", "-", "@-"])
    func largeBody(word: String) async throws {
      let content = Content(2_000_000)
      server.serve("/a", .page(200))
      let path = URL(fileURLWithPath: durable.folder + "/big.bin")
      try Data(content.bytes).write(to: path)
      let added = try await durable.shell("cat big.bin | \"$DURABLE\" send PUT \(server.url("/a")) --data \(word)")
      #expect(added.line == "1", "\(added.stderr)")
      try Data("other".utf8).write(to: path)
      #expect(try await durable("show", "1").text.contains("body       a copy of a file, of application/octet-stream"))
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(server.requests.map { $0.body == content.bytes } == [true])
      #expect(try FileManager.default.contentsOfDirectory(atPath: durable.store + "-outbox") == [])
    }

    @Test("a store that is repaired has the bodies that are in files, and the logs of commands")
    func repaired() async throws {
      let content = Content(2_000_000)
      server.serve("/a", .page(200))
      try Data(content.bytes).write(to: URL(fileURLWithPath: durable.folder + "/big.bin"))
      let command = try await durable.add("--", "echo", "said")
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try await send("PUT", server.url("/a"), "--data", "@big.bin").line == "2")
      let copy = durable.folder + "/new.sqlite"
      let repaired = try await durable("repair", copy)
      #expect(repaired.status == .exited(0) && repaired.line.hasPrefix("2 jobs whole"), "\(repaired.stderr)")
      #expect(try await durable("work", "--drain", "--store", copy).status == .exited(0))
      #expect(server.requests.map { $0.body == content.bytes } == [true])
      #expect(try await durable("log", "\(command)", "--store", copy).text == "said\n")
    }

    @Test(
      "a store is not repaired to where bodies of another are, and one whose bodies can't be copied says where they are"
    )
    func notCopied() async throws {
      let other = durable.folder + "/other.sqlite"
      try FileManager.default.createDirectory(atPath: other + "-outbox", withIntermediateDirectories: false)
      _ = try await durable.add("--", "true")
      let refused = try await durable("repair", other)
      #expect(refused.status == .exited(5) && refused.stderr.contains("\(other)-outbox"), "\(refused.stderr)")
      #expect(!FileManager.default.fileExists(atPath: other))
      // A name that leads nowhere is there, and in the way.
      try FileManager.default.createDirectory(atPath: durable.store + "-outbox", withIntermediateDirectories: false)
      let copy = durable.folder + "/new.sqlite"
      try FileManager.default.createSymbolicLink(atPath: copy + "-outbox", withDestinationPath: "/none/none")
      let left = try await durable("repair", copy)
      #expect(left.status == .exited(5) && left.line.hasPrefix("1 job whole"), "\(left.stderr)")
      #expect(left.stderr.contains("Copy \(durable.store)-outbox yourself before a worker begins"), "\(left.stderr)")
    }

    @Test("the copy of a file goes with its job", arguments: [["remove", "1"], ["prune", "--yes"]])
    func copyGoes(words: [String]) async throws {
      try Data(Content(200_000).bytes).write(to: URL(fileURLWithPath: durable.folder + "/big.bin"))
      #expect(try await send("PUT", server.url("/a"), "--data", "@big.bin").line == "1")
      #expect(try await durable("cancel", "1").status == .exited(0))
      #expect(try FileManager.default.contentsOfDirectory(atPath: durable.store + "-outbox").count == 1)
      #expect(try await durable.run(words.map { Array($0.utf8) }).status == .exited(0))
      #expect(try FileManager.default.contentsOfDirectory(atPath: durable.store + "-outbox") == [])
    }

    @Test("--follow sends it here and prints what is answered")
    func follow() async throws {
      server.serve("/a", .page(503).with("Retry-After", "0"), .page(200, "the answer"))
      server.serve("/no", .page(404, "none here"))
      let good = try await send("GET", server.url("/a"), "--follow")
      #expect(good.status == .exited(0))
      #expect(good.text == "the answer")
      #expect(good.stderr.hasPrefix("Job 1\n"), "\(good.stderr)")
      #expect(good.stderr.contains("the server answered 503"), "\(good.stderr)")
      let bad = try await send("GET", server.url("/no"), "--follow")
      #expect(bad.status == .exited(1))
      #expect(bad.text == "")
      #expect(bad.stderr.contains("job 2 failed: the server answered 404 Not Found: none here"), "\(bad.stderr)")
      let json = try await send("GET", server.url("/a"), "--follow", "--json")
      let lines = json.text.split(separator: "\n")
      #expect(lines.count == 2)
      #expect(lines.last?.contains(#""status":200"#) == true, "\(json.text)")
    }

    @Test(
      "an answer that tells in two ways where it ends is refused for that",
      arguments: [
        ("Transfer-Encoding: chunked", LyingAnswer.Framing.length), ("Content-Length: 5", .chunked),
        ("Content-Length: 5", .length),
      ])
    func twoEnds(header: String, framing: LyingAnswer.Framing) async throws {
      let parts = header.split(separator: ": ").map(String.init)
      server.serve("/a", .page(200).adding(parts[0], parts[1]).framed(framing))
      let ended = try await send("GET", server.url("/a"), "--follow", "--max-attempts", "1")
      #expect(ended.status == .exited(1))
      #expect(ended.stderr.contains("two ways") && ended.stderr.contains("Content-Length"), "\(ended.stderr)")
    }

    @Test("files behind a symbolic link and two dots are those that the shell means")
    func symbolicLink() async throws {
      server.serve("/a", .page(200))
      let folder = URL(filePath: durable.folder)
      try FileManager.default.createDirectory(at: folder.appending(path: "a/b"), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        atPath: durable.folder + "/link", withDestinationPath: "a/b")
      for (place, word) in [("a/", "right"), ("", "wrong")] {
        try Data(word.utf8).write(to: folder.appending(path: place + "x"))
        try Data("X-Which: \(word)".utf8).write(to: folder.appending(path: place + "h"))
        try Data("machine 127.0.0.1 login \(word) password word".utf8)
          .write(to: folder.appending(path: place + "n"))
      }
      let sent = try await send(
        "POST", server.url("/a"), "--follow", "-d", "@link/../x", "-H", "@link/../h")
      #expect(sent.status == .exited(0), "\(sent.stderr)")
      #expect(bodies("/a") == ["right"])
      #expect(server.requests.map { $0["X-Which"] } == ["right"])
      server.serve("/b", .file(Content("b")))
      let got = try await durable("get", server.url("/b"), "--netrc-file", "link/../n")
      #expect(got.status == .exited(0), "\(got.stderr)")
      let basic = "Basic " + Data("right:word".utf8).base64EncodedString()
      #expect(server.requests("/b").map { $0["Authorization"] } == [basic])
    }

    @Test("--follow does not run what else is in the queue")
    func followAlone() async throws {
      server.serve("/a", .page(200))
      let id = try await durable.add("--priority", "5000", "--", "true")
      #expect(try await send("GET", server.url("/a"), "--follow").status == .exited(0))
      #expect(try await durable.state(id) == "ready")
    }

    @Test("asked for again with the same key while it is unfinished, it is one job")
    func again() async throws {
      for number in 1...2 {
        let outcome = try await send("POST", server.url("/a"), "--idempotency-key", "k", "--data", "x")
        #expect(outcome.line == "1")
        #expect(outcome.stderr.contains("Job 1 has this request and this key already") == (number == 2))
      }
      #expect(try await send("POST", server.url("/a"), "--data", "x").line == "2")
    }

    @Test(
      "who gives a credential where a name would do is told that it is stored, and it is not shown",
      arguments: [
        ("Authorization: Bearer hush", true), ("Authorization: Bearer {secret:A}", false), ("X-Key: hush", false),
      ])
    func stored(header: String, isTold: Bool) async throws {
      let outcome = try await send("POST", server.url("/a"), "-H", header)
      #expect(outcome.line == "1")
      #expect(outcome.stderr.contains("The value of Authorization is stored with the request") == isTold)
      #expect(!outcome.stderr.contains("hush"))
      #expect(try await !durable("show", "1").text.contains("hush"))
    }

    @Test("--no-idempotency-key sends none")
    func noKey() async throws {
      server.serve("/a", .page(200))
      _ = try await send("POST", server.url("/a"), "--no-idempotency-key")
      _ = try await durable("work", "--drain")
      #expect(server.requests.map { $0["Idempotency-Key"] } == [nil])
    }

    @Test(
      "what can't be sent is refused before anything is stored",
      arguments: [
        (["https://h/a"], "the method is missing, as in: durable send POST https://h/a"),
        ([], "a method and a URL are wanted"), (["POST"], "a method and a URL are wanted"),
        (["P:T", "https://h"], "'P:T' is no method"), (["POST", "h/a"], "write https://h/a"),
        (["POST", "https://me:hush@h/a"], "was given with a user"),
        (["POST", "https://me@h/a?token=hush"], "https://h/a?… was given with a user"),
        (["POST", "https://h", "-H", "hush"], "--header: the colon is missing"),
        (["POST", "https://h", "-H", "A: {secret:hush"], "the header A names a secret in a way"),
        (["POST", "https://h", "-H", "@none"], "no headers can be read from"),
        (["POST", "https://h", "-H", "@-"], "name a file"),
        (["POST", "https://h", "--data", "@none"], "--data @none: No such file"),
        (["POST", "https://h", "--data", "@."], "it is a folder"),
        (["POST", "https://h", "--json", "{hush"], "--json-body: the text is no JSON"),
        (["POST", "https://h", "--json", "{}", "--data", "x"], "--data and --json-body"),
        (["POST", "https://h", "--json", " nul"], "it is no JSON text"),
        (["POST", "https://h", "--idempotency-key", "a b"], "the idempotency key must have"),
        (["POST", "https://h", "--idempotency-key", "a", "--no-idempotency-key"], "exclude each other"),
        (["POST", "https://h", "--max-attempts", "0"], "--max-attempts is 0"),
        (["POST", "https://h", "--follow", "--delay", "5"], "leave out --delay and --at"),
      ] as [([String], String)])
    func refused(arguments: [String], words: String) async throws {
      let outcome = try await durable.run((["send"] + arguments).map { Array($0.utf8) })
      #expect(outcome.status == .exited(2))
      #expect(outcome.stderr.contains(words), "\(outcome.stderr)")
      #expect(!outcome.stderr.contains("hush"), "\(outcome.stderr)")
      #expect(try await durable("status").text == "no jobs\n")
    }

    @Test("--json alone prints the job, and before a text it is the body")
    func json() async throws {
      let printed = try await send("POST", server.url("/a"), "--json")
      #expect(try printed.json["id"] as? Int == 1)
      let first = try await send("--json", "POST", server.url("/a"), "--json-body", "[1]")
      #expect(((try first.json["payload"] as? [String: Any])?["body"] as? [String: Any])?["data"] as? String == "[1]")
      let both = try await send("--json", "POST", server.url("/a"), "--json=7")
      #expect(((try both.json["payload"] as? [String: Any])?["body"] as? [String: Any])?["data"] as? String == "7")
      try Data("[2]".utf8).write(to: URL(fileURLWithPath: durable.folder + "/a.json"))
      #expect(try await send("POST", server.url("/a"), "--json", "@a.json").line == "4")
      let body = (try await durable.job(4)["payload"] as? [String: Any])?["body"] as? [String: Any]
      #expect(body?["data"] as? String == "[2]")
      #expect(body?["type"] as? String == "application/json")
    }
  }
#endif
