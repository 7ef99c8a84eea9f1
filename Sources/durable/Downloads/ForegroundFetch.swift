#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import DurableJobsSystem
  import Foundation

  /// Fetches downloads in the foreground until each has ended, whoever runs it: this process, or another beside it.
  final class ForegroundFetch: Sendable {
    struct State {
      /// Whether all that was asked for is in the store.
      var isComplete = false
      /// The jobs of all that is in the store, in the order in which it was asked for.
      var jobs: [JobID] = []
      var unfinished: Set<JobID> = []
      /// Those of which this process's store has said that they ended.
      var news: [JobID] = []
      var failures: [(id: JobID, name: String, message: String)] = []
      /// What was asked for with downloads, and is not so of the jobs that they joined.
      var lacks: [String] = []
      /// By the queue that each serves.
      var workers: [String: JobWorker] = [:]
      /// The queues whose workers were started.
      var served: Set<String> = []
      var automatic = AutomaticConcurrency()
      var obstacles = DownloadObstacles()
    }

    let place: OpenStore
    var store: any JobStore { place.store }
    let intake: DownloadIntake
    private let downloads: [Download]
    private let downloader: Downloader
    private let concurrency: Int?
    private let json: Bool
    private let isQuiet: Bool
    private let again: CommandToRepeat
    let display: DownloadDisplay
    let state: Lock<State>
    let gate = Gate()
    let clock = SystemClock()

    /// `again` is the command line that goes on after an interruption. Without `concurrency` it is that of
    /// ``AutomaticConcurrency``.
    init(
      _ downloads: [Download], by intake: DownloadIntake, in place: OpenStore, limits: Downloader.Limits,
      netrc: URL?, concurrency: Int?, json: Bool, isQuiet: Bool = false, again: CommandToRepeat
    ) {
      self.place = place
      self.intake = intake
      self.downloads = downloads
      self.concurrency = concurrency
      self.json = json
      self.isQuiet = isQuiet
      self.again = again
      let display = DownloadDisplay(json: json, isQuiet: isQuiet)
      let state = Lock(State())
      let clock = clock
      downloader = Downloader(
        store: place.store, limits: limits, permissions: Program.permissionsOfFiles, netrc: netrc
      ) {
        if case .succeeded(let file) = $2 { state.withLock { $0.automatic.succeeded(file, at: clock.uptime) } }
        display.hear($0, $1, $2)
      }
      self.display = display
      self.state = state
    }

    /// Throws the exit code if not all succeeded.
    func run() async throws {
      // A reader that stands still, as a pager does, holds up its lines alone.
      if !display.isLive { Screen.stopWaitingForReaders(keepingAll: true) }
      display.expect(downloads)
      let interruption = await Interruption(worker(for: intake.queue), grace: .zero) { [display, gate] in
        display.isStopping()
        gate.open()
      }
      // Lines have a queue that knows when to wait no longer; bars have none.
      if display.isLive { Screen.stopsWaiting.withLock { $0 = { interruption.wasAsked } } }
      Screen.onClosed.withLock {
        $0 = { [gate] in
          interruption.stop()
          gate.open()
        }
      }
      let subscription = store.signals.listen { [weak self] in self?.hear($0) }
      defer { withExtendedLifetime(subscription) {} }
      let isOver: Void?
      do {
        isOver = try await interruption.outlasting(place, clear: { [display] in display.close() }) { [self] in
          try await work(interruption)
          display.close()
          // What is said of all comes after what was said of each, also where one reads both.
          Screen.finish { !interruption.wasAsked }
          defer { Screen.finish { !interruption.wasAsked } }
          try await report(interruption)
        }
      } catch {
        display.close()
        throw error
      }
      guard isOver == nil else { return }
      display.close()
      Talk.line(hint)
      throw ExitCode(.interrupted)
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
      let own = try await OwnJobs(in: place)
      for page in downloads.pages(of: DownloadIntake.page) {
        let entries = try await intake.take(page)
        try await own?.check(isNotNeededBy: entries.compactMap(\.job))
        for (download, entry) in zip(page, entries) { add(download, entry) }
        // They need slots.
        gate.open()
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
      case .job(let id, _, let lacks):
        display.add(id, name: download.expectedName, size: download.size)
        state.withLock { state in
          if !lacks.isEmpty { state.lacks.append(download.joins(id, lacking: lacks)) }
          state.jobs.append(id)
          state.unfinished.insert(id)
        }
      case .runsOtherwise(let id), .isNeededOtherwise(let id, _):
        let message = download.refusal(entry, in: place)
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
        worker.provideSystemConstraints(of: URL(fileURLWithPath: store.path ?? "/").deletingLastPathComponent())
        state.workers[queue] = worker
        return worker
      }
    }

    private func stopWorkers() async {
      for worker in state.withLock({ $0.workers.values }) { await worker.stop(grace: .zero) }
    }

    var slots: Int {
      let now = clock.uptime
      return display.slots(atMost: concurrency ?? state.withLock { $0.automatic.limit(at: now) })
    }

    // MARK: The end

    private var hint: String { again.hint(or: place.command("work", queue: intake.queue)) }

    private func report(_ interruption: Interruption) async throws {
      let (jobs, left, failures) = state.withLock { ($0.jobs, $0.unfinished, $0.failures) }
      if json {
        for page in jobs.pages(of: DownloadIntake.page) {
          let found = try await store.jobs(Array(page), detail: .all)
          for id in page { if let job = found[id] { Screen.out.json(JobRecord(job, inStream: true)) } }
        }
      }
      if !isQuiet { for line in state.withLock({ $0.lacks }) { Talk.line(line) } }
      if downloads.count > 1, !json, !isQuiet { Talk.line(display.outcome) }
      for failure in failures.sorted(by: { $0.id < $1.id }) where !display.hasExplained(failure.id) {
        Talk.error("\(failure.name): \(failure.message)".withoutPasswords)
      }
      if interruption.wasAsked, !left.isEmpty {
        // Of a few, those too whose beginning was not shown yet.
        let looked = left.count <= 100 ? Set(left) : display.begun.intersection(left)
        let begun = try await store.jobs(Array(looked), detail: .payload)
        let prospects = begun.values.compactMap { Download($0) }.map { (name: $0.expectedName, prospect: $0.prospect) }
        Talk.line("\(left.count) of \(downloads.count) left; \(DownloadWords.keeping(prospects)). \(hint)")
        throw ExitCode(.interrupted)
      }
      if !failures.isEmpty { throw ExitCode(.jobFailed) }
    }
  }
#endif
