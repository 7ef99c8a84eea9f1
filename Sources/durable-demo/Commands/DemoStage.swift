#if Shell
  import Console
  import DurableJobs
  import Foundation

  /// What the demo shows while it goes on: on a terminal a bar that moves and a line for what matters; else plain lines.
  final class DemoStage: Sendable {
    private let screen = Screen.out
    private let total: Int
    private let state = Lock((done: 0, running: [String](), hasBar: false))

    init(total: Int) { self.total = total }

    /// A line that stays.
    func tell(_ text: String, _ colour: Colour? = nil) {
      state.withLock { state in
        if state.hasBar { screen.write(Data("\r\u{1b}[K".utf8)) }
        state.hasBar = false
        screen.line(colour.map { screen.coloured(text, $0) } ?? text)
      }
    }

    /// A command started or ended. On a terminal it moves the bar, else it is a line.
    func show(_ text: String, done: Int, running: [String]) {
      guard screen.isTerminal else {
        screen.line("  " + text)
        return
      }
      state.withLock { state in
        state = (done, running, true)
        let bar = ProgressBar(fraction: total == 0 ? 1 : Double(done) / Double(total), width: 24).text
        let head = "  \(bar) \("\(done)/\(total)".padded(6)) "
        let room = (screen.width ?? 80) - head.columns - 1
        screen.write(Data(("\r\u{1b}[K" + head + running.joined(separator: ", ").cut(to: room)).utf8))
      }
    }
  }
#endif
