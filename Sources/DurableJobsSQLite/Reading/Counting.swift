import DurableJobs

/// The number of jobs in each state: from the totals of routes where those suffice, else by reading the jobs.
func readCounts(where filter: JobFilter, on connection: OpaquePointer) throws -> JobCounts {
  if filter.isOfRoute(orState: true) { return try RouteTotals.read(on: connection).counts(where: filter) }
  let states = JobState.allCases
  let columns = states.map { "count(*) FILTER(WHERE j.state=\($0.code))" }.joined(separator: ",")
  let page = try JobPage(JobQuery(filter, limit: .max), on: connection)
  return try page.statement(selecting: columns, on: connection).first { row in
    JobCounts(Dictionary(uniqueKeysWithValues: zip(states, 0...).map { ($0, row.count($1)) }))
  } ?? JobCounts()
}

func readOutstanding(_ scope: WorkScope, now: Int64, on connection: OpaquePointer) throws -> OutstandingWork {
  let works = try RouteTotals.read(on: connection).filter { scope.contains(queue: $0.queue) }.map { route in
    var work = route
    if route.counts[.scheduled] > 0 {
      work.due = Int(try first(RouteTotals.dueSQL, route.id, now, on: connection) ?? 0)
      work.isReturning = try first(RouteTotals.returningSQL, route.id, now, on: connection) != nil
    }
    return work
  }
  let workers = try Census.readWorkers(on: connection).map(\.row)
  return scope.outstanding(in: works, for: workers, setByHand: try readConstraints(on: connection), at: now)
}

private func first(_ sql: String, _ route: Int64, _ now: Int64, on connection: OpaquePointer) throws -> Int64? {
  try Statement(sql, on: connection).with(route, now).first { $0.int(0) }
}

func readSettings(on connection: OpaquePointer) throws -> [StoreSetting] {
  let queues = try Statement(pausedSQL, on: connection).map { StoreSetting.queue($0.text(0) ?? "", isPaused: true) }
  let lanes = try Statement(lanesSQL, on: connection).map { row in
    let name = row.text(0) ?? ""
    return row.pace(from: 2).map { StoreSetting.laneRate(name, $0.rate) } ?? .lane(name, width: row.count(1))
  }
  let all =
    try queues + readLimits(on: connection).sorted { $0.key < $1.key }.map { .limits(queue: $0.key, $0.value) } + lanes
    + readConstraints(on: connection).sorted { $0.key < $1.key }.map { .constraint($0.key, satisfied: $0.value) }
  // What nobody could set is damage, and means no job.
  return all.filter { (try? $0.check()) != nil }
}

func readConstraints(on connection: OpaquePointer) throws -> [JobConstraint: Bool] {
  let rows = try Statement(constraintsSQL, on: connection)
  return Dictionary(try rows.map { (JobConstraint(rawValue: $0.text(0) ?? ""), $0.int(1) != 0) }) { $1 }
}

func readLimits(on connection: OpaquePointer) throws -> [String: JobLimits] {
  let limits = try Statement(limitsSQL, on: connection).map { row in
    JobLimits(
      running: row.intOrNull(1), count: row.intOrNull(2), period: row.intOrNull(3), burst: row.intOrNull(4)
    ).map { (row.text(0) ?? "", $0) }
  }
  return Dictionary(limits.compactMap(\.self)) { $1 }
}

extension Statement {
  /// A lane's rate, stored in four columns.
  func pace(from column: Int32) -> LanePace? {
    LanePace(
      count: intOrNull(column), period: intOrNull(column + 1), burst: intOrNull(column + 2), tat: int(column + 3))
  }

  /// Reads the result of ``WriterStatement/limitOf``.
  func limit(of queue: String, _ limits: JobLimits, at now: Int64) throws -> QueueLimit? {
    try with(queue.composed, limits.running ?? 0).first { row in
      QueueLimit(queue: queue, limits: limits, running: row.count(1), tat: row.int(0), at: now)
    }
  }
}

let lanesSQL = "SELECT name,width,rate,period,burst,tat FROM durable_lane_width ORDER BY name"

let constraintsSQL = "SELECT name,satisfied FROM durable_constraint"
let limitsSQL = "SELECT name,running,rate,period,burst FROM durable_queue WHERE running NOT NULL OR rate NOT NULL"
let pausedSQL = "SELECT name FROM durable_queue WHERE paused<>0 ORDER BY name"
