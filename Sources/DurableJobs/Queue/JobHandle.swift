import Foundation

/// A job that is stored, with the type of its output.
public struct JobHandle<Output: Sendable>: Sendable, Identifiable {
  public let id: JobID
  /// Whether the call that gave this handle stored the job: false where a unique key led to an earlier one, and for a
  /// handle made from an id.
  public let isNew: Bool
  let store: any JobStore
  let kinds: [String]
  let coding: OutputCoding<Output>

  /// Waits until the job has ended, in whatever process, and returns its output.
  ///
  /// Throws ``JobFailure`` if it failed, was cancelled or was skipped, which is that of the job whose failure skipped it,
  /// while that is kept; ``JobError/Code/notFound`` if it was removed, and
  /// `CancellationError` if the waiting task is cancelled. It waits for ever if no worker runs the job. A handler that
  /// waits for another job holds its slot meanwhile: ``JobError/Code/wrongState`` if all slots that this process has for
  /// that job are held so.
  public var value: Output {
    get async throws {
      let job = try await store.whenFinished(id)
      guard job.state == .succeeded else { throw try await store.failure(of: job) }
      return try job.decoded("output", as: Output.self) { try coding.decode(job.output) }
    }
  }

  /// The job as it is now. Throws ``JobError/Code/notFound`` if it was removed.
  public var snapshot: JobSnapshot {
    get async throws { try await store.job(id) }
  }

  private var queue: JobQueue { JobQueue(store: store) }

  // Each does what the queue's verb of that name does to this job.

  public func cancel(reason: String? = nil) async throws { try await queue.cancel(id, reason: reason) }
  public func retry() async throws { try await queue.retry(id) }
  public func suspend(reason: String? = nil) async throws { try await queue.suspend(id, reason: reason) }
  public func resume() async throws { try await queue.resume(id) }
  public func remove() async throws { try await queue.remove(id) }
  public func setPriority(_ priority: JobPriority) async throws { try await queue.setPriority(priority, of: id) }
  public func setStart(_ start: JobTime) async throws { try await queue.setStart(start, of: id) }
  public func explain() async throws -> JobExplanation { try await queue.explain(id) }

  /// Ends the job with success from outside its handler: from a callback, also in a later process, also before the
  /// handler's own `throw .suspend` has arrived. Twice is the same as once. Throws ``JobError/Code/wrongState`` if the job
  /// has ended otherwise, and ``JobError/Code/invalidArgument`` if it is of another kind than this handle.
  public func complete(with output: Output) async throws {
    let data: Data?
    do {
      data = try coding.encode(output)
    } catch {
      throw JobError(.notEncodable, "the output of job \(id) can't be encoded: \(error.briefly)", cause: error)
    }
    try await store.complete(id, data, kinds: kinds)
  }

  /// Ends the job with failure from outside its handler. Twice is the same as once. Throws
  /// ``JobError/Code/wrongState`` if the job has ended otherwise.
  public func fail(_ error: any Error) async throws {
    try await store.change(.fail(message: error.briefly.cutToMessage, code: error.codeToKeep), id)
  }

  /// Tells how far the job is, from outside its handler. `fraction` is from 0 to 1.
  public func report(progress fraction: Double, _ message: String? = nil) async throws {
    try await store.change(.progress(JobProgress(fraction: fraction, message: message)), id)
  }
}

extension JobHandle where Output == Void {
  /// Ends the job with success from outside its handler.
  public func complete() async throws { try await complete(with: ()) }
}

extension JobHandle where Output: ExpressibleByNilLiteral {
  /// Ends the job with success from outside its handler, with nil.
  public func complete() async throws { try await complete(with: nil) }
}

extension JobSnapshot {
  /// Why it ended without success.
  package var failure: JobFailure {
    let message =
      switch state {
      case .failed: failures.last?.message ?? "failed"
      case .cancelled: reason.map { "cancelled: \($0)" } ?? "cancelled"
      case .skipped: reason.map { "skipped: \($0)" } ?? "skipped"
      default: "\(state)"
      }
    let code = state == .failed ? failures.last?.code : nil
    return JobFailure(job: id, kind: kind, state: state, message: message, code: code, attempts: attempt)
  }

  /// How it ended, for one that needed it. `cause` is the job that skipped it, if that is still there.
  package func end(cause: JobSnapshot?) -> JobEnd {
    state == .succeeded
      ? .succeeded(output: output) : .failed(cause.flatMap { $0.state == .failed ? $0.failure : nil } ?? failure)
  }
}

extension JobStore {
  fileprivate func failure(of job: JobSnapshot) async throws -> JobFailure {
    guard let cause = job.cause else { return job.failure }
    let root = try await jobs(JobQuery(.id(cause), detail: .failures, limit: 1)).first
    return if case .failed(let failure) = job.end(cause: root) { failure } else { job.failure }
  }
}
