#if Shell
  import DurableJobs
  import Foundation
  import LyingServer
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsSQLite

  @Suite("The JSON of every command is as docs/json.md says, and that says nothing more", .everythingIsSeen)
  struct JSONContractTests {
    let durable: Durable
    let schema: JSONSchema

    init() throws {
      durable = try Durable()
      schema = try Self.page.get()
      Self.begun.withLock { _ = $0.insert(Test.current?.name ?? "") }
    }

    fileprivate static let page = Result { try read() }

    private static func read() throws -> JSONSchema {
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      return try JSONSchema(page: root.appendingPathComponent("docs/json.md").path)
    }

    fileprivate static let begun = Lock<Set<String>>([])

    /// Holds each line against one of these, of those that say what they are against that.
    private func check(
      _ outcome: Durable.Outcome, _ names: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let lines = outcome.text.split(separator: "\n")
      #expect(!lines.isEmpty, "\(outcome.stderr)", sourceLocation: sourceLocation)
      for line in lines {
        let value = try JSONSerialization.jsonObject(with: Data(line.utf8), options: .fragmentsAllowed)
        var name = names[0]
        if names.count > 1 {
          let event = try #require(
            (value as? [String: Any])?["event"] as? String, "\(line)", sourceLocation: sourceLocation)
          name = ["started", "waits", "ended"].contains(event) ? "event" : event
          #expect(names.contains(name), "\(line)", sourceLocation: sourceLocation)
        }
        #expect(schema.complaints(value, name) == [], "\(line)", sourceLocation: sourceLocation)
      }
    }

    @Test("of those that store, work and look")
    func jobs() async throws {
      try check(try await durable("status", "--watch", "--json"), "statusLine")
      try check(try await durable("status", "--json"), "status")
      try check(try await durable("constraint", "--json"), "constraints")
      try check(try await durable("batch", "--json"), "batches")
      try check(
        try await durable(
          "add", "--json", "--deadline", "1h", "--key", "k", "--tag", "t", "--timeout", "9", "--", "false"), "job")
      try check(try await durable("add", "--json", "--after-end", "k", "--lane", "l", "--", "true"), "job")
      try check(try await durable("add", "--json", "--after", "1", "--", "true"), "job")
      try check(try await durable("add", "--json", "--requires", "vpn", "--delay", "1h", "--", "true"), "job")
      try check(try await durable("send", "--json", "--delay", "1h", "GET", "http://127.0.0.1:9/"), "job")
      try check(try await durable("edit", "4", "--json", "--", "false"), "job")
      try check(try await durable("edit", "2-4", "--json", "--priority", "3"), "job")
      try check(try await durable("work", "--drain", "--json"), "event")
      try check(try await durable("add", "--queue", "q", "--follow", "--json", "--", "echo", "x"), "job", "log", "run")
      try check(try await durable.shell(#"printf 'true\nfalse\n' | "$DURABLE" add --json -i -"#), "job")
      try check(try await durable("log", "1", "--json"), "log", "run")
      try check(try await durable("log", "-f", "1", "--json"), "log", "run")
      for id in 1...5 {
        try check(try await durable("show", "\(id)", "--json"), "job")
        try check(try await durable("explain", "\(id)", "--json"), "explanation")
      }
      try check(try await durable("show", "2", "--secrets", "--json"), "job")
      try check(
        try await durable.shell(
          #"""
          mkfifo lines; "$DURABLE" status --watch --json > lines & watcher=$!
          { read -r line; echo "$line"; "$DURABLE" pause > /dev/null; read -r line; echo "$line"; } < lines
          kill $watcher; wait; "$DURABLE" unpause > /dev/null
          """#), "statusLine")
      try check(try await durable("check", "--json"), "findings")
      try check(try await durable("repair", durable.folder + "/new.sqlite", "--json"), "salvage")
      try check(try await durable("tree", "1", "--json"), "job")
      try check(try await durable("wait", "1", "2", "--json"), "jobs")
      try check(try await durable("status", "--json", "--all"), "status")
    }

    @Test("of what keeps a job from running, of what runs, and of what was too much to keep")
    func reasons() async throws {
      let store = try SQLiteStore(path: durable.store)
      let mail = JobQueue("mail", store: store)
      let (worker, mayEnd) = (JobWorker(mail), Gate())
      worker.register(kind: "mail") { _, context in
        try context.report(progress: 0.5, "half of it")
        await mayEnd.pass()
        return nil
      }
      try check(try await durable("limits", "set", "--queue", "mail", "--running", "1", "--json"), "limit")
      let running = try await mail.enqueue(kind: "mail", payload: Data("{}".utf8))
      worker.start()
      try await until { try await durable.job(Int(running.rawValue))["progress"] is [String: Any] }
      for kind in ["mail", "unknown"] { try await mail.enqueue(kind: kind, payload: Data("{}".utf8)) }
      try await durable("pause", "--queue", "paused")
      _ = try await durable.add("--queue", "paused", "--", "true")
      _ = try await durable.add("--lane", "x", "--after", "k", "--deadline", "1h", "--", "true")
      let behind = try await durable.add("--lane", "x", "--", "true")
      _ = try await durable.add("--lane", "y", "--after", "\(behind)", "--", "true")
      _ = try await durable.add("--after-end", "later", "--", "true")
      // It closes a circle.
      _ = try await durable.add("--lane", "y", "--key", "k", "--", "true")
      for job in try await store.jobs(JobQuery(limit: 100)) {
        try check(try await durable("show", "\(job.id)", "--json"), "job")
        try check(try await durable("explain", "\(job.id)", "--json"), "explanation")
      }
      mayEnd.open()
      await worker.stop()
      await store.close()
      let much = try await durable.add("--", "sh", "-c", "head -c 12000000 /dev/zero | tr '\\0' x")
      try await durable("work", "--drain")
      try check(try await durable.shell(#""$DURABLE" log \#(much) --json | grep leftOut"#), "log")
      try check(try await durable("prune", "--compact", "--json"), "prune")
      try check(try await durable("schedule", "add", "often", "--every", "1s", "--json", "--", "true"), "schedule")
      try check(
        try await durable.shell(
          #"""
          "$DURABLE" work --json > lines & worker=$!
          until grep succeeded lines; do kill -0 $worker || exit; sleep 0.05; done
          kill $worker; wait $worker
          """#), "event")
      try check(try await durable("schedule", "--json"), "schedules")
    }

    @Test("of a store that is not there, and none where what is printed is no JSON")
    func nothing() async throws {
      try check(try await durable("wait", "--json"), "jobs")
      for words in [["service", "install", "--print"], ["migrate", "--print"]] {
        let outcome = try await durable.run((words + ["--json"]).map { Array($0.utf8) })
        #expect(outcome.status == .exited(2) && outcome.text == "", "\(outcome.text)")
      }
    }

    @Test("of a command that lacks for good what it needs: it is suspended, and says so")
    func suspended() async throws {
      let id = try await durable.add("--", "true")
      #expect(FileManager.default.createFile(atPath: durable.store + "-jobs", contents: nil))
      let outcome = try await durable("work", "--drain", "--json")
      try check(outcome, "event")
      #expect(try outcome.json["result"] as? String == "suspended", "\(outcome.text)")
      #expect(try await durable.state(id) == "suspended")
    }

    @Test("of those that mend")
    func care() async throws {
      _ = try await durable.add("--", "true")
      let store = try SQLiteStore(path: durable.store)
      try await store.engine.write(.other) {
        try Statement("UPDATE durable_route SET jobs=5", on: $0.connection.handle).run()
      }
      await store.close()
      for (arguments, isMended) in [(["--json"], false), (["--mend", "--json"], true)] {
        let outcome = try await durable.run((["check"] + arguments).map { Array($0.utf8) })
        try check(outcome, "findings")
        #expect(outcome.text.contains(#""mended":\#(isMended)"#), "\(outcome.text)")
      }
      try check(try await durable("check", "--mend", "--json"), "findings")
    }

    #if os(Linux)
      @Test("of services")
      func services() async throws {
        let environment = try durable.environment(systemctl: "test \"$2\" = is-active && echo active; exit 0")
        for verb in ["install", "status", "remove", "status"] {
          try check(try await durable("service", verb, "--json", environment: environment), "service")
        }
      }
    #endif

    @Test("of those that act")
    func changes() async throws {
      _ = try await durable.add("--", "true")
      for verb in ["suspend", "resume", "cancel", "retry", "complete", "fail", "remove"] {
        try check(try await durable(verb, "1", "--json"), "change")
      }
      try check(try await durable("prune", "--json"), "prune")
      try check(try await durable("pause", "--json"), "pause")
      try check(try await durable("pause", "--queue", "default", "--queue", "q", "--json"), "pause")
      try check(try await durable("unpause", "--json"), "pause")
      try check(try await durable("limits", "set", "--running", "4", "--json"), "limit")
      try check(try await durable("limits", "set", "--queue", "q", "--rate", "5/1m", "--json"), "limit")
      try check(try await durable("limits", "set", "--lane", "l", "--running", "2", "--json"), "limit")
      try check(try await durable("limits", "set", "--lane", "m", "--rate", "5/1m", "--burst", "2", "--json"), "limit")
      try check(try await durable("limits", "--json"), "limits")
      try check(try await durable("limits", "clear", "--lane", "l", "--json"), "limit")
      try check(try await durable("limits", "clear", "--json"), "limit")
      try check(try await durable("constraint", "set", "vpn", "yes", "--json"), "constraint")
      try check(try await durable("constraint", "--json"), "constraints")
      try check(try await durable("batch", "create", "b", "--json", "--", "true"), "batch")
      try check(try await durable("batch", "--json"), "batches")
      try check(try await durable("batch", "list", "--json"), "batches")
      try check(try await durable("batch", "show", "b", "--json"), "batch")
      try check(try await durable("batch", "close", "b", "--json"), "batch")
      try check(try await durable("batch", "show", "1", "--json"), "batch")
      try check(try await durable("batch", "wait", "b", "--json"), "batchLine")
      try check(try await durable("schedule", "--json"), "schedules")
      try check(try await durable("schedule", "add", "s", "@daily", "--json", "--", "true"), "schedule")
      try check(try await durable("schedule", "add", "t", "--every", "1h", "--json", "--", "true"), "schedule")
      try check(try await durable("schedule", "--json"), "schedules")
      for verb in ["pause", "resume", "remove"] {
        try check(try await durable("schedule", verb, "s", "t", "--json"), "scheduleLine")
      }
      try check(try await durable("work", "--detach", "--json"), "background")
      try check(try await durable("status", "--json"), "status")
      try check(try await durable("work", "stop", "--json"), "stopped")
      try check(try await durable("service", "status", "--name", "none", "--json"), "service")
    }

    @Test("of downloads and requests")
    func transfers() async throws {
      let server = try await LyingServer()
      server.serve("/a.bin", .file(Content(1000)))
      server.serve("/orders", .page(201))
      try check(try await durable("get", "--json", server.url("/a.bin"), server.url("/b.bin")), "event", "job")
      try check(try await durable("get", "--detach", "--json", server.url("/c.bin")), "job")
      try check(try await durable("send", "--follow", "--json", "POST", server.url("/orders")), "job", "log")
      try check(try await durable("send", "--json", "POST", server.url("/orders")), "job")
      try check(try await durable("work", "--drain", "--json"), "event")
    }

    #if Postgres
      @Test("of those that are about servers")
      func servers() async throws {
        let server = try TestServer.shared.get()
        let onServer = try Durable(store: server.string(database: server.database()))
        for _ in 0..<2 { try check(try await onServer("migrate", "--json"), "migration") }
        _ = try await durable.add("--", "true")
        for _ in 0..<2 {
          try check(
            try await durable("move", "--from", durable.store, "--to", onServer.store, "--json"), "move")
        }
        try check(try await onServer("status", "--json"), "status")
        try check(try await onServer("work", "--drain", "--json"), "event")
        try check(try await onServer("show", "1", "--json"), "job")
      }
    #endif

    @Test(
      "of errors, which are lines on stderr",
      arguments: [
        ["show", "7"], ["cancel"], ["show", "x"], ["frob"], ["batch", "show", "b"], ["schedule", "pause", "s"],
      ])
    func errors(arguments: [String]) async throws {
      let outcome = try await durable.run((arguments + ["--json"]).map { Array($0.utf8) })
      #expect(outcome.text == "")
      let line = try #require(outcome.stderr.split(separator: "\n").first)
      let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
      #expect(schema.complaints(value, "error") == [], "\(line)")
    }

    @Test("of what is told on the way, which is lines on stderr too; and --json of a command is the command's")
    func notes() async throws {
      try await durable("pause")
      _ = try await durable("add", "--requires", "vpn", "--", "true")
      for arguments in [["work", "--drain"], ["wait"], ["log", "1"], ["status"]] {
        let outcome = try await durable.run((arguments + ["--json"]).map { Array($0.utf8) })
        for line in outcome.stderr.split(separator: "\n") {
          let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
          #expect(schema.complaints(value, "note") == [], "\(line)")
        }
        #expect(outcome.stderr.isEmpty == (arguments == ["status"]), "\(arguments)")
      }
      let outcome = try await durable("add", "--unique", "u", "echo", "--json")
      #expect(outcome.text == "2\n")
      let told = try await durable("add", "--unique", "u", "echo", "--json").stderr
      #expect(told.hasPrefix("--json after 'echo' belongs to the command; "), "\(told)")
      #expect(told.hasSuffix(" so\nJob 2 has the unique key 'u': nothing was added\n"), "\(told)")
    }

    @Test("and the schema would tell of a field that is missing, is new or has changed")
    func strict() throws {
      let schema = try Self.read()
      let good: [String: Any] = ["queue": "q", "paused": true]
      #expect(schema.complaints(good, "pause") == [])
      #expect(schema.complaints(["queue": "q"], "pause").count == 1)
      #expect(schema.complaints(good.merging(["more": 1]) { $1 }, "pause").count == 1)
      #expect(schema.complaints(["queue": 1, "paused": 1], "pause").count == 2)
      #expect(schema.complaints(["changed": [1, "2"], "refused": [Any]()] as [String: Any], "change").count == 1)
    }
  }

  /// Once the suite is over, nothing of the schema may be left that no command's answer had.
  private struct EverythingIsSeen: SuiteTrait, TestScoping {
    /// The tests that show all of it. Where some were left out, or are not compiled, nothing is said.
    private static let needed: Set = [
      "jobs()", "reasons()", "suspended()", "care()", "services()", "changes()", "transfers()", "servers()",
      "errors(arguments:)",
      "notes()",
    ]

    func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
      try await function()
      guard JSONContractTests.begun.value.isSuperset(of: Self.needed) else { return }
      let schema = try JSONContractTests.page.get()
      #expect(schema.places.subtracting(schema.seen.value).sorted() == [])
    }
  }

  extension Trait where Self == EverythingIsSeen {
    fileprivate static var everythingIsSeen: Self { Self() }
  }
#endif
