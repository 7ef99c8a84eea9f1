import Foundation

/// Wraps the jobs of a queue on their way into the store and out of it: for validation, encryption or metrics.
///
///     let queue = JobQueue("mail", store: store, middleware: [Tenants(), encryption])
///
/// Middleware belongs to the `JobQueue` value: give the same list to processes that enqueue and to workers. It is
/// ordered from the program to the store: the first member sees a new job first, and a job that runs last. The library's
/// own jobs, such as schedules, bypass it: their kinds start with `durable.`, and no others may. What a schedule stores
/// passes through ``enqueue(_:)`` once, when it is declared.
public protocol JobMiddleware: Sendable {
  /// Called with each job before it is stored, however it is enqueued, and may change it. An error is thrown to the
  /// caller, and nothing is stored. It runs synchronously in the caller, even within a transaction: it must not block.
  func enqueue(_ job: inout NewJob) throws

  /// Takes back what ``enqueue(_:)`` changed, as far as it can, if that differs from call to call, as a nonce does: a
  /// schedule that is declared again is compared with the stored one after that. By default, changes nothing.
  func undo(_ job: inout NewJob)

  /// Runs an attempt by calling `next` at most once, with the job as it is or changed, and returns the encoded output.
  /// An error thrown here counts as thrown by the handler.
  func run(
    _ job: ClaimedJob, context: JobContext, next: @Sendable (ClaimedJob, JobContext) async throws -> Data?
  ) async throws -> Data?
}

extension JobMiddleware {
  public func enqueue(_ job: inout NewJob) throws {}
  public func undo(_ job: inout NewJob) {}

  public func run(
    _ job: ClaimedJob, context: JobContext, next: @Sendable (ClaimedJob, JobContext) async throws -> Data?
  ) async throws -> Data? { try await next(job, context) }
}
