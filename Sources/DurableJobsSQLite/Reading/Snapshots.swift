import DurableJobs
import Foundation

/// The current jobs. `connection` belongs to a reader, inside its snapshot.
func readJobs(_ query: JobQuery, now: Int64, on connection: OpaquePointer) throws -> [JobSnapshot] {
  let page = try JobPage(query, on: connection)
  let routes = Dictionary(page.routes.map { ($0.id, $0) }) { $1 }
  let statement = try page.statement(selecting: snapshotColumns(query.detail), on: connection)
  let failures = query.detail.contains(.failures) ? try Statement(failuresSQL, on: connection) : nil
  let edges = query.detail.contains(.edges) ? try Statement(edgesSQL, on: connection) : nil
  let steps = query.detail.contains(.steps) ? try Statement(stepsSQL, on: connection) : nil
  let waits = query.detail.contains(.waits) ? try WaitsReader(now: now, on: connection) : nil
  var jobs: [JobSnapshot] = []
  while try statement.step() {
    // A row that can't be that of a job is skipped.
    let stored = StoredRow(statement)
    guard let route = routes[stored.route], let row = stored.job(kind: route.kind, isStanding: { _ in false }) else {
      continue
    }
    var job = JobSnapshot(row, of: route.route, createdAt: statement.intOrNull(16), startedAt: statement.int(17))
    if !statement.isNull(18) { job.progress = JobProgress(fraction: statement.double(18), message: statement.text(19)) }
    (job.payload, job.output) = (statement.data(20), statement.data(21))
    if let failures { job.failures = try failures.with(job.id).map(AttemptFailure.init) }
    if let edges { job.edges = try readEdges(edges, of: job.id) }
    if let steps, row.hasSteps { job.steps = try steps.with(job.id).map { $0.text(0) ?? "" }.sorted() }
    if let waits, !job.state.isFinished { job.waits = try waits.read(job, route) }
    jobs.append(job)
  }
  return jobs
}

let failuresSQL = "SELECT attempt,at,message,code FROM durable_failure WHERE job=?1 ORDER BY number"

let edgesSQL = """
  SELECT parent,NULL,need,slot FROM durable_edge WHERE child=?1
  UNION ALL SELECT 0,key,need,slot FROM durable_edge_key WHERE child=?1
  """
let stepsSQL = "SELECT name FROM durable_step WHERE job=?1"

private func readEdges(_ edges: Statement, of child: JobID) throws -> [JobEdge] {
  // A dependency by id and by key at the same time is listed once.
  let all = try edges.with(child).compactMap { row in
    Edge(parent: row.id(0), child: child, need: row.int(2), slot: row.int(3)).map { edge in
      JobEdge(row.text(1).map { .key($0) } ?? .job(edge.parent), edge.condition, slot: edge.slot)
    }
  }
  return Set(all).sorted(by: JobEdge.isBefore)
}

/// Those of ``WriterStatement/load`` first. In each of the other tables, a job is found by its id.
private func snapshotColumns(_ detail: JobQuery.Detail) -> String {
  let payload = detail.contains(.payload) ? "(SELECT payload FROM durable_spec WHERE id=j.id)" : "NULL"
  let output = detail.contains(.output) ? "(SELECT bytes FROM durable_output WHERE id=j.id)" : "NULL"
  return """
    j.route,j.state,j.priority,j.links,j.attempt,j.claim,j.run_at,j.entered_at,
    (SELECT options FROM durable_spec WHERE id=j.id),0,(SELECT total FROM durable_crash WHERE job=j.id),
    (SELECT text FROM durable_note WHERE job=j.id),0,(SELECT cause FROM durable_note WHERE job=j.id),0,j.id,
    (SELECT created_at FROM durable_spec WHERE id=j.id),j.started_at,
    (SELECT fraction FROM durable_progress WHERE id=j.id),(SELECT message FROM durable_progress WHERE id=j.id),
    \(payload),\(output)
    """
}

extension AttemptFailure {
  /// The columns of ``failuresSQL``.
  fileprivate init(_ row: Statement) {
    self.init(
      attempt: Int(row.int(0)), at: Date(milliseconds: row.int(1)), message: row.text(2) ?? "", code: row.text(3))
  }
}
