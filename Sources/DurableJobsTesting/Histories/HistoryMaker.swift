import DurableJobs
import Foundation

/// Makes up a history from a number. Each leans another way, rich in some steps and poor in others, with few jobs or with
/// many, so that together they come far in every direction.
struct HistoryMaker {
  static let queues = ["q1", "q2"]
  static let kinds = ["k1", "k2", "k3"]
  static let batches = ["x", "y"]
  private static let lanes = ["l", "m"]
  private static let constraints: [JobConstraint] = ["c1", "c2"]
  private static let workers = ["w1", "w2", "w3"].map { WorkerID($0) }

  let policy: StorePolicy
  private var random: SeededNumbers
  /// Every fourth life has limits, which come and go beside all else.
  private var limiting: SeededNumbers?
  /// Every eighth has lanes with rates.
  private var pacing: SeededNumbers?
  /// Every fourth has open batches and new payloads, and keeps jobs by their kinds.
  private var opening: SeededNumbers?
  private let steps: [Sort]
  private let results: [ClaimSettlement.Result]
  private let changes: [JobChange]
  /// Once so many jobs can run or do, there are enough.
  private let crowd: Int
  /// How many of a hundred jobs wait for others.
  private let dependent: Int
  /// How many of them are in a lane, and how many require something.
  private let ordered: Int
  /// How many of them have a deadline.
  private let timed: Int
  private let constrained: Int
  /// How many come into a batch, and how many that succeed have others follow.
  private let counted: Int
  private let followed: Int

  private enum Sort {
    case insert, insertBroken, claim, settle, renew, change, recover, retire, silence, pause, widen, constrain, page,
      advance
    case stepClock
  }

  init(seed: UInt64) {
    var random = SeededNumbers(seed: seed)
    limiting = seed % 4 == 3 ? SeededNumbers(seed: ~seed) : nil
    pacing = seed % 8 == 5 ? SeededNumbers(seed: ~seed) : nil
    opening = [2, 4].contains(seed % 8) ? SeededNumbers(seed: ~seed) : nil
    steps = random.lean([
      (.insert, 14), (.insertBroken, 1), (.claim, 20), (.settle, 20), (.renew, 8), (.change, 18), (.recover, 6),
      (.retire, 1), (.silence, 6), (.pause, 3), (.widen, 2), (.constrain, 1), (.page, 1), (.advance, 7),
      (.stepClock, 3),
    ])
    results = random.lean([
      (.succeeded(output: nil), 3), (.retry(.now, message: "r"), 4), (.failed(message: "f"), 1), (.snoozed(.now), 2),
      (.suspended(reason: "h"), 1), (.crashed, 1), (.interrupted, 1),
    ])
    changes = random.lean([
      (.retry, 4), (.cancel(reason: nil), 2), (.suspend(reason: nil), 4), (.resume, 4), (.remove, 1),
      (.complete(output: nil), 1), (.fail(message: "f"), 1), (.progress(JobProgress(fraction: 0)), 1), (.reset, 1),
      (.wake(within: .zero), 1), (.setPriority(.high), 1), (.setStart(.now), 1),
    ])
    crowd = random.pick([2, 6, 40])
    dependent = random.pick([0, 30, 70])
    let inLanes = random.pick([0, 0, 20, 60])
    ordered = pacing == nil ? inLanes : 60
    timed = random.pick([0, 0, 10, 40])
    constrained = random.pick([0, 0, 0, 40])
    counted = random.pick([0, 0, 30, 60])
    followed = random.pick([0, 0, 20, 50])
    var policy = StorePolicy()
    policy.maxCrashesInRow = random.pick([2, 4, 5])
    policy.maxCrashes = policy.maxCrashesInRow + random.pick([0, 1, 2])
    policy.crashBackOff = BackOff(base: .seconds(2), factor: 3, cap: .seconds(5))
    policy.retention = .seconds(random.pick([100, 300]))
    policy.failedRetention = .seconds(900)
    if opening != nil {
      policy.retentionOfKind["k1"] = StorePolicy.Retention(.seconds(20), failed: .seconds(60))
      policy.retentionOfKind["k2"] = StorePolicy.Retention(.seconds(1000), failed: .seconds(2000))
    }
    self.policy = policy
    self.random = random
  }

