import DurableJobs
import DurableJobsSQLite
import Foundation
import TestProcesses
import Testing

/// Real processes that are really killed.
@Suite struct ProcessTests {
  private final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "durable-\(UUID().uuidString.prefix(8))")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }

    var store: String { url.appending(path: "jobs.sqlite").path }
    private var record: String { url.appending(path: "record").path }

    func start(_ arguments: [String]) throws -> ChildProcess {
      try ChildProcess(URL.built("OperationProbe").path, [store, record] + arguments)
    }

    /// What was said, without who said it.
    func said(_ word: String) -> [String] {
      let text = (try? String(contentsOfFile: record, encoding: .utf8)) ?? ""
      return text.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0[1] == word }.map { String($0[2]) }
    }
  }

  @Test func `C1 Killed between two operations, the rest runs in a process that adds none`() async throws {
    let folder = try Folder()
    let killed = try folder.start(["add", "a", "die", "b", "c"])
    #expect(await killed.ended() == .killed(by: SIGKILL))
    #expect(folder.said("run") == ["a", "die"])
    let next = try folder.start(["go"])
    #expect(await next.ended() == .exited(0))
    #expect(folder.said("run") == ["a", "die", "die", "b", "c"])
    #expect(Set(folder.said("ended").suffix(3)) == ["die", "b", "c"])
    let counts = try await JobQueue("probe", store: SQLiteStore(path: folder.store)).counts()
    #expect(counts == JobCounts([.succeeded: 4]))
  }

  @Test func `C11 Two processes on one queue run each operation once`() async throws {
    let folder = try Folder()
    let numbers = (0..<100).map { "\($0)" }
    let processes = try [
      folder.start(["add"] + numbers.map { "a\($0)" }), folder.start(["add"] + numbers.map { "b\($0)" }),
    ]
    for process in processes { #expect(await process.ended() == .exited(0)) }
    let runs = folder.said("run")
    #expect(runs.filter { $0.hasPrefix("a") } == numbers.map { "a\($0)" })
    #expect(runs.filter { $0.hasPrefix("b") } == numbers.map { "b\($0)" })
  }
}
