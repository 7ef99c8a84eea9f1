import Foundation

/// A store that lasts as long as its process: for tests, previews and jobs that need not outlive anything.
///
/// It is the plainest statement of the rules, and other stores are held against it. What it knows is a list of jobs, and
/// each verb looks at all of them.
public final class InMemoryStore: JobStore {
  public let signals = StoreSignals()
  public let clock: any JobClock
  private let table: Lock<JobTable>

  public init(policy: StorePolicy = StorePolicy(), clock: any JobClock = SystemClock()) {
    self.clock = clock
    table = Lock(JobTable(policy: policy))
  }

  public func insert(_ insertion: JobInsertion) async throws -> InsertionReply {
    for job in insertion.jobs { try job.check() }
    return commit { table, now in InsertionReply(insertion.jobs.map { table.insert($0, now: now) }) }
  }

  public func claim(_ request: ClaimRequest) async throws -> ClaimBatch {
    commit { table, now in table.claim(request, now: now) }
  }

  public func renew(_ request: RenewalRequest) async throws -> [ClaimStanding] {
    commit { table, now in table.renew(request, now: now) }
  }

  public func settle(_ settlements: [ClaimSettlement], thenClaim: ClaimRequest?) async throws -> SettlementBatch {
    commit { table, now in
      let replies = settlements.map { table.settle($0, now: now) }
      return SettlementBatch(replies: replies, claimed: thenClaim.map { table.claim($0, now: now) })
    }
  }

  public func recover(_ request: RecoveryRequest) async throws -> RecoveryReport {
    try check(limit: request.limit)
    return commit { table, now in table.recover(request, now: now, uptime: clock.uptime) }
  }

  public func change(
    _ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int
  ) async throws -> ChangeReport {
    try check(limit: limit)
    return commit { table, now in table.change(change, where: filter, after: after, limit: limit, now: now) }
  }

  public func configure(_ settings: [StoreSetting]) async throws {
    commit { table, _ in table.configure(settings) }
    signals.post(.changedElsewhere(.work))
  }

  public func jobs(_ query: JobQuery) async throws -> [JobSnapshot] {
    try check(limit: query.limit)
    return commit { table, _ in table.jobs(query) }
  }

  public func counts(where filter: JobFilter) async throws -> JobCounts {
    commit { table, _ in table.counts(where: filter) }
  }

  public func outstanding(_ scope: WorkScope) async throws -> OutstandingWork {
    commit { table, now in table.outstanding(scope, now: now) }
  }

  public func settings() async throws -> [StoreSetting] {
    commit { table, _ in table.settings }
  }

  /// One transaction: nothing in `body` throws, so nothing is ever half done. Signals follow once it is over.
  private func commit<R>(_ body: (inout JobTable, Date) -> R) -> R {
    let (reply, news) = table.withLock { table in
      let now = Date(milliseconds: clock.now.milliseconds)
      table.notice(now)
      let reply = body(&table, now)
      return (reply, table.takeNews())
    }
    for signal in news { signals.post(signal) }
    return reply
  }

  private func check(limit: Int) throws {
    guard limit >= 1 else { throw JobError(.invalidArgument, "limit is \(limit); it must be at least 1") }
  }
}
