#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation
  import Logging

  /// Fetches downloads in the foreground until each has ended, whoever runs it: this process, or another beside it.
  final class Getting: Sendable {
    private struct State {
      /// Those that were asked for and have not ended.
      var unfinished: Set<JobID>
      /// Those of which this process's store has said that they ended.
      var news: [JobID] = []
      var failures: [(id: JobID, name: String, message: String)] = []
      var automatic = AutomaticConcurrency()
    }

    /// How often it is asked what other processes do.
    private static let interval = Duration.seconds(1)
    /// Unfinished downloads that are looked at each time, the oldest: those are the ones that move.
    private static let page = 500

    private let store: OpenStore
    private let downloads: [(Download, JobHandle<DownloadedFile>)]
    private let limits: Downloader.Limits
    private let concurrency: Int?
    private let json: Bool
    private let goOn: String?
    private let stage: GetStage
    private let state: Lock<State>
    private let gate = Gate()
    private let clock = SystemClock()

    /// `goOn` is the command line that goes on after an interruption, if there is one. Without `concurrency` it is that of
    /// ``AutomaticConcurrency``.
    init(
      store: OpenStore, downloads: [(Download, JobHandle<DownloadedFile>)], limits: Downloader.Limits,
      concurrency: Int?, json: Bool, goOn: String?
    ) {
      self.store = store
      self.downloads = downloads
      self.limits = limits
      self.concurrency = concurrency
      self.json = json
      self.goOn = goOn
      stage = GetStage(json: json)
      state = Lock(State(unfinished: Set(downloads.map(\.1.id))))
    }

    /// Throws the exit code if not all succeeded.
    func run() async throws {
      for (download, handle) in downloads {
        stage.add(handle.id, name: download.expectedName, size: download.size)
      }
      let queues = try await join()
      let downloader = Downloader(
        store: store.store, limits: limits, permissions: Program.permissionsOfFiles
      ) { [stage, state, clock] in
        if case .succeeded(let file) = $2 { state.withLock { $0.automatic.succeeded(file, at: clock.uptime) } }
        stage.hear($0, $1, $2)
      }
      let worker = JobWorker(
        Dictionary(
          uniqueKeysWithValues: queues.map {
            (store.queue($0), min(concurrency ?? AutomaticConcurrency.many, downloads.count))
          }),
        logger: Logger(label: "durable") { [stage] _ in StageLog(stage: stage) })
      downloader.register(with: worker)
      try worker.setMaxConcurrentJobs(slots)
      let interruption = await Interruption(worker, grace: .zero) { [stage, gate] in
        stage.isStopping()
        gate.open()
      }
      Screen.onClosed.withLock { $0 = { interruption.stop() } }
      let subscription = store.store.signals.listen { [weak self] in self?.hear($0) }
      defer { withExtendedLifetime(subscription) {} }
      do {
        try await work(worker, interruption)
      } catch {
        stage.close()
        throw error
      }
      stage.close()
      try await report(interruption)
    }

    private func work(_ worker: JobWorker, _ interruption: Interruption) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await worker.run() }
        group.addTask { [self] in try await watch(worker, interruption) }
        group.addTask { [stage] in try await stage.drawUntilCancelled() }
        _ = try await group.next()
        group.cancelAll()
        // What runs besides can go on later from where it is.
        await worker.stop(grace: .zero)
        while let result = await group.nextResult() {
          if case .failure(let error) = result, !(error is CancellationError) { throw error }
        }
      }
    }

    /// Sees to those that were stored before: what waits or was suspended goes on now, since somebody asks for it.
    /// Returns the queues that all are in.
    private func join() async throws -> Set<String> {
      var queues: Set<String> = []
      for (_, handle) in downloads {
        if handle.isNew, !queues.isEmpty { continue }
        guard let job = try await store.store.jobs(JobQuery(.id(handle.id), limit: 1)).first else { continue }
        queues.insert(job.queue)
        guard !handle.isNew else { continue }
        if job.state == .scheduled || job.state == .suspended {
          do { try await store.store.change(.retry, handle.id) } catch let error as JobError
            where error.code == .wrongState
          {}
        }
      }
      return queues.isEmpty ? ["default"] : queues
    }

    // MARK: Watching

    private func hear(_ signal: StoreSignal) {
      guard case .committed(let changes) = signal else { return }
      let isNews = state.withLock { state in
        let ended = changes.filter {
          ($0.state.isFinished || $0.state == .suspended) && state.unfinished.contains($0.id)
        }
        for change in ended {
          // Of what succeeded here all was told; there is nothing to look up.
          if change.state == .succeeded, stage.hasTold(change.id) {
            state.unfinished.remove(change.id)
          } else {
            state.news.append(change.id)
          }
        }
        return !ended.isEmpty
      }
      if isNews { gate.open() }
    }

    /// Returns when all have ended, or an interruption was asked for.
    private func watch(_ worker: JobWorker, _ interruption: Interruption) async throws {
      var nextLook = clock.uptime
      var limit = 0
      while !interruption.wasAsked {
        let news = state.withLock { state in
          defer { state.news = [] }
          return state.news
        }
        for id in news { try await end(id) }
        if clock.uptime >= nextLook {
          try await look()
          nextLook = clock.uptime + Self.interval
        }
        if state.withLock({ $0.unfinished.isEmpty }) { return }
        let slots = slots
        if slots != limit {
          limit = slots
          try worker.setMaxConcurrentJobs(slots)
        }
        let timer = clock.schedule(at: nextLook) { [gate] in gate.open() }
        await gate.pass()
        timer.cancel()
        try Task.checkCancellation()
      }
    }

    private var slots: Int {
      let now = clock.uptime
      return stage.slots(atMost: concurrency ?? state.withLock { $0.automatic.limit(at: now) })
    }

    /// What other processes made of our downloads meanwhile, from one page of those that are unfinished.
    private func look() async throws {
      let own = state.withLock { $0.unfinished }
      guard let first = own.min() else { return }
      stage.beginLook()
      let page = try await store.store.jobs(
        JobQuery(
          .kind(Download.self) && .unfinished, detail: .failures, after: JobID(rawValue: first.rawValue - 1),
          limit: Self.page))
      let now = (clock.uptime, Date())
      for job in page where own.contains(job.id) {
        if job.state == .suspended {
          try await end(job.id)
        } else {
          stage.saw(job, until: job.runAt.map { now.0 + .seconds($0.timeIntervalSince(now.1)) })
        }
      }
      let seen = Set(page.map(\.id))
      let last = page.count < Self.page ? JobID(rawValue: .max) : page[page.count - 1].id
      for id in own where id <= last && !seen.contains(id) { try await end(id) }
      if page.contains(where: { $0.state == .ready }), stage.isIdle {
        let queues = Set(page.filter { own.contains($0.id) }.map(\.queue))
        let paused = try await store.store.settings().compactMap { setting -> String? in
          guard case .queue(let name, isPaused: true) = setting, queues.contains(name) else { return nil }
          return name
        }
        stage.isHeldUp(by: paused.first.map { "The queue '\($0)' is paused; 'durable unpause \($0)' lets it go on" })
      } else {
        stage.isHeldUp(by: nil)
      }
    }

    /// It has ended, here or elsewhere: what became of it is in the store.
    private func end(_ id: JobID) async throws {
      guard state.withLock({ $0.unfinished.contains(id) }) else { return }
      let job = try await store.store.jobs(JobQuery(.id(id), detail: .all, limit: 1)).first
      if let job, !job.state.isFinished, job.state != .suspended { return }
      let name = job.flatMap { Download($0) }?.expectedName ?? "job \(id)"
      let message: String? =
        switch job?.state {
        case .succeeded: nil
        case .suspended: "suspended\(job?.reason.map { ": \($0)" } ?? ""). Go on with: durable resume \(id)"
        case .failed: job?.failures.last?.message ?? "failed"
        case .some(let state): state.rawValue + (job?.reason.map { ": \($0)" } ?? "")
        case nil: "removed from the store"
        }
      state.withLock { state in
        state.unfinished.remove(id)
        if let message { state.failures.append((id, name, message)) }
      }
      stage.ended(id, name: name, job: job, failure: message)
    }

    // MARK: The end

    private func report(_ interruption: Interruption) async throws {
      let (left, failures) = state.withLock { ($0.unfinished, $0.failures) }
      if json {
        for (_, handle) in downloads {
          guard let job = try await store.store.jobs(JobQuery(.id(handle.id), detail: .all, limit: 1)).first else {
            continue
          }
          Screen.out.line(JSONText(job).text)
        }
      }
      if downloads.count > 1, !json { Talk.line(stage.outcome) }
      for failure in failures.sorted(by: { $0.id < $1.id }) {
        Talk.error("\(failure.name): \(failure.message)")
      }
      if interruption.wasAsked, !left.isEmpty {
        let how = goOn.map { "Go on with: \($0)" } ?? "Go on with the same command, or with: durable work"
        Talk.line("\(left.count) of \(downloads.count) left; what has come is kept. \(how)")
        throw ExitCode(.interrupted)
      }
      if !failures.isEmpty { throw ExitCode(.jobFailed) }
    }
  }
#endif
