import DurableJobs
import Foundation

/// How many jobs are in each state: from the routes' totals where these can tell, else by looking at the jobs.
func readCounts(where filter: JobFilter, on connection: OpaquePointer) throws -> JobCounts {
  if filter.isOfTotals { return try RouteTotals.read(on: connection).counts(where: filter) }
  var counts = JobCounts()
  let statement = try JobPage(filter: filter, on: connection).statement(selecting: "j.state", on: connection)
  while try statement.step() {
    if let state = JobState(code: statement.int(0)) { counts[state] += 1 }
  }
  return counts
}

func readOutstanding(_ scope: WorkScope, now: Int64, on connection: OpaquePointer) throws -> OutstandingWork {
  var works: [RouteWork] = []
  for route in try RouteTotals.read(on: connection) where scope.contains(queue: route.queue) {
    var work = RouteWork(route)
    if route.counts[.scheduled] > 0 {
      work.due = Int(try first(RouteTotals.dueSQL, route.id, now, on: connection) ?? 0)
      work.isReturning = try first(RouteTotals.returningSQL, route.id, now, on: connection) != nil
    }
    works.append(work)
  }
  let workers = try Census.readWorkers(on: connection).map(\.row)
  let setByHand = try readConstraints(try Statement(WriterStatement.constraints.sql, on: connection))
  return scope.outstanding(in: works, for: workers, setByHand: setByHand, at: now)
}

private func first(_ sql: String, _ route: Int64, _ now: Int64, on connection: OpaquePointer) throws -> Int64? {
  try Statement(sql, on: connection).with(route, now).first { $0.int(0) }
}

func readSettings(on connection: OpaquePointer) throws -> [StoreSetting] {
  let queues = try Statement(pausedSQL, on: connection).map { StoreSetting.queue($0.text(0) ?? "", isPaused: true) }
  let lanes = try Statement(widthsSQL, on: connection).map { StoreSetting.lane($0.text(0) ?? "", width: $0.count(1)) }
  let constraints = try readConstraints(try Statement(WriterStatement.constraints.sql, on: connection))
  return queues + lanes + constraints.sorted { $0.key < $1.key }.map { .constraint($0.key, satisfied: $0.value) }
}

func readConstraints(_ rows: Statement) throws -> [JobConstraint: Bool] {
  Dictionary(try rows.map { (JobConstraint(rawValue: $0.text(0) ?? ""), $0.int(1) != 0) }) { $1 }
}

let widthsSQL = "SELECT name,width FROM durable_lane_width ORDER BY name"

let pausedSQL = "SELECT name FROM durable_queue WHERE paused<>0 ORDER BY name"
