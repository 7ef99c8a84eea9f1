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
    private let requests = Lock(RequestDiary())

    init(json: Bool) { self.json = json }

    func tell(_ context: JobContext, _ event: ShellCommand.Event) {
      if json {
        Screen.out.json(JobEvent(context, event))
      } else {
        Screen.out.line(line(context, event).text(for: .out))
      }
    }

    func tell(_ context: JobContext, _ download: Download, _ event: Downloader.Event) {
      let attempt = JobAttempt(context)
      guard
        let line = diary.withLock({ $0.line(attempt, download, event, now: SystemClock().uptime) })
      else { return }
      if json {
        Screen.out.json(JobEvent(attempt, download, line.mark, event))
      } else {
        Screen.out.line(line.text(for: .out))
      }
    }

    func tell(_ context: JobContext, _ request: SendRequest, _ event: Outbox.Event) {
      let attempt = JobAttempt(context)
      guard let line = requests.withLock({ $0.line(attempt, request, event) }) else { return }
      if json {
        Screen.out.json(JobEvent(attempt, request, line.mark, event))
      } else {
        Screen.out.line(line.text(for: .out))
      }
    }

    private func line(_ context: JobContext, _ event: ShellCommand.Event) -> WorkLine {
      switch event {
      case .started(let command):
        return WorkLine(
          id: context.id, mark: .start, title: command.withoutSecrets.typed,
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
          id: context.id, mark: mark, title: command.withoutSecrets.typed,
          detail: result.succeeded ? took.forPeople : "\(which)\(result), \(took.forPeople)")
      case .couldNotStart(let command, let reason):
        return WorkLine(
          id: context.id, mark: .back, title: command.withoutSecrets.typed, detail: "could not be started: \(reason)")
      }
    }
  }
#endif
