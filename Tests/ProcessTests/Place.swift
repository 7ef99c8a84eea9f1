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

  #if os(Linux)
    let hasProcessTable = true
  #else
    let hasProcessTable = false
  #endif
#endif
