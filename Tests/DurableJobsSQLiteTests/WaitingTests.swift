import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobsSQLite

/// Who waits for jobs of a file. On a clock that stands still no sweep helps.
@Suite struct WaitingTests {
  let folder: StoreFolder
  let store: SQLiteStore
  let queue: JobQueue

  init() throws {
    folder = try StoreFolder()
    store = try folder.store(clock: ManualClock())
    queue = JobQueue(store: store)
  }

  @Test func `Who begins to listen while a transaction is under way hears of it`() async throws {
    let id = try await queue.enqueue(kind: "k", payload: Data())
    let (heard, signals) = (Lock<[JobID]>([]), store.signals)
    let subscription = try await store.onWriter { transaction in
      _ = try transaction.change(.complete(output: nil), [id], limit: 1)
      return signals.listen { signal in
        switch signal {
        case .committed(let changes): heard.withLock { $0 += changes.map(\.id) }
        case .changedElsewhere(let change): if change.contains(.results) { heard.withLock { $0.append(id) } }
        }
      }
    }
    #expect(heard.withLock { $0 } == [id])
    withExtendedLifetime(subscription) {}
  }

  @Test func `A job that ends while somebody begins to wait for it wakes it`() async throws {
    for _ in 1...300 {
      let handle = queue.handle(try await queue.enqueue(kind: "k", payload: Data()), as: Unit.self)
      async let value: Void = handle.value
      try await handle.complete()
      try await value
    }
  }

  @Test func `Who is cancelled while it waits or reads gets a CancellationError`() async throws {
    let handle = queue.handle(try await queue.enqueue(kind: "k", payload: Data()), as: Unit.self)
    for round in 1...200 {
      let waiting = Task { try await handle.value }
      let reading = Task { while true { _ = try await handle.snapshot } }
      for _ in 0..<round % 20 { await Task.yield() }
      waiting.cancel()
      reading.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      await #expect(throws: CancellationError.self) { try await reading.value }
    }
  }

  @Test func `Who waits when the store is closed is told so at once`() async throws {
    let handle = queue.handle(try await queue.enqueue(kind: "k", payload: Data()), as: Unit.self)
    let (waiting, queue) = (Task { try await handle.value }, queue)
    while !store.signals.hasListeners { await Task.yield() }
    await store.close()
    await #expect { try await waiting.value } throws: { ($0 as? JobError)?.code == .closed }
    await #expect { try await queue.counts() } throws: { ($0 as? JobError)?.code == .closed }
  }

  @Test func `A worker whose store is closed gives its jobs back first`() async throws {
    let worker = JobWorker(queue)
    let (began, mayEnd) = (Gate(), Gate())
    worker.register(kind: "heedful") { _, _ in
      began.open()
      try await Task.sleep(for: .seconds(3600))
      return nil
    }
    worker.register(kind: "deaf") { _, _ in
      await Task { await mayEnd.pass() }.value
      return nil
    }
    let ids = [
      try await queue.enqueue(kind: "deaf", payload: Data()), try await queue.enqueue(kind: "heedful", payload: Data()),
    ]
    let run = Task { try await worker.run() }
    await began.pass()
    await store.close()
    let again = try folder.store()
    for id in ids {
      let job = try #require(try await again.job(id))
      #expect(job.state == .ready)
      #expect((job.attempt, job.crashes) == (0, 0))
    }
    mayEnd.open()
    await #expect { try await run.value } throws: { ($0 as? JobError)?.code == .closed }
  }

  @Test func `A store that is closed in a cancelled task has given back its jobs and closed its file all the same`()
    async throws
  {
    let worker = JobWorker(queue)
    let (began, mayEnd) = (Gate(), Gate())
    worker.register(kind: "deaf") { _, _ in
      began.open()
      await Task { await mayEnd.pass() }.value
      return nil
    }
    let id = try await queue.enqueue(kind: "deaf", payload: Data())
    let run = Task { try await worker.run() }
    await began.pass()
    await Task { [store] in
      withUnsafeCurrentTask { $0?.cancel() }
      await store.close()
    }.value
    #expect(!FileManager.default.fileExists(atPath: folder.path() + "-wal"))
    let job = try #require(try await folder.store().job(id))
    #expect(job.state == .ready)
    #expect((job.attempt, job.crashes) == (0, 0))
    mayEnd.open()
    await #expect { try await run.value } throws: { ($0 as? JobError)?.code == .closed }
  }
}

private struct Unit: JobPayload {
  static let kind = "k"
}
