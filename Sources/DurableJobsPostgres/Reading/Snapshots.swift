#if Postgres
  import DurableJobs
  import Foundation

  extension Reader {
    static let failuresSQL = "SELECT job,attempt,at,message,code FROM §failure WHERE job=ANY($1) ORDER BY job,number"
    static let edgesSQL = """
      SELECT child,parent,NULL,need,slot FROM §edge WHERE child=ANY($1)
      UNION ALL SELECT child,0,key,need,slot FROM §edge_key WHERE child=ANY($1)
      """
    static let stepsSQL = "SELECT job,name FROM §step WHERE job=ANY($1) ORDER BY job,name"

    /// Jobs as they are now.
    func jobs(_ query: JobQuery, now: Int64) throws -> [JobSnapshot] {
      let routes = try routes(for: query.filter)
      let byID = Dictionary(uniqueKeysWithValues: routes.map { ($0.id, $0.route) })
      let page = JobPage(
        filter: query.filter, after: query.after, order: query.order, limit: query.limit, routes: routes)
      var jobs: [JobSnapshot] = []
      page.send(Self.columns(query.detail), on: connection) { rows in
        for row in 0..<rows.count {
          // A row that can't be a job's is skipped.
          guard let route = byID[rows.int(row, 1)], let job = Self.snapshot(rows, row, route) else { continue }
          jobs.append(job)
        }
      }
      try connection.sync()
      if query.detail.contains(.waits) { try addWaits(to: &jobs, routes, now: now) }
      guard !jobs.isEmpty, !query.detail.isDisjoint(with: [.failures, .edges, .steps]) else { return jobs }
      try addDetails(query.detail, to: &jobs)
      return jobs
    }

    private func addDetails(_ detail: JobQuery.Detail, to jobs: inout [JobSnapshot]) throws {
      let ids = Value.ids(jobs.map(\.id))
      var failures: [JobID: [AttemptFailure]] = [:]
      var edges: [JobID: [JobEdge]] = [:]
      var steps: [JobID: [String]] = [:]
      if detail.contains(.failures) {
        connection.send(Self.failuresSQL, [ids]) { rows in
          for row in 0..<rows.count {
            failures[rows.id(row, 0), default: []].append(
              AttemptFailure(
                attempt: rows.count(row, 1), at: Date(milliseconds: rows.int(row, 2)), message: rows.text(row, 3) ?? "",
                code: rows.text(row, 4)))
          }
        }
      }
      if detail.contains(.edges) {
        connection.send(Self.edgesSQL, [ids]) { rows in
          for row in 0..<rows.count {
            let (child, parent) = (rows.id(row, 0), rows.id(row, 1))
            guard let edge = Edge(parent: parent, child: child, need: rows.int(row, 3), slot: rows.int(row, 4)) else {
              continue
            }
            edges[child, default: []].append(
              JobEdge(rows.text(row, 2).map { .key($0) } ?? .job(parent), edge.condition, slot: edge.slot))
          }
        }
      }
      if detail.contains(.steps) {
        connection.send(Self.stepsSQL, [ids]) { rows in
          for row in 0..<rows.count { steps[rows.id(row, 0), default: []].append(rows.text(row, 1) ?? "") }
        }
      }
      try connection.sync()
      for index in jobs.indices {
        let id = jobs[index].id
        jobs[index].failures = failures[id] ?? []
        jobs[index].edges = Set(edges[id] ?? []).sorted(by: JobEdge.isBefore)
        jobs[index].steps = (steps[id] ?? []).sorted()
      }
    }

    /// A job's details are in tables of their own; each is found by the job's id.
    private static func columns(_ detail: JobQuery.Detail) -> String {
      let payload = detail.contains(.payload) ? "(SELECT payload FROM §spec WHERE id=j.id)" : "NULL"
      let output = detail.contains(.output) ? "(SELECT bytes FROM §output WHERE id=j.id)" : "NULL"
      return """
        j.id,j.route,j.state,j.priority,j.links,j.attempt,j.claim,j.run_at,j.entered_at,j.started_at,
        (SELECT created_at FROM §spec WHERE id=j.id),(SELECT options FROM §spec WHERE id=j.id),
        (SELECT total FROM §crash WHERE job=j.id),(SELECT text FROM §note WHERE job=j.id),
        (SELECT cause FROM §note WHERE job=j.id),(SELECT fraction FROM §progress WHERE id=j.id),
        (SELECT message FROM §progress WHERE id=j.id),\(payload),\(output)
        """
    }

    /// Nil if it can't be that of a job.
    private static func snapshot(_ rows: Rows, _ row: Int, _ route: Route) -> JobSnapshot? {
      var stored = StoredRow(id: rows.id(row, 0))
      (stored.state, stored.priority, stored.links) = (
        rows.int(row, 2), rows.int(row, 3), Links(rawValue: rows.int(row, 4))
      )
      (stored.attempt, stored.claim, stored.runAt) = (rows.count(row, 5), rows.int(row, 6), rows.intOrNull(row, 7))
      (stored.enteredAt, stored.options, stored.crashes) = (rows.int(row, 8), rows.text(row, 11), rows.count(row, 12))
      (stored.note, stored.cause) = (rows.text(row, 13), rows.intOrNull(row, 14))
      guard let known = stored.job(kind: route.kind, isStanding: { _ in false }) else { return nil }
      var job = JobSnapshot(known, of: route, createdAt: rows.intOrNull(row, 10), startedAt: rows.int(row, 9))
      if !rows.isNull(row, 15) {
        job.progress = JobProgress(fraction: rows.double(row, 15), message: rows.text(row, 16))
      }
      (job.payload, job.output) = (rows.data(row, 17), rows.data(row, 18))
      return job
    }
  }
#endif
