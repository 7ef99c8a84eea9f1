#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  struct ServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "service",
      abstract: "Have a worker after each log-in: a user unit of systemd, or an agent of launchd.",
      discussion: """
        Under systemd it begins with your log-in and ends with your last log-out, unless 'loginctl enable-linger' has it \
        run from the start of the machine on.
        """,
      subcommands: [Install.self, Remove.self, Status.self], defaultSubcommand: Status.self)

    struct Name: ParsableArguments {
      @Option(parsing: .unconditional, help: ArgumentHelp("Its name, where there are several.", valueName: "name"))
      var name = "durable"

      func validate() throws {
        let isPlain = name.utf8.allSatisfy {
          $0 < 0x80 && (Character(UnicodeScalar($0)).isLetter || ($0 >= 0x30 && $0 <= 0x39) || "-_.".utf8.contains($0))
        }
        guard !name.isEmpty, isPlain, name.first != ".", name.first != "-" else {
          throw ValidationError("--name \(name): letters, digits, '-', '_' and '.' can be in it")
        }
      }
    }

    struct Install: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Have a worker now and after each log-in.",
        discussion: "Install it again to change its options.")

      @OptionGroup var name: Name
      @Option(
        parsing: .unconditional, help: ArgumentHelp("Jobs that may run at once, of each queue.", valueName: "number"))
      var concurrency = Defaults.concurrency
      @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A queue to work on; may be repeated.", valueName: "name"))
      var queue: [String] = ["default"]
      @Flag(help: "Only print what would be written.") var print = false
      @OptionGroup var options: StoreOptions

      func validate() throws {
        guard concurrency >= 1 else { throw ValidationError("--concurrency is \(concurrency); it must be at least 1") }
        if print, options.json { throw ValidationError("--print prints a file as it is; leave out --json") }
      }

      func run() async throws {
        for name in queue { try NewJob.check(queue: name) }
        let (store, path) = try await placeAndPath()
        var words = [Program.path, "work", "--store", store, "--concurrency", "\(concurrency)"]
        for name in queue { words += ["--queue", name] }
        var folder: String?
        // As with --detach: a worker finds what its connection string names where that was typed.
        if case .server(let place) = try options.place, place.namesRelativePaths { folder = try StorePlace.here() }
        let file = ServiceFile(name: name.name, words: words, folder: folder, log: path + "-worker.log")
        let manager = ServiceManager()
        if print { return Screen.out.write(Data(manager.text(of: file).utf8)) }
        try await manager.check(file)
        let target = manager.path(of: file)
        let place = (target as NSString).deletingLastPathComponent
        do {
          try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
          try Data(manager.text(of: file).utf8).write(
            to: URL(fileURLWithPath: target).resolvingSymlinksInPath(), options: .atomic)
        } catch {
          throw JobError(.unusableFile, "\(target) can't be written: \(error.briefly)", cause: error)
        }
        do {
          try await manager.enable(file)
        } catch let error as JobError {
          throw JobError(error.code, "\(target) is written, but it does not work yet: \(error.message)")
        }
        try await ServiceCommand.report(file, options)
      }

      /// What the file says of the store, where everybody may read it, and where the worker's log is.
      private func placeAndPath() async throws -> (String, String) {
        switch try options.place {
        case .file(let path):
          let path = print ? try StorePlace.resolved(path) : try await options.open().path
          return (path, path)
        case .server(let place):
          guard !place.hasSecret else {
            throw ValidationError(
              "a file of a service is no place for a password; put it into ~/.pgpass, or name a service=")
          }
          _ = try options.place.name  // throws where it can't be read
          guard print else { return (place.text, try await options.open().path) }
          #if os(macOS)
            // Only the store knows what its files here are called.
            guard let store = try await options.existing() else { throw JobError(.notFound, try options.missing) }
            return (place.text, store.path)
          #else
            return (place.text, "")
          #endif
        }
      }
    }

    struct Remove: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Stop it, and have no worker after log-ins any more. Jobs stay.")

      @OptionGroup var name: Name
      @OptionGroup var options: StoreOptions

      func run() async throws {
        let file = ServiceFile(name: name.name, words: [], log: "")
        let manager = ServiceManager()
        let target = manager.path(of: file)
        guard FileManager.default.fileExists(atPath: target) else {
          throw JobError(.notFound, "there is no service '\(name.name)': \(target) does not exist")
        }
        try await manager.check(file)
        // What could not be enabled may not be disabled either; its file goes all the same.
        var trouble: JobError?
        do { try await manager.disable(file) } catch let error as JobError { trouble = error }
        do { try FileManager.default.removeItem(atPath: target) } catch {
          throw JobError(.unusableFile, "\(target) can't be deleted: \(error.briefly)", cause: error)
        }
        if let trouble {
          throw JobError(trouble.code, "\(target) is deleted, and more was not done: \(trouble.message)")
        }
        try await manager.forget()
        try await ServiceCommand.report(file, options)
      }
    }

    struct Status: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say whether it is installed, and whether it works. Exits with 1 if not.")

      @OptionGroup var name: Name
      @OptionGroup var options: StoreOptions

      func run() async throws {
        let isAtWork = try await ServiceCommand.report(ServiceFile(name: name.name, words: [], log: ""), options)
        if !isAtWork { throw ExitCode(.jobFailed) }
      }
    }

    /// Answers whether it works.
    @discardableResult
    fileprivate static func report(_ file: ServiceFile, _ options: StoreOptions) async throws -> Bool {
      let manager = ServiceManager()
      let path = manager.path(of: file)
      let isInstalled = FileManager.default.fileExists(atPath: path)
      let record = ServiceRecord(
        name: file.name, file: path, installed: isInstalled, state: isInstalled ? await manager.state(of: file) : nil)
      if options.json {
        Screen.out.json(record)
      } else {
        let state =
          isInstalled ? record.state ?? "installed; \(ServiceManager.program) can't be asked" : "not installed"
        Screen.out.line("\(file.name): \(state)")
      }
      return record.state == "active" || record.state == "loaded"
    }
  }

  private struct ServiceRecord: Encodable {
    var name: String
    /// The unit, or the agent.
    var file: String
    var installed: Bool
    /// In a word of the system's.
    @OrNull var state: String?
  }
#endif
