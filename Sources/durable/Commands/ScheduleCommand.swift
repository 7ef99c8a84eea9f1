#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess
  import DurableJobsSchedules
  import Foundation

  struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "schedule",
      abstract: "Commands that are run again and again, each time once however many workers there are.",
      discussion: """
        durable schedule add nightly '0 4 * * *' -- pg_dump -f shop.sql shop
        durable schedule add sync --every 15m --unique sync -- rsync -a photos b:
        durable schedule list

        It needs a worker that is up: durable work, or durable service install. --catch-up says what becomes of ticks that none saw.
        """,
      subcommands: [List.self, Add.self, Pause.self, Resume.self, Remove.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the schedules, in words and with the next three times.")

      @OptionGroup var options: StoreOptions

      func run() async throws {
        let records = try await options.existing()?.store.schedules(where: .all).map { ScheduleRecord($0) } ?? []
        if options.json { return Screen.out.json(records) }
        if records.isEmpty { return Screen.out.line("no schedules") }
        let width = min(24, records.map(\.name.withVisibleControls.columns).max() ?? 0)
        for record in records { record.write(to: .out, nameWidth: width) }
      }
    }

    struct Add: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Have a command stored at each tick; or change what is stored.",
        usage: """
          durable schedule add NAME 'CRON' [options] -- CMD ARG…
          durable schedule add NAME --every TIME [options] -- CMD ARG…
          """,
        discussion: """
          CRON has five fields, as in crontab(5): minute, hour, day of the month, month, day of the week; or it is @hourly, \
          @daily, @weekly, @monthly or @yearly. Where clocks are changed, what is due at given hours runs once; what has * for \
          hours goes on as time passes. Added again under its name it is changed, and nothing is written where it says the same. A \
          paused one stays paused. Options are as those of 'durable add', for the job of each tick.
          """)

      @Argument(help: ArgumentHelp("What it is called.", valueName: "name")) var name: String
      @Argument(help: ArgumentHelp("When: '0 4 * * *', in quotes.", valueName: "cron")) var rule: String?
      @Option(
        parsing: .unconditional, help: ArgumentHelp("Each time that this has passed: 90s, 15m, 2h.", valueName: "time"))
      var every: String?
      @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Count --every from this moment: 2026-11-21T18:30, or 18:30.", valueName: "moment"))
      var from: String?
      @Option(
        parsing: .unconditional,
        help: ArgumentHelp("By the clocks of Europe/Berlin, for example. Default: those here.", valueName: "zone"))
      var timeZone: String?
      @Flag(help: "The cron expression has a field of seconds in front.") var seconds = false
      @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
          "Which ticks to make up for that came while no worker was up: none, the latest, or all.",
          valueName: "none|latest|all"))
      var catchUp = CatchUp.latest
      @OptionGroup var place: CommandArguments
      @OptionGroup var job: JobArguments
      @OptionGroup var options: StoreOptions

      func run() async throws {
        let recurrence = try recurrence()
        for (option, isGiven) in [
          ("--key", job.key != nil), ("--at", job.at != nil), ("--after", job.connections.isWaiting),
          ("--batch", job.connections.batch != nil),
        ] where isGiven {
          throw ValidationError("\(option) goes with one job, and a schedule stores many")
        }
        let command = try place.command(
          CommandWords.typed ?? [],
          asIn: "schedule add \(name) " + (every.map { "--every \($0)" } ?? "'\(rule ?? "0 4 * * *")'"))
        var jobOptions = try job.options(isFollowed: false)
        jobOptions.maxAttempts = jobOptions.maxAttempts ?? 1
        let store = try await options.open()
        let queue = store.queue(job.queue)
        let declaration = try await queue.schedule(name, recurrence, command, catchUp: catchUp, options: jobOptions)
        guard let schedule = try await store.schedule(name) else { return }
        let record = ScheduleRecord(schedule, declaration: declaration)
        let lost = "the schedule '\(name)' is stored; that could not be written"
        if options.json {
          Screen.out.json(record)
          return StoredAllTheSame.tell(lost)
        }
        record.write(to: .out, nameWidth: name.withVisibleControls.columns)
        StoredAllTheSame.tell(lost)
        if declaration != .added { Talk.line("It was there: \(declaration.rawValue)") }
        if Screen.error.isTerminal { try await store.sayIfNobodyWorks(on: schedule.job.id) }
      }

      private func recurrence() throws -> Recurrence {
        if let every {
          guard rule == nil else { throw ValidationError("--every and a cron expression exclude each other") }
          for (option, isGiven) in [("--time-zone", timeZone != nil), ("--seconds", seconds)] where isGiven {
            throw ValidationError("\(option) goes with a cron expression; leave out --every, or \(option)")
          }
          let interval = try DurationArgument.parse(every).duration
          guard interval >= .seconds(1), interval.components.attoseconds == 0 else {
            throw ValidationError("--every is \(every); it must be whole seconds, at least 1")
          }
          return try .every(interval, from: try from.map { try DateArgument.parse($0).date })
        }
        guard from == nil else { throw ValidationError("--from goes with --every") }
        guard let rule else {
          throw ValidationError("when? As in: durable schedule add \(name) '0 4 * * *' -- …, or with --every 15m")
        }
        if timeZone == nil { try DateArgument.checkZone(at: Date()) }
        do {
          return try .cron(rule, timeZone: timeZone ?? TimeZone.current.identifier, withSeconds: seconds)
        } catch let error as CronError {
          // Lines of their own, so that the carets stand below what they mean.
          let lines = error.description.split(separator: "\n")
          Talk.error(Talk.isJSON.withLock(\.self) ? error.description : error.message, code: "usage")
          if !Talk.isJSON.withLock(\.self) { for line in lines.suffix(2) { Talk.line(String(line)) } }
          throw ExitCode(.usage)
        }
      }
    }

    /// Schedules by their names.
    struct Names: ParsableArguments {
      @Argument(help: ArgumentHelp("The schedules.", valueName: "name")) var names: [String]

      /// Does it to each, and says what each is then. The first that there is not is an error, after the others.
      func each(_ options: StoreOptions, isRemoved: Bool = false, _ act: (JobQueue, String) async throws -> Void)
        async throws
      {
        var missing: String?
        let store = try await options.existing()
        for name in names {
          guard let store, let before = try await store.schedule(name) else {
            missing = missing ?? name
            continue
          }
          try await act(store.queue(before.job.queue), name)
          let after = isRemoved ? before : try await store.schedule(name) ?? before
          let record = ScheduleRecord(after, isRemoved: isRemoved)
          options.json
            ? Screen.out.json(ScheduleLine(schedule: record))
            : Screen.out.line("\(name) \(record.stateInWords)".withVisibleControls)
        }
        if let missing { throw JobError(.notFound, "there is no schedule '\(missing)'") }
      }
    }

    struct Pause: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Store nothing more, until it is resumed. What is stored goes on.")
      @OptionGroup var names: Names
      @OptionGroup var options: StoreOptions
      func run() async throws { try await names.each(options) { try await $0.pauseSchedule($1) } }
    }

    struct Resume: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Go on with the next tick. What was due meanwhile is left out.")
      @OptionGroup var names: Names
      @OptionGroup var options: StoreOptions
      func run() async throws { try await names.each(options) { try await $0.resumeSchedule($1) } }
    }

    struct Remove: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "End schedules. The jobs that they have stored stay.")
      @OptionGroup var names: Names
      @OptionGroup var options: StoreOptions
      func run() async throws { try await names.each(options, isRemoved: true) { try await $0.unschedule($1) } }
    }
  }

  extension CatchUp: ExpressibleByArgument {}

  extension OpenStore {
    func schedule(_ name: String) async throws -> ScheduleSnapshot? {
      try await store.schedules(where: .key(JobSchedule.key(of: name))).first
    }
  }
#endif
