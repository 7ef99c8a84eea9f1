import DurableJobs
import Foundation

/// Jobs that no rule reaches because a column has an impossible value, found by a few index lookups per route.
struct Damage: Sendable {
  /// Jobs with an invalid state or route, or that are scheduled without a time.
  var rows: [JobID] = []
  /// Jobs that run under a claim of no worker.
  var strays: [JobID] = []
  /// Whether the counts of a route differ from its jobs.
  var isMiscounted = false

  var isNothing: Bool { rows.isEmpty && strays.isEmpty && !isMiscounted }

  /// `line`: each pair of route and state in the index. `known`: the valid routes.
  private static let tables = """
    WITH RECURSIVE line(route,state) AS(
      SELECT * FROM(
        SELECT route,state FROM durable_job INDEXED BY durable_job_line WHERE state<>7 ORDER BY route,state LIMIT 1)
      UNION ALL
      SELECT j.route,j.state FROM line l CROSS JOIN durable_job j ON j.id=ifnull(
        (SELECT id FROM durable_job INDEXED BY durable_job_line WHERE route=l.route AND state>l.state AND state<>7
          ORDER BY state LIMIT 1),
        (SELECT id FROM durable_job INDEXED BY durable_job_line WHERE route>l.route AND state<>7
          ORDER BY route,state LIMIT 1))
    ), known(id) AS(SELECT r.id FROM durable_route r CROSS JOIN durable_queue q ON q.id=r.queue)
    """
  static let rowsSQL = """
    \(tables) SELECT j.id,0 FROM line l CROSS JOIN durable_job j INDEXED BY durable_job_line
      ON j.route=l.route AND j.state=l.state AND j.state<>7
    WHERE l.state NOT IN(2,3,4,5,6,8,9,10,\(stubCode)) OR l.state=\(stubCode) AND l.route<>0
      OR l.state<6 AND l.route NOT IN known
    UNION ALL SELECT j.id,0 FROM known k CROSS JOIN durable_job j INDEXED BY durable_job_line
      ON j.route=k.id AND j.state=3 AND j.state<>7 AND j.rank>\(Date.latest)
    UNION ALL SELECT j.id,1 FROM known k CROSS JOIN durable_job j ON j.id IN(
      SELECT id FROM durable_job INDEXED BY durable_job_line WHERE route=k.id AND state=5 AND state<>7)
    WHERE NOT EXISTS(SELECT 1 FROM durable_worker WHERE id=j.claim>>\(ClaimNumber.bits)) LIMIT ?1
    """
  static let pairsSQL = "\(tables) SELECT route,state FROM line WHERE route IN known"

  init(limit: Int, on connection: OpaquePointer) throws {
    let found = try Statement(Self.rowsSQL, on: connection).with(limit)
    while try found.step() { if found.int(1) == 0 { rows.append(found.id(0)) } else { strays.append(found.id(0)) } }
    let pairs = try Statement(Self.pairsSQL, on: connection)
    var states: [Int64: Set<JobState>] = [:]
    while try pairs.step() {
      if let state = JobState(code: pairs.int(1)) { states[pairs.int(0), default: []].insert(state) }
    }
    for route in try RouteTotals.read(on: connection) {
      let there = states[route.id] ?? []
      let isRight = JobState.allCases.allSatisfy { $0 == .succeeded || (route.counts[$0] > 0) == there.contains($0) }
      if !isRight || !route.isSound { isMiscounted = true }
    }
  }
}
