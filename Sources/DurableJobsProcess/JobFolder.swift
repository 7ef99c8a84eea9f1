#if Process
  import DurableJobs
  import Foundation

  /// What a store keeps beside its file for one command: the lock of the command that runs, and the logs of its runs.
  package struct JobFolder: Codable, Sendable {
    package let path: String

    package init(store: String, id: JobID) { path = Self.all(of: store) + "/\(id)" }

    package init(_ id: JobID, in store: any JobStore) { path = Self.all(of: store) + "/\(id)" }

    /// The folder that holds those of all jobs.
    package static func all(of store: String) -> String { store + "-jobs" }

    static func all(of store: any JobStore) -> String {
      store.path.map { all(of: $0) } ?? TemporaryFolder.of(store)
    }

    /// The jobs that have one.
    package static func ids(beside store: String) -> [JobID] { ids(in: all(of: store)) }

    static func ids(in all: String) -> [JobID] {
      ((try? FileManager.default.contentsOfDirectory(atPath: all)) ?? []).compactMap { JobID($0) }
    }

    package var lock: CommandLock { CommandLock(path: path + "/lock") }

    func create() throws {
      try refusing("can't make the folder \(path)") {
        try FileManager.default.createDirectory(
          atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      }
    }

    /// Removes it, unless something of the command lives. Answers whether it is gone.
    @discardableResult
    package func removeIfFree() -> Bool {
      guard (try? lock.isFree()) == true else { return false }
      remove()
      return access(path, F_OK) != 0
    }

    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// The runs so far, in their order: the last ``mostRuns``.
    package var runs: [CommandRun] {
      numbers.keys.sorted().compactMap { number in
        guard let data = FileManager.default.contents(atPath: file(number, "run")) else { return nil }
        let record = try? JSONDecoder.iso8601.decode(CommandRun.Record.self, from: data)
        return record.map { CommandRun(number: number, record: $0) }
      }
    }

    /// Runs whose logs are kept.
    package static let mostRuns = 10

    /// The files of each run, also of one whose record can't be read: its number is taken all the same.
    private var numbers: [Int: [String]] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return names.reduce(into: [:]) { numbers, name in
        let parts = name.split(separator: ".")
        if parts.count > 1, let number = Int(parts[0]) { numbers[number, default: []].append(name) }
      }
    }

    func hasRun(after run: Int) -> Bool { numbers.keys.contains { $0 > run } }

    /// Notes that the command is about to start, under a number that nobody else has. Of the oldest runs nothing is kept.
    func beginRun(attempt: Int) throws -> CommandRun {
      let numbers = numbers
      for number in numbers.keys.sorted().dropLast(Self.mostRuns - 1) { remove(numbers[number]) }
      var number = (numbers.keys.max() ?? 0) + 1
      while true {
        let file = open(file(number, "run"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file >= 0 {
          close(file)
          break
        }
        // A worker that was thought dead may be here at the same time.
        guard errno == EEXIST else { throw Refusal("can't write into \(path)") }
        number += 1
      }
      let run = CommandRun(number: number, record: .init(attempt: attempt, startedAt: Date()))
      do {
        try write(run)
      } catch {
        forget(run)
        throw error
      }
      return run
    }

    /// Notes how a run ended.
    func end(_ run: CommandRun, _ ending: String, exitCode: Int32? = nil) {
      var run = run
      run.record.endedAt = Date()
      run.record.ending = ending
      run.record.exitCode = exitCode
      // The job's own record is in the store; this line is only for who reads the log.
      try? write(run)
    }

    /// Nothing of it began: it was no run.
    func forget(_ run: CommandRun) { remove(numbers[run.number]) }

    private func remove(_ names: [String]?) { for name in names ?? [] { unlink("\(path)/\(name)") } }

    package func log(_ run: Int, _ stream: LogStream) -> String { file(run, stream.rawValue) }

    private func file(_ run: Int, _ suffix: String) -> String { "\(path)/\(run).\(suffix)" }

    private func write(_ run: CommandRun) throws {
      try refusing("can't write into \(path)") {
        try JSONEncoder.iso8601.encode(run.record)
          .write(to: URL(fileURLWithPath: file(run.number, "run")), options: .atomic)
      }
    }

    /// In the system's words, where they are known.
    private func refusing(_ what: String, _ body: () throws -> Void) throws {
      do {
        try body()
      } catch {
        throw error.systemCode.map { Refusal(what, $0) } ?? error
      }
    }
  }

  /// Folders for stores that are in no file: this process's own, removed when it exits.
  enum TemporaryFolder {
    private struct Place {
      weak var store: (any JobStore)?
      let path: String
    }

    private static let places = Lock<[ObjectIdentifier: Place]>([:])

    static func of(_ store: any JobStore) -> String {
      places.withLock { places in
        let key = ObjectIdentifier(store)
        if let place = places[key], place.store != nil { return place.path }
        let path = "\(base)/\(UUID().uuidString)"
        places[key] = Place(store: store, path: path)
        return path
      }
    }

    private static let base: String = {
      atexit { try? FileManager.default.removeItem(atPath: TemporaryFolder.base) }
      return "\(FileManager.default.temporaryDirectory.path)/durable-\(getpid())-\(UUID().uuidString)"
    }()
  }
#endif