  mutating func step(of run: HistoryRun) -> HistoryStep {
    if let limits = limits() ?? rates() { return limits }
    switch random.pick(steps) {
    case .insert where run.oracle.outstanding(.worker(queues: Set(Self.queues), kinds: Set(Self.kinds))).active < crowd:
      if let membership = openBatch(run) { return .insert(opening!.chance(40) ? [] : newJobs(run), membership) }
      let membership = membership(run)
      return .insert(newJobs(run), membership)
    case .insertBroken: return .insertBroken(newJobs(run) + [NewJob(queue: "q1", kind: "", payload: Data())])
    case .insert, .claim: return .claim(request(by: random.pick(Self.workers)))
    case .settle: return settle(run)
    case .renew:
      let worker = worker(run)
      // All that it holds, as a rule: what it leaves out goes back.
      let claims = random.chance(80) ? run.held.filter { $0.worker == worker } : claims(of: worker, run)
      let renewals = claims.map { ClaimRenewal(token: $0.token, progress: progress(40), steps: newSteps()) }
      return .renew(
        RenewalRequest(worker: worker, lease: lease(), renewals: renewals, isPartial: random.chance(20)))
    case .change: return .change(change(run), filter(run), limit: random.pick([1, 2, 100]))
    case .recover:
      return .recover(
        RecoveryRequest(worker: random.chance(50) ? random.pick(Self.workers) : nil, limit: random.pick([1, 3, 1000])))
    case .retire: return .recover(RecoveryRequest(worker: random.pick(Self.workers), isRetiring: true))
    case .silence: return .silence(.seconds(random.pick([20, 60])), isLasting: random.chance(70))
    case .pause: return .pause(random.pick(Self.queues), random.chance(25))
    case .widen: return .widen(random.pick(Self.lanes), random.pick([1, 1, 2, 3]))
    case .constrain where constrained > 0:
      return .constrain(random.pick(Self.constraints), random.pick([nil, nil, true, false]))
    case .constrain, .page:
      return .page(
        JobQuery(
          filter(run), order: random.chance(50) ? .oldestFirst : .newestFirst,
          after: random.chance(50) ? run.ids.randomElement(using: &random) : nil, limit: random.pick([1, 3, 50])))
    case .advance: return .advance(.milliseconds(random.pick([1, 10, 999, 1000, 3000, 5000, 10_000, 31_000, 100_000])))
    case .stepClock: return .stepClock(.seconds(random.pick([-3600, -60, -5, -2, 60, 3600, 3600])))
    }
  }

  private mutating func limits() -> HistoryStep? {
    guard limiting?.chance(8) ?? false else { return nil }
    let rate = JobRate(
      limiting!.pick([1, 3, 7]), per: .seconds(limiting!.pick([1, 10, 60])), burst: limiting!.pick([1, 2, 4]))
    let limits = JobLimits(
      running: limiting!.chance(60) ? limiting!.pick([1, 2, 3]) : nil, rate: limiting!.chance(60) ? rate : nil)
    return .limit(limiting!.pick(Self.queues), limits == JobLimits() ? nil : limits)
  }

  private mutating func rates() -> HistoryStep? {
    guard pacing?.chance(8) ?? false else { return nil }
    let rate = JobRate(
      pacing!.pick([1, 3, 7]), per: .seconds(pacing!.pick([1, 10, 60])), burst: pacing!.pick([1, 2, 4]))
    return .pace(pacing!.pick(Self.lanes), pacing!.chance(80) ? rate : nil)
  }

  // MARK: What it is made of

  private mutating func some(_ all: [String]) -> Set<String> {
    let chosen = Set(all.filter { _ in random.chance(80) })
    return chosen.isEmpty ? [random.pick(all)] : chosen
  }

  private mutating func time(at now: Date) -> JobTime {
    switch Int.random(in: 0..<8, using: &random) {
    case 0...3: .now
    case 4: .after(.milliseconds(Int.random(in: -10...20_000, using: &random)))
    case 5: .after(.microseconds(Int.random(in: 1...5000, using: &random)))
    case 6: .after(.seconds(Int.random(in: 1...60, using: &random)))
    default: .at(Date(milliseconds: now.milliseconds + Int64.random(in: -5000...30_000, using: &random)))
    }
  }

  private mutating func edges(_ run: HistoryRun, siblings: Int) -> [JobEdge] {
    guard random.chance(dependent) else { return [] }
    let known = run.oracle.jobs.suffix(12).map { JobEdge.Target.job($0.id) }
    let targets = known + (0..<siblings).flatMap { [.sibling($0), .sibling($0)] } + [.key("one"), .key("two")]
    return (0..<random.pick([1, 1, 2, 3])).map { number in
      JobEdge(
        random.pick(targets), random.pick([.succeeded, .succeeded, .ended, .failed]),
        slot: random.chance(50) ? number : nil)
    }
  }

  /// Of one call, only the first of a key can replace.
  private mutating func unique(_ seen: inout Set<String>) -> UniqueKey {
    let key = random.pick(["u", "v"])
    let policy = random.pick([UniqueKey.Policy.keep, .keep, .append, .replace])
    let isFirst = seen.insert(key).inserted
    return UniqueKey(
      key, policy: policy == .replace && !isFirst ? .keep : policy,
      scope: random.pick([.whileUnfinished, .whileUnfinished, .within(.seconds(20)), .whileStored]))
  }

