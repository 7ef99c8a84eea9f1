#if Postgres
  import DurableJobs
  import Foundation

  /// A transaction on one of a store's connections, for a program's writes and for jobs: both are stored, or neither.
  ///
  /// Valid only within the closure that it is passed to, and on its thread.
  public final class PostgresTransaction {
    /// The server's refusal of a program's own statement.
    public struct Refusal: Error, Sendable, CustomStringConvertible {
      /// The server's five-letter SQLSTATE, such as `23505` for a value that has to be unique.
      public let sqlState: String
      public let message: String
      public var description: String { "\(message) (\(sqlState))" }

      /// Nil for what is nobody's fault: a conflicting transaction, or a lost connection. That a lock is not available, or
      /// the transaction read-only, is what the program asked for: the store's own transactions wait, and can write.
      init?(_ failure: PostgresFailure) {
        guard let state = failure.sqlState,
          ["55P03", "25006"].contains(state) || !failure.isCollision && !failure.endsConnection
        else { return nil }
        (sqlState, message) = (state, failure.message)
      }
    }

    private let transaction: Transaction
    private let engine: Engine
    private var isOver = false
    /// Once set, the server accepts nothing more, up to a savepoint.
    private var failure: (any Error)?
    /// Whose planner settings are in effect: the store pins the plans of its own statements. Nil if unknown.
    private var settings: Author? = .store

    private enum Author { case store, caller }

    init(_ transaction: Transaction, of engine: Engine) {
      self.transaction = transaction
      self.engine = engine
      transaction.isCallers = true
    }

    // MARK: A program's own statements

    /// Runs one statement with the values `$1`, `$2` and so on, each as text or nil for NULL. Returns its rows as text.
    ///
    ///     try transaction.execute("INSERT INTO orders VALUES($1, $2)", ["17", "tea"])
    ///
    /// What it changes beyond the transaction, such as a setting or a temporary table, is gone with the connection, which
    /// is not used again; but what a function does to its session stays.
    ///
    /// Throws a ``Refusal`` if the server refuses it. Nothing can be done after that, except outside a
    /// ``savepoint(_:)`` around it, and the transaction is rolled back whatever the closure returns.
    @discardableResult
    public func execute(_ sql: String, _ values: [String?] = []) throws -> [[String?]] {
      try check()
      try Self.check(sql, values)
      do {
        use(settingsOf: .caller)
        let leavesSession = SQLText.leavesSession(sql)
        if !leavesSession { transaction.endsSession = true }
        var rows: [[String?]] = []
        transaction.connection.send(callers: sql, values) { rows = $0.texts }
        try transaction.sync()
        if !leavesSession { transaction.connection.forgetPrepared() }
        return rows
      } catch let error as PostgresFailure {
        let told: any Error = Refusal(error) ?? error
        failure = told
        throw told
      }
    }

    /// Does everything in `body`, or nothing if that throws: the transaction can continue then.
    public func savepoint<R>(_ body: () throws -> R) throws -> R {
      try check()
      let mark = transaction.mark
      transaction.connection.send("SAVEPOINT durable_jobs")
      do {
        let reply = try body()
        if let failure { throw failure }
        transaction.connection.send("RELEASE SAVEPOINT durable_jobs")
        return reply
      } catch {
        try goBack(to: mark, after: error)
        throw error
      }
    }

    private func goBack(to mark: Transaction.Mark, after error: any Error) throws {
      // What met a conflicting transaction or lost its connection is repeated as a whole.
      if let lost = (failure ?? error) as? PostgresFailure, lost.isCollision || lost.endsConnection {
        failure = lost
        throw lost
      }
      let connection = transaction.connection
      // What was sent and not read may fail, and would make the rollback fail too.
      try? transaction.sync()
      connection.send("ROLLBACK TO SAVEPOINT durable_jobs")
      connection.send("RELEASE SAVEPOINT durable_jobs")
      do { try connection.sync() } catch {
        failure = error
        throw error
      }
      transaction.goBack(to: mark)
      (failure, settings) = (nil, nil)
    }

    /// What can't be sent as it is, or would end the transaction without the store's knowledge.
    private static func check(_ sql: String, _ values: [String?]) throws {
      guard !sql.utf8.contains(0), !values.contains(where: { $0?.utf8.contains(0) == true }) else {
        throw JobError(.invalidArgument, "PostgreSQL's texts can't have the character 0")
      }
      guard values.count <= 65_535 else {
        throw JobError(
          .invalidArgument,
          "a statement can't have more than 65535 values: pass many as one array, as in unnest($1::text[])")
      }
      let word = SQLText.firstWord(of: sql)
      guard !SQLText.setsTransaction(sql) else {
        throw JobError(
          .invalidArgument, "SET TRANSACTION is not for execute: the transaction is READ COMMITTED, and can write")
      }
      guard !["ABORT", "BEGIN", "COMMIT", "END", "PREPARE", "RELEASE", "ROLLBACK", "SAVEPOINT", "START"].contains(word)
      else {
        throw JobError(
          .invalidArgument,
          "\(word) is not for execute: return from the closure to commit, throw to roll back, and take savepoint(_:) for a part"
        )
      }
      guard word != "COPY" else {
        throw JobError(.invalidArgument, "COPY is not for execute: insert rows, for example from unnest($1::text[])")
      }
    }

    private func use(settingsOf author: Author) {
      guard settings != author else { return }
      settings = author
      switch author {
      case .store: transaction.connection.send(Connection.settingsSQL, [.bool(true)])
      case .caller: transaction.connection.send(Connection.callersSettingsSQL)
      }
    }

    // MARK: The store's

    /// Does everything that a rule says, or nothing.
    func join<R>(_ store: any JobStore, _ act: (Transaction) throws -> R) throws -> R {
      guard let store = store as? PostgresStore, store.engine === engine else {
        throw JobError(.wrongStore, "the transaction is one of the store \(engine.server), and not of this queue's")
      }
      for _ in 0..<10 {
        do {
          return try savepoint {
            use(settingsOf: .store)
            transaction.takeTime(engine.time.now)
            return try act(transaction)
          }
        } catch is Transaction.Surprise {}
      }
      let failure = PostgresFailure(.sqlState("40001"), "what a job needs was locked, or changed, again and again")
      self.failure = failure
      throw failure
    }

    private func check() throws {
      if isOver { throw JobError(.wrongState, "the transaction is over: it is good within its closure alone") }
      if let failure { throw failure }
    }

    /// Whatever `body` did with a server error: after one that no savepoint undid there is no commit.
    func carryOut<R>(_ body: (PostgresTransaction) throws -> R) throws -> R {
      defer { isOver = true }
      do {
        let reply = try body(self)
        if let failure { throw failure }
        // Whatever the program set, the commit is durable.
        use(settingsOf: .store)
        return reply
      } catch let error where error is PostgresFailure || error is JobError {
        throw error
      } catch {
        // It may be another error, thrown because of that one.
        if let failure = failure as? PostgresFailure { throw failure }
        throw CallersError(error: error)
      }
    }
  }

  /// An error that a caller threw in a transaction of its own, and gets back unchanged.
  struct CallersError: Error {
    let error: any Error
  }
#endif
