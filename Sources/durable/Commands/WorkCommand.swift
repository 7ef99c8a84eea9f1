#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation
  import Logging

  struct WorkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "work",
      abstract: "Run what is stored, until Ctrl-C.",
      discussion: """
        A line for each start and each end. Ctrl-C once claims nothing more and gives what runs 10 seconds to end, then \
        interrupts it: it goes back and runs again later. SIGTERM does the same, and exits with 0. Ctrl-C twice ends \
        everything at once. A command never outlives its worker; a download goes on where it was.
        """)

    @Flag(help: "End when nothing is left to do now. Exits with 1 if a job failed meanwhile.") var drain = false
    @Option(help: ArgumentHelp("Jobs that may run at once, of each queue.", valueName: "number"))
    var concurrency = Defaults.concurrency
    @Option(help: ArgumentHelp("Connections of downloads to one host at once.", valueName: "number"))
    var perHost = Downloader.Limits().perHost
    @Option(help: ArgumentHelp("A queue to work on; may be repeated.", valueName: "name"))
    var queue: [String] = ["default"]
    @OptionGroup var options: StoreOptions

    func validate() throws {
      guard concurrency >= 1 else {
        throw ValidationError("--concurrency is \(concurrency); it must be at least 1")
      }
      guard perHost >= 1 else { throw ValidationError("--per-host is \(perHost); it must be at least 1") }
      for name in queue where name.isEmpty || name.utf8.count > Limits.nameBytes {
        throw ValidationError("--queue: a name has 1 to \(Limits.nameBytes) bytes")
      }
    }

    func run() async throws {
      let store = try options.open()
      let log = WorkLog(json: options.json)
      let handler = CommandHandler { log.tell($0, $1) }
      // Attempts that failed have their own lines.
      var logger = Logger(label: "durable")
      logger.logLevel = .warning
      let worker = JobWorker(
        Dictionary(uniqueKeysWithValues: Set(queue).map { (store.queue($0), concurrency) }), logger: logger)
      handler.register(with: worker)
      Downloader(
        store: store.store, limits: Downloader.Limits(perHost: perHost), permissions: Program.permissionsOfFiles
      ) { log.tell($0, $1, $2) }.register(
        with: worker)
      let failures = Lock(0)
      let subscription = store.store.signals.listen { signal in
        guard case .committed(let changes) = signal else { return }
        let count = changes.count { $0.state == .failed }
        if count > 0 { failures.withLock { $0 += count } }
      }
      let interruption = await Interruption(worker, handler)
      Screen.onClosed.withLock { $0 = { interruption.stop() } }
      if !drain { Talk.line("Working on \(store.path)\(Screen.error.isTerminal ? ". Ctrl-C stops." : "")") }
      do {
        try await interruption.interrupting { [drain] in
          if drain { try await worker.runUntilIdle() } else { try await worker.run() }
        }
      } catch let error as JobError where interruption.wasAsked && !interruption.isOrderly {
        Talk.error(error.message)
        throw ExitCode(.interrupted)
      }
      withExtendedLifetime(subscription) {}
      let left = try await Leftovers(store, Set(queue))
      if drain || interruption.wasAsked { left.tell() }
      if interruption.wasAsked, !interruption.isOrderly, !left.isEmpty { throw ExitCode(.interrupted) }
      if drain, failures.withLock({ $0 }) > 0 { throw ExitCode(.jobFailed) }
    }
  }
#endif
