#if Postgres
  import DurableJobs
  import Foundation

  /// What surrounds unfinished jobs: a few seeks for each, however much waits beside it.
  extension Reader {
    static let needsSQL = """
      SELECT c.id,n.parent,n.key,n.need,n.state,n.held FROM unnest($1,$2) c(id,uniq) CROSS JOIN LATERAL(
        SELECT e.parent,NULL AS key,e.need,j.state,EXISTS(SELECT 1 FROM §uniq WHERE key=c.uniq AND job=e.parent) AS held
          FROM §edge e JOIN §job j ON j.id=e.parent WHERE e.child=c.id AND j.state+0<7
        UNION ALL SELECT 0,key,need,NULL,false FROM §edge_key WHERE child=c.id LIMIT \(JobWaits.mostNeeds)) n
      """
    static let headsSQL = """
      SELECT c.id,h.id,h.state FROM unnest($1,$2) c(id,lane) JOIN §lane w ON w.name=c.lane AND w.seat=0 AND w.job=c.id
      CROSS JOIN LATERAL(
        SELECT j.id,j.state FROM §lane l JOIN §job j ON j.id=l.job WHERE l.name=c.lane AND l.seat=1
        ORDER BY j.state<>8,l.job LIMIT 1) h
      """
    static let pacesOfSQL = """
      SELECT name,rate,period,burst,tat FROM §lane_width WHERE name=ANY($1) AND rate IS NOT NULL
      """
    static let claimsSQL = "SELECT h.claim>>\(ClaimNumber.bits),h.id FROM \(Transaction.whatRuns)"

    func addWaits(
      to jobs: inout [JobSnapshot], _ routes: [RouteTotals], now: Int64
    ) throws {
      let unfinished = jobs.filter { !$0.state.isFinished }
      var waits: [JobID: JobWaits] = [:]
      for job in unfinished { waits[job.id] = JobWaits(now: Date(milliseconds: now)) }
      let keys = Dictionary(uniqueKeysWithValues: unfinished.map { ($0.id, $0.uniqueKey) })
      let composed = Value.texts(unfinished.map { $0.uniqueKey?.composed })
      connection.send(Self.needsSQL, [.ids(unfinished.map(\.id)), composed]) { rows in
        for row in 0..<rows.count {
          let (id, parent, hasKey) = (rows.id(row, 0), rows.id(row, 1), rows.bool(row, 5))
          guard let edge = Edge(parent: parent, child: id, need: rows.int(row, 3), slot: -1) else { continue }
          if hasKey { waits[id]?.uniqueKey = keys[id] ?? nil }
          waits[id]?.needs.append(
            JobWaits.Need(
              rows.text(row, 2).map { .key($0) } ?? .job(parent), edge.condition,
              state: rows.intOrNull(row, 4).flatMap(JobState.init(code:)), hasUniqueKey: hasKey))
        }
      }
      let inLane = unfinished.filter { $0.lane != nil }
      let lanes = Value.texts(inLane.map { $0.lane?.name.composed })
      connection.send(Self.headsSQL, [.ids(inLane.map(\.id)), lanes]) { rows in
        for row in 0..<rows.count {
          waits[rows.id(row, 0)]?.laneHead = JobState(code: rows.int(row, 2)).map {
            JobWaits.LaneHead(job: rows.id(row, 1), state: $0)
          }
        }
      }
      var laneLimits: [String: JobWaits.Limit] = [:]
      connection.send(Self.pacesOfSQL, [lanes]) { rows in
        for row in 0..<rows.count {
          let name = rows.text(row, 0) ?? ""
          laneLimits[name] = rows.pace(row, 1).map { JobWaits.Limit($0.limit(of: name, at: now)) }
        }
      }
      var setByHand: [JobConstraint: Bool] = [:]
      connection.send(RouteMemory.conditionsSQL) { setByHand = RouteMemory.conditions($0) }
      var limits: [String: JobWaits.Limit] = [:]
      connection.send(Transaction.limitsOfSQL, [.texts(Set(unfinished.map(\.queue.composed)).sorted())]) { rows in
        for limit in Transaction.limits(rows, at: now, isOwn: { _ in true }) {
          limits[limit.queue] = JobWaits.Limit(limit)
        }
      }
      let workers = try storedWorkers(now: now)
      let paused = Set(routes.lazy.filter(\.isPaused).map(\.queue))
      for index in jobs.indices {
        guard var all = waits[jobs[index].id] else { continue }
        all.needs.sort { JobEdge.isBefore($0.edge, $1.edge) }
        (all.isPaused, all.setByHand, all.workers) = (paused.contains(jobs[index].queue), setByHand, workers)
        all.limit = limits[jobs[index].queue]
        all.laneLimit = jobs[index].lane.flatMap { laneLimits[$0.name] }
        jobs[index].waits = all
      }
    }

    /// The workers of the store, the oldest first.
    func storedWorkers(now: Int64) throws -> [StoredWorker] {
      var claims: [Int64: Set<JobID>] = [:]
      connection.send(Self.claimsSQL) { rows in
        for row in 0..<rows.count { claims[rows.int(row, 0), default: []].insert(rows.id(row, 1)) }
      }
      let (rows, processes) = try workers()
      let ended = process?.ended(of: processes) ?? []
      return StoredWorker.all(of: rows, running: claims, at: now) { ended.contains($0) }
    }
  }
#endif
