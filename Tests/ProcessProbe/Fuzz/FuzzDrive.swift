import DurableJobs
import DurableJobsSQLite
import DurableJobsTesting
import Foundation
import Logging

/// Does with a damaged store all that can be done with one, and looks whether the rest goes on.
struct FuzzDrive {
  let store: WatchedStore
  let clock: ManualClock
  var random: SeededNumbers
  private var served: [JobID: Int] = [:]
  private static let worker = WorkerID("fuzz")

  init(store: WatchedStore, clock: ManualClock, random: SeededNumbers) {
    (self.store, self.clock, self.random) = (store, clock, random)
  }

  // MARK: Working

  private static func request(_ free: [String: Int]) -> ClaimRequest {
    ClaimRequest(worker: worker, kinds: WholeStore.kinds, satisfied: WholeStore.conditions, free: free)
  }

  /// Claims some, which are settled after something happened to the file.
  func claimSome() async throws -> [ClaimedJob] {
    try await store.claim(Self.request(["default": 5, "limited": 1])).jobs
  }

  mutating func settle(_ jobs: [ClaimedJob]) async throws {
    let progress = JobProgress(fraction: .random(in: 0...1, using: &random), message: "so far")
    _ = try await store.renew(
      RenewalRequest(
        worker: Self.worker,
        renewals: jobs.map { job in
          ClaimRenewal(token: job.token, progress: progress, steps: job.inputs.isEmpty ? [:] : ["more": Data("2".utf8)])
        }))
    let results = jobs.map { ClaimSettlement(token: $0.token, result: result(of: $0)) }
    let replies = try await store.settle(results, thenClaim: nil).replies
    guard replies.count == jobs.count else { throw Finding("\(replies.count) replies to \(jobs.count) results") }
  }

