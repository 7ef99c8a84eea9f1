#if HTTP
  import Foundation
  import TestProcesses
  import Testing

  /// A process that downloads (`Tests/DownloadProbe`), and what it said.
  final class Probe {
    let process = Process()
    private let output: String

    /// `fault`: where, and at which passage, it kills itself, where the trait FaultPoints is on. `trace`: the file for
    /// what strace tells of it.
    init(
      _ url: String, into folder: TestFolder, store: String, _ arguments: String..., fault: String? = nil,
      trace: String? = nil
    ) throws {
      output = store + "-says-\(UUID().uuidString.prefix(8))"
      _ = FileManager.default.createFile(atPath: output, contents: nil)
      process.executableURL = Self.program
      process.arguments = [store, folder.url.path, url] + arguments
      if let trace, let strace = Trace.program {
        process.executableURL = URL(filePath: strace)
        process.arguments = Trace.options + ["-o", trace, Self.program.path] + (process.arguments ?? [])
      }
      process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
      var environment = ProcessInfo.processInfo.environment
      environment["DURABLE_FAULT"] = fault
      process.environment = environment
      try launch(process)
    }

    deinit { if process.isRunning { kill() } }

    /// SIGKILL, and the end of it.
    func kill() {
      Foundation.kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }

    var wasKilled: Bool { process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL }

    /// Waits for its own end. What it said follows from there.
    func end() -> Self {
      process.waitUntilExit()
      return self
    }

    private var lines: [[String]] {
      let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
      return text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    private func said(_ word: String) -> [String] {
      lines.first { $0.first == word }.map { Array($0.dropFirst()) } ?? []
    }

    /// Which job it was, once it was enqueued.
    var job: String? { said("job").first }
    /// "fetched" or "there"; nil if there is no file.
    var result: String? { said("done").first }
    var error: String { said("failed").joined(separator: " ") }
    /// The most memory that it used, in bytes.
    var memory: Int { said("memory").first.flatMap(Int.init).map { $0 * 1024 } ?? 0 }

    private static let program: URL = {
      // Beside the test bundle, wherever the build system puts it.
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
      let folder =
        bundle?.deletingLastPathComponent() ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      return folder.appending(path: "DownloadProbe")
    }()
  }
#endif
