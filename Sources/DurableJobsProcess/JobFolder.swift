#if Process
  import DurableJobs
  import Foundation

  /// What a store keeps beside its file for one command: the lock of the running command, and the logs of its runs.
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

    /// By which a command finds its job: the folder, whose last part is the job's id.
    package static let variable = "DURABLE_JOB"
    /// By which it finds the same of the jobs outside of that, a line each: of their commands its worker is a part, or who
    /// follows it.
    package static let outerVariable = "DURABLE_OUTER_JOBS"

    /// What a command of this process, or of one that this has started, finds in its environment.
    func environment(_ given: [String: SystemText]) -> [String: SystemText] {
      var all = given
      all[Self.variable] = SystemText(path)
      Self.noteOwnJobs(in: &all)
      return all
    }

    /// Has a command, which this process runs or waits for, know the jobs of whose commands this is a part.
    package static func noteOwnJobs(in environment: inout [String: SystemText]) {
      var paths = environment[outerVariable].map { lines(of: String(decoding: $0.bytes, as: UTF8.self)) } ?? []
      paths += pathsOfOwnJobs.filter { !paths.contains($0) }
      environment[outerVariable] = paths.isEmpty ? nil : SystemText(paths.joined(separator: "\n"))
    }

    private static func lines(of text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    /// The folders of the jobs of whose commands this process is a part, the outermost first.
    package static var pathsOfOwnJobs: [String] {
      let environment = ProcessInfo.processInfo.environment
      return (environment[outerVariable].map { lines(of: $0) } ?? []) + [environment[variable]].compactMap(\.self)
    }

    /// From now on this process, which goes on without the command that started it, is part of none.
    package static func leaveOwnJobs() { for name in [variable, outerVariable] { unsetenv(name) } }

    package var lock: CommandLock { CommandLock(path: path + "/lock") }

    func create() throws {
      let what = "can't make the folder \(path)"
      do {
        try refusing(what) {
          try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: Int(Self.mode)])
        }
      } catch let refusal as Refusal where refusal.code == EEXIST {
        // Something else is there, and stays: to wait for it would be for ever.
        throw Refusal(what, ENOTDIR)
      }
    }

    /// Removes it, unless something of the command lives. Returns whether it is gone.
    @discardableResult
    package func removeIfFree() -> Bool {
      guard (try? lock.isFree()) == true else { return false }
      remove()
      return access(path, F_OK) != 0
    }

    /// Foreign files in it stay, and the folder with them. A folder that was not made here is left alone.
    package func remove() {
      guard isMadeHere else { return }
      for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] where Self.isOurs(name) {
        unlink("\(path)/\(name)")
      }
      rmdir(path)
    }

    private static let mode: mode_t = 0o700

    private var isMadeHere: Bool {
      var status = stat()
      return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_mode & 0o777 == Self.mode
    }

    private static func isOurs(_ name: String) -> Bool {
      // The last case is a file left by a process that died while replacing one.
      ["lock", "lock.supervisor"].contains(name) || run(ofFile: name) != nil
        || name.wholeMatch(of: /\.dat\.nosync[0-9A-Fa-f]+\.[A-Za-z0-9]{6}/) != nil
    }

    /// The number of the run that has a file of that name; nil if there is none.
    private static func run(ofFile name: String) -> Int? {
      let parts = name.split(separator: ".", omittingEmptySubsequences: false)
      guard (2...3).contains(parts.count), let number = Int32(parts[0]), number > 0, String(number) == parts[0] else {
        return nil
      }
      let isLog = LogStream(rawValue: String(parts[1])) != nil
      let isOurs =
        parts.count == 2
        ? isLog || parts[1] == "run"
        : isLog
          && (["spare", "read"].contains(parts[2])
            || !parts[2].isEmpty && parts[2].utf8.allSatisfy { (0x30...0x39).contains($0) })
      return isOurs ? Int(number) : nil
    }

    /// The runs of this job so far, in order: the last ``mostRuns``. If the job is gone, all that are there. Other jobs
    /// may have had its number before, as in a store restored from a copy.
    package func runs(of job: JobSnapshot?) -> [CommandRun] {
      numbers.keys.sorted().compactMap { run($0) }.filter { $0.isOfJob(createdAt: job?.createdAt) }
    }

    private func run(_ number: Int) -> CommandRun? {
      guard let data = FileManager.default.contents(atPath: file(number, "run")) else { return nil }
      let record = try? JSONDecoder.iso8601.decode(CommandRun.Record.self, from: data)
      return record.map { CommandRun(number: number, record: $0) }
    }

    /// How many runs have their logs kept.
    package static let mostRuns = 10

    /// The files of each run, including runs whose record can't be read: their numbers are taken all the same.
    private var numbers: [Int: [String]] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return names.reduce(into: [:]) { numbers, name in
        if let number = Self.run(ofFile: name) { numbers[number, default: []].append(name) }
      }
    }

    func hasRun(after run: Int) -> Bool { numbers.keys.contains { $0 > run } }

    /// Notes that the command is about to start, under an unused number. Nothing is kept of the oldest runs, nor of
    /// those of other jobs.
    func beginRun(attempt: Int, jobCreatedAt: Date? = nil) throws -> CommandRun {
      let numbers = numbers
      let foreign = numbers.keys.filter { self.run($0)?.isOfJob(createdAt: jobCreatedAt) == false }
      for number in numbers.keys.sorted().dropLast(Self.mostRuns - 1) + foreign { remove(numbers[number]) }
      var number = (numbers.keys.max() ?? 0) + 1
      while true {
        let file = open(file(number, "run"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file >= 0 {
          close(file)
          break
        }
        // A worker that was assumed dead may be here at the same time.
        guard errno == EEXIST else { throw Refusal("can't write into \(path)") }
        number += 1
      }
      let record = CommandRun.Record(
        jobCreatedAt: jobCreatedAt?.milliseconds, attempt: attempt, startedAt: Date())
      let run = CommandRun(number: number, record: record)
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
      // The job's own record is in the store; this line is only for readers of the log.
      try? write(run)
    }

    /// Removes a run of which nothing began.
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

    /// Rethrows in the system's words, if they are known.
    private func refusing(_ what: String, _ body: () throws -> Void) throws {
      do {
        try body()
      } catch {
        throw error.systemCode.map { Refusal(what, $0) } ?? error
      }
    }
  }

  /// Folders for stores that are not in a file: private to this process, removed when it exits.
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
