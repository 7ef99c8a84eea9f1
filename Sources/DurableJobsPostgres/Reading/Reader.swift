#if Postgres
  import DurableJobs
  import Foundation

  /// Answers questions on a connection, inside a transaction that sees one moment.
  struct Reader {
    let connection: Connection
    /// This process, if its system tells.
    let process: WorkerProcess?

    static let settingsQueuesSQL = "SELECT name FROM §queue WHERE paused ORDER BY name"
    static let widthsSQL = "SELECT name,width FROM §lane_width WHERE width<>1 ORDER BY name"
    static let pacesSQL = "SELECT name,rate,period,burst,tat FROM §lane_width WHERE rate IS NOT NULL ORDER BY name"
    static let countedSQL = """
      SELECT r.id,q.name,r.kind,r.requires,q.paused,t.jobs,t.blocked,t.scheduled,t.suspended,t.succeeded,t.failed,
        t.cancelled,t.skipped,(SELECT count(*) FROM §job WHERE route=r.id AND state=5)
      FROM §route r JOIN §queue q ON q.id=r.queue LEFT JOIN LATERAL(
        SELECT sum(jobs)::bigint AS jobs,sum(blocked)::bigint AS blocked,sum(scheduled)::bigint AS scheduled,
          sum(suspended)::bigint AS suspended,sum(succeeded)::bigint AS succeeded,sum(failed)::bigint AS failed,
          sum(cancelled)::bigint AS cancelled,sum(skipped)::bigint AS skipped
        FROM §tally WHERE route=r.id) t ON true ORDER BY r.id
      """
    static let dueSQL = """
      SELECT r.id,(SELECT count(*) FROM §job WHERE route=r.id AND state=3 AND rank<=$2),EXISTS(
        SELECT 1 FROM §job WHERE route=r.id AND state=3 AND rank>$2
          AND (claim<>\(ClaimNumber.nobody.rawValue) OR links&\(Links.paced.rawValue)<>0))
      FROM unnest($1) r(id)
      """

    /// Without their counts, which cost most, if the filter names its jobs.
    func routes(for filter: JobFilter) throws -> [RouteTotals] {
      guard JobPage.needsNoCounts(filter) else { return try self.routes() }
      var routes: [RouteTotals] = []
      connection.send(RouteMemory.routesSQL) { rows in
        routes = RouteMemory.routes(rows).map { RouteTotals($0, counts: JobCounts()) }
      }
      try connection.sync()
      return routes
    }

    func routes() throws -> [RouteTotals] {
      var routes: [RouteTotals] = []
      let stored: [JobState] = [
        .blocked, .scheduled, .suspended, .succeeded, .failed, .cancelled, .skipped, .running,
      ]
      connection.send(Self.countedSQL) { rows in
        for row in 0..<rows.count {
          let route = Route(
            id: rows.int(row, 0), queue: rows.text(row, 1) ?? "", kind: rows.text(row, 2) ?? "",
            requires: Set(list: rows.text(row, 3)), isPaused: rows.bool(row, 4))
          var counts = JobCounts()
          for (index, state) in stored.enumerated() { counts[state] = rows.count(row, 6 + index) }
          counts[.ready] = max(rows.count(row, 5) - counts.total, 0)
          routes.append(RouteTotals(route, counts: counts))
        }
      }
      try connection.sync()
      return routes
    }

    func counts(where filter: JobFilter) throws -> JobCounts {
      let routes = try routes()
      if filter.isOfRoute(orState: true) { return routes.counts(where: filter) }
      var counts = JobCounts()
      let page = JobPage(filter: filter, routes: routes)
      page.send("j.state,count(*)", grouped: "GROUP BY j.state", on: connection) { rows in
        for row in 0..<rows.count {
          if let state = JobState(code: rows.int(row, 0)) { counts[state] += rows.count(row, 1) }
        }
      }
      try connection.sync()
      return counts
    }

    func outstanding(_ scope: WorkScope, now: Int64) throws -> OutstandingWork {
      var works: [RouteTotals] = []
      var places: [Int64: Int] = [:]
      for route in try routes() where scope.contains(queue: route.queue) {
        places[route.id] = works.count
        works.append(route)
      }
      connection.send(Self.dueSQL, [.ints(places.keys.sorted()), .int(now)]) { rows in
        for row in 0..<rows.count {
          guard let place = places[rows.int(row, 0)] else { continue }
          works[place].due = rows.count(row, 1)
          works[place].isReturning = rows.bool(row, 2)
        }
      }
      var setByHand: [JobConstraint: Bool] = [:]
      connection.send(RouteMemory.conditionsSQL) { setByHand = RouteMemory.conditions($0) }
      let workers = try workers().0.map(\.row)
      return scope.outstanding(in: works, for: workers, setByHand: setByHand, at: now)
    }

    static let nextDueSQL = """
      SELECT min(d.rank) FROM §queue q JOIN §route r ON r.queue=q.id CROSS JOIN LATERAL(
        SELECT rank FROM §job WHERE route=r.id AND state=3 ORDER BY rank LIMIT 1) d WHERE q.name=$1
      """

    func nextDue(in queue: String) throws -> Date? {
      var due: Int64?
      connection.send(Self.nextDueSQL, [.text(queue.composed)]) { due = $0.intOrNull(0, 0) }
      try connection.sync()
      return due.map(Date.init(milliseconds:))
    }

    func settings() throws -> [StoreSetting] {
      var (queues, lanes): ([StoreSetting], [StoreSetting]) = ([], [])
      var conditions: [JobConstraint: Bool] = [:]
      connection.send(Self.settingsQueuesSQL) { rows in
        queues = (0..<rows.count).map { .queue(rows.text($0, 0) ?? "", isPaused: true) }
      }
      var limits: [String: JobLimits] = [:]
      connection.send(RouteMemory.limitsSQL) { limits = RouteMemory.limits($0) }
      connection.send(Self.widthsSQL) { rows in
        lanes = (0..<rows.count).map { .lane(rows.text($0, 0) ?? "", width: rows.count($0, 1)) }
      }
      connection.send(Self.pacesSQL) { rows in
        lanes += (0..<rows.count).compactMap { row in
          rows.pace(row, 1).map { .laneRate(rows.text(row, 0) ?? "", $0.rate) }
        }
      }
      connection.send(RouteMemory.conditionsSQL) { conditions = RouteMemory.conditions($0) }
      try connection.sync()
      return queues + limits.sorted { $0.key < $1.key }.map { .limits(queue: $0.key, $0.value) } + lanes
        + conditions.sorted { $0.key < $1.key }.map { .constraint($0.key, satisfied: $0.value) }
    }

    // MARK: Batches

    private static let batchColumns = "SELECT id,name,total,live,succeeded,done,follower,open FROM §batch"
    static let batchByIDSQL = "\(batchColumns) WHERE id=$1"
    static let batchByNameSQL = "\(batchColumns) WHERE name=$1 ORDER BY id DESC LIMIT 1"

    static let newestBatchesSQL = "\(batchColumns) ORDER BY id DESC LIMIT $1"

    func batches(_ query: BatchQuery) throws -> [BatchSnapshot] {
      var batches: [BatchSnapshot] = []
      let (sql, value): (String, Value) =
        switch query {
        case .id(let id): (Self.batchByIDSQL, .int(id.rawValue))
        case .name(let name): (Self.batchByNameSQL, .text(name.composed))
        case .newest(let limit): (Self.newestBatchesSQL, .int(Int64(limit)))
        }
      connection.send(sql, [value]) { rows in
        batches = (0..<rows.count).map { row in
          BatchSnapshot(
            id: BatchID(rawValue: rows.int(row, 0)), name: rows.text(row, 1) ?? "", total: rows.count(row, 2),
            unfinished: rows.count(row, 3), succeeded: rows.count(row, 4), isDone: rows.bool(row, 5),
            isOpen: rows.bool(row, 7),
            whenDone: rows.intOrNull(row, 6).map(JobID.init(rawValue:)))
        }
      }
      try connection.sync()
      return batches
    }
  }
#endif