  /// Anything at first, and success in the end.
  private mutating func result(of job: ClaimedJob) -> ClaimSettlement.Result {
    served[job.token.job, default: 0] += 1
    guard served[job.token.job]! < 4 else { return .succeeded(output: nil) }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return .failed(message: "for good")
    case 1: return .retry(.after(.seconds(Int.random(in: 0...100, using: &random))), message: "again")
    case 2: return .snoozed(.after(.seconds(30)))
    case 3: return .crashed
    case 4: return .interrupted
    default: return .succeeded(output: Data("[1]".utf8))
    }
  }

  /// Recovers, claims and settles, and lets time pass, until nothing moves any more.
  mutating func serve() async throws {
    var quiet = 0
    var dueInVain = 0
    let request = Self.request(["default": 7, "other": 2, "held": 3, "limited": 3])
    for _ in 0..<400 {
      let report = try await store.recover(RecoveryRequest(worker: Self.worker, limit: 7))
      let batch = try await store.claim(request)
      if !batch.jobs.isEmpty { try await settle(batch.jobs) }
      if report.recovered > 0 || report.hasMore || !batch.jobs.isEmpty || batch.hasMore { continue }
      if let wait = batch.nextDue, clock.now.milliseconds < 4_000_000_000_000_000, wait < .seconds(4_000_000_000_000) {
        dueInVain = wait > .zero ? 0 : dueInVain + 1
        if dueInVain > 3 { throw Finding("a job is due for ever, and nobody gets it") }
        clock.advance(by: max(wait, .milliseconds(1)))
      } else if let wait = report.comeAgain {
        clock.advance(by: wait)
      } else {
        quiet += 1
        // Beyond each lease, those too that are of a clock that was ahead.
        if quiet > 9 { return try await checkIdle() }
        clock.advance(by: Defaults.lease * (1 << quiet))
      }
    }
    throw Finding("it moves for ever: \(try await store.counts(where: .all))")
  }

  private func checkIdle() async throws {
    let scope = WorkScope.worker(
      queues: WholeStore.queues, kinds: WholeStore.kinds, satisfied: WholeStore.conditions)
    let work = try await store.outstanding(scope)
    guard work.active == 0 else { throw Finding("nothing is left to claim, and \(work.active) are active") }
  }

  /// A worker as programs have it. Time goes on for it as soon as it waits, faster each time that it found nothing.
  func runWorker() async throws {
    let (store, clock) = (store, clock)
    let limits = WholeStore.queues.map { (JobQueue($0, store: store), 3) }
    let worker = JobWorker(
      Dictionary(uniqueKeysWithValues: limits), logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() })
    for kind in WholeStore.kinds {
      worker.register(kind: kind, retry: .constant(.seconds(1))) { job, context in
        try context.report(progress: 0.5)
        if context.id.rawValue % 4 == 1 { try await context.step("one") {} }
        if context.attempt == 1, context.id.rawValue % 3 == 0 { throw CancellationError() }
        return job.payload
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { _ = try await worker.runUntilIdle() }
      group.addTask {
        var wait = Duration.seconds(1)
        var claimed = -1
        while !Task.isCancelled {
          await clock.timerScheduled()
          if store.claimed != claimed { wait = .seconds(1) }
          claimed = store.claimed
          guard clock.now.milliseconds < 4_000_000_000_000_000 else {
            await worker.stop(grace: .zero)  // what is scheduled beyond is a date like any other
            return
          }
          clock.advance(by: wait)
          wait *= 2
        }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  // MARK: Persons

  mutating func changeAnything() async throws {
    let changes: [JobChange] = [
      .retry, .cancel(reason: "c"), .suspend(reason: nil), .resume, .complete(output: Data("2".utf8)),
      .fail(message: "f"), .progress(JobProgress(fraction: 0.9)), .reset, .remove,
    ]
    for change in changes.shuffled(using: &random).prefix(5) {
      let filter = filters.randomElement(using: &random)!
      // Some of them, so that the others remain for the next.
      _ = try await store.change(change, where: filter, after: nil, limit: Int.random(in: 1...9, using: &random))
    }
  }

  /// Each page of what matches.
  func changeAll(_ change: JobChange, where filter: JobFilter = .all) async throws {
    var after: JobID?
    for _ in 0..<40 {
      let report = try await store.change(change, where: filter, after: after, limit: 13)
      guard let next = report.next else { return }
      after = next
    }
    throw Finding("the pages of \(change) come to no end")
  }

  /// All pauses and conditions set by hand, and some limits.
  mutating func lift() async throws {
    for setting in try await store.settings() {
      switch setting {
      case .queue(let name, _): try await store.configure([.queue(name, isPaused: false)])
      case .constraint(let constraint, _): try await store.configure([.constraint(constraint, satisfied: nil)])
      case .lane(let name, _):
        try await store.configure([.lane(name, width: .random(in: 1...2, using: &random))])
      case .laneRate(let name, _):
        let rate = Bool.random(using: &random) ? nil : JobRate(1, per: .seconds(5), burst: 3)
        try await store.configure([.lane(name, width: 1), .laneRate(name, rate)])
      case .limits(let name, _) where Bool.random(using: &random):
        try await store.configure([.limits(queue: name, nil)])
      case .limits: break
      }
    }
    for batch in try await store.batches(.newest(9)) where batch.isOpen {
      _ = try await store.insert(JobInsertion([], batch: .close(batch.id)))
    }
  }

  // MARK: Looking

  private var filters: [JobFilter] {
    [
      .all, .queue("default"), .kind("work"), .tag("a"), .key("k1"), .state(.suspended),
      .state(.ready) || .state(.failed),
      !.state(.succeeded), .id(JobID(rawValue: 12)), .queue("other") && !.tag("a"),
      .lane("one") && .unfinished, .lane("wide"), .requires("here"), .batch(BatchID(rawValue: 2)),
    ]
  }

  func look() async throws {
    for filter in filters {
      _ = try await store.counts(where: filter)
      for order in [JobQuery.Order.oldestFirst, .newestFirst] {
        _ = try await store.jobs(JobQuery(filter, detail: .all, order: order, limit: 9))
      }
    }
    for job in try await store.jobs(JobQuery(.unfinished, detail: [.failures, .waits], limit: 9)) {
      _ = try await store.explain(job, and: []).description
    }
    for query in [BatchQuery.newest(9), .name("half"), .id(BatchID(rawValue: 3))] { _ = try await store.batches(query) }
    for queue in WholeStore.queues { _ = try await store.outstanding(.queue(queue)) }
    _ = try await store.workers()
    _ = try await store.settings()
  }

  func allJobs() async throws -> [JobSnapshot] { try await store.jobs(JobQuery(.all, limit: 1000)) }
}
