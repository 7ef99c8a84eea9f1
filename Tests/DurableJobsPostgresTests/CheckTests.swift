#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct CheckTests {
    private let server: TestServer
    private let schema = TestServer.schema()
    private let store: PostgresStore

    /// One of all that is kept beside jobs.
    init() async throws {
      server = try TestServer.shared.get()
      store = try await server.store(schema)
      var terms = JobTerms()
      (terms.unique, terms.key, terms.tags) = (UniqueKey("unique"), "key", ["tag", "other"])
      terms.deadline = .end(by: .after(.seconds(3600)))
      let first = try await store.insert(JobInsertion([.plain(terms: terms)])).ids[0]
      let batch = BatchMembership.new(name: "b", whenDone: .plain("done"))
      _ = try await store.insert(
        JobInsertion([.plain(after: [JobEdge(.job(first))]), .plain(after: [JobEdge(.key("none"))])], batch: batch))
      let inLane = (0..<2).map { _ in NewJob.plain("in lane", terms: JobTerms(lane: JobLane("lane"))) }
      _ = try await store.insert(JobInsertion(inLane))
    }

    private func sql(_ text: String) throws { try server.psql(text, schema: schema) }

    @Test(
      "What does not fit the jobs is found, and put right without touching them",
      arguments: [
        ("DELETE FROM wait", .waits), ("UPDATE wait SET n=7", .waits), ("UPDATE job SET state=4 WHERE state=2", .waits),
        ("DELETE FROM lane", .lanes), ("UPDATE lane SET seat=1", .lanes), ("UPDATE lane SET name='other'", .lanes),
        ("UPDATE batch SET live=1", .batches), ("UPDATE batch SET jobs=77", .batches),
        ("DELETE FROM batch_job", .batches), ("UPDATE batch_job SET batch=77", .batches),
        ("UPDATE deadline SET at=at+1000000", .deadlines), ("DELETE FROM job_key", .names),
        ("DELETE FROM tag WHERE tag<>'tag'", .names),
        ("DELETE FROM deadline", .deadlines), ("DELETE FROM uniq", .uniqueKeys), ("UPDATE tally SET jobs=3", .counts),
        ("DELETE FROM tally", .counts), ("INSERT INTO note VALUES(99,'of nobody',NULL)", .remains),
        ("INSERT INTO edge VALUES(1,99,1,-1)", .remains),
      ] as [(String, StoreFinding.Subject)])
    func contradiction(damage: String, subject: StoreFinding.Subject) async throws {
      #expect(try await store.check() == [])
      let before = try await store.jobs(JobQuery(detail: .all))
      let counts = try await store.counts(where: .all)
      try sql(damage)
      let found = try await store.check()
      #expect(found.map(\.subject).contains(subject), "\(found)")
      let mended = try await store.check(mending: true)
      #expect(mended.map(\.description) == found.map(\.description) && mended.allSatisfy(\.isMended))
      #expect(try await store.check() == [])
      #expect(try await store.jobs(JobQuery(detail: .all)) == before)
      #expect(try await store.batches(.newest(1)).map(\.unfinished) == [2])
      #expect(try await store.counts(where: .all) == counts)
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test(
      "A job of which a part is lost is suspended, and not told as put right",
      arguments: [
        ("DELETE FROM spec WHERE id=1", [1], "what was asked for is missing"),
        ("DELETE FROM edge; DELETE FROM edge_key", [2, 3], "what it waits for is missing"),
        ("DELETE FROM edge; DELETE FROM edge_key; DELETE FROM wait", [2, 3], "what it waits for is missing"),
        ("DELETE FROM job WHERE id=1", [2], "what it waits for is missing"),
      ])
    func lostPart(damage: String, jobs: [Int64], reason: String) async throws {
      try sql(damage)
      let found = try await store.check(mending: true)
      #expect(found.filter { $0.subject == .damaged }.flatMap(\.details).sorted() == jobs.map { "\($0)" })
      #expect(found.allSatisfy { $0.isMended == ($0.subject != .damaged) }, "\(found)")
      let held = try await store.jobs(JobQuery(.state(.suspended)))
      #expect(held.map(\.id.rawValue) == jobs)
      #expect(held.allSatisfy { $0.reason?.contains(reason) == true })
      // Without what it does it is found as long as it is there.
      #expect(try await store.check(mending: true).map(\.isMended) == (jobs == [1] ? [false] : []))
    }

    @Test("A batch of which all jobs have ended is done once it is mended, and what follows it is stored")
    func batch() async throws {
      let filter = !JobFilter.kind("in lane")
      try sql("UPDATE batch SET live=5")
      _ = try await store.change(.cancel(reason: nil), where: filter, after: nil, limit: 100)
      #expect(try await store.jobs(JobQuery(.kind("done"))).isEmpty)
      _ = try await store.check(mending: true)
      #expect(try await store.jobs(JobQuery(.kind("done"))).count == 1)
      #expect(try await store.check() == [])
    }

    @Test("A batch whose stored completion no store accepts is done without it")
    func completion() async throws {
      let insertion = JobInsertion([.plain("alone")], batch: .new(name: "other", whenDone: .plain("done")))
      _ = try await store.insert(insertion)
      let follower = NewJob.plain("done", after: [JobEdge(.job(JobID(rawValue: 777)))])
      let text = String(decoding: try JSONEncoder().encode(follower), as: UTF8.self)
      try sql("UPDATE batch SET completion='\(text)' WHERE name='other'")
      let job = try #require(try await store.claim(.of(1, kinds: ["alone"])).jobs.first)
      #expect(try await store.settle([job.settled()], thenClaim: nil).replies.first?.isAccepted == true)
      #expect(try await store.batches(.name("other")).map(\.unfinished) == [0])
      #expect(try await store.jobs(JobQuery(.kind("done"))).isEmpty)
    }

    @Test("A job that waited again while it ran, and ended, waits for nothing any more")
    func waitedAgain() async throws {
      let parent = NewJob(queue: "default", kind: "again", payload: Data("{}".utf8))
      let id = try await store.insert(JobInsertion([parent])).ids[0]
      var child = NewJob(queue: "default", kind: "waits again", payload: Data("{}".utf8))
      child.edges = [JobEdge(.job(id), .ended)]
      for isSuccess in [true, false] {
        _ = try await store.change(.cancel(reason: nil), where: .id(id), after: nil, limit: 1)
        let waits = try await store.insert(JobInsertion([child])).ids[0]
        let claimed = try #require(try await store.claim(.of(1, kinds: ["waits again"])).jobs.first)
        _ = try await store.change(.retry, where: .id(id), after: nil, limit: 1)
        let settled = claimed.settled(isSuccess ? .succeeded(output: nil) : .failed(message: "no"))
        #expect(try await store.settle([settled], thenClaim: nil).replies.first?.isAccepted == true)
        #expect(try await store.check() == [], "job \(waits)")
      }
      // As it was left by earlier versions.
      try sql("INSERT INTO wait SELECT max(id),1 FROM job WHERE state IN(7,8)")
      #expect(try await store.check(mending: true).map(\.subject) == [.waits])
      #expect(try await store.check() == [])
    }

    @Test("A job that waits again because of what is stored while its end waits for that waits for nothing any more")
    func waitedMeanwhile() async throws {
      let id = try await store.insert(JobInsertion([.plain("again")])).ids[0]
      _ = try await store.change(.cancel(reason: nil), where: .id(id), after: nil, limit: 1)
      _ = try await store.insert(JobInsertion([.plain("waits again", after: [JobEdge(.job(id), .ended)])]))
      let claimed = try #require(try await store.claim(.of(1, kinds: ["waits again"])).jobs.first)
      let other = try await server.store(schema)
      let (locked, release) = (Gate(), DispatchSemaphore(value: 0))
      async let holder: Void = other.engine.run { session, deadline in
        try session.write(until: deadline) { transaction in
          _ = try transaction.change(.retry, [id], limit: 1)
          locked.open()
          release.wait()
        }
      }
      await locked.pass()
      let settling = Task { try await store.settle([claimed.settled()], thenClaim: nil) }
      let ending = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type='Lock' AND query LIKE '%\(schema)%'"
      try await until { try !server.psql(ending).isEmpty }
      release.signal()
      try await holder
      #expect(try await settling.value.replies.first?.isAccepted == true)
      #expect(try await store.check() == [])
    }

    @Test(
      "A job that runs for no worker is found, and given back by mending, or by the next sweep",
      arguments: [true, false])
    func stray(mends: Bool) async throws {
      let ids = try await store.claim(.of(1)).jobs.map(\.token.job)
      #expect(ids.count == 1)
      try sql("DELETE FROM worker")
      #expect(try await store.check().map(\.subject) == [.remains])
      if mends {
        #expect(try await store.check(mending: true).allSatisfy(\.isMended))
      } else {
        _ = try await store.recover(RecoveryRequest())
      }
      #expect(try await store.check() == [])
      #expect(try await store.jobs(JobQuery(.ids(ids))).map(\.state) == [.ready])
      #expect(try await store.claim(.of(1)).jobs.map(\.token.job) == ids)
    }

    @Test("A lane in which nobody has a seat goes on once it is mended")
    func lane() async throws {
      try sql(
        "DELETE FROM lane WHERE seat=1; UPDATE job SET state=9,links=links&(-4099) WHERE id IN(SELECT min(id) FROM spec WHERE lane='lane')"
      )
      _ = try await store.check(mending: true)
      #expect(try await store.check() == [])
      #expect(try await store.claim(.of(5, kinds: ["in lane"])).jobs.count == 1)
    }
  }
#endif
