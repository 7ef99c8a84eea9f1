import Foundation
import TestProcesses
import Testing

/// A store of a test's own, and processes on it. Removed with its last copy.
final class ScheduleFolder {
  let url: URL
  var store: String { url.appending(path: "jobs.sqlite").path }

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "schedules-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Starts a `ScheduleProbe`.
  func start(
    _ arguments: [String], output: String? = nil, environment: [String: String]? = nil
  ) throws -> ChildProcess {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let products =
      bundle?.deletingLastPathComponent() ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    let file = output.map { open($0, O_WRONLY | O_CREAT, 0o600) }
    defer { file.map { _ = close($0) } }
    return try ChildProcess(
      products.appending(path: "ScheduleProbe").path, arguments, environment: environment, output: file)
  }
}
