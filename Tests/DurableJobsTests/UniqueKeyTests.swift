import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

/// What a caller sees of unique keys. What stores do about them is in the conformance suite.
@Suite struct UniqueKeyTests {
  private struct Sync: Job, Equatable {
    var account: Int
    static let kind = "sync"
    var options: JobOptions { JobOptions(unique: UniqueKey("sync-\(account)")) }

    func run(in context: JobContext) async throws -> Int { account * 2 }
  }

  private let jobs = TestJobs()
  private var queue: JobQueue { jobs.queue }

  @Test func `A window ends where a wait of its length would, however long that is`() {
    func until(_ length: Duration) -> Int64? { KeyHold(UniqueKey("u", scope: .within(length)), storedAt: 1000).until }
    #expect(until(.seconds(2)) == 3000)
    #expect(until(.seconds(Int64.max)) == Date.latest)
  }

  @Test("C44 Of many callers one stores the job, and all of them get its value")
  func manyCallers() async throws {
    let queue = queue
    let handles = try await withThrowingTaskGroup(of: JobHandle<Int>.self) { group in
      for _ in 0..<20 { group.addTask { try await queue.enqueue(Sync(account: 7)) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(try await handles[0].snapshot.uniqueKey == "sync-7")
    #expect(handles.count { $0.isNew } == 1)
    #expect(try await jobs.enqueued(Sync.self) == [Sync(account: 7)])
    jobs.worker.register(Sync.self)
    try await jobs.drain()
    for handle in handles { #expect(try await handle.value == 14) }
    #expect(try await queue.enqueue(Sync(account: 7)).isNew)
  }

  @Test("A handle made from an id is not new")
  func handleFromID() async throws {
    let handle = try await queue.enqueue(Sync(account: 1))
    #expect(handle.isNew)
    #expect(!queue.handle(handle.id, as: Sync.self).isNew)
  }

  @Test("Jobs stored together share the keys that they have in common")
  func together() async throws {
    let handles = try await queue.enqueue(contentsOf: [1, 2, 1].map { Sync(account: $0) })
    #expect(handles.map(\.isNew) == [true, true, false])
    #expect(handles[2].id == handles[0].id)
  }

  @Test("A call's own unique key goes before the payload's, and a kind without a type has one too")
  func options() async throws {
    let first = try await queue.enqueue(Sync(account: 1), options: JobOptions(unique: UniqueKey("all")))
    let other = try await queue.enqueue(Sync(account: 1))
    #expect(other.isNew)
    let id = try await queue.enqueue(kind: "k", payload: Data(), options: JobOptions(unique: UniqueKey("all")))
    #expect(id == first.id)
  }

  @Test("C46 A retry while a newer twin waits is refused with its id, and many are retried without it")
  func retry() async throws {
    let first = try await queue.enqueue(Sync(account: 1))
    try await first.fail(JobFailure(job: first.id, kind: "sync", message: "no", attempts: 1))
    let twin = try await queue.enqueue(Sync(account: 1))
    let error = await #expect(throws: JobError.self) { try await queue.retry(first.id) }
    #expect(error?.code == .wrongState)
    #expect(
      error?.message
        == "job 1 can't be retried: its unique key belongs to job 2; cancel that one first, or remove it if it has ended"
    )
    #expect(try await queue.retryAll() == 0)
    try await twin.cancel()
    #expect(try await queue.retryAll() == 1)
    #expect(try await queue.enqueue(Sync(account: 1)).id == first.id)
  }
}
