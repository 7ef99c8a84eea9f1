#if Shell
  import DurableJobs
  import Foundation

  /// Where data goes: standard output, with what a terminal allows.
  package struct Screen: Sendable {
    package static let out = Screen(STDOUT_FILENO)
    package static let error = Screen(STDERR_FILENO)

    private let descriptor: Int32
    package let isTerminal: Bool
    package let hasColours: Bool

    /// Whether lines that stand there can be changed.
    package let canMove: Bool

    private init(_ descriptor: Int32) {
      self.descriptor = descriptor
      isTerminal = isatty(descriptor) == 1
      let environment = ProcessInfo.processInfo.environment
      canMove = isTerminal && environment["TERM"] != "dumb"
      hasColours = canMove && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// Columns of the terminal; nil where nothing needs to be cut.
    package var width: Int? { size?.columns }

    /// The terminal's size as it is now; nil where there is none.
    package var size: TerminalSize? {
      guard isTerminal else { return nil }
      var size = winsize()
      guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
        return TerminalSize(columns: 80, rows: 24)
      }
      return TerminalSize(columns: Int(size.ws_col), rows: size.ws_row > 0 ? Int(size.ws_row) : 24)
    }

    /// Whether what is drawn here would not go over what another program writes: of a job that a shell has put into the
    /// background, the lines are the shell's.
    package var isInFront: Bool {
      guard isTerminal else { return true }
      let group = tcgetpgrp(descriptor)
      return group <= 0 || group == getpgrp()
    }

    /// What puts `lines` in the place of a block, below `finished`, on a terminal of that size. In the background it is
    /// `finished` alone, as through a pipe, and in front the block is begun anew.
    package func text(
      of block: inout LiveBlock, _ lines: [String], below finished: [String] = [], size: TerminalSize
    ) -> String {
      guard isInFront else {
        block.forget()
        return finished.map { $0 + "\n" }.joined()
      }
      return block.replace(with: lines, below: finished, width: size.columns, height: size.rows)
    }

    /// Whether the terminal breaks lines anew when it gets narrower, as most do; they have it in their environment, which is
    /// lost over ssh. Those that are not known keep to xterm's way and cut the lines.
    package static let isReflowed: Bool = {
      let environment = ProcessInfo.processInfo.environment
      let signs = [
        "TMUX", "VTE_VERSION", "TERM_PROGRAM", "KITTY_WINDOW_ID", "ALACRITTY_WINDOW_ID", "KONSOLE_VERSION",
        "WT_SESSION",
        "SSH_TTY",
      ]
      return signs.contains { environment[$0] != nil } && environment["XTERM_VERSION"] == nil
    }()

    /// What to do when the reader has gone. By default nothing: what was begun is done, and has its exit code.
    package static let onClosed = Lock<@Sendable () -> Void>({})

    /// From now on the process ends, quietly, when the reader has gone. For commands that only show
    /// something, which may be long.
    package static func endWithReader() {
      endsWithTerminal.withLock { $0 = true }
      onClosed.withLock { $0 = { exit(0) } }
    }

    /// A terminal that is gone is told by an error of its own. Who works goes on without one.
    private static let endsWithTerminal = Lock(false)

    /// Whether who writes waits for a slow reader no longer than ``patience``. By default it waits as long as it takes.
    package static let stopsWaiting = Lock<(@Sendable () -> Bool)?>(nil)

    private static let patience = Duration.seconds(1)

    private static let lostOutput = Lock(false)

    /// Whether something could not be written to standard output, and it was told.
    package static var hasLostOutput: Bool { lostOutput.withLock { $0 } }

    /// Outputs whose readers were waited for in vain: nobody waits for them again.
    private static let abandoned = Lock<Set<Int32>>([])
    /// Terminals that were cleared of what they had not taken, so that they take the last words.
    private static let cleared = Lock<Set<Int32>>([])

    package func write(_ data: Data) {
      let reason = isTerminal ? LiveLine.write(data, above: put) : put(data)
      guard let reason, descriptor == STDOUT_FILENO else { return }
      let isGone = reason == EPIPE || reason == EIO && isTerminal && Self.endsWithTerminal.withLock { $0 }
      isGone ? Self.onClosed.value() : lose(reason)
    }

    /// Answers why it could not be written.
    func put(_ data: Data) -> Int32? {
      var rest = data[...]
      let stopsWaiting = Self.stopsWaiting.value
      if stopsWaiting != nil, Self.abandoned.withLock({ $0.contains(descriptor) }) { return nil }
      let target = stopsWaiting == nil ? descriptor : withoutWaiting
      while !rest.isEmpty {
        if let stopsWaiting, !waitForReader(until: stopsWaiting) { return nil }
        // No more than what a pipe that takes anything takes without a wait, and whole lines if possible.
        var part = rest.prefix(stopsWaiting == nil ? rest.count : Int(PIPE_BUF))
        if part.count < rest.count, let end = part.lastIndex(of: UInt8(ascii: "\n")) { part = part[...end] }
        let count = part.withUnsafeBytes { Foundation.write(target, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        if count < 0, errno == EAGAIN, let stopsWaiting {
          // It has some room, and not enough: not even for a line break.
          usleep(20_000)
          guard stopsWaiting() else { continue }
          abandon()
          return nil
        }
        if count < 0, errno == EAGAIN {
          var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&waiting, 1, -1)
          continue
        }
        guard count > 0 else { return errno }
        rest = rest.dropFirst(count)
      }
      return nil
    }

    /// False if nobody read for a while and `isOver` is so: what is left is lost.
    private func waitForReader(until isOver: () -> Bool) -> Bool {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      while true {
        let wasOver = isOver()
        switch poll(&waiting, 1, Int32(Self.patience.milliseconds)) {
        case 0 where wasOver:
          abandon()
          return false
        case 0: continue
        case -1 where errno == EINTR: continue
        default: return true
        }
      }
    }

    private func abandon() {
      Self.lostOutput.withLock { $0 = true }
      if isTerminal, Self.cleared.withLock({ $0.insert(descriptor).inserted }) {
        // It may have been in the middle of a line, and is not to keep what holds there alone.
        let end = Array("\u{1b}[0m\u{1b}[?7h\r\n".utf8)
        if tcflush(withoutWaiting, TCOFLUSH) == 0, Foundation.write(withoutWaiting, end, end.count) == end.count {
          return
        }
      }
      Self.abandoned.withLock { _ = $0.insert(descriptor) }
    }

    /// The same output, by a descriptor of this process's own on which a write never waits: a terminal that says that it has
    /// room lets a writer wait all the same, until it has room for all.
    private var withoutWaiting: Int32 {
      guard isTerminal else { return descriptor }
      return Self.terminals.withLock { terminals in
        if let known = terminals[descriptor] { return known }
        let own = ttyname(descriptor).map { open($0, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) } ?? -1
        terminals[descriptor] = own < 0 ? descriptor : own
        return terminals[descriptor]!
      }
    }

    private static let terminals = Lock<[Int32: Int32]>([:])

    /// Who works on all the same need not say it twice.
    private func lose(_ reason: Int32) {
      let isFirst = Self.lostOutput.withLock { wasLost in
        defer { wasLost = true }
        return !wasLost
      }
      if isFirst { Talk.error(SystemError("standard output can't be written", reason).description) }
    }

    package func line(_ text: String) {
      let data = Data((text + "\n").utf8)
      if let queue = Self.queues.withLock({ $0[descriptor] }) { queue.add(data) } else { write(data) }
    }

    private static let queues = Lock<[Int32: LineQueue]>([:])

    /// From now on, who says a line does not wait until somebody reads it. What is too much to be kept is dropped, unless all
    /// is.
    package static func stopWaitingForReaders(keepingAll: Bool = false) {
      if keepingAll { keepsAll.withLock { $0 = true } }
      queues.withLock { queues in
        for screen in [out, error] where queues[screen.descriptor] == nil {
          queues[screen.descriptor] = LineQueue(capacity: keepingAll ? .max : LineQueue.capacity) {
            screen.write($0)
          } tellOfMissing: {
            Talk.error("\($0) lines are missing here: nobody read what came before them")
          }
        }
      }
    }

    /// Before the end: waits until all lines are out, or until nobody reads them and `mustWait` does not hold any more.
    package static func finish(while mustWait: () -> Bool = { false }) {
      LiveLine.finish()
      for screen in [out, error] {
        guard let queue = queues.withLock({ $0[screen.descriptor] }) else { continue }
        let lost = queue.finish(while: mustWait)
        guard lost > 0, screen.descriptor == STDOUT_FILENO, keepsAll.withLock({ $0 }) else { continue }
        if !lostOutput.withLock({ wasLost in (wasLost, wasLost = true).0 }) {
          Talk.error("nobody read standard output: \(lost) lines are lost")
        }
      }
    }

    /// Lines are kept until they are read, so that none is lost without a word.
    private static let keepsAll = Lock(false)

    package func coloured(_ text: String, _ colour: Colour) -> String {
      hasColours && !Talk.isJSON.withLock { $0 } ? "\u{1b}[\(colour.rawValue)m\(text)\u{1b}[0m" : text
    }
  }

  package struct TerminalSize: Hashable, Sendable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
      self.columns = columns
      self.rows = rows
    }
  }

  package enum Colour: String {
    case red = "31"
    case green = "32"
    case yellow = "33"
    case blue = "34"
    case dim = "2"
    case bold = "1"
  }
#endif
