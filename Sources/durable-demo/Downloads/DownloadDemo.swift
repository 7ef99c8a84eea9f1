#if Shell
  import Console
  import DurableJobs
  import Foundation

  /// The download demo: carries out what the screen decides, or runs once where there is no terminal.
  struct DownloadDemo: Sendable {
    let controls: DownloadControls
    /// How long a step of the server takes.
    let step: Duration

    /// Runs once, in plain lines.
    func runPlainly() async throws -> ExitStatus {
      let inputs = await DemoInputs(keyboard: false)
      var report = PlainReport()
      return await withDiscardingTaskGroup { group in
        start(controls, inputs, in: &group)
        defer { group.cancelAll() }
        for await input in inputs.stream {
          switch input {
          case .event(let event):
            for line in report.lines(event) { Screen.out.line(line) }
            if case .ended(let outcome) = event { return outcome.isRight ? .done : .jobFailed }
          case .broke(let reason):
            Talk.error(reason)
            return .jobFailed
          case .quit(let status): return status
          case .key, .resized: break
          }
        }
        return .interrupted
      }
    }

    /// Shows the screen until somebody quits it.
    func runOnTerminal(startsAtOnce: Bool) async throws -> ExitStatus {
      let inputs = await DemoInputs(keyboard: true)
      let terminal = DemoTerminal()
      defer { terminal.restore() }
      var screen = DemoScreen(controls)
      let status = await withDiscardingTaskGroup { group in
        defer { group.cancelAll() }
        if startsAtOnce, case .start(let controls) = screen.press(.start) { start(controls, inputs, in: &group) }
        func draw() {
          let size = terminal.size
          terminal.draw(screen.lines(columns: size.columns, rows: size.rows))
        }
        draw()
        for await input in inputs.stream {
          switch input {
          case .key(let key):
            switch screen.press(key) {
            case .start(let controls): start(controls, inputs, in: &group)
            case .quit: return screen.status
            case nil: break
            }
          case .event(let event): screen.take(event)
          case .broke(let reason): screen.breakOff(reason)
          case .quit(let status): return status
          case .resized: break
          }
          draw()
        }
        return .interrupted
      }
      terminal.restore()
      // What it came to stays on the terminal.
      if case .ended(let outcome) = screen.phase { for line in outcome.report { Screen.out.line(line) } }
      return status
    }

    private func start(_ controls: DownloadControls, _ inputs: DemoInputs, in group: inout DiscardingTaskGroup) {
      group.addTask {
        do {
          _ = try await DownloadRun(controls: controls, step: step) { inputs.send(.event($0)) }()
        } catch {
          inputs.send(.broke(error.briefly))
        }
      }
    }
  }

  extension DemoScreen {
    /// What the program ends with if it is quit now.
    fileprivate var status: ExitStatus {
      switch phase {
      case .idle: .done
      case .running: .interrupted
      case .ended(let outcome): outcome.isRight ? .done : .jobFailed
      case .broken: .jobFailed
      }
    }
  }
#endif
