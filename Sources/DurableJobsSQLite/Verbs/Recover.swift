import DurableJobs

/// What somebody found out before the transaction that does it: who is to be recovered, what has expired.
struct RecoveryPlan: Sendable {
  /// A worker's row and its lease as it was seen: if the lease moved since, the worker lives.
  struct Loss: Sendable {
    let worker: Int64
    let leaseUntil: Int64
  }

  /// The worker that says good-bye.
  var retiring: WorkerID?
  var losses: [Loss] = []
  /// Jobs past their retention.
  var expired: [JobID] = []
  var hasDue = false

  var isNothing: Bool { retiring == nil && losses.isEmpty && expired.isEmpty && !hasDue }
}

extension WriteTransaction {
  func recover(_ plan: RecoveryPlan, limit: Int) throws -> RecoveryReport {
    var report = RecoveryReport()
    if let retiring = plan.retiring { try retire(retiring) }
    for loss in plan.losses {
      guard try takeRow(loss) else { continue }
      let ids = try heldBy(loss.worker, limit: limit - report.recovered + 1)
      for id in ids.prefix(limit - report.recovered) {
        try crash(id)
        report.recovered += 1
        FaultPoint.recoverJob.reach()
      }
      if report.recovered == limit, try !heldBy(loss.worker, limit: 1).isEmpty {
        report.hasMore = true
        break
      }
      try run(.deleteWorker, loss.worker)
      FaultPoint.recoverBuried.reach()
    }
    if plan.hasDue, try promoteAll(limit: limit) { report.hasMore = true }
    for id in plan.expired {
      guard let row = try load(id.rawValue), isExpired(row.course.state, enteredAt: row.enteredAt) else { continue }
      try delete(row)
      report.pruned += 1
    }
    return report
  }

  /// The worker's row first: from then on every claim under it is lost, those too that this bite does not come to.
  private func takeRow(_ loss: RecoveryPlan.Loss) throws -> Bool {
    let take = try connection[.takeWorker]
    take.bind(1, loss.worker)
    take.bind(2, loss.leaseUntil)
    try take.run()
    FaultPoint.recoverTaken.reach()
    guard take.changes == 1 else { return false }
    standing[loss.worker] = false
    return true
  }

  private func crash(_ id: Int64) throws {
    guard var row = try load(id), row.course.state == .running else { return }
    let attempt = row.course.attempt
    let failure = row.course.crash(now: date, policy: policy, random: .random(in: 0...1))
    try save(row, concernsClaim: true)
    if let failure { try remember(failure: failure, attempt: attempt, of: id) }
  }

  private func retire(_ id: WorkerID) throws {
    guard let worker = memory.workers[id] else { return }
    for known in worker.rows {
      // A row that was recovered meanwhile has no say any more.
      if try isStanding(known.id) {
        for job in try heldBy(known.id, limit: .max) {
          guard var row = try load(job) else { continue }
          _ = row.course.settle(.interrupted, now: date, policy: policy, random: 0)
          try save(row)
        }
        try run(.deleteWorker, known.id)
      }
      standing[known.id] = false
    }
    remember(id, nil)
    let rows = Set(worker.rows.map(\.id))
    onCommit { [memory] in
      memory.held = memory.held.filter { !rows.contains(ClaimNumber.worker(of: $0.value.claim)) }
    }
  }

  /// True if there is more than `limit` jobs of a route that are due.
  private func promoteAll(limit: Int) throws -> Bool {
    var hasMore = false
    for route in try memory.routes.all(on: connection) {
      guard let due = try nextDue(route.id), due <= now else { continue }
      if try promote(route.id, limit: limit) == limit, let next = try nextDue(route.id), next <= now { hasMore = true }
    }
    return hasMore
  }

  private func isExpired(_ state: JobState, enteredAt: Int64) -> Bool {
    policy.expiry(of: state, enteredAt: enteredAt).map { $0 <= now } ?? false
  }

  /// The clock was set back: a back-off still ends in its own time, and a first start keeps its date.
  func rebaseWaits() throws {
    for route in try memory.routes.all(on: connection) {
      let rebase = try connection[.rebase]
      rebase.bind(1, route.id)
      rebase.bind(2, now)
      try rebase.run()
      if rebase.changes > 0 { addNews(.work) }
    }
  }
}

extension StorePolicy {
  /// When a job is deleted; nil if it has not ended.
  func expiry(of state: JobState, enteredAt: Int64) -> Int64? {
    guard state.isFinished else { return nil }
    let kept = (state == .failed ? failedRetention : retention).milliseconds
    let (expiry, isNever) = enteredAt.addingReportingOverflow(kept)
    return isNever ? .max : expiry
  }
}
