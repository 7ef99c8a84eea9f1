import DurableJobs
import DurableJobsTesting
import Foundation
import GRDB
import Testing

@testable import DurableJobsSQLite

@Suite struct RecoveryTests {
  let folder: StoreFolder
  let clock = ManualClock()
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store(clock: clock)
  }

  /// How long a worker has that can't be asked: it renews in that time.
  private static let patience = Defaults.renewalInterval + Defaults.doubtInterval

  /// Three jobs in the hands of a worker of another process, of which there is no trace but its row.
  private func jobsOfAStranger() async throws -> [ClaimedJob] {
    try await store.insert(.plain(), .plain(), .plain())
    let jobs = try await store.claim(.of(3)).jobs
    try await store.execute("UPDATE durable_worker SET session='gone'")
    return jobs
  }

  @Test func `A process without a trace is judged by its lease, after it was given time to answer`() async throws {
    let jobs = try await jobsOfAStranger()
    #expect(try await store.recover(RecoveryRequest()) == RecoveryReport())
    clock.advance(by: Defaults.lease)
    #expect(try await store.recover(RecoveryRequest()).comeAgain == Self.patience)
    clock.advance(by: .seconds(1))
    #expect(try await store.recover(RecoveryRequest()).comeAgain == Self.patience - .seconds(1))
    clock.advance(by: Self.patience - .seconds(1))
    #expect(try await store.recover(RecoveryRequest()) == RecoveryReport(recovered: 3))
    #expect(try await store.counts(where: .all) == JobCounts([.ready: 3]))
    let job = try #require(await store.job(jobs[0].token.job))
    #expect((job.attempt, job.crashes) == (0, 1))
  }

  @Test func `A stranger that renews in time keeps its jobs`() async throws {
    _ = try await jobsOfAStranger()
    clock.advance(by: Defaults.lease)
    _ = try await store.recover(RecoveryRequest())
    try await store.execute("UPDATE durable_worker SET lease_until=lease_until+60000")
    clock.advance(by: Self.patience)
    #expect(try await store.recover(RecoveryRequest()) == RecoveryReport())
    #expect(try await store.counts(where: .all) == JobCounts([.running: 3]))
  }

  @Test func `Who lives has the short time to answer where it can be asked, and else the one in which it renews`()
    async throws
  {
    for isReached in [true, false] {
      let clock = ManualClock()
      let store = try folder.store("\(isReached).sqlite", clock: clock)
      let meeting = store.engine.folder
      let session = try ProcessSession(folder: meeting, onSignal: { _ in }, onDeath: { _ in })
      defer { session.close() }
      try await store.insert(.plain())
      _ = try await store.claim(.of(1))
      try await store.execute("UPDATE durable_worker SET session='\(session.name)'")
      if !isReached { unlink(SessionFile.mail.path(of: session.name, in: meeting.path)) }
      clock.advance(by: Defaults.lease)
      _ = try await store.recover(RecoveryRequest())
      clock.advance(by: Defaults.doubtInterval)
      #expect(try await store.recover(RecoveryRequest()).recovered == (isReached ? 1 : 0))
      clock.advance(by: Defaults.renewalInterval)
      #expect(try await store.recover(RecoveryRequest()).recovered == (isReached ? 0 : 1))
      await store.close()
    }
  }

  @Test func `A worker that renewed after it was found silent, and before it was recovered, keeps its jobs`()
    async throws
  {
    let jobs = try await jobsOfAStranger()
    let worker = ClaimNumber(rawValue: jobs[0].token.claim).worker
    let seen = try await store.numbers("SELECT lease_until FROM durable_worker")[0]
    var plan = RecoveryPlan()
    plan.losses = [WorkerRow(id: worker, worker: WorkerID("w"), leaseUntil: seen, kinds: [], queues: [])]
    try await store.execute("UPDATE durable_worker SET lease_until=lease_until+1")
    let report = try await store.onWriter { [plan] in
      try $0.recover(plan, limit: 10)
    }
    #expect(report == RecoveryReport())
    #expect(try await store.settle([jobs[0].settled()], thenClaim: nil).replies[0].isAccepted)
  }

  @Test func `From the first bite on all claims of a recovered worker are lost, and later bites finish it`()
    async throws
  {
    let jobs = try await jobsOfAStranger()
    clock.advance(by: Defaults.lease)
    _ = try await store.recover(RecoveryRequest())
    clock.advance(by: Self.patience)
    let first = try await store.recover(RecoveryRequest(limit: 1))
    #expect((first.recovered, first.hasMore) == (1, true))

    let batch = try await store.settle(jobs.map { $0.settled() }, thenClaim: nil)
    #expect(batch.replies.map(\.isAccepted) == [false, false, false])
    let standings = try await store.renew(
      RenewalRequest(worker: "w", renewals: jobs.map { ClaimRenewal(token: $0.token) }))
    #expect(standings == [.lost, .lost, .lost])

    // A worker of that name gets a row of its own, which no later bite takes.
    let again = try await store.claim(.of(1)).jobs
    #expect(again.count == 1)
    #expect(try await store.recover(RecoveryRequest(limit: 1)).recovered == 1)
    #expect(try await store.recover(RecoveryRequest(limit: 1)).recovered == 1)
    #expect(try await store.recover(RecoveryRequest()).recovered == 0)
    #expect(try await store.counts(where: .all) == JobCounts([.running: 1, .ready: 2]))
    #expect(try await store.settle([again[0].settled()], thenClaim: nil).replies[0].isAccepted)
  }

  @Test func `C15 Two recoverers with the same list recover each job once`() async throws {
    let jobs = try await jobsOfAStranger()
    clock.advance(by: Defaults.lease)
    _ = try await store.recover(RecoveryRequest())
    clock.advance(by: Self.patience)
    async let one = store.recover(RecoveryRequest())
    async let other = store.recover(RecoveryRequest())
    #expect(try await one.recovered + other.recovered == 3)
    for job in jobs { #expect(try await store.job(job.token.job)?.crashes == 1) }
  }

  @Test func `C26 More stuck jobs than a bite, the damaged ones first, all come back`() async throws {
    let ids = try await store.insert(JobInsertion((0..<250).map { _ in .plain() })).ids
    _ = try await store.claim(.of(250))
    try await store.execute("UPDATE durable_spec SET options='{' WHERE id<=40")
    try await store.execute("DELETE FROM durable_spec WHERE id BETWEEN 41 AND 60")
    try await store.execute("UPDATE durable_worker SET lease_until=-1")
    var bites = 0
    while try await store.recover(RecoveryRequest(limit: 30)).hasMore, bites < 100 { bites += 1 }
    #expect(bites == 8)
    #expect(try await store.counts(where: .all)[.running] == 0)
    let batch = try await store.claim(.of(250))
    #expect(batch.jobs.map(\.token.job) == Array(ids[60...]))
  }

  @Test func `C27 Rows that can't be written or deleted keep nobody else from coming back or going`() async throws {
    let ids = try await store.insert(JobInsertion((0..<90).map { _ in .plain() })).ids
    let claimed = try await store.claim(.of(60)).jobs
    _ = try await store.settle(claimed[..<30].map { $0.settled() }, thenClaim: nil)
    for (event, id) in [("UPDATE", 31), ("DELETE", 5)] {
      try await store.execute(
        """
        CREATE TRIGGER no\(event) BEFORE \(event) ON durable_job WHEN old.id=\(id) BEGIN SELECT raise(ABORT,'no'); END
        """)
    }
    try await store.execute("UPDATE durable_worker SET lease_until=-1")
    clock.advance(by: .seconds(2 * 86400))
    var bites = 0
    while try await store.recover(RecoveryRequest(limit: 10)).hasMore, bites < 100 { bites += 1 }
    #expect(bites < 100)
    #expect(try await store.claim(.of(100)).jobs.map(\.token.job) == Array(ids[31...]))
    #expect(try await store.jobs(JobQuery(.state(.succeeded))).map(\.id) == [ids[4]])
  }

  @Test func `What could not be deleted, since the file was locked, is deleted by the next sweep`() async throws {
    var configuration = SQLiteStore.Configuration()
    (configuration.clock, configuration.busyTimeout) = (clock, .milliseconds(50))
    let hasty = try SQLiteStore(path: folder.path("other.sqlite"), configuration: configuration)
    try await hasty.insert(.plain())
    _ = try await hasty.settle(hasty.claim(.of(1)).jobs.map { $0.settled() }, thenClaim: nil)
    clock.advance(by: Defaults.retention + .seconds(1))
    var across = GRDB.Configuration()
    across.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: folder.path("other.sqlite"), configuration: across)
    try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    await #expect { try await hasty.recover(RecoveryRequest()) } throws: { ($0 as? JobError)?.code == .locked }
    try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    #expect(try await hasty.counts(where: .all).total == 1)
    _ = try await hasty.recover(RecoveryRequest())
    #expect(try await hasty.counts(where: .all).total == 0)
  }

  @Test func `A process that renewed and died after it was counted is recovered before its files go`() async throws {
    let (dead, path, isFirst) = ("00000001", folder.path("lent.sqlite"), Lock(true))
    var tracing = GRDB.Configuration()
    tracing.prepareDatabase { db in
      // The last that a count reads: its workers are read by then.
      db.trace { event in
        guard "\(event)".contains("r.scheduled>0 AND EXISTS"), isFirst.exchange(false) else { return }
        let sql = "UPDATE durable_worker SET lease_until=lease_until+1"
        #expect(throws: Never.self) { try DatabaseQueue(path: path).write { try $0.execute(sql: sql) } }
      }
    }
    var configuration = SQLiteStore.Configuration()
    configuration.clock = clock
    let lent = try SQLiteStore(pool: DatabasePool(path: path, configuration: tracing), configuration: configuration)
    try await lent.insert(.plain())
    _ = try await lent.claim(.of(1))
    try await lent.execute("UPDATE durable_worker SET session='\(dead)'")
    let meeting = lent.engine.folder
    try Data().write(to: URL(fileURLWithPath: SessionFile.lock.path(of: dead, in: meeting.path)))
    #expect(try await lent.recover(RecoveryRequest()).recovered == 1)
    #expect(meeting.standing(of: dead).isUnknown)
    await lent.close()
  }

  /// For one whose session is gone, and that can't be asked.
  private let unasked = Defaults.doubtInterval + Defaults.renewalInterval

  @Test func `While the file is locked no time passes for who is asked for a sign of life, and could give none`()
    async throws
  {
    var configuration = SQLiteStore.Configuration()
    (configuration.clock, configuration.busyTimeout) = (clock, .milliseconds(50))
    let hasty = try SQLiteStore(path: folder.path("other.sqlite"), configuration: configuration)
    try await hasty.insert(.plain())
    let job = try await hasty.claim(.of(1)).jobs[0]
    var across = GRDB.Configuration()
    across.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: folder.path("other.sqlite"), configuration: across)
    try await other.writeWithoutTransaction {
      try $0.execute(sql: "UPDATE durable_worker SET session='gone'")
      try $0.execute(sql: "BEGIN IMMEDIATE")
    }
    clock.advance(by: Defaults.lease)
    for _ in 0..<2 {
      _ = try? await hasty.recover(RecoveryRequest())
      clock.advance(by: unasked)
    }
    try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    let report = try await hasty.recover(RecoveryRequest())
    #expect(report.recovered == 0 && report.comeAgain == unasked)
    #expect(try await hasty.settle([job.settled()], thenClaim: nil).replies[0].isAccepted)
  }

  /// Its only worker, of another process by its row, holds a job, and its lease has lapsed.
  private func storeWithLapsedWorker(_ clock: WatchedClock) async throws -> SQLiteStore {
    let store = try folder.store("slow.sqlite", clock: clock)
    try await store.insert(.plain())
    _ = try await store.claim(.of(1))
    try await store.execute("UPDATE durable_worker SET session='gone'")
    clock.advance(by: Defaults.lease)
    return store
  }

  @Test(arguments: [true, false])
  func `Who was asked is lost when the time is over, unless others could not write then for a third of it`(
    isSlow: Bool
  ) async throws {
    let clock = WatchedClock()
    let store = try await storeWithLapsedWorker(clock)
    _ = try await store.recover(RecoveryRequest())
    clock.advance(by: unasked)
    if isSlow { clock.onUptime.withLock { $0 = { clock.advance(by: Defaults.doubtInterval / 3) } } }
    let report = try await store.recover(RecoveryRequest())
    clock.onUptime.withLock { $0 = {} }
    #expect(report.recovered == (isSlow ? 0 : 1))
    guard isSlow else { return }
    #expect(report.comeAgain == unasked)
    clock.advance(by: unasked)
    #expect(try await store.recover(RecoveryRequest()).recovered == 1)
  }

  @Test func `Where each write takes a third of the time, who was asked is lost all the same, a lease later`()
    async throws
  {
    let clock = WatchedClock()
    let store = try await storeWithLapsedWorker(clock)
    clock.onUptime.withLock { $0 = { clock.advance(by: Defaults.doubtInterval / 3) } }
    _ = try await store.recover(RecoveryRequest())
    let begun = clock.uptime
    var (looks, recovered) = (0, 0)
    while recovered == 0, looks < 10 {
      clock.advance(by: unasked)
      recovered = try await store.recover(RecoveryRequest()).recovered
      looks += 1
    }
    #expect(recovered == 1 && clock.uptime - begun >= Defaults.lease)
  }

  @Test func `A job that is due is ready after a sweep, whoever asks`() async throws {
    let id = try await store.insert(.plain(terms: JobTerms(start: .after(.seconds(5)))))[0]
    clock.advance(by: .seconds(5))
    _ = try await store.recover(RecoveryRequest())
    #expect(try await store.job(id)?.state == .ready)
  }
}

