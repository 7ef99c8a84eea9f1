#if Process
  import DurableJobs
  import DurableJobsProcess
  import DurableJobsSQLite
  import Foundation
  import TestProcesses
  import Testing

  /// Commands in a program that is not `durable`.
  @Suite struct LibraryTests {
    @Test func `a program runs commands with one line at its beginning and one for its worker`() async throws {
      let place = try Place()
      let job = try await place.queue.enqueue(
        ShellCommand(["printf", "%s-%s", "a b", "$HOME"], in: place.folder, environment: ["MINE": "1"]))
      let worker = try place.work()
      #expect(try await job.value.exitCode == 0)
      #expect(worker.wait() == .exited(0))
      let run = try #require(await place.logs(job).runs.first)
      #expect(run.number == 1 && run.attempt == 1 && run.ending == "succeeded" && run.endedAt != nil)
      var reader = place.logs(job).reader(of: run, .stdout)
      #expect(reader.next() == .bytes(Data("a b-$HOME".utf8)))
      #expect(reader.next() == nil)
    }

    @Test func `a command that fails fails its job, with its code and its last line`() async throws {
      let place = try Place()
      let job = try await place.add("echo why >&2; exit 3")
      let worker = try place.work()
      await #expect { try await job.value } throws: { "\($0)".contains("exited with code 3: why") }
      #expect(worker.wait() == .exited(0))
    }

    @Test func `a program that can't supervise commands ends when it registers them, with words`() async throws {
      let place = try Place()
      let words = Pipe()
      let program = try ChildProcess(
        Place.probe, ["unasked", place.folder + "/jobs.sqlite"], error: words.fileHandleForWriting.fileDescriptor)
      try words.fileHandleForWriting.close()
      let said = String(decoding: try words.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      guard case .killed = program.wait() else {
        Issue.record("it goes on")
        return
      }
      #expect(said.contains("must begin with ShellCommand.superviseIfAsked()"))
    }

    @Test func `a log is followed while it is written, over all runs, each told apart, until the job has ended`()
      async throws
    {
      let place = try Place()
      let pipes = try ["first", "second"].map { try place.pipe($0) }
      let job = try await place.add(
        "echo one; test -e again && { cat second; exit 0; }; touch again; cat first; kill -9 $PPID; exec sleep 600")
      let worker = try place.work()
      var texts: [(run: Int, text: String)] = []
      for try await part in place.logs(job).following(.stdout) {
        switch part {
        case .began(let run): texts.append((run.number, ""))
        case .leftOut(let count): Issue.record("\(count) bytes are left out")
        case .bytes(let data):
          texts[texts.count - 1].text += String(decoding: data, as: UTF8.self)
          if texts.last?.text == "one\n" { await pipes[texts.count - 1].write(texts.count == 1 ? "" : "two") }
        }
      }
      #expect(texts.map(\.run) == [1, 2], "each says which run it is of")
      #expect(texts.first?.text.hasPrefix("one\n") == true)
      #expect(texts.last?.text == "one\ntwo\n")
      #expect(try await place.logs(job).runs.map(\.attempt) == [1, 1])
      #expect(worker.wait() == .exited(0))
    }

    @Test func `logs stand beside the store's file, whatever path led to it`() async throws {
      let place = try Place()
      let link = place.folder + "/link.sqlite"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: place.folder + "/jobs.sqlite")
      let resolved = URL(filePath: place.folder).resolvingSymlinksInPath().path + "/jobs.sqlite"
      #expect(place.store.path == resolved)
      #expect(try SQLiteStore(path: link).path == resolved)
      #expect(JobFolder(JobID(rawValue: 7), in: place.store).path == resolved + "-jobs/7")
    }

    @Test func `stores in no file have a folder each, that is this process's own`() {
      let stores = [InMemoryStore(), InMemoryStore()]
      let paths = (stores + stores).map { JobFolder(JobID(rawValue: 1), in: $0).path }
      #expect(stores[0].path == nil)
      #expect(paths[0] != paths[1] && paths[0] == paths[2] && paths[1] == paths[3])
      #expect(paths.allSatisfy { $0.contains("durable-\(getpid())-") && $0.hasSuffix("/1") })
    }

    @Test func `where a store names no place for what belongs to it, a worker leaves commands to others, and says why`()
      throws
    {
      let (words, state) = (Pipe(), Pipe())
      let program = try ChildProcess(
        Place.probe, ["nowhere"], output: state.fileHandleForWriting.fileDescriptor,
        error: words.fileHandleForWriting.fileDescriptor)
      for pipe in [words, state] { try pipe.fileHandleForWriting.close() }
      func text(_ pipe: Pipe) throws -> String {
        String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      }
      #expect(try text(state) == "ready\n")
      let said = try text(words)
      #expect(said.contains("leaves commands to others"), "\(said)")
      #expect(said.contains("PostgresStore.Configuration.folder"), "\(said)")
      #expect(program.wait() == .exited(0))
    }

    @Test func `a command is stored as it always was`() throws {
      let stored =
        #"{"arguments":["echo",{"base64":"//4="}],"cwd":"/","env":{"PATH":"/bin"},"shell":false,"umask":"022"}"#
      let command = try JSONDecoder().decode(ShellCommand.self, from: Data(stored.utf8))
      #expect(command.arguments == ["echo", SystemText(bytes: [0xff, 0xfe])])
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      #expect(String(decoding: try encoder.encode(command), as: UTF8.self) == stored)
    }

    @Test func `a command gets the folder it is given and the variables that are inherited or named`() {
      let command = ShellCommand(["true"], in: "/usr", environment: ["MINE": "1"])
      #expect(command.cwd == "/usr")
      #expect(command.env["MINE"] == "1")
      #expect(command.env["PATH"] == SystemText(ProcessInfo.processInfo.environment["PATH"] ?? ""))
      #expect(command.env.keys.allSatisfy { $0 == "MINE" || ShellCommand.isInherited($0) })
      #expect(ShellCommand(["true"]).cwd.display == FileManager.default.currentDirectoryPath)
    }

    @Test func `commands that are made at once leave the umask as it is`() {
      let before = Program.currentUmask
      DispatchQueue.concurrentPerform(iterations: 4) { _ in for _ in 0..<5000 { _ = Program.currentUmask } }
      #expect(Program.currentUmask == before)
      #expect(ShellCommand(["true"]).umask == ShellCommand.octal(before))
    }

    @Test
    func `a stop that reaches a command and its supervisor, and not yet the worker, is no failure of the command`()
      async throws
    {
      let place = try Place()
      let said = try place.pipe("said")
      let job = try await place.add(
        "test -e again && exit 0; touch again; trap 'exit 20' TERM; echo $$ $PPID > said; while :; do sleep 0.1; done")
      let worker = try place.work()
      let numbers = await said.read().split(separator: " ").compactMap { pid_t($0) }
      try #require(numbers.count == 2)
      for number in numbers { kill(number, SIGTERM) }
      #expect(worker.wait() == .exited(0))
      let stored = try await place.store.job(job.id)
      #expect(stored.state == .succeeded && stored.attempt == 1 && stored.crashes == 0)
    }

    @Test func `HUP to a supervisor, as to all servers of a name, takes nothing from its command`() async throws {
      let place = try Place()
      let (said, go) = (try place.pipe("said"), try place.pipe("go"))
      let job = try await place.add(
        "echo run >> runs; test -e again && exit 0; touch again; echo $PPID > said; read x < go")
      let worker = try place.work()
      kill(try #require(pid_t(await said.read())), SIGHUP)
      await go.write("go")
      #expect(worker.wait() == .exited(0))
      #expect(try await place.store.job(job.id).state == .succeeded)
      #expect(place.lines("runs") == ["run"])
    }

    @Test func `TERM to a supervisor is passed on to its command`() async throws {
      let place = try Place()
      let said = try place.pipe("said")
      let job = try await place.add(
        "test -e told && exit 0; trap 'touch told; exit 20' TERM; echo $PPID > said; while :; do sleep 0.1; done")
      let worker = try place.work()
      kill(try #require(pid_t(await said.read())), SIGTERM)
      #expect(worker.wait() == .exited(0))
      #expect(try await place.store.job(job.id).state == .succeeded)
    }

    @Test func `a command without words is refused before it is stored`() async throws {
      await #expect(throws: JobError.self) { try await JobQueue(store: InMemoryStore()).enqueue(ShellCommand([])) }
    }
  }
#else
  import Testing

  @Test(.disabled("needs the trait Process: swift test --enable-all-traits")) func `Commands`() {}
#endif
