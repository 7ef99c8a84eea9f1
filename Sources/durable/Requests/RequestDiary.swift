#if Shell
  import DurableJobs
  import DurableJobsHTTP

  /// Makes of the news of requests the lines that a worker says of them. While one waits for the same thing again and again,
  /// nothing is said of it.
  struct RequestDiary {
    /// What was said last that a request waits for.
    private var waits = RecentJobs<String>()

    /// The line for this event, if it is worth one.
    mutating func line(_ attempt: JobAttempt, _ request: SendRequest, _ event: Outbox.Event) -> WorkLine? {
      let which = attempt.number > 1 ? "attempt \(attempt.number) of \(attempt.of)" : ""
      var line = WorkLine(id: attempt.job, mark: .start, title: request.title, detail: which)
      if case .began = event { return waits[attempt.job] == nil ? line : nil }
      let waited = waits.remove(attempt.job)
      switch event {
      case .began: break
      case .waits(let reason, let time):
        waits[attempt.job] = reason
        guard reason.withoutNumbers != waited?.withoutNumbers else { return nil }
        line.mark = .waits
        line.detail = "\(time.roughly): \(reason)"
      case .held(let reason):
        line.mark = .ended
        line.detail = "suspended: \(reason)"
      case .succeeded(let answer):
        line.mark = .done
        line.detail = answer.title
      case .failed(let error, let isFinal, let retryAfter):
        line.fail(attempt, error.message, isFinal: isFinal, retryAfter)
      case .stopped:
        line.mark = .back
        line.detail = "stopped before an answer came"
      @unknown default:
        return nil
      }
      return line
    }
  }
#endif
