#if Shell
  import Foundation
  import LyingServer
  import Testing

  @Suite("When what is waited for goes on")
  struct WaitingLineTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    private static func lines(_ text: TerminalText, _ words: String) -> [String] {
      text.lines.filter { $0.contains(words) }
    }

    @Test("work says on a terminal which job comes next, in one line that is kept fresh and stays below all others")
    func worker() async throws {
      let late = try await durable.add("--delay", "90s", "--", "true")
      let words = "Job \(late) waits for its time, in "
      let ended = try await durable.onTerminal("work") { [durable] terminal in
        let first = try await terminal.shows("a time") { Self.lines($0, words).count == 1 }
        let text = Self.lines(first, words)
        try await terminal.shows("another time") { Self.lines($0, words).count == 1 && Self.lines($0, words) != text }
        let next = try await durable.add("--", "true")
        let done = try await terminal.shows("an end, and the line below it") {
          $0.text.contains("\(next)  done    true") && Self.lines($0, words).count == 1
        }
        #expect(done.lines.last?.hasPrefix(words) == true, "\(done.text)")
        terminal.press("\u{3}")
      }
      #expect(!ended.text.text.contains(words), "\(ended.text.text)")
      #expect(ended.text.text.contains("Left: 1 scheduled"), "\(ended.text.text)")
    }

    @Test("work says it through a pipe once", arguments: [[], ["--json"]])
    func workerInPipe(options: [String]) async throws {
      let late = try await durable.add("--delay", "1h", "--", "true")
      let words = "Job \(late) waits for its time, "
      let ended = try await durable.run(["work"] + options) { [durable] program in
        try await program.says(words)
        let next = try await durable.add("--", "true")
        try await durable("wait", "\(next)")
        try await durable("pause")
        _ = try await durable.add("--", "true")
        try await program.says("the queue 'default' is paused")
        kill(program.process, SIGTERM)
      }
      #expect(ended.stderr.ranges(of: words).count == 1, "\(ended.stderr)")
    }

    @Test("wait without ids takes a time away when the job runs again")
    func runsAgain() async throws {
      let (said, go) = (try Fifo(in: durable), try Fifo(in: durable, "go"))
      // The last pause is long enough to be seen by who looks each second.
      let line = "echo >> runs; test $(wc -l < runs) = 4 || exit 1; echo > said; read line < go"
      _ = try await durable.add("--max-attempts", "4", "--shell", "--", line)
      let ended = try await durable.onTerminal("wait") { [durable] terminal in
        _ = try await durable.work { [durable] _ in
          try await terminal.shows("Job 1 runs again in ")
          _ = await said.said()
          try await terminal.shows("no time") { !$0.text.contains("runs again") }
          await go.say("on")
          #expect(try await durable("wait", "1").status == .exited(0))
        }
      }
      #expect(ended.status == .exited(0))
    }

    @Test("who follows a command sees on a terminal when its next attempt begins")
    func followed() async throws {
      let ended = try await durable.onTerminal(
        "add", "--follow", "--max-attempts", "2", "--", "sh", "-c", "printf abc; exit 1"
      ) {
        try await $0.shows("Job 1 runs again in ")
      }
      #expect(!ended.text.text.contains("runs again"), "\(ended.text.text)")
      // The output of each attempt ended within a line, and keeps it.
      #expect(ended.text.lines.count { $0.hasPrefix("abc") } == 2, "\(ended.text.text)")
      let piped = try await durable("add", "--follow", "--max-attempts", "2", "--", "false")
      #expect(
        piped.stderr.contains(/Job 2 runs again (at|on) .+, after attempt 1: exited with code 1\n/), "\(piped.stderr)")
    }

    @Test("who follows a request sees why and when it is sent again, through a pipe once")
    func request() async throws {
      let server = try await LyingServer()
      server.serve("/a", .page(503, "no"), .page(201, "made"), .page(503, "no"), .page(201, "made"))
      let url = server.url("/a")
      let ended = try await durable.onTerminal("send", "POST", url, "--follow") {
        try await $0.shows("Job 1 runs again in ")
      }
      #expect(!ended.text.text.contains("runs again in"), "\(ended.text.text)")
      let piped = try await durable("send", "POST", url, "--follow")
      #expect(piped.text == "made")
      #expect(piped.stderr.contains("again   send POST") && !piped.stderr.contains("runs again"), "\(piped.stderr)")
    }

    @Test(
      "wait and log -f say it on a terminal in the same way, and take it away", arguments: [["wait"], ["log", "-f"]])
    func waiting(words: [String]) async throws {
      let id = try await durable.add("--delay", "1h", "--", "true")
      let ended = try await durable.onTerminal(words[0], words.count > 1 ? words[1] : "--all", "\(id)") { [durable] in
        try await $0.shows("Job \(id) waits for its time, in 60 min")
        try await durable("cancel", "\(id)")
      }
      #expect(!ended.text.text.contains("waits for its time"), "\(ended.text.text)")
    }
  }
#endif
