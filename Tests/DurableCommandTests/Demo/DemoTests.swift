#if Shell
  import Foundation
  import Subprocess
  import Testing

  @testable import durable_demo

  @Suite("The demos")
  struct DemoTests {
    let durable: Durable
    /// So that all they make is in the test's own folder.
    var environment: [Environment.Key: String?] { ["TMPDIR": durable.folder] }
    var isNothingLeft: Bool {
      get throws { try FileManager.default.contentsOfDirectory(atPath: durable.folder) == [] }
    }

    init() throws { durable = try Durable("durable-demo") }

    @Test(
      "without a terminal: a worker is killed half-way, every file is whole, and nothing is left behind",
      arguments: [(4, 4, "1.0 MB"), (100, 10, "500 kB")])
    func plain(jobs: Int, concurrency: Int, size: String) async throws {
      let demo = try await durable(
        "--jobs", "\(jobs)", "--concurrency", "\(concurrency)", "--pace", "0.05", environment: environment)
      #expect(demo.status == .exited(0), "\(demo.text)\(demo.stderr)")
      #expect(demo.text.hasPrefix("start: \(jobs) downloads of \(size), \(concurrency) at a time\n"))
      #expect(demo.text.matches(of: /(?m)^worker \d+ killed with SIGKILL at [5-9]\d %$/).count == 1)
      #expect(demo.text.matches(of: /(?m)^worker \d+ goes on$/).count == 1)
      #expect(Set(demo.text.matches(of: /(?m)^completed file-(\d{3})$/).map(\.1)).count == jobs)
      #expect(demo.text.hasSuffix("\nAll \(jobs) checksums verified.\n"))
      let end =
        #/\nInfo: all download tasks have been completed\nThe crash at .* cost: .* fetched twice, .*\nAll \d+ checksums verified\.\n$/#
      #expect(demo.text.contains(end), "\(demo.text)")
      #expect(!demo.text.contains("\u{1b}"))
      #expect(demo.stderr == "")
      #expect(try isNothingLeft)
    }

    @Test("its worker gets the number that was asked for", arguments: [1, 6])
    func concurrency(number: Int) throws {
      let words = WorkerCommand.arguments(store: "s", concurrency: number)
      let worker = try #require(try DemoCommand.parseAsRoot(words) as? WorkerCommand)
      #expect(worker.concurrency == number)
    }

    @Test("its errors begin with its own name")
    func errors() async throws {
      #expect(try await durable("--jobs", "0").stderr.hasPrefix("durable-demo: "))
    }

    @Test("the only worker of a single download is killed in it, too")
    func single() async throws {
      let demo = try await durable("--jobs", "1", "--random", "--pace", "0.05", environment: environment)
      #expect(demo.status == .exited(0), "\(demo.text)\(demo.stderr)")
      #expect(demo.text.contains("killed with SIGKILL"))
      #expect(demo.text.hasSuffix("The checksum is verified.\n"))
      #expect(try isNothingLeft)
    }

    @Test("keys set the controls, start it, and start it again after it")
    func screen() async throws {
      let outcome = try await durable.onTerminal(
        "--jobs", "3", "--concurrency", "1", "--pace", "0.05", environment: environment
      ) { terminal in
        let idle = try await terminal.shows("Start          s   or Enter")
        #expect(idle.isOnAlternateScreen)
        #expect(idle.hidesCursor)
        terminal.press("\u{1b}[C")
        try await terminal.shows(" Job count", "4")
        terminal.press("\u{1b}OA")
        try await terminal.shows(" Max concurrent", "2")
        terminal.press("r")
        try await terminal.shows("Random time    r   on")
        terminal.press("r")
        terminal.press("s")
        // Changes nothing: it runs.
        terminal.press("\u{1b}[C")
        try await terminal.shows("Start          s   it runs")
        try await terminal.shows(" killed with SIGKILL at ")
        let end = try await terminal.shows("All 4 checksums verified.")
        #expect(end.text.contains("Info: all download tasks have been completed"))
        #expect(end.text.contains("Completed  4 of 4"))
        #expect(end.hasLine(" Job count", "4"))
        terminal.press("\u{1b}[D\u{1b}[D\u{1b}[D\r")
        try await terminal.shows("The checksum is verified.")
        #expect(terminal.text.unknown == [])
        terminal.press("q")
      }
      #expect(outcome.status == .exited(0))
      #expect(!outcome.text.isOnAlternateScreen)
      #expect(!outcome.text.hidesCursor)
      #expect(outcome.isAsBefore)
      #expect(outcome.text.text.contains("The checksum is verified."))
      #expect(try isNothingLeft)
    }

    @Test("a smaller window is filled anew")
    func resized() async throws {
      let outcome = try await durable.onTerminal(environment: environment) { terminal in
        try await terminal.shows("or Enter")
        terminal.resize(columns: 40, rows: 15)
        try await terminal.shows("the whole screen in 40 columns") {
          $0.lines.contains(" Job count      ←→  ━━━━●──────────  10") && $0.text.contains("Completed")
        }
        terminal.press("q")
      }
      #expect(outcome.status == .exited(0))
    }

    @Test(
      "ended in the middle it leaves no process and no file, and gives the terminal back",
      arguments: ["q", "\u{3}", "\u{1c}", "SIGTERM", "SIGHUP"])
    func interrupted(by key: String) async throws {
      let outcome = try await durable.onTerminal("--start", environment: environment) { terminal in
        let screen = try await terminal.shows("file-001   ")
        let worker = try #require(screen.worker)
        #expect(kill(worker, 0) == 0)
        switch key {
        case "SIGTERM": kill(terminal.process.withLock { $0 }, SIGTERM)
        case "SIGHUP": kill(terminal.process.withLock { $0 }, SIGHUP)
        default: terminal.press(key)
        }
        try await terminal.shows("the screen from before") { !$0.isOnAlternateScreen }
        #expect(kill(worker, 0) == -1)
      }
      #expect(outcome.status == .exited(130))
      #expect(outcome.isAsBefore)
      #expect(!outcome.text.hidesCursor)
      #expect(try isNothingLeft)
    }

    #if os(Linux)
      @Test("the worker of a demo that is killed ends with it")
      func killed() async throws {
        let outcome = try await durable.onTerminal("--start", "--pace", "60", environment: environment) { terminal in
          let worker = try #require(try await terminal.shows("file-001   ").worker)
          kill(terminal.process.withLock { $0 }, SIGKILL)
          await onThread { while kill(worker, 0) == 0, !isZombie(worker) { usleep(2000) } }
        }
        #expect(outcome.status == .signaled(SIGKILL))
      }
    #endif

    @Test("Ctrl-C leaves nothing behind, also while the demo of commands still copies its files")
    func earlyEnd() async throws {
      let line = """
        "$DURABLE" commands > /dev/null & demo=$!
        until ls durable-demo-*/* > /dev/null 2>&1; do kill -0 $demo || exit 9; done; kill -INT $demo; wait $demo
        """
      let outcome = try await durable.shell("set -m\n" + line, environment: environment)
      #expect(outcome.status == .exited(130), "\(outcome.stderr)")
      #expect(try isNothingLeft)
    }

    @Test("a demo whose reader goes leaves nothing behind either", arguments: ["--pace 0.05", "commands"])
    func closed(_ command: String) async throws {
      let demo = try await durable.shell("\"$DURABLE\" \(command) | head -3; true", environment: environment)
      #expect(demo.text.split(separator: "\n").count == 3)
      #expect(try isNothingLeft)
    }

    @Test(
      "values out of range are usage errors",
      arguments: [
        ["--jobs", "0"], ["--jobs", "501"], ["--jobs", "many"], ["--concurrency", "0"], ["--concurrency", "101"],
        ["--pace", "0"], ["--pace", "nan"], ["--pace", "61"],
      ])
    func usage(_ arguments: [String]) async throws {
      let demo = try await durable.run(arguments.map { Array($0.utf8) }, environment: environment)
      #expect(demo.status == .exited(2))
      #expect(demo.text == "")
      #expect(demo.stderr.contains(arguments[0]))
      #expect(try isNothingLeft)
    }

    @Test("of commands: two workers are killed at work, nothing is missing, and nothing is left behind")
    func commands() async throws {
      let demo = try await durable("commands", environment: environment)
      #expect(demo.status == .exited(0), "\(demo.stderr)")
      #expect(demo.text.matches(of: /(?m)^kill -9 \d+/).count == 2)
      #expect(demo.text.contains("Nothing is missing."))
      #expect(demo.text.contains(/\n {13}job \d+ +(cksum|gzip|xz|bzip2) .* \+[\d.]+ s\n/), "\(demo.text)")
      #expect(!demo.text.contains("\u{1b}"))
      #expect(try isNothingLeft)
    }
  }

  extension TerminalText {
    /// Whether a line begins and ends so.
    func hasLine(_ start: String, _ end: String) -> Bool {
      lines.contains { $0.hasPrefix(start) && $0.hasSuffix(" " + end) }
    }

    /// The worker that is said to work.
    fileprivate var worker: pid_t? {
      lines.lazy.compactMap { $0.firstMatch(of: #/worker (\d+) works/#) }.first.flatMap { pid_t($0.1) }
    }
  }

  extension Terminal {
    fileprivate func shows(_ start: String, _ end: String) async throws {
      try await shows("'\(start) … \(end)'") { $0.hasLine(start, end) }
    }
  }
#endif
