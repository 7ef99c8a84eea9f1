import DurableJobs
import Foundation

/// One step of a random history.
enum HistoryStep: Sendable {
  case insert([NewJob])
  /// One of them can't be stored, so none is.
  case insertBroken([NewJob])
  case claim(ClaimRequest)
  case settle([ClaimSettlement], ClaimRequest?)
  case renew(RenewalRequest, [HistoryRun.HeldClaim])
  case change(JobChange, JobFilter, limit: Int)
  case recover(RecoveryRequest)
  /// Nobody gives a sign of life for so long, and then somebody looks.
  case loseWorkers(Duration)
  case pause(String, Bool)
  case page(JobQuery)
  case advance(Duration)
  case stepClock(Duration)

  static func random(for run: HistoryRun, _ random: inout SeededNumbers) -> HistoryStep {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<14: .insert(newJobs(&random, at: run.oracle.now))
    case 14: .insertBroken(newJobs(&random, at: run.oracle.now) + [NewJob(queue: "q1", kind: "", payload: Data())])
    case 15..<32: .claim(request(random.pick(workers), &random))
    case 32..<54: settle(run, &random)
    case 54..<61: renew(run, &random)
    case 61..<77: .change(change(&random), filter(run, &random), limit: random.pick([1, 2, 100]))
    case 77..<81: .recover(RecoveryRequest(worker: random.chance(50) ? worker(&random) : nil, limit: limit(&random)))
    case 81: .recover(RecoveryRequest(worker: worker(&random), isRetiring: true, limit: limit(&random)))
    case 82..<86: .loseWorkers(random.pick([.seconds(20), .seconds(60)]))
    case 86..<88: .pause(random.pick(queues), random.chance(40))
    case 88..<90:
      .page(
        JobQuery(
          filter(run, &random), order: random.chance(50) ? .oldestFirst : .newestFirst,
          after: random.chance(50) ? run.ids.randomElement(using: &random) : nil, limit: random.pick([1, 3, 50])))
    case 90..<97:
      .advance(random.pick([1, 10, 999, 1000, 3000, 5000, 10_000, 31_000, 100_000].map { .milliseconds($0) }))
    default: .stepClock(random.pick([-86_400, -3600, -60, -5, -2, 60, 3600].map { .seconds($0) }))
    }
  }

  // MARK: What it is made of

  static let workers = ["w1", "w2", "w3"]
  static let queues = ["q1", "q2"]
  static let kinds = ["k1", "k2", "k3"]
  private static let keys = ["one", "two"]
  private static let uniqueKeys = ["u", "v", "w"]
  private static let tags = ["a", "b"]

  private static func some(_ all: [String], _ random: inout SeededNumbers) -> Set<String> {
    var chosen = Set(all.filter { _ in random.chance(70) })
    if chosen.isEmpty { chosen = [random.pick(all)] }
    return chosen
  }

  private static func time(_ random: inout SeededNumbers, at now: Date) -> JobTime {
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1, 2: .now
    case 3: .after(.milliseconds(Int.random(in: -10...20_000, using: &random)))
    case 4: .after(.seconds(Int.random(in: 1...60, using: &random)))
    default: .at(Date(milliseconds: now.milliseconds + Int64.random(in: -5000...30_000, using: &random)))
    }
  }

  private static func newJob(_ random: inout SeededNumbers, at now: Date) -> NewJob {
    let terms = JobTerms(
      priority: random.pick([.normal, .normal, .normal, .high, .low, 3]), start: time(&random, at: now),
      maxAttempts: random.pick([1, 2, 3, 10]), timeout: random.chance(20) ? .milliseconds(1500) : nil,
      key: random.chance(20) ? random.pick(keys) : nil,
      unique: random.chance(30) ? UniqueKey(random.pick(uniqueKeys)) : nil,
      tags: random.chance(30) ? some(tags, &random) : [])
    let payload = Data((0..<random.pick([0, 2, 100])).map { UInt8($0) })
    return NewJob(queue: random.pick(queues), kind: random.pick(kinds), payload: payload, terms: terms)
  }

  private static func newJobs(_ random: inout SeededNumbers, at now: Date) -> [NewJob] {
    (0..<random.pick([1, 1, 1, 2, 5])).map { _ in newJob(&random, at: now) }
  }

  private static func worker(_ random: inout SeededNumbers) -> WorkerID { WorkerID(random.pick(workers)) }

  private static func limit(_ random: inout SeededNumbers) -> Int { random.pick([1, 3, 1000]) }

  private static func lease(_ random: inout SeededNumbers) -> Duration { random.pick([.seconds(15), .seconds(30)]) }

  private static func request(_ worker: String, _ random: inout SeededNumbers) -> ClaimRequest {
    let capacity = some(queues, &random).sorted().map { ($0, Int.random(in: 0...4, using: &random)) }
    return ClaimRequest(
      worker: WorkerID(worker), kinds: some(kinds, &random),
      capacity: Dictionary(uniqueKeysWithValues: capacity), lease: lease(&random))
  }

  private static func progress(_ random: inout SeededNumbers) -> JobProgress? {
    guard random.chance(40) else { return nil }
    return JobProgress(
      fraction: Double(Int.random(in: 0...8, using: &random)) / 8, message: random.chance(50) ? "m" : nil)
  }

  private static func result(_ random: inout SeededNumbers, at now: Date) -> ClaimSettlement.Result {
    switch Int.random(in: 0..<13, using: &random) {
    case 0..<4: .succeeded(output: random.chance(50) ? Data([1, 2, 3]) : nil)
    case 4..<7: .retry(time(&random, at: now), message: "r")
    case 7: .failed(message: "f")
    case 8, 9: .snoozed(time(&random, at: now))
    case 10: .suspended(reason: "s")
    case 11: .crashed
    default: .interrupted
    }
  }

  /// Mostly claims that hold, and now and then one that was settled or lost before.
  private static func claims(
    _ run: HistoryRun, of worker: String, _ random: inout SeededNumbers
  ) -> [HistoryRun.HeldClaim] {
    var claims = run.held.filter { $0.worker == worker && random.chance(60) }
    if let spent = run.spent.randomElement(using: &random), random.chance(20) { claims.append(spent) }
    return claims
  }

  private static func settle(_ run: HistoryRun, _ random: inout SeededNumbers) -> HistoryStep {
    let worker = random.pick(workers)
    let settlements = claims(run, of: worker, &random).map {
      ClaimSettlement(token: $0.token, result: result(&random, at: run.oracle.now), progress: progress(&random))
    }
    return .settle(settlements, random.chance(50) ? request(worker, &random) : nil)
  }

  private static func renew(_ run: HistoryRun, _ random: inout SeededNumbers) -> HistoryStep {
    let worker = random.pick(workers)
    let claims = claims(run, of: worker, &random).filter { $0.worker == worker }
    let renewals = claims.map { ClaimRenewal(token: $0.token, progress: progress(&random)) }
    return .renew(RenewalRequest(worker: WorkerID(worker), lease: lease(&random), renewals: renewals), claims)
  }

  private static func change(_ random: inout SeededNumbers) -> JobChange {
    random.pick([
      .retry, .retry, .cancel(reason: "c"), .cancel(reason: nil), .suspend(reason: "s"), .suspend(reason: nil), .resume,
      .resume, .remove, .complete(output: Data([4])), .complete(output: nil), .fail(message: "f"),
      .progress(progress(&random) ?? JobProgress(fraction: 0.5)), .reset,
    ])
  }

  /// No filter asks for `ready` or `scheduled`: a store may take its time to write down that a job is due.
  private static func filter(_ run: HistoryRun, _ random: inout SeededNumbers) -> JobFilter {
    let id = run.ids.suffix(30).randomElement(using: &random) ?? JobID(rawValue: 1)
    guard random.chance(30) else { return .id(id) }
    let leaves: [JobFilter] = [
      .queue(random.pick(queues)), .kind(random.pick(kinds)), .tag(random.pick(tags)), .key(random.pick(keys)), .id(id),
      .state(random.pick([.running, .suspended, .succeeded, .failed, .cancelled])),
    ]
    let (first, second) = (random.pick(leaves), random.pick(leaves))
    return random.pick([first, first && second, first && !second, !first && second, (first || second) && .kind("k1")])
  }
}
