#if Shell
  import Foundation
  import Subprocess
  import Testing

  /// A store of a test's own, and the built program to use it with. Removed with its last copy.
  final class Durable: Sendable {
    let folder: String
    let program: String
    /// A file in the folder, unless it was given.
    var store: String { server ?? folder + "/jobs.sqlite" }
    private let server: String?

    /// Of the products of this package, "durable" or "durable-demo".
    init(_ product: String = "durable", store: String? = nil) throws {
      server = store
      program = Self.products + "/" + product
      let base = FileManager.default.temporaryDirectory.path
      var template = Array("\(base)/durable-test-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
      folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    struct Outcome {
      var status: TerminationStatus
      var stdout: [UInt8]
      var stderr: String
      var text: String { String(decoding: stdout, as: UTF8.self) }
      var line: String { text.trimmingCharacters(in: .newlines) }

      /// What it printed, as one JSON object.
      var json: [String: Any] {
        get throws { try #require(try JSONSerialization.jsonObject(with: Data(stdout)) as? [String: Any]) }
      }
    }

    /// Runs the program to its end.
    @discardableResult
    func callAsFunction(_ arguments: String..., environment: [Environment.Key: String?] = [:]) async throws -> Outcome {
      try await run(arguments.map { Array($0.utf8) }, environment: environment)
    }

    func run(_ arguments: [[UInt8]], environment: [Environment.Key: String?] = [:]) async throws -> Outcome {
      let result = try await Subprocess.run(
        .path(.init(program)), arguments: Arguments(arguments.map { $0 + [0] }),
        environment: self.environment(environment),
        workingDirectory: .init(folder), output: .bytes(limit: 64 << 20), error: .string(limit: 1 << 20))
      return Outcome(
        status: result.terminationStatus, stdout: result.standardOutput, stderr: result.standardError)
    }

    /// Runs a line of bash, in which the program is `$DURABLE`.
    func shell(_ line: String, environment more: [Environment.Key: String?] = [:]) async throws -> Outcome {
      let result = try await Subprocess.run(
        .name("bash"), arguments: ["-c", line],
        environment: environment(more.merging(["DURABLE": program]) { $1 }), workingDirectory: .init(folder),
        output: .bytes(limit: 1 << 20), error: .string(limit: 1 << 20))
      return Outcome(status: result.terminationStatus, stdout: result.standardOutput, stderr: result.standardError)
    }

    /// Adds a command, and returns its id.
    func add(_ arguments: String...) async throws -> Int {
      let outcome = try await run([Array("add".utf8)] + arguments.map { Array($0.utf8) })
      try #require(outcome.status == .exited(0), "\(outcome.stderr)")
      return try #require(Int(outcome.line))
    }

    func job(_ id: Int) async throws -> [String: Any] { try await self("show", "\(id)", "--json").json }

    func state(_ id: Int) async throws -> String { try #require(try await job(id)["state"] as? String) }

    func message(_ id: Int) async throws -> String {
      let errors = try #require(try await job(id)["errors"] as? [[String: Any]])
      return try #require(errors.last?["message"] as? String)
    }

    struct Ended {
      var status: TerminationStatus
      var stderr: String
    }

    /// Runs a worker while `body` does; kills it if it has not ended by then, unless `body` waits for that.
    func work(
      _ arguments: String..., body: @escaping @Sendable (RunningWorker) async throws -> Void
    ) async throws -> Ended {
      let result = try await Subprocess.run(
        .path(.init(program)), arguments: Arguments(["work", "--json"] + arguments),
        environment: environment([:]), input: .none, output: .sequence, error: .string(limit: 1 << 20)
      ) { execution in
        let worker = RunningWorker(process: execution.processIdentifier.value)
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            for try await line in execution.standardOutput.strings() { await worker.hear(line) }
            await worker.hasEnded()
          }
          do {
            try await body(worker)
          } catch {
            kill(worker.process, SIGKILL)
            throw error
          }
          kill(worker.process, SIGKILL)
          try await group.waitForAll()
        }
      }
      return Ended(status: result.terminationStatus, stderr: result.standardError)
    }

    /// Waits until nothing of a job's command lives: until its lock can be had.
    func untilGone(_ id: Int) async throws {
      let file = open("\(store)-jobs/\(id)/lock", O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
      try #require(file >= 0)
      await onThread {
        while flock(file, LOCK_SH) != 0, errno == EINTR {}
        close(file)
      }
    }

    /// Whether something of a job's command does.
    func lives(_ id: Int) throws -> Bool {
      let file = open("\(store)-jobs/\(id)/lock", O_RDONLY | O_CLOEXEC)
      try #require(file >= 0)
      defer { close(file) }
      return flock(file, LOCK_SH | LOCK_NB) != 0
    }

    func environment(_ more: [Environment.Key: String?]) -> Environment {
      var values: [Environment.Key: String?] = ["DURABLE_STORE": store, "NO_COLOR": "1"]
      if server != nil {
        // Of a machine of its own.
        values["HOME"] = folder
        values["XDG_DATA_HOME"] = .some(nil)
      }
      values.merge(more) { $1 }
      return .inherit.updating(values)
    }

    /// What is built stands beside the test bundle.
    static let products: String = {
      #if os(Linux)
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
      #else
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath ?? ""
      #endif
      return (bundle as NSString).deletingLastPathComponent
    }()
  }

  /// A worker process, and what it has said so far.
  actor RunningWorker {
    nonisolated let process: pid_t
    private var events: [[String: String]] = []
    private var isOver = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(process: pid_t) { self.process = process }

    /// Waits until it has said `event` of a job, "started" or "ended".
    func says(_ event: String, _ id: Int) async throws {
      while !events.contains(where: { $0["event"] == event && $0["id"] == "\(id)" }) {
        try #require(!isOver, "the worker has ended without saying '\(event)' of job \(id)")
        await withCheckedContinuation { waiting.append($0) }
      }
    }

    func hasSaid(_ event: String, _ id: Int) -> Bool {
      events.contains { $0["event"] == event && $0["id"] == "\(id)" }
    }

    /// How its attempts ended.
    func results(_ id: Int) -> [String] {
      events.filter { $0["event"] == "ended" && $0["id"] == "\(id)" }.map { $0["result"] ?? "" }
    }

    func ends() async {
      while !isOver { await withCheckedContinuation { waiting.append($0) } }
    }

    fileprivate func hear(_ line: String) {
      let fields = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any] ?? [:]
      events.append(fields.mapValues { "\($0)" })
      wake()
    }

    fileprivate func hasEnded() {
      isOver = true
      wake()
    }

    private func wake() {
      for continuation in waiting { continuation.resume() }
      waiting = []
    }
  }

  /// A named pipe by which a command tells a test that it runs.
  struct Fifo: Sendable {
    let path: String

    init(in durable: Durable, _ name: String = "said") throws {
      path = durable.folder + "/" + name
      try #require(mkfifo(path, 0o600) == 0)
    }

    /// Waits until something was written and the writer has closed it.
    func said() async -> String {
      await onThread { [path] in
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while read(file, &byte, 1) == 1 { text.append(byte) }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      }
    }

    /// Waits for a reader, and gives it a line.
    func say(_ line: String) async {
      await onThread { [path] in
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        _ = (line + "\n").utf8CString.withUnsafeBytes { write(file, $0.baseAddress, $0.count - 1) }
      }
    }
  }

  /// Waits for what blocks, on a thread of its own.
  func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: body()) }
    }
  }
#else
  import Testing

  @Test(.disabled("the command needs --enable-all-traits"))
  func theCommandRunsCommands() {}
#endif
