#if Postgres
  import DurableJobs
  import Foundation

  /// A commit was not answered, and nobody can be asked whether it happened, or tells that it lasts.
  struct UnknownOutcome: Error {}

  /// A connection, re-established when it is lost, and what is remembered from one transaction to the next. Belongs to
  /// one thread.
  final class Session {
    /// The server's clock differs from what was assumed: nothing was decided by it yet.
    private struct ClockMoved: LocalizedError {
      var errorDescription: String? { "its server's clock is set again and again" }
    }

    private unowned let engine: Engine
    private let routes = RouteMemory()
    let tallies: Tallies
    private(set) var connection: Connection?
    private var usualCommit = Duration.zero

    init(engine: Engine, number: Int64) {
      self.engine = engine
      tallies = Tallies(share: (engine.firstShare + number) % Tallies.usualShares)
    }

    // MARK: Transactions

    /// Runs `body` in a transaction that is durable when this returns, and again from its start if another transaction
    /// conflicted or the connection was lost. If the connection is lost during the commit, the server is asked later
    /// whether the commit happened, and lasts. With `lockPatience` it is not run again if it waited for a lock that long.
    /// With `patience` it takes as long as it takes, and `deadline` is that of its beginning.
    func write<R>(
      until deadline: Duration, waitingForLocks lockPatience: Duration? = nil, patience: Connection.Patience? = nil,
      _ body: (Transaction) throws -> R
    ) throws -> R {
      var attempt = 0
      var deadline = deadline
      while true {
        deadline += try setWaitsRight(until: deadline)
        let transaction = try begin(until: deadline, lockPatience, attempt: &attempt)
        transaction.connection.patience = patience
        do {
          let moment = engine.knownMoment
          guard moment.map({ engine.time.setBack(at: $0) == 0 }) ?? true else { continue }
          let reply = try body(transaction)
          try transaction.settleBatches()
          let sentAt = SystemClock().uptime
          do {
            try transaction.commit()
            // One that was held up, as by a full disk, is not usual.
            if transaction.hasBegun { usualCommit = min(SystemClock().uptime - sentAt, .milliseconds(50)) }
          } catch let failure as PostgresFailure
            where failure.endsConnection && failure.kind != .sqlState("25006") && transaction.isEnding
          {
            connection = nil
            let end = max(deadline, SystemClock().uptime + .seconds(5))
            guard try hasCommitted(transaction, until: end) else { throw failure }
            transaction.accept()
          }
          if transaction.endsSession { connection = nil }
          if let moment { engine.time.saw(moment) }
          engine.tell(transaction, on: self)
          return reply
        } catch {
          abandon(transaction, after: error)
          if lockPatience != nil, (error as? PostgresFailure)?.sqlState == "55P03" { throw error }
          if let patience { deadline = SystemClock().uptime + patience.limit }
          try waitBeforeAnother(&attempt, after: transaction.explained(error), until: deadline)
        }
      }
    }

    /// If the clock was set back, what waits for a time is corrected before anything else, in a transaction of its own:
    /// however long that takes, it is not a part of what a call may take. Returns how long it took.
    private func setWaitsRight(until deadline: Duration) throws -> Duration {
      let begun = SystemClock().uptime
      var attempt = 0
      while true {
        guard let moment = engine.knownMoment,
          case let (known, setBack) = engine.epoch.withLock({ ($0, engine.time.setBack(at: moment)) }), setBack > 0
        else { return attempt > 0 ? SystemClock().uptime - begun : .zero }
        let transaction = try begin(until: deadline, attempt: &attempt)
        do {
          let epoch = try transaction.rebaseWaits(
            by: setBack, known: known, patience: engine.configuration.lockPatience)
          try transaction.commit()
          engine.epoch.withLock { known in
            known = epoch
            engine.time.saw(moment)
          }
          engine.tell(transaction, on: self)
          return SystemClock().uptime - begun
        } catch {
          abandon(transaction, after: error)
          try waitBeforeAnother(&attempt, after: error, until: deadline)
        }
      }
    }

    /// Runs `body` on one moment of the store.
    func read<R>(until deadline: Duration, _ body: (Reader) throws -> R) throws -> R {
      var (attempt, deadline) = (0, deadline)
      while true {
        // What is read must not depend on whether somebody has written since the clock was set back.
        deadline += try setWaitsRight(until: deadline)
        let moment = engine.knownMoment.flatMap { engine.time.setBack(at: $0) == 0 ? $0 : nil }
        do {
          let connection = try connected(until: deadline)
          connection.send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
          if engine.configuration.isPooled {
            connection.send(Connection.settingsSQL, [.bool(true)])
            connection.limitCalls(to: engine.configuration.callLimit, inTransaction: true)
          }
          let sentAt = SystemClock().uptime
          connection.send(Self.tableSQL) { [engine] rows in
            try engine.context.check(table: rows.int(0, 0))
            // A machine that slept, and only reads, has no other way to hear what time it is.
            guard engine.serverClock?.heard(rows.int(0, 1), since: sentAt) != false else { throw ClockMoved() }
          }
          do {
            let reply = try body(Reader(connection: connection, process: engine.context.process))
            connection.send("COMMIT")
            try connection.sync()
            if let moment { engine.time.saw(moment) }
            return reply
          } catch {
            connection.send("ROLLBACK")
            try? connection.sync()
            throw error
          }
        } catch {
          drop(after: error)
          try waitBeforeAnother(&attempt, after: error, until: deadline)
        }
      }
    }

    /// Runs one statement by itself, once.
    func execute(_ sql: String, _ values: [Value], until deadline: Duration) throws {
      do {
        let connection = try connected(until: deadline)
        connection.send(sql, values)
        try connection.sync()
      } catch {
        drop(after: error)
        throw error
      }
    }

    /// Has the server do this, and waits for nothing. Returns false if there is no connection for it.
    func post(_ sql: String, _ values: [Value]) -> Bool {
      guard let connection, connection.isUsable, !connection.hasUnsent else { return false }
      connection.post(sql, values)
      return true
    }

    private func begin(
      until deadline: Duration, _ lockPatience: Duration? = nil, attempt: inout Int
    ) throws -> Transaction {
      while true {
        do {
          let connection = try connected(until: deadline)
          let assumed = engine.serverClock?.estimate?.offset
          let transaction = Transaction(
            connection: connection, routes: routes, context: engine.context, now: engine.time.now,
            tallies: tallies, isHeard: engine.signals.hasListeners, usualCommit: usualCommit,
            lockPatience: lockPatience)
          transaction.check = { [engine] time, sent in
            guard let clock = engine.serverClock else { return }
            // Another thread may have heard before.
            guard clock.heard(time, since: sent), clock.estimate?.offset == assumed else { throw ClockMoved() }
          }
          return transaction
        } catch {
          try waitBeforeAnother(&attempt, after: error, until: deadline)
        }
      }
    }

    private func abandon(_ transaction: Transaction, after error: any Error) {
      if (error as? PostgresFailure)?.isOfTime == true {
        engine.context.lateEnds.suspect(transaction.ends)
        if transaction.introducesWorker { engine.context.isUnannounced.withLock { $0 = true } }
      }
      if error is UnknownOutcome { transaction.noteRows() }
      routes.forget()
      drop(after: error)
      if connection === transaction.connection { transaction.rollback() }
      if transaction.endsSession || connection?.isUsable == false { connection = nil }
    }

    private func drop(after error: any Error) {
      if let failure = error as? PostgresFailure, failure.endsConnection { connection = nil }
      // Statements that it had prepared are gone.
      if (error as? PostgresFailure)?.sqlState == "26000" { connection = nil }
      if connection?.isUsable == false { connection = nil }
    }

    /// Returns if there is to be another attempt.
    private func waitBeforeAnother(_ attempt: inout Int, after error: any Error, until deadline: Duration) throws {
      attempt += 1
      let rest = deadline - SystemClock().uptime
      let isPassing =
        switch error {
        case is ClockMoved, is Transaction.Surprise: attempt < 10
        case let failure as PostgresFailure where failure.isCollision: attempt < 50
        case let failure as PostgresFailure where failure.kind == .timedOut: false
        case let failure as PostgresFailure where failure.kind == .sqlState("25006"): attempt < 3
        case let failure as PostgresFailure where failure.endsConnection: failure.mayPass(on: engine.server)
        default: false
        }
      guard isPassing, rest > .zero, !engine.isClosed else { throw error }
      // Callers that conflicted or lost the server do not all retry at once.
      let longest = min(0.01 * Double(1 << min(attempt, 7)), 1, rest.seconds)
      Thread.sleep(forTimeInterval: .random(in: 0...longest))
    }

    /// Whether a transaction whose COMMIT was not answered was committed, which is the answer only once a later commit was
    /// confirmed: others may see it before it is where it must be, as on a standby, and what stands later in the server's
    /// log is nowhere without it. A server that crashed meanwhile may have reused its number: then the jobs that it stored
    /// are looked up by their ids and its time, those that it claimed by their claims, which no others have, and a new batch
    /// without jobs by its id and name. One that did none of these is assumed not committed, and repeated: a result is
    /// accepted twice under one claim. A caller's own writes do not allow that, so the outcome is reported as unknown.
    private func hasCommitted(_ transaction: Transaction, until deadline: Duration) throws -> Bool {
      guard let head = transaction.head else { return false }
      var attempt = 0
      var state: String?
      var isSameLife = false
      var isThere = false
      func last(_ isCommitted: Bool, _ connection: Connection) throws -> Bool {
        guard isCommitted else { return false }
        let isPooled = engine.configuration.isPooled
        if isPooled {
          connection.send("BEGIN")
          connection.send(Connection.settingsSQL, [.bool(true)])
        }
        connection.send(Self.confirmSQL)
        if isPooled { connection.send("COMMIT") }
        try connection.sync()
        return true
      }
      while true {
        do {
          let connection = try connected(until: deadline)
          connection.send("SELECT pg_xact_status($1::text::xid8),\(Transaction.lifeSQL)", [.int(head.number)]) {
            state = $0.text(0, 0)
            isSameLife = $0.text(0, 1) == head.life
          }
          // Jobs tell by their time, too; another's batch may have got the same id, and the same name.
          let batch = transaction.stored.isEmpty ? transaction.madeBatch : nil
          connection.send(
            Self.thereSQL,
            [
              .ids(transaction.stored), .int(transaction.firstNow), .int(transaction.now), .int(batch?.id.rawValue),
              .text(batch?.name), .ids(transaction.claimed.map(\.job)),
              .ints(Set(transaction.claimed.map(\.claim)).sorted()),
            ]
          ) { isThere = $0.bool(0, 0) }
          try connection.sync()
          guard isSameLife else {
            // If it is another's number, it was not this one that came.
            let isKnown = isThere || state == "aborted" || state == "in progress"
            guard isKnown || !transaction.isCallers else { throw UnknownOutcome() }
            return try last(isThere, connection)
          }
          guard state == "in progress" else { return try last(state == "committed", connection) }
          throw PostgresFailure(.sqlState("40001"), "the transaction is still being ended")
        } catch let error where !(error is UnknownOutcome) {
          drop(after: error)
          // The server may have lost the state with this transaction: one that it never heard of was not committed.
          if (error as? PostgresFailure)?.sqlState == "22023" { return false }
          do {
            try waitBeforeAnother(&attempt, after: error, until: deadline)
          } catch {
            throw UnknownOutcome()
          }
        }
      }
    }

    /// Writes to the log, and to no table.
    static let confirmSQL = "SELECT pg_logical_emit_message(true,'durable_jobs','')"
    private static let thereSQL = """
      SELECT EXISTS(SELECT FROM §spec WHERE id=ANY($1) AND created_at BETWEEN $2 AND $3)
        OR EXISTS(SELECT FROM §batch WHERE id=$4 AND name=$5)
        OR EXISTS(SELECT FROM §job WHERE id=ANY($6) AND abs(claim)=ANY($7))
      """

    private static let tableSQL =
      "SELECT \(Opening.tableSQL),floor(extract(epoch FROM clock_timestamp())*1000)::bigint"

    // MARK: The connection

    private func connected(until deadline: Duration) throws -> Connection {
      if let connection, connection.isUsable {
        connection.patience = nil
        // What is sent behind a notice that is held up would be carried out after it, when nobody waits any more.
        let limit = SystemClock().uptime + Notices.patience
        if connection.readPosted(until: min(deadline, limit)) {
          connection.deadline = deadline
          return connection
        }
        if SystemClock().uptime >= limit { engine.notices.rest() }
      }
      connection = nil
      routes.forget()
      let new = try engine.connect(until: deadline)
      connection = new
      return new
    }

    /// Drops it, after a while without work.
    func disconnect() { connection = nil }
  }
#endif
