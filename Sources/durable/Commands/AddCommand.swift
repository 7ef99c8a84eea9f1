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
        The arguments are stored as given, and no shell reads them unless you ask for it. The command runs in the \
        folder in which you add it, with its umask, an empty standard input, and PATH, HOME, USER, LANG, LC_*, TZ, TERM \
        and what --env names from its environment: a secret whose name is given alone is in no process list. It has one \
        attempt unless --max-attempts says more. Prints the job's id; with --follow stdout is the command's, and the id \
        goes to stderr.

        durable add -- rsync -a photos/ backup:photos
        durable add --max-attempts 5 --timeout 10m -- curl -fO https://example.org/big.iso
        durable add --shell -- 'pg_dump shop | gzip > shop.sql.gz'
        """)

    @Option(parsing: .unconditional, help: ArgumentHelp("Run in this folder.", valueName: "folder")) var cwd: String?
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp("Give the command this variable, by default with its value here.", valueName: "name[=value]"))
    var env: [String] = []
    @OptionGroup var job: JobArguments
    @Flag(help: "Let /bin/sh read the first argument; others are its $1, $2, ….") var shell = false
    @Flag(
      help: """
        Run it here and now, and show what it writes. Exits with its exit code, 128 and the signal that killed it, or 1 \
        if it had no end of its own.
        """)
    var follow = false
    @OptionGroup var options: StoreOptions
    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The command.", valueName: "cmd"))
    var command: [String] = []

    func run() async throws {
      let command = try storedCommand()
      let payload = try Self.encoder.encode(command)
      var jobOptions = try job.options(isFollowed: follow)
      jobOptions.maxAttempts = jobOptions.maxAttempts ?? 1
      // What the core refuses is refused before the store is touched.
      try NewJob(
        queue: job.queue, kind: ShellCommand.kind, payload: payload,
        terms: JobTerms(
          maxAttempts: jobOptions.maxAttempts ?? 1, timeout: jobOptions.timeout, key: job.key,
          unique: jobOptions.unique, lane: jobOptions.lane, tags: jobOptions.tags, requires: jobOptions.requires)
      ).check()
      let store = try options.open()
      let added = try await store.queue(job.queue).enqueue(command, after: job.dependencies, options: jobOptions)
      let id = added.id
      if !added.isNew { Talk.line("Job \(id) has the unique key '\(jobOptions.unique?.key ?? "")': nothing was added") }
      let place = follow ? try await store.place(of: id, kind: ShellCommand.kind) : job.queue
      if options.json {
        Screen.out.json(JobRecord(try await store.store.job(id)))
      } else if follow {
        Talk.line("Job \(id)")
      } else {
        Screen.out.line("\(id)")
      }
      if follow {
        try await Following(store: store, queue: place, id: id, json: options.json, runs: .commands).run()
      } else if Screen.error.isTerminal {
        try await store.sayIfUnknown(keys: job.keysWaitedFor)
        try await store.sayIfNobodyWorks(on: id)
      }
    }

    private static var encoder: JSONEncoder {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return encoder
    }

    private func storedCommand() throws -> ShellCommand {
      var words = SystemText.lastArguments(command.count)
      if words.first == SystemText("--") {
        words.removeFirst()
      } else if let first = command.first, first.hasPrefix("-") {
        if first == "--help" || first == "-h" { throw CleanExit.helpRequest(self) }
        // What was given to it may be a secret.
        let option = String(first.prefix { $0 != "=" })
        let options = Self.helpMessage().matches(of: /--[a-z][a-z-]+/).map { String($0.output) }
        let hint = options.nearest(to: option).map { "; did you mean '\($0)'?" } ?? "."
        throw ValidationError("unknown option '\(option)'\(hint) Options go before '--', the command after it")
      }
      guard let program = words.first, !program.bytes.isEmpty else {
        throw ValidationError("what is to be run? As in: durable add -- sleep 10")
      }
      guard let here = SystemText.currentDirectory else {
        throw ValidationError("the current folder is gone; go to another one, or name one with --cwd")
      }
      return ShellCommand(
        arguments: words, cwd: try folder(from: here), umask: ShellCommand.octal(Program.umaskAtStart),
        env: try environment(), shell: shell)
    }

    private func folder(from here: SystemText) throws -> SystemText {
      guard let cwd else { return here }
      let path = SystemText(cwd.hasPrefix("/") ? cwd : here.display + "/" + cwd)
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path.display, isDirectory: &isFolder), isFolder.boolValue else {
        throw ValidationError("--cwd \(cwd): there is no such folder")
      }
      guard let resolved = realpath(path.display, nil) else { return path }
      defer { free(resolved) }
      return SystemText(String(cString: resolved))
    }

    /// The parser has put other bytes in its place.
    private static func isGarbled(_ assignment: String) -> Bool {
      SystemText.lastArguments(Int(CommandLine.argc) - 1).contains {
        !$0.isUTF8 && [assignment, "--env=" + assignment].contains($0.display)
      }
    }

    private func environment() throws -> [String: SystemText] {
      var result = SystemText.inheritedEnvironment
      for assignment in env {
        let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard !name.isEmpty else { throw ValidationError("--env '\(assignment)': the name is missing") }
        guard !Self.isGarbled(assignment) else {
          throw ValidationError("--env \(name): its value is no UTF-8. Export it, and give --env \(name) alone")
        }
        if parts.count == 2 {
          result[name] = SystemText(String(parts[1]))
        } else if let value = SystemText.environment(name) {
          result[name] = value
        } else {
          throw ValidationError("--env \(name): there is no such variable here. Write \(name)=VALUE")
        }
      }
      return result
    }
  }
#endif
