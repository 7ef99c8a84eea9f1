import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobs

@Suite struct InMemoryStoreTests {
  private let clock = ManualClock()

  @Test("Many tasks at once: each job is stored once, claimed once and settled once")
  func concurrency() async throws {
    let store = InMemoryStore(clock: clock)
    let claimed = Lock<[JobID]>([])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for _ in 0..<25 {
            _ = try await store.insert(JobInsertion([NewJob(queue: "q", kind: "k", payload: Data())]))
            let request = ClaimRequest(worker: WorkerID("w\(task)"), kinds: ["k"], free: ["q": 2])
            let jobs = try await store.claim(request).jobs
            claimed.withLock { $0 += jobs.map(\.token.job) }
            let results = jobs.map { ClaimSettlement(token: $0.token, result: .succeeded(output: nil)) }
            let replies = try await store.settle(results, thenClaim: nil).replies
            #expect(replies.allSatisfy { $0.isAccepted })
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(claimed.withLock { $0.sorted() } == (1...200).map { JobID(rawValue: $0) })
    #expect(try await store.counts(where: .all) == JobCounts([.succeeded: 200]))
  }

  @Test("The lowest priority there is comes last, and no limit is too high for a recovery")
  func extremes() async throws {
    let store = InMemoryStore(clock: clock)
    for priority in [JobPriority(rawValue: .min), .low, JobPriority(rawValue: .max)] {
      let terms = JobTerms(priority: priority)
      _ = try await store.insert(JobInsertion([NewJob(queue: "q", kind: "k", payload: Data(), terms: terms)]))
    }
    let claimed = try await store.claim(ClaimRequest(worker: WorkerID("w"), kinds: ["k"], free: ["q": 3])).jobs
    #expect(claimed.map(\.token.job.rawValue) == [3, 2, 1])
    #expect(try await store.recover(RecoveryRequest(limit: .max)).hasMore == false)
  }

  @Test("A queue on it works with the clock of the machine")
  func systemClock() async throws {
    let queue = JobQueue(store: InMemoryStore())
    try #require(queue.store.clock is SystemClock)
    let worker = JobWorker(queue)
    worker.register(kind: "k") { _, _ in nil }
    worker.start()
    let options = JobOptions(start: .after(.milliseconds(1)))
    let id = try await queue.enqueue(kind: "k", payload: Data(), options: options)
    #expect(try await queue.store.whenFinished(id).state == .succeeded)
    await worker.stop()
  }
}
