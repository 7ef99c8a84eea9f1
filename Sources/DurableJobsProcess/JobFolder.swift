#if Process
  import DurableJobs
  import Foundation

  /// What a store keeps beside its file for one command: the lock of the command that runs, and the logs of its runs.
  ///
  /// A run is one start of the command. An attempt that a crash cut short is repeated under its number, so an attempt may
  /// have several runs.
  package struct JobFolder: Sendable {
    package let path: String
    package let id: JobID

    package init(store: String, id: JobID) {
      path = Self.all(of: store) + "/\(id)"
      self.id = id
    }

    /// The folder that holds those of all jobs.
    package static func all(of store: String) -> String { store + "-jobs" }

    /// The jobs that have one.
    package static func ids(beside store: String) -> [JobID] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: all(of: store))) ?? []
      return names.compactMap { JobID($0) }
    }

    package var lockPath: String { path + "/lock" }

    package func create() throws {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Removes it, unless something of the command lives.
    package func removeIfFree() {
      if CommandLock(path: lockPath).isFree { remove() }
    }

    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// The runs so far, in their order.
    package var runs: [CommandRun] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return names.filter { $0.hasSuffix(".run") }.compactMap { Int($0.dropLast(4)) }.sorted().compactMap { number in
        guard let data = FileManager.default.contents(atPath: file(number, "run")) else { return nil }
        let record = try? JSONDecoder.iso8601.decode(CommandRun.Record.self, from: data)
        return record.map { CommandRun(number: number, record: $0) }
      }
    }

    /// Notes that the command is about to start.
    package func beginRun(attempt: Int) throws -> CommandRun {
      let run = CommandRun(
        number: (runs.last?.number ?? 0) + 1, record: .init(attempt: attempt, startedAt: Date()))
      try write(run)
      return run
    }

    /// Notes how a run ended.
    package func end(_ run: CommandRun, _ ending: String, exitCode: Int32? = nil) {
      var run = run
      run.record.endedAt = Date()
      run.record.ending = ending
      run.record.exitCode = exitCode
      // The job's own record is in the store; this line is only for who reads the log.
      try? write(run)
    }

    package func log(_ run: Int, _ stream: LogStream) -> String { file(run, stream.rawValue) }

    /// Where the launcher says why it could not start the command.
    package func troubleFile(_ run: Int) -> String { file(run, "trouble") }

    private func file(_ run: Int, _ suffix: String) -> String { "\(path)/\(run).\(suffix)" }

    private func write(_ run: CommandRun) throws {
      try JSONEncoder.iso8601.encode(run.record)
        .write(to: URL(fileURLWithPath: file(run.number, "run")), options: .atomic)
    }
  }

  /// One start of a command.
  package struct CommandRun: Sendable {
    package struct Record: Codable, Sendable {
      package var attempt: Int
      package var startedAt: Date
      /// Absent while it runs, and for good if its worker died.
      package var endedAt: Date?
      /// As in "exited with code 1".
      package var ending: String?
      /// The command's own, or 128 and the signal that killed it; nil if it had no end of its own.
      package var exitCode: Int32?
    }

    package var number: Int
    package var record: Record
  }

  package enum LogStream: String, CaseIterable, Sendable {
    case stdout, stderr
  }
#endif
