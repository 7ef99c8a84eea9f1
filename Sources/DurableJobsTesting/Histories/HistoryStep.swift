import DurableJobs
import Foundation

/// One step of a random history. Claims and jobs are named by the model's ids.
enum HistoryStep: Sendable {
  case insert([NewJob])
  case claim(ClaimRequest)
  case settle([(claim: StorePair.HeldClaim, result: ClaimSettlement.Result, progress: JobProgress?)], ClaimRequest?)
  case renew(String, [(claim: StorePair.HeldClaim, progress: JobProgress?)])
  case change(JobChange, JobFilter, limit: Int)
  case recover(String?)
  case retire(String)
  case pause(String, Bool)
  case outstanding(WorkScope)
  case page(JobFilter, JobQuery.Order, limit: Int)
  case advance(Duration)
  case stepClock(Duration)

  static func random(for pair: StorePair, _ random: inout SeededNumbers) -> HistoryStep {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<17: .insert((0..<random.pick([1, 1, 1, 2, 5])).map { _ in newJob(&random, at: pair.now) })
    case 17..<35: .claim(request(&random))
    case 35..<57: settle(pair, &random)
    case 57..<64: renew(pair, &random)
    case 64..<76: .change(change(&random), filter(pair, &random), limit: random.pick([1, 2, 100]))
    case 76..<81: .recover(random.chance(50) ? random.pick(workers) : nil)
    case 81..<83: .retire(random.pick(workers))
    case 83..<85: .pause(random.pick(queues), random.chance(40))
    case 85..<88:
      .outstanding(
        random.chance(50)
          ? .queue(random.pick(queues)) : .worker(queues: some(queues, &random), kinds: some(kinds, &random)))
    case 88..<90:
      .page(filter(pair, &random), random.chance(50) ? .oldestFirst : .newestFirst, limit: random.pick([1, 3, 50]))
    case 90..<97:
      .advance(random.pick([1, 10, 999, 1000, 3000, 5000, 10_000, 31_000, 100_000].map { .milliseconds($0) }))
    default: .stepClock(random.pick([-86_400, -3600, -60, -2, 60, 3600].map { .seconds($0) }))
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

  private static func request(_ random: inout SeededNumbers) -> ClaimRequest {
    let capacity = some(queues, &random).sorted().map { ($0, Int.random(in: 1...4, using: &random)) }
    return ClaimRequest(
      worker: WorkerID(random.pick(workers)), kinds: some(kinds, &random),
      free: Dictionary(uniqueKeysWithValues: capacity))
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
    _ pair: StorePair, of worker: String, _ random: inout SeededNumbers
  ) -> [StorePair.HeldClaim] {
    var claims = pair.held.filter { $0.worker == worker && random.chance(60) }
    if let spent = pair.spent.randomElement(using: &random), random.chance(20) { claims.append(spent) }
    return claims
  }

  private static func settle(_ pair: StorePair, _ random: inout SeededNumbers) -> HistoryStep {
    let worker = random.pick(workers)
    let settlements = claims(pair, of: worker, &random).map {
      (claim: $0, result: result(&random, at: pair.now), progress: progress(&random))
    }
    var next = random.chance(50) ? request(&random) : nil
    next?.worker = WorkerID(worker)
    return .settle(settlements, next)
  }

  private static func renew(_ pair: StorePair, _ random: inout SeededNumbers) -> HistoryStep {
    let worker = random.pick(workers)
    // All that it holds, as a rule: what is not on the list goes back.
    let claims = random.chance(80) ? pair.held : claims(pair, of: worker, &random)
    return .renew(worker, claims.filter { $0.worker == worker }.map { (claim: $0, progress: progress(&random)) })
  }

  private static func change(_ random: inout SeededNumbers) -> JobChange {
    random.pick([
      .retry, .retry, .cancel(reason: "c"), .cancel(reason: nil), .suspend(reason: "s"), .suspend(reason: nil), .resume,
      .resume, .remove, .complete(output: Data([4])), .complete(output: nil), .fail(message: "f"),
      .progress(progress(&random) ?? JobProgress(fraction: 0.5)), .reset,
    ])
  }

  /// No filter asks for `ready` or `scheduled`: a store may take its time to write down that a job is due.
  private static func filter(_ pair: StorePair, _ random: inout SeededNumbers) -> JobFilter {
    let id = pair.ids.suffix(30).randomElement(using: &random) ?? JobID(rawValue: 1)
    guard random.chance(30) else { return .id(id) }
    let leaves: [JobFilter] = [
      .queue(random.pick(queues)), .kind(random.pick(kinds)), .tag(random.pick(tags)), .key(random.pick(keys)), .id(id),
      .state(random.pick([.running, .suspended, .succeeded, .failed, .cancelled])),
    ]
    let (first, second) = (random.pick(leaves), random.pick(leaves))
    return random.pick([first, first && second, first && !second, !first && second, (first || second) && .kind("k1")])
  }
}
