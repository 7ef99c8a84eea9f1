#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess
  import DurableJobsSQLite
  import Foundation

  /// Options of every command.
  struct StoreOptions: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "The store's file. Else DURABLE_STORE, else a file in your data folder.", valueName: "path"))
    var store: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// Where the store is, or would be.
    var path: String {
      get throws {
        let environment = ProcessInfo.processInfo.environment
        let named = store ?? environment["DURABLE_STORE"].flatMap { $0.isEmpty ? nil : $0 }
        if let named {
          guard !named.isEmpty else { throw ValidationError("--store is empty; give it the path of a file") }
          guard !named.contains("://") else {
            throw ValidationError("\(named) is an address; only a store in a file can be opened so far")
          }
          return absolute(NSString(string: named).expandingTildeInPath)
        }
        return Self.dataFolder(environment) + "/jobs.sqlite"
      }
    }

    /// The store if it exists. Looking creates none.
    func existing() throws -> OpenStore? {
      let path = try path
      guard access(path, F_OK) == 0 || errno != ENOENT else { return nil }
      return try OpenStore(path)
    }

    /// The store. Throws ``JobError/Code/notFound`` if it does not exist, as then there is no job either.
    func existing(for ids: [JobID]) throws -> OpenStore {
      if let store = try existing() { return store }
      let jobs = ids.map(\.description).joined(separator: ", ")
      throw JobError(.notFound, "there is no job \(jobs): \(try path) does not exist")
    }

    /// The store, created if need be. Only the default one's folder is created with it.
    func open() throws -> OpenStore {
      let path = try path
      // What stands beside a store that is gone belongs to nobody; a new one counts from 1 again.
      if access(path, F_OK) != 0, errno == ENOENT {
        for id in JobFolder.ids(beside: path) { JobFolder(store: path, id: id).removeIfFree() }
      }
      if store == nil, ProcessInfo.processInfo.environment["DURABLE_STORE"] == nil {
        let folder = (path as NSString).deletingLastPathComponent
        do {
          try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
          throw JobError(.unusableFile, "the folder \(folder) can't be created: \(error.briefly)", cause: error)
        }
      }
      return try OpenStore(path)
    }

    /// Says how to start a worker if this job is ready, and nobody lives who could run it.
    func sayIfNobodyWorks(on id: JobID, queue: String, _ open: OpenStore) async throws {
      guard try await open.store.job(id).state == .ready,
        try await open.store.outstanding(.queue(queue)).active == 0
      else { return }
      let option = queue == "default" ? "" : " --queue \(SystemText(queue).shellQuoted)"
      let place = store.map { " --store \(SystemText($0).shellQuoted)" } ?? ""
      Talk.line("No worker is running. Start one with: durable work\(option)\(place)")
    }

    private func absolute(_ path: String) -> String {
      path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    private static func dataFolder(_ environment: [String: String]) -> String {
      func folder(_ variable: String) -> String? { environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } }
      let home = folder("HOME") ?? NSHomeDirectory()
      #if os(Linux)
        return (folder("XDG_DATA_HOME") ?? home + "/.local/share") + "/durable"
      #else
        return home + "/Library/Application Support/durable"
      #endif
    }
  }

  /// A store that is open, and where it is.
  struct OpenStore: Sendable {
    let store: SQLiteStore
    /// Without symbolic links, so that all who open one file find the same locks beside it.
    let path: String

    private static let opened = Lock<[SQLiteStore]>([])

    /// Lets go of all stores, so that other processes need not find out that this one has ended.
    static func closeAll() async {
      let stores = opened.withLock { stores in
        defer { stores = [] }
        return stores
      }
      for store in stores { await store.close() }
    }

    init(_ path: String) throws {
      let store = try SQLiteStore(path: path)
      self.store = store
      Self.opened.withLock { $0.append(store) }
      self.path = store.path ?? path
    }

    func queue(_ name: String) -> JobQueue { JobQueue(name, store: store) }

    func folder(_ id: JobID) -> JobFolder { JobFolder(store: path, id: id) }
  }

  extension JobID: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
  }

  extension JobState: ExpressibleByArgument {}
#endif
