import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct DamageTests {
  let folder: StoreFolder
  let clock = ManualClock()
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store(clock: clock)
  }

  enum Unreadable: String, CaseIterable {
    case specGone = "DELETE FROM durable_spec WHERE id=2"
    case payloadGone = "UPDATE durable_spec SET payload=NULL WHERE id=2"
    case payloadNoData = "UPDATE durable_spec SET payload=7 WHERE id=2"
    case optionsNoJSON = "UPDATE durable_spec SET options='{' WHERE id=2"
  }

  @Test("C7 A damaged row is set aside and reported, and the others run", arguments: Unreadable.allCases)
  func damagedRow(damage: Unreadable) async throws {
    let ids = try await store.insert(.plain(), .plain(), .plain())
    try await store.execute(damage.rawValue)
    let batch = try await store.claim(.of(3))
    #expect(batch.jobs.map(\.token.job) == [ids[0], ids[2]])
    #expect(!batch.hasMore)
    let damaged = try #require(await store.job(ids[1]))
    #expect(damaged.state == .suspended)
    #expect(damaged.reason?.contains("damaged") == true)
    #expect(try await store.recover(RecoveryRequest()).unreadable == [ids[1]])
    #expect(try await store.recover(RecoveryRequest()).unreadable == [])
    #expect(try await store.counts(where: .all) == JobCounts([.running: 2, .suspended: 1]))
  }

  @Test("C7 Damaged rows at the head of the line idle nobody: who comes next is claimed at once", arguments: [5, 100])
  func damagedHead(count: Int) async throws {
    let ids = try await store.insert(JobInsertion((0..<count + 3).map { _ in .plain() })).ids
    try await store.execute("UPDATE durable_spec SET payload=NULL WHERE id<=\(count)")
    var claimed: [JobID] = []
    var batch = ClaimBatch(hasMore: true)
    while batch.hasMore {
      batch = try await store.claim(.of(4))
      claimed += batch.jobs.map(\.token.job)
    }
    #expect(claimed == ids.suffix(3))
    #expect(try await store.recover(RecoveryRequest()).unreadable == ids.dropLast(3))
  }

  /// Columns that keep a job from ever being met again.
  enum Lost: String, CaseIterable {
    case stateUnknown = "UPDATE durable_job SET state=77 WHERE id=1"
    case stateNoNumber = "UPDATE durable_job SET state='ready' WHERE id=1"
    case stateBetween = "UPDATE durable_job SET state=4.5 WHERE id=1"
    case stub = "UPDATE durable_job SET state=11 WHERE id=1"
    case noRoute = "UPDATE durable_job SET route=9 WHERE id=1"
    case routeNoNumber = "UPDATE durable_job SET route=x'00' WHERE id=1"
    case noTime = "UPDATE durable_job SET state=3,rank='soon' WHERE id=1"
    case beyondTime = "UPDATE durable_job SET state=3,rank=9223372036854775807 WHERE id=1"
  }

  @Test(
    "C7 A row that nobody would ever come to is held and reported once, and the others run", arguments: Lost.allCases)
  func lostRow(lost: Lost) async throws {
    let ids = try await store.insert(.plain(), .plain())
    try await store.execute(lost.rawValue)
    #expect(try await store.recover(RecoveryRequest()).unreadable == [ids[0]])
    #expect(try await store.recover(RecoveryRequest()).unreadable == [])
    #expect(try await store.numbers("SELECT state FROM durable_job WHERE id=1") == [JobState.suspended.code])
    if let job = try await store.job(ids[0]) { #expect(job.reason?.contains("damaged") == true) }
    let batch = try await store.claim(.of(2))
    #expect(batch.jobs.map(\.token.job) == [ids[1]])
    #expect(batch.nextDue == nil)
    #expect(try await store.settle([batch.jobs[0].settled()], thenClaim: nil).replies[0].isAccepted)
    #expect(try await store.outstanding(.worker(queues: ["default"], kinds: ["work"])).isIdle)
    let jobs = try await store.jobs(JobQuery()).map(\.state)
    #expect(try await store.counts(where: .all).total == jobs.count)
  }

  @Test(
    "C7 A job that runs under a claim of nobody goes back",
    arguments: [
      "UPDATE durable_job SET claim='x'", "UPDATE durable_job SET claim=-9223372036854775807",
      "DELETE FROM durable_worker", "UPDATE durable_worker SET id=9223372036854775807",
      "UPDATE durable_worker SET lease_until=9223372036854775807", "UPDATE durable_worker SET lease_until='later'",
      "UPDATE durable_worker SET lease_until=-1e300",
    ])
  func stray(damage: String) async throws {
    try await store.insert(.plain())
    let lost = try await store.claim(.of(1)).jobs[0]
    try await store.execute(damage)
    let other = try SQLiteStore(path: folder.path())
    _ = try await other.recover(RecoveryRequest(worker: "other"))
    clock.advance(by: Defaults.doubtInterval)
    _ = try await other.recover(RecoveryRequest(worker: "other"))
    let again = try await other.claim(.of(1, worker: "other")).jobs
    try #require(again.map(\.token.job) == [lost.token.job])
    #expect(try await store.settle([lost.settled()], thenClaim: nil).replies[0].isAccepted == false)
    #expect(try await other.settle(again.map { $0.settled() }, thenClaim: nil).replies[0].isAccepted)
  }

  @Test func `C7 What is told of settings can be set, whatever a row says`() async throws {
    try await store.configure([.queue("q", isPaused: true), .queue("p", isPaused: true), .lane("l", width: 2)])
    try await store.execute("UPDATE durable_queue SET name='' WHERE name='q'")
    try await store.execute("UPDATE durable_lane_width SET name=''")
    let settings = try await store.settings()
    #expect(settings == [.queue("p", isPaused: true)])
    try await store.configure(settings)
  }

  @Test func `C7 What is left of a lost row is in no new job's way`() async throws {
    let terms = JobTerms(key: "k", tags: ["t"])
    try await store.insert(.plain(), .plain(terms: terms))
    try await store.execute("DELETE FROM durable_job WHERE id=2")
    let id = try await store.insert(.plain(terms: terms))[0]
    #expect(try await store.jobs(JobQuery(.key("k") && .tag("t"))).map(\.id) == [id])
  }

  @Test func `C7 A row that can't even be written stops one job, and is reported`() async throws {
    let ids = try await store.insert(.plain(), .plain(), .plain())
    try await store.execute(
      "CREATE TRIGGER no BEFORE UPDATE ON durable_job WHEN old.id=2 BEGIN SELECT raise(ABORT,'no'); END")
    let batch = try await store.claim(.of(3))
    #expect(batch.jobs.map(\.token.job) == [ids[0], ids[2]])
    #expect(try await store.recover(RecoveryRequest()).unreadable == [ids[1]])
    let next = try await store.claim(.of(1))
    #expect(next.jobs.isEmpty && !next.hasMore)
  }

  @Test func `C7 A result that can't be written stops its job, and the others of its worker come back`() async throws {
    let ids = try await store.insert(.plain(), .plain())
    try await store.execute(
      "CREATE TRIGGER no BEFORE INSERT ON durable_crash WHEN new.job=1 BEGIN SELECT raise(ABORT,'no'); END")
    _ = try await store.claim(.of(2))
    try await store.execute("UPDATE durable_worker SET lease_until=-1")
    let report = try await store.recover(RecoveryRequest())
    #expect((report.recovered, report.unreadable) == (2, [ids[0]]))
    #expect(try await store.counts(where: .all) == JobCounts([.suspended: 1, .ready: 1]))
    #expect(try await store.job(ids[0])?.reason?.contains("damaged") == true)
  }

  @Test func `What a constraint refuses is no store that is away`() async throws {
    try await store.execute(
      "CREATE TRIGGER no BEFORE INSERT ON durable_tag WHEN new.tag='x' BEGIN SELECT raise(ABORT,'no'); END")
    let error = await #expect(throws: JobError.self) { try await store.insert(.plain(terms: JobTerms(tags: ["x"]))) }
    #expect(error?.isPassing == false)
    #expect(try await store.insert(.plain()).count == 1)
  }

  @Test func `C7 A page that gives the row of a queue and kind twice ends no process`() async throws {
    try await store.insert(.plain("a"), .plain("b"), .plain("c"))
    let page = try await store.numbers("SELECT rootpage FROM sqlite_master WHERE name='durable_route'")[0]
    await store.close()
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.path()))
    // The places of the rows in the page are listed behind its head of 8 bytes.
    let list = UInt64(page - 1) * 4096 + 8
    try file.seek(toOffset: list)
    let first = try #require(try file.read(upToCount: 2))
    try file.write(contentsOf: first)
    try file.close()
    let damaged = try folder.store(clock: clock)
    #expect(try await damaged.numbers("SELECT id FROM durable_route NOT INDEXED") == [1, 1, 3])
    #expect(try await damaged.jobs(JobQuery()).map(\.kind) == ["a", "c"])
    clock.advance(by: .seconds(86_400 * 400))
    _ = try await damaged.recover(RecoveryRequest())
    await damaged.close()
  }

  @Test func `C57 The row of a running job is deleted: its result is refused, and the worker goes on`() async throws {
    let ids = try await store.insert(.plain(), .plain())
    let job = try await store.claim(.of(1)).jobs[0]
    try await store.execute("DELETE FROM durable_job WHERE id=1")
    try await store.execute("DELETE FROM durable_spec WHERE id=1")
    for result in [ClaimSettlement.Result.succeeded(output: Data("1".utf8)), .retry(.now, message: "no")] {
      let batch = try await store.settle([job.settled(result)], thenClaim: nil)
      #expect(batch.replies == [SettlementReply(isAccepted: false, state: nil)])
    }
    #expect(try await store.claim(.of(1)).jobs.map(\.token.job) == [ids[1]])
  }

  @Test func `C63 Error texts are cut, and only the last failures are kept`() async throws {
    let id = try await store.insert(.plain(terms: JobTerms(maxAttempts: 100)))[0]
    let long = String(repeating: "é", count: 100_000)
    for attempt in 1...25 {
      let job = try await store.claim(.of(1)).jobs[0]
      _ = try await store.settle([job.settled(.retry(.now, message: "\(attempt) \(long)"))], thenClaim: nil)
    }
    let failures = try #require(await store.job(id)).failures
    #expect(failures.map(\.attempt) == Array(16...25))
    #expect(failures.allSatisfy { $0.message.utf8.count <= Limits.messageBytes })
    #expect(try await store.numbers("SELECT count(*) FROM durable_failure") == [10])
  }
}
