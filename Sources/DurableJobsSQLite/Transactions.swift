import DurableJobs
import GRDB

extension JobQueue {
  /// Stores a job in a transaction of the app's own: it is there if and only if that is committed, and durable with it. A
  /// rollback takes it back, be it to a savepoint. Workers hear of it after the commit.
  ///
  ///     try await pool.write { db in
  ///       try order.insert(db)
  ///       try queue.enqueue(SendReceipt(order: order.id), in: db)
  ///     }
  ///
  /// `db` is that of a write in the pool that the store was made with, or this throws `JobError.Code.wrongStore`. Throws
  /// what `enqueue(_:after:options:)` throws; the job is not stored then, and the transaction can go on.
  @discardableResult
  public func enqueue<P: JobPayload>(
    _ job: P, after: [any JobReference] = [], options: JobOptions = JobOptions(), in db: Database
  ) throws -> JobHandle<P.Output> {
    let new = try prepare(job, after: after, options: options)
    try new.check()
    let reply = try store.join(db) { try $0.run(InsertVerb(JobInsertion([new]), now: $0.now)) }
    return handle(reply.jobs[0], as: P.self)
  }
}

extension JobContext {
  /// Ends this job with success in a transaction of the app's own, together with what the handler wrote there: both are
  /// there, or neither is. What it has follow so far is stored with it; what the handler returns counts for nothing once that
  /// is committed. It should return then.
  ///
  /// Throws `JobError.Code.wrongState` if the claim was lost or the job has ended otherwise: let that roll the transaction
  /// back, and what another attempt did stands alone. Throws `JobError.Code.wrongStore` for another database than the
  /// store's, and `JobError.Code.invalidArgument` if jobs of its kind give something: `complete(with:in:)`.
  public func complete(in db: Database) throws { try end(success(with: Never?.none), in: db) }

  /// The same with what the job gives, which is of the type that its kind says.
  public func complete<Output: Codable & Sendable>(with output: Output, in db: Database) throws {
    try end(success(with: output), in: db)
  }

  private func end(_ success: (store: any JobStore, end: ClaimSettlement), in db: Database) throws {
    try success.store.join(db) { transaction in
      let settled = try transaction.run(SettleVerb([success.end], policy: transaction.policy, now: transaction.now))
      guard settled.replies[0].isAccepted, settled.replies[0].state == .succeeded else {
        throw JobError(.wrongState, "job \(id) is not this attempt's any more: its claim was lost, or it has ended")
      }
      for insertion in settled.followUps { _ = try transaction.run(InsertVerb(insertion, now: transaction.now)) }
    }
  }
}

extension JobStore {
  fileprivate func join<R>(_ db: Database, _ act: (WriteTransaction) throws -> R) throws -> R {
    guard let store = self as? SQLiteStore else {
      throw JobError(.wrongStore, "the store of this queue is none in an SQLite database")
    }
    return try store.engine.join(db, act)
  }
}
