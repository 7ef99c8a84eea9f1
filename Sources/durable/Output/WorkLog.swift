#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  /// A worker's own screen: a line for each start and each end. That a job is done, or has failed, is said once it is stored.
  struct WorkLog: Sendable {
    let json: Bool
    private let unstored = Lock<[JobID: @Sendable () -> Void]>([:])
    private let diary = Lock(DownloadDiary())
    private let requests = Lock(RequestDiary())
    /// Those that failed without an attempt of which there is a line, as one whose deadline has passed.
    private let others = AsyncStream.makeStream(of: JobID.self)

    init(json: Bool) { self.json = json }

    /// Tells of jobs that failed without an attempt here, until ``finish()`` or the task is cancelled.
    func tellOthers(in store: OpenStore) async {
      for await id in others.stream {
        guard let job = try? await store.store.jobs(JobQuery(.id(id), detail: .all, limit: 1)).first,
          job.state == .failed
        else { continue }
        if json {
          Screen.out.json(JobEvent(givenUp: job))
        } else {
          Screen.out.line(
            WorkLine(id: id, mark: .failed, title: job.title, detail: job.failures.last?.message ?? "").text(for: .out))
        }
      }
    }

    /// No more signals come.
    func finish() { others.continuation.finish() }

    /// To be told of each signal of the store.
    func hear(_ signal: StoreSignal) {
      guard case .committed(let changes) = signal else { return }
      let lines = unstored.withLock { unstored in
        changes.filter { $0.state != .running }.compactMap { change in
          let line = unstored.removeValue(forKey: change.id)
          if line == nil, change.state == .failed, !change.isRemoved { others.continuation.yield(change.id) }
          return line
        }
      }
      for line in lines { line() }
    }

    private func tell(_ line: WorkLine, _ event: JobEvent) {
      let tell = { @Sendable in
        if json { Screen.out.json(event) } else { Screen.out.line(line.text(for: .out)) }
      }
      guard line.mark == .done || line.mark == .failed else { return tell() }
      unstored.withLock { $0[line.id] = tell }
    }

    func tell(_ context: JobContext, _ event: ShellCommand.Event) {
      tell(line(context, event), JobEvent(context, event))
    }

    func tell(_ context: JobContext, _ download: Download, _ event: Downloader.Event) {
      let attempt = JobAttempt(context)
      guard
        let line = diary.withLock({ $0.line(attempt, download, event, now: SystemClock().uptime) })
      else { return }
      tell(line, JobEvent(attempt, download, line.mark, event))
    }

    func tell(_ context: JobContext, _ request: SendRequest, _ event: Outbox.Event) {
      let attempt = JobAttempt(context)
      guard let line = requests.withLock({ $0.line(attempt, request, event) }) else { return }
      tell(line, JobEvent(attempt, request, line.mark, event))
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
      case .suspended(let command, let reason):
        return WorkLine(
          id: context.id, mark: .ended, title: command.withoutSecrets.typed, detail: "suspended: \(reason)")
      }
    }
  }
#endif
