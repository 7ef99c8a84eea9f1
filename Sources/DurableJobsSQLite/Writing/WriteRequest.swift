/// A caller's request to the writer: its parts of a transaction, and how it learns the outcome.
struct WriteRequest: Sendable {
  /// Results first, then new work, then claims, so that a claim finds everything that came with it.
  enum Order: Int, CaseIterable, Sendable { case settle, insert, other, claim }

  struct Part<R>: Sendable {
    let order: Order
    /// Gets the reply of the part before it. May run more than once, each time in another transaction, of which at most the
    /// last is committed.
    let act: @Sendable (WriteTransaction, R?) throws -> R
  }

  let parts: [Part<Void>]
  /// Called once: with nil after COMMIT, or with the error after the last ROLLBACK.
  let finish: @Sendable ((any Error)?) -> Void

  /// The caller gets the reply of the last part.
  init<R: Sendable>(_ continuation: CheckedContinuation<R, any Error>, _ parts: [Part<R>]) {
    nonisolated(unsafe) var reply: R?  // only used on the writer's thread
    self.parts = parts.map { part in
      Part(order: part.order) { transaction, _ in reply = try part.act(transaction, reply) }
    }
    finish = { error in
      if let error {
        continuation.resume(throwing: error)
      } else if let reply {
        continuation.resume(returning: reply)
      }
    }
  }
}
