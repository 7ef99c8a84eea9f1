#if Shell
  import Foundation
  import LyingServer
  import Testing

  @Suite("What a command waits for by this program")
  struct OwnJobTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    /// Adds a command that is this program, in the same store.
    private func add(_ options: [String], _ words: [String]) async throws -> Int {
      let line = ["add", "--env", "DURABLE_STORE"] + options + ["--", durable.program] + words
      let added = try await durable.run(line.map { Array($0.utf8) })
      return try #require(Int(added.line), "\(added.stderr)")
    }

    @Test(
      "is not its own end",
      arguments: [
        (["work", "--drain"], "which is in the queue 'default'"), (["wait"], "which is in the queue 'default'"),
        (["wait", "1"], "it would wait for its own end"), (["log", "-f", "1"], "it would wait for its own end"),
        (["wait", "--queue", "default", "--all"], "own end"),
        (["add", "--lane", "l", "--follow", "--", "true"], "job 2 ends only after that"),
        (["add", "--after", "1", "--follow", "--", "true"], "job 2 ends only after that"),
      ])
    func own(words: [String], says: String) async throws {
      let id = try await add(["--lane", "l"], words)
      #expect(try await durable("work", "--drain").status == .exited(1))
      #expect(try await durable.message(id).contains("exited with code 2"))
      let log = try await durable("log", "\(id)").stderr
      #expect(log.contains("this is a part of the command of job \(id)") && log.contains(says), "\(log)")
    }

    @Test("is not the end of a batch that has its job, or one that goes on only after it", arguments: [true, false])
    func batch(isInIt: Bool) async throws {
      try await durable("batch", "create", "b")
      let id = try await add(isInIt ? ["--batch", "b"] : [], ["batch", "wait", "b"])
      _ = try await durable.add("--batch", "b", "--after-end", "\(id)", "--", "true")
      try await durable("batch", "close", "b")
      #expect(try await durable("work", "--drain").status == .exited(1))
      #expect(try await durable.message(id).contains("exited with code 2"))
      let log = try await durable("log", "\(id)").stderr
      #expect(log.contains(isInIt ? "it would wait for its own end" : "job 2 ends only after that"), "\(log)")
    }

    @Test("is not what has its place in a queue that runs one at once")
    func limited() async throws {
      try await durable("limits", "set", "--queue", "one", "--running", "1")
      let id = try await add(["--queue", "one"], ["add", "--queue", "one", "--follow", "--", "true"])
      #expect(try await durable("work", "--drain", "--queue", "one").status == .exited(1))
      #expect(try await durable.message(id).contains("exited with code 2"))
    }

    @Test(
      "is told where it waits for the slot that its own job has, and what helps", arguments: [["wait"], ["log", "-f"]])
    func slot(verb: [String]) async throws {
      let other = try await durable.add("--priority", "-1", "--", "true")
      let id = try await add([], verb + ["\(other)"])
      _ = try await durable.work("--concurrency", "1") { [durable] worker in
        try await worker.says("started", id)
        let log = try await durable.run("log", "-f", "\(id)") { [durable] program in
          try await program.says("Job \(other) waits for a free slot, and job \(id), of which this is a part, has one")
          try await program.says("'durable work' starts another worker")
          #expect(try await durable("work", "--drain").status == .exited(0))
        }
        #expect(log.status == .exited(0))
        kill(worker.process, SIGTERM)
        await worker.ends()
      }
      #expect(try await durable.state(other) == "succeeded")
      #expect(try await durable.state(id) == "succeeded")
    }

    @Test(
      "is not the end of an outer one either",
      arguments: [
        "\"$DURABLE\" add --env DURABLE_STORE --follow -- \"$DURABLE\" wait 1",
        "\"$DURABLE\" add --env DURABLE_STORE --queue q -- \"$DURABLE\" wait 1; \"$DURABLE\" work --drain --queue q",
      ])
    func outer(line: String) async throws {
      let added = try await durable.shell(
        "\"$DURABLE\" add --env DURABLE_STORE --env DURABLE --shell -- \"$LINE\"", environment: ["LINE": .some(line)])
      try #require(added.line == "1", "\(added.stderr)")
      #expect(try await durable("work", "--drain").status == .exited(1))
      #expect(try await durable.message(2).contains("exited with code 2"))
      #expect(try await durable("log", "2").stderr.contains("this is a part of the command of job 1"))
    }

    @Test("is not a download that has its place only after it")
    func download() async throws {
      let server = try await LyingServer()
      server.serve("/a.bin", .file(Content(1000)))
      try await durable("limits", "set", "--queue", "default", "--running", "1")
      let id = try await add([], ["get", server.url("/a.bin")])
      #expect(try await durable("work", "--drain").status == .exited(1))
      #expect(try await durable.message(id).contains("exited with code 2"))
      #expect(try await durable("log", "\(id)").stderr.contains("job 2 ends only after that"))
      #expect(try await durable.state(2) == "succeeded")
    }

    @Test("may be the end of other jobs, of its queue and of others")
    func others() async throws {
      let other = try await durable.add("--", "true")
      let first = try await add([], ["wait", "\(other)"])
      let next = try await add([], ["add", "--follow", "--", "true"])
      let last = try await add([], ["work", "--drain", "--queue", "other"])
      #expect(try await durable("work", "--drain").status == .exited(0))
      for id in [first, next, last] { #expect(try await durable.state(id) == "succeeded") }
    }
  }
#endif
