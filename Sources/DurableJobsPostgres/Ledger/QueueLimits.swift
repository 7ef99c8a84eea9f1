#if Postgres
  import DurableJobs

  /// How much room limited queues have.
  extension Transaction {
    /// The running jobs of the queue `q`, as far as its limit. The newest first: entries of those that are done stay in
    /// the index while a transaction is held open, and mostly are older.
    private static let running = """
      (SELECT count(*) FROM(SELECT 1 FROM §route r CROSS JOIN LATERAL(
          SELECT 1 FROM §job j WHERE j.route=r.id AND j.state=5 ORDER BY j.rank DESC,j.id DESC LIMIT q.running) j
        WHERE r.queue=q.id LIMIT coalesce(q.running,0)) x)
      """
    /// ``JobRate/interval``. A time beyond a whole burst is ignored: see ``QueueLimit``.
    private static let interval = "((q.period*1000+q.rate-1)/q.rate)"
    /// A claim from a limited queue has it exclusively until the end of the transaction. A queue without room is not
    /// waited for.
    static let lockLimitsSQL = """
      SELECT q.name FROM §queue q WHERE q.name=ANY($1)
        AND(q.running IS NULL OR \(running)<q.running)
        AND(q.rate IS NULL OR NOT q.tat BETWEEN $2+(q.burst-1)*\(interval)+1 AND $2+q.burst*\(interval)+\(QueueLimit.slack))
      ORDER BY q.id FOR UPDATE
      """
    static let lockFreeLimitsSQL = lockLimitsSQL + " SKIP LOCKED"
    static let limitsOfSQL = """
      SELECT q.name,q.running,q.rate,q.period,q.burst,q.tat,\(running) FROM §queue q WHERE q.name=ANY($1) ORDER BY q.id
      """
    static let saveTatsSQL = "UPDATE §queue q SET tat=u.tat FROM unnest($1,$2) u(name,tat) WHERE q.name=u.name"

    /// The queues that are limited and have room with the worker. They are counted once locked, by a separate
    /// statement: so it sees everything that others have claimed.
    func limits(of free: [String: Int]) throws -> [QueueLimit] {
      try prepareClaim()
      let names = routes.limits.keys.filter { free[$0] ?? 0 > 0 }.map(\.composed).sorted()
      guard !names.isEmpty else { return [] }
      let held = context.heldQueues.value
      var locked: Set<String> = []
      var limits: [QueueLimit] = []
      for (sql, names) in [
        (Self.lockLimitsSQL, names.filter { !held.contains($0) }),
        (Self.lockFreeLimitsSQL, names.filter(held.contains)),
      ] where !names.isEmpty {
        connection.send(sql, [.texts(names), .int(now * 1000)]) { rows in
          locked.formUnion((0..<rows.count).map { rows.text($0, 0) ?? "" })
        }
      }
      connection.send(Self.limitsOfSQL, [.texts(names)]) { [now] rows in
        limits = Self.limits(rows, at: now) { locked.contains($0) }
      }
      do { try sync() } catch let failure as PostgresFailure where failure.sqlState == "55P03" {
        context.heldQueues.withLock { $0.formUnion(names) }
        throw failure
      }
      context.heldQueues.withLock { $0.subtract(locked) }
      try checkAge()
      return limits
    }

    /// Reads the rows of ``limitsOfSQL``.
    static func limits(_ rows: Rows, at now: Int64, isOwn: (String) -> Bool) -> [QueueLimit] {
      let known = RouteMemory.limits(rows)
      return (0..<rows.count).compactMap { row in
        let name = rows.text(row, 0) ?? ""
        return known[name].map {
          QueueLimit(
            queue: name, limits: $0, running: rows.count(row, 6), tat: rows.int(row, 5), at: now,
            isOwn: isOwn(name))
        }
      }
    }

    static let savePacesSQL = """
      INSERT INTO §lane_width(name,width,rate,period,burst,tat)
        SELECT name,1,rate,period,burst,tat FROM unnest($1,$2,$3,$4,$5) u(name,rate,period,burst,tat)
      ON CONFLICT(name) DO UPDATE SET rate=excluded.rate,period=excluded.period,burst=excluded.burst,tat=excluded.tat
      """

    /// The lanes must be locked.
    func save(_ paces: [String: LanePace?]) {
      guard !paces.isEmpty else { return }
      let sorted = paces.sorted { $0.key < $1.key }
      let names = Value.texts(sorted.map(\.key.composed))
      connection.send(
        Self.savePacesSQL,
        [
          names, .optionalInts(sorted.map { $0.value.map { Int64($0.rate.count) } }),
          .optionalInts(sorted.map { $0.value?.rate.period.milliseconds }),
          .optionalInts(sorted.map { $0.value.map { Int64($0.rate.burst) } }), .ints(sorted.map { $0.value?.tat ?? 0 }),
        ])
      if paces.contains(where: { $0.value == nil }) { connection.send(Self.usualLanesSQL, [names]) }
    }

    func save(_ tats: [String: Int64]) {
      guard !tats.isEmpty else { return }
      let sorted = tats.sorted { $0.key < $1.key }
      connection.send(Self.saveTatsSQL, [.texts(sorted.map(\.key.composed)), .ints(sorted.map(\.value))])
    }
  }
#endif
