/// What was found before the transaction that acts on it: who is lost, what has expired, whether a job is due.
package struct RecoveryPlan: Sendable {
  /// The worker that is shutting down.
  package var retiring: WorkerID?
  package var losses: [WorkerRow] = []
  /// Jobs that seem to be past their retention.
  package var expired: [JobID] = []
  package var batches: [BatchID] = []
  package var hasDue = false
  package var hasOverdue = false

  package init() {}

  package init(
    _ request: RecoveryRequest, _ census: Census, losing losses: [WorkerRow], expired: PruningPass, now: Int64
  ) {
    if request.isRetiring { retiring = request.worker }
    self.losses = losses
    (self.expired, batches) = (expired.jobs, expired.batches)
    hasDue = census.hasDue
    hasOverdue = census.nextDeadline.map { $0 <= now } ?? false
  }

  package var isNothing: Bool {
    retiring == nil && losses.isEmpty && expired.isEmpty && batches.isEmpty && !hasDue && !hasOverdue
  }
}

extension JobLedger {
  /// One bite of the work that time demands: at most `limit` jobs of each sort.
  package func recover(_ plan: RecoveryPlan, limit: Int) throws -> RecoveryReport {
    var report = RecoveryReport()
    var book = Book(self)
    // The worker's row first: from then on every claim under it is lost, even those that this bite does not reach.
    let known = try book.exchange(
      LedgerRequest(
        forget: plan.batches, dispossess: plan.losses, promote: plan.hasDue ? limit : nil,
        load: Needs(
          jobs: plan.expired, passesOverLocked: true, overdue: plan.hasOverdue ? limit + 1 : 0, worker: plan.retiring)))
    let (retiring, lost) = (known.workers.compactMap(\.id), known.dispossessed)
    report.hasMore = known.hasMoreDue || known.overdue.count > limit
    let needs = Needs(
      childrenOf: plan.expired.filter { book[$0]?.hasChildren ?? false }, heldBy: retiring + lost,
      heldLimit: retiring.isEmpty ? limit + 1 : .max, passesOverLocked: true)
    let answer = try book.load(needs) ?? LedgerReply()

    for id in plan.expired where !answer.passedOver.contains(id) && book.isExpired(id, policy) {
      if report.pruned == limit {
        report.hasMore = true
        break
      }
      book.remove(id)
      report.pruned += 1
    }
    for id in known.overdue.prefix(limit) where book.passDeadline(of: id) { report.overdue += 1 }
    var left = answer.unread
    for id in answer.held {
      guard let row = book[id], row.course.state == .running else { continue }
      if retiring.contains(row.claim.worker) {
        book.giveBack(id, policy)
      } else if report.recovered < limit, known.overdue.count <= limit {
        book.crash(id, policy)
        report.recovered += 1
      } else {
        left.insert(row.claim.worker)
      }
    }
    // Where nothing could be recovered, others keep the rest locked: it has its turn with the next sweep.
    if !left.isEmpty, report.recovered > 0 { report.hasMore = true }
    book.changes.goneWorkers = (retiring + lost).filter { !left.contains($0) }
    report.passedOver = plan.expired.filter { known.passedOver.contains($0) || answer.passedOver.contains($0) }
    try book.conclude()
    return report
  }

  /// Ends alone a job whose deadline has passed, or whose worker was lost: all that follows from that may be too much to
  /// be done with anything else. False if somebody has it locked.
  package func endLate(_ id: JobID) throws -> Bool {
    var book = Book(self)
    let answer = try book.load(Needs(jobs: [id], passesOverLocked: true))
    guard let row = book[id] else { return answer?.passedOver.contains(id) != true }
    if row.course.state == .running, !row.isHeld {
      book.crash(id, policy)
    } else if let deadline = row.openDeadline, deadline.date <= book.date {
      _ = book.passDeadline(of: id)
    }
    try book.conclude()
    return true
  }
}

extension Book {
  fileprivate mutating func crash(_ id: JobID, _ policy: StorePolicy) {
    end(id, concernsClaim: true) { $0.settle(.crashed, now: $1, policy: policy, random: .random(in: 0...1)) }
  }

  /// Whether it is past its retention, and nothing keeps it. The children must have been requested.
  fileprivate func isExpired(_ id: JobID, _ policy: StorePolicy) -> Bool {
    guard let row = self[id], case let state = row.course.state,
      let expiry = policy.expiry(of: state, row.kind, enteredAt: row.enteredAt)
    else { return false }
    return expiry <= now && keeper(of: id) == nil && !(row.unique?.keepsJob(in: state, at: now) ?? false)
  }
}

extension StorePolicy {
  /// When a job is deleted, in milliseconds since 1970; nil if it has not ended.
  package func expiry(of state: JobState, _ kind: String?, enteredAt: Int64) -> Int64? {
    guard state.isFinished else { return nil }
    let kept = kind.flatMap { retentionOfKind[$0] } ?? Retention(retention, failed: failedRetention)
    // As long as a failed job can be retried, those that were skipped because of it come along.
    let length = (state == .failed || state == .skipped ? kept.failed : kept.ended).milliseconds
    let (expiry, isNever) = enteredAt.addingReportingOverflow(length)
    return isNever ? .max : expiry
  }

  /// No job that ends expires sooner than this.
  var leastRetention: Duration {
    retentionOfKind.values.reduce(min(retention, failedRetention)) { min($0, $1.ended, $1.failed) }
  }
}
