/// A store that lasts as long as its process, for tests, previews and jobs that need not outlive it; or as long as what
/// a ``SnapshotProvider`` writes to.
///
/// Its ledger is a list of jobs, and each exchange examines all of them.
public final class InMemoryStore: JobStore {
  private struct Content {
    var table: JobTable
    var provider: (any SnapshotProvider)?
    /// Jobs for which the provider may have something other than the table, since it refused a change.
    var owed: Set<JobID> = []
    /// The same for what is no job's own.
    var owesRest = false
    /// Jobs that could not be read when the store was created, until that has been reported.
    var unreadable: [JobID] = []
  }

  public let signals = StoreSignals()
  public let clock: any JobClock
  private let content: Lock<Content>

  public init(policy: StorePolicy = StorePolicy(), clock: any JobClock = SystemClock()) {
    self.clock = clock
    content = Lock(Content(table: JobTable(policy: policy)))
  }

  /// A store that keeps its jobs with `provider`, and begins with those that are there. Jobs that were running when the
  /// previous process ended go back, as in any store. Throws the provider's errors.
  ///
  /// Jobs that can't be read stay with the provider, untouched; the first recovery reports them. If the entry for
  /// batches, limits and pauses can't be read, this throws ``JobError/Code/notDecodable`` and changes nothing.
  public init(
    provider: sending any SnapshotProvider, policy: StorePolicy = StorePolicy(), clock: any JobClock = SystemClock()
  ) throws {
    self.clock = clock
    var provider: any SnapshotProvider = provider
    let table = JobTable(policy: policy)
    let unreadable = try table.load(JobTable.entries(of: &provider))
    content = Lock(Content(table: table, provider: provider, unreadable: unreadable))
    try commit { table in
      var plan = RecoveryPlan()
      plan.losses = table.workers
      _ = try table.recover(plan, limit: .max - 1)
    }
  }

  /// Whether its jobs outlive the process, with a ``SnapshotProvider``.
  package var isKept: Bool { content.withLock { $0.provider != nil } }

  public func insert(_ insertion: JobInsertion) async throws -> InsertionReply {
    try insertion.check()
    return try commit { try $0.insert(insertion) }
  }

  public func claim(_ request: ClaimRequest) async throws -> ClaimBatch { try commit { try $0.claim(request) } }

  public func renew(_ request: RenewalRequest) async throws -> [ClaimStanding] { try commit { try $0.renew(request) } }

  public func settle(_ settlements: [ClaimSettlement], thenClaim: ClaimRequest?) async throws -> SettlementBatch {
    for job in settlements.flatMap(\.followUps) { try job.check() }
    return try commit(mayEndHalfway: settlements.contains { !$0.followUps.isEmpty }) { table in
      let replies = try table.settle(settlements).replies
      return SettlementBatch(replies: replies, claimed: try thenClaim.map { try table.claim($0) })
    }
  }

  public func recover(_ request: RecoveryRequest) async throws -> RecoveryReport {
    let limit = try checked(limit: request.limit)
    let unreadable = content.withLock { exchange(&$0.unreadable, with: []) }
    return try commit { table in
      let verdict = table.judge(except: request.worker, uptime: clock.uptime)
      var plan = RecoveryPlan()
      plan.retiring = request.isRetiring ? request.worker : nil
      (plan.losses, plan.hasDue, plan.hasOverdue) = (verdict.losses, true, true)
      plan.expired = table.expired
      plan.batches = Array(table.expiredBatches.prefix(limit))
      var report = try table.recover(plan, limit: limit)
      let next = table.records.filter { $0.isTimed }.map { table.deadline($0).milliseconds - table.now }.min()
      report.comeAgain = [verdict.comeAgain, next.map { .milliseconds($0) }].compactMap(\.self).min()
      report.unreadable = unreadable
      return report
    }
  }

  public func change(
    _ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int
  ) async throws -> ChangeReport {
    try checked(limit: limit)
    try filter.check()
    return try commit { table in
      let page = table.jobs(JobQuery(filter, after: after, limit: limit == .max ? limit : limit + 1))
      return try table.change(change, page.map(\.id), limit: limit)
    }
  }

  public func configure(_ settings: [StoreSetting]) async throws {
    for setting in settings { try setting.check() }
    try commit(mayEndHalfway: settings.count > 1) { try $0.configure(settings) }
  }

  public func jobs(_ query: JobQuery) async throws -> [JobSnapshot] {
    try checked(limit: query.limit)
    try query.filter.check()
    return try commit { $0.jobs(query) }
  }

  public func counts(where filter: JobFilter) async throws -> JobCounts {
    try filter.check()
    return try commit { $0.counts(where: filter) }
  }

  public func outstanding(_ scope: WorkScope) async throws -> OutstandingWork { try commit { $0.outstanding(scope) } }

  public func batches(_ query: BatchQuery) async throws -> [BatchSnapshot] {
    try check(query)
    return try commit { $0.batches(query) }
  }

  public func settings() async throws -> [StoreSetting] { try commit { $0.settings } }

  /// One transaction. A verb writes last of all, so one that throws leaves nothing half done. If the second of several
  /// may throw, or a provider may refuse what was written, it is done in a table of its own, which is adopted if all
  /// succeeds. Signals follow after that.
  private func commit<R>(mayEndHalfway: Bool = false, _ body: (JobTable) throws -> R) throws -> R {
    let (reply, news) = try content.withLock { content in
      let before = content.table
      let table = content.provider == nil && !mayEndHalfway ? before : JobTable(before)
      table.begin(at: clock.now.milliseconds, uptime: clock.uptime)
      let reply = try body(table)
      try table.settleBatches()
      if var provider = content.provider, table.differs(from: before) {
        defer { content.provider = provider }
        let mayBePending = content.owesRest || !content.owed.isEmpty
        content.owed.formUnion(table.changed)
        if table.kept != before.kept { content.owesRest = true }
        try table.save(content.owed, andRest: content.owesRest, to: &provider, mayBePending: mayBePending)
        (content.owed, content.owesRest) = ([], false)
      }
      content.table = table
      return (reply, table.news)
    }
    if !news.transitions.isEmpty { signals.post(.committed(news.transitions)) }
    if !news.here.isEmpty { signals.post(.changedElsewhere(news.here)) }
    return reply
  }
}
