#if Postgres
  import DurableJobs
  import Foundation

  /// Rows that a rule needs: each set is locked by one statement, by id, and read by the next. What determines which
  /// are locked may have changed in between, if no other lock prevents it: so only rows that were locked are taken.
  extension Transaction {
    /// What a rule sees of a job `j`. What is stored beside it is read only if `links` says that there is something.
    static let row = """
      j.id,j.route,j.state,j.priority,j.links,j.attempt,j.claim,j.run_at,j.entered_at,
      (SELECT options FROM §spec WHERE id=j.id),
      CASE WHEN j.links&\(Links.crash.rawValue)<>0 THEN(SELECT in_row FROM §crash WHERE job=j.id) END,
      CASE WHEN j.links&\(Links.crash.rawValue)<>0 THEN(SELECT total FROM §crash WHERE job=j.id) END,
      CASE WHEN j.links&\(Links.note.rawValue)<>0 THEN(SELECT text FROM §note WHERE job=j.id) END,
      CASE WHEN j.links&\(Links.note.rawValue)<>0 THEN(SELECT cause FROM §note WHERE job=j.id) END,
      CASE WHEN j.links&\(Links.crash.rawValue)<>0 THEN(SELECT highest FROM §progress WHERE id=j.id) END,
      CASE WHEN j.links&\(Links([.parents, .lane]).rawValue)<>0 THEN(SELECT n FROM §wait WHERE job=j.id) END,
      CASE WHEN j.state=5 THEN(SELECT lease_until<>\(WorkerRow.taken) FROM §worker WHERE id=j.claim>>\(ClaimNumber.bits)) END
      """
    private static func lock(_ ids: String) -> String {
      "SELECT id FROM §job WHERE id=ANY(\(ids)) ORDER BY id FOR UPDATE"
    }

    private static let passingOver = " SKIP LOCKED"

    static let lockJobsSQL = lock("$1")
    static let lockFreeJobsSQL = lockJobsSQL + passingOver
    static let jobsSQL = "SELECT \(row) FROM §job j WHERE j.id=ANY($1) ORDER BY j.id"
    static let lockChildrenSQL = lock("ARRAY(SELECT child FROM §edge WHERE parent=ANY($1))")
    private static func childEdgesSQL(_ condition: String) -> String {
      "SELECT parent,child,need,slot FROM §edge WHERE parent=ANY($1)\(condition) ORDER BY parent,child,need,slot"
    }
    static let childEdgesSQL = childEdgesSQL("")
    private static func childrenSQL(_ columns: String, _ condition: String) -> String {
      """
      SELECT \(columns) FROM §job j WHERE j.id=ANY(ARRAY(SELECT child FROM §edge WHERE parent=ANY($1)))\(condition) ORDER BY j.id
      """
    }
    static let childrenSQL = childrenSQL(row, "")
    /// Of jobs that are to be deleted: what has succeeded keeps none, and there may be very many.
    static let lockKeepersSQL = childrenSQL("j.id", " AND j.state+0<>7") + " FOR UPDATE" + passingOver
    static let keepersSQL = childrenSQL(row, " AND j.state+0<>7")
    static let keeperEdgesSQL = childEdgesSQL(" AND EXISTS(SELECT 1 FROM §job WHERE id=child AND state+0<>7)")
    static let parentsSQL = """
      SELECT e.parent,e.child,e.need,e.slot,
        (SELECT CASE WHEN j.links&\(Links.afterFailure.rawValue)<>0 THEN 8 ELSE j.state END FROM §job j WHERE j.id=e.parent)
      FROM §edge e WHERE e.child=ANY($1)
      UNION ALL SELECT 0,child,need,slot,2 FROM §edge_key WHERE child=ANY($1)
      """
    static let lanesSQL = """
      SELECT n,coalesce(w.width,1),(SELECT count(*) FROM §lane WHERE name=n AND seat=1),w.rate,w.period,w.burst,w.tat
      FROM unnest($1) n LEFT JOIN LATERAL(SELECT * FROM §lane_width WHERE name=n) w ON true
      """
    private static let waiting = """
      SELECT u.name,l.job FROM unnest($1,$2) u(name,k) CROSS JOIN LATERAL(
        SELECT job FROM §lane WHERE name=u.name AND seat=0 ORDER BY job LIMIT u.k) l
      """
    static let waitingSQL = "\(waiting) ORDER BY 1,2"
    static let lockWaitingSQL = lock("ARRAY(SELECT job FROM(\(waiting)) w)")
    static let waitingRowsSQL =
      "SELECT \(row) FROM §job j WHERE j.id=ANY(ARRAY(SELECT job FROM(\(waiting)) w)) ORDER BY j.id"
    static let ownersSQL = """
      SELECT u.key,u.job FROM §uniq u JOIN §job j ON j.id=u.job
      WHERE u.key=ANY($1) AND(j.state+0<7 OR u.until>$2) ORDER BY u.job
      """
    static let newestOwnersSQL = """
      SELECT k.key,o.job FROM unnest($1) k(key) CROSS JOIN LATERAL(
        (SELECT u.job FROM §uniq u JOIN §job j ON j.id=u.job
          WHERE u.key=k.key AND(j.state+0<7 OR u.until>$2) ORDER BY u.job DESC LIMIT 1)
        UNION(SELECT u.job FROM §uniq u JOIN §job j ON j.id=u.job
          WHERE u.key=k.key AND j.state+0<7 ORDER BY u.job DESC LIMIT 1)) o ORDER BY o.job
      """
    /// Rows of ended jobs that hold nothing any more. The names of the keys are locked.
    static let dropIdleKeysSQL = """
      DELETE FROM §uniq WHERE ctid=ANY(ARRAY(
        SELECT u.ctid FROM §uniq u JOIN §job j ON j.id=u.job
        WHERE u.key=ANY($1) AND j.state+0>=7 AND(u.until IS NULL OR u.until<=$2) LIMIT 1000 FOR UPDATE OF u SKIP LOCKED))
      """
    private static let lockOwnersSQL = lock("ARRAY(SELECT job FROM(\(ownersSQL)) o)")
    private static let lockNewestOwnersSQL = lock("ARRAY(SELECT job FROM(\(newestOwnersSQL)) o)")
    private static let named = """
      SELECT u.key,coalesce(
        (SELECT k.job FROM §job_key k JOIN §job j ON j.id=k.job WHERE k.key=u.key AND j.state+0<7
          AND NOT j.id=ANY($2) ORDER BY k.job DESC LIMIT 1),
        (SELECT k.job FROM §job_key k JOIN §job j ON j.id=k.job WHERE k.key=u.key AND j.state+0=7 ORDER BY k.job DESC LIMIT 1)
      ) AS job FROM unnest($1) u(key)
      """
    static let lockNamedSQL = lock("ARRAY(SELECT job FROM(\(named)) n)")
    static let namedSQL = "SELECT n.key,\(row) FROM(\(named)) n JOIN §job j ON j.id=n.job"
    static let waitersSQL = "SELECT key,child FROM §edge_key WHERE key=ANY($1) ORDER BY key,child"
    /// What runs. With OFFSET, the planner leaves the inner query as it is, and has a route when it goes through a line.
    static let whatRuns =
      "§route r CROSS JOIN LATERAL(SELECT id,claim FROM §job WHERE route=r.id AND state=5 OFFSET 0) h"
    private static let held = """
      SELECT h.id FROM \(whatRuns)
      WHERE h.claim>>\(ClaimNumber.bits)=ANY($1) ORDER BY h.id LIMIT $2
      """
    static let lockHeldSQL = lock("ARRAY(\(held))")
    static let lockFreeHeldSQL = lockHeldSQL + passingOver
    static let heldCountsSQL = """
      SELECT h.claim>>\(ClaimNumber.bits),count(*) FROM \(whatRuns) WHERE h.claim>>\(ClaimNumber.bits)=ANY($1) GROUP BY 1
      """
    private static let overdue = "SELECT job FROM §deadline WHERE at<=$1 ORDER BY at,job LIMIT $2"
    /// A job that another keeps locked has its turn later.
    static let lockOverdueSQL = lock("ARRAY(\(overdue))") + passingOver
    static let overdueSQL = """
      SELECT \(row) FROM(SELECT job,at FROM §deadline WHERE at<=$1 ORDER BY at,job LIMIT $2) d JOIN §job j ON j.id=d.job
      ORDER BY d.at,d.job
      """

    func lock(_ jobs: [JobID]) { connection.send(Self.lockJobsSQL, [.ids(jobs.sorted())]) }

    func load(_ needs: Needs, _ answer: PipelineAnswer) {
      let (isPassing, late) = (needs.passesOverLocked, context.lateEnds.count)
      func isTaken(_ id: JobID) -> Bool { !isPassing || answer.locked.contains(id) }
      if !needs.jobs.isEmpty {
        let jobs = Value.ids(needs.jobs.sorted())
        connection.send(isPassing ? Self.lockFreeJobsSQL : Self.lockJobsSQL, [jobs]) { answer.lock($0) }
        read(Self.jobsSQL, [jobs], answer) { id in
          if !isTaken(id) { answer.reply.passedOver.insert(id) }
          return isTaken(id)
        }
      }
      if !needs.childrenOf.isEmpty {
        looksAtDependents = true
        let parents = Value.ids(needs.childrenOf.sorted())
        connection.send(isPassing ? Self.lockKeepersSQL : Self.lockChildrenSQL, [parents]) { answer.lock($0) }
        var others: Set<JobID> = []
        read(isPassing ? Self.keepersSQL : Self.childrenSQL, [parents], answer) { id in
          if !isTaken(id) { others.insert(id) }
          return isTaken(id)
        }
        connection.send(isPassing ? Self.keeperEdgesSQL : Self.childEdgesSQL, [parents]) { rows in
          let edges = (0..<rows.count).compactMap { Self.edge(rows, $0) }
          answer.reply.children += edges
          answer.reply.passedOver.formUnion(edges.lazy.filter { others.contains($0.child) }.map(\.parent))
        }
      }
      if !needs.parentsOf.isEmpty {
        // Ending a parent requires locking the child, which is locked.
        connection.send(Self.parentsSQL, [.ids(needs.parentsOf.sorted())]) { rows in
          answer.reply.parents += (0..<rows.count).compactMap { row in
            Self.edge(rows, row, parentState: rows.intOrNull(row, 4).flatMap(JobState.init(code:)))
          }
        }
      }
      if !needs.lanes.isEmpty { loadLanes(needs.lanes, answer) }
      if !needs.waitersOf.isEmpty || !needs.named.isEmpty {
        lock(Set((needs.waitersOf + needs.named).map(\.composed)).sorted(), .key)
      }
      if !needs.named.isEmpty { loadNamed(needs.named, besides: needs.namedBesides, answer) }
      if !needs.waitersOf.isEmpty {
        connection.send(Self.waitersSQL, [.texts(needs.waitersOf.map(\.composed))]) { rows in
          for row in 0..<rows.count {
            answer.reply.waiters[rows.text(row, 0) ?? "", default: []].append(rows.id(row, 1))
          }
        }
      }
      if !needs.keys.isEmpty {
        lock(Set(needs.keys.map(\.composed)).sorted(), .uniqueKey)
        loadOwners(of: needs.keys, all: needs.allOwnersOf, answer)
      }
      if !needs.heldBy.isEmpty {
        let limit = Int64(needs.heldLimit).addingReportingOverflow(late)
        let values: [Value] = [.ints(needs.heldBy), .int(limit.overflow ? .max : limit.partialValue)]
        connection.send(isPassing ? Self.lockFreeHeldSQL : Self.lockHeldSQL, values) { [context] rows in
          let held = (0..<rows.count).map { rows.id($0, 0) }
          answer.held = isPassing ? context.lateEnds.without(held) : held
        }
      }
      if let batch = needs.batch {
        connection.send(Self.lockBatchSQL, [.int(batch.rawValue)])
        connection.send(Self.batchSQL, [.int(batch.rawValue)]) { rows in
          answer.reply.batches += (0..<rows.count).map { Self.batch(rows, $0) }
        }
      }
      if needs.overdue > 0 {
        let values: [Value] = [.int(now), .int(Int64(needs.overdue) + late)]
        connection.send(Self.lockOverdueSQL, values) { answer.lock($0) }
        read(Self.overdueSQL, values, answer) { [context] in
          answer.locked.contains($0) && !context.lateEnds.contains($0)
        } each: {
          answer.reply.overdue.append($0)
        }
      }
    }

    /// Reads what runs under those claims by the ids that were locked: asked for anew, others would be among the first. What
    /// the workers have beside that was locked by others, or is beyond the limit.
    func loadHeld(_ needs: Needs, _ answer: PipelineAnswer) throws {
      guard !needs.heldBy.isEmpty else { return }
      let first = answer.stored.count
      read(Self.jobsSQL, [.ids(answer.held)], answer)
      connection.send(Self.heldCountsSQL, [.ints(needs.heldBy)]) { rows in
        let workers = Set(needs.heldBy)
        let held = answer.stored[first...].map(\.row).filter {
          $0.state == JobState.running.code && workers.contains(ClaimNumber(rawValue: $0.claim).worker)
        }
        answer.reply.held = held.map(\.id)
        let counts = Dictionary(held.map { (ClaimNumber(rawValue: $0.claim).worker, 1) }, uniquingKeysWith: +)
        for row in 0..<rows.count where rows.count(row, 1) > counts[rows.int(row, 0)] ?? 0 {
          answer.reply.unread.insert(rows.int(row, 0))
        }
      }
      try sync()
    }

    /// Asks again for the jobs that have a name or a unique key by now and were not locked: who had it had ended meanwhile.
    func loadAgain(_ needs: Needs, _ answer: PipelineAnswer) throws {
      for _ in 0..<10 {
        let stale = needs.named.filter { answer.reply.named[$0].map { !answer.locked.contains($0) } ?? false }
        let keys = needs.keys.filter { !(answer.reply.owners[$0] ?? []).allSatisfy(answer.locked.contains) }
        guard !stale.isEmpty || !keys.isEmpty else { return }
        if !stale.isEmpty {
          answer.stored.removeAll { row in stale.contains { answer.reply.named[$0] == row.row.id } }
          for name in stale { answer.reply.named[name] = nil }
          loadNamed(stale, besides: needs.namedBesides, answer)
        }
        loadOwners(of: keys, all: needs.allOwnersOf, answer)
        try sync()
      }
      throw Surprise()
    }

    /// Their rows are asked for by who needs them.
    private func loadOwners(of keys: [String], all: Set<String>, _ answer: PipelineAnswer) {
      guard !keys.isEmpty else { return }
      for key in keys { answer.reply.owners[key] = [] }
      connection.send(Self.dropIdleKeysSQL, [.texts(keys.map(\.composed)), .int(now)])
      let statements = [
        (Self.lockNewestOwnersSQL, Self.newestOwnersSQL, keys.filter { !all.contains($0) }),
        (Self.lockOwnersSQL, Self.ownersSQL, keys.filter(all.contains)),
      ]
      for (lock, read, keys) in statements where !keys.isEmpty {
        let values: [Value] = [.texts(keys.map(\.composed)), .int(now)]
        connection.send(lock, values) { answer.lock($0) }
        connection.send(read, values) { rows in
          for row in 0..<rows.count {
            answer.reply.owners[rows.text(row, 0) ?? "", default: []].append(rows.id(row, 1))
          }
        }
      }
    }

    private func loadNamed(_ names: [String], besides: [JobID], _ answer: PipelineAnswer) {
      let values: [Value] = [.texts(names.map(\.composed)), .ids(besides)]
      connection.send(Self.lockNamedSQL, values) { answer.lock($0) }
      connection.send(Self.namedSQL, values) { rows in
        for row in 0..<rows.count {
          answer.reply.named[rows.text(row, 0) ?? ""] = rows.id(row, 1)
          answer.stored.append(Self.stored(rows, row, 1))
        }
      }
    }

    private func loadLanes(_ lanes: [String: Int], _ answer: PipelineAnswer) {
      let names = lanes.keys.sorted()
      let list = Value.texts(names.map(\.composed))
      let wanted = names.contains { lanes[$0] ?? 0 > 0 }
      let values = [list, .ints(names.map { Int64(clamping: lanes[$0] ?? 0) })]
      lock(names.map(\.composed), .lane)
      connection.send(Self.lanesSQL, [list]) { [self] rows in
        for row in 0..<rows.count {
          let pace = rows.pace(row, 3)
          if pace != nil { try checkAge() }
          answer.reply.lanes[rows.text(row, 0) ?? ""] = LaneRow(
            width: max(rows.count(row, 1), 1), taken: rows.count(row, 2), waiting: [], pace: pace)
        }
      }
      guard wanted else { return }
      connection.send(Self.lockWaitingSQL, values)
      connection.send(Self.waitingSQL, values) { rows in
        for row in 0..<rows.count { answer.reply.lanes[rows.text(row, 0) ?? ""]?.waiting.append(rows.id(row, 1)) }
      }
      read(Self.waitingRowsSQL, values, answer)
    }

    private func read(
      _ sql: String, _ values: [Value], _ answer: PipelineAnswer,
      where isTaken: @escaping (JobID) -> Bool = { _ in true },
      each: @escaping (JobID) -> Void = { _ in }
    ) {
      connection.send(sql, values) { rows in
        for row in 0..<rows.count where isTaken(rows.id(row, 0)) {
          answer.stored.append(Self.stored(rows, row, 0))
          each(rows.id(row, 0))
        }
      }
    }

    /// Reads a ``row``, which begins at that column.
    private static func stored(_ rows: Rows, _ row: Int, _ first: Int) -> (row: StoredRow, isStanding: Bool) {
      var stored = StoredRow(id: rows.id(row, first))
      (stored.route, stored.state) = (rows.int(row, first + 1), rows.int(row, first + 2))
      (stored.priority, stored.links) = (rows.int(row, first + 3), Links(rawValue: rows.int(row, first + 4)))
      (stored.attempt, stored.claim) = (rows.count(row, first + 5), rows.int(row, first + 6))
      (stored.runAt, stored.enteredAt) = (rows.intOrNull(row, first + 7), rows.int(row, first + 8))
      (stored.options, stored.crashesInRow) = (rows.text(row, first + 9), rows.count(row, first + 10))
      (stored.crashes, stored.note) = (rows.count(row, first + 11), rows.text(row, first + 12))
      (stored.cause, stored.highestFraction) = (rows.intOrNull(row, first + 13), rows.double(row, first + 14))
      stored.waits = rows.count(row, first + 15)
      return (stored, rows.bool(row, first + 16))
    }

    private static func edge(_ rows: Rows, _ row: Int, parentState: JobState? = nil) -> Edge? {
      Edge(
        parent: rows.id(row, 0), child: rows.id(row, 1), need: rows.int(row, 2), slot: rows.int(row, 3),
        parentState: parentState)
    }
  }

  extension Rows {
    /// A lane's rate, in four columns.
    func pace(_ row: Int, _ column: Int) -> LanePace? {
      LanePace(
        count: intOrNull(row, column), period: intOrNull(row, column + 1), burst: intOrNull(row, column + 2),
        tat: intOrNull(row, column + 3) ?? 0)
    }
  }

  extension PipelineAnswer {
    func lock(_ rows: Rows) { for row in 0..<rows.count { locked.insert(rows.id(row, 0)) } }
  }
#endif
