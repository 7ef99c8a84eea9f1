import DurableJobs
import DurableJobsSQLite
import DurableJobsTesting
import Foundation

/// Damages stores, and works with them: `seed NUMBER`. Answers with `done`, the number, and `whole`, `refused`, or `found`
/// and what.
func fuzz(folder: String) async throws {
  let template = folder + "/whole.sqlite"
  let whole = try await WholeStore(at: template)
  say("ready")
  while let words = listen() {
    guard words.count == 2, words[0] == "seed", let seed = UInt64(words[1]) else { continue }
    let run = FuzzRun(seed: seed, template: template, jobs: whole.jobs, path: "\(folder)/\(seed).sqlite")
    do {
      say("done", seed, try await run.run() ? "whole" : "refused")
    } catch {
      let text = (error as? Finding)?.text ?? "\(error)"
      say("done", seed, "found", text.replacingOccurrences(of: "\n", with: " "))
    }
    run.clear()
  }
}

struct FuzzRun {
  let seed: UInt64
  let template: String
  /// Of the template; those of one set depend on each other's ends.
  let jobs: [Set<Int64>]
  let path: String

  func clear() {
    for end in ["", "-wal", "-shm", "-durable"] { try? FileManager.default.removeItem(atPath: path + end) }
  }

  /// False if the store was refused when it was opened.
  func run() async throws -> Bool {
    try FileManager.default.copyItem(atPath: template, toPath: path)
    let clock = ManualClock(now: ManualClock().now.addingTimeInterval(20))
    var random = SeededNumbers(seed: seed)
    // Every third is damaged while it is open and jobs of it run.
    let isLive = seed.isMultiple(of: 3)
    var damage = isLive ? nil : try RandomDamage.strike(path, random)
    let store: SQLiteStore
    do {
      store = try open(clock, keepingAll: true)
    } catch is JobError {
      return false
    }
    let watched = WatchedStore(store)
    var drive = FuzzDrive(store: watched, clock: clock, random: random)
    do {
      if isLive {
        let jobs = try await drive.claimSome()
        damage = try RandomDamage.strike(path, random)
        try await drive.settle(jobs)
      }
      random = damage!.random
      drive.random = random
      try await work(&drive, touched: damage!.touched)
      await store.close()
      try await endAll(clock, isCounted: !damage!.hasMiscounted)
    } catch {
      await store.close()
      throw Finding("\((error as? Finding)?.text ?? "\(error)") after \(damage?.deeds ?? [])")
    }
    guard watched.errors.isEmpty else { throw Finding("\(watched.errors) after \(damage!.deeds)") }
    return true
  }

  private func work(_ drive: inout FuzzDrive, touched: Set<Int64>) async throws {
    try await drive.look()
    if seed.isMultiple(of: 5) { drive.clock.stepWallClock(by: .seconds(-7200)) }
    if seed.isMultiple(of: 2) { try await drive.runWorker() } else { try await drive.serve() }
    try await drive.look()
    try await drive.lift()
    try await drive.changeAll(.resume, where: .state(.suspended))
    let awaited = JobTerms(key: WholeStore.awaited)
    _ = try await drive.store.insert(
      JobInsertion([NewJob(queue: "default", kind: "work", payload: Data("{}".utf8), terms: awaited)]))
    try await drive.serve()
    let jobs = try await drive.allJobs()
    let blockers = jobs.filter { $0.state == .failed && $0.lane?.failedHead == .holds }.compactMap(\.lane?.name)
    for id in self.jobs.filter({ $0.isDisjoint(with: touched) }).joined() {
      guard let job = jobs.first(where: { $0.id.rawValue == id }) else { throw Finding("job \(id) is gone") }
      guard job.state.isFinished || job.lane.map({ blockers.contains($0.name) }) ?? false else {
        throw Finding("job \(id) is not damaged, and \(job.state)")
      }
    }
    try await drive.changeAnything()
    try await drive.serve()
    try await drive.changeAll(.cancel(reason: nil))
    try await drive.serve()
    // New ones are whole, whatever is left of old ones.
    let terms = JobTerms(key: "k1", unique: UniqueKey("new"), tags: ["a", "new"])
    let new = try await drive.store.insert(
      JobInsertion([
        NewJob(queue: "default", kind: "work", payload: Data("{}".utf8), terms: terms),
        NewJob(queue: "other", kind: "rest", payload: Data("{}".utf8)),
        NewJob(queue: "new", kind: "work", payload: Data("{}".utf8)),
      ])
    ).ids
    let related = try await drive.store.insert(
      JobInsertion(
        [
          (JobTerms(lane: "fresh"), []), (JobTerms(lane: "fresh"), [JobEdge(.sibling(0))]),
          (JobTerms(), [JobEdge(.key("fresh"))]),
          (JobTerms(deadline: .end(by: .after(.seconds(100_000_000))), key: "fresh"), []),
        ].map { NewJob(queue: "default", kind: "work", payload: Data("{}".utf8), terms: $0, edges: $1) },
        batch: .new(name: "fresh", whenDone: NewJob(queue: "default", kind: "work", payload: Data("{}".utf8)))))
    try await drive.runWorker()
    let batch = try await drive.store.batches(.name("fresh")).first
    guard let follower = batch?.whenDone else { throw Finding("a new batch is not followed: \(batch as Any)") }
    var states: [JobState] = []
    for id in new + related.ids + [follower] {
      states += try await drive.store.jobs(JobQuery(.id(id))).map(\.state)
    }
    guard states == [.succeeded, .succeeded, .ready] + Array(repeating: .succeeded, count: 5) else {
      throw Finding("new jobs are \(states)")
    }
    try await drive.look()
  }

  /// Opens it once more, and deletes all jobs.
  private func endAll(_ clock: ManualClock, isCounted: Bool) async throws {
    guard let store = try? open(clock, keepingAll: false) else { return }
    if seed.isMultiple(of: 4) { _ = try await store.check(mending: true) }
    let watched = WatchedStore(store)
    let drive = FuzzDrive(store: watched, clock: clock, random: SeededNumbers(seed: seed))
    do {
      _ = try await watched.recover(RecoveryRequest())
      var counts = JobCounts()
      for job in try await drive.allJobs() { counts[job.state] += 1 }
      let told = try await watched.counts(where: .all)
      guard counts == told || !isCounted else { throw Finding("there are \(counts), and counted \(told)") }
      clock.advance(by: Defaults.failedRetention)
      while try await watched.recover(RecoveryRequest(limit: 9)).hasMore {}
      try await drive.changeAll(.cancel(reason: nil))
      try await drive.changeAll(.remove)
      let left = try await drive.allJobs().map(\.id)
      guard left.isEmpty else { throw Finding("jobs \(left) can't be removed") }
    } catch {
      await store.close()
      throw error
    }
    await store.close()
    guard watched.errors.isEmpty else { throw Finding("\(watched.errors)") }
  }

  private func open(_ clock: ManualClock, keepingAll: Bool) throws -> SQLiteStore {
    var configuration = SQLiteStore.Configuration()
    configuration.clock = clock
    if keepingAll {
      configuration.policy.retention = .seconds(Int64.max / 4000)
      configuration.policy.failedRetention = configuration.policy.retention
    }
    return try SQLiteStore(path: path, configuration: configuration)
  }
}
