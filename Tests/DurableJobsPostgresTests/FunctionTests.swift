#if Postgres
  import CPostgres
  import DurableJobs
  import DurableJobsPostgres
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import Testing

  /// What SQL alone can do to a store.
  @Suite struct FunctionTests {
    private let server: TestServer
    private let schema = TestServer.schema()
    private let store: PostgresStore

    init() async throws {
      server = try TestServer.shared.get()
      store = try await server.store(schema)
    }

    private func sql(_ text: String) throws -> [[String]] { try server.psql(text, schema: schema) }
    private func refusal(_ text: String) -> String {
      do { return "\(try sql(text))" } catch { return "\(error)" }
    }

    @Test("A job of a transaction that is rolled back was never there")
    func rollback() async throws {
      #expect(try sql("BEGIN; SELECT enqueue('default','work','{}'); ROLLBACK") == [])
      #expect(try await store.jobs(JobQuery()) == [])
      #expect(try sql("SELECT count(*) FROM tally") == [["0"]])
    }

    @Test("A job has what it was asked for with")
    func terms() async throws {
      let id = try sql(
        "SELECT enqueue('e\u{301}','work','{\"a\": 1}',priority=>7,max_attempts=>3)")[0][0]
      let job = try #require(try await store.jobs(JobQuery(detail: .all)).first)
      #expect("\(job.id)" == id && job.queue == "é" && job.kind == "work" && job.state == .ready)
      #expect(
        job.payload == Data("{\"a\": 1}".utf8) && job.priority == JobPriority(rawValue: 7) && job.maxAttempts == 3)
      _ = try sql("SELECT enqueue('default','work','{}',run_at=>now()+interval '1 hour')")
      _ = try sql("SELECT enqueue('default','work','{}',run_at=>now()-interval '1 hour')")
      _ = try sql("SELECT enqueue('default','work','{}',run_at=>'-infinity')")
      #expect(try await store.jobs(JobQuery()).map(\.state) == [.ready, .scheduled, .ready, .ready])
      try WholeStore.expect(of: server, schema: schema)
      #expect(refusal("SELECT enqueue('','work','{}')").contains("1 to 512 bytes"))
      #expect(refusal("SELECT enqueue('q',NULL,'{}')").contains("1 to 512 bytes"))
      #expect(refusal("SELECT enqueue('q','k',NULL)").contains("payload"))
      #expect(refusal("SELECT enqueue('q','k','{}',max_attempts=>0)").contains("max_attempts"))
      #expect(refusal("SELECT enqueue('q','k','{}',run_at=>'infinity')").contains("run_at"))
      #expect(refusal("SELECT enqueue('q','k','no JSON')").contains("json"))
    }

    @Test("What another program commits is told at once, and a worker that has slept does it")
    func wakes() async throws {
      let (told, continuation) = AsyncStream.makeStream(of: ForeignChange.self)
      let subscription = store.signals.listen {
        if case .changedElsewhere(let change) = $0 { continuation.yield(change) }
      }
      var changes = told.makeAsyncIterator()
      // It listens from now on.
      while await changes.next() != .all {}
      _ = try sql("BEGIN; SELECT enqueue('default','work','{}'); ROLLBACK")
      let shout = try sql("SELECT enqueue('default','shout','{}')")[0][0]
      #expect(await changes.next() == .work)
      _ = try sql("SELECT complete(\(shout))")
      #expect(await changes.next() == .results)
      withExtendedLifetime(subscription) {}

      let queue = JobQueue(store: store)
      let worker = JobWorker(queue)
      worker.register(Greet.self) { greet, _ in "hello, \(greet.name)" }
      worker.register(Shout.self) { _, _ in }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await worker.run() }
        try await queue.enqueue(Shout()).value
        // Of a kind that no job had before.
        let id = try sql("SELECT enqueue('default','greet','{\"name\": \"b\"}')")[0][0]
        #expect(try await queue.handle(try #require(JobID(id)), as: Greet.self).value == "hello, b")
        await worker.stop()
        try await group.waitForAll()
      }
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("A job is finished in another program's transaction, and what waits for its value goes on")
    func complete() async throws {
      let ids = try await store.insert(
        JobInsertion([
          .plain("greet"), .plain(),
          .plain(
            "work",
            terms: JobTerms(
              start: .after(.seconds(3600)), deadline: .end(by: .after(.seconds(7200))))),
        ])
      ).ids
      _ = try await store.change(.suspend(reason: "for a call"), where: .id(ids[1]), after: nil, limit: 1)
      #expect(try sql("BEGIN; SELECT complete(\(ids[0]),'\"x\"'); ROLLBACK") == [])
      #expect(try await store.counts(where: .all)[.succeeded] == 0)
      let value = Task { try await JobQueue(store: store).handle(ids[0], as: Greet.self).value }
      #expect(try sql("SELECT complete(\(ids[0]),'\"x\"')") == [["t"]])
      #expect(try await value.value == "x")
      #expect(try sql("SELECT complete(\(ids[0]))") == [["f"]])
      #expect(try sql("SELECT complete(\(ids[1])),complete(\(ids[2]))") == [["t", "t"]])
      #expect(try await store.counts(where: .all)[.succeeded] == 3)
      #expect(try sql("SELECT count(*) FROM deadline") == [["0"]])
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("A worker whose job was finished by another program is told so, and its result is refused")
    func completeRunning() async throws {
      _ = try await store.insert(JobInsertion([.plain()]))
      let claimed = try #require(try await store.claim(.of(1)).jobs.first)
      #expect(try sql("SELECT complete(\(claimed.token.job),'1')") == [["t"]])
      let reply = try await store.settle([claimed.settled(.succeeded(output: Data("2".utf8)))], thenClaim: nil)
      #expect(reply.replies.map(\.isAccepted) == [false])
      #expect(try await store.jobs(JobQuery(detail: .all)).first?.output == Data("1".utf8))
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("What others wait for is left to the queue's own, with the cause and a hint")
    func entangled() async throws {
      let parent = try await store.insert(JobInsertion([.plain()])).ids[0]
      let ids =
        try await store.insert(
          JobInsertion([
            .plain(after: [JobEdge(.job(parent), .succeeded)]), .plain(terms: JobTerms(unique: UniqueKey("k"))),
            .plain(terms: JobTerms(lane: JobLane("l"))),
          ])
        ).ids
      func isTold(_ id: JobID, _ cause: String) {
        let told = refusal("SELECT complete(\(id))")
        #expect(told.contains("job \(id) \(cause), ") && told.contains("durable complete \(id)"), "\(told)")
      }
      isTold(parent, "is waited for")
      for (id, cause) in zip(ids, ["waits for others", "has a unique key", "has a lane"]) { isTold(id, cause) }
      let batch = BatchMembership.new(name: "b", whenDone: .plain())
      isTold(try await store.insert(JobInsertion([.plain()], batch: batch)).ids[0], "has a batch")
      let waiting = try await store.insert(JobInsertion([.plain(after: [JobEdge(.key("none"))])])).ids[0]
      for id in [ids[0], waiting] {
        _ = try await store.change(.suspend(reason: "for a while"), where: .id(id), after: nil, limit: 1)
        isTold(id, "waits for others")
      }
      try WholeStore.expect(of: server, schema: schema)
      #expect(refusal("SELECT complete(999)").contains("there is no job 999"))
      _ = try await store.change(.cancel(reason: nil), where: .id(ids[1]), after: nil, limit: 1)
      #expect(refusal("SELECT complete(\(ids[1]))").contains("has ended already"))
    }

    @Test("However many programs have jobs in open transactions, none waits for another, nor do two that take turns")
    func open() async throws {
      for kind in ["a", "b"] { _ = try sql("SELECT enqueue('default','\(kind)','{}')") }
      // Of so many, two have processes whose numbers leave the same rest.
      let programs = (0..<66).map { _ in PQconnectdb(server.string()) }
      defer { for program in programs { PQfinish(program) } }
      func run(_ program: OpaquePointer?, _ text: String) -> String {
        let result = PQexec(program, text)
        defer { PQclear(result) }
        return String(cString: PQresultErrorMessage(result))
      }
      for program in programs {
        let words = run(program, "SET search_path=\"\(schema)\"; SET lock_timeout='1s'; BEGIN")
        #expect(words == "")
      }
      for (first, second) in [("a", "b"), ("b", "a")] {
        for (number, program) in programs.enumerated() {
          let kind = number.isMultiple(of: 2) ? first : second
          #expect(run(program, "SELECT complete(enqueue('default','\(kind)','{}'))") == "")
        }
      }
      for program in programs { #expect(run(program, "COMMIT") == "") }
      #expect(try await store.counts(where: .all) == JobCounts([.ready: 2, .succeeded: 132]))
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("A store of the version before is brought up by who opens it, as far as it may be")
    func older() async throws {
      await store.close()
      func goBack() throws {
        for text in [
          "DROP FUNCTION enqueue", "DROP FUNCTION complete", "DROP TABLE origin", "ALTER TABLE meta DROP identity",
          "ALTER TABLE queue DROP running, DROP rate, DROP period, DROP burst, DROP tat",
          "ALTER TABLE failure DROP code", "ALTER TABLE batch DROP empty_at",
          "ALTER TABLE lane_width DROP rate, DROP period, DROP burst, DROP tat",
          "ALTER TABLE worker DROP machine, DROP process_start",
          "UPDATE meta SET version=1",
        ] { _ = try sql(text) }
      }
      try goBack()
      let error = await #expect(throws: JobError.self) { try await server.store(schema) { $0.makesTables = false } }
      #expect(error?.code == .unusableFile && error?.message.contains("durable migrate") == true)
      try server.psql("DO $$ BEGIN CREATE ROLE guest LOGIN; EXCEPTION WHEN OTHERS THEN END $$")
      for text in ["USAGE ON SCHEMA \(schema)", "ALL ON ALL TABLES IN SCHEMA \(schema)"] {
        _ = try sql("GRANT \(text) TO guest")
      }
      var configuration = PostgresStore.Configuration()
      configuration.schema = schema
      let asGuest = await #expect(throws: JobError.self) {
        try await PostgresStore(server.string(user: "guest"), configuration: configuration)
      }
      #expect(asGuest?.message.contains("durable migrate") == true, "\(asGuest.map { "\($0)" } ?? "")")
      let store = try await server.store(schema)
      #expect(store.versionBefore == 1)
      #expect(try sql("SELECT enqueue('default','work','{}')") == [["1"]])
      #expect(try await store.jobs(JobQuery()).count == 1)
      let rate = StoreSetting.laneRate("l", JobRate(1, per: .seconds(60)))
      try await store.configure([rate])
      #expect(try await store.settings() == [rate])
      #expect(try sql("SELECT version FROM meta") == [["\(PostgresStore.version)"]])
    }
  }

  private struct Shout: JobPayload {
    static let kind = "shout"
  }

  private struct Greet: JobPayload {
    static let kind = "greet"
    typealias Output = String
    var name: String
  }
#endif
