#if Shell
  import Console
  import DurableJobsHTTP

  /// A line of a screen, in pieces of one look each.
  struct ScreenLine: Hashable, Sendable {
    struct Piece: Hashable, Sendable {
      var text: String
      var look: Colour?
    }

    var pieces: [Piece] = []

    init(_ text: String = "", _ look: Colour? = nil) { add(text, look) }

    mutating func add(_ text: String, _ look: Colour? = nil) { pieces.append(Piece(text: text, look: look)) }

    func adding(_ text: String, _ look: Colour? = nil) -> ScreenLine {
      var line = self
      line.add(text, look)
      return line
    }

    var text: String { pieces.map(\.text).joined() }

    /// At most so many columns of it.
    func cut(to width: Int) -> ScreenLine {
      var rest = width
      var line = self
      line.pieces = pieces.map { piece in
        let text = piece.text.cut(to: rest)
        rest -= text.columns
        return Piece(text: text, look: piece.look)
      }
      return line
    }
  }

  extension DemoScreen {
    /// The screen on a terminal of that size, from its top.
    func lines(columns: Int, rows: Int) -> [ScreenLine] {
      let width = max(columns, 1)
      // Blank lines only where there is room for them.
      let gap = rows >= 20 ? [ScreenLine()] : []
      var lines = [ScreenLine(" Downloads that survive kill -9", .bold)] + gap
      lines += controlLines(width) + gap
      lines += noticeLines(width) + gap
      lines += listLines(width, rows: rows - lines.count, gap)
      return lines.prefix(max(rows, 0)).map { $0.cut(to: width) }
    }

    private func controlLines(_ width: Int) -> [ScreenLine] {
      let look: Colour? = isRunning ? .dim : nil
      func control(_ name: String, _ key: String, _ value: String) -> ScreenLine {
        ScreenLine(" " + name.padded(15) + key.padded(4) + value, look)
      }
      func slider(_ value: Int, in range: ClosedRange<Int>) -> String {
        let cells = min(max(width - 25, 2), 30)
        let knob = Int((DownloadControls.place(of: value, in: range) * Double(cells - 1)).rounded())
        return String(repeating: "━", count: knob) + "●" + String(repeating: "─", count: cells - 1 - knob)
          + "\(value)".padded(4, alignedRight: true)
      }
      return [
        control("Job count", "←→", slider(controls.jobCount, in: DownloadControls.jobCounts)),
        control("Max concurrent", "↑↓", slider(controls.maxConcurrent, in: DownloadControls.concurrencies)),
        control("Random time", "r", controls.isTimeRandom ? "on" : "off"),
        control("Start", "s", isRunning ? "it runs" : "or Enter").adding("  q quits"),
      ]
    }

    private func noticeLines(_ width: Int) -> [ScreenLine] {
      func paragraph(_ text: String, _ look: Colour?) -> [ScreenLine] {
        text.withVisibleControls.wrapped(to: width - 1).map { ScreenLine(" " + $0, look) }
      }
      switch phase {
      case .idle:
        return paragraph(
          "s starts real downloads from a server on this machine. Half-way their worker is killed with SIGKILL, and "
            + "another goes on.", nil)
      case .running: return paragraph(notice, .yellow)
      case .broken(let reason): return paragraph(reason, .red)
      case .ended(let outcome):
        let report = outcome.report
        return paragraph(report[0], outcome.isRight ? .green : .red)
          + report.dropFirst().flatMap { paragraph($0, nil) }
      }
    }

    private func listLines(_ width: Int, rows: Int, _ gap: [ScreenLine]) -> [ScreenLine] {
      let unfinished = unfinished
      let completed = completed
      // The lists share the height, and what one does not need is the other's.
      let room = max(rows - 2 - gap.count, 0)
      let upper = min(unfinished.count, max(room - room / 2, room - completed.count))
      let running = unfinished.count { if case .inProgress = $0.state { true } else { false } }
      var counts = ""
      if !unfinished.isEmpty {
        counts = "\(running) in progress, \(unfinished.count - running) pending"
      }
      var lines = [ScreenLine(" Downloads", .bold).adding("  " + counts, .dim)]
      lines += list(unfinished, rows: upper) { row($0, width) }
      lines += gap
      lines.append(
        ScreenLine(" Completed", .bold).adding(
          downloads.isEmpty ? "" : "  \(completed.count) of \(downloads.count)", .dim))
      lines += list(completed, rows: room - upper) { row($0, width) }
      return lines
    }

    /// As many as there is room for; the last line says how many more there are.
    private func list(_ downloads: [DemoDownload], rows: Int, _ row: (DemoDownload) -> ScreenLine) -> [ScreenLine] {
      guard downloads.count > rows else { return downloads.map(row) }
      guard rows > 0 else { return [] }
      return downloads.prefix(rows - 1).map(row) + [ScreenLine("   + \(downloads.count - rows + 1) more", .dim)]
    }

    private func row(_ download: DemoDownload, _ width: Int) -> ScreenLine {
      let name = "   " + download.name + "  "
      let mark = download.survived && width >= 60 ? "  its worker was killed" : ""
      func bar(_ fraction: Double, _ look: Colour?) -> ScreenLine {
        let bar = ProgressBar(fraction: fraction, width: min(width - name.columns - 8, 30))
        return ScreenLine(name + fraction.percent.padded(5, alignedRight: true) + "  ", look)
          .adding(bar.text, look ?? .green).adding(mark, .yellow)
      }
      switch download.state {
      case .pending(let fraction) where fraction > 0: return bar(fraction, .dim)
      case .pending: return ScreenLine(name + "pending", .dim)
      case .inProgress(let fraction): return bar(fraction, nil)
      case .completed: return ScreenLine(name + "completed  ").adding(Int64(size).asBytes, .dim).adding(mark, .yellow)
      case .failed(let message): return ScreenLine(name + "failed  " + message.withVisibleControls, .red)
      }
    }
  }

  extension String {
    /// In lines of at most `width` columns, broken between words where there are any, but not after a number: "40 %".
    func wrapped(to width: Int) -> [String] {
      var units: [String] = []
      var isAfterNumber = false
      for word in split(separator: " ") {
        if isAfterNumber { units[units.count - 1] += " " + word } else { units.append(String(word)) }
        isAfterNumber = word.first?.isNumber == true
      }
      var lines: [String] = []
      for unit in units {
        if let last = lines.last, last.columns + 1 + unit.columns <= width {
          lines[lines.count - 1] += " " + unit
        } else {
          lines.append(unit)
        }
      }
      return lines
    }
  }
#endif
