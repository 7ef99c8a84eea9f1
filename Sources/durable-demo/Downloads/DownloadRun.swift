#if Shell
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import DurableJobsSQLite
  import Foundation
  import Subprocess

  /// Downloads from a local server by worker processes, of which the first is killed half-way. This process only enqueues
  /// them, and watches the store.
  struct DownloadRun: Sendable {
    let controls: DownloadControls
    /// How long a step of the server takes.
    let step: Duration
    let tell: @Sendable (DownloadEvent) -> Void

    /// How often the store is looked at, since progress of another process is no signal; and at most.
    private static let interval = Duration.milliseconds(250)
    private static let leastInterval = Duration.milliseconds(50)

    /// Removes what it made and ends the processes that it started, also if it is cancelled.
    func callAsFunction() async throws -> DownloadOutcome {
      let scratch = try ScratchFolder()
      defer { scratch.remove() }
      let files = DemoFiles(count: controls.jobCount)
      tell(.began(controls, size: files.size))
      let server = try await FileServer(files, pace: ServingPace(step: step, isRandom: controls.isTimeRandom))
      do {
        let store = try SQLiteStore(path: scratch.path + "/jobs.sqlite")
        do {
          let outcome = try await download(files, scratch.path, server, store)
          await store.close()
          await server.stop()
          tell(.ended(outcome))
          return outcome
        } catch {
          await store.close()
          throw error
        }
      } catch {
        await server.stop()
        throw error
      }
    }

    private func download(
      _ files: DemoFiles, _ scratch: String, _ server: FileServer, _ store: SQLiteStore
    ) async throws -> DownloadOutcome {
      let folder = URL(fileURLWithPath: scratch + "/downloads", isDirectory: true)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      let downloads = try files.numbers.map { number in
        try Task.checkCancellation()
        return Download(
          from: server.url(of: number), to: folder, named: DemoFiles.name(number), sha256: files.sha256(of: number))
      }
      try await JobQueue(store: store).enqueue(contentsOf: downloads)
      let crash = try await withThrowingTaskGroup(of: Void.self) { group in
        // Once it is cancelled, a read that it was in the middle of may fail in any way.
        group.addTask { do { try await watch(store) } catch  where Task.isCancelled {} }
        let crash = try await work(store: scratch + "/jobs.sqlite", server)
        group.cancelAll()
        try await group.waitForAll()
        return crash
      }
      try Task.checkCancellation()
      tell(.looked(try await look(store)))
      let jobs = try await store.jobs(JobQuery(detail: .failures, limit: downloads.count))
      return Self.account(files, downloads, jobs, server.ledger, crash)
    }

    /// Tells what the store knows, until it is cancelled.
    private func watch(_ store: SQLiteStore) async throws {
      let gate = Gate()
      let subscription = store.signals.listen { _ in gate.open() }
      defer { withExtendedLifetime(subscription) {} }
      while true {
        tell(.looked(try await look(store)))
        let timer = store.clock.schedule(after: Self.interval) { gate.open() }
        await gate.pass()
        timer.cancel()
        try await Task.sleep(for: Self.leastInterval)
      }
    }

    private func look(_ store: SQLiteStore) async throws -> [DemoDownload] {
      let jobs = try await store.jobs(JobQuery(detail: .failures, limit: controls.jobCount))
      return zip(1..., jobs).map { DemoDownload(name: DemoFiles.name($0), $1) }
    }

    struct Kill: Sendable {
      var process: pid_t
      var fraction: Double
    }

    /// Lets workers work until nothing is left.
    private func work(store: String, _ server: FileServer) async throws -> Kill? {
      let kill = Lock<Kill?>(nil)
      let end = try await runWorker(store: store) { process in
        server.ledger.atHalf {
          // In the middle of a step: what comes last has arrived, and the next has not gone out.
          server.schedule(in: step / 2) {
            process.withLock { process in
              guard let process else { return }
              kill.withLock { $0 = Kill(process: process, fraction: server.ledger.fraction) }
              server.ledger.killed()
              Foundation.kill(process, SIGKILL)
            }
          }
        }
      }
      guard let kill = kill.withLock({ $0 }), end == .signaled(SIGKILL) else { return nil }
      tell(.workerKilled(kill.process, at: kill.fraction))
      server.ledger.nextWorker()
      _ = try await runWorker(store: store) { _ in }
      return kill
    }

    /// A worker process from its start to its end. The number that `started` gets is nil once it has ended.
    private func runWorker(store: String, started: @Sendable (Lock<pid_t?>) -> Void) async throws -> TerminationStatus {
      var options = PlatformOptions()
      // Ctrl-C is for this process: it ends the worker.
      options.createSession = true
      // What arrives from this machine's own server comes through no proxy.
      let environment = Environment.inherit.updating(["no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"])
      let lifeLine = try Descriptors.pipe()
      defer { close(lifeLine.write) }
      let result = try await Subprocess.run(
        Program.itself,
        arguments: Arguments(WorkerCommand.arguments(store: store, concurrency: controls.maxConcurrent)),
        environment: environment, platformOptions: options,
        input: .fileDescriptor(.init(rawValue: lifeLine.read), closeAfterSpawningProcess: true),
        output: .sequence, error: .discarded
      ) { execution in
        let process = Lock<pid_t?>(execution.processIdentifier.value)
        defer { process.withLock { $0 = nil } }
        tell(.workerStarted(execution.processIdentifier.value))
        started(process)
        // The store tells what happens; the output only ends with the process.
        for try await _ in execution.standardOutput {}
      }
      return result.terminationStatus
    }

    /// Compares what is on the disk with what the server has.
    static func account(
      _ files: DemoFiles, _ downloads: [Download], _ jobs: [JobSnapshot], _ ledger: ServingLedger, _ kill: Kill?
    ) -> DownloadOutcome {
      var troubles: [String] = []
      var verified = 0
      for (job, download) in zip(jobs, downloads) {
        let name = download.name ?? ""
        guard job.state == .succeeded else {
          troubles.append(
            "\(name) is \(job.state.rawValue): \(job.failures.last?.message ?? job.reason ?? "no reason")")
          continue
        }
        let data = FileManager.default.contents(atPath: download.folder + "/" + name)
        if let data, DemoFiles.sha256(data) == download.sha256 {
          verified += 1
        } else {
          troubles.append("\(name) \(data == nil ? "is not there" : "has a wrong checksum")")
        }
      }
      let crash = kill.map {
        DownloadOutcome.Crash(
          killed: $0.process, fraction: $0.fraction, bytesTwice: max(0, ledger.served - files.totalSize),
          gap: ledger.gap ?? .zero)
      }
      return DownloadOutcome(count: files.count, verified: verified, troubles: troubles, crash: crash)
    }
  }

  extension ServingLedger {
    /// How much of all went out.
    var fraction: Double { min(1, Double(served) / Double(total)) }
  }

  extension DemoDownload {
    init(name: String, _ job: JobSnapshot) {
      let fraction = job.progress?.fraction ?? 0
      let state: State
      switch job.state {
      case .succeeded: state = .completed(job.finishedAt ?? .distantPast)
      case .running: state = .inProgress(fraction)
      case .ready, .scheduled, .blocked: state = .pending(fraction)
      case .failed, .cancelled, .skipped, .suspended: state = .failed(job.failures.last?.message ?? job.reason ?? "")
      }
      self.init(name: name, state: state, survived: job.crashes > 0)
    }
  }
#endif
