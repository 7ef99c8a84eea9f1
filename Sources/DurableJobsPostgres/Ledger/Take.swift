#if Postgres
  import DurableJobs
  import Foundation

  /// Ready jobs: which become ready, and who gets them. A state that the index must not be searched by is `state+0`: on
  /// a table without statistics, the planner would look for ids in the whole line.
  extension Transaction {
    /// How many due jobs of a route become ready in one transaction. The rest follow in the next, at once.
    static let promotionBite: Int64 = 1000
    static let largestClaim = 1_000_000
    /// How many jobs that have passed their deadline end in one claim.
    private static let overdueBite = 1000

    private static func promoteSQL(_ routes: String) -> String {
      """
      WITH b AS MATERIALIZED(SELECT \(met) AS met),d AS(
        UPDATE §job SET state=4,rank=-priority,entered_at=$2 WHERE id=ANY(ARRAY(
          SELECT x.id FROM b CROSS JOIN \(routes) CROSS JOIN LATERAL(
            SELECT j.id FROM §job j WHERE j.route=r.id AND j.state=3 AND j.rank>r.start AND j.rank<=$2 ORDER BY j.rank
            LIMIT $3+b.met*0 FOR UPDATE SKIP LOCKED) x)) AND state+0=3
        RETURNING route
      ),c AS MATERIALIZED(SELECT route,count(*) AS n FROM d GROUP BY route)
      SELECT c.route,c.n,(SELECT \(met)-met FROM b) FROM(SELECT 1) one LEFT JOIN c ON true
      """
    }
    /// Behind a time for each route, see ``DueStarts``. The server itself counts how many entries of the index it met.
    static let promoteSQL = promoteSQL("unnest($1,$4) r(id,start)")
    static let promoteAllSQL = promoteSQL(
      "(SELECT id,'\(Int64.min)'::bigint AS start FROM §route WHERE id>$1) r(id,start)")
    static let nextDueSQL = """
      SELECT min(d.rank) FROM unnest($1,$2) r(id,start) CROSS JOIN LATERAL(
        SELECT rank FROM §job WHERE route=r.id AND state=3 AND rank>r.start ORDER BY rank LIMIT 1) d
      """
    private static let isOpen = """
      (j.links&\(Links.deadline.rawValue)=0 OR (SELECT deadline FROM §spec WHERE id=j.id)>$4)
      """
    private static func mark(_ ids: String) -> String {
      """
      UPDATE §job SET state=5,attempt=attempt+1,claim=$5,entered_at=$4,started_at=$4 WHERE id=ANY(ARRAY(\(ids))) AND state+0=4
        RETURNING id,route,rank,links,attempt,batch
      """
    }
    private static let found = "u.id,u.route,u.rank,u.links,u.attempt,u.batch,s.options,s.payload,s.created_at"
    private static let marked = "(SELECT 1) one LEFT JOIN u ON true LEFT JOIN §spec s ON s.id=u.id"
    /// The first ready jobs by rank and then by id, within the free slots of each queue. First, the number that each
    /// stretch of a route's line (see ``LineStarts``) has among them is determined; then that many are locked, from the
    /// first on and skipping those that others are taking, and no more, whatever the planner does: an array is read
    /// once. The server itself counts how many entries of the index it met.
    static let takeSQL = """
      WITH b AS MATERIALIZED(SELECT \(met) AS met,pg_sequence_last_value('§job_id'::regclass) AS last),
      c AS MATERIALIZED(
        SELECT r.ord,r.route,r.free,r.top,x.rank,x.id,row_number() OVER(PARTITION BY r.queue ORDER BY x.rank,x.id) AS place
        FROM b CROSS JOIN unnest($1,$2,$3,$6,$7,$8) WITH ORDINALITY r(route,queue,free,rank,id,top,ord) CROSS JOIN LATERAL(
          SELECT j.id,j.rank FROM §job j WHERE j.route=r.route AND j.state=4 AND(j.rank,j.id)>(r.rank,r.id) AND j.rank<=r.top
            AND \(isOpen) ORDER BY j.rank,j.id LIMIT r.free+1+b.met*0) x
      ),n AS MATERIALIZED(
        SELECT ord,route,top,count(*) FILTER(WHERE place<=free) AS n,bool_or(place>free) AS more,
          min(ARRAY[rank,id]) AS first FROM c GROUP BY 1,2,3
      ),u AS(\(mark("""
        SELECT x.id FROM n CROSS JOIN LATERAL(
          SELECT j.id FROM §job j WHERE j.route=n.route AND j.state=4 AND(j.rank,j.id)>=(n.first[1],n.first[2])
            AND j.rank<=n.top AND \(isOpen) ORDER BY j.rank,j.id LIMIT n.n FOR UPDATE SKIP LOCKED) x
        """))
      )
      SELECT \(found),(SELECT sum(n)::bigint FROM n),(SELECT string_agg(route::text,' ') FROM n WHERE more),
        (SELECT string_agg(concat_ws(' ',route,rank,id,m),' ')
          FROM(SELECT route,rank,min(id) AS id,count(*) AS m FROM c GROUP BY 1,2) f),
        (SELECT last FROM b),(SELECT \(met)-met FROM b)
      FROM \(marked) ORDER BY u.rank,u.id
      """
    private static let met = "pg_stat_get_xact_tuples_returned('§job_line'::regclass)"
    static let takeOneSQL = """
      WITH u AS(\(mark("""
        SELECT j.id FROM §job j WHERE j.id=$6 AND j.state=4 AND j.route=ANY($1) AND $2 IS NOT NULL AND $3 IS NOT NULL
          AND \(isOpen) FOR UPDATE SKIP LOCKED
        """))
      )
      SELECT \(found),0 FROM \(marked)
      """
    /// The ids first: of a table that has always been empty there are no statistics, and the planner would expect hundreds,
    /// and go through all jobs.
    static let overdueReadySQL = """
      SELECT j.id,j.rank,j.route FROM §job j
      WHERE j.id=ANY(ARRAY(SELECT job FROM §deadline WHERE at<=$1 ORDER BY at,job LIMIT \(overdueBite)))
        AND j.state+0=4 AND j.route=ANY($2) ORDER BY j.rank,j.id FOR UPDATE SKIP LOCKED
      """
    static let setAsideSQL = """
      UPDATE §job SET state=6,attempt=attempt-1,claim=-claim,links=links|\(Links.note.rawValue) WHERE id=ANY($1)
      """

    func prepareClaim() throws {
      if head == nil { try sync() }
      try refreshRoutes()
    }

    /// For all routes; the report says whether more may be due.
    func promoteAll(limit: Int, _ answer: PipelineAnswer) {
      promote(Self.promoteAllSQL, [.int(0), .int(now), .int(Int64(limit))]) { counts, _ in
        answer.reply.hasMoreDue = counts.values.contains { $0 >= limit }
      }
    }

    /// `then` gets how many became ready of each route, and how many entries were passed over.
    private func promote(_ sql: String, _ values: [Value], then: @escaping ([Int64: Int64], Int64) -> Void) {
      connection.send(sql, values) { [self] rows in
        var counts: [Int64: Int64] = [:]
        for row in 0..<rows.count where !rows.isNull(row, 0) {
          counts[rows.int(row, 0)] = rows.int(row, 1)
          news.movedMany(rows.count(row, 1), route: rows.int(row, 0), from: .scheduled, to: .ready)
        }
        then(counts, rows.count > 0 ? rows.int(0, 2) - counts.values.reduce(0, +) : 0)
      }
    }

    private func promoteDue(_ routes: [Int64], _ work: ClaimWork) {
      let (starts, wholeIn) = context.dueStarts.starts(of: routes, now: now)
      work.dueWholeIn = wholeIn
      promote(Self.promoteSQL, [.ints(routes), .int(now), .int(Self.promotionBite), .ints(starts)]) {
        [context, now] counts, passed in
        let more = Set(counts.filter { $0.value >= Self.promotionBite }.keys)
        work.hasMoreDue = !more.isEmpty
        context.dueStarts.saw(routes, from: starts, more: more, passed: passed, now: now)
      }
      connection.send(Self.nextDueSQL, [.ints(routes), .ints(starts)]) { rows in
        if rows.count > 0 { work.nextDue = rows.intOrNull(0, 0) }
      }
    }

    /// Sends the queries that go with the rest of the exchange; the claim is finished once they are answered.
    func sendClaim(_ request: ClaimRequest, _ answer: PipelineAnswer) -> ClaimWork? {
      guard let row = ownRows[request.worker]?.last?.id else { return nil }
      let served = routes.served(request)
      guard !served.isEmpty else { return nil }
      let ids = served.map(\.id)
      let work = ClaimWork(claim: context.workers.nextClaim(ofRow: row), request: request)
      if !hasLookedForDue { lookForDue(ids, work) }
      let crowded = context.crowdedRoutes.withLock { $0.intersection(ids) }
      work.hasPassedOver = request.only == nil && !crowded.isEmpty
      take(request.only == nil ? served.filter { !crowded.contains($0.id) } : served, request, work)
      return work
    }

    private func lookForDue(_ ids: [Int64], _ work: ClaimWork) {
      promoteDue(ids, work)
      connection.send(Self.overdueReadySQL, [.int(now), .ints(ids)]) { [context] rows in
        work.overdue = (0..<rows.count).map { (rows.id($0, 0), rows.int($0, 1), rows.int($0, 2)) }
        context.crowdedRoutes.withLock { crowded in
          crowded.subtract(ids)
          // Of those that are ended apart, none would be ended with the next claim.
          if rows.count == Self.overdueBite, !context.lateEnds.without(work.overdue.map(\.id)).isEmpty {
            crowded.formUnion(work.overdue.map(\.route))
          }
        }
      }
    }

    private func take(_ served: [Route], _ request: ClaimRequest, _ work: ClaimWork) {
      let queues = Set(served.map(\.queue)).sorted()
      let places = Dictionary(uniqueKeysWithValues: queues.enumerated().map { ($1, Int64($0)) })
      let free = request.free.mapValues { Int64(min($0, Self.largestClaim)) }
      work.asked = queues.reduce(0) { $0 + (request.free[$1] ?? 0) }
      func values(_ routes: [Route]) -> [Value] {
        [
          .ints(routes.map(\.id)), .ints(routes.map { places[$0.queue] ?? 0 }),
          .ints(routes.map { free[$0.queue] ?? 0 }),
          .int(now), .int(work.claim.rawValue),
        ]
      }
      if let only = request.only {
        connection.send(Self.takeOneSQL, values(served) + [.int(only.rawValue)]) { work.read($0) }
        return
      }
      var parts: [(route: Route, stretch: LineStarts.Stretch)] = []
      for route in served {
        let (stretches, wholeIn) = context.lineStarts.stretches(of: route.id, now: now)
        work.lines.append(ClaimWork.Line(route: route.id, free: free[route.queue] ?? 0, wholeIn: wholeIn))
        parts += stretches.map { (route, $0) }
      }
      let stretches = parts.map(\.stretch)
      connection.send(
        Self.takeSQL,
        values(parts.map(\.route)) + [
          .ints(stretches.map(\.rank)), .ints(stretches.map(\.id)), .ints(stretches.map(\.top)),
        ]
      ) { [self] rows in
        work.read(rows)
        work.tell(context.lineStarts, rows, now: now)
      }
    }
  }
#endif
