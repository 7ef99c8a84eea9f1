#if Shell
  import DurableJobs
  import Foundation

  /// What a store keeps beside its file for one command: the lock of the command that runs, and the logs of its runs.
  ///
  /// A run is one start of the command. An attempt that a crash cut short is repeated under its number, so an attempt may
  /// have several runs.
  struct JobFolder: Sendable {
    let path: String
    let id: JobID

    init(store: String, id: JobID) {
      path = Self.all(of: store) + "/\(id)"
      self.id = id
    }

    /// The folder that holds those of all jobs.
    static func all(of store: String) -> String { store + "-jobs" }

    /// The jobs that have one.
    static func ids(beside store: String) -> [JobID] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: all(of: store))) ?? []
      return names.compactMap { JobID($0) }
    }

    var lockPath: String { path + "/lock" }

    func create() throws {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Removes it, unless something of the command lives.
    func removeIfFree() {
      if CommandLock(path: lockPath).isFree { remove() }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// The runs so far, in their order.
    var runs: [CommandRun] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return names.filter { $0.hasSuffix(".run") }.compactMap { Int($0.dropLast(4)) }.sorted().compactMap { number in
        guard let data = FileManager.default.contents(atPath: file(number, "run")) else { return nil }
        let record = try? JSONDecoder.iso8601.decode(CommandRun.Record.self, from: data)
        return record.map { CommandRun(number: number, record: $0) }
      }
    }

    /// Notes that the command is about to start.
    func beginRun(attempt: Int) throws -> CommandRun {
      let run = CommandRun(
        number: (runs.last?.number ?? 0) + 1, record: .init(attempt: attempt, startedAt: Date()))
      try write(run)
      return run
    }

    /// Notes how a run ended.
    func end(_ run: CommandRun, _ ending: String) {
      var run = run
      run.record.endedAt = Date()
      run.record.ending = ending
      // The job's own record is in the store; this line is only for who reads the log.
      try? write(run)
    }

    func log(_ run: Int, _ stream: LogStream) -> String { file(run, stream.rawValue) }

    /// Where the launcher says why it could not start the command.
    func troubleFile(_ run: Int) -> String { file(run, "trouble") }

    private func file(_ run: Int, _ suffix: String) -> String { "\(path)/\(run).\(suffix)" }

    private func write(_ run: CommandRun) throws {
      try JSONEncoder.iso8601.encode(run.record)
        .write(to: URL(fileURLWithPath: file(run.number, "run")), options: .atomic)
    }
  }

  /// One start of a command.
  struct CommandRun: Sendable {
    struct Record: Codable, Sendable {
      var attempt: Int
      var startedAt: Date
      /// Absent while it runs, and for good if its worker died.
      var endedAt: Date?
      /// As in "exited with code 1".
      var ending: String?
    }

    var number: Int
    var record: Record
  }

  enum LogStream: String, CaseIterable, Sendable {
    case stdout, stderr
  }

  extension JSONEncoder {
    static var iso8601: JSONEncoder {
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = .custom { date, encoder in
        var container = encoder.singleValueContainer()
        try container.encode(date.iso8601)
      }
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return encoder
    }
  }

  extension JSONDecoder {
    static var iso8601: JSONDecoder {
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = .custom { decoder in
        let text = try decoder.singleValueContainer().decode(String.self)
        return try Date(text, strategy: Date.iso8601Style)
      }
      return decoder
    }
  }

  extension Date {
    static var iso8601Style: Date.ISO8601FormatStyle { Date.ISO8601FormatStyle(includingFractionalSeconds: true) }
    /// In UTC with milliseconds.
    var iso8601: String { formatted(Self.iso8601Style) }
  }
#endif
