import DurableJobs
import DurableJobsTesting
import Foundation
import TestProcesses
import Testing

@testable import DurableJobsSQLite

/// Real processes that are really killed.
@Suite(.serialized) struct KillTests {
  /// 30, or what `DURABLE_KILLS` says.
  static let kills = ProcessInfo.processInfo.environment["DURABLE_KILLS"].flatMap(Int.init) ?? 30

  @Test func `C1 C9 C11 C19 C70 whatever is killed, every acknowledged job ends, and none runs twice without a kill`()
    async throws
  {
    let campaign = try Campaign()
    try await campaign.kill(Self.kills, producing: "produce")

    let deeds = try campaign.deeds()
    let jobs = try await campaign.allJobs()
    let byID = Dictionary(uniqueKeysWithValues: jobs.map { ($0.id, $0) })
    #expect(!deeds.stored.isEmpty)
    let lost = deeds.stored.subtracting(byID.keys)
    #expect(lost == [], "acknowledged and not there")
    #expect(jobs.filter { $0.state != .succeeded }.map(\.id) == [], "not succeeded")
    #expect(Set(byID.keys).subtracting(deeds.runs.keys) == [], "succeeded without having run")
    var repeats = 0
    for (id, runs) in deeds.runs {
      let wanted = byID[id]?.kind == "flaky" ? 2 : 1
      repeats += runs.count - wanted
    }
    #expect(deeds.repeats(without: campaign.killed) == [])
    let runs = deeds.runs.values.map(\.count).reduce(0, +)
    print(
      "\(campaign), acknowledged \(deeds.stored.count), lost \(lost.count), jobs \(jobs.count), runs \(runs), "
        + "repeats \(repeats)")
  }

  @Test
  func
    `C39 C40 whatever is killed, jobs that wait for others run after them, or not at all, lanes, appended jobs, batches and steps keep their order, and plans pass on what was returned`()
    async throws
  {
    let campaign = try Campaign()
    try await campaign.kill(Self.kills, producing: "produce-graphs")
    let deeds = try campaign.deeds()
    let jobs = try await campaign.allJobs()
    let lost = deeds.stored.subtracting(jobs.map(\.id))
    #expect(lost == [], "acknowledged and not there")
    #expect(deeds.faults(inGraphs: jobs) == [])
    #expect(deeds.absences(inGraphs: jobs) == [])
    // A batch has as many jobs as came, and one that follows the last of them.
    let store = try campaign.store()
    let batches = Dictionary(grouping: jobs.filter { $0.batch != nil }, by: { $0.batch! })
    var followers: Set<JobID> = []
    for (id, members) in batches {
      let batch = try #require(try await store.batches(.id(id)).first)
      #expect((batch.total, batch.unfinished, batch.isDone) == (members.count, 0, true))
      #expect(batch.succeeded == members.count { $0.state == .succeeded })
      let follower = try #require(batch.whenDone)
      followers.insert(follower)
      let last = members.map { deeds.ends[$0.id]! }.max()!
      #expect(last < deeds.runs[follower]![0].line, "job \(follower) ran before batch \(id) was done")
    }
    #expect(followers == Set(jobs.filter { $0.kind == "completes" }.map(\.id)))
    #expect(followers.count == batches.count)
    #expect(try await store.check() == [])
    let states = Dictionary(grouping: jobs, by: \.state).mapValues(\.count)
    print("\(campaign), acknowledged \(deeds.stored.count), lost \(lost.count), jobs \(states)")
  }

  @Test(.enabled(if: hasFaultPoints, "needs the trait FaultPoints"), arguments: FaultPoint.allCases)
  func `C9 C19 a process that dies at a named place loses nothing and blocks nobody`(point: FaultPoint) async throws {
    let campaign = try Campaign()
    // Each life that comes to the place dies there; the next one finds what it left.
    for fault in [point.rawValue, nil] {
      let producer = try campaign.start("produce", ["3", "1"], fault: fault)
      await campaign.noteEnd(of: producer)
    }
    let queue = JobQueue(store: try campaign.store())
    let poison = try await queue.enqueue(kind: "poison-once", payload: Data("{}".utf8))
    let late = try await queue.enqueue(
      kind: "work", payload: Data("{}".utf8), options: JobOptions(start: .after(.milliseconds(1))))
    for fault in [nil, point.rawValue] {
      let worker = try campaign.start("work", ["idle"], fault: fault)
      await campaign.noteEnd(of: worker)
    }
    #expect(campaign.killed.count >= 2, "the poison killed one, and one died at \(point.rawValue)")
    try await campaign.drain()
    let jobs = try await campaign.allJobs()
    #expect(try campaign.deeds().stored.union([poison, late]).subtracting(jobs.map(\.id)) == [])
    #expect(jobs.filter { $0.state != .succeeded }.map(\.id) == [])
    #expect(try await queue.job(poison).crashes >= 1)
  }

