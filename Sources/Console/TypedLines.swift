#if Shell
  import Foundation

  /// Lines that somebody types beside a ``LiveBlock``, of which the terminal shows each: the cursor is a row further down
  /// then.
  package struct TypedLines {
    /// Who reads in the background is refused from now on; else the process would be stopped.
    package init() { signal(SIGTTIN, SIG_IGN) }

    /// Those that came since this was asked last: none where standard input is no terminal, or is another program's now.
    package func take() -> [String] {
      var text: [UInt8] = []
      var bytes = [UInt8](repeating: 0, count: 4096)
      var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      while isatty(STDIN_FILENO) == 1, Screen.out.isInFront, poll(&waiting, 1, 0) == 1 {
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        guard count > 0 else { break }
        text += bytes.prefix(count)
      }
      let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      return lines.dropLast().map { String(decoding: $0, as: UTF8.self) }
    }
  }
#endif
