#if Shell
  import DurableJobs
  import Foundation

  /// A line at the bottom of the terminal that says what is waited for. It stays below all else that is written, and is kept
  /// fresh, until it is taken away.
  package enum LiveLine {
    private struct State {
      var block = LiveBlock(isReflowed: Screen.isReflowed)
      var lines: [String] = []
      var size: TerminalSize?
      /// What was written last, which may be a command's, has not ended its line.
      var isLineOpen = false
    }

    /// Held while something is written, which a reader may hold up: who only says what the line is does not wait for it.
    private static let state = Lock(State())
    private static let words = Lock<(@Sendable () -> String)?>(nil)
    private static let ticking = Lock<(timer: any DispatchSourceTimer, resumption: any DispatchSourceSignal)?>(nil)
    private static let queue = DispatchQueue(label: "durable.line")

    /// Whether there is a terminal for it. What goes elsewhere on one of both outputs might be written beside it by others.
    package static var isPossible: Bool { Screen.out.canMove && Screen.error.canMove && !Talk.isJSON.withLock { $0 } }

    /// Has the line say this, asked anew each second.
    package static func show(_ text: @escaping @Sendable () -> String) {
      words.withLock { $0 = text }
      ticking.withLock { ticking in
        guard ticking == nil else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { draw() }
        timer.schedule(deadline: .now() + 1, repeating: 1)
        timer.activate()
        let resumption = Resumption.source(on: queue) {
          state.withLock { state in
            state.block.forget()
            state.lines = []
          }
          draw()
        }
        ticking = (timer, resumption)
      }
      queue.async { draw() }
    }

    /// Takes it away.
    package static func hide() {
      let wasShown = words.withLock { words in
        defer { words = nil }
        return words != nil
      }
      if wasShown { queue.async { draw() } }
    }

    /// The same, before the process ends: waits for it, but not for a terminal that takes nothing.
    static func finish() {
      hide()
      guard ticking.withLock({ $0 != nil }) else { return }
      let isGone = DispatchSemaphore(value: 0)
      queue.async { isGone.signal() }
      _ = isGone.wait(timeout: .now() + 1)
    }

    private static func draw() {
      state.withLock { state in
        guard let size = Screen.error.size else { return }
        let lines = words.value.map { [$0().withVisibleControls.cut(to: size.columns - 1)] } ?? []
        guard lines != state.lines || size != state.size else { return }
        let end = state.isLineOpen && !lines.isEmpty ? "\n" : ""
        let text = end + Screen.error.text(of: &state.block, lines, size: size)
        // Nothing tells that a shell has it in front again.
        (state.lines, state.size, state.isLineOpen) = (Screen.error.isInFront ? lines : [], size, false)
        if text != end { _ = Screen.error.put(Data(text.utf8)) }
      }
    }

    /// Has `put` write that on a terminal, above the line.
    static func write<R>(_ data: Data, above put: (Data) -> R) -> R {
      state.withLock { state in
        let isOpen = data.last.map { $0 != UInt8(ascii: "\n") } ?? state.isLineOpen
        defer { state.isLineOpen = isOpen }
        guard !state.lines.isEmpty, let size = Screen.error.size else { return put(data) }
        var text = Data(Screen.error.text(of: &state.block, [], size: size).utf8) + data
        // What comes next may go on in its line.
        state.lines = isOpen ? [] : state.lines
        text += Screen.error.text(of: &state.block, state.lines, size: size).utf8
        return put(text)
      }
    }
  }
#endif
