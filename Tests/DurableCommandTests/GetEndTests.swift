#if Shell
  import DurableJobs
  import Foundation
  import LyingServer
  import Subprocess
  import TestProcesses
  import Testing

  @Suite("durable get ends")
  struct GetEndTests {
    let durable: Durable
    let server: LyingServer
    private let content = Content(300_000)

    init() async throws {
      durable = try Durable()
      server = try await LyingServer()
      server.serve("/a.bin", .file(content).holding(after: 100_000), .file(content))
      server.serve("/b.bin", .file(content).holding(after: 100_000), .file(content))
      try FileManager.default.createDirectory(atPath: durable.folder + "/out", withIntermediateDirectories: false)
    }

    private func holds(_ name: String) -> Bool {
      FileManager.default.contents(atPath: durable.folder + "/out/" + name) == Data(content.bytes)
    }

    private func goesOn(_ name: String) async throws {
      #expect(try await durable("get", "-o", "out", server.url("/" + name)).status == .exited(0))
      #expect(holds(name))
    }

    @Test("where the reader of its lines goes away, it stops as after Ctrl-C")
    func readerGone() async throws {
      let fifo = try Fifo(in: durable)
      let reader = open(fifo.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      try #require(reader >= 0)
      let line = "exec \"$DURABLE\" get -o out \(server.url("/a.bin")) \(server.url("/b.bin")) > said"
      async let ended = durable.shell(line)
      await server.held("/a.bin")
      await server.held("/b.bin")
      close(reader)
      server.release("/a.bin")
      let outcome = try await ended
      #expect(outcome.status == .exited(130))
      #expect(outcome.stderr.contains("1 of 2 left; what has come is kept"), "\(outcome.stderr)")
      #expect(holds("a.bin"))
      try await goesOn("b.bin")
    }

    /// More files than lines of them find room in a pipe.
    private func manyFiles() throws -> [String] {
      let names = (0..<300).map { "\($0)-" + String(repeating: "x", count: 200) }
      for name in names { server.serve("/" + name, .file(Content(5))) }
      try Data(names.map { server.url("/" + $0) + "\n" }.joined().utf8)
        .write(to: URL(fileURLWithPath: durable.folder + "/list.txt"))
      return names
    }

    private func reader(of fifo: Fifo) throws -> Int32 {
      let reader = open(fifo.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      try #require(reader >= 0)
      return reader
    }

    @Test(
      "where nobody reads its lines yet, the files come all the same, and it waits with the lines",
      arguments: ["", "2>&1"])
    func slowReader(redirection: String) async throws {
      let names = try manyFiles()
      let end = try reader(of: Fifo(in: durable))
      async let ended = durable.shell("exec \"$DURABLE\" get -o out -i list.txt > said \(redirection)")
      await server.until { $0.count(where: \.isOver) == names.count }
      let said = await onThread {
        _ = fcntl(end, F_SETFL, 0)
        return String(decoding: FileHandle(fileDescriptor: end, closeOnDealloc: true).availableBytes, as: UTF8.self)
      }
      let outcome = try await ended
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      let lines = said.split(separator: "\n")
      #expect(lines.count { $0.contains("  done  ") } == names.count)
      let last = redirection.isEmpty ? outcome.stderr : String(lines.last ?? "")
      #expect(last.contains("300 of 300 done"), "\(last)")
    }

    @Test("where nobody reads its lines, it ends when it is asked to")
    func deafReader() async throws {
      let names = try manyFiles()
      let end = try reader(of: Fifo(in: durable))
      let go = try Fifo(in: durable, "go")
      async let ended = durable.shell(
        "\"$DURABLE\" get -o out -i list.txt > said & read -r _ < go; kill -TERM $!; wait $!")
      await server.until { $0.count(where: \.isOver) == names.count }
      await go.say("on")
      #expect(try await ended.status != .exited(143))
      close(end)
    }

    @Test(
      "where its lines find no room or nobody, the files come all the same",
      .enabled(if: access("/dev/full", W_OK) == 0, "there is no device that is always full"),
      arguments: [">/dev/full", ">&- 2>&- <&-"])
    func noOutput(redirection: String) async throws {
      server.serve("/a.bin", .file(content))
      let outcome = try await durable.shell("\"$DURABLE\" get -o out \(server.url("/a.bin")) \(redirection)")
      #expect(outcome.status != .exited(130))
      #expect(holds("a.bin"), "\(outcome.stderr)")
    }

    @Test("in JSON, control characters of all kinds are escaped")
    func controls() async throws {
      #expect(try await durable("get", "--detach", "-o", "out", server.url("/a.bin")).status == .exited(0))
      #expect(try await durable("cancel", "1", "--reason", "a\u{7}b\u{85}c\u{9b}d\u{7f}").status == .exited(0))
      let shown = try await durable("show", "1", "--json")
      #expect(shown.text.contains(#""a\u0007b\u0085c\u009bd\u007f""#), "\(shown.text)")
      #expect(try shown.json["reason"] as? String == "a\u{7}b\u{85}c\u{9b}d\u{7f}")
    }

    @Test("Ctrl-C twice ends it at once, and the same command goes on")
    func twice() async throws {
      let outcome = try await durable.get("-o", "out", server.url("/a.bin")) { [server] process in
        await server.held("/a.bin")
        // Both are there before it can act upon one.
        kill(process, SIGSTOP)
        kill(process, SIGINT)
        kill(process, SIGTERM)
        kill(process, SIGCONT)
      }
      #expect(outcome.status == .exited(130))
      try await goesOn("a.bin")
    }

    @Test("Ctrl-C twice within a moment ends it when what ran has gone back, and no crash is counted")
    func twiceAtOnce() async throws {
      let fifo = try Fifo(in: durable)
      let url = server.url("/a.bin")
      async let ended = durable.shell("echo $$ > said; exec \"$DURABLE\" get -o out \(url) 2> errors")
      let process = try #require(pid_t(await fifo.said()))
      await server.held("/a.bin")
      // Until both have been sent, nothing goes back.
      let turn = open(durable.store + "-durable/turn", O_RDWR | O_CLOEXEC)
      await onThread { while flock(turn, LOCK_EX) != 0, errno == EINTR {} }
      kill(process, SIGINT)
      func said() -> Data { FileManager.default.contents(atPath: durable.folder + "/errors") ?? Data() }
      await until { said().range(of: Data("Stopping".utf8)) != nil }
      kill(process, SIGINT)
      close(turn)
      #expect(try await ended.status == .exited(130))
      let job = try await durable.job(1)
      #expect(job["state"] as? String == "ready")
      #expect(job["attempt"] as? Int == 0)
      #expect(job["crashes"] as? Int == 0)
      try await goesOn("a.bin")
    }

    @Test("it ends with its terminal, and the same command goes on")
    func hungUp() async throws {
      var master: Int32 = 0
      var slave: Int32 = 0
      var name = [CChar](repeating: 0, count: 256)
      try #require(openpty(&master, &slave, &name, nil, nil) == 0)
      for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      let ends = [slave, master]
      let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      var options = PlatformOptions()
      options.createSession = true
      let url = server.url("/a.bin")
      let outcome = try await Subprocess.run(
        .name("sh"),
        arguments: [
          "-c", #"tty=$1; shift; exec "$@" <>"$tty" >&0 2>&0"#, "sh", path, durable.program, "get", "-o", "out", url,
        ],
        environment: durable.environment(["TERM": "xterm"]), workingDirectory: .init(durable.folder),
        platformOptions: options, input: .none, output: .discarded, error: .discarded
      ) { [server] _ in
        await server.held("/a.bin")
        for end in ends { close(end) }
      }
      #expect(outcome.terminationStatus == .exited(130))
      #expect(try await durable.state(1) == "ready")
      try await goesOn("a.bin")
    }
  }

  extension FileHandle {
    /// Up to the end.
    fileprivate var availableBytes: Data { (try? readToEnd()) ?? Data() }
  }
#endif
