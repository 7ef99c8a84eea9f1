#if Postgres
  import DurableJobs
  import Foundation

  /// Ready jobs: who becomes one, and who gets them.
  extension Transaction {
    /// How many due jobs of a route become ready in one transaction. The rest follow in the next, at once.
    static let promotionBite: Int64 = 1000
    private static let largestClaim = 1_000_000

    static let promoteSQL = """
      WITH d AS(
        UPDATE §job SET state=4,rank=-priority,entered_at=$2 WHERE id=ANY(ARRAY(
          SELECT x.id FROM unnest($1) r(id) CROSS JOIN LATERAL(
            SELECT j.id FROM §job j WHERE j.route=r.id AND j.state=3 AND j.rank<=$2 ORDER BY j.rank LIMIT $3
            FOR UPDATE SKIP LOCKED) x)) AND state=3
        RETURNING route
      ) SELECT route,count(*) FROM d GROUP BY route
      """
    static let nextDueSQL = """
      SELECT min(d.rank) FROM unnest($1) r(id) CROSS JOIN LATERAL(
        SELECT rank FROM §job WHERE route=r.id AND state=3 ORDER BY rank LIMIT 1) d
      """
    /// The first ready jobs by rank and then by id, within what is free in each queue. It is found out first how many each route
    /// has among them; so many are locked then, past those that others are taking, and no more, whatever the planner makes of
    /// it: an array is read once.
    private static let isOpen = """
      (j.links&\(Links.deadline.rawValue)=0 OR (SELECT deadline FROM §spec WHERE id=j.id)>$4)
      """
    private static func mark(_ ids: String) -> String {
      """
      UPDATE §job SET state=5,attempt=attempt+1,claim=$5,entered_at=$4,started_at=$4 WHERE id=ANY(ARRAY(\(ids))) AND state=4
        RETURNING id,route,rank,links,attempt,batch
      """
    }
    private static let found = """
      u.id,u.route,u.rank,u.links,u.attempt,u.batch,(SELECT options FROM §spec WHERE id=u.id),
        (SELECT payload FROM §spec WHERE id=u.id),(SELECT created_at FROM §spec WHERE id=u.id)
      """
    static let takeSQL = """
      WITH c AS MATERIALIZED(
        SELECT r.route,r.free,row_number() OVER(PARTITION BY r.queue ORDER BY x.rank,x.id) AS place
        FROM unnest($1,$2,$3) r(route,queue,free) CROSS JOIN LATERAL(
          SELECT j.id,j.rank FROM §job j WHERE j.route=r.route AND j.state=4 AND \(isOpen)
          ORDER BY j.rank,j.id LIMIT r.free+1) x
      ),n AS MATERIALIZED(
        SELECT route,count(*) FILTER(WHERE place<=free) AS n,bool_or(place>free) AS more FROM c GROUP BY route
      ),u AS(\(mark("""
        SELECT x.id FROM n CROSS JOIN LATERAL(
          SELECT j.id FROM §job j WHERE j.route=n.route AND j.state=4 AND \(isOpen) ORDER BY j.rank,j.id LIMIT n.n
          FOR UPDATE SKIP LOCKED) x
        """))
      )
      SELECT \(found),(SELECT sum(n)::bigint FROM n),(SELECT string_agg(route::text,' ') FROM n WHERE more)
      FROM(SELECT 1) one LEFT JOIN u ON true ORDER BY u.rank,u.id
      """
    static let takeOneSQL = """
      WITH u AS(\(mark("""
        SELECT j.id FROM §job j WHERE j.id=$6 AND j.state=4 AND j.route=ANY($1) AND $2 IS NOT NULL AND $3 IS NOT NULL
          AND \(isOpen) FOR UPDATE SKIP LOCKED
        """))
      )
      SELECT \(found),0,NULL::text FROM(SELECT 1) one LEFT JOIN u ON true
      """
    static let overdueReadySQL = """
      SELECT j.id,j.rank,j.route FROM §deadline d JOIN §job j ON j.id=d.job
      WHERE d.at<=$1 AND j.state=4 AND j.route=ANY($2) ORDER BY j.rank,j.id LIMIT 1000
      """
    static let setAsideSQL = """
      UPDATE §job SET state=6,attempt=attempt-1,claim=-claim,links=links|\(Links.note.rawValue) WHERE id=ANY($1)
      """

    func prepareClaim() throws {
      if head == nil { try sync() }
      try refreshRoutes()
    }

    /// Of all routes; the report says whether there may be more that are due.
    func promoteAll(limit: Int, _ answer: PipelineAnswer) {
      promote(Self.promoteAllSQL, .int(0), limit: Int64(limit)) { counts in
        answer.reply.hasMoreDue = counts.contains { $0 >= limit }
      }
    }

    private func promote(_ sql: String, _ routes: Value, limit: Int64, then: @escaping ([Int]) -> Void = { _ in }) {
      connection.send(sql, [routes, .int(now), .int(limit)]) { [self] rows in
        for row in 0..<rows.count {
          news.movedMany(rows.count(row, 1), route: rows.int(row, 0), from: .scheduled, to: .ready)
        }
        then((0..<rows.count).map { rows.count($0, 1) })
      }
    }
    static let promoteAllSQL = promoteSQL.replacing(
      "unnest($1) r(id)", with: "(SELECT id FROM §route WHERE id>$1) r(id)")

    /// What is asked for with the rest of the exchange; the rest of a claim is done once that is back.
    func sendClaim(_ request: ClaimRequest, _ answer: PipelineAnswer) -> ClaimWork? {
      guard let row = ownRows[request.worker]?.last?.id else { return nil }
      let served = routes.served(request)
      guard !served.isEmpty else { return nil }
      let queues = Set(served.map(\.queue)).sorted()
      let places = Dictionary(uniqueKeysWithValues: queues.enumerated().map { ($1, Int64($0)) })
      let free = request.free.mapValues { Int64(min($0, Self.largestClaim)) }
      let ids = served.map(\.id)
      promote(Self.promoteSQL, .ints(ids), limit: Self.promotionBite)
      connection.send(Self.nextDueSQL, [.ints(ids)]) { [now] rows in
        guard rows.count > 0, let due = rows.intOrNull(0, 0) else { return }
        answer.reply.taken.nextDue = .milliseconds(max(due - now, 0))
      }
      let work = ClaimWork(claim: context.workers.nextClaim(ofRow: row), request: request)
      connection.send(Self.overdueReadySQL, [.int(now), .ints(ids)]) { rows in
        work.overdue = (0..<rows.count).map { (rows.id($0, 0), rows.int($0, 1), rows.int($0, 2)) }
      }
      let values: [Value] = [
        .ints(ids), .ints(served.map { places[$0.queue] ?? 0 }), .ints(served.map { free[$0.queue] ?? 0 }), .int(now),
        .int(work.claim.rawValue),
      ]
      let only = request.only.map { [Value.int($0.rawValue)] } ?? []
      connection.send(only.isEmpty ? Self.takeSQL : Self.takeOneSQL, values + only) { work.read($0) }
      return work
    }
  }

  /// A claim, as far as the server has answered.
  final class ClaimWork {
    struct Found {
      let id: JobID
      let route: Int64
      let rank: Int64
      let links: Links
      let attempt: Int
      let batch: BatchID?
      let options: String?
      let payload: Data?
      let createdAt: Int64
    }

    let claim: ClaimNumber
    let request: ClaimRequest
    var overdue: [(id: JobID, rank: Int64, route: Int64)] = []
    private var found: [Found] = []
    private var hasMore = false
    /// Routes of which there was more.
    private var more: [Int64] = []

    init(claim: ClaimNumber, request: ClaimRequest) {
      self.claim = claim
      self.request = request
    }

    func read(_ rows: Rows) {
      for row in 0..<rows.count where !rows.isNull(row, 0) {
        found.append(
          Found(
            id: rows.id(row, 0), route: rows.int(row, 1), rank: rows.int(row, 2),
            links: Links(rawValue: rows.int(row, 3)),
            attempt: rows.count(row, 4), batch: rows.intOrNull(row, 5).map(BatchID.init(rawValue:)),
            options: rows.text(row, 6), payload: rows.data(row, 7), createdAt: rows.int(row, 8)))
      }
      // Others may have been there first, and left some of what they locked.
      guard rows.count > 0 else { return }
      hasMore = rows.count(0, 9) > found.count
      more = (rows.text(0, 10) ?? "").split(separator: " ").compactMap { Int64($0) }
    }

    func finish(_ transaction: Transaction, _ answer: PipelineAnswer) throws {
      for queue in Set(more.compactMap { transaction.routes.byID[$0]?.queue }) {
        if request.limited.contains(queue) { answer.reply.taken.full.insert(queue) } else { hasMore = true }
      }
      answer.reply.taken.hasMore = hasMore
      var taken: [String: (count: Int, last: (Int64, JobID))] = [:]
      var damaged: [Found] = []
      var terms: [StoredTerms] = []
      var whole: [Found] = []
      for job in found {
        transaction.moved(job.id, route: job.route, from: .ready, to: .running)
        guard job.payload != nil, let read = try? StoredTerms(text: job.options) else {
          damaged.append(job)
          continue
        }
        terms.append(read)
        whole.append(job)
        let queue = transaction.routes.byID[job.route]?.queue ?? ""
        taken[queue] = ((taken[queue]?.count ?? 0) + 1, (job.rank, job.id))
      }
      // Those behind the last that there was room for were not come to.
      answer.reply.overdue = overdue.filter { job in
        if let only = request.only { return job.id == only }
        let queue = transaction.routes.byID[job.route]?.queue ?? ""
        guard let taken = taken[queue], taken.count >= request.free[queue] ?? 0 else { return true }
        return (job.rank, job.id) < taken.last
      }.map(\.id)
      if !damaged.isEmpty { setAside(damaged, transaction) }
      let (inputs, steps) = try beside(whole, transaction)
      for (job, terms) in zip(whole, terms) {
        guard let route = transaction.routes.byID[job.route] else { continue }
        var claimed = ClaimedJob(
          token: ClaimToken(job: job.id, claim: claim.rawValue), queue: route.queue, kind: route.kind,
          payload: job.payload ?? Data(), attempt: job.attempt, maxAttempts: terms.attempts, timeout: terms.duration,
          requires: route.requires, whenLost: terms.interrupts == true ? .interrupts : .goesOn,
          inputs: inputs[job.id] ?? [:], steps: steps[job.id] ?? [:])
        (claimed.key, claimed.createdAt) = (terms.key, Date(milliseconds: job.createdAt))
        claimed.batch = job.batch ?? terms.knownBatch
        if job.links.contains(.deadline), case .end? = terms.deadline { claimed.deadline = terms.deadline?.date }
        answer.reply.taken.jobs.append(claimed)
      }
    }

    private func setAside(_ jobs: [Found], _ transaction: Transaction) {
      transaction.connection.send(Transaction.setAsideSQL, [.ids(jobs.map(\.id))])
      transaction.putNotes(jobs.map { ($0.id, "its row in the store is damaged: the options are no JSON", nil) })
      for job in jobs { transaction.moved(job.id, route: job.route, from: .running, to: .suspended) }
      transaction.unreadable += jobs.map(\.id)
    }

    static let inputsSQL = """
      SELECT e.child,e.slot,e.parent,j.state,(SELECT bytes FROM §output WHERE id=e.parent)
      FROM §edge e JOIN §job j ON j.id=e.parent WHERE e.child=ANY($1) AND e.slot>=0 ORDER BY 1,2,3
      """
    static let stepsSQL = "SELECT job,name,value FROM §step WHERE job=ANY($1)"

    /// What those brought that a job waited for, and what its steps gave.
    private func beside(
      _ jobs: [Found], _ transaction: Transaction
    ) throws -> (inputs: [JobID: [Int: JobEnd]], steps: [JobID: [String: Data]]) {
      var inputs: [JobID: [Int: JobEnd]] = [:]
      var steps: [JobID: [String: Data]] = [:]
      var failures: [(child: JobID, slot: Int, parent: JobID)] = []
      let children = jobs.filter { $0.links.contains(.parents) }.map(\.id)
      if !children.isEmpty {
        transaction.connection.send(Self.inputsSQL, [.ids(children)]) { rows in
          for row in 0..<rows.count {
            let (child, slot) = (rows.id(row, 0), rows.count(row, 1))
            if rows.int(row, 3) == JobState.succeeded.code {
              inputs[child, default: [:]][slot] = .succeeded(output: rows.data(row, 4))
            } else {
              failures.append((child, slot, rows.id(row, 2)))
            }
          }
        }
      }
      let stepped = jobs.filter { $0.links.contains(.steps) }.map(\.id)
      if !stepped.isEmpty {
        transaction.connection.send(Self.stepsSQL, [.ids(stepped)]) { rows in
          for row in 0..<rows.count {
            steps[rows.id(row, 0), default: [:]][rows.text(row, 1) ?? ""] = rows.data(row, 2)
          }
        }
      }
      if !children.isEmpty || !stepped.isEmpty { try transaction.sync() }
      guard !failures.isEmpty else { return (inputs, steps) }
      let reader = Reader(connection: transaction.connection)
      func snapshots(_ ids: [JobID]) throws -> [JobID: JobSnapshot] {
        let query = JobQuery(.ids(ids), detail: .failures, limit: .max)
        return Dictionary(uniqueKeysWithValues: try reader.jobs(query, now: transaction.now).map { ($0.id, $0) })
      }
      let parents = try snapshots(failures.map(\.parent))
      let causes = try snapshots(parents.values.compactMap(\.cause))
      for failure in failures {
        guard let parent = parents[failure.parent] else { continue }
        inputs[failure.child, default: [:]][failure.slot] = parent.end(cause: parent.cause.flatMap { causes[$0] })
      }
      return (inputs, steps)
    }
  }
#endif
