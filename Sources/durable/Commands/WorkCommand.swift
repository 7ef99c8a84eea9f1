#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  struct WorkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "work",
      abstract: "Run what is stored, until Ctrl-C.",
      discussion: """
        A line for each start and each end. Ctrl-C once claims nothing more and gives what runs 10 seconds to end, or what \
        --grace says, then interrupts it: it goes back and runs again later. SIGTERM does the same, and exits with 0. \
        Ctrl-C twice ends everything at once. A command never outlives its worker; a download goes on where it was.

        It provides the constraints network, externalPower and diskSpace (1 GB free beside the store): jobs that require \
        one of these run while it holds.
        """)

    @Flag(help: "End when nothing is left to do now. Exits with 1 if a job failed meanwhile.") var drain = false
    @Option(
      parsing: .unconditional, help: ArgumentHelp("Jobs that may run at once, of each queue.", valueName: "number"))
    var concurrency = Defaults.concurrency
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Downloads from one host at once. Default: as many as run.", valueName: "number"))
    var perHost: Int?
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("What runs has so long to end after Ctrl-C or SIGTERM. Default: 10s.", valueName: "time"))
    var grace: String?
    @Option(help: ArgumentHelp("A queue to work on; may be repeated.", valueName: "name"))
    var queue: [String] = ["default"]
    @OptionGroup var options: StoreOptions

    func validate() throws {
      guard concurrency >= 1 else {
        throw ValidationError("--concurrency is \(concurrency); it must be at least 1")
      }
      if let perHost, perHost < 1 { throw ValidationError("--per-host is \(perHost); it must be at least 1") }
    }

    func run() async throws {
      for name in queue { try NewJob.check(queue: name) }
      let grace = try grace.map { try DurationArgument.parse($0).duration } ?? Defaults.grace
      Program.raiseLimitOfOpenFiles()
      let store = try options.open()
      // Whoever drains a queue wants to know of all; else lines come for ever.
      Screen.stopWaitingForReaders(keepingAll: drain)
      let log = WorkLog(json: options.json)
      let handler = CommandHandler { log.tell($0, $1) }
      let worker = JobWorker(
        Dictionary(uniqueKeysWithValues: Set(queue).map { (store.queue($0), concurrency) }),
        logger: WorkerLog.logger { Talk.error($0) })
      handler.register(with: worker)
      store.provideSystemConstraints(to: worker)
      let netrc = try DownloadWords.netrc()
      Outbox(of: store.store, netrc: netrc) { log.tell($0, $1, $2) }.register(with: worker)
      Downloader(
        store: store.store, limits: Downloader.Limits(perHost: perHost), permissions: Program.permissionsOfFiles,
        netrc: netrc
      ) { log.tell($0, $1, $2) }.register(
        with: worker)
      let failures = Lock(0)
      let subscription = store.store.signals.listen { signal in
        guard case .committed(let changes) = signal else { return }
        let count = changes.count { $0.state == .failed }
        if count > 0 { failures.withLock { $0 += count } }
      }
      let interruption = await Interruption(worker, handler, grace: grace)
      Screen.onClosed.withLock { $0 = { interruption.stop() } }
      if !drain { Talk.line("Working on \(store.path)\(Screen.error.isTerminal ? ". Ctrl-C stops." : "")") }
      do {
        if interruption.wasAsked {
        } else if drain {
          try await worker.runUntilIdle()
        } else {
          try await worker.run()
        }
      } catch let error as JobError where interruption.wasAsked && !interruption.isOrderly {
        Talk.error(error.message)
        throw ExitCode(.interrupted)
      }
      withExtendedLifetime(subscription) {}
      let left = try await UndoneWork(store, Set(queue))
      if drain || interruption.wasAsked { left.tell() }
      if drain { Screen.finish { !interruption.wasAsked } }
      if interruption.wasAsked, !interruption.isOrderly, !left.isEmpty { throw ExitCode(.interrupted) }
      if drain, failures.withLock({ $0 }) > 0 { throw ExitCode(.jobFailed) }
    }
  }
#endif
