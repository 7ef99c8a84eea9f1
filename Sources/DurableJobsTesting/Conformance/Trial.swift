import DurableJobs
import Foundation

/// A fresh store with its clock, and short ways to talk to it. Where a case says nothing else there is one queue, `q`, one
/// kind, `k`, and one worker, `w`.
struct Trial {
  let store: any JobStore
  let clock: ManualClock

  init(_ subject: StoreUnderTest, policy: StorePolicy = StorePolicy()) async throws {
    (store, clock) = try await subject.make(policy)
  }

  init(store: any JobStore, clock: ManualClock) {
    self.store = store
    self.clock = clock
  }

  /// The clock's time as a store keeps it.
  var now: Date { Date(milliseconds: clock.now.milliseconds) }

  func after(_ duration: Duration) -> Date { Date(milliseconds: clock.now.milliseconds + duration.milliseconds) }

  // MARK: Verbs

  @discardableResult
  func add(_ terms: JobTerms = JobTerms(), kind: String = "k", queue: String = "q") async throws -> JobID {
    try await add([NewJob(queue: queue, kind: kind, payload: Data(#"{"n":1}"#.utf8), terms: terms)])[0]
  }

  func add(_ jobs: [NewJob]) async throws -> [JobID] {
    let ids = try await store.insert(JobInsertion(jobs)).ids
    try same(ids.count, jobs.count, "ids of an insertion")
    return ids
  }

  func add(_ count: Int, _ terms: JobTerms = JobTerms()) async throws -> [JobID] {
    try await add((0..<count).map { NewJob(queue: "q", kind: "k", payload: Data("\($0)".utf8), terms: terms) })
  }

  func request(
    by worker: String = "w", kinds: Set<String> = ["k"], _ capacity: [String: Int] = ["q": 1]
  ) -> ClaimRequest {
    ClaimRequest(worker: WorkerID(worker), kinds: kinds, free: capacity)
  }

  func claim(
    by worker: String = "w", kinds: Set<String> = ["k"], _ capacity: [String: Int] = ["q": 1]
  ) async throws -> [ClaimedJob] {
    try await store.claim(request(by: worker, kinds: kinds, capacity)).jobs
  }

  /// Claims the one job that is expected to be first.
  @discardableResult
  func start(_ id: JobID, by worker: String = "w") async throws -> ClaimedJob {
    let job = try await take(1, by: worker)[0]
    try same(job.token.job, id, "the job claimed")
    return job
  }

  /// Claims as many jobs as there must be.
  func take(_ count: Int, by worker: String = "w") async throws -> [ClaimedJob] {
    let claimed = try await claim(by: worker, ["q": count])
    try same(claimed.count, count, "jobs claimed where there is room for \(count)")
    return claimed
  }

  func addAndStart(_ terms: JobTerms = JobTerms(), by worker: String = "w") async throws -> ClaimedJob {
    try await start(try await add(terms), by: worker)
  }

  @discardableResult
  func settle(
    _ job: ClaimedJob, _ result: ClaimSettlement.Result, progress: JobProgress? = nil
  ) async throws -> SettlementReply {
    let settlement = ClaimSettlement(token: job.token, result: result, progress: progress)
    let replies = try await store.settle([settlement], thenClaim: nil).replies
    try same(replies.count, 1, "replies to one settlement")
    return replies[0]
  }

  /// Settles under a claim that must hold.
  func end(_ job: ClaimedJob, _ result: ClaimSettlement.Result, as state: JobState) async throws {
    try same(
      try await settle(job, result), SettlementReply(isAccepted: true, state: state), "the reply to \(result)")
    try same(try await self.job(job.token.job).state, state, "the state after \(result)")
  }

  func renew(_ jobs: [ClaimedJob] = [], by worker: String = "w", progress: JobProgress? = nil) async throws
    -> [ClaimStanding]
  {
    let renewals = jobs.map { ClaimRenewal(token: $0.token, progress: progress) }
    return try await store.renew(RenewalRequest(worker: WorkerID(worker), renewals: renewals))
  }

  /// Stores what a step gave, under a claim that must hold.
  func step(_ job: ClaimedJob, _ name: String, _ result: String) async throws {
    try same(try await tryStep(job, name, result), [.held], "the standing of a claim with a step")
  }

  func tryStep(_ job: ClaimedJob, _ name: String, _ result: String, by worker: String = "w") async throws
    -> [ClaimStanding]
  {
    let renewal = ClaimRenewal(token: job.token, steps: [name: Data(result.utf8)])
    return try await store.renew(RenewalRequest(worker: WorkerID(worker), renewals: [renewal], isPartial: true))
  }

  func report(_ change: JobChange, _ id: JobID) async throws -> ChangeReport {
    try await store.change(change, where: .id(id), after: nil, limit: 1)
  }

  /// Applies a change that must not be refused.
  func change(_ change: JobChange, _ id: JobID) async throws {
    try same(try await report(change, id), ChangeReport(changed: [id]), "the report of \(change)")
  }

  func job(_ id: JobID) async throws -> JobSnapshot {
    let found = try await store.jobs(JobQuery(.id(id), detail: .all))
    guard let job = found.first, found.count == 1 else { throw Difference("\(found.count) jobs have the id \(id)") }
    return job
  }

  func ids(_ filter: JobFilter = .all) async throws -> [JobID] {
    try await store.jobs(JobQuery(filter, limit: 10_000)).map(\.id)
  }

  // MARK: Time

  @discardableResult
  func recover(_ worker: String? = nil, limit: Int = 1000) async throws -> RecoveryReport {
    try await store.recover(RecoveryRequest(worker: worker.map { WorkerID($0) }, limit: limit))
  }

  func retire(_ worker: String) async throws {
    _ = try await store.recover(RecoveryRequest(worker: WorkerID(worker), isRetiring: true))
  }

  /// Lets all workers fall silent until whoever recovers has taken their jobs. Returns how many there were.
  @discardableResult
  func loseWorkers() async throws -> Int {
    clock.advance(by: Defaults.lease)
    var recovered = 0
    for _ in 0..<10 {
      let report = try await recover()
      recovered += report.recovered
      guard let wait = report.comeAgain else { return recovered }
      clock.advance(by: wait)
    }
    throw Difference("recovery asks to come again for ever")
  }
}

extension JobTerms {
  static func priority(_ priority: JobPriority) -> JobTerms { JobTerms(priority: priority) }
  static func start(_ start: JobTime) -> JobTerms { JobTerms(start: start) }
  static func attempts(_ maxAttempts: Int) -> JobTerms { JobTerms(maxAttempts: maxAttempts) }
}

extension JobEdge {
  static func job(_ id: JobID, slot: Int? = nil) -> JobEdge { JobEdge(.job(id), slot: slot) }
}

extension NewJob {
  static func plain(after edges: [JobEdge] = [], terms: JobTerms = JobTerms()) -> NewJob {
    NewJob(queue: "q", kind: "k", payload: Data(), terms: terms, edges: edges)
  }
}

extension Sequence {
  func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
    var all: [T] = []
    for element in self { all.append(try await body(element)) }
    return all
  }
}

extension Trial {
  func add(after edges: [JobEdge]) async throws -> JobID { try await add([.plain(after: edges)])[0] }

  /// Has many at once store jobs by `add`, claim, cancel and settle them: no two ever run at once.
  func expectOneAtOnce(_ add: @escaping @Sendable () async throws -> JobID) async throws {
    let running = Lock<Set<JobID>>([])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<6 {
        group.addTask {
          for round in 0..<12 {
            let id = try await add()
            if (number + round).isMultiple(of: 3) { _ = try await report(.cancel(reason: nil), id) }
            let claimed = try await claim(by: "w\(number)", ["q": 3])
            let count = running.withLock { running in
              running.formUnion(claimed.map(\.token.job))
              return running.count
            }
            if !claimed.isEmpty { try same(count, 1, "jobs that run") }
            await Task.yield()
            running.withLock { $0.subtract(claimed.map(\.token.job)) }
            for job in claimed {
              try await settle(job, round.isMultiple(of: 2) ? .succeeded(output: nil) : .interrupted)
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  func states(_ ids: [JobID]) async throws -> [JobState] {
    try await ids.asyncMap { try await job($0).state }
  }
}
