import DurableJobs

/// A store that passes on to another what it does not do itself.
package protocol PassingStore: JobStore {
  var base: any JobStore { get }
}

extension PassingStore {
  package var signals: StoreSignals { base.signals }
  package var clock: any JobClock { base.clock }

  package func insert(_ insertion: JobInsertion) async throws -> InsertionReply { try await base.insert(insertion) }
  package func claim(_ request: ClaimRequest) async throws -> ClaimBatch { try await base.claim(request) }
  package func renew(_ request: RenewalRequest) async throws -> [ClaimStanding] { try await base.renew(request) }

  package func settle(
    _ settlements: [ClaimSettlement], thenClaim: ClaimRequest?
  ) async throws -> SettlementBatch {
    try await base.settle(settlements, thenClaim: thenClaim)
  }

  package func recover(_ request: RecoveryRequest) async throws -> RecoveryReport { try await base.recover(request) }

  package func change(
    _ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int
  ) async throws -> ChangeReport {
    try await base.change(change, where: filter, after: after, limit: limit)
  }

  package func configure(_ settings: [StoreSetting]) async throws { try await base.configure(settings) }
  package func jobs(_ query: JobQuery) async throws -> [JobSnapshot] { try await base.jobs(query) }
  package func counts(where filter: JobFilter) async throws -> JobCounts { try await base.counts(where: filter) }

  package func outstanding(_ scope: WorkScope) async throws -> OutstandingWork {
    try await base.outstanding(scope)
  }

  package func settings() async throws -> [StoreSetting] { try await base.settings() }
  package func batches(_ query: BatchQuery) async throws -> [BatchSnapshot] { try await base.batches(query) }
}
