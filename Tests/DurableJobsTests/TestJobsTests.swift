import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@Suite struct TestJobsTests {
  private struct Upload: JobPayload, Equatable {
    var photo: String
    static let kind = "upload"
    static var retry: RetryPolicy { .constant(.seconds(10)) }
    static var options: JobOptions { JobOptions(maxAttempts: 3) }
  }

  private struct NoNetwork: Error {}

  @Test("What was enqueued can be looked at, and is run only when the test says so")
  func enqueued() async throws {
    let jobs = TestJobs()
    let handle = try await jobs.queue.enqueue(Upload(photo: "a"))
    try await jobs.queue.enqueue(Upload(photo: "b"), options: JobOptions(start: .after(.seconds(60))))
    #expect(try await jobs.enqueued(Upload.self) == [Upload(photo: "a"), Upload(photo: "b")])
    let ran = Lock<[String]>([])
    jobs.worker.register(Upload.self) { upload, _ in ran.withLock { $0.append(upload.photo) } }
    #expect(try await jobs.drain() == JobCounts([.succeeded: 1, .scheduled: 1]))
    #expect(ran.withLock { $0 } == ["a"])
    #expect(try await jobs.enqueued(Upload.self) == [Upload(photo: "b")])
    #expect(try await handle.snapshot.state == .succeeded)
  }

  @Test("Time passes by hand, and each job runs at the moment at which it is due")
  func advance() async throws {
    let jobs = TestJobs()
    let start = jobs.clock.uptime
    let runs = Lock<[Duration]>([])
    jobs.worker.register(Upload.self) { [clock = jobs.clock] _, _ in
      runs.withLock { $0.append(clock.uptime - start) }
      throw NoNetwork()
    }
    try await jobs.queue.enqueue(Upload(photo: "a"))
    #expect(try await jobs.advance(by: .seconds(15)) == JobCounts([.scheduled: 1]))
    #expect(runs.withLock { $0 } == [.zero, .seconds(10)])
    #expect(try await jobs.advance(by: .seconds(3600)) == JobCounts([.failed: 1]))
    #expect(runs.withLock { $0 } == [.zero, .seconds(10), .seconds(20)])
    #expect(jobs.clock.uptime - start == .seconds(3615))
  }

  @Test("A job that snoozes for no time keeps neither the others nor the test waiting for ever")
  func snoozes() async throws {
    let jobs = TestJobs()
    let runs = Lock<[String]>([])
    jobs.worker.register(Upload.self) { upload, _ in
      runs.withLock { $0.append(upload.photo) }
      if upload.photo == "again" { throw .snooze(for: .zero) }
    }
    try await jobs.queue.enqueue(Upload(photo: "again"))
    try await jobs.queue.enqueue(Upload(photo: "b"))
    #expect(try await jobs.drain() == JobCounts([.scheduled: 1, .succeeded: 1]))
    #expect(runs.withLock { $0 } == ["again", "b"])
    try await jobs.advance(by: Defaults.leastSnooze)
    #expect(runs.withLock { $0 } == ["again", "b", "again"])
  }

  @Test("A handler that is performed has its claim as long as it runs, however far the clock goes meanwhile")
  func performIsHeld() async throws {
    let jobs = TestJobs()
    jobs.worker.register(Upload.self) { [clock = jobs.clock] _, context in
      clock.advance(by: Defaults.lease)
      #expect(await context.isHeld())
    }
    try await jobs.perform(Upload(photo: "a"))
  }

  @Test("Jobs that a job leads to are run in the same go")
  func followUps() async throws {
    let jobs = TestJobs()
    jobs.worker.register(Upload.self) { [queue = jobs.queue] upload, _ in
      if upload.photo.count < 4 { try await queue.enqueue(Upload(photo: upload.photo + "a")) }
    }
    try await jobs.queue.enqueue(Upload(photo: "a"))
    #expect(try await jobs.drain() == JobCounts([.succeeded: 4]))
  }
}
