/// What there is to do in one queue for one kind.
package struct RouteWork {
  package var queue: String
  package var kind: String
  package var isPaused: Bool
  /// The unfinished jobs, as they are written down.
  package var left: JobCounts
  /// Scheduled ones whose time has come.
  package var due: Int
  /// Whether one that was claimed before waits for a time that is ahead.
  package var isReturning: Bool

  package init(queue: String, kind: String, isPaused: Bool, left: JobCounts, due: Int, isReturning: Bool) {
    self.queue = queue
    self.kind = kind
    self.isPaused = isPaused
    self.left = left
    self.due = due
    self.isReturning = isReturning
  }
}

extension WorkScope {
  package func contains(queue: String) -> Bool {
    switch self {
    case .worker(let queues, _): queues.contains(queue)
    case .queue(let name, _): name == queue
    }
  }

  /// What keeps the scope from being idle.
  package func outstanding(in routes: [RouteWork], for workers: [WorkerRow], at now: Int64) -> OutstandingWork {
    var work = OutstandingWork(active: 0, isReturning: false, left: JobCounts())
    let kinds: Set<String> =
      switch self {
      case .worker(_, let kinds): kinds
      case .queue(let queue, let kinds):
        workers.filter { $0.isAlive(at: now) && $0.queues.contains(queue) }.reduce(into: kinds) {
          $0.formUnion($1.kinds)
        }
      }
    for route in routes where contains(queue: route.queue) {
      for state in JobState.allCases where !state.isFinished { work.left[state] += route.left[state] }
      guard kinds.contains(route.kind) else { continue }
      work.active += route.left[.running]
      guard !route.isPaused else { continue }
      work.active += route.left[.ready] + route.due
      if route.isReturning { work.isReturning = true }
    }
    return work
  }
}
