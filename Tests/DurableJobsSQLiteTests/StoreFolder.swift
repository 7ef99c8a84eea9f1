import DurableJobs
import Foundation

@testable import DurableJobsSQLite

/// A folder for one test's stores, which goes with it.
final class StoreFolder: Sendable {
  let path: String

  /// `inMemory`: where nothing waits for a disk, if there is such a place.
  init(inMemory: Bool = false) throws {
    let memory = URL(fileURLWithPath: "/dev/shm")
    let parent =
      inMemory && FileManager.default.isWritableFile(atPath: memory.path)
      ? memory : FileManager.default.temporaryDirectory
    path = parent.appendingPathComponent("durable-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func path(_ name: String = "jobs.sqlite") -> String { path + "/" + name }

  func store(_ name: String = "jobs.sqlite", clock: any JobClock = SystemClock()) throws -> SQLiteStore {
    var configuration = SQLiteStore.Configuration()
    configuration.clock = clock
    return try SQLiteStore(path: path(name), configuration: configuration)
  }
}

extension NewJob {
  static func plain(
    _ kind: String = "work", queue: String = "default", terms: JobTerms = JobTerms(), payload: String = "{}"
  ) -> NewJob {
    NewJob(queue: queue, kind: kind, payload: Data(payload.utf8), terms: terms)
  }

  static func unique(_ key: String) -> NewJob { .plain(terms: JobTerms(unique: UniqueKey(key))) }
}

extension ClaimRequest {
  static func of(
    _ capacity: Int, worker: WorkerID = "w", kinds: Set<String> = ["work"], queue: String = "default",
    lease: Duration = Defaults.lease
  ) -> ClaimRequest {
    ClaimRequest(worker: worker, kinds: kinds, free: [queue: capacity], lease: lease)
  }
}

extension WorkerID: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self.init(value) }
}

extension ClaimedJob {
  func settled(_ result: ClaimSettlement.Result = .succeeded(output: nil)) -> ClaimSettlement {
    ClaimSettlement(token: token, result: result)
  }
}

extension SQLiteStore {
  @discardableResult
  func insert(_ jobs: NewJob...) async throws -> [JobID] { try await insert(JobInsertion(jobs)).ids }

  func job(_ id: JobID) async throws -> JobSnapshot? {
    try await jobs(JobQuery(.id(id), detail: .all)).first
  }

  /// Runs `body` on the writer's connection, in a transaction.
  func onWriter<R: Sendable>(_ body: @escaping @Sendable (WriteTransaction) throws -> R) async throws -> R {
    try await engine.write(.other, body)
  }

  /// Returns once the writer has answered what it was asked before, however the store is suspended.
  func writerRests() async throws {
    try await withCheckedThrowingContinuation {
      engine.writer.add(WriteRequest($0, [WriteRequest.Part(order: .other) { _, _ in }]))
    }
  }

  /// Runs SQL as another program might.
  func execute(_ sql: String) async throws {
    try await onWriter { try Statement(sql, on: $0.connection.handle).run() }
  }

  /// The first column of the rows of `sql`.
  func numbers(_ sql: String) async throws -> [Int64] {
    try await engine.read { connection in
      let statement = try Statement(sql, on: connection)
      var numbers: [Int64] = []
      while try statement.step() { numbers.append(statement.int(0)) }
      return numbers
    }
  }
}
