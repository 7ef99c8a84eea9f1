#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "log",
      abstract: "Show what a command wrote.",
      discussion: """
        What it wrote to stdout goes to stdout, what it wrote to stderr to stderr, each attempt after a line of its own on \
        stderr. Of each, the first and the last 5 MB are kept.
        """)

    @Argument(help: ArgumentHelp("The job; without it, the last command.", valueName: "id")) var job: JobID?
    @Flag(name: [.short, .long], help: "Go on as it grows, until the job has ended. What it waits for goes to stderr.")
    var follow = false
    @Option(parsing: .unconditional, help: ArgumentHelp("Only this attempt.", valueName: "number")) var attempt: Int?
    @OptionGroup var options: StoreOptions

    func validate() throws {
      if let attempt, attempt < 1 { throw ValidationError("--attempt is \(attempt); the first one is 1") }
    }

    private func what(_ job: JobSnapshot, _ id: JobID, _ store: OpenStore) -> String {
      let names = [Download.kind: "a download", SendRequest.kind: "a request"]
      return names[job.kind].map { "\($0); '\(store.command("show \(id)"))' tells about it" } ?? "no command"
    }

    func run() async throws {
      Screen.endWithReader()
      let (store, id) = try await options.existing(for: job, else: .kind(ShellCommand.kind), "command")
      let job = try await store.store.job(id, detail: [])
      if follow {
        try await LogFollower(store: store, id: id, attempt: attempt, json: options.json, tells: true).run()
        return
      }
      var printer = LogPrinter(store.folder(id), attempt: attempt, json: options.json)
      printer.show(job, isFinal: true)
      guard !printer.hasShown else { return }
      if store.isOnServer, job.kind == ShellCommand.kind, job.startedAt != nil {
        Talk.line("Job \(id) has no log here: logs are kept by the machine, and the user, that ran it")
      } else if let attempt {
        Talk.line("Job \(id) has no log of attempt \(attempt)")
      } else {
        Talk.line(
          "Job \(id) has no log: it is \(job.state.rawValue)\(job.kind == ShellCommand.kind ? "" : ", and \(what(job, id, store))")"
        )
      }
    }
  }
#endif
