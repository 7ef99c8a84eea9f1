#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsPostgres
  import DurableJobsProcess
  import Foundation

  /// Options of every command.
  struct StoreOptions: ParsableArguments {
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "The store's file, or postgres://user@host/database. Else DURABLE_STORE, else a file in your data folder.",
        valueName: "store"), completion: .file())
    var store: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// Known for sure by now: `durable add curl --json` has it of a command.
    func validate() { Talk.isJSON.withLock { $0 = json } }

    /// `--store X status` is `status --store X`, and `--json status` likewise.
    static func afterVerb(_ words: [String]) -> [String] {
      var (options, rest) = ([String](), words[...])
      while let word = rest.first, word == "--store" || word == "--json" || word.hasPrefix("--store=") {
        let count = word == "--store" ? 2 : 1
        options += rest.prefix(count)
        rest = rest.dropFirst(count)
      }
      var verbs: [String] = []
      var command: any ParsableCommand.Type = DurableCommand.self
      while let word = rest.first,
        let next = (command.configuration.subcommands + command.configuration.groupedSubcommands.flatMap(\.subcommands))
          .first(where: { $0.configuration.commandName == word })
      {
        verbs.append(rest.removeFirst())
        command = next
      }
      return verbs.isEmpty ? words : verbs + options + rest
    }

    /// Where the store is, or would be.
    var place: StorePlace {
      get throws {
        guard let named = try store ?? Self.variable else { return .file(try Self.dataFolder + "/jobs.sqlite") }
        guard !named.isEmpty else { throw ValidationError("--store is empty; give it the path of a file") }
        return try StorePlace(named)
      }
    }

    private static var variable: String? {
      get throws { try path(in: "DURABLE_STORE").flatMap { $0.isEmpty ? nil : $0 } }
    }

    private var isDefault: Bool { get throws { try store == nil && Self.variable == nil } }

    /// The value of a variable. As a String, two that are no UTF-8 would be one store.
    private static func path(in variable: String) throws -> String? {
      guard let value = SystemText.environment(variable) else { return nil }
      guard value.isUTF8 else {
        throw ValidationError("the variable \(variable) is no UTF-8, and the path of a store must be")
      }
      return value.display
    }

    /// The store if it exists. Looking creates none. A server is asked for at most `callLimit`, or as long as usual.
    func existing(callLimit: Duration? = nil) async throws -> OpenStore? {
      let place = try place
      if case .file(let path) = place, Self.isGone(path) { return nil }
      do {
        return try await OpenStore(place, isMade: false, named: store, callLimit: callLimit)
      } catch let error as JobError where error.saysThatThereIsNoStore {
        return nil
      }
    }

    /// The store. Throws ``JobError/Code/notFound`` if it does not exist, as then there is no job either.
    func existing(for ids: [JobID]) async throws -> OpenStore {
      if let store = try await existing() { return store }
      throw JobError(.notFound, "there is no job \(ids.list): \(try missing)")
    }

    /// The store, and that job of it, or the newest that matches. Throws ``JobError/Code/notFound`` if there is none, which
    /// `what` names, as in "command".
    func existing(for job: JobID?, else filter: JobFilter, _ what: String) async throws -> (OpenStore, JobID) {
      if let job { return (try await existing(for: [job]), job) }
      guard let store = try await existing() else { throw JobError(.notFound, "there are no jobs: \(try missing)") }
      let newest = try await store.store.jobs(JobQuery(filter, order: .newestFirst, limit: 1)).first
      guard let newest else { throw JobError(.notFound, "no \(what) has been stored here: \(store.name)") }
      return (store, newest.id)
    }

    /// That there is no store, in words.
    var missing: String {
      get throws {
        switch try place {
        case .file(let path):
          try commandForFolder.map { "\(path) does not exist, nor does its folder. Make that first: \($0)" }
            ?? "\(path) does not exist"
        case .server: "\(try place.name) has no store yet"
        }
      }
    }

    /// What makes a file's folder, to be typed where it is missing; nil also for the default store's, which comes with it.
    var commandForFolder: String? {
      get throws {
        guard try !isDefault, case .file(let path) = try place else { return nil }
        let folder = NSString(string: path).deletingLastPathComponent
        guard access(folder, F_OK) != 0, errno == ENOENT else { return nil }
        return "mkdir -p \(SystemText(folder).shellQuoted)"
      }
    }

    /// The store, created if need be. Only the default one's folder is created with it.
    func open() async throws -> OpenStore {
      let place = try place
      if case .file(let path) = place {
        // What stands beside a store that is gone belongs to nobody; a new one counts from 1 again.
        if Self.isGone(path) {
          for id in JobFolder.ids(beside: path) { JobFolder(store: path, id: id).removeIfFree() }
        }
        if try isDefault {
          try Self.make(folder: (path as NSString).deletingLastPathComponent)
        }
      }
      return try await OpenStore(place, isMade: true, named: store)
    }

    /// Whether there is neither the file nor its log, which has jobs though the file was moved away.
    static func isGone(_ path: String) -> Bool {
      access(path, F_OK) != 0 && errno == ENOENT && access(path + "-wal", F_OK) != 0
    }

    /// For its user alone.
    static func make(folder: String) throws {
      do {
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      } catch {
        throw JobError(.unusableFile, "the folder \(folder) can't be created: \(error.briefly)", cause: error)
      }
    }

    /// Where this machine keeps the default store, and what is beside stores on servers.
    static var dataFolder: String {
      get throws {
        func folder(_ variable: String) throws -> String? {
          try path(in: variable).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        #if os(Linux)
          return try (folder("XDG_DATA_HOME") ?? (folder("HOME") ?? NSHomeDirectory()) + "/.local/share") + "/durable"
        #else
          return try (folder("HOME") ?? NSHomeDirectory()) + "/Library/Application Support/durable"
        #endif
      }
    }
  }

  extension JobError {
    fileprivate var saysThatThereIsNoStore: Bool {
      #if Postgres
        cause is NoStore
      #else
        false
      #endif
    }
  }

  extension JobID: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
  }

  extension JobState: ExpressibleByArgument {}
#endif
