import DurableJobs
import DurableJobsSQLite
import DurableJobsTesting
import Foundation

/// A store with jobs in all states and rows in all tables, closed: what is damaged is a copy of it.
struct WholeStore {
  static let queues: Set = ["default", "other", "held"]
  static let kinds: Set = ["work", "rest"]

  static func make(at path: String) async throws {
    var configuration = SQLiteStore.Configuration()
    let clock = ManualClock()
    configuration.clock = clock
    let store = try SQLiteStore(path: path, configuration: configuration)
    _ = try await store.insert(JobInsertion((0..<44).map(job)))
    try await store.configure([.queue("held", isPaused: true)])
    for (number, way) in ways.enumerated() {
      let request = ClaimRequest(worker: WorkerID("w"), kinds: kinds, free: ["default": 1])
      guard let claim = try await store.claim(request).jobs.first else { continue }
      let progress = number.isMultiple(of: 2) ? JobProgress(fraction: 0.5, message: "half") : nil
      _ = try await store.settle(
        [ClaimSettlement(token: claim.token, result: way, progress: progress)], thenClaim: nil)
    }
    let running = try await store.claim(ClaimRequest(worker: WorkerID("w"), kinds: kinds, free: ["default": 4])).jobs
    _ = try await store.claim(ClaimRequest(worker: WorkerID("v"), kinds: kinds, free: ["other": 3]))
    _ = try await store.renew(
      RenewalRequest(
        worker: WorkerID("w"),
        renewals: running.map { ClaimRenewal(token: $0.token, progress: JobProgress(fraction: 0.25, message: "on")) }))
    let asked = running.map(\.token.job)
    for (change, filter) in [
      (JobChange.cancel(reason: "enough"), JobFilter.id(asked[0])), (.suspend(reason: "wait"), .id(asked[1])),
      (.cancel(reason: "no more"), .tag("t20")), (.suspend(reason: "later"), .tag("t22")), (.remove, .tag("t42")),
    ] {
      _ = try await store.change(change, where: filter, after: nil, limit: 10)
    }
    await store.close()
  }

  private static func job(_ number: Int) -> NewJob {
    var terms = JobTerms(priority: [.low, .normal, .high][number % 3], maxAttempts: number % 5 + 1)
    if number.isMultiple(of: 3) { terms.key = "k\(number / 6)" }
    if number.isMultiple(of: 4) { terms.unique = UniqueKey("u\(number)") }
    if number.isMultiple(of: 2) { terms.tags = ["a", "t\(number)"] }
    if number % 7 == 6 { terms.start = .after(.seconds(3600)) }
    if number % 9 == 8 { terms.timeout = .seconds(60) }
    return NewJob(
      queue: number % 10 == 9 ? "held" : number % 5 == 4 ? "other" : "default", kind: number % 4 == 3 ? "rest" : "work",
      payload: Data("{\"number\":\(number)}".utf8), terms: terms)
  }

  /// How the first attempts end.
  private static let ways: [ClaimSettlement.Result] =
    [
      .succeeded(output: Data("1".utf8)), .succeeded(output: nil), .failed(message: "never"),
      .suspended(reason: "a person must look"), .snoozed(.after(.seconds(600))),
      .retry(.after(.seconds(60)), message: "not yet"), .crashed, .crashed,
    ] + Array(repeating: .retry(.now, message: "again"), count: 12)
}