  private mutating func newJobs(_ run: HistoryRun) -> [NewJob] {
    let now = run.oracle.now
    var replacing: Set<String> = []
    return (0..<random.pick([1, 1, 1, 2, 5])).map { place in
      let terms = JobTerms(
        priority: random.pick([.normal, .normal, .normal, .high, .low, 3]), start: time(at: now),
        maxAttempts: random.pick([1, 1, 2, 3, 30]), timeout: random.chance(20) ? .milliseconds(1500) : nil,
        deadline: random.chance(timed) ? deadline(at: now) : nil,
        key: random.chance(20) ? random.pick(["one", "two"]) : nil,
        unique: random.chance(40) ? unique(&replacing) : nil,
        lane: random.chance(ordered)
          ? JobLane(random.pick(Self.lanes), failedHead: random.pick([.holds, .letsNextRun])) : nil,
        tags: random.chance(30) ? some(["a", "b"]) : [], requires: requires(),
        whenLost: random.chance(20) ? .interrupts : .goesOn)
      let payload = Data((0..<random.pick([0, 2, 100])).map { UInt8($0) })
      return NewJob(
        queue: random.pick(Self.queues), kind: random.pick(Self.kinds), payload: payload, terms: terms,
        edges: edges(run, siblings: place))
    }
  }

  /// Payloads of these are their own, so that it can be seen which batch was done.
  static func followsBatch(_ payload: Data?) -> Bool { payload?.first == 0xBA }

  private mutating func membership(_ run: HistoryRun) -> BatchMembership? {
    guard random.chance(counted) else { return nil }
    if random.chance(40), let id = run.batches.suffix(3).randomElement(using: &random) { return .join(id) }
    let follower = follower()
    return .new(name: random.pick(Self.batches), whenDone: random.chance(70) ? follower : nil)
  }

  /// One whose jobs come one by one, or the end of that.
  private mutating func openBatch(_ run: HistoryRun) -> BatchMembership? {
    guard opening?.chance(30) ?? false else { return nil }
    let known = run.batches.suffix(3).randomElement(using: &opening!)
    switch (opening!.pick([0, 1, 1, 2]), known) {
    case (1, let id?): return .close(id)
    case (2, let id?): return .join(id)
    default:
      let follower = opening!.chance(70) ? follower() : nil
      return .open(name: opening!.pick(Self.batches), whenDone: follower)
    }
  }

  private mutating func follower() -> NewJob {
    var terms = JobTerms(
      priority: random.pick([.normal, .high]), start: random.pick([.now, .now, .after(.seconds(5))]),
      maxAttempts: random.pick([1, 3]), key: random.chance(30) ? random.pick(["one", "two"]) : nil,
      lane: random.chance(ordered) ? JobLane(random.pick(Self.lanes)) : nil, requires: requires())
    if terms.lane != nil { terms.key = nil }
    return NewJob(
      queue: random.pick(Self.queues), kind: random.pick(Self.kinds),
      payload: Data([0xBA] + (0..<8).map { _ in UInt8.random(in: 0...255, using: &random) }), terms: terms)
  }

  /// None of them has a key that it could itself wait for, or stand behind.
  private mutating func followUps(_ run: HistoryRun) -> [NewJob] {
    guard random.chance(followed) else { return [] }
    return newJobs(run).map { job in
      var job = job
      if !job.edges.isEmpty || job.terms.unique != nil || job.terms.lane != nil { job.terms.key = nil }
      return job
    }
  }

  private mutating func requires() -> Set<JobConstraint> {
    random.chance(constrained) ? random.pick([["c1"], ["c2"], ["c1", "c2"]]) : []
  }

  /// Mostly one that has something to do: it is in doubt, is to stop a job, or holds claims.
  private mutating func worker(_ run: HistoryRun) -> WorkerID {
    let workers = run.oracle.workers
    let doubted = workers.filter { !$0.isOver && !$0.doubts.isEmpty }.map(\.id)
    let asked = run.oracle.jobs.filter { $0.asked != nil }.compactMap { $0.claim.map { workers[$0.worker].id } }
    return random.pick(random.pick([doubted + asked, run.held.map(\.worker), Self.workers].filter { !$0.isEmpty }))
  }

  private mutating func lease() -> Duration { .seconds(random.pick([15, 30])) }

  private mutating func request(by worker: WorkerID) -> ClaimRequest {
    let queues = some(Self.queues)
    let free = queues.sorted().map { ($0, Int.random(in: 0...4, using: &random)) }.filter {
      $1 > 0 || random.chance(50)
    }
    return ClaimRequest(
      worker: worker, queues: queues, kinds: some(Self.kinds),
      satisfied: random.pick([[], ["c1"], ["c1", "c2"], ["c1", "c2"]]), free: Dictionary(uniqueKeysWithValues: free),
      lease: lease())
  }

