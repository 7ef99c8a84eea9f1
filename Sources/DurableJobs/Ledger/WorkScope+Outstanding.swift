extension WorkScope {
  package func contains(queue: String) -> Bool {
    switch self {
    case .worker(let queues, _, _): queues.contains(queue)
    case .queue(let name, _): name == queue
    }
  }

  /// What keeps the scope from being idle.
  package func outstanding(
    in routes: [RouteTotals], for workers: [WorkerRow], setByHand: [JobConstraint: Bool], at now: Int64
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
      for state in JobState.allCases where !state.isFinished { work.left[state] += route.counts[state] }
      let who = reaches.filter { $0.kinds.contains(route.kind) }
      guard !who.isEmpty else { continue }
      work.active += route.counts[.running]  // those too that go on without what they require
      guard !route.isPaused, who.contains(where: { route.requires.isSubset(of: $0.satisfied) }) else { continue }
      work.active += route.counts[.ready] + route.due
      if route.isReturning { work.isReturning = true }
    }
    return work
  }
}