/// Calls `onUptime` whenever it is asked how long it runs.
private final class WatchedClock: JobClock {
  private let clock = ManualClock()
  let onUptime = Lock<@Sendable () -> Void>({})

  var now: Date { clock.now }
  var uptime: Duration {
    onUptime.withLock { $0 }()
    return clock.uptime
  }
  func advance(by time: Duration) { clock.advance(by: time) }
  func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> any JobTimer {
    clock.schedule(at: due, action)
  }
}

/// What ends before a store is suspended.
@Suite struct SuspendedRecoveryTests {
  @Test func `A store that is suspended holds no lock of a dead process, whose jobs it was about to recover`()
    async throws
  {
    let (folder, clock, dead) = (try StoreFolder(), WatchedClock(), "00000001")
    let store = try folder.store(clock: clock)
    try await store.insert(.plain())
    _ = try await store.claim(.of(1))
    try await store.execute("UPDATE durable_worker SET session='\(dead)'")
    let meeting = store.engine.folder
    try Data().write(to: URL(fileURLWithPath: SessionFile.lock.path(of: dead, in: meeting.path)))
    let (hasLock, goOn) = (Gate(), DispatchSemaphore(value: 0))
    let isFirst = Lock(true)
    clock.onUptime.withLock {
      $0 = {
        guard meeting.standing(of: dead).isAlive, isFirst.exchange(false) else { return }
        hasLock.open()
        goOn.wait()
      }
    }
    let recovery = Task(executorPreference: OwnThread()) { try await store.recover(RecoveryRequest()) }
    await hasLock.pass()
    let own = OwnThread()
    let suspension = Task(executorPreference: own) {
      await store.suspendForBackground()
      return meeting.standing(of: dead).isAlive
    }
    await own.rests()
    try await store.writerRests()
    await own.rests()
    goOn.signal()
    #expect(await suspension.value == false)
    store.resumeFromBackground()
    // By this call, or by what the store does itself when it goes on.
    _ = try await recovery.value
    #expect(try await store.jobs(JobQuery(.all)).map(\.state) == [.ready])
    await store.close()
  }
}
