import Foundation
import Logging

/// What claims jobs and runs them, in this process.
public final class JobWorker: Sendable {
  public init(_ limits: [JobQueue: Int], logger: Logger? = nil) { fatalError() }
  public convenience init(
    _ queue: JobQueue, maxConcurrentJobs: Int = Defaults.concurrency, logger: Logger? = nil
  ) { self.init([queue: maxConcurrentJobs], logger: logger) }
  public func register<J: Job>(_ type: J.Type) {}
  public func register<P: JobPayload>(
    _ type: P.Type, retry: RetryPolicy? = nil,
    handler: @escaping @Sendable (P, JobContext) async throws -> P.Output
  ) {}
  public func register(
    kind: String, retry: RetryPolicy = .exponential(),
    handler: @escaping @Sendable (UntypedJob, JobContext) async throws -> Data?
  ) {}
  public func setMaxConcurrentJobs(_ limit: Int, for queue: JobQueue? = nil) throws {}
  public func run() async throws {}
  @discardableResult public func runUntilIdle() async throws -> JobCounts { JobCounts() }
  public func runNext() async throws -> Bool { false }
  public func start() {}
  public func stop(grace: Duration = Defaults.grace) async {}
}
