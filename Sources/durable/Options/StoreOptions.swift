#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  /// Options of every command.
  struct StoreOptions: ParsableArguments {
    @Option(
      parsing: .unconditional,
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
            throw ValidationError(
              "\(named.withoutPasswords) is an address; only a store in a file can be opened so far")
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
      return try OpenStore(path, named: store)
    }

    /// The store. Throws ``JobError/Code/notFound`` if it does not exist, as then there is no job either.
    func existing(for ids: [JobID]) throws -> OpenStore {
      if let store = try existing() { return store }
      let jobs = ids.map(\.description).joined(separator: ", ")
      throw JobError(.notFound, "there is no job \(jobs): \(try path) does not exist")
    }

    /// The store, and that job of it, or the newest that matches. Throws ``JobError/Code/notFound`` if there is none.
    func existing(for job: JobID?, else filter: JobFilter) async throws -> (OpenStore, JobID) {
      if let job { return (try existing(for: [job]), job) }
      guard let store = try existing() else {
        throw JobError(.notFound, "there are no jobs: \(try path) does not exist")
      }
      let newest = try await store.store.jobs(JobQuery(filter, order: .newestFirst, limit: 1)).first
      guard let newest else { throw JobError(.notFound, "there is no such job in \(store.path)") }
      return (store, newest.id)
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
      return try OpenStore(path, named: store)
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

  extension JobID: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
  }

  extension JobState: ExpressibleByArgument {}
#endif
