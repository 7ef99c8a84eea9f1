#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  /// A worker's own screen: a line for each start and each end. That a job is done, or has failed, is said once it is stored.
  struct WorkLog: Sendable {
    let json: Bool
    /// Ends that the store has not taken yet.
    private let unstored = Lock<[JobID: End]>([:])
    /// How jobs are that this worker lost while they ran: their ends are still to come, and no store takes them.
    private let lost = Lock<[JobID: String]>([:])
    private let begun = Lock(false)
    private let failed = Lock(false)
    /// Those that this process's store has seen fail, and the queues that they are of; nil if nobody asks for that.
    private let failures: Lock<[JobID: String]?>
    private let diary = Lock(DownloadDiary())
    private let requests = Lock(RequestDiary())
    /// Those of which a line has said when they go on.
    private let announced = Lock(RecentJobs<Void>())
    /// Those that failed without an attempt of which there is a line, as one whose deadline has passed.
    private let others = AsyncStream.makeStream(of: JobID.self)

    private struct End {
      var line: WorkLine
      var event: JobEvent
    }

    /// With `countsFailures` it takes more room the more jobs fail.
    init(json: Bool, countsFailures: Bool) {
      self.json = json
      failures = Lock(countsFailures ? [:] : nil)
    }

    /// Whether a job was begun here.
    var hasBegun: Bool { begun.withLock(\.self) }

    /// Whether a job has failed since this began to hear signals.
    var hasFailures: Bool { failed.withLock(\.self) }

    /// Whether a line has said when it goes on.
    func hasAnnounced(_ id: JobID) -> Bool { announced.withLock { $0[id] != nil } }

    /// How many of these queues are failed that this process's store has seen fail.
    func failures(in queues: Set<String>) -> Int { failures.withLock { $0?.values.count { queues.contains($0) } ?? 0 } }

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
      for change in changes where change.state != .running {
        let hasFailed = change.state == .failed && !change.isRemoved
        if hasFailed { failed.withLock { $0 = true } }
        failures.withLock { $0?[change.id] = hasFailed ? change.queue : nil }
        if let end = takeUnstored(change.id) {
          change.state == end.line.storedState ? tell(end) : tell(end, inVainOf: change.state.rawValue)
        } else if hasFailed {
          others.continuation.yield(change.id)
        }
      }
    }

    /// To be told that the store did not take a result, or will take none, as the job is another's, and how it is now.
    func hearOfRefusal(_ id: JobID, _ state: String) {
      if let end = takeUnstored(id) { tell(end, inVainOf: state) } else { lost.withLock { $0[id] = state } }
    }

    /// The store is not waited for any longer: tells of the ends that it has not taken, or had no time to say that it
    /// has.
    func giveUp() {
      let ends = unstored.withLock { unstored in
        defer { unstored = [:] }
        return unstored
      }
      for end in ends.sorted(by: { $0.key < $1.key }).map(\.value) {
        tell(end, inVain: "the store did not say that it has its result; without it, the job runs again")
      }
    }

    private func takeUnstored(_ id: JobID) -> End? { unstored.withLock { $0.removeValue(forKey: id) } }

    private func tell(_ end: End) {
      if json { Screen.out.json(end.event) } else { Screen.out.line(end.line.text(for: .out)) }
    }

    private func tell(_ end: End, inVainOf state: String) {
      tell(end, inVain: "its result was not taken: the job is \(state)")
    }

    private func tell(_ end: End, inVain words: String) {
      var end = end
      (end.line.mark, end.line.detail) = (.back, words)
      end.event.comeBack(end.line.detail)
      tell(end)
    }

    private func tell(_ line: WorkLine, _ event: JobEvent) {
      let end = End(line: line, event: event)
      begun.withLock { $0 = true }
      if line.mark == .start { LiveLine.hide() }
      // Nobody has said what became of an earlier attempt here.
      if let old = takeUnstored(line.id) { tell(old, inVainOf: JobState.running.rawValue) }
      let loss = lost.withLock { $0.removeValue(forKey: line.id) }
      if let loss, line.storedState != nil { return tell(end, inVainOf: loss) }
      if line.storedState == nil { tell(end) } else { unstored.withLock { $0[line.id] = end } }
    }

    func tell(_ context: JobContext, _ event: ShellCommand.Event) {
      let line = line(context, event)
      tell(line, JobEvent(context, event, line.mark))
    }

    func tell(_ context: JobContext, _ download: Download, _ event: Downloader.Event) {
      let attempt = JobAttempt(context)
      guard
        let line = diary.withLock({ $0.line(attempt, download, event, now: SystemClock().uptime) })
      else { return }
      announce(line)
      tell(line, JobEvent(attempt, download, line.mark, event))
    }

    func tell(_ context: JobContext, _ request: SendRequest, _ event: Outbox.Event) {
      let attempt = JobAttempt(context)
      guard let line = requests.withLock({ $0.line(attempt, request, event) }) else { return }
      announce(line)
      tell(line, JobEvent(attempt, request, line.mark, event))
    }

    private func announce(_ line: WorkLine) {
      announced.withLock { $0[line.id] = [.waits, .again].contains(line.mark) ? () : nil }
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

  extension WorkLine {
    /// What the store makes of the job before this is said; nil if it need not be asked.
    fileprivate var storedState: JobState? {
      switch mark {
      case .done: .succeeded
      case .failed: .failed
      default: nil
      }
    }
  }
#endif
