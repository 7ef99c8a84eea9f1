import Foundation

/// A handle to a stored job, with the type of its output.
public struct JobHandle<Output: Sendable>: Sendable, Identifiable {
  public let id: JobID
  /// Whether the call that returned this handle stored the job: not if an earlier one held its unique key.
  public let isNew: Bool
  let store: any JobStore
  let kinds: [String]
  let coding: OutputCoding<Output>

  /// Waits until the job has ended, in any process, and returns its output.
  ///
  /// Throws ``JobFailure`` if the job failed, was cancelled or was skipped (then the failure of the job that caused it,
  /// while that is kept), ``JobError/Code/notFound`` if it was removed, ``JobError/Code/invalidArgument`` if its kind is
  /// not that of this handle, and `CancellationError` if the waiting task is cancelled. Waits indefinitely while the job
  /// is suspended, and if no worker runs it. A handler that waits here keeps its slot:
  /// ``JobError/Code/wrongState`` is thrown if all slots of this process that could run the job are kept in that way.
  public var value: Output {
    get async throws {
      // What was found by its id may be another job than its finder thinks, and run for ever.
      if !isNew { try await store.job(id, detail: []).check(kinds: kinds) }
      let job = try await store.whenFinished(id)
      try job.check(kinds: kinds)
      guard job.state == .succeeded else { throw try await store.failure(of: job) }
      return try job.decoded("output", as: Output.self) { try coding.decode(job.output) }
    }
  }

  /// The current state of the job. Throws ``JobError/Code/notFound`` if it was removed.
  public var snapshot: JobSnapshot { get async throws { try await store.job(id) } }

  private var queue: JobQueue { JobQueue(store: store) }

  // Each of these does what the queue's method of that name does, for this job.

  public func cancel(reason: String? = nil) async throws { try await queue.cancel(id, reason: reason) }
  public func retry() async throws { try await queue.retry(id) }
  public func suspend(reason: String? = nil) async throws { try await queue.suspend(id, reason: reason) }
  public func resume() async throws { try await queue.resume(id) }
  public func remove() async throws { try await queue.remove(id) }
  public func setPriority(_ priority: JobPriority) async throws { try await queue.setPriority(priority, of: id) }
  public func setStart(_ start: JobTime) async throws { try await queue.setStart(start, of: id) }
  public func explain() async throws -> JobExplanation { try await queue.explain(id) }

  /// Ends the job with success from outside its handler: from a callback, in a later process too, even before the
  /// handler's own `throw .suspend` takes effect. Repeating it has no effect. Throws ``JobError/Code/wrongState`` if
  /// the job has ended in another way, and ``JobError/Code/invalidArgument`` if its kind is not that of this handle.
  public func complete(with output: Output) async throws {
    let data: Data?
    do { data = try coding.encode(output) } catch {
      throw JobError(.notEncodable, "the output of job \(id) can't be encoded: \(error.briefly)", cause: error)
    }
    try await store.complete(id, data, kinds: kinds)
  }

  /// Ends the job with failure from outside its handler. Repeating it has no effect. Throws
  /// ``JobError/Code/wrongState`` if the job has ended in another way.
  public func fail(_ error: any Error) async throws {
    try await store.change(.fail(message: error.briefly.cutToMessage, code: error.codeToKeep), id)
  }

  /// Stores the job's progress from outside its handler. `fraction` is from 0 to 1.
  public func report(progress fraction: Double, _ message: String? = nil) async throws {
    try await store.change(.progress(JobProgress(fraction: fraction, message: message)), id)
  }
}

extension JobHandle where Output == Void {
  /// Ends the job with success from outside its handler.
  public func complete() async throws { try await complete(with: ()) }
}

extension JobHandle where Output: ExpressibleByNilLiteral {
  /// Ends the job with success from outside its handler, with nil as its output.
  public func complete() async throws { try await complete(with: nil) }
}

extension JobSnapshot {
  func check(kinds: [String]) throws {
    try require(kinds.contains(kind), "job \(id) is of the kind '\(kind)', not '\(kinds.first ?? "")'")
  }

  /// Why the job ended without success.
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

  /// How the job ended, for a job that depends on it. `cause` is the job that skipped it, if it still exists.
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