  private mutating func progress(_ percent: Int) -> JobProgress? {
    guard random.chance(percent) else { return nil }
    return JobProgress(
      fraction: Double(Int.random(in: 0...8, using: &random)) / 8, message: random.chance(50) ? "m" : nil)
  }

  private mutating func deadline(at now: Date) -> JobDeadline {
    let time = random.pick([time(at: now), time(at: now), .after(.seconds(60))])
    return random.chance(50) ? .start(by: time) : .end(by: time)
  }

  private mutating func newSteps() -> [String: Data] {
    random.chance(25) ? [random.pick(["a", "b"]): Data([random.pick([1, 2])])] : [:]
  }

  private mutating func reason() -> String? { random.pick(["p1", "p2", nil]) }

  private mutating func output() -> Data? { random.chance(50) ? Data([random.pick([1, 2, 3])]) : nil }

  /// Mostly claims that hold, and now and then one that was settled or lost before.
  private mutating func claims(of worker: WorkerID, _ run: HistoryRun) -> [HistoryRun.HeldClaim] {
    let claims = run.held.filter { $0.worker == worker && random.chance(80) }
    let spent = run.spent.filter { $0.worker == worker }
    return random.chance(20) ? claims + spent.suffix(1) : claims
  }

  private mutating func settle(_ run: HistoryRun) -> HistoryStep {
    let worker = worker(run)
    let settlements = claims(of: worker, run).map { claim in
      let result: ClaimSettlement.Result =
        switch random.pick(results) {
        case .succeeded: .succeeded(output: output())
        case .retry(_, let message, _):
          .retry(time(at: run.oracle.now), message: message, isBackOff: random.chance(80))
        case .snoozed: .snoozed(time(at: run.oracle.now), isBackOff: random.chance(30))
        case let other: other
        }
      let followUps: [NewJob] = if case .succeeded = result { followUps(run) } else { [] }
      return ClaimSettlement(token: claim.token, result: result, progress: progress(20), followUps: followUps)
    }
    return .settle(settlements, random.chance(80) ? request(by: worker) : nil)
  }

  private mutating func change(_ run: HistoryRun) -> JobChange {
    if opening?.chance(10) ?? false { return .replacePayload(Data([opening!.pick([1, 2, 3])])) }
    return switch random.pick(changes) {
    case .cancel: .cancel(reason: reason())
    case .suspend: .suspend(reason: reason())
    case .complete: .complete(output: output())
    case .progress(let progress): .progress(self.progress(100) ?? progress)
    case .setPriority: .setPriority(random.pick([.low, .normal, .high, 3]))
    case .setStart: .setStart(time(at: run.oracle.now))
    case .wake: .wake(within: .milliseconds(random.pick([0, 1000, 5000])))
    case let other: other
    }
  }

  /// No filter asks for `ready` or `scheduled`: a store may take its time to write down that a job is due.
  private mutating func filter(_ run: HistoryRun) -> JobFilter {
    let running = run.oracle.jobs.filter { $0.claim != nil }.randomElement(using: &random)?.id
    // Who a running job needed may live again under it.
    let needed = running.flatMap { run.oracle.needs[$0]?.randomElement(using: &random)?.parent }
    let id =
      (random.chance(50) ? needed : nil) ?? (random.chance(50) ? running : nil) ?? run.ids.suffix(30).randomElement(
        using: &random) ?? JobID(rawValue: 1)
    guard random.chance(25) else { return .id(id) }
    let leaves: [JobFilter] = [
      .queue(random.pick(Self.queues)), .kind(random.pick(Self.kinds)), .tag(random.pick(["a", "b"])),
      .key(random.pick(["one", "two"])), .lane(random.pick(Self.lanes)), .id(id),
      .requires(random.pick(Self.constraints)), .batch(run.batches.last ?? BatchID(rawValue: 1)),
      .state(random.pick([.running, .suspended, .succeeded, .failed, .cancelled, .blocked, .skipped])),
    ]
    let (first, second) = (random.pick(leaves), random.pick(leaves))
    return random.pick([first, first && second, first && !second, !first && second, (first || second) && .kind("k1")])
  }
}

/// Numbers that look random and follow from a seed: SplitMix64 of Steele, Lea and Flood, 2014.
package struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
  mutating func pick<T>(_ choices: [T]) -> T { choices.randomElement(using: &self)! }

  /// Each choice as often as its weight says, and some more often than that.
  mutating func lean<T>(_ choices: [(T, Int)]) -> [T] {
    choices.flatMap { Array(repeating: $0, count: $1 * pick([1, 1, 1, 4])) }
  }
}
