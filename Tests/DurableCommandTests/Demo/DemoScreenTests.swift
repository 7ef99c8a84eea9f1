#if Shell
  import Console
  import Foundation
  import Testing

  @testable import durable_demo

  @Suite("The download screen")
  struct DemoScreenTests {
    @Test("the controls change by keys, within their ranges")
    func controls() {
      var screen = DemoScreen(DownloadControls(jobCount: 10, maxConcurrent: 2, isTimeRandom: false))
      for key in [DemoKey.right, .up, .random] { #expect(screen.press(key) == nil) }
      #expect(screen.controls == DownloadControls(jobCount: 11, maxConcurrent: 3, isTimeRandom: true))
      for key in [DemoKey.left, .left, .down, .down, .down, .random] { _ = screen.press(key) }
      #expect(screen.controls == DownloadControls(jobCount: 9, maxConcurrent: 1, isTimeRandom: false))
      for _ in 1...100 { for key in [DemoKey.right, .up] { _ = screen.press(key) } }
      #expect(screen.controls == DownloadControls(jobCount: 500, maxConcurrent: 100, isTimeRandom: false))
      for _ in 1...100 { for key in [DemoKey.left, .down] { _ = screen.press(key) } }
      #expect(screen.controls == DownloadControls(jobCount: 1, maxConcurrent: 1, isTimeRandom: false))
    }

    @Test("a slider between two of its stops goes to the next one")
    func stops() {
      var controls = DownloadControls(jobCount: 37, maxConcurrent: 99)
      controls.slideJobCount(up: true)
      controls.slideMaxConcurrent(up: true)
      #expect((controls.jobCount, controls.maxConcurrent) == (40, 100))
      controls.jobCount = 37
      controls.slideJobCount(up: false)
      #expect(controls.jobCount == 30)
    }

    @Test("while it runs the controls are dimmed and do nothing; after it they work again")
    func disabled() {
      var screen = DemoScreen(DownloadControls())
      #expect(screen.looks(of: "Job count") == [nil])
      #expect(screen.press(.start) == .start(DownloadControls()))
      let controls = screen.controls
      for key in [DemoKey.left, .right, .up, .down, .random, .start] { #expect(screen.press(key) == nil) }
      #expect(screen.controls == controls)
      for name in ["Job count", "Max concurrent", "Random time"] { #expect(screen.looks(of: name) == [.dim]) }
      screen.take(.ended(.right))
      #expect(screen.looks(of: "Job count") == [nil])
      _ = screen.press(.right)
      #expect(screen.controls.jobCount == controls.jobCount + 1)
      #expect(screen.press(.start) == .start(screen.controls))
      #expect(screen.press(.quit) == .quit)
    }

    @Test("the whole of it at 40 columns and 15 rows, half-way")
    func small() {
      var screen = DemoScreen(DownloadControls(jobCount: 6, maxConcurrent: 2))
      _ = screen.press(.start)
      screen.take(.began(screen.controls, size: 1_000_000))
      screen.take(.workerStarted(11))
      screen.take(.workerKilled(11, at: 0.529))
      screen.take(.workerStarted(12))
      screen.take(
        .looked([
          .at(.completed(Date(timeIntervalSince1970: 2)), 1), .at(.completed(Date(timeIntervalSince1970: 3)), 2),
          .at(.inProgress(0.6), 3, survived: true), .at(.pending(0.4), 4, survived: true), .at(.pending(0), 5),
          .at(.pending(0), 6),
        ]))
      #expect(
        screen.text(40, 15) == [
          " Downloads that survive kill -9",
          " Job count      ←→  ━━●────────────   6",
          " Max concurrent ↑↓  ━●─────────────   2",
          " Random time    r   off",
          " Start          s   it runs  q quits",
          " worker 11 killed with SIGKILL at 52 %;",
          " worker 12 goes on",
          " Downloads  1 in progress, 3 pending",
          "   file-003   60 %  ███████████░░░░░░░░",
          "   file-004   40 %  ███████░░░░░░░░░░░░",
          "   file-005  pending",
          "   file-006  pending",
          " Completed  2 of 6",
          "   file-002  completed  1.0 MB",
          "   file-001  completed  1.0 MB",
        ])
    }

    @Test("the end says what the crash cost, at 40 columns too")
    func end() {
      var screen = DemoScreen(DownloadControls(jobCount: 2))
      _ = screen.press(.start)
      screen.take(.began(screen.controls, size: 1_000_000))
      screen.take(
        .looked([
          .at(.completed(Date(timeIntervalSince1970: 2)), 1), .at(.completed(Date(timeIntervalSince1970: 2)), 2),
        ]))
      screen.take(.ended(.right))
      #expect(
        screen.text(40, 15).dropFirst(5) == [
          " Info: all download tasks have been",
          " completed",
          " The crash at 55 % cost: 1.2 MB fetched",
          " twice, 0.4 s until the next byte.",
          " All 2 checksums verified.",
          " Downloads",
          " Completed  2 of 2",
          "   file-002  completed  1.0 MB",
          "   file-001  completed  1.0 MB",
        ])
    }

    @Test("500 downloads: what fits is shown, and how many more there are")
    func many() throws {
      var screen = DemoScreen(DownloadControls(jobCount: 500, maxConcurrent: 100))
      _ = screen.press(.start)
      screen.take(.began(screen.controls, size: 100_000))
      let downloads = (1...500).map { number -> DemoDownload in
        switch number {
        case ...200: .at(.completed(Date(timeIntervalSince1970: Double(number % 150))), number)
        case ...300: .at(.inProgress(0.2), number)
        default: .at(.pending(0), number)
        }
      }
      screen.take(.looked(downloads))
      let lines = screen.text(80, 24)
      #expect(lines.count == 24)
      #expect(lines.contains(" Downloads  100 in progress, 200 pending"))
      #expect(lines.contains("   file-201   20 %  ██████░░░░░░░░░░░░░░░░░░░░░░░░"))
      #expect(lines.contains(" Completed  200 of 500"))
      let mores = lines.compactMap { $0.wholeMatch(of: #/ +\+ (\d+) more/#).flatMap { Int($0.1) } }
      #expect(mores.count == 2)
      let shown = lines.count { $0.hasPrefix("   file-") }
      #expect(mores.reduce(0, +) + shown == 500)
      let completed = try #require(lines.firstIndex(of: " Completed  200 of 500"))
      #expect(lines[completed + 1] == "   file-149  completed  100 kB")
    }

    @Test(
      "no line is wider than the terminal and none too many, whatever its size", arguments: [1, 7, 20, 40, 81, 300])
    func sizes(columns: Int) {
      var screen = DemoScreen(DownloadControls())
      for step in 0..<3 {
        if step == 1 {
          _ = screen.press(.start)
          screen.take(.looked((1...500).map { .at($0 < 250 ? .inProgress(0.5) : .failed("no\u{1b}[2J file"), $0) }))
        }
        if step == 2 { screen.take(.ended(.right)) }
        for rows in [0, 1, 5, 9, 15, 24, 60] {
          let lines = screen.lines(columns: columns, rows: rows)
          #expect(lines.count <= rows)
          #expect(lines.allSatisfy { $0.text.columns <= columns && !$0.text.hasControls })
        }
      }
    }

    @Test("an end that is not right says so")
    func wrong() {
      var outcome = DownloadOutcome.right
      #expect(outcome.isRight)
      outcome.crash = nil
      #expect(!outcome.isRight)
      #expect(outcome.report.contains("No worker was killed."))
      outcome = .right
      outcome.verified = 1
      outcome.troubles = ["file-002 has a wrong checksum"]
      #expect(!outcome.isRight)
      #expect(outcome.report.prefix(2) == ["Info: 1 of 2 download tasks have been completed", outcome.troubles[0]])
      #expect(!outcome.report.contains { $0.contains("verified") })
    }

    @Test("arrows are read in both of their forms, in pieces and with Shift; other sequences are no keys")
    func keyboard() {
      var keyboard = Keyboard()
      #expect(keyboard.keys("\u{1b}[A\u{1b}OB\u{1b}[1;2C\u{1b}[D".utf8) == [.up, .down, .right, .left])
      #expect(keyboard.keys("\u{1b}".utf8) == [])
      #expect(keyboard.keys("[".utf8) == [])
      #expect(keyboard.keys("A".utf8) == [.up])
      #expect(keyboard.keys("hjkl".utf8) == [.left, .down, .up, .right])
      #expect(keyboard.keys("sR\r \nq\u{3}".utf8) == [.start, .random, .start, .start, .start, .quit, .quit])
      #expect(keyboard.keys("\u{1b}[3~\u{1b}[15~xüz1".utf8) == [])
      #expect(keyboard.keys("\u{1b}\u{1b}[Aq".utf8) == [.up, .quit])
    }

    @Test("plain lines tell each completion once, and each tenth")
    func plain() {
      var report = PlainReport()
      #expect(
        report.lines(.began(DownloadControls(jobCount: 2, maxConcurrent: 1, isTimeRandom: true), size: 1_000_000)) == [
          "start: 2 downloads of 1.0 MB, 1 at a time, random time"
        ])
      #expect(report.lines(.workerStarted(11)) == ["worker 11 works"])
      #expect(report.lines(.looked([.at(.inProgress(0.05), 1), .at(.pending(0), 2)])) == [])
      #expect(report.lines(.looked([.at(.inProgress(0.4), 1), .at(.pending(0), 2)])) == ["20 %, 0 of 2 completed"])
      let done = DownloadEvent.looked([.at(.completed(Date(timeIntervalSince1970: 1)), 1), .at(.pending(0), 2)])
      #expect(report.lines(done) == ["completed file-001", "50 %, 1 of 2 completed"])
      #expect(report.lines(done) == [])
      #expect(report.lines(.workerKilled(11, at: 0.5)) == ["worker 11 killed with SIGKILL at 50 %"])
      #expect(report.lines(.workerStarted(12)) == ["worker 12 goes on"])
    }
  }

  extension DemoDownload {
    fileprivate static func at(_ state: State, _ number: Int, survived: Bool = false) -> DemoDownload {
      DemoDownload(name: DemoFiles.name(number), state: state, survived: survived)
    }
  }

  extension DownloadOutcome {
    fileprivate static let right = DownloadOutcome(
      count: 2, verified: 2, troubles: [],
      crash: Crash(killed: 11, fraction: 0.55, bytesTwice: 1_200_000, gap: .milliseconds(400)))
  }

  extension DemoScreen {
    fileprivate func text(_ columns: Int, _ rows: Int) -> [String] {
      lines(columns: columns, rows: rows).map { $0.text.replacing(#/ +$/#, with: "") }
    }

    /// How the line that begins so is drawn.
    fileprivate func looks(of name: String) -> Set<Colour?> {
      Set(lines(columns: 80, rows: 24).first { $0.text.hasPrefix(" " + name) }?.pieces.map(\.look) ?? [])
    }
  }
#endif