  @Test
  func `a job that one process adds starts in another by signal: that one has no timer at all`() async throws {
    let campaign = try Campaign()
    let queue = JobQueue(store: try campaign.store())
    let worker = try campaign.start("work", ["by-signals"])
    let first = try await queue.enqueue(kind: "work", payload: Data("{}".utf8))
    _ = try await queue.store.whenFinished(first)  // it is up, and has nothing more to do
    let second = try await queue.enqueue(kind: "work", payload: Data("{}".utf8))
    #expect(try await queue.store.whenFinished(second).state == .succeeded)
    await campaign.kill(worker)
  }

  @Test
  func `a death is noticed by a living peer through the dead one's lock: that one has no timer at all`() async throws {
    let campaign = try Campaign()
    let queue = JobQueue(store: try campaign.store())
    let first = try campaign.start("work")
    let held = try await queue.enqueue(kind: "hold", payload: Data("{}".utf8))
    try await queue.untilRunning(held)
    let full = try await queue.enqueue(contentsOfHold: 3)  // no slot is left for what comes now
    let peer = try campaign.start("work", ["by-signals"])
    let work = try await queue.enqueue(kind: "work", payload: Data("{}".utf8))
    _ = try await queue.store.whenFinished(work)  // the peer is up, and behind its first look
    await campaign.kill(first)
    _ = try await queue.store.firstAfterEachSignal {
      let jobs = try await queue.jobs(where: .kind("hold"))
      return jobs.allSatisfy { $0.state == .running && $0.crashes == 1 } ? true : nil
    }
    // It is claimed before its handler says that it runs.
    try await until { try campaign.deeds().runs[held]?.count != 1 }
    #expect(
      try campaign.deeds().runs[held]?.map(\.life)
        == [campaign.life(of: first), campaign.life(of: peer)].compactMap(\.self))
    #expect(full.count == 3)
    await campaign.kill(peer)
  }

  @Test func `a kill between steps, or within one, repeats only the step that had not finished`() async throws {
    let campaign = try Campaign()
    let queue = JobQueue(store: try campaign.store())
    let id = try await queue.enqueue(kind: "stepwise", payload: Data("{}".utf8))
    try await campaign.drain()
    #expect(try campaign.deeds().steps[id] == [1, 2, 3, 4, 5, 5])
    #expect(campaign.killed.count == 4)
    let job = try await queue.job(id)
    #expect((job.state, job.attempt, job.crashes) == (.succeeded, 1, 4))
    #expect(job.output == Data("10".utf8))
  }

  @Test func `C30 a job that kills its process every time ends alone, and its neighbours succeed`() async throws {
    let campaign = try Campaign()
    let queue = JobQueue(store: try campaign.store())
    let poison = try await queue.enqueue(kind: "poison", payload: Data("{}".utf8))
    for _ in 0..<20 { try await queue.enqueue(kind: "work", payload: Data("{}".utf8)) }
    try await campaign.drain()
    let job = try await queue.job(poison)
    #expect(job.state == .failed)
    #expect(job.failures.last?.message == "the process ended during the attempt, \(Defaults.maxCrashesInRow) times")
    #expect(job.crashes == Defaults.maxCrashesInRow)
    #expect(try await queue.counts() == JobCounts([.failed: 1, .succeeded: 20]))
    #expect(try campaign.deeds().runs[poison]?.count == Defaults.maxCrashesInRow)
  }

  @Test func `C30 a poison that reports progress ends too`() async throws {
    let campaign = try Campaign()
    let queue = JobQueue(store: try campaign.store())
    let poison = try await queue.enqueue(kind: "poison-that-progresses", payload: Data("{}".utf8))
    try await campaign.drain()
    let job = try await queue.job(poison)
    #expect(job.state == .failed)
    #expect(job.crashes == Defaults.maxCrashes)
  }

  @Test func `C70 processes that open a new file at once, and close it, do not disturb each other`() async throws {
    for _ in 0..<max(10, Self.kills / 6) {
      let campaign = try Campaign()
      let workers = try (0..<12).map { _ in try campaign.start("work", ["idle"]) }
      for worker in workers { #expect(await worker.ended() == .exited(0)) }
    }
  }

  @Test func `C11 C70 eight workers and four producers on one file run every job, each once`() async throws {
    let campaign = try Campaign()
    let workers = try (0..<8).map { _ in try campaign.start("work") }
    let producers = try (0..<4).map { _ in try campaign.start("produce", ["2500", "10"]) }
    for producer in producers {
      #expect(await producer.ended() == .exited(0), "no producer saw an error")
    }
    let queue = JobQueue(store: try campaign.store())
    try await queue.waitUntilIdle()
    #expect(try await queue.counts() == JobCounts([.succeeded: 10_000]))
    let deeds = try campaign.deeds()
    #expect(deeds.stored.count == 10_000)
    #expect(deeds.runs.filter { $0.value.count != $0.value.map(\.attempt).max() }.isEmpty, "each attempt once")
    for worker in workers { await campaign.kill(worker) }
  }

  @Test func `C12 a worker that was stopped past its lease is refused, and its job runs elsewhere`() async throws {
    let campaign = try Campaign()
    let queue = JobQueue(store: try campaign.store())
    let id = try await queue.enqueue(kind: "hold", payload: Data("{}".utf8))
    let first = try campaign.start("work")
    try await queue.untilRunning(id)
    try await campaign.stopOutsideOfCommit(first)
    let recovered = try await campaign.recover(shift: 60, doubt: 0.1)
    #expect(recovered == 1)

    let worker = JobWorker(queue)
    worker.register(kind: "hold") { _, _ in Data("true".utf8) }
    try await worker.runUntilIdle()
    kill(first.pid, SIGCONT)
    await first.ended()
    #expect(try campaign.deeds().stopped[id] == "claimLost")
    #expect(try await queue.job(id).state == .succeeded)
    #expect(try await queue.job(id).output == Data("true".utf8))
  }

  @Test func `C13 C42 a clock that is a minute ahead dispossesses nobody who answers`() async throws {
    let campaign = try Campaign()
    let queue = JobQueue(store: try campaign.store())
    let id = try await queue.enqueue(kind: "hold", payload: Data("{}".utf8))
    let first = try campaign.start("work")
    try await queue.untilRunning(id)
    #expect(try await campaign.recover(shift: 60, doubt: 864_000) == 0)
    try await queue.cancel(id)
    await first.ended()
    #expect(try campaign.deeds().stopped[id] == "cancelled", "and it heard of a cancel by another process")
    #expect(try campaign.deeds().runs[id]?.count == 1)
  }

  @Test func `a killed worker's job is back with a living peer before its lease has lapsed`() async throws {
    let campaign = try Campaign()
    // No time passes here: no lease lapses.
    let queue = JobQueue(store: try campaign.store(clock: ManualClock(now: .now)))
    let id = try await queue.enqueue(kind: "hold", payload: Data("{}".utf8))
    let first = try campaign.start("work")
    try await queue.untilRunning(id)
    let worker = JobWorker(queue)
    worker.register(kind: "hold") { _, _ in nil }
    worker.register(kind: "mine") { _, _ in nil }
    worker.start()
    _ = try await queue.store.whenFinished(try await queue.enqueue(kind: "mine", payload: Data()))
    await campaign.kill(first)
    try await queue.waitUntilIdle()
    await worker.stop()
    let job = try await queue.job(id)
    #expect(job.state == .succeeded)
    #expect(job.attempt == 1)
    #expect(job.crashes == 1)
  }

  @Test(.enabled(if: hasFaultPoints, "needs the trait FaultPoints"))
  func `a worker that is stopped inside a commit hangs nobody: others are told that the store is locked`()
    async throws
  {
    let campaign = try Campaign()
    var configuration = SQLiteStore.Configuration()
    configuration.busyTimeout = .milliseconds(300)
    let queue = JobQueue(store: try SQLiteStore(path: campaign.storePath, configuration: configuration))
    try await queue.enqueue(kind: "work", payload: Data("{}".utf8))
    let stopped = try campaign.start("work", ["idle"], fault: "commitBefore:2:stop")
    await stopped.stopped()
    await #expect { try await queue.enqueue(kind: "work", payload: Data("{}".utf8)) } throws: { error in
      (error as? JobError)?.code == .locked
    }
    #expect(try await queue.counts().total == 1, "reading goes on")
    kill(stopped.pid, SIGCONT)
    await stopped.ended()
    try await queue.enqueue(kind: "work", payload: Data("{}".utf8))
    try await campaign.drain()
    #expect(try await queue.counts() == JobCounts([.succeeded: 2]))
  }
}

