#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import Testing

  /// Handlers that block the threads on which all of Swift's tasks run.
  @Suite struct BlockedPoolTests {
    @Test("C13 C14 A lease is renewed on the server while handlers block every thread of the pool")
    func renewals() async throws {
      let (server, schema, clock) = (try TestServer.shared.get(), TestServer.schema(), ManualClock())
      let store = try await server.store(schema, clock: clock)
      let queue = JobQueue(store: store)
      let threads = ProcessInfo.processInfo.activeProcessorCount
      let (begun, mayEnd) = (Lock(0), DispatchSemaphore(value: 0))
      let worker = JobWorker(queue, maxConcurrentJobs: threads)
      worker.register(kind: "blocks") { _, _ in
        begun.withLock { $0 += 1 }
        mayEnd.wait(blocking: ())
        return nil
      }
      _ = try await store.insert(JobInsertion((0..<threads).map { _ in .plain("blocks") }))
      worker.start()
      @Sendable func lease() throws -> Int {
        try Int(server.psql("SELECT max(lease_until) FROM worker", schema: schema)[0][0]) ?? 0
      }
      try await onAThreadOfItsOwn {
        defer { for _ in 0..<threads { mayEnd.signal() } }
        // Not for all of them: another test may hold a thread until this one lets go of its own.
        while begun.withLock({ $0 == 0 }) { sched_yield() }
        for _ in 1...3 {
          let before = try lease()
          while !clock.timers.contains(where: { $0 <= Defaults.renewalInterval }) { sched_yield() }
          clock.advance(by: Defaults.renewalInterval)
          while try lease() <= before { sched_yield() }
        }
      }
      try await queue.waitUntilIdle()
      let jobs = try await queue.jobs()
      #expect(jobs.count == threads)
      #expect(jobs.allSatisfy { $0.state == .succeeded && $0.crashes == 0 && $0.attempt == 1 })
      await worker.stop()
      await store.close()
    }

    private func onAThreadOfItsOwn(_ body: @escaping @Sendable () throws -> Void) async throws {
      try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
      }
    }
  }

  extension DispatchSemaphore {
    /// Blocks the thread, as a synchronous handler does.
    fileprivate func wait(blocking: Void) { wait() }
  }
#endif
