import Foundation
import Logging

/// The attempt that a handler is making, and what it can do with it.
public struct JobContext: Sendable {
  /// The job's id.
  public var id: JobID { token.job }
  /// The attempt's number, starting at 1. Attempts that a process death cut short are not counted.
  public var attempt: Int { running.claim.attempt }
  public var maxAttempts: Int { running.claim.maxAttempts }
  public var kind: String { running.claim.kind }
  /// The job's own ``JobOptions/key``, if it has one.
  public var key: String? { running.claim.key }
  /// When the job was stored.
  public let createdAt: Date
  /// The batch that the job is in, to add more jobs to; or that whose `whenDone` the job is, to see how its jobs ended.
  public var batch: JobBatch? { running.claim.batch.map { home.batch($0) } }
  /// The worker's logger, with the job's id, kind, queue and attempt in its metadata.
  public var logger: Logger {
    var logger = workersLogger
    for (name, fact) in ["job": "\(id)", "kind": kind, "queue": queue, "attempt": "\(attempt)"] {
      logger[metadataKey: name] = "\(fact)"
    }
    return logger
  }
  /// The name of the job's queue.
  public var queue: String { running.claim.queue }
  /// When to give up on the job if it has not ended by then.
  public var deadline: Date? { running.claim.deadline }
  package var store: any JobStore { home.store }
  package var token: ClaimToken { running.claim.token }
  let worker: WorkerID
  let running: RunningAttempt
  /// The output type of the job's kind, if it has one.
  let output: Any.Type?
  /// The job's queue, as the worker was made with it.
  let home: JobQueue
  private let workersLogger: Logger

  init(_ running: RunningAttempt, in home: JobQueue, by worker: WorkerID, output: Any.Type?, logger: Logger) {
    (self.running, self.home, self.worker, self.output, workersLogger) = (running, home, worker, output, logger)
    createdAt = running.claim.createdAt ?? home.store.clock.now
  }

  /// Why the handler was asked to stop; nil if it was not. The task is cancelled at the same time.
  public var stopReason: StopReason? { running.stopReason }

  /// A success of this attempt, for storing it in another way than through the worker.
  package func success<Output: Encodable>(with value: Output?) throws -> (store: any JobStore, end: ClaimSettlement) {
    guard output == nil || output == (value == nil ? Void.self : Output.self) else {
      // It would be the same at each attempt.
      throw JobExit.permanent(
        JobError(.invalidArgument, "job \(id) gives \(output!), and not \(value == nil ? Void.self : Output.self)"))
    }
    let bytes = try value.map { try JobCoding.encode($0) }
    try bytes?.check(asOutputOf: "job \(id)")
    return (store, ClaimSettlement(token: token, result: .succeeded(output: bytes), followUps: running.followUps))
  }

  /// Whether the claim holds now and the handler was not asked to stop. Check it before anything that can't be undone:
  /// this process may have been suspended for a while, and another may have the job now. False once it has returned.
  public func isHeld() async -> Bool { await running.isHeld(store.clock.continuous) }

  /// Reports the job's progress: `fraction` from 0 to 1, with an optional message.
  ///
  /// Returns at once. The latest progress is stored within ``Defaults/progressInterval`` and then survives a crash.
  /// Throws `CancellationError` once the handler was asked to stop.
  public func report(progress fraction: Double, _ message: String? = nil) throws {
    if running.stopReason != nil { throw CancellationError() }
    running.report(JobProgress(fraction: fraction, message: message))
  }

  /// Enqueues a job in the transaction that stores this attempt's success; if the attempt ends in any other way, the
  /// job is not stored. It goes to this job's queue, or to another one of the same store.
  ///
  /// Nothing is stored yet when this returns. Throws the errors of ``JobQueue/enqueue(_:after:options:)`` that need no
  /// store, and ``JobError/Code/wrongState`` once the handler has returned. If a job that it waits for is gone by then,
  /// this job fails. A success from outside, by ``JobHandle/complete(with:)``, stores none of these.
  public func enqueueOnSuccess<P: JobPayload>(
    _ job: P, on queue: JobQueue? = nil, after: [any JobReference] = [], options: JobOptions = JobOptions()
  ) throws {
    let queue = queue ?? home
    let isHere = queue.store === store
    try require(isHere, "'\(P.kind)' can't follow in another store: it would not be one transaction")
    try follow(with: queue.prepare(job, after: after, options: options))
  }

  /// The same for several jobs of one kind.
  public func enqueueOnSuccess<P: JobPayload>(
    contentsOf jobs: some Sequence<P>, on queue: JobQueue? = nil, after: [any JobReference] = [],
    options: JobOptions = JobOptions()
  ) throws { for job in jobs { try enqueueOnSuccess(job, on: queue, after: after, options: options) } }

  /// The same for a job that is already prepared.
  package func follow(with job: NewJob) throws {
    let isIn = running.follow(with: job)
    try require(isIn, "job \(id) has returned; '\(job.kind)' can't follow from it any more", code: .wrongState)
  }
}
