import DurableJobs
import DurableJobsSQLite
import Foundation
import TestProcesses
import Testing

#if Postgres
  import DurableJobsPostgres
  import PostgresTestServer
#endif

/// Real processes that are really killed.
@Suite struct ProcessTests {
  enum Place: CaseIterable {
    case file
    #if Postgres
      case server
    #endif
  }

  private final class Folder: Sendable {
    let store: String
    private let url: URL

    init(_ place: Place) throws {
      let url = FileManager.default.temporaryDirectory.appending(path: "durable-\(UUID().uuidString.prefix(8))")
      self.url = url
      switch place {
      case .file: store = url.appending(path: "jobs.sqlite").path
      #if Postgres
        case .server: store = "\(try TestServer.shared.get().string()) schema=\(TestServer.schema())"
      #endif
      }
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(at: url) }

    func opened() async throws -> any JobStore {
      #if Postgres
        let parts = store.split(separator: " schema=").map(String.init)
        if parts.count == 2 {
          var configuration = PostgresStore.Configuration()
          configuration.schema = parts[1]
          return try await PostgresStore(parts[0], configuration: configuration)
        }
      #endif
      return try SQLiteStore(path: store)
    }

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

  @Test(arguments: Place.allCases)
  func `C1 Killed between two operations, the rest runs in a process that adds none`(place: Place) async throws {
    let folder = try Folder(place)
    let killed = try folder.start(["add", "a", "die", "b", "c"])
    #expect(await killed.ended() == .killed(by: SIGKILL))
    #expect(folder.said("run") == ["a", "die"])
    let next = try folder.start(["go"])
    #expect(await next.ended() == .exited(0))
    #expect(folder.said("run") == ["a", "die", "die", "b", "c"])
    #expect(Set(folder.said("ended").suffix(3)) == ["die", "b", "c"])
    let counts = try await JobQueue("probe", store: folder.opened()).counts()
    #expect(counts == JobCounts([.succeeded: 4]))
  }

  @Test(arguments: Place.allCases)
  func `C11 Two processes on one queue run each operation once`(place: Place) async throws {
    let folder = try Folder(place)
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
