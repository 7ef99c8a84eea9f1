#if Shell
  import Console
  import DurableJobs
  import Foundation

  /// The terminal while the download screen has it: the alternate screen, without a cursor, each key at once.
  final class DemoTerminal: Sendable {
    private let screen = Screen.out
    /// As it was before; nil once it is so again.
    private let before: Lock<termios?>

    init() {
      var settings = termios()
      let isKnown = tcgetattr(STDIN_FILENO, &settings) == 0
      before = Lock(isKnown ? settings : nil)
      // Ctrl-C stays a signal. Ctrl-Z and Ctrl-\ would leave the shell with this screen: they are keys.
      settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
      withUnsafeMutableBytes(of: &settings.c_cc) { keys in
        keys[Int(VMIN)] = 1
        keys[Int(VTIME)] = 0
        keys[Int(VSUSP)] = Self.disabled
        keys[Int(VQUIT)] = Self.disabled
      }
      if isKnown { tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
      screen.write(Data("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l".utf8))
    }

    #if os(Linux)
      private static let disabled = UInt8(0)
    #else
      private static let disabled = UInt8(0xff)
    #endif

    /// Gives the terminal back as it was. A second time does nothing.
    func restore() {
      before.withLock { before in
        guard var settings = before else { return }
        before = nil
        screen.write(Data("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l".utf8))
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
      }
    }

    var size: (columns: Int, rows: Int) {
      var size = winsize()
      guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
        return (80, 24)
      }
      return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Replaces what is shown.
    func draw(_ lines: [ScreenLine]) {
      let drawn = lines.map { line in
        "\u{1b}[K"
          + line.pieces.map { piece in piece.look.map { screen.coloured(piece.text, $0) } ?? piece.text }.joined()
      }
      let isFull = lines.count >= size.rows
      screen.write(Data(("\u{1b}[H" + drawn.joined(separator: "\r\n") + (isFull ? "" : "\r\n\u{1b}[J")).utf8))
    }
  }
#endif
