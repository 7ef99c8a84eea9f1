import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct GroupCommitTests {
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store()
  }

  private struct Refusal: Error {}

  /// Keeps the writer busy until all of `bodies` wait, so that they share the next transaction.
  private func together(_ bodies: [@Sendable () async throws -> Void]) async throws -> [Result<Void, any Error>] {
    let (isBusy, goOn) = (Gate(), DispatchSemaphore(value: 0))
    async let first: Void = store.onWriter { _ in
      isBusy.open()
      goOn.wait()
    }
    await isBusy.pass()
    let results = await withTaskGroup(of: (Int, Result<Void, any Error>).self) { group in
      for (index, body) in bodies.enumerated() {
        group.addTask {
          do { return (index, .success(try await body())) } catch { return (index, .failure(error)) }
        }
      }
      while store.engine.writer.waitingCount < bodies.count { await Task.yield() }
      goOn.signal()
      var results = [Result<Void, any Error>?](repeating: nil, count: bodies.count)
      for await (index, result) in group { results[index] = result }
      return results.compactMap { $0 }
    }
    try await first
    return results
  }

  private func commits() async throws -> Int { try await store.onWriter { $0.connection.takeWork().commits } }

  @Test func `Callers that wait together share one commit`() async throws {
    try await store.insert(.plain())
    _ = try await commits()
    let store = store
    let results = try await together((0..<20).map { _ in { try await store.insert(.plain()) } })
    #expect(results.count == 20)
    #expect(try await commits() == 3)  // the reading before, the one that kept it busy, the group
    #expect(try await store.counts(where: .all)[.ready] == 21)
  }

  @MainActor
  @Test
  func `C62 Storing 5,000 jobs one by one, the main actor waits for no transaction, and no file is touched till then`()
    async throws
  {
    let record = DiskRecord(of: folder.path("main.sqlite"))
    defer { record.end() }
    let store = try folder.store("main.sqlite")
    let queue = JobQueue(store: store)
    try await queue.enqueue(kind: "work", payload: Data("{}".utf8))
    let (isBusy, goOn) = (Gate(), DispatchSemaphore(value: 0))
    async let busy: Void = store.onWriter { _ in
      isBusy.open()
      goOn.wait()
    }
    await isBusy.pass()
    let calls = record.calls.value
    #expect(calls > 0)
    // The main actor alone lets the transaction go on, and only once all of them wait for its end.
    let storing = (0..<5_000).map { _ in Task { try await queue.enqueue(kind: "work", payload: Data("{}".utf8)) } }
    while store.engine.writer.waitingCount < storing.count { await Task.yield() }
    #expect(record.calls.value == calls)
    goOn.signal()
    try await busy
    for task in storing { _ = try await task.value }
    #expect(try await store.counts(where: .all)[.ready] == 5_001)
    await store.close()
  }

  @Test func `What is listened for while a transaction goes on is heard`() async throws {
    let (isBusy, goOn) = (Gate(), DispatchSemaphore(value: 0))
    let heard = Lock<ForeignChange>([])
    async let insertion: Void = store.onWriter { transaction in
      isBusy.open()
      goOn.wait()
      _ = try transaction.insert(JobInsertion([.plain()]))
    }
    await isBusy.pass()
    let subscription = store.signals.listen { signal in
      if case .changedElsewhere(let change) = signal { heard.withLock { $0.formUnion(change) } }
    }
    goOn.signal()
    try await insertion
    #expect(heard.withLock { $0 }.contains(.work))
    withExtendedLifetime(subscription) {}
  }

  @Test func `One caller's error is nobody else's, and nothing of that caller stays`() async throws {
    let store = store
    let results = try await together([
      { try await store.insert(.plain("a")) },
      {
        try await store.onWriter { transaction in
          _ = try transaction.insert(JobInsertion([.plain("b"), .plain("never")]))
          throw Refusal()
        }
      },
      { try await store.insert(.plain("b")) },
    ])
    #expect((try? results[0].get()) != nil)
    #expect((try? results[1].get()) == nil)
    #expect((try? results[2].get()) != nil)
    #expect(try await store.jobs(JobQuery()).map(\.kind).sorted() == ["a", "b"])
    #expect(try await store.counts(where: .all) == JobCounts([.ready: 2]))
    #expect(try await store.numbers("SELECT count(*) FROM durable_route") == [2])
    // Routes that were made in the transaction that failed are known no more: the next use makes them again.
    try await store.insert(.plain("never"))
    #expect(try await store.claim(.of(10, kinds: ["a", "b", "never"])).jobs.count == 3)
  }

  @Test func `Some of a group are refused, and the others still share one commit`() async throws {
    try await store.insert(.plain())
    _ = try await commits()
    let store = store
    let results = try await together(
      (0..<200).map { number in
        {
          try await store.onWriter { transaction in
            _ = try transaction.insert(JobInsertion([.plain(), .unique("\(number)")]))
            if number % 50 == 7 { throw Refusal() }
          }
        }
      })
    #expect(results.count { (try? $0.get()) == nil } == 4)
    #expect(try await commits() == 3)  // the reading before, the one that kept it busy, the group
    #expect(try await store.counts(where: .all) == JobCounts([.ready: 1 + 2 * 196]))
    #expect(try await store.check() == [])
  }

  @Test func `C45 The one that won a unique key is rolled back: another of the group wins it, and nothing is lost`()
    async throws
  {
    let held = try await store.insert(.unique("held"))[0]
    let running = try await store.claim(.of(1)).jobs[0]
    let store = store
    let replies = Lock<[InsertedJob]>([])
    func insert(_ key: String) -> @Sendable () async throws -> Void {
      {
        let jobs = try await store.insert(JobInsertion([.unique(key)])).jobs
        replies.withLock { $0 += jobs }
      }
    }
    let fails: @Sendable () async throws -> Void = {
      try await store.onWriter { transaction in
        _ = try transaction.insert(JobInsertion([.unique("u"), .unique("v"), .unique("held")]))
        throw Refusal()
      }
    }
    let results = try await together([
      fails, insert("u"), fails, insert("u"), insert("u"),
      { _ = try await store.settle([running.settled()], thenClaim: .of(1, kinds: ["none"])) },
    ])
    #expect(results.map { (try? $0.get()) != nil } == [false, true, false, true, true, true])
    let jobs = replies.withLock { $0 }
    #expect(jobs.count { $0.disposition == .inserted } == 1)
    #expect(Set(jobs.map(\.id)) == [JobID(rawValue: held.rawValue + 1)])
    #expect(try await store.counts(where: .all) == JobCounts([.ready: 1, .succeeded: 1]))
    let after = try await store.insert(JobInsertion([.unique("v"), .unique("held")])).jobs
    #expect(after.map(\.disposition) == [.inserted, .inserted])
  }

  @Test func `Signals come once, after the commit, in the order of the jobs`() async throws {
    let heard = Lock<[JobID]>([])
    let subscription = store.signals.listen { signal in
      if case .committed(let transitions) = signal { heard.withLock { $0 += transitions.map(\.id) } }
    }
    defer { withExtendedLifetime(subscription) {} }
    let store = store
    _ = try await together([
      { try await store.insert(.plain()) },
      {
        try await store.onWriter { transaction in
          _ = try transaction.insert(JobInsertion([.plain()]))
          throw Refusal()
        }
      },
    ])
    let ids = try await store.jobs(JobQuery()).map(\.id)
    #expect(ids.count == 1)
    #expect(heard.withLock { $0 } == ids)
  }
}
