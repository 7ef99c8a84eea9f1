#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  /// A worker's own screen: a line for each start and each end.
  struct WorkLog: Sendable {
    let json: Bool
    private let diary = Lock(DownloadDiary())

    init(json: Bool) { self.json = json }

    func tell(_ context: JobContext, _ event: ShellCommand.Event) {
      if json {
        Screen.out.line(record(context, event).text)
      } else {
        Screen.out.line(line(context, event).text(for: .out))
      }
    }

    func tell(_ context: JobContext, _ download: Download, _ event: Downloader.Event) {
      let attempt = DownloadDiary.Attempt(context)
      guard
        let line = diary.withLock({ $0.line(attempt, download, event, now: SystemClock().uptime) })
      else { return }
      Screen.out.line(
        json ? JSONText(attempt, download, line, event).text : line.text(for: .out))
    }

    private func line(_ context: JobContext, _ event: ShellCommand.Event) -> WorkLine {
      switch event {
      case .started(let command):
        return WorkLine(
          id: context.id, mark: .start, title: command.typed,
          detail: context.attempt > 1 ? "attempt \(context.attempt) of \(context.maxAttempts)" : "")
      case .ended(let command, let result, let took):
        var which = ""
        let mark: WorkLine.Mark
        switch result.outcome {
        case "succeeded": mark = .done
        case "failed" where result.mayBeRetried && context.attempt < context.maxAttempts:
          mark = .again
          which = "attempt \(context.attempt) of \(context.maxAttempts) "
        case "failed": mark = .failed
        case "cancelled", "suspended": mark = .ended
        default: mark = .back
        }
        return WorkLine(
          id: context.id, mark: mark, title: command.typed,
          detail: result.succeeded ? took.forPeople : "\(which)\(result), \(took.forPeople)")
      case .couldNotStart(let command, let reason):
        return WorkLine(id: context.id, mark: .back, title: command.typed, detail: "could not be started: \(reason)")
      }
    }

    private func record(_ context: JobContext, _ event: ShellCommand.Event) -> JSONText {
      var fields: [(String, JSONText)] = [
        ("event", "started"), ("id", .int(context.id.rawValue)), ("queue", .string(context.queue)),
        ("attempt", .int(Int64(context.attempt))), ("maxAttempts", .int(Int64(context.maxAttempts))),
      ]
      switch event {
      case .started(let command):
        fields.append(("command", .string(command.typed)))
      case .ended(let command, let result, let took):
        fields[0].1 = "ended"
        fields.append(("command", .string(command.typed)))
        fields.append(("result", .string(result.outcome)))
        fields.append(("message", result.succeeded ? .null : .string("\(result)")))
        fields.append(("seconds", .double((took.seconds * 1000).rounded() / 1000)))
      case .couldNotStart(let command, let reason):
        fields[0].1 = "ended"
        fields.append(("command", .string(command.typed)))
        fields.append(("result", "returned"))
        fields.append(("message", .string(reason)))
      }
      return .object(fields)
    }
  }
#endif
