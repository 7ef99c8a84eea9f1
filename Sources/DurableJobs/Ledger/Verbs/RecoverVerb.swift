import Foundation

/// What was found before the transaction that acts on it: who is lost, what has expired, whether a job is due.
package struct RecoveryPlan: Sendable {
  /// The worker that is shutting down.
  package var retiring: WorkerID?
  package var losses: [WorkerRow] = []
  /// Jobs that seemed to be past their retention.
  package var expired: [JobID] = []
  package var batches: [BatchID] = []
  package var hasDue = false
  package var hasOverdue = false

  package init() {}
  package var isNothing: Bool {
    retiring == nil && losses.isEmpty && expired.isEmpty && batches.isEmpty && !hasDue && !hasOverdue
  }
}

/// One bite of the work that time demands.
package struct RecoverVerb: Verb {
  private enum Phase { case begin, taken, held, follow }

  private let plan: RecoveryPlan
  private let limit: Int
  private let policy: StorePolicy
  private var book: Book
  private var retiring: [Int64] = []
  private var lost: [Int64] = []
  private var overdue: [JobID] = []
  private var phase = Phase.begin
  package private(set) var reply = RecoveryReport()

  package init(_ plan: RecoveryPlan, limit: Int, policy: StorePolicy, now: Int64) {
    (self.plan, self.limit, self.policy) = (plan, limit, policy)
    book = Book(now: now)
  }

  package mutating func next(_ answer: LedgerReply) -> LedgerRequest? {
    book.add(answer)
    switch phase {
    case .begin:
      phase = .taken
      let expired = book.lacking(Needs(jobs: plan.expired))?.jobs ?? []
      let needs = Needs(jobs: expired, overdue: plan.hasOverdue ? limit + 1 : 0, worker: plan.retiring)
      // The worker's row first: from then on every claim under it is lost, even those that this bite does not reach.
      return LedgerRequest(
        forget: plan.batches, dispossess: plan.losses, promote: plan.hasDue ? limit : nil, load: needs)
    case .taken:
      phase = .held
      retiring = answer.workers.compactMap(\.id)
      lost = answer.dispossessed
      overdue = answer.overdue
      reply.hasMore = answer.hasMoreDue || overdue.count > limit
      let needs = Needs(
        childrenOf: plan.expired.filter { book[$0]?.hasChildren ?? false }, heldBy: retiring + lost,
        heldLimit: retiring.isEmpty ? limit + 1 : .max)
      if let needs = book.lacking(needs) { return LedgerRequest(load: needs) }
      fallthrough
    case .held:
      phase = .follow
      forgetExpired()
      for id in overdue.prefix(limit) where book.passDeadline(of: id) { reply.overdue += 1 }
      giveBack(answer.held)
      fallthrough
    case .follow: return book.conclude()
    }
  }

  private mutating func giveBack(_ held: [JobID]) {
    let (now, policy, goodBye) = (book.date, policy, Set(retiring))
    var left: Set<Int64> = []
    for id in held {
      guard let row = book[id], row.course.state == .running else { continue }
      if goodBye.contains(row.claim.worker) {
        book.end(id) { $0.settle(.interrupted, now: now, policy: policy, random: 0) }
      } else if reply.recovered < limit, overdue.count <= limit {
        book.end(id, concernsClaim: true) { $0.crash(now: now, policy: policy, random: .random(in: 0...1)) }
        reply.recovered += 1
      } else {
        left.insert(row.claim.worker)
      }
    }
    // Past the limit nothing was requested, so workers whose jobs were not read may have more.
    if !left.isEmpty { reply.hasMore = true }
    let isCut = left.isEmpty ? nil : lost.firstIndex { left.contains($0) }
    book.changes.goneWorkers = retiring + lost[..<(isCut ?? lost.endIndex)]
  }

  private mutating func forgetExpired() {
    for id in plan.expired {
      guard let row = book[id], let expiry = policy.expiry(of: row.course.state, row.kind, enteredAt: row.enteredAt),
        expiry <= book.now, book.keeper(of: id) == nil,
        !(row.unique?.keepsJob(in: row.course.state, at: book.now) ?? false)
      else { continue }
      book.remove(id)
      reply.pruned += 1
    }
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