extension Campaign {
  /// Stops a process, and lets it go on if it has the writers' turn, since all others, who have all the time, would wait
  /// for it.
  fileprivate func stopOutsideOfCommit(_ process: ChildProcess) async throws {
    let turn = open(storePath + "-durable/turn", O_RDWR)
    defer { close(turn) }
    while true {
      process.send(SIGSTOP)
      await process.stopped()
      let isFree = flock(turn, LOCK_EX | LOCK_NB) == 0
      if !isFree {
        process.send(SIGCONT)
        // Until whoever has it gives it back.
        await withCheckedContinuation { continuation in
          Thread.detachNewThread {
            flock(turn, LOCK_EX)
            continuation.resume()
          }
        }
      }
      flock(turn, LOCK_UN)
      if isFree { return }
    }
  }
}

extension JobQueue {
  /// Jobs that hold their slots.
  fileprivate func enqueue(contentsOfHold count: Int) async throws -> [JobID] {
    let jobs = (0..<count).map { _ in NewJob(queue: name, kind: "hold", payload: Data("{}".utf8)) }
    let ids = try await store.insert(JobInsertion(jobs)).ids
    for id in ids { try await untilRunning(id) }
    return ids
  }

  /// Returns when the job runs.
  fileprivate func untilRunning(_ id: JobID) async throws {
    _ = try await store.firstAfterEachSignal { try await self.job(id).state == .running ? true : nil }
  }
}
