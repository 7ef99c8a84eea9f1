#if Process
  import DurableJobs
  import DurableJobsProcess
  import DurableJobsSQLite
  import Foundation
  import TestProcesses
  import Testing

  /// A folder with a store of a test's own, and workers on it that are processes (`Tests/CommandProbe`). Removed with its
  /// last copy.
  final class Place: Sendable {
    let folder: String
    let store: SQLiteStore
    var queue: JobQueue { JobQueue(store: store) }

    init() throws {
      var template = Array("\(FileManager.default.temporaryDirectory.path)/durable-process-XXXXXX".utf8CString)
      try #require(mkdtemp(&template) != nil)
      folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      var configuration = SQLiteStore.Configuration()
      // This process may be the one that recovers the jobs of a killed worker.
      configuration.policy.maxCrashesInRow = 100_000
      configuration.policy.maxCrashes = 100_000
      configuration.policy.crashBackOff = BackOff(base: .milliseconds(1), factor: 1, cap: .milliseconds(1))
      store = try SQLiteStore(path: folder + "/jobs.sqlite", configuration: configuration)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Adds a line for the shell, and returns its job.
    func add(_ line: String) async throws -> JobHandle<ShellCommand.Output> {
      try await queue.enqueue(ShellCommand([line], in: folder, shell: true))
    }

    func work(concurrency: Int = 1) throws -> ChildProcess {
      try ChildProcess(Self.probe, ["work", folder + "/jobs.sqlite", "\(concurrency)"])
    }

    func logs(_ job: JobHandle<ShellCommand.Output>) -> CommandLogs { CommandLogs(of: job.id, in: store) }

    /// The lines of a file in the folder; none if there is none.
    func lines(_ name: String) -> [String] {
      let text = (try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)) ?? ""
      return text.split(separator: "\n").map(String.init)
    }

    /// Makes a named pipe in the folder.
    func pipe(_ name: String) throws -> NamedPipe { try NamedPipe(folder + "/" + name) }

    static let probe = URL.built("CommandProbe").path
  }

  /// A named pipe, by which a command and a test wait for each other.
  struct NamedPipe: Sendable {
    let path: String

    init(_ path: String) throws {
      self.path = path
      try #require(mkfifo(path, 0o600) == 0)
    }

    /// Waits until something was written and the writer has closed it.
    func read() async -> String {
      await onThread { [path] in
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while Foundation.read(file, &byte, 1) == 1 { text.append(byte) }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      }
    }

    /// Waits for a reader, and gives it a line.
    func write(_ line: String) async {
      await onThread { [path] in
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        _ = (line + "\n").utf8CString.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count - 1) }
      }
    }
  }

  /// Waits for what blocks, on a thread of its own.
  func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: body()) }
    }
  }

  /// Processes that this one can see, by what the system's table says of them.
  enum ProcessList {
    /// The living children of a process.
    static func children(of parent: pid_t) -> [pid_t] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
      return names.compactMap { pid_t($0) }.filter { fields($0).map { $0[0] != "Z" && $0[1] == "\(parent)" } ?? false }
    }

    static func hasEnded(_ process: pid_t) -> Bool { fields(process).map { $0[0] == "Z" } ?? true }

    static func words(of process: pid_t) -> [String] {
      let data = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
      return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What its descriptors lead to.
    static func files(of process: pid_t) -> [Int32: String] {
      let folder = "/proc/\(process)/fd"
      let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { Int32($0) }
      return numbers.reduce(into: [:]) { files, number in
        files[number] = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")
      }
    }

    static func isStopped(_ process: pid_t) -> Bool { fields(process).map { $0[0] == "T" } ?? true }

    /// Whether that signal is on its way to it.
    static func isWaiting(_ signal: Int32, for process: pid_t) -> Bool { has(signal, process, ["SigPnd:", "ShdPnd:"]) }

    /// Whether it has a handler for that signal.
    static func catches(_ signal: Int32, _ process: pid_t) -> Bool { has(signal, process, ["SigCgt:"]) }

    private static func has(_ signal: Int32, _ process: pid_t, _ names: [String]) -> Bool {
      let text = FileManager.default.contents(atPath: "/proc/\(process)/status") ?? Data()
      return String(decoding: text, as: UTF8.self).split(separator: "\n").contains { line in
        guard names.contains(where: { line.hasPrefix($0) }), let field = line.split(separator: "\t").last
        else { return false }
        return (UInt64(field, radix: 16) ?? 0) >> UInt64(signal - 1) & 1 == 1
      }
    }

    /// How often its threads went to sleep.
    static func sleeps(of process: pid_t) -> Int {
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
      return threads.reduce(0) { sum, thread in
        let text = FileManager.default.contents(atPath: "/proc/\(process)/task/\(thread)/status") ?? Data()
        let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first {
          $0.hasPrefix("voluntary_ctxt_switches:")
        }
        return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
      }
    }

    /// What follows the name in the table.
    private static func fields(_ process: pid_t) -> [Substring]? {
      guard let data = FileManager.default.contents(atPath: "/proc/\(process)/stat"), !data.isEmpty else { return nil }
      return String(decoding: data, as: UTF8.self).split(separator: ")").last?.split(separator: " ")
    }
  }

  #if os(Linux)
    let hasProcessTable = true
  #else
    let hasProcessTable = false
  #endif
#endif
