#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add",
      abstract: "Store a command, to be run by a worker.",
      usage: "durable add [options] -- CMD ARG…",
      discussion: """
        Prints the job's id. The arguments are stored as given, and no shell reads them unless you ask for --shell.

        The command runs in the folder in which you add it, with an empty standard input. Of your environment it gets PATH, \
        HOME, USER, LANG, LC_*, TZ, TERM, XDG_*, SSH_AUTH_SOCK and the proxies, and what --env names. Give a secret as \
        --env NAME, without its value: then it is in no process list. A command has one attempt unless --max-attempts says more.

        durable add -- rsync -a photos/ backup:photos
        durable add --max-attempts 5 --timeout 10m -- curl -fO https://example.org/x
        durable add --shell -- 'pg_dump shop | gzip > shop.sql.gz'
        durable add --input commands.txt
        """)

    @OptionGroup var place: CommandArguments
    @OptionGroup var job: JobArguments
    @Option(
      name: [.customShort("i"), .customLong("input")],
      help: ArgumentHelp(
        """
        A list of commands, a line for /bin/sh each; '-' is standard input. All are stored in one transaction, or none; \
        empty lines and those that begin with # are left out.
        """, valueName: "file"), completion: .file())
    var list: String?
    @Flag(
      help: """
        Run it here and now, and show what it writes; the id goes to stderr. Exits with the command's exit code, with 128 \
        and the signal that killed it, or with 1 if it had no end of its own.
        """)
    var follow = false
    @OptionGroup var options: StoreOptions
    @Argument(
      parsing: .captureForPassthrough, help: ArgumentHelp("The command.", valueName: "cmd"),
      completion: CompletionScript.ofCommand)
    var command: [String] = []

    func run() async throws {
      if follow { try Program.provideRoom(forWork: true) }
      if let list { return try await addAll(of: list) }
      var command = try place.command(try words())
      // Whoever runs it, those jobs end only after it.
      if follow { JobFolder.noteOwnJobs(in: &command.env) }
      if !place.shell { Self.tellOfLine(command) }
      let jobOptions = try checkedOptions(for: command)
      let store = try await options.open()
      let new = try store.queue(job.queue).prepare(command, after: job.connections.dependencies, options: jobOptions)
      let added = try await store.store.add([new], to: job.connections.batch)[0]
      let id = added.id
      if !added.disposition.isNew {
        Talk.line("Job \(id) has the unique key '\(jobOptions.unique?.key ?? "")': nothing was added")
      }
      if !follow { OpenStore.leaveOpen() }
      let queue = follow ? try await store.place(of: id, kind: ShellCommand.kind) : job.queue
      if options.json {
        Screen.out.json(JobRecord(try await store.store.job(id), inStream: follow))
      } else if follow {
        Talk.line("Job \(id)")
      } else {
        Screen.out.line("\(id)")
      }
      if !follow { StoredAllTheSame.tell([id]) }
      if follow {
        try await Following(store: store, queue: queue, id: id, json: options.json, runs: .commands).run()
      } else if Screen.error.isTerminal {
        try await store.sayIfUnknown(keys: job.connections.keysWaitedFor)
        try await store.sayIfNobodyWorks(on: id)
      }
    }

    /// Says what becomes of a line that a shell was to read.
    private static func tellOfLine(_ command: ShellCommand) {
      guard command.arguments.count == 1, let line = command.arguments.first?.display,
        line.contains(where: \.isWhitespace), access(line, F_OK) != 0
      else { return }
      Talk.line(
        "'\(line.withoutSecretsOfLine.withVisibleControls)' is taken for the name of a program; with --shell it is a line "
          + "for /bin/sh")
    }

    /// What the core refuses is refused before the store is touched.
    private func checkedOptions(for command: ShellCommand) throws -> JobOptions {
      var jobOptions = try job.options(isFollowed: follow)
      jobOptions.maxAttempts = jobOptions.maxAttempts ?? 1
      try NewJob(
        queue: job.queue, kind: ShellCommand.kind, payload: JSONEncoder.ofPayloads.encode(command),
        terms: JobTerms(
          maxAttempts: jobOptions.maxAttempts ?? 1, timeout: jobOptions.timeout, key: job.key,
          unique: jobOptions.unique, lane: jobOptions.lane, tags: jobOptions.tags, requires: jobOptions.requires)
      ).check()
      return jobOptions
    }

    /// What follows the options.
    private func words() throws -> [SystemText] {
      // Without '--' before it, a command may have one in it.
      let words = CommandWords.typed(from: command)
      guard let first = command.first else { return CommandWords.typed ?? [] }
      if first.hasPrefix("-") {
        if first == "--help" || first == "-h" { throw CleanExit.helpRequest(self) }
        let option = Self.optionName(first)
        let hint =
          TypedOtherwise.option(option, of: "add").map { $0 + "." }
          ?? Self.ownOptions.nearest(to: option).map { "; did you mean '\($0)'?" } ?? "."
        throw ValidationError("unknown option '\(option)'\(hint) Options go before '--', the command after it")
      }
      if let time = SplitTime(options: CommandLine.arguments.dropLast(words.count), command: command) {
        throw ValidationError(time.hint)
      }
      tellOfOptions(in: command)
      return words
    }

    /// Says which words of the command look like options of this verb: after its first word all belongs to the command.
    private func tellOfOptions(in command: [String]) {
      let candidates = command.dropFirst().filter { $0.hasPrefix("--") }.map(Self.optionName)
      guard !candidates.isEmpty else { return }
      let own = Set(Self.ownOptions).subtracting(["--help", "--version"])
      var taken: [String] = []
      for option in candidates where own.contains(option) && !taken.contains(option) { taken.append(option) }
      guard !taken.isEmpty else { return }
      let belongs = taken.count == 1 ? "belongs" : "belong"
      Talk.line(
        "\(taken.joined(separator: ", ")) after '\(command[0].withoutSecretsOfLine.withVisibleControls)' \(belongs) to the command; options of "
          + "'durable add' go before it. '--' before the command says that it is meant so")
    }

    /// Without what was given to it, which may be a secret.
    private static func optionName(_ word: String) -> String { String(word.prefix { $0 != "=" }) }

    private static var ownOptions: [String] {
      helpMessage().matches(of: /--[a-z][a-z-]+/).map { String($0.output) }
    }

    // MARK: A list

    /// Stores a command for each line, all of them or none, and prints their ids.
    private func addAll(of path: String) async throws {
      if let word = command.first ?? CommandWords.typed?.first?.display {
        throw ValidationError("--input has the commands; leave out '\(word.withoutSecretsOfLine)'")
      }
      guard !follow else { throw ValidationError("--follow runs one command; leave out --input, or --follow") }
      for (option, isGiven) in [("--key", job.key != nil), ("--unique", job.unique != nil)] where isGiven {
        throw ValidationError("\(option) goes with one job; leave out --input, or \(option)")
      }
      var line = place
      line.shell = true
      let commands = try TextLines(of: path, "--input \(path)").compactMap { entry -> ShellCommand? in
        guard let text = entry.text else { throw ValidationError("\(entry.place): this line is not UTF-8") }
        if text.utf8.contains(0) { throw ValidationError("\(entry.place): this line has a zero byte in it") }
        return text.hasPrefix("#") ? nil : try line.command([SystemText(text)])
      }
      guard let first = commands.first else {
        throw ValidationError("nothing to add: \(path == "-" ? "standard input" : path) has no command")
      }
      let jobOptions = try checkedOptions(for: first)
      let store = try await options.open()
      let queue = store.queue(job.queue)
      let new = try commands.map { try queue.prepare($0, after: job.connections.dependencies, options: jobOptions) }
      let ids = try await store.store.add(new, to: job.connections.batch).map(\.id)
      OpenStore.leaveOpen()
      for page in ids.pages(of: 400) {
        let jobs = options.json ? try await store.store.jobs(Array(page), detail: .all) : [:]
        for id in page {
          if !options.json {
            Screen.out.line("\(id)")
          } else if let job = jobs[id] {
            Screen.out.json(JobRecord(job, inStream: true))
          }
        }
      }
      StoredAllTheSame.tell(ids)
      if Screen.error.isTerminal, !options.json { try await store.sayIfNobodyWorks(on: ids[0]) }
    }
  }
#endif
