#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import Testing

  @testable import durable

  @Suite("The screen of downloads")
  struct GetScreenTests {
    private static let names = [
      "ubuntu-24.04.3-live-server-amd64.iso", "漢字の長い名前のファイル.tar.gz", "👩‍👩‍👧‍👦 family.mov", "e\u{301}te\u{301}.txt",
      "\u{1b}[2Jevil\r\n.bin", "שלום-עולם.pdf", "x", String(repeating: "long", count: 60),
    ]

    private func id(_ number: Int) -> JobID { JobID(rawValue: Int64(number)) }

    /// Files that run here, the first at 1 MB of 4 MB after two seconds.
    private func running(_ names: [String], others: Int = 0) -> DownloadScreen {
      var screen = DownloadScreen()
      for (index, name) in names.enumerated() { screen.add(id(index), name: name, size: nil) }
      for index in 0..<others { screen.add(id(1000 + index), name: "later", size: nil) }
      for (index, name) in names.enumerated() {
        screen.began(id(index), name: name, at: .zero)
        screen.received(id(index), 1_000_000, of: 4_000_000, at: .seconds(2))
      }
      return screen
    }

    @Test("a line for each file and one for all, as a person sees them on 80 columns")
    func wide() {
      var screen = running(["a.iso", "漢字.iso"], others: 1)
      screen.add(id(7), name: "c.iso", size: nil)
      screen.waits(id(7), reason: "the server answered 503", until: .seconds(22))
      screen.add(id(8), name: "d.iso", size: nil)
      screen.runsElsewhere(id(8), fraction: 0.5, message: "1.0 of 2.0 MB")
      #expect(
        screen.lines(at: .seconds(2), width: 80, height: 24) == [
          "a.iso                ██░░░░░░░░░   25 %       1.0 of 4.0 MB    500 kB/s     6 s",
          "漢字.iso             ██░░░░░░░░░   25 %       1.0 of 4.0 MB    500 kB/s     6 s",
          "c.iso                again in 20 s: the server answered 503",
          "d.iso                █████░░░░░░   50 %       1.0 of 2.0 MB   elsewhere",
          "░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  0 of 5 done, 2.0 MB, 1.0 MB/s",
        ])
    }

    @Test("pieces are left out by their weight where there is no room")
    func narrow() {
      let screen = running(["ubuntu-24.04.3-live-server-amd64.iso"], others: 1)
      #expect(
        screen.lines(at: .seconds(2), width: 40, height: 24) == [
          "ubuntu-….iso   25 %    500 kB/s     6 s", "0 of 2 done, 1.0 MB, 500 kB/s",
        ])
      #expect(screen.lines(at: .seconds(2), width: 20, height: 24) == ["ubuntu-….iso   25 %", "0 of 2 done"])
    }

    @Test(
      "no line is wider than the terminal, and none has what could do something to it",
      arguments: [1, 5, 10, 20, 40, 80, 200])
    func widths(width: Int) {
      var screen = running(Self.names, others: 3)
      for (index, name) in Self.names.enumerated() {
        screen.add(id(100 + index), name: name, size: 5)
        screen.waits(id(100 + index), reason: name, until: index == 0 ? nil : .seconds(5000))
        screen.add(id(200 + index), name: name, size: 5)
        screen.runsElsewhere(id(200 + index), fraction: nil, message: name)
      }
      for obstacle in [nil, Self.names[4]] {
        screen.isHeldUp(by: obstacle)
        let lines = screen.lines(at: .seconds(3), width: width, height: 60)
        #expect(lines.count == Self.names.count * 3 + 1)
        for line in lines {
          #expect(line.columns < max(width, 2), "\(line)")
          #expect(!line.hasControls)
        }
      }
    }

    @Test("a download that waits for something says so in its line, and is no sign of life")
    func kept() {
      var screen = DownloadScreen()
      screen.add(id(1), name: "a.iso", size: nil)
      let job = JobSnapshot(id: id(1), queue: "q", kind: "k", state: .ready, createdAt: Date())
      screen.saw(job, until: nil, keptBy: "lunch", at: .zero)
      #expect(screen.lines(at: .zero, width: 80, height: 24).first == "a.iso                waits: lunch")
      #expect(!screen.isRunning)
      screen.saw(job, until: nil, at: .zero)
      #expect(screen.lines(at: .zero, width: 80, height: 24) == [])
    }

    @Test(
      "a download that waits for others of its host says so, in its slot and outside of one, and is none of elsewhere")
    func inLine() throws {
      var screen = DownloadScreen()
      for number in 1...2 { screen.add(id(number), name: "\(number).iso", size: nil) }
      var job = JobSnapshot(id: id(1), queue: "q", kind: "k", state: .running, createdAt: Date())
      let download = Download(from: try #require(URL(string: "http://h/1.iso")), to: URL(fileURLWithPath: "/"))
      func hear(_ number: Int, _ event: Downloader.Event) {
        screen.hear(JobAttempt(job: id(number), queue: "q", number: 1, of: 2), download, event, at: .zero)
      }
      func line() -> String? { screen.lines(at: .zero, width: 80, height: 24).first }
      let words = "1.iso                waits: another file of this host comes, 1 at once"
      hear(1, .hasNoTurn(perHost: 1))
      screen.saw(job, until: nil, at: .zero)
      #expect(line() == words)
      job.state = .scheduled
      screen.saw(job, until: .seconds(2), at: .zero)
      #expect(line() == words)
      #expect(screen.slotsNeeded(at: .zero) == 1, "it leaves its slot to others")
      job.state = .ready
      screen.saw(job, until: nil, at: .seconds(2))
      #expect(line() == words)
      job.state = .running
      screen.saw(job, until: nil, at: .seconds(2))
      #expect(line()?.contains("elsewhere") == true, "another process has taken it")
      hear(1, .hasNoTurn(perHost: 2))
      #expect(line()?.hasSuffix("waits: other files of this host come, 2 at once") == true)
      hear(1, .began)
      #expect(line()?.contains("waits") == false)
    }

    @Test("500 files take no more lines than there are, and the rest are counted", arguments: [3, 10, 24, 50])
    func many(height: Int) {
      var screen = running((0..<500).map { "file \($0)" })
      for index in 0..<10 { screen.waits(id(index), reason: "later") }
      let lines = screen.lines(at: .seconds(2), width: 80, height: height)
      // The cursor stands on the line below.
      #expect(lines.count == height - 1)
      let shown = height - 3
      #expect(lines[shown] == "… and \(500 - shown) more, 10 of them waiting")
      if shown > 0 { #expect(lines[0].hasPrefix("file 10 ")) }
      #expect(lines.last?.contains("0 of 500 done") == true)
    }

    @Test("the speed is that of the last seconds, and a connection that brings nothing comes to a stop")
    func speed() {
      var screen = DownloadScreen()
      screen.add(id(1), name: "a", size: 100_000_000)
      screen.began(id(1), name: "a", at: .zero)
      for tenth in 1...100 {
        screen.received(id(1), Int64(tenth) * 100_000, of: nil, at: .milliseconds(tenth * 100))
      }
      #expect(screen.lines(at: .seconds(10), width: 80, height: 24)[0].contains("1.0 MB/s    90 s"))
      for tenth in 1...100 {
        screen.received(id(1), 10_000_000 + Int64(tenth) * 200_000, of: nil, at: .milliseconds(10_000 + tenth * 100))
      }
      #expect(screen.lines(at: .seconds(20), width: 80, height: 24)[0].contains("2.0 MB/s    35 s"))
      #expect(screen.lines(at: .seconds(26), width: 80, height: 24)[0].hasSuffix("0 B/s"))
    }

    @Test("what was there before does not count as speed")
    func resumed() {
      var screen = DownloadScreen()
      screen.add(id(1), name: "a", size: nil)
      screen.add(id(2), name: "b", size: 1_000_000)
      screen.began(id(1), name: "a", at: .zero)
      screen.goesOn(id(1), from: 8_000_000, at: .zero)
      screen.received(id(1), 9_000_000, of: 10_000_000, at: .seconds(1))
      let lines = screen.lines(at: .seconds(1), width: 80, height: 24)
      #expect(lines[0].hasSuffix("90 %      9.0 of 10.0 MB    1.0 MB/s     1 s"))
      #expect(lines[1].hasSuffix("0 of 2 done, 9.0 of 11.0 MB, 1.0 MB/s, 2 s left"))
    }

    @Test("what has failed is counted, and not waited for; what nobody asked for is shown, and not counted")
    func counts() {
      var screen = running(["a", "b", "c"])
      screen.succeeded(id(0), size: 4_000_000, wasThere: false, at: .seconds(3))
      screen.failed(id(1))
      screen.began(id(50), name: "stranger", at: .seconds(3))
      let lines = screen.lines(at: .seconds(3), width: 80, height: 24)
      #expect(lines.count == 3)
      #expect(lines[1].hasPrefix("stranger"))
      #expect(lines[2].contains("1 of 3 done, 1 failed, 5.0 of 8.0 MB"))
      screen.isQueued(id(50))
      #expect(screen.lines(at: .seconds(3), width: 80, height: 24).count == 2)
    }

    @Test("sizes beyond all measure are added up, and taken away again")
    func hugeSizes() {
      var screen = DownloadScreen()
      for number in 1...3 { screen.add(id(number), name: "\(number)", size: number < 3 ? .max : 1000) }
      for number in 1...2 { screen.received(id(number), .max, of: .max, at: .seconds(1)) }
      #expect((screen.size, screen.received, screen.fetched) == (.max, .max, .max))
      #expect(!screen.lines(at: .seconds(2), width: 80, height: 24).isEmpty)
      for number in 1...2 { screen.failed(id(number)) }
      #expect((screen.size, screen.received) == (1000, 0))
    }

    @Test("at the end, bytes of what is not done are told as such")
    func outcome() {
      var screen = running(["a", "b"])
      screen.succeeded(id(0), size: 1_000_000, wasThere: false, at: .seconds(3))
      #expect(screen.outcome(after: .seconds(2)) == "1 of 2 done, 1 left: 2.0 MB of all in 2.0 s, 1.0 MB/s")
      screen.succeeded(id(1), size: 1_000_000, wasThere: false, at: .seconds(3))
      #expect(screen.outcome(after: .seconds(2)) == "2 of 2 done: 2.0 MB in 2.0 s, 1.0 MB/s")
    }

    @Test("slots are taken for ours that can run and for strangers that do, not for ours that wait")
    func slots() {
      var screen = DownloadScreen()
      for number in 1...3 { screen.add(id(number), name: "\(number)", size: nil) }
      #expect(screen.slotsNeeded(at: .zero) == 3)
      screen.waits(id(1), reason: "later", until: .seconds(10))
      screen.runsElsewhere(id(2), fraction: nil, message: nil)
      #expect(screen.slotsNeeded(at: .zero) == 1)
      screen.began(id(9), name: "stranger", at: .zero)
      #expect(screen.slotsNeeded(at: .zero) == 2)
      #expect(screen.slotsNeeded(at: .seconds(9)) == 3)
    }

    @Test("a single file has no line for all")
    func single() {
      #expect(running(["a"]).lines(at: .seconds(2), width: 80, height: 24).count == 1)
    }

    // MARK: The block

    @Test("the block changes in place, and what is finished scrolls away above it")
    func block() {
      var terminal = TerminalText(columns: 20, rows: 5)
      var block = LiveBlock(isReflowed: false)
      func show(_ lines: [String], _ finished: [String] = []) {
        let text = block.replace(with: lines, below: finished, width: 20, height: 5)
        // As a terminal's line discipline does.
        terminal.feed(text.replacing("\n", with: "\r\n").utf8)
      }
      terminal.feed("$ get\r\n".utf8)
      show(["a 10 %", "b 20 %", "all"])
      #expect(terminal.lines == ["$ get", "a 10 %", "b 20 %", "all"])
      show(["a 9 %", "b", "all"])
      #expect(terminal.lines == ["$ get", "a 9 %", "b", "all"])
      show(["b 90 %", "all"], ["done a", "done c"])
      #expect(terminal.lines == ["done a", "done c", "b 90 %", "all"])
      show([], ["done b"])
      #expect(terminal.lines == ["done a", "done c", "done b"])
      #expect(terminal.unknown.isEmpty)
    }

    @Test("on a terminal that breaks lines anew, what a narrower one has broken is replaced too")
    func reflow() {
      var block = LiveBlock(isReflowed: true)
      _ = block.replace(with: [String(repeating: "x", count: 35), "all"], width: 80, height: 24)
      let text = block.replace(with: ["x", "all"], width: 10, height: 24)
      #expect(text.contains("\u{1b}[5A"))
      #expect(block.replace(with: ["x", "all"], width: 10, height: 24).contains("\u{1b}[2A"))
      // What the terminal has cut is one row there.
      _ = block.replace(with: [String(repeating: "x", count: 35), "all"], width: 10, height: 24)
      #expect(block.replace(with: ["x"], width: 10, height: 24).contains("\u{1b}[2A"))
      // Colours have no columns.
      _ = block.replace(with: ["\u{1b}[32mxxxxxxxxx\u{1b}[0m"], width: 10, height: 24)
      #expect(block.replace(with: ["x"], width: 10, height: 24).contains("\u{1b}[1A"))
    }
  }
#endif
