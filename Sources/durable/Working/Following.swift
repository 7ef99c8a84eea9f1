#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  /// Works one job here and now, showing its log, unless another worker is faster.
  struct Following: Sendable {
    let store: OpenStore
    let queue: String
    let id: JobID
    let json: Bool
    let runs: Runs
    /// Whether it has run here: what became of that is not known where the store does not take it.
    private let hasBegun = Lock(false)
    /// Whether what it writes could not be shown any more, as the store can't be used.
    private let hasFailed = Lock(false)
    /// Whether a line has said when it goes on.
    private let isAnnounced = Lock(false)

    enum Runs { case commands, requests }

    /// How an attempt of a command has ended here.
    private typealias Code = (attempt: Int, code: Int32?)

    init(store: OpenStore, queue: String, id: JobID, json: Bool, runs: Runs) {
      (self.store, self.queue, self.id, self.json, self.runs) = (store, queue, id, json, runs)
    }

    /// How often the job is looked at while it can't run yet.
    private static let interval = Duration.milliseconds(100)

    /// Throws the exit code if the job did not succeed.
    func run() async throws {
      try await OwnJobs(in: store)?.check(isNotNeededBy: [id])
      let code = Lock<Code?>(nil)
      let runPlace = Lock(RunPlace())
      let worker = JobWorker(
        store.queue(queue), maxConcurrentJobs: 1, logger: WorkerLog.logger { Talk.error($0) })
      let handler = runs == .commands ? registerCommands(with: worker, runPlace, code) : nil
      if runs == .requests { try registerRequests(with: worker) }
      store.provideSystemConstraints(to: worker)
      let interruption = await Interruption(worker, handler)
      // As a command is ended that writes to a pipe which nobody reads.
      Screen.onClosed.withLock { $0 = { interruption.stop(grace: .zero) } }
      Screen.stopsWaiting.withLock { $0 = { interruption.wasAsked } }
      let isOver: Void? = try await interruption.outlasting(store) {
        try await follow(worker, interruption, runPlace, code)
      }
      if isOver == nil {
        Talk.line(
          "Job \(id) may run again: '\(store.command("work", queue: queue))' goes on with it, "
            + "'\(store.command("log \(id)"))' shows what it wrote, '\(store.command("cancel \(id)"))' ends it")
        if hasFailed.value { throw ExitCode(.storeNotUsable) }
        throw ExitCode(.interrupted)
      }
    }

    private func follow(
      _ worker: JobWorker, _ interruption: Interruption, _ runPlace: Lock<RunPlace>, _ code: Lock<Code?>
    ) async throws {
      let follower = LogFollower(
        store: store, id: id, attempt: nil, json: json, place: { runPlace.withLock { $0 } },
        isUnwanted: { interruption.wasAsked })
      let stdout = try await withThrowingTaskGroup(of: ShownOutput.self) { group in
        group.addTask {
          do { return try await follower.run() } catch {
            // The command would wait for ever until somebody shows what it writes.
            hasFailed.withLock { $0 = true }
            interruption.stop(grace: .zero)
            throw error
          }
        }
        try await work(worker, interruption)
        // Nothing runs here any more, whatever was told of that.
        leave(runPlace)
        let isSuspended = try await look().state == .suspended
        if interruption.wasAsked || isSuspended { group.cancelAll() }
        return try await group.next() ?? ShownOutput()
      }
      let job = try await look()
      let (log, cancel) = (store.command("log \(id)"), store.command("cancel \(id)"))
      if stdout.isBrokenOff, job.state.isFinished {
        Talk.line("Job \(id) has ended (\(job.state.rawValue)); '\(log)' shows the rest of what it wrote")
        throw ExitCode(.interrupted)
      }
      if json { Screen.out.json(JobRecord(job, inStream: true)) }
      switch job.state {
      case .succeeded:
        if !json, let answer = HTTPAnswer(job) { show(answer) }
        guard stdout.bytesLeftOut == 0 else {
          Talk.error(
            "job \(id) succeeded, but \(stdout.bytesLeftOut) bytes of what it wrote were not kept, and are missing here"
          )
          throw ExitCode(.jobFailed)
        }
        guard runs == .requests || lastCode(job, code) == 0 else {
          Talk.error(
            "job \(id) succeeded, but not by a run of its command here: its output is elsewhere, or was cut off")
          throw ExitCode(.jobFailed)
        }
        // Who reads it on a screen has seen where a run began.
        guard stdout.bytesOfEarlierRuns == 0 || json || Screen.out.isTerminal else {
          Talk.error(
            "job \(id) succeeded, but not in its first run: the first \(stdout.bytesOfEarlierRuns) bytes here are of "
              + "earlier ones")
          throw ExitCode(.jobFailed)
        }
      case .failed, .cancelled, .skipped:
        if !json { Talk.error("job \(id) \(job.state.rawValue)\(job.why)") }
        guard job.state == .failed else { throw ExitCode(.jobFailed) }
        let last = lastCode(job, code) ?? 0
        throw last == 0 ? ExitCode(.jobFailed) : ExitCode(last)
      case .suspended:
        Talk.error("job \(id) is suspended\(job.why)")
        throw ExitCode(.jobFailed)
      case .running:
        Talk.line(
          "Job \(id) goes on in another process: '\(store.command("log -f \(id)"))' shows it, '\(cancel)' ends it")
        throw ExitCode(.interrupted)
      case .ready, .scheduled, .blocked:
        let work = store.command("work", queue: queue)
        Talk.line("Job \(id) stays in the store: '\(work)' goes on with it, '\(cancel)' ends it")
        throw ExitCode(.interrupted)
      }
    }

    /// With which code the command's last run has ended, if it ran on this machine and ended by itself. Where another worker
    /// had it, its record tells.
    private func lastCode(_ job: JobSnapshot, _ code: Lock<Code?>) -> Int32? {
      let own = code.withLock { $0?.attempt == job.attempt ? $0?.code : nil }
      return own ?? store.folder(id).runs(of: job).last?.exitCode
    }

    /// What ran here has ended. One that did not begin is forgotten, and another worker may have begun one.
    private func leave(_ place: Lock<RunPlace>) {
      let last = lastRun
      place.withLock { $0 = RunPlace(last: min($0.last, last)) }
    }

    private var lastRun: Int { store.folder(id).runs(of: nil).last?.number ?? 0 }

    private func look() async throws -> JobSnapshot { try await store.patiently { try await store.store.job(id) } }

    private func show(_ answer: HTTPAnswer) {
      let text = String(decoding: answer.body, as: UTF8.self)
      Screen.out.write(Screen.out.isTerminal ? Data(text.forTerminal.utf8) : answer.body)
      if answer.isCut { Talk.line("The rest of the answer is not kept") }
    }

    private func registerCommands(
      with worker: JobWorker, _ place: Lock<RunPlace>, _ code: Lock<Code?>
    ) -> CommandHandler {
      let handler = CommandHandler(followed: id) { [self] context, event in
        switch event {
        case .started where context.id == id:
          hasBegun.withLock { $0 = true }
          place.withLock { $0 = RunPlace(isHere: true, last: lastRun) }
        case .ended(_, let result, _) where context.id == id:
          leave(place)
          code.withLock { $0 = (context.attempt, result.exitCode) }
        case .suspended: leave(place)
        case .couldNotStart(_, let reason):
          leave(place)
          Talk.error("job \(context.id) could not be started, and comes back: \(reason)")
        default: break
        }
      }
      handler.register(with: worker)
      return handler
    }

    private func registerRequests(with worker: JobWorker) throws {
      let diary = Lock(RequestDiary())
      Outbox(of: store.store, netrc: try DownloadWords.netrc()) { [hasBegun, isAnnounced] context, request, event in
        hasBegun.withLock { $0 = true }
        guard let line = diary.withLock({ $0.line(JobAttempt(context), request, event) }) else { return }
        guard [.waits, .again].contains(line.mark) else { return }
        isAnnounced.withLock { $0 = true }
        Talk.line(line.text(for: .error))
      }.register(with: worker)
    }

    private func work(_ worker: JobWorker, _ interruption: Interruption) async throws {
      var report = ObstacleReport(store, here: true) { [isAnnounced] _ in isAnnounced.withLock { $0 } }
      defer { LiveLine.hide() }
      while !interruption.wasAsked {
        guard let job = try await store.patientLook(at: id) else { return }
        if job.state.isFinished || job.state == .suspended { return }
        try await report.look(at: job)
        let now = store.store.clock.now
        let isDue = job.state == .ready || (job.state == .scheduled && job.runAt ?? .distantPast <= now)
        // Who runs the next job first takes back what a dead worker has left.
        if isDue && !report.isPaused || report.isLost {
          LiveLine.hide()
          do {
            if try await worker.runNext(only: id) {
              // Its end is stored: the next attempt has not begun.
              hasBegun.withLock { $0 = false }
              continue
            }
            report.found(nothingFor: job)
          } catch let error as JobError where error.isPassing && !hasBegun.withLock(\.self) {}
        }
        try await Task.sleep(for: Self.interval)
      }
    }
  }

  extension JobSnapshot {
    /// As in ": its command ended with 1"; empty where nobody said why.
    fileprivate var why: String {
      let words = detail()
      return words.isEmpty ? "" : ": \(words)"
    }
  }
#endif
