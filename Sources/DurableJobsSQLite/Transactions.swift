import DurableJobs
import GRDB

extension JobQueue {
  /// Stores a job in the app's own transaction: it exists if and only if that is committed, and is then durable. A
  /// rollback, even to a savepoint, removes it. Workers are notified after the commit.
  ///
  ///     try await pool.write { db in
  ///       try order.insert(db)
  ///       try queue.enqueue(SendReceipt(order: order.id), in: db)
  ///     }
  ///
  /// `db` must be in a transaction of the store's pool, or this throws `JobError.Code.wrongStore`. Otherwise throws like
  /// `enqueue(_:after:options:)`; then the job is not stored, and the transaction can continue.
  @discardableResult
  public func enqueue<P: JobPayload>(
    _ job: P, after: [any JobReference] = [], options: JobOptions = JobOptions(), in db: Database
  ) throws -> JobHandle<P.Output> {
    let new = try prepare(job, after: after, options: options)
    let reply = try store.join(db) { try $0.insert(JobInsertion([new])) }
    return handle(reply.jobs[0], as: P.self)
  }
}

extension JobContext {
  /// Ends this job with success in the app's own transaction, together with what the handler wrote there: both are
  /// stored or neither. Follow-ups requested so far are stored too. After the commit the handler should return; its
  /// output is ignored.
  ///
  /// Throws `JobError.Code.wrongState` if the claim was lost or the job has ended, if only by an earlier call: let that
  /// roll back the transaction, so that the effects are there once. Throws `JobError.Code.wrongStore` for a database
  /// that is not the store's or is in no transaction, and fails the job if the kind has an output: see
  /// `complete(with:in:)`.
  public func complete(in db: Database) throws { try end(success(with: Never?.none), in: db) }

  /// The same with an output, whose type must be that of the kind.
  public func complete<Output: Codable & Sendable>(with output: Output, in db: Database) throws {
    try end(success(with: output), in: db)
  }

  private func end(_ success: (store: any JobStore, end: ClaimSettlement), in db: Database) throws {
    try success.store.join(db) { try $0.complete(success.end) }
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
