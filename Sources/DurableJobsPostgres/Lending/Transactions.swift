#if Postgres
  import DurableJobs

  extension PostgresStore {
    /// Runs `body` in a transaction on one of the store's connections, which is durable when this returns; if `body`
    /// throws, the transaction is rolled back, and the error is rethrown.
    ///
    ///     try await store.transaction { transaction in
    ///       try transaction.execute("INSERT INTO orders VALUES($1, $2)", ["17", "tea"])
    ///       try queue.enqueue(SendReceipt(order: 17), in: transaction)
    ///     }
    ///
    /// `body` runs on a thread of the store's, and again from its start if another transaction conflicted or the
    /// connection was lost: it should only run statements. Its time limit is the call's, ``Configuration/callLimit``.
    /// The isolation level is READ COMMITTED. Workers hear of jobs after the commit.
    ///
    /// Throws `JobError.Code.storeFailed` if the connection was lost during the commit and the server can't say whether
    /// the commit happened.
    public func transaction<R: Sendable>(
      _ body: @escaping @Sendable (PostgresTransaction) throws -> R
    ) async throws -> R {
      try await engine.run(as: .lent) { [engine] session, deadline in
        try session.write(until: deadline) { transaction in
          transaction.begin()
          try transaction.sync()  // that the clock was another one is found before anything is done
          return try PostgresTransaction(transaction, of: engine).carryOut(body)
        }
      }
    }
  }

  extension JobQueue {
    /// Stores a job in a transaction of the program's own: it exists if and only if that is committed, and is durable
    /// with it. A rollback, even to a savepoint, removes it. Workers hear of it after the commit.
    ///
    /// Throws `JobError.Code.wrongStore` if the transaction belongs to another store than the queue, and the errors of
    /// `enqueue(_:after:options:)`; then the job is not stored, and the transaction can continue.
    @discardableResult
    public func enqueue<P: JobPayload>(
      _ job: P, after: [any JobReference] = [], options: JobOptions = JobOptions(), in transaction: PostgresTransaction
    ) throws -> JobHandle<P.Output> {
      try enqueue(contentsOf: [job], after: after, options: options, in: transaction)[0]
    }

    /// The same for many jobs, of which all or none are stored.
    @discardableResult
    public func enqueue<P: JobPayload>(
      contentsOf jobs: some Collection<P>, after: [any JobReference] = [], options: JobOptions = JobOptions(),
      in transaction: PostgresTransaction
    ) throws -> [JobHandle<P.Output>] {
      guard !jobs.isEmpty else { return [] }
      let new = try jobs.map { try prepare($0, after: after, options: options) }
      for job in new { try job.check() }
      let reply = try transaction.join(store) { transaction in
        transaction.expectedIDs = new.count
        return try transaction.insert(JobInsertion(new))
      }
      return reply.jobs.map { handle($0, as: P.self) }
    }
  }

  extension JobContext {
    /// Ends this job with success in a transaction of the program's own, together with what the handler wrote there:
    /// both are stored, or neither. Jobs that are to follow it so far are stored with it. Once that is committed, the
    /// handler's return value is ignored, and it should return.
    ///
    /// Throws `JobError.Code.wrongState` if the claim was lost or the job has ended, if only by an earlier transaction of
    /// which nothing was heard: let that roll this one back, so that the work is there once. Throws
    /// `JobError.Code.wrongStore` for another store's transaction, and fails the job if its kind has an output:
    /// `complete(with:in:)`.
    public func complete(in transaction: PostgresTransaction) throws {
      try end(success(with: Never?.none), in: transaction)
    }

    /// The same with the job's output, which has the type that its kind declares.
    public func complete<Output: Codable & Sendable>(with output: Output, in transaction: PostgresTransaction) throws {
      try end(success(with: output), in: transaction)
    }

    private func end(
      _ success: (store: any JobStore, end: ClaimSettlement), in transaction: PostgresTransaction
    ) throws {
      for job in success.end.followUps { try job.check() }
      try transaction.join(success.store) { try $0.complete(success.end) }
    }
  }
#endif
