import DurableJobs
import Foundation

/// A queue for your own tests: in memory, on a clock that stands still, processed only when you say so.
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
/// It returns values to compare, and asserts nothing itself: it works with any test framework.
public struct TestJobs: Sendable {
  public let queue: JobQueue
  /// Register handlers with it. ``drain()`` and ``advance(by:)`` run it: do not start it yourself as well.
  public let worker: JobWorker
  public let clock: ManualClock

  public init(
    _ name: String = "default", clock: ManualClock = ManualClock(), middleware: [any JobMiddleware] = []
  ) {
    self.init(name, store: InMemoryStore(clock: clock), clock: clock, middleware: middleware)
  }

  /// The same in a store of yours, which was made with that clock: one in an app's database, where handlers complete
  /// their jobs in its transactions.
  public init(
    _ name: String = "default", store: any JobStore, clock: ManualClock, middleware: [any JobMiddleware] = []
  ) {
    self.clock = clock
    queue = JobQueue(name, store: store, middleware: middleware)
    worker = JobWorker(queue, maxConcurrentJobs: 1)
  }

  /// The payloads of the unfinished jobs of this type, in the order in which they were enqueued.
  public func enqueued<P: JobPayload>(_ type: P.Type) async throws -> [P] {
    let hasEnded = JobFilter.states(JobState.allCases.filter(\.isFinished))
    return try await queue.jobs(of: type, where: !hasEnded, limit: .max).map(\.payload)
  }

  /// Runs, one after the other, the jobs that may run now and those that result from them, and returns how many are
  /// left in each state. It does not wait for back-offs, snoozes and later starts.
  @discardableResult
  public func drain() async throws -> JobCounts {
    while try await worker.runNext() {}
    return try await queue.counts()
  }

  /// Lets time pass, and runs each job when it comes due on the way. Returns how many are left in each state.
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

  /// Runs a job with the handler that ``worker`` has for its kind, immediately and whatever else is enqueued, as that
  /// attempt. Returns what the handler returns, or throws what it throws: `JobExit` for its `throw .snooze`, `.retry`
  /// and so on. Steps, progress and what follows on success are stored; retries, conditions, lanes and unique keys are
  /// ignored. Of `options`, the key, the tags and the time-out count: a job with the key `nightly@2027-01-16T03:00:00Z` is
  /// that of a tick. `batch` is the batch that it finds in its context.
  ///
  /// Throws `JobError.Code.invalidArgument` if the kind is not registered or the job has open inputs.
  public func perform<P: JobPayload>(
    _ job: P, attempt: Int = 1, in batch: JobBatch? = nil, options: JobOptions = JobOptions()
  ) async throws -> P.Output {
    var new = try queue.prepare(job, options: options)
    guard let handler = worker.handler(for: P.kind) else {
      throw JobError(.invalidArgument, "the worker has no handler for '\(P.kind)'; register it with jobs.worker")
    }
    guard new.edges.isEmpty else {
      throw JobError(.invalidArgument, "'\(P.kind)' has an input that comes from another job; give it as .constant")
    }
    let (store, id) = (queue.store, WorkerID("perform \(UInt64.random(in: .min ... .max))"))
    new.queue = "\(id)"
    new.terms = JobTerms(
      maxAttempts: max(attempt, new.terms.maxAttempts), timeout: new.terms.timeout, key: new.terms.key,
      tags: new.terms.tags)
    _ = try await store.insert(JobInsertion([new]))
    guard var claim = try await store.claim(ClaimRequest(worker: id, kinds: [P.kind], free: [new.queue: 1])).jobs.first
    else { throw JobError(.storeFailed, "the store gives no job") }
    (claim.attempt, claim.queue, claim.batch) = (attempt, queue.name, batch?.id)
    let result: Result<(output: Data?, followUps: [NewJob]), any Error>
    let end: ClaimSettlement.Result
    do {
      let success = try await handler(claim, id, store)
      (result, end) = (.success(success), .succeeded(output: success.0))
    } catch {
      (result, end) = (.failure(error), .failed(message: "\(error)"))
    }
    let followUps = (try? result.get().followUps) ?? []
    _ = try await store.settle([ClaimSettlement(token: claim.token, result: end, followUps: followUps)], thenClaim: nil)
    _ = try await store.recover(RecoveryRequest(worker: id, isRetiring: true))
    return try P.outputCoding.decode(try result.get().output)
  }

  private func untilNextJob() async throws -> Duration? {
    let now = clock.now.milliseconds
    let due = try await queue.jobs(where: .state(.scheduled), limit: .max).compactMap(\.runAt)
    let ready = try await queue.store.jobs(JobQuery(.queue(queue.name) && .state(.ready), detail: .waits, limit: 1))
    return (due + ready.compactMap { $0.waits?.limit?.next })
      .map { $0.milliseconds - now }.filter { $0 > 0 }.min().map { .milliseconds($0) }
  }
}
