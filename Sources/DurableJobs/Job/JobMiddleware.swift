import Foundation

/// What stands around the jobs of a queue on their way into the store and out of it: validation, encryption, measuring.
///
///     let queue = JobQueue("mail", store: store, middleware: [Tenants(), encryption])
///
/// It belongs to the value of the queue: give the same to the processes that enqueue and to the workers. The list goes from
/// the program to the store: its first member sees a new job first, and one that is run last. Jobs of kinds that begin with
/// `durable.`, as a schedule's own, don't pass it.
public protocol JobMiddleware: Sendable {
  /// Sees each job before it is stored, in whatever way it is enqueued, and may change it. What it throws is thrown to who
  /// enqueues, and nothing is stored. It is called where the caller is, also within a transaction: it must not block.
  func enqueue(_ job: inout NewJob) throws

  /// Runs an attempt by `next`, at most once, with the job as it is or as it should be, and returns the output, encoded. What
  /// is thrown here counts as thrown by the handler.
  func run(
    _ job: ClaimedJob, context: JobContext, next: @Sendable (ClaimedJob, JobContext) async throws -> Data?
  ) async throws -> Data?
}

extension JobMiddleware {
  public func enqueue(_ job: inout NewJob) throws {}

  public func run(
    _ job: ClaimedJob, context: JobContext, next: @Sendable (ClaimedJob, JobContext) async throws -> Data?
  ) async throws -> Data? {
    try await next(job, context)
  }
}
