import Foundation
import Logging

/// What a handler knows of the attempt that it makes.
public struct JobContext: Sendable {
  /// The job.
  public let id: JobID
  /// Which attempt this is, from 1. Attempts that a process death cut short are not counted.
  public let attempt: Int
  public let maxAttempts: Int
  public let kind: String
  /// The job's own name, if it was given one: ``JobOptions/key``.
  public let key: String?
  /// When the job was stored.
  public let createdAt: Date
  /// The batch that the job is in, or that it was stored for as its `whenDone`: for one the way to add jobs to it, for the
  /// other to see how they ended.
  public let batch: JobBatch?
  /// The worker's, with the job's id, kind, queue and attempt in its metadata.
  public var logger: Logger {
    var logger = workersLogger
    for (name, fact) in ["job": "\(id)", "kind": kind, "queue": queue, "attempt": "\(attempt)"] {
      logger[metadataKey: name] = "\(fact)"
    }
    return logger
  }
  /// The name of the queue that the job is in.
  public let queue: String
  /// When the job is given up if it has not ended by then.
  public let deadline: Date?
  package let store: any JobStore
  let worker: WorkerID
  let running: RunningAttempt
  /// What jobs of its kind give, if that is a type.
  let output: Any.Type?
  /// ``queue``, as its worker was made with it.
  let home: JobQueue
  private let workersLogger: Logger

  init(
    _ running: RunningAttempt, in home: JobQueue, by worker: WorkerID, output: Any.Type?, logger: Logger
  ) {
    let claim = running.claim
    (id, kind, key, queue) = (claim.token.job, claim.kind, claim.key, claim.queue)
    (attempt, maxAttempts, deadline) = (claim.attempt, claim.maxAttempts, claim.deadline)
    (createdAt, batch) = (claim.createdAt ?? home.store.clock.now, claim.batch.map { home.batch($0) })
    (self.home, store, self.worker, self.running, workersLogger) = (home, home.store, worker, running, logger)
    self.output = output
  }

  /// Why the handler was asked to stop; nil as long as it was not. Its task is cancelled at the same moment.
  public var stopReason: StopReason? { running.stopReason }

  /// The end of the attempt with success, as it is to be stored, for a way of storing it other than by its worker.
  package func success<Output: Encodable>(with value: Output?) throws -> (store: any JobStore, end: ClaimSettlement) {
    guard output == nil || output == (value == nil ? Void.self : Output.self) else {
      throw JobError(.invalidArgument, "job \(id) gives \(output!), and not \(value == nil ? Void.self : Output.self)")
    }
    let bytes = try value.map { try JobCoding.encode($0) }
    try bytes?.check(asOutputOf: "job \(id)")
    return (
      store,
      ClaimSettlement(token: running.claim.token, result: .succeeded(output: bytes), followUps: running.followUps)
    )
  }

  /// Whether the claim holds now, and nobody asked for a stop. For what can't be undone: this process may have been stopped
  /// for a while, and the job another's.
  package func isHeld() async -> Bool { await running.isHeld(store.clock.uptime) }

  /// Tells how far the job is: `fraction` from 0 to 1, with a message if there is one.
  ///
  /// Returns at once. The news is stored within ``Defaults/progressInterval``, the latest wins, and it survives a crash.
  /// Throws `CancellationError` once the handler was asked to stop.
  public func report(progress fraction: Double, _ message: String? = nil) throws {
    if running.stopReason != nil { throw CancellationError() }
    running.report(JobProgress(fraction: fraction, message: message))
  }

  /// Has a job stored in the transaction that stores this attempt's success, and not at all if the attempt ends in any other
  /// way. It goes to this job's queue, or to another of the same store.
  ///
  /// Nothing is stored yet when this returns. Throws what ``JobQueue/enqueue(_:after:options:)`` throws for what can be
  /// known now, and ``JobError/Code/wrongState`` once the handler has returned. A job that it waits for and that is gone by
  /// then fails this one. A success that comes from outside, by ``JobHandle/complete(with:)``, stores none of these.
  public func enqueueOnSuccess<P: JobPayload>(
    _ job: P, on queue: JobQueue? = nil, after: [any JobReference] = [], options: JobOptions = JobOptions()
  ) throws {
    let queue = queue ?? home
    guard queue.store === store else {
      throw JobError(.invalidArgument, "'\(P.kind)' can't follow in another store: it would not be one transaction")
    }
    try follow(with: queue.prepare(job, after: after, options: options))
  }

  /// The same for a job that is prepared already.
  package func follow(with job: NewJob) throws {
    guard running.follow(with: job) else {
      throw JobError(.wrongState, "job \(id) has returned; '\(job.kind)' can't follow from it any more")
    }
  }
}
