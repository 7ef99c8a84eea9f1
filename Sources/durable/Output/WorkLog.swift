#if Shell
  import DurableJobs
  import DurableJobsHTTP
  import Foundation

  /// A worker's own screen: a line for each start and each end.
  struct WorkLog: Sendable {
    let json: Bool
    private let diary = Lock(DownloadDiary())

    init(json: Bool) { self.json = json }

    func tell(_ context: JobContext, _ event: CommandHandler.Event) {
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

    private func line(_ context: JobContext, _ event: CommandHandler.Event) -> WorkLine {
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
      }
    }

    private func record(_ context: JobContext, _ event: CommandHandler.Event) -> JSONText {
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
      }
      return .object(fields)
    }
  }

  extension CommandResult {
    /// In a word, for programs too: "succeeded", "failed", "cancelled", "suspended", or "returned" if it goes back
    /// without having counted.
    var outcome: String {
      switch self {
      case .exited(0, _): "succeeded"
      case .exited, .killed, .impossible, .stopped(.timedOut): "failed"
      case .stopped(let reason) where reason == .cancelled || reason == .suspended: reason.rawValue
      case .refused, .supervisorDied, .stopped: "returned"
      }
    }

    /// A failure after which another attempt may go better.
    var mayBeRetried: Bool {
      if case .impossible = self { false } else { true }
    }
  }

  extension Duration {
    /// As in "0.3 s", "12 s", "3 min 5 s", "2 h 10 min".
    var forPeople: String {
      let seconds = self.seconds
      let whole = Int(seconds.rounded())
      return switch seconds {
      case ..<9.95: "\(Int((seconds * 10).rounded()) / 10).\(Int((seconds * 10).rounded()) % 10) s"
      case ..<119.5: "\(whole) s"
      case ..<7200: "\(whole / 60) min \(whole % 60) s"
      case ..<172_800: "\(whole / 3600) h \(whole % 3600 / 60) min"
      default: "\(whole / 86400) d \(whole % 86400 / 3600) h"
      }
    }
  }
#endif
