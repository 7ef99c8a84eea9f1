import DurableJobs
import Foundation

/// How many jobs are in each state: from the routes' totals where these can tell, else by looking at the jobs.
func readCounts(where filter: JobFilter, on connection: OpaquePointer) throws -> JobCounts {
  var counts = JobCounts()
  if filter.isOfTotals {
    for route in try RouteTotals.read(on: connection) {
      for state in JobState.allCases where filter.matches(route.example(in: state)) {
        counts[state] += route.counts[state]
      }
    }
    return counts
  }
  let statement = try JobPage(filter: filter, on: connection).statement(selecting: "j.state", on: connection)
  while try statement.step() {
    if let state = JobState(code: statement.int(0)) { counts[state] += 1 }
  }
  return counts
}

func readOutstanding(_ scope: WorkScope, now: Int64, on connection: OpaquePointer) throws -> OutstandingWork {
  let queues: Set<String>
  let kinds: Set<String>
  switch scope {
  case .worker(let names, let known): (queues, kinds) = (names, known)
  case .queue(let name): (queues, kinds) = ([name], try livingKinds(of: name, now: now, on: connection))
  }
  var work = OutstandingWork(active: 0, isReturning: false, left: JobCounts())
  for route in try RouteTotals.read(on: connection) where queues.contains(route.queue) {
    for state in JobState.allCases where !state.isFinished { work.left[state] += route.counts[state] }
    guard kinds.contains(route.kind) else { continue }
    work.active += route.counts[.running]
    guard !route.isPaused else { continue }
    work.active += route.counts[.ready]
    guard route.counts[.scheduled] > 0 else { continue }
    work.active += Int(try first(RouteTotals.dueSQL, route.id, now, on: connection) ?? 0)
    if try first(RouteTotals.returningSQL, route.id, now, on: connection) != nil { work.isReturning = true }
  }
  return work
}

let workersSQL = "SELECT id,lease_until,session,kinds,queues FROM durable_worker"

/// What workers whose lease holds can do in a queue.
private func livingKinds(of queue: String, now: Int64, on connection: OpaquePointer) throws -> Set<String> {
  let workers = try Statement(workersSQL, on: connection)
  var kinds: Set<String> = []
  while try workers.step() {
    guard workers.int(1) > now, names(workers.text(4)).contains(queue) else { continue }
    kinds.formUnion(names(workers.text(3)))
  }
  return kinds
}

func names(_ list: String?) -> Set<String> {
  (try? JSONDecoder().decode(Set<String>.self, from: Data((list ?? "").utf8))) ?? []
}

private func first(_ sql: String, _ route: Int64, _ now: Int64, on connection: OpaquePointer) throws -> Int64? {
  let statement = try Statement(sql, on: connection)
  statement.bind(1, route)
  statement.bind(2, now)
  return try statement.step() ? statement.int(0) : nil
}

func readSettings(on connection: OpaquePointer) throws -> [StoreSetting] {
  let queues = try Statement(pausedSQL, on: connection)
  var settings: [StoreSetting] = []
  while try queues.step() { settings.append(.queue(queues.text(0) ?? "", isPaused: true)) }
  return settings
}

let pausedSQL = "SELECT name FROM durable_queue WHERE paused<>0 ORDER BY name"
