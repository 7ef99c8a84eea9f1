/// The work in one queue for one kind, of jobs that require the same.
@dynamicMemberLookup
package struct RouteWork {
  package let totals: RouteTotals
  /// Scheduled jobs that are due.
  package var due = 0
  /// Whether one that was claimed before waits for a future time.
  package var isReturning = false

  /// What depends on the jobs' times must still be set.
  package init(_ totals: RouteTotals) { self.totals = totals }

  package subscript<T>(dynamicMember member: KeyPath<Route, T>) -> T { totals.route[keyPath: member] }
}

extension WorkScope {
  package func contains(queue: String) -> Bool {
    switch self {
    case .worker(let queues, _, _): queues.contains(queue)
    case .queue(let name, _): name == queue
    }
  }

  /// What keeps the scope from being idle.
  package func outstanding(
    in routes: [RouteWork], for workers: [WorkerRow], setByHand: [JobConstraint: Bool], at now: Int64
  ) -> OutstandingWork {
    var work = OutstandingWork(active: 0, isReturning: false, left: JobCounts())
    var reaches: [WorkerReach] =
      switch self {
      case .worker(_, let kinds, let satisfied): [WorkerReach(kinds: kinds, satisfied: satisfied)]
      case .queue(let queue, let more):
        more + workers.filter { $0.isAlive(at: now) && $0.queues.contains(queue) }.map(\.reach)
      }
    for index in reaches.indices { reaches[index].satisfied = setByHand.holding(reaches[index].satisfied) }
    for route in routes where contains(queue: route.queue) {
      for state in JobState.allCases where !state.isFinished { work.left[state] += route.totals.counts[state] }
      let who = reaches.filter { $0.kinds.contains(route.kind) }
      guard !who.isEmpty else { continue }
      work.active += route.totals.counts[.running]  // those too that go on without what they require
      guard !route.isPaused, who.contains(where: { route.requires.isSubset(of: $0.satisfied) }) else { continue }
      work.active += route.totals.counts[.ready] + route.due
      if route.isReturning { work.isReturning = true }
    }
    return work
  }
}
