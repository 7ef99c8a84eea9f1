#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  /// Fetches downloads in the foreground until each has ended, whoever runs it: this process, or another beside it.
  final class ForegroundFetch: Sendable {
    private struct State {
      /// Whether all that was asked for is in the store.
      var isComplete = false
      /// The jobs of all that is in the store, in the order in which it was asked for.
      var jobs: [JobID] = []
      var unfinished: Set<JobID> = []
      /// Those of which this process's store has said that they ended.
      var news: [JobID] = []
      var failures: [(id: JobID, name: String, message: String)] = []
      /// By the queue that each serves.
      var workers: [String: JobWorker] = [:]
      /// The queues whose workers were started.
      var served: Set<String> = []
      var automatic = AutomaticConcurrency()
    }

    /// How often it is asked what other processes do.
    private static let interval = Duration.seconds(1)
    /// Unfinished downloads that are looked at each time, the oldest: those are the ones that move.
    private static let page = 500

    private let store: any JobStore
    private let intake: DownloadIntake
    private let downloads: [Download]
    private let downloader: Downloader
    private let concurrency: Int?
    private let json: Bool
    private let again: CommandToRepeat
    private let display: DownloadDisplay
    private let state: Lock<State>
    private let gate = Gate()
    private let clock = SystemClock()

    /// `again` is the command line that goes on after an interruption. Without `concurrency` it is that of
    /// ``AutomaticConcurrency``.
    init(
      _ downloads: [Download], by intake: DownloadIntake, in store: any JobStore, limits: Downloader.Limits,
      concurrency: Int?, json: Bool, again: CommandToRepeat
    ) {
      self.store = store
      self.intake = intake
      self.downloads = downloads
      self.concurrency = concurrency
      self.json = json
      self.again = again
      let display = DownloadDisplay(json: json)
      let state = Lock(State())
      let clock = clock
      downloader = Downloader(store: store, limits: limits, permissions: Program.permissionsOfFiles) {
        if case .succeeded(let file) = $2 { state.withLock { $0.automatic.succeeded(file, at: clock.uptime) } }
        display.hear($0, $1, $2)
      }
      self.display = display
      self.state = state
    }

    /// Throws the exit code if not all succeeded.
    func run() async throws {
      display.expect(downloads.count)
      let interruption = Interruption(worker(for: intake.queue), grace: .zero) { [display, gate] in
        display.isStopping()
        gate.open()
      }
      Screen.onClosed.withLock {
        $0 = { [gate] in
          interruption.stop()
          gate.open()
        }
      }
      let subscription = store.signals.listen { [weak self] in self?.hear($0) }
      defer { withExtendedLifetime(subscription) {} }
      do {
        try await work(interruption)
      } catch {
        display.close()
        throw error
      }
      display.close()
      try await report(interruption)
    }

    private func work(_ interruption: Interruption) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { [self] in try await watch(interruption) }
        group.addTask { [display] in try await display.drawUntilCancelled() }
        var failure: (any Error)?
        do {
          try await takeIn(interruption, &group)
          _ = try await group.next()
        } catch {
          failure = error
        }
        group.cancelAll()
        // What runs besides can go on later from where it is.
        await stopWorkers()
        while let result = await group.nextResult() {
          if case .failure(let error) = result, !(error is CancellationError) { failure = failure ?? error }
        }
        if let failure { throw failure }
      }
    }

    /// Stores or joins all that was asked for, a page after the other; what is in can run meanwhile. After an interruption
    /// the rest is stored all the same: who asked for it by a pipe can't ask again.
    private func takeIn(_ interruption: Interruption, _ group: inout ThrowingTaskGroup<Void, any Error>) async throws {
      for page in downloads.pages(of: DownloadIntake.page) {
        let entries = try await intake.take(page)
        for (download, entry) in zip(page, entries) { add(download, entry) }
        guard !interruption.wasAsked else { continue }
        for worker in unstartedWorkers(Set(entries.compactMap(\.queue))) {
          group.addTask { try await worker.run() }
        }
      }
      state.withLock { $0.isComplete = true }
      gate.open()
    }

    private func add(_ download: Download, _ entry: DownloadIntake.Entry) {
      switch entry {
      case .job(let id, _):
        display.add(id, name: download.expectedName, size: download.size)
        state.withLock { state in
          state.jobs.append(id)
          state.unfinished.insert(id)
        }
      case .runsOtherwise(let id):
        let message = download.runsOtherwise(as: id)
        display.refuse(because: id, name: download.expectedName, message)
        state.withLock { $0.failures.append((id, download.expectedName, message)) }
      }
    }

    // MARK: Workers

    /// The workers of these queues that were not started yet.
    private func unstartedWorkers(_ queues: Set<String>) -> [JobWorker] {
      queues.filter { queue in state.withLock { $0.served.insert(queue).inserted } }.map { worker(for: $0) }
    }

    private func worker(for queue: String) -> JobWorker {
      let slots = slots
      return state.withLock { state in
        if let worker = state.workers[queue] { return worker }
        let worker = JobWorker(
          JobQueue(queue, store: store), maxConcurrentJobs: slots,
          logger: WorkerLog.logger { [display] in display.say($0) })
        downloader.register(with: worker)
        state.workers[queue] = worker
        return worker
      }
    }

    private func stopWorkers() async {
      for worker in state.withLock({ $0.workers.values }) { await worker.stop(grace: .zero) }
    }

    private var slots: Int {
      let now = clock.uptime
      return display.slots(atMost: concurrency ?? state.withLock { $0.automatic.limit(at: now) })
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
          if change.state == .succeeded, display.hasTold(change.id) {
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
    private func watch(_ interruption: Interruption) async throws {
      var nextLook = clock.uptime
      var limit = 0
      while !interruption.wasAsked {
        let news = state.withLock { state in
          defer { state.news = [] }
          return state.news
        }
        try await end(news)
        if clock.uptime >= nextLook {
          try await look()
          nextLook = clock.uptime + Self.interval
        }
        if state.withLock({ $0.isComplete && $0.unfinished.isEmpty }) { return }
        let slots = slots
        if slots != limit {
          limit = slots
          for worker in state.withLock({ $0.workers.values }) { try worker.setMaxConcurrentJobs(slots) }
        }
        let timer = clock.schedule(at: nextLook) { [gate] in gate.open() }
        await gate.pass()
        timer.cancel()
        try Task.checkCancellation()
      }
    }

    /// What other processes made of our downloads meanwhile, from one page of those that are unfinished.
    private func look() async throws {
      let own = state.withLock { $0.unfinished }
      guard let first = own.min() else { return }
      display.beginLook()
      let page = try await store.jobs(
        JobQuery(
          .kind(Download.self) && .unfinished, detail: .failures, after: JobID(rawValue: first.rawValue - 1),
          limit: Self.page))
      let now = (clock.uptime, Date())
      var ended = page.filter { $0.state == .suspended && own.contains($0.id) }.map(\.id)
      for job in page where own.contains(job.id) {
        if job.state != .suspended {
          display.saw(job, until: job.runAt.map { now.0 + .seconds($0.timeIntervalSince(now.1)) })
        }
      }
      let seen = Set(page.map(\.id))
      let last = page.count < Self.page ? JobID(rawValue: .max) : page[page.count - 1].id
      ended += own.filter { $0 <= last && !seen.contains($0) }
      try await end(ended)
      if page.contains(where: { $0.state == .ready }), display.isIdle {
        let queues = Set(page.filter { own.contains($0.id) }.map(\.queue))
        let paused = try await store.settings().compactMap { setting -> String? in
          guard case .queue(let name, isPaused: true) = setting, queues.contains(name) else { return nil }
          return name
        }
        display.isHeldUp(by: paused.first.map { "The queue '\($0)' is paused; 'durable unpause \($0)' lets it go on" })
      } else {
        display.isHeldUp(by: nil)
      }
    }

    /// They have ended, here or elsewhere: what became of them is in the store.
    private func end(_ ids: [JobID]) async throws {
      let ids = state.withLock { state in ids.filter { state.unfinished.contains($0) } }
      let jobs = try await store.jobs(ids, detail: .all)
      for id in ids { end(id, jobs[id]) }
    }

    private func end(_ id: JobID, _ job: JobSnapshot?) {
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
      let isNews = state.withLock { state in
        guard state.unfinished.remove(id) != nil else { return false }
        if let message { state.failures.append((id, name, message)) }
        return true
      }
      if isNews { display.ended(id, name: name, job: job, failure: message) }
    }

    // MARK: The end

    private func report(_ interruption: Interruption) async throws {
      let (jobs, left, failures) = state.withLock { ($0.jobs, $0.unfinished, $0.failures) }
      if json {
        for page in jobs.pages(of: DownloadIntake.page) {
          let found = try await store.jobs(Array(page), detail: .all)
          for id in page { if let job = found[id] { Screen.out.line(JSONText(job.withoutSecrets).text) } }
        }
      }
      if downloads.count > 1, !json { Talk.line(display.outcome) }
      for failure in failures.sorted(by: { $0.id < $1.id }) {
        Talk.error("\(failure.name): \(failure.message)")
      }
      if interruption.wasAsked, !left.isEmpty {
        Talk.line("\(left.count) of \(downloads.count) left; what has come is kept. \(again.hint)")
        throw ExitCode(.interrupted)
      }
      if !failures.isEmpty { throw ExitCode(.jobFailed) }
    }
  }
#endif
