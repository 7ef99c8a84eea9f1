import DurableJobs
import DurableJobsSQLite
import DurableJobsTesting
import Foundation

/// A store with jobs in all states and rows in all tables, closed: what is damaged is a copy of it.
struct WholeStore {
  static let queues: Set = ["default", "other", "held", "limited"]
  static let kinds: Set = ["work", "rest"]
  static let conditions: Set<JobConstraint> = ["here", "gone"]
  /// The key for which jobs wait, and that a later job brings.
  static let awaited = "later"

  /// Its jobs; those of one set depend on each other's ends.
  let jobs: [Set<Int64>]

  init(at path: String) async throws {
    var configuration = SQLiteStore.Configuration()
    let clock = ManualClock()
    configuration.clock = clock
    let store = try SQLiteStore(path: path, configuration: configuration)
    _ = try await store.insert(JobInsertion((0..<44).map(Self.job)))
    try await store.configure([.queue("held", isPaused: true)])
    for (number, way) in Self.ways.enumerated() {
      let request = ClaimRequest(worker: WorkerID("w"), kinds: Self.kinds, free: ["default": 1])
      guard let claim = try await store.claim(request).jobs.first else { continue }
      let progress = number.isMultiple(of: 2) ? JobProgress(fraction: 0.5, message: "half") : nil
      _ = try await store.settle(
        [ClaimSettlement(token: claim.token, result: way, progress: progress)], thenClaim: nil)
    }
    let running = try await store.claim(ClaimRequest(worker: WorkerID("w"), kinds: Self.kinds, free: ["default": 4]))
      .jobs
    _ = try await store.claim(ClaimRequest(worker: WorkerID("v"), kinds: Self.kinds, free: ["other": 3]))
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
    try await Self.addRelated(to: store)
    var groups: [Set<Int64>] = []
    var lanes: [String: Set<Int64>] = [:]
    for job in try await store.jobs(JobQuery(.all, detail: .edges, limit: 1000)) {
      var group: Set = [job.id.rawValue]
      for parent in job.edges.compactMap(\.job) {
        guard let index = groups.firstIndex(where: { $0.contains(parent.rawValue) }) else { continue }
        group.formUnion(groups.remove(at: index))
      }
      if let lane = job.lane?.name { lanes[lane, default: []].formUnion(group) } else { groups.append(group) }
    }
    jobs = groups + lanes.values
    await store.close()
  }

  /// Jobs with what stands beside them: lanes, dependencies, steps, deadlines, conditions, limits, batches.
  private static func addRelated(to store: SQLiteStore) async throws {
    try await store.configure([
      .lane("wide", width: 2), .laneRate("paced", JobRate(2, per: .seconds(10), burst: 2)),
      .limits(queue: "limited", JobLimits(running: 2, rate: JobRate(5, per: .seconds(10), burst: 2))),
      .constraint("here", satisfied: true), .constraint("gone", satisfied: false),
    ])
    func add(_ jobs: [NewJob], _ batch: BatchMembership? = nil) async throws -> [JobID] {
      try await store.insert(JobInsertion(jobs, batch: batch)).ids
    }
    func job(_ terms: JobTerms = JobTerms(), _ edges: [JobEdge] = [], queue: String = "default") -> NewJob {
      NewJob(queue: queue, kind: "work", payload: Data("{}".utf8), terms: terms, edges: edges)
    }
    func claim(_ id: JobID) async throws -> ClaimToken {
      var request = ClaimRequest(worker: WorkerID("w"), kinds: kinds, satisfied: ["here"], free: ["default": 1])
      request.only = id
      guard let job = try await store.claim(request).jobs.first else { throw Finding("job \(id) can't be claimed") }
      return job.token
    }
    func run(_ id: JobID, _ result: ClaimSettlement.Result? = nil, steps: [String: Data] = [:]) async throws {
      let token = try await claim(id)
      let renewal = ClaimRenewal(token: token, steps: steps)
      _ = try await store.renew(RenewalRequest(worker: WorkerID("w"), renewals: [renewal], isPartial: true))
      guard let result else { return }
      _ = try await store.settle([ClaimSettlement(token: token, result: result)], thenClaim: nil)
    }
    let steps = ["one": Data("1".utf8), "two": Data("{}".utf8), "none": Data()]

    for lane in [JobLane("one"), JobLane("wide", failedHead: .letsNextRun), JobLane("paced", failedHead: .letsNextRun)]
    {
      let ids = try await add((0..<4).map { _ in job(JobTerms(lane: lane)) })
      let isWide = lane.name == "wide"
      try await run(ids[0], isWide ? nil : .succeeded(output: nil), steps: isWide ? steps : [:])
    }
    let chain = try await add([
      job(), job(JobTerms(), [JobEdge(.sibling(0), slot: 0)]), job(JobTerms(), [JobEdge(.sibling(0), .ended, slot: 1)]),
      job(JobTerms(), [JobEdge(.sibling(1)), JobEdge(.sibling(2), .ended, slot: 0)]),
      job(JobTerms(), [JobEdge(.sibling(1), .failed)]),
      job(JobTerms(), [JobEdge(.sibling(3)), JobEdge(.key(awaited), slot: 1)]),
    ])
    try await run(chain[0], .succeeded(output: Data("[1]".utf8)), steps: steps)
    let broken = try await add([job(), job(JobTerms(), [JobEdge(.sibling(0))])])
    try await run(broken[0], .failed(message: "for good"), steps: steps)
    _ = try await add([job(JobTerms(), [JobEdge(.key(awaited))]), job(JobTerms(), [JobEdge(.key(awaited), .ended)])])

    let deadlines: [JobDeadline] = [
      .start(by: .after(.seconds(10))), .end(by: .after(.seconds(10))), .start(by: .after(.seconds(90))),
      .end(by: .after(.seconds(3600))), .end(by: .after(.seconds(1_000_000))),
    ]
    let timed = try await add(deadlines.map { job(JobTerms(deadline: $0)) })
    try await run(timed[1])
    try await run(timed[3], .retry(.after(.seconds(600)), message: "again"), steps: steps)

    _ = try await add([
      job(JobTerms(requires: ["here"])), job(JobTerms(requires: ["gone"])), job(JobTerms(requires: conditions)),
    ])
    _ = try await add((0..<4).map { _ in job(queue: "limited") })
    let held = try await add([
      job(JobTerms(unique: UniqueKey("stored", scope: .whileStored))),
      job(JobTerms(unique: UniqueKey("within", scope: .within(.seconds(600))))),
    ])
    for id in held { try await run(id, .succeeded(output: nil)) }

    let done = try await add([job(), job()], .new(name: "done", whenDone: job()))
    for id in done { try await run(id, .succeeded(output: nil)) }
    let half = try await add([job(), job(), job()], .new(name: "half", whenDone: job(JobTerms(lane: "after"))))
    try await run(half[0], .succeeded(output: nil))
    try await run(half[1])
    _ = try await add([job()], .open(name: "open", whenDone: job()))
    _ = try await add([], .new(name: "empty", whenDone: nil))
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
