#if HTTP
  import Foundation
  import TestProcesses
  import Testing

  /// A process that downloads (`Tests/DownloadProbe`), and what it said.
  final class Probe {
    let process: ChildProcess
    private let output: String

    /// `fault`: where, and at which passage, it kills itself, where the trait FaultPoints is on. `trace`: the file for
    /// what strace tells of it, with these options.
    init(
      _ url: String, into folder: TestFolder, store: String, _ arguments: String..., fault: String? = nil,
      trace: String? = nil, _ options: [String] = []
    ) throws {
      output = store + "-says-\(UUID().uuidString.prefix(8))"
      _ = FileManager.default.createFile(atPath: output, contents: nil)
      var command = [Self.program.path, store, folder.url.path, url] + arguments
      if let trace, let strace = Trace.program {
        command = [strace] + Trace.options + options + ["-o", trace] + command
      }
      var environment = ProcessInfo.processInfo.environment
      environment["DURABLE_FAULT"] = fault
      let file = try FileHandle(forWritingTo: URL(filePath: output))
      process = try ChildProcess(
        command[0], Array(command.dropFirst()), environment: environment, output: file.fileDescriptor)
    }

    /// SIGKILL, and the end of it.
    func kill() {
      process.send(SIGKILL)
      process.wait()
    }

    var wasKilled: Bool { process.wait() == .killed(by: SIGKILL) }

    /// Waits for its own end. What it said follows from there.
    func end() async -> Self {
      await process.ended()
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

    private static let program = URL.built("DownloadProbe")
  }
#endif
