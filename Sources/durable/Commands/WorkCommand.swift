#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import DurableJobsSchedules
  import Foundation

  struct WorkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "work",
      abstract: "Run what is stored, until Ctrl-C, or in the background.",
      usage: """
        durable work [options]
        durable work --detach [options]
        durable work stop
        """,
      discussion: """
        Prints a line for each start and each end. After Ctrl-C nothing more is started, and what runs has 10 seconds to end \
        (or what --grace says). Then it is interrupted, goes back, and runs again later. SIGTERM does the same, and exits with 0. \
        Ctrl-C twice ends everything at once. A command ends with its worker; a download goes on where it was.

        With --detach a worker goes on in the background, one for each store, and writes its lines to a file beside the store. \
        'durable work stop' ends it as Ctrl-C does, and returns when it has ended. 'durable service install' has a worker after \
        each log-in.

        It provides the constraints network, externalPower and diskSpace (1 GB free beside the store): jobs that require \
        one of these run while it holds.
        """)

    enum Verb: String, ExpressibleByArgument, CaseIterable { case stop }

    @Argument(help: ArgumentHelp("End the worker that --detach has started.", valueName: "stop")) var verb: Verb?
    @Flag(help: "Go on in the background, without a terminal.") var detach = false
    @Flag(help: .hidden) var inBackground = false
    @Flag(
      help:
        "End when nothing is left to do now; retries are waited for. Exits with 1 if a job failed meanwhile, whichever worker ran it. What is left, such as suspended jobs, is listed on stderr."
    )
    var drain = false
    @Option(
      parsing: .unconditional, help: ArgumentHelp("Jobs that may run at once, of each queue.", valueName: "number"))
    var concurrency = Defaults.concurrency
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Downloads from one host at once. Default: as many as run.", valueName: "number"))
    var perHost: Int?
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("How long what runs may take to end after Ctrl-C or SIGTERM. Default: 10s.", valueName: "time")
    )
    var grace: String?
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp("A queue to work on; may be repeated.", valueName: "name"))
    var queue: [String] = ["default"]
    @OptionGroup var options: StoreOptions

    func validate() throws {
      guard concurrency >= 1 else {
        throw ValidationError("--concurrency is \(concurrency); it must be at least 1")
      }
      if detach, drain {
        throw ValidationError("a worker in the background goes on until it is stopped; leave out --drain, or --detach")
      }
      if let perHost, perHost < 1 { throw ValidationError("--per-host is \(perHost); it must be at least 1") }
    }

    func run() async throws {
      do {
        try await work()
      } catch let error as JobError where error.needsPerson {
        Talk.error(error.message, code: error.code.rawValue)
        if ServiceFile.isAgent { throw ExitCode.success }
        throw ExitCode(.storeNeedsPerson)
      }
    }

    private func work() async throws {
      for name in queue { try NewJob.check(queue: name) }
      guard !inBackground || BackgroundWorker.wasStarted else {
        throw ValidationError("--in-background is for 'durable work --detach' alone: type that")
      }
      if verb == .stop { return try await stop() }
      let limit = grace
      let grace = try grace.map { try DurationArgument.parse($0).duration } ?? Defaults.grace
      if detach { return try await goOnInBackground(grace: limit) }
      try Program.provideRoom(forWork: true)
      let store = try await options.open()
      if drain { try await OwnJobs(in: store)?.check(isNotIn: queue) }
      let background = BackgroundWorker(store: store.path)
      if inBackground { try background.begin(at: options.place) }
      // Whoever drains a queue wants to know of all; else lines come for ever.
      Screen.stopWaitingForReaders(keepingAll: drain)
      let log = WorkLog(json: options.json, countsFailures: drain)
      let handler = CommandHandler { log.tell($0, $1) }
      let worker = JobWorker(
        Dictionary(uniqueKeysWithValues: Set(queue).map { (store.queue($0), concurrency) }),
        logger: WorkerLog.logger(onRefusal: { log.hearOfRefusal($0, $1) }) { Talk.error($0) })
      handler.register(with: worker)
      worker.register(JobSchedule.self)
      store.provideSystemConstraints(to: worker)
      let netrc = try DownloadWords.netrc()
      Outbox(of: store.store, netrc: netrc) { log.tell($0, $1, $2) }.register(with: worker)
      Downloader(
        store: store.store, limits: Downloader.Limits(perHost: perHost), permissions: Program.permissionsOfFiles,
        netrc: netrc
      ) { log.tell($0, $1, $2) }.register(
        with: worker)
      let failedBefore = drain ? try await failed(in: store) : 0
      let subscription = store.store.signals.listen { log.hear($0) }
      let interruption = await Interruption(worker, handler, grace: grace, isInBackground: inBackground)
      Screen.onClosed.withLock { $0 = { interruption.stop() } }
      if inBackground { BackgroundWorker.hasBegun() }
      if !drain { Talk.line("Working on \(store.name)\(Screen.error.isTerminal ? ". Ctrl-C stops." : "")") }
      let left = try await undoneWork(by: worker, of: store, log, until: interruption)
      withExtendedLifetime(subscription) {}
      if drain || interruption.wasAsked { left?.tell(hasBegun: !drain || log.hasBegun || log.hasFailures) }
      let failedElsewhere = drain ? try await tellOfFailures(since: failedBefore, log, store) : 0
      if drain { Screen.finish { !interruption.wasAsked } }
      if interruption.wasAsked, !interruption.isOrderly, left?.isEmpty != true { throw ExitCode(.interrupted) }
      if drain, log.hasFailures || failedElsewhere > 0 { throw ExitCode(.jobFailed) }
    }

    private func failed(in store: OpenStore) async throws -> Int {
      try await store.store.counts(where: .queues(Set(queue)) && .state(.failed))[.failed]
    }

    /// Says how many jobs failed while this drained, and answers how many of them other workers ran. A store that is away says
    /// nothing of these.
    private func tellOfFailures(since before: Int, _ log: WorkLog, _ store: OpenStore) async throws -> Int {
      let here = log.failures(in: Set(queue))
      var elsewhere = 0
      do {
        elsewhere = max(0, try await failed(in: store) - before - here)
      } catch let error as JobError where error.isPassing {}
      if here + elsewhere > 0 {
        Talk.line(
          "Failed meanwhile: \(here)\(elsewhere > 0 ? " here, \(elsewhere) in other workers" : ""). "
            + "'\(store.command("status --state failed"))' lists them")
      }
      return elsewhere
    }

    /// Has the worker work to its end. Nil if it was to stop, and the store does not say what is left.
    private func undoneWork(
      by worker: JobWorker, of store: OpenStore, _ log: WorkLog, until interruption: Interruption
    ) async throws -> UndoneWork? {
      let work = { @Sendable [drain, queues = Set(queue)] in
        async let others: Void = log.tellOthers(in: store)
        async let _: Void = IdleReport(store: store, queues: queues, log: log).run()
        if interruption.wasAsked {
        } else if drain {
          try await worker.runUntilIdle()
        } else {
          try await worker.run()
        }
        log.finish()
        await others
        return try await UndoneWork(store, queues)
      }
      if let left = try await interruption.outlasting(store, work) { return left }
      log.giveUp()
      return nil
    }

    // MARK: In the background

    private func goOnInBackground(grace: String?) async throws {
      // What is wrong with the store is told here.
      let store = try await options.open()
      let worker = BackgroundWorker(store: store.path)
      if let process = try worker.process() {
        throw JobError(
          .alreadyRunning,
          "process \(process) works on \(store.name) in the background already; end it with: \(store.command("work stop"))"
        )
      }
      var words = ["work", "--in-background", "--concurrency", "\(concurrency)"]
      switch try options.place {
      case .file: words += ["--store", store.path]
      // Everybody sees the words of a process, and it may have a password.
      case .server(let place): setenv("DURABLE_STORE", place.text, 1)
      }
      for name in queue { words += ["--queue", name] }
      if let perHost { words += ["--per-host", "\(perHost)"] }
      if let grace { words += ["--grace", grace] }
      let process = try await worker.start(words)
      if options.json {
        Screen.out.json(BackgroundRecord(process: process, log: worker.log))
      } else {
        Screen.out.line("\(process)")
        Talk.line(
          "It works in the background, and writes to \(worker.log.withVisibleControls). '\(store.command("work stop"))' ends it"
        )
      }
    }

    private func stop() async throws {
      let process: pid_t?
      switch try options.place {
      // Its store may have been deleted meanwhile.
      case .file(let path): process = try BackgroundWorker(store: StorePlace.resolved(path)).stop()
      case .server(let place):
        let worker = BackgroundWorker(at: place)
        do {
          // It is asked first, since the same words may lead elsewhere by now.
          process = try await options.existing(callLimit: worker == nil ? nil : .seconds(5))
            .flatMap { try BackgroundWorker(store: $0.path).stop() }
        } catch let error as JobError where worker != nil && error.isPassing {
          process = try worker?.stop()
        }
      }
      if options.json {
        Screen.out.json(StopRecord(process: process))
      } else if let process {
        Screen.out.line("process \(process) has stopped")
      } else {
        Talk.line("No worker is at work in the background")
      }
    }
  }

  extension JobError {
    /// Whether no other try of the same helps, as long as nobody looks after the store.
    fileprivate var needsPerson: Bool { [.damaged, .notAStore, .newerVersion, .weakDurability].contains(code) }
  }

  private struct BackgroundRecord: Encodable {
    var process: Int32
    var log: String
  }

  private struct StopRecord: Encodable {
    /// The one that has stopped.
    @OrNull var process: Int32?
  }
#endif
