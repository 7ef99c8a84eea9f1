import DurableJobs
import DurableJobsSQLite
import Foundation

/// What a seed brought to light.
struct Finding: Error {
  let text: String

  init(_ text: String) { self.text = text }
}

/// A store that counts what it is asked: more than any end would take is a finding, and so is each error that it throws.
final class WatchedStore: JobStore {
  private struct State {
    var calls = 0
    var claimed = 0
    var errors: [String] = []
  }

  private let base: SQLiteStore
  private let state = Lock(State())
  private static let mostCalls = 6000

  init(_ base: SQLiteStore) { self.base = base }

  /// How many jobs were handed out.
  var claimed: Int { state.withLock(\.claimed) }
  var errors: [String] { state.withLock(\.errors) }
  var signals: StoreSignals { base.signals }
  var clock: any JobClock { base.clock }
  var path: String? { base.path }

  private func call<R: Sendable>(_ verb: String, _ body: () async throws -> R) async throws -> R {
    let calls = state.withLock { state in
      state.calls += 1
      return state.calls
    }
    do {
      // What a worker takes as the end.
      if calls > Self.mostCalls { throw JobError(.closed, "it goes on for ever") }
      return try await body()
    } catch {
      state.withLock { if $0.errors.count < 3 { $0.errors.append("\(verb): \(error)") } }
      throw error
    }
  }

  private func note(_ batch: ClaimBatch?) {
    if let batch { state.withLock { $0.claimed += batch.jobs.count } }
  }

  func insert(_ insertion: JobInsertion) async throws -> InsertionReply {
    try await call("insert") { try await base.insert(insertion) }
  }

  func claim(_ request: ClaimRequest) async throws -> ClaimBatch {
    let batch = try await call("claim") { try await base.claim(request) }
    note(batch)
    return batch
  }

  func renew(_ request: RenewalRequest) async throws -> [ClaimStanding] {
    try await call("renew") { try await base.renew(request) }
  }

  func settle(_ settlements: [ClaimSettlement], thenClaim: ClaimRequest?) async throws -> SettlementBatch {
    let batch = try await call("settle") { try await base.settle(settlements, thenClaim: thenClaim) }
    note(batch.claimed)
    return batch
  }

  func recover(_ request: RecoveryRequest) async throws -> RecoveryReport {
    try await call("recover") { try await base.recover(request) }
  }

  func change(
    _ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int
  ) async throws -> ChangeReport {
    try await call("change \(change)") {
      try await base.change(change, where: filter, after: after, limit: limit)
    }
  }

  func configure(_ settings: [StoreSetting]) async throws {
    try await call("configure") { try await base.configure(settings) }
  }

  func jobs(_ query: JobQuery) async throws -> [JobSnapshot] { try await call("jobs") { try await base.jobs(query) } }

  func counts(where filter: JobFilter) async throws -> JobCounts {
    try await call("counts") { try await base.counts(where: filter) }
  }

  func outstanding(_ scope: WorkScope) async throws -> OutstandingWork {
    try await call("outstanding") { try await base.outstanding(scope) }
  }

  func settings() async throws -> [StoreSetting] { try await call("settings") { try await base.settings() } }
  func batches(_ query: BatchQuery) async throws -> [BatchSnapshot] {
    try await call("batches") { try await base.batches(query) }
  }

  func workers() async throws -> [StoredWorker] { try await call("workers") { try await base.workers() } }
}
