import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobsSQLite

/// What looks after a file: it is checked, mended, made smaller and salvaged.
@Suite struct CareTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  // MARK: Checking

  /// A graph with something of everything. Names are not as they are stored, and have a NUL, where SQLite's JSON ends.
  private func filledStore() async throws -> SQLiteStore {
    let store = try folder.store()
    let lane = JobTerms(lane: "l\u{0}u\u{301}")
    let jobs: [NewJob] = [
      .plain(), .plain(terms: lane), .plain(terms: lane), .unique("u\u{301}\u{0}u"),
      .plain(terms: JobTerms(key: "k\u{301}", tags: ["t", "u\u{301}\u{0}u"])),
      NewJob(queue: "default", kind: "work", payload: Data(), edges: [JobEdge(.sibling(0)), JobEdge(.key("none"))]),
      .plain(terms: JobTerms(deadline: .end(by: .after(.seconds(3600))))),
    ]
    _ = try await store.insert(JobInsertion(jobs, batch: .new(name: "b", whenDone: .plain("done"))))
    return store
  }

  @Test(
    "What contradicts the jobs is found, and put right where that is asked for",
    arguments: [
      ("UPDATE durable_wait SET n=7", .waits), ("DELETE FROM durable_wait", .waits),
      ("UPDATE durable_job SET state=4 WHERE id=6", .waits), ("UPDATE durable_job SET state=2 WHERE id=1", .waits),
      ("DELETE FROM durable_lane", .lanes), ("UPDATE durable_lane SET seat=1", .lanes),
      ("UPDATE durable_lane SET name='other'", .lanes),
      ("UPDATE durable_lane SET seat=9223372036854775807", .lanes),
      ("UPDATE durable_batch SET live=1", .batches), ("UPDATE durable_batch SET jobs=77", .batches),
      ("DELETE FROM durable_batch_job WHERE job=2", .batches), ("DELETE FROM durable_batch_job", .batches),
      ("UPDATE durable_batch_job SET batch=77", .batches),
      ("DELETE FROM durable_job_key", .names), ("UPDATE durable_job_key SET key='other'", .names),
      ("DELETE FROM durable_tag WHERE tag<>'t'", .names),
      ("DELETE FROM durable_deadline", .deadlines), ("UPDATE durable_deadline SET at=at+1000000", .deadlines),
      ("DELETE FROM durable_uniq", .uniqueKeys), ("UPDATE durable_uniq SET key='other'", .uniqueKeys),
      ("UPDATE durable_route SET jobs=3", .counts),
      ("INSERT INTO durable_note VALUES(99,'of nobody',NULL)", .remains),
      ("INSERT INTO durable_edge VALUES(1,99,1,-1)", .remains),
    ] as [(String, StoreFinding.Subject)])
  func contradiction(sql: String, subject: StoreFinding.Subject) async throws {
    let store = try await filledStore()
    #expect(try await store.check(mending: true) == [])
    let before = try await store.jobs(JobQuery(detail: .all))
    try await store.execute(sql)
    let found = try await store.check()
    #expect(found.map(\.subject).contains(subject), "\(found)")
    let mended = try await store.check(mending: true)
    #expect(mended.map(\.description) == found.map(\.description) && mended.allSatisfy(\.isMended))
    #expect(try await store.check() == [])
    #expect(try await store.jobs(JobQuery(detail: .all)) == before)
    #expect(try await store.numbers("SELECT count(*) FROM durable_lane") == [2])
    let batch = try #require(try await store.batches(.newest(1)).first)
    #expect(batch.unfinished == 7 && !batch.isDone)
  }

  @Test(
    "A job of which a part is lost is suspended, and not told as put right",
    arguments: [
      ("DELETE FROM durable_spec WHERE id=1", 1, "what was asked for is missing"),
      ("DELETE FROM durable_edge; DELETE FROM durable_edge_key", 6, "what it waits for is missing"),
      (
        "DELETE FROM durable_edge; DELETE FROM durable_edge_key; DELETE FROM durable_wait", 6,
        "what it waits for is missing"
      ),
      ("DELETE FROM durable_job WHERE id=1", 6, "what it waits for is missing"),
    ])
  func lostPart(sql: String, job: Int64, reason: String) async throws {
    let store = try await filledStore()
    for sql in sql.split(separator: ";") { try await store.execute(String(sql)) }
    let found = try await store.check(mending: true)
    #expect(found.filter { $0.subject == .damaged }.map(\.details) == [["\(job)"]])
    #expect(found.allSatisfy { $0.isMended == ($0.subject != .damaged) }, "\(found)")
    let held = try await store.jobs(JobQuery(.state(.suspended)))
    #expect(held.map(\.id.rawValue) == [job])
    #expect(held.first?.reason?.contains(reason) == true)
    // Without what it does it is found as long as it is there.
    #expect(try await store.check(mending: true).map(\.isMended) == (job == 1 ? [false] : []))
  }

  @Test func `A store whose version is lost says that it is damaged`() async throws {
    let store = try await filledStore()
    try await store.execute("DELETE FROM durable_meta")
    await store.close()
    let error = #expect(throws: JobError.self) { try SQLiteStore(path: folder.path()) }
    #expect(error?.code == .damaged)
    #expect(try await SQLiteStore.repair(from: folder.path(), to: folder.path("new.sqlite")).jobs == 7)
  }

  @Test func `A batch of which all jobs have ended is done once it is mended, and what follows it is stored`()
    async throws
  {
    let store = try await filledStore()
    _ = try await store.change(.cancel(reason: nil), where: !JobFilter.id(JobID(rawValue: 1)), after: nil, limit: 100)
    try await store.execute("UPDATE durable_batch SET live=5")
    _ = try await store.change(.cancel(reason: nil), where: .id(JobID(rawValue: 1)), after: nil, limit: 1)
    #expect(try await store.jobs(JobQuery(.kind("done"))).isEmpty)
    _ = try await store.check(mending: true)
    #expect(try await store.jobs(JobQuery(.kind("done"))).count == 1)
    #expect(try await store.check() == [])
  }

  @Test func `A job that waited again while it ran, and ended, waits for nothing any more`() async throws {
    let store = try folder.store()
    let parent = try await store.insert(.plain("other"))[0]
    var child = NewJob.plain()
    child.edges = [JobEdge(.job(parent), .ended)]
    for result in [ClaimSettlement.Result.succeeded(output: nil), .failed(message: "no")] {
      _ = try await store.change(.cancel(reason: nil), where: .id(parent), after: nil, limit: 1)
      try await store.insert(child)
      let claimed = try #require(try await store.claim(.of(1)).jobs.first)
      _ = try await store.change(.retry, where: .id(parent), after: nil, limit: 1)
      #expect(try await store.numbers("SELECT count(*) FROM durable_wait") == [1])
      #expect(try await store.settle([claimed.settled(result)], thenClaim: nil).replies.first?.isAccepted == true)
      #expect(try await store.numbers("SELECT count(*) FROM durable_wait") == [0])
    }
    #expect(try await store.check() == [])
    // As it was left by earlier versions.
    try await store.execute("INSERT INTO durable_wait SELECT id,1 FROM durable_job WHERE state IN(7,8)")
    #expect(try await store.check(mending: true).map(\.subject) == [.waits])
    #expect(try await store.check() == [])
    #expect(try await store.numbers("SELECT count(*) FROM durable_wait") == [0])
  }

  // MARK: Room

  @Test func `What was deleted gives its room back when that is asked for, and what is left is whole`() async throws {
    let store = try folder.store()
    let large = (0..<500).map { _ in NewJob.plain(payload: String(repeating: "x", count: 4000)) }
    let ids = try await store.insert(JobInsertion(large)).ids
    _ = try await store.change(.remove, where: .all, after: ids[9], limit: 1000)
    #expect(try await store.compact() > 1_000_000)
    #expect(try await store.check() == [])
    #expect(try await store.jobs(JobQuery(detail: .payload)).map(\.payload) == large[..<10].map(\.payload))
    #expect(try await store.insert(.plain()) == [JobID(rawValue: 501)], "no id is used twice")
    #expect(try await store.compact() < 100_000)
  }

  @Test func `A file with an app's tables, whose rows would get other numbers, is not made smaller`() async throws {
    let store = try folder.store()
    try await store.execute("CREATE TABLE note(text)")
    let error = await #expect(throws: JobError.self) { try await store.compact() }
    #expect(error?.code == .wrongStore)
  }

  @Test func `What has ended is deleted by state, kind and age, but for what somebody needs`() async throws {
    let clock = ManualClock()
    let store = try folder.store(clock: clock)
    let old = try await store.insert(.plain(), .plain("other"), .plain(), .plain())
    for id in old[..<2] { _ = try await store.change(.complete(output: nil), where: .id(id), after: nil, limit: 1) }
    _ = try await store.change(.cancel(reason: nil), where: .id(old[2]), after: nil, limit: 1)
    clock.advance(by: .seconds(60))
    let new = try await store.insert(JobInsertion((0..<1200).map { _ in .plain() })).ids
    let child = NewJob(
      queue: "default", kind: "work", payload: Data(), edges: [JobEdge(.job(new[0]), .ended), JobEdge(.job(old[3]))])
    _ = try await store.insert(child)
    _ = try await store.change(.complete(output: nil), where: .ids(new), after: nil, limit: 2000)
    #expect(try await store.prune(where: .state(.cancelled)) == 1)
    #expect(try await store.prune(where: .kind("work"), endedFor: .seconds(30)) == 1)
    #expect(try await store.prune(endedFor: .seconds(30)) == 1)
    #expect(try await store.prune() == 1199)
    #expect(try await store.jobs(JobQuery()).map(\.id) == [old[3], new[0], JobID(rawValue: new.last!.rawValue + 1)])
    #expect(try await store.check() == [])
  }

  // MARK: Salvaging

  @Test func `A whole file is salvaged whole, and what ran in it goes back`() async throws {
    let store = try await filledStore()
    let claimed = try await store.claim(.of(2)).jobs
    let before = try await store.jobs(JobQuery(detail: .all))
    let limits = StoreSetting.limits(
      queue: "default", JobLimits(running: 2, rate: JobRate(1000, per: .seconds(1), burst: 9)))
    try await store.configure([limits])
    await store.close()
    let salvage = try await SQLiteStore.repair(from: folder.path(), to: folder.path("new.sqlite"))
    #expect(salvage == StoreSalvage(jobs: 7))
    let new = try folder.store("new.sqlite")
    #expect(try await new.settings() == [limits])
    _ = try await new.recover(RecoveryRequest())
    let after = try await new.jobs(JobQuery(detail: .all))
    #expect(after.map(\.payload) == before.map(\.payload))
    #expect(after.filter { $0.state == .running }.isEmpty)
    #expect(try await new.insert(JobInsertion([.unique("\u{fa}\u{0}u")])).jobs.map(\.disposition) == [.kept])
    let again = try await new.claim(.of(2)).jobs
    #expect(again.map(\.token.job) == claimed.map(\.token.job))
    #expect(Set(again.map(\.token.claim)).isDisjoint(with: claimed.map(\.token.claim)))
  }

  @Test
  func `Of a file with pages that can't be read, the other jobs run in a new one, and the old one stays as it is`()
    async throws
  {
    let store = try folder.store()
    _ = try await store.insert(JobInsertion((0..<2000).map { .plain(payload: "{\"n\":\($0)}") }))
    let pages = try await store.numbers("SELECT pageno FROM dbstat WHERE name='durable_spec' AND pagetype='leaf'")
    await store.close()
    try overwrite(pages[(pages.count / 2)..<(pages.count / 2 + 2)])
    let damaged = try Data(contentsOf: URL(fileURLWithPath: folder.path()))
    let salvage = try await SQLiteStore.repair(from: folder.path(), to: folder.path("new.sqlite"))
    #expect(salvage.cutTables == ["durable_spec"])
    #expect(salvage.damaged.count > 20)
    #expect(salvage.jobs + salvage.damaged.count == 2000)
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path())) == damaged)
    let new = try folder.store("new.sqlite")
    var ran = 0
    while true {
      let batch = try await new.claim(.of(1000))
      ran += batch.jobs.count
      _ = try await new.settle(batch.jobs.map { $0.settled() }, thenClaim: nil)
      if batch.jobs.isEmpty, !batch.hasMore { break }
    }
    #expect(ran == salvage.jobs)
    #expect(try await new.counts(where: .all) == JobCounts([.succeeded: ran, .suspended: salvage.damaged.count]))
  }

  @Test(arguments: [false, true])
  func `Jobs whose queue and kind can't be read are found by the names in an index, or else under lost ones`(
    isIndexGone: Bool
  ) async throws {
    let store = try folder.store()
    let job = NewJob(queue: "photos", kind: "upload", payload: Data("{}".utf8))
    let ids = try await store.insert(JobInsertion([job, job])).ids
    let isGone = isIndexGone ? "tbl_name" : "name"
    let pages = try await store.numbers(
      "SELECT rootpage FROM sqlite_master WHERE \(isGone) IN('durable_queue','durable_route')")
    await store.close()
    try overwrite(pages)
    let salvage = try await SQLiteStore.repair(from: folder.path(), to: folder.path("new.sqlite"))
    #expect(salvage.cutTables == ["durable_queue", "durable_route"])
    let new = try folder.store("new.sqlite")
    let found = try await new.jobs(JobQuery(detail: .all))
    #expect(found.map(\.id) == ids && found.map(\.payload) == [job.payload, job.payload])
    if isIndexGone {
      #expect((salvage.jobs, salvage.damaged) == (0, ids))
      #expect(found.map(\.queue) == ["lost", "lost"] && found.allSatisfy { $0.kind.hasPrefix("lost-") })
      #expect(found.map(\.state) == [.suspended, .suspended])
    } else {
      #expect((salvage.jobs, salvage.damaged) == (2, []))
      #expect(found.map(\.queue) == ["photos", "photos"] && found.map(\.kind) == ["upload", "upload"])
      // Whether it was paused is lost.
      #expect(salvage.paused == ["photos"])
      #expect(try await new.settings() == [.queue("photos", isPaused: true)])
    }
  }

  @Test(arguments: [false, true])
  func `What a job waits for is read from an index, and a job that waits for what is lost is suspended`(
    isIndexGone: Bool
  ) async throws {
    let store = try await filledStore()
    let pages = try await store.numbers(
      "SELECT rootpage FROM sqlite_master WHERE \(isIndexGone ? "tbl_name" : "name")='durable_edge'")
    await store.close()
    try overwrite(pages)
    let salvage = try await SQLiteStore.repair(from: folder.path(), to: folder.path("new.sqlite"))
    #expect(salvage.damaged == (isIndexGone ? [JobID(rawValue: 6)] : []) && salvage.jobs == 7 - salvage.damaged.count)
    let new = try folder.store("new.sqlite")
    let child = try await new.jobs(JobQuery(.id(JobID(rawValue: 6)))).first
    #expect(child?.state == (isIndexGone ? .suspended : .blocked))
    #expect(try await new.numbers("SELECT parent FROM durable_edge") == (isIndexGone ? [] : [1]))
    #expect(try await new.check() == [])
  }

  @Test(arguments: ["durable_batch_job", "durable_job"])
  func `Nothing follows a batch of which jobs are lost, and one whose jobs are found by their options goes on`(
    table: String
  ) async throws {
    let store = try await filledStore()
    let pages = try await store.numbers("SELECT rootpage FROM sqlite_master WHERE name='\(table)'")
    await store.close()
    try overwrite(pages)
    let salvage = try await SQLiteStore.repair(from: folder.path(), to: folder.path("new.sqlite"))
    let areLost = table == "durable_job"
    #expect(salvage.opened.map(\.rawValue) == (areLost ? [1] : []))
    let new = try folder.store("new.sqlite")
    let batch = try #require(try await new.batches(.newest(1)).first)
    #expect(batch.unfinished == (areLost ? 0 : 7) && batch.isOpen == areLost && !batch.isDone && batch.whenDone == nil)
  }

  @Test func `A file that lost its end is read up to there, and of one without anything no other salvage is advised`()
    async throws
  {
    let store = try folder.store()
    _ = try await store.insert(JobInsertion((0..<2000).map { .plain(payload: "{\"n\":\($0)}") }))
    await store.close()
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.path()))
    try file.truncate(atOffset: try file.seekToEnd() - 4096)
    #expect(try await SQLiteStore.repair(from: folder.path(), to: folder.path("new.sqlite")).jobs > 1900)
    try file.truncate(atOffset: 4096)
    try file.close()
    let error = await #expect(throws: JobError.self) {
      try await SQLiteStore.repair(from: folder.path(), to: folder.path("other.sqlite"))
    }
    #expect(error?.code == .damaged && error?.message.contains("durable repair") == false, "\(error as Any)")
    #expect(!FileManager.default.fileExists(atPath: folder.path("other.sqlite")))
  }

  @Test func `Jobs whose own rows can't be read are told as lost, and none of them as whole`() async throws {
    let store = try folder.store()
    let ids = try await store.insert(.plain(), .plain(), .plain())
    let page = try await store.numbers("SELECT rootpage FROM sqlite_master WHERE name='durable_job'")
    await store.close()
    try overwrite(page)
    let salvage = try await SQLiteStore.repair(from: folder.path(), to: folder.path("new.sqlite"))
    #expect((salvage.jobs, salvage.damaged, salvage.lost) == (0, [], ids))
  }

  /// Pages that are what a broken disk may give.
  private func overwrite(_ pages: some Sequence<Int64>) throws {
    let size = 4096
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.path()))
    for page in pages {
      try file.seek(toOffset: UInt64(page - 1) * UInt64(size))
      try file.write(contentsOf: Data(repeating: 0xEE, count: size))
    }
    try file.close()
  }

  @Test func `Nothing is salvaged into a file that is there, nor out of what is no store`() async throws {
    let store = try await filledStore()
    await store.close()
    try Data("no store".utf8).write(to: URL(fileURLWithPath: folder.path("other")))
    for (from, to, code) in [
      (folder.path(), folder.path("other"), JobError.Code.unusableFile),
      (folder.path("none"), folder.path("new"), .unusableFile), (folder.path("other"), folder.path("new"), .notAStore),
    ] {
      let error = await #expect(throws: JobError.self) { try await SQLiteStore.repair(from: from, to: to) }
      #expect(error?.code == code)
      #expect(error?.message.contains(to == folder.path("other") ? to : from) == true)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path("new")))
    #expect(try String(contentsOfFile: folder.path("other"), encoding: .utf8) == "no store")
  }
}
