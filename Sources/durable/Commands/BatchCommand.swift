#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  struct BatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "batch",
      abstract: "Jobs that are counted together, and what is done when all of them have ended.",
      discussion: """
        durable batch create photos -- notify-send 'all photos are small'
        for photo in *.jpg; do durable add --batch photos -- mogrify -resize 50% "$photo"; done
        durable batch close photos
        durable batch wait photos

        Every verb takes --batch: durable cancel --batch photos.
        """,
      subcommands: [List.self, Create.self, Show.self, Wait.self, Close.self], defaultSubcommand: List.self)

    /// A batch by its name or number.
    struct Name: ParsableArguments {
      @Argument(
        help: ArgumentHelp("The batch: its name, of which the newest counts, or its number.", valueName: "batch"))
      var name: String

      func batch(_ options: StoreOptions) async throws -> (store: OpenStore, batch: JobBatch) {
        guard let store = try await options.existing() else {
          throw JobError(.notFound, "there is no batch '\(name)': \(try options.missing)")
        }
        return (store, store.queue("default").batch(try await store.store.batch(name).id))
      }
    }

    struct List: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the batches, a line each, the newest last.")

      @Option(parsing: .unconditional, help: ArgumentHelp("No more than this many, the newest.", valueName: "number"))
      var limit = 20
      @OptionGroup var options: StoreOptions

      func validate() throws {
        if limit < 1 { throw ValidationError("--limit is \(limit); it must be at least 1") }
      }

      func run() async throws {
        guard let store = try await options.existing() else {
          return options.json ? Screen.out.json([BatchRecord]()) : Screen.out.line("no batches")
        }
        var records: [BatchRecord] = []
        for batch in try await store.store.batches(.newest(limit)).reversed() {
          records.append(BatchRecord(try await store.queue("default").batch(batch.id).status))
        }
        if options.json { return Screen.out.json(records) }
        if records.isEmpty { return Screen.out.line("no batches") }
        let width = records.map(\.name.withVisibleControls.columns).max() ?? 0
        for record in records { record.write(to: .out, nameWidth: width) }
      }
    }

    struct Create: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a batch that jobs are added to until it is closed.",
        usage: "durable batch create NAME [options] [-- CMD ARG…]",
        discussion: """
          The command, if there is one, is stored when the batch is closed and its last job has ended, however they ended.
          """)

      @Argument(help: ArgumentHelp("What it is called.", valueName: "name")) var name: String
      @OptionGroup var place: CommandArguments
      @Option(parsing: .unconditional, help: ArgumentHelp("The queue to put the command in.", valueName: "name"))
      var queue = "default"
      @OptionGroup var options: StoreOptions

      func run() async throws {
        guard Int64(name) == nil else {
          throw ValidationError("'\(name)' would be taken for a batch's number; put a letter in it")
        }
        let words = CommandWords.typed ?? []
        let next = words.isEmpty ? nil : try place.command(words)
        try NewJob.check(queue: queue)
        try BatchMembership.open(name: name, whenDone: nil).check()
        let store = try await options.open()
        let before = try await store.store.batches(.name(name)).first
        let batch = try await store.queue(queue).openBatch(name, whenDone: next)
        let record = BatchRecord(try await batch.status)
        options.json ? Screen.out.json(record) : Screen.out.line("\(batch.id)")
        guard let before, before.isOpen else { return }
        Talk.line(
          "Batch \(before.id) of that name is open, too; by its name the new one is meant now, batch \(batch.id). "
            + "'\(store.command("batch close \(before.id)"))' closes the other")
      }
    }

    struct Show: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show how far a batch is, and its jobs.")

      @OptionGroup var name: Name
      @OptionGroup var options: StoreOptions

      func run() async throws {
        let (store, batch) = try await name.batch(options)
        let record = BatchRecord(try await batch.status)
        if options.json { return Screen.out.json(record) }
        record.write(to: .out)
        let undone = JobFilter.batch(batch.id) && !.state(.succeeded)
        let jobs = try await store.store.jobs(
          JobQuery(undone, detail: [.payload, .failures, .edges], limit: 20))
        JobTable(jobs: jobs, workers: try await store.workers(of: jobs)).write(to: .out)
        let rest = try await store.store.counts(where: undone).total - jobs.count
        if rest > 0 { Talk.line("… and \(rest) more; all: \(store.command("status --all --batch \(batch.id)"))") }
      }
    }

    struct Wait: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until all jobs of a batch have ended.",
        discussion:
          "Exits with 1 if one of them did not succeed. A line for each change; on a terminal, one that changes.")

      @OptionGroup var name: Name
      @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Give up after this time: 90, 90s, 5m, 2h, 1d. Exits with 4.", valueName: "time"))
      var timeout: String?
      @OptionGroup var options: StoreOptions

      func run() async throws {
        let limit = try timeout.map { try DurationArgument.parse($0).duration }
        let (store, batch) = try await name.batch(options)
        if try await batch.status.batch.isOpen {
          Talk.line("It is open: '\(store.command("batch close \(batch.id)"))' says that no more jobs come")
        }
        let own = try await OwnJobs(in: store)
        try await WaitCommand.within(limit) { [json = options.json] in
          if let own, try await !batch.status.isDone { try await own.check(isNotNeededBy: batch.id) }
          if json || !Screen.out.canMove {
            try await ObstacleReport.telling(
              of: { try await store.nextObstructed(ofBatch: batch.id) }, in: store, by: own
            ) {
              try await store.patiently { try await Self.tell(batch, json: json) }
            }
          } else {
            // Once, as lines in between would break the one that changes.
            if let job = try await store.nextObstructed(ofBatch: batch.id) {
              var report = ObstacleReport(store)
              report.own = own
              report.isLive = false
              try await report.look(at: job)
            }
            try await store.patiently { try await Self.tell(batch, json: false) }
          }
        }
        let lives = try await store.endRemains(in: .batch(batch.id), letting: ObstacleReport.lastWords)
        if try await batch.status.unsuccessful > 0 || !lives.isEmpty { throw ExitCode(.jobFailed) }
      }

      /// How far it is, until it is done.
      private static func tell(_ batch: JobBatch, json: Bool) async throws {
        var block = LiveBlock(isReflowed: Screen.isReflowed)
        let resumption = await Resumption()
        for try await status in batch.statuses {
          let record = BatchRecord(status)
          if json {
            Screen.out.json(BatchLine(record))
          } else if let size = Screen.out.size, Screen.out.canMove {
            let line = record.line(for: .out, nameWidth: 0)
            if resumption.take() { block.forget() }
            // The last one stays, and is said in the background too.
            let (lines, last) = status.isDone ? ([], [line]) : ([line], [])
            let text = Screen.out.text(of: &block, lines, below: last, size: size)
            Screen.out.write(Data(text.utf8))
          } else if status.isDone {
            record.write(to: .out)
          }
        }
      }
    }

    struct Close: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "close", abstract: "Say that no more jobs come: it is done once those that it has have ended.")

      @OptionGroup var name: Name
      @OptionGroup var options: StoreOptions

      func run() async throws {
        let (_, batch) = try await name.batch(options)
        try await batch.close()
        let record = BatchRecord(try await batch.status)
        options.json ? Screen.out.json(record) : record.write(to: .out)
      }
    }
  }
#endif
