#if Shell
  import Console
  import DurableJobs
  import Foundation
  import Subprocess
  import Testing

  /// What a person sees on a terminal, from the bytes that a program sends to it.
  struct TerminalText {
    private(set) var columns: Int
    private(set) var rows: Int
    private var cells: [[Character]]
    private var row = 0
    private var column = 0
    /// What the alternate screen covers.
    private var covered: (cells: [[Character]], row: Int, column: Int)?
    private(set) var hidesCursor = false
    /// How often the cursor was moved up: that is where a new picture begins.
    private(set) var timesBack = 0
    private var wraps = true
    private var pending: [UInt8] = []
    /// What an unknown sequence said: a test may want to see that there is none.
    private(set) var unknown: [String] = []

    init(columns: Int, rows: Int) {
      self.columns = columns
      self.rows = rows
      cells = Self.blank(columns, rows)
    }

    var isOnAlternateScreen: Bool { covered != nil }

    /// The lines from the top, without the blanks at their ends and without the empty ones at the bottom.
    var lines: [String] {
      var lines = cells.map { row in
        // The second half of a wide character is held by the character itself.
        String(row.filter { $0 != "\0" }).replacing(#/ +$/#, with: "")
      }
      while lines.last?.isEmpty == true { lines.removeLast() }
      return lines
    }

    var text: String { lines.joined(separator: "\n") }

    mutating func resize(columns: Int, rows: Int) {
      self.columns = columns
      self.rows = rows
      cells = (0..<rows).map { row in
        let old = row < cells.count ? cells[row] : []
        return Array((old + Array(repeating: " ", count: columns)).prefix(columns))
      }
      row = min(row, rows - 1)
      column = min(column, columns - 1)
    }

    mutating func feed(_ bytes: some Sequence<UInt8>) {
      pending += bytes
      var rest = pending[...]
      while let first = rest.first {
        let before = rest
        guard first == 0x1b ? escape(&rest) : character(&rest) else {
          // Its end has not come yet.
          pending = Array(before)
          return
        }
      }
      pending = []
    }

    /// Returns whether there was a whole one.
    private mutating func character(_ rest: inout ArraySlice<UInt8>) -> Bool {
      guard let first = rest.first else { return false }
      let length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
      guard rest.count >= length else { return false }
      let text = String(decoding: rest.prefix(length), as: UTF8.self)
      rest = rest.dropFirst(length)
      switch text {
      case "\r": column = 0
      case "\n": lineFeed()
      case "\u{8}": column = max(0, column - 1)
      case "\u{7}": break
      default: text.forEach { put($0) }
      }
      return true
    }

    private mutating func put(_ character: Character) {
      let width = String(character).columns
      guard width > 0 else { return }
      if column + width > columns {
        if wraps {
          column = 0
          lineFeed()
        } else {
          column = max(columns - width, 0)
        }
      }
      cells[row][column] = character
      if width == 2, column + 1 < columns { cells[row][column + 1] = "\0" }
      column += width
    }

    private mutating func lineFeed() {
      guard row == rows - 1 else {
        row += 1
        return
      }
      cells.removeFirst()
      cells.append(Array(repeating: " ", count: columns))
    }

    private mutating func escape(_ rest: inout ArraySlice<UInt8>) -> Bool {
      let body = rest.dropFirst()
      guard let kind = body.first else { return false }
      guard kind == UInt8(ascii: "[") else {
        unknown.append("ESC \(kind)")
        rest = body.dropFirst()
        return true
      }
      guard let end = body.dropFirst().firstIndex(where: { (0x40...0x7e).contains($0) }) else { return false }
      let parameters = String(decoding: body[(body.startIndex + 1)..<end], as: UTF8.self)
      rest = rest[(end + 1)...]
      control(Character(UnicodeScalar(body[end])), parameters)
      return true
    }

    private mutating func control(_ name: Character, _ parameters: String) {
      let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
      let first = numbers.first.flatMap { $0 }
      let count = max(first ?? 1, 1)
      if name == "A" || name == "H" { timesBack += 1 }
      switch name {
      case "m": break
      case "A": row = max(0, row - count)
      case "B": row = min(rows - 1, row + count)
      case "C": column = min(columns - 1, column + count)
      case "D": column = max(0, min(column, columns - 1) - count)
      case "H":
        row = min(count, rows) - 1
        column = min(max(numbers.count > 1 ? numbers[1] ?? 1 : 1, 1), columns) - 1
      case "J":
        switch first ?? 0 {
        case 0:
          clear(row, from: column)
          for row in row + 1..<max(rows, row + 1) { clear(row, from: 0) }
        case 2: for row in 0..<rows { clear(row, from: 0) }
        default: unknown.append(parameters + "J")
        }
      case "K":
        switch first ?? 0 {
        case 0: clear(row, from: column)
        case 2: clear(row, from: 0)
        default: unknown.append(parameters + "K")
        }
      case "h", "l": mode(parameters, isSet: name == "h")
      default: unknown.append(parameters + String(name))
      }
    }

    private mutating func mode(_ number: String, isSet: Bool) {
      switch number {
      case "?1049" where isSet:
        covered = (cells, row, column)
        cells = Self.blank(columns, rows)
      case "?1049":
        guard let covered else { return }
        cells = covered.cells
        let size = (columns, rows)
        (row, column) = (covered.row, covered.column)
        self.covered = nil
        resize(columns: size.0, rows: size.1)
      case "?25": hidesCursor = !isSet
      case "?7": wraps = isSet
      default: unknown.append(number + (isSet ? "h" : "l"))
      }
    }

    private mutating func clear(_ row: Int, from column: Int) {
      for column in min(column, columns)..<columns { cells[row][column] = " " }
    }

    private static func blank(_ columns: Int, _ rows: Int) -> [[Character]] {
      Array(repeating: Array(repeating: " ", count: columns), count: rows)
    }
  }

  /// The terminal that a program of a test runs on: keys go in, and what a person would see can be waited for.
  final class Terminal: Sendable {
    private struct State {
      var text: TerminalText
      var isOver = false
      var isCancelled = false
      /// What was to be seen, one after the other, from what was waited for last on: who reads late misses nothing.
      var seen: [TerminalText]
      var waiting: [CheckedContinuation<Void, Never>] = []

      /// A picture is over where the next one moves the cursor back to its top.
      mutating func take(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
          let end = rest.dropFirst().firstIndex(of: 0x1b) ?? rest.endIndex
          let picture = text
          text.feed(rest[..<end])
          if text.timesBack != picture.timesBack { seen.append(picture) }
          rest = rest[end...]
        }
        seen.append(text)
      }
    }

    let process = Lock<pid_t>(0)
    private let master: Int32
    private let state: Lock<State>

    fileprivate init(_ master: Int32, columns: Int, rows: Int) {
      self.master = master
      state = Lock(State(text: TerminalText(columns: columns, rows: rows), seen: []))
      setSize(columns, rows)
    }

    var text: TerminalText { state.withLock { $0.text } }

    func press(_ keys: String) {
      let bytes = Array(keys.utf8)
      _ = write(master, bytes, bytes.count)
    }

    /// Makes the window larger or smaller, and lets the program know.
    func resize(columns: Int, rows: Int) {
      state.withLock { $0.text.resize(columns: columns, rows: rows) }
      setSize(columns, rows)
    }

    /// Waits until the screen is so, and returns it. Throws, with what is there instead, if the terminal is closed before or
    /// the task is cancelled.
    @discardableResult
    func shows(
      _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ isSo: (TerminalText) -> Bool
    ) async throws -> TerminalText {
      try await withTaskCancellationHandler {
        while true {
          let (seen, text, isOver) = state.withLock { ($0.seen, $0.text, $0.isOver || $0.isCancelled) }
          if let index = (seen + [text]).firstIndex(where: isSo) {
            state.withLock { $0.seen.removeFirst(min(index, $0.seen.count)) }
            return index < seen.count ? seen[index] : text
          }
          try #require(!isOver, "the screen never showed \(what):\n\(text.text)", sourceLocation: sourceLocation)
          await withCheckedContinuation { continuation in
            let isNews = state.withLock { state in
              if state.isOver || state.isCancelled || state.seen.count != seen.count { return true }
              state.waiting.append(continuation)
              return false
            }
            if isNews { continuation.resume() }
          }
        }
      } onCancel: {
        wake { $0.isCancelled = true }
      }
    }

    private func wake(_ change: (inout State) -> Void) {
      let waiting = state.withLock { state in
        change(&state)
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
    }

    @discardableResult
    func shows(_ words: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> TerminalText {
      try await shows("'\(words)'", sourceLocation: sourceLocation) { $0.text.contains(words) }
    }

    /// Reads until the terminal is closed. Blocks.
    fileprivate func listen() {
      var bytes = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(master, &bytes, bytes.count)
        if count < 0, errno == EINTR { continue }
        wake { state in
          if count > 0 { state.take(bytes.prefix(count)) } else { state.isOver = true }
        }
        if count <= 0 { return }
      }
    }

    private func setSize(_ columns: Int, _ rows: Int) {
      var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
      _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }
  }

  extension Durable {
    struct TerminalOutcome {
      var status: TerminationStatus
      /// The screen as the program left it.
      var text: TerminalText
      /// Whether the terminal echoes and waits for whole lines, as before.
      var isAsBefore: Bool
    }

    /// Runs the program, or another one, on a terminal of its own while `body` does; kills it if `body` throws.
    func onTerminal(
      _ arguments: String..., program other: String? = nil, columns: Int = 80, rows: Int = 24,
      environment more: [Environment.Key: String?] = [:],
      body: @escaping @Sendable (Terminal) async throws -> Void
    ) async throws -> TerminalOutcome {
      var master: Int32 = 0
      var slave: Int32 = 0
      var name = [CChar](repeating: 0, count: 256)
      try #require(openpty(&master, &slave, &name, nil, nil) == 0)
      // No program that another test starts meanwhile may keep them.
      for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      defer { close(master) }
      let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let terminal = Terminal(master, columns: columns, rows: rows)
      var options = PlatformOptions()
      options.createSession = true
      async let listening: Void = onThread { terminal.listen() }
      let result: Result<TerminationStatus, any Error>
      do {
        // Who leads a session and opens a terminal gets it for its own.
        let ended = try await Subprocess.run(
          .name("sh"),
          arguments: Arguments(
            ["-c", #"tty=$1; shift; exec "$@" <>"$tty" >&0 2>&0"#, "sh", path, other ?? program] + arguments),
          environment: environment(more.merging(["TERM": "xterm"]) { mine, _ in mine }),
          workingDirectory: .init(folder),
          platformOptions: options, input: .none, output: .discarded, error: .discarded
        ) { execution in
          terminal.process.withLock { $0 = execution.processIdentifier.value }
          do {
            try await body(terminal)
          } catch {
            kill(execution.processIdentifier.value, SIGKILL)
            throw error
          }
        }
        result = .success(ended.terminationStatus)
      } catch {
        result = .failure(error)
      }
      var settings = termios()
      let isKnown = tcgetattr(slave, &settings) == 0
      let isAsBefore = isKnown && settings.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO)
      // The last one who has it open: reading ends.
      close(slave)
      await listening
      return try TerminalOutcome(status: result.get(), text: terminal.text, isAsBefore: isAsBefore)
    }
  }
#endif
