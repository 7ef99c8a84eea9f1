import DurableJobs

/// A caller's request to the writer: its part of a transaction, and how it learns the outcome.
struct WriteRequest: Sendable {
  /// Results first, then new work, then claims, so that a claim finds everything that came with it.
  enum Order: Int, CaseIterable, Sendable { case settle, insert, other, claim }

  let order: Order
  /// May run more than once, each time in another transaction, of which at most the last is committed.
  let act: @Sendable (WriteTransaction) throws -> Void
  /// A claim in the same transaction, after all results and new jobs.
  let thenClaim: (@Sendable (WriteTransaction) throws -> Void)?
  /// Called once: with nil after COMMIT, or with the error after the last ROLLBACK.
  let finish: @Sendable ((any Error)?) -> Void

  init<R: Sendable>(
    _ order: Order, _ continuation: CheckedContinuation<R, any Error>,
    _ act: @escaping @Sendable (WriteTransaction) throws -> R,
    thenClaim: (@Sendable (WriteTransaction, R) throws -> R)? = nil
  ) {
    let reply = Lock<R?>(nil)
    self.order = order
    self.act = { transaction in
      let value = try act(transaction)
      reply.withLock { $0 = value }
    }
    self.thenClaim = thenClaim.map { claim in
      { @Sendable (transaction: WriteTransaction) throws in
        guard let value = reply.withLock({ $0 }) else { return }
        let whole = try claim(transaction, value)
        reply.withLock { $0 = whole }
      }
    }
    finish = { error in
      if let error {
        continuation.resume(throwing: error)
      } else if let value = reply.withLock({ $0 }) {
        continuation.resume(returning: value)
      }
    }
  }
}
