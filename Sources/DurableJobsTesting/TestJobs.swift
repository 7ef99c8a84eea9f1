import DurableJobs
import Foundation

/// A queue for your own tests: in memory, on a clock that stands still, worked on only when you say so.
///
///     let jobs = TestJobs()
///     let model = PhotoModel(queue: jobs.queue)            // what you test
///     try await model.share(photo)
///     #expect(try await jobs.enqueued(Upload.self) == [Upload(photo: photo.id)])
///
///     jobs.worker.register(Upload.self)
///     try await jobs.drain()                               // runs what may run now
///     try await jobs.advance(by: .seconds(60))             // and what comes due within a minute, back-offs too
///
/// It gives values to be expected, and asserts nothing itself: any test framework will do.
public struct TestJobs: Sendable {
  public let queue: JobQueue
  /// Where handlers are registered. ``drain()`` and ``advance(by:)`` run it: do not start it beside them.
  public let worker: JobWorker
  public let clock: ManualClock

  public init(_ name: String = "default", clock: ManualClock = ManualClock()) {
    self.clock = clock
    queue = JobQueue(name, store: InMemoryStore(clock: clock))
    worker = JobWorker(queue, maxConcurrentJobs: 1)
  }

  /// Payloads of the jobs of this type that have not ended, in the order in which they were enqueued.
  public func enqueued<P: JobPayload>(_ type: P.Type) async throws -> [P] {
    let hasEnded = JobFilter.states(JobState.allCases.filter(\.isFinished))
    return try await queue.jobs(of: type, where: !hasEnded, limit: .max).map(\.payload)
  }

  /// Runs, one after the other, the jobs that may run now and those that they lead to, and returns how many are left in
  /// each state. Back-offs, snoozes and later starts are not waited for.
  @discardableResult
  public func drain() async throws -> JobCounts {
    while try await worker.runNext() {}
    return try await queue.counts()
  }

  /// Lets time pass, and runs each job that comes due on the way when it does. Returns how many are left in each state.
  @discardableResult
  public func advance(by duration: Duration) async throws -> JobCounts {
    let end = clock.uptime + duration
    try await drain()
    while let wait = try await untilNextJob(), clock.uptime + wait <= end {
      clock.advance(by: wait)
      try await drain()
    }
    clock.advance(by: end - clock.uptime)
    return try await drain()
  }

  private func untilNextJob() async throws -> Duration? {
    let now = clock.now.milliseconds
    return try await queue.jobs(where: .state(.scheduled), limit: .max)
      .compactMap { $0.runAt.map { $0.milliseconds - now } }.filter { $0 > 0 }.min().map { .milliseconds($0) }
  }
}
