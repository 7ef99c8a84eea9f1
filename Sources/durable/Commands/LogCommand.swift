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
        stderr. Of each, the first and the last 5 MB are kept. Of several jobs, a line on stderr names each.
        """)

    @Argument(help: ArgumentHelp("The jobs; without any, the last command.", valueName: "id")) var jobs: [JobID] = []
    @Flag(name: [.short, .long], help: "Go on as it grows, until the job has ended. What it waits for goes to stderr.")
    var follow = false
    @Option(parsing: .unconditional, help: ArgumentHelp("Only this attempt.", valueName: "number")) var attempt: Int?
    @OptionGroup var options: StoreOptions

    func validate() throws {
      if let attempt, attempt < 1 { throw ValidationError("--attempt is \(attempt); the first one is 1") }
      guard jobs.count > 1 else { return }
      for (option, isGiven) in [("--follow", follow), ("--json", options.json), ("--attempt", attempt != nil)]
      where isGiven {
        throw ValidationError("\(option) is for one job, and there are \(jobs.count)")
      }
    }

    private func what(_ job: JobSnapshot, _ id: JobID, _ store: OpenStore) -> String {
      let names = [Download.kind: "a download", SendRequest.kind: "a request"]
      return names[job.kind].map { "\($0); '\(store.command("show \(id)"))' tells about it" } ?? "no command"
    }

    func run() async throws {
      Screen.endWithReader()
      guard jobs.count > 1 else { return try await show(jobs.first) }
      let store = try await options.existing(for: jobs)
      var missing: [JobID] = []
      for id in jobs {
        guard let job = try await store.store.jobs(JobQuery(.id(id), detail: .payload, limit: 1)).first else {
          missing.append(id)
          continue
        }
        Talk.line(Screen.error.coloured("── job \(id): \(job.title.withVisibleControls)", .bold))
        show(job, in: store)
      }
      if !missing.isEmpty { throw JobError(.notFound, "there is no job \(missing.list)") }
    }

    private func show(_ named: JobID?) async throws {
      let (store, id) = try await options.existing(for: named, else: .kind(ShellCommand.kind), "command")
      let job = try await store.store.job(id, detail: [])
      if follow {
        // What it shows would be written there again.
        try await OwnJobs(in: store)?.check(isNotNeededBy: [id])
        try await LogFollower(store: store, id: id, attempt: attempt, json: options.json, tells: true).run()
      } else {
        show(job, in: store)
      }
    }

    private func show(_ job: JobSnapshot, in store: OpenStore) {
      let id = job.id
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
