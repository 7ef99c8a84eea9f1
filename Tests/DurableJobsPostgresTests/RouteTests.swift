#if Postgres
  import DurableJobs
  import DurableJobsPostgres
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import Testing

  @Suite struct RouteTests {
    private func jobs(_ names: String...) -> JobInsertion {
      JobInsertion(names.map { .plain(terms: JobTerms(requires: [JobConstraint(rawValue: $0)])) })
    }

    @Test("What jobs required goes from the store with the last of them, and comes again with the next")
    func emptyRoutes() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let (one, other) = (try await server.store(schema), try await server.store(schema))
      func routes() throws -> Int { try server.psql("SELECT 1 FROM route WHERE requires<>''", schema: schema).count }
      let left = try await one.insert(jobs("kept")).ids
      _ = try await one.insert(jobs("a", "b"))
      for number in 0..<20 { _ = try await other.insert(jobs("c\(number)", "a")) }
      #expect(try routes() == 23)
      _ = try await one.changeAll(.remove, where: !.ids(left))
      #expect(try routes() == 1)
      #expect(try server.psql("SELECT DISTINCT route FROM tally", schema: schema).count == 1)
      // This one has not looked since.
      let again = try await other.insert(jobs("a", "c3")).ids
      var request = ClaimRequest.of(9)
      request.satisfied = ["a", "c3"]
      #expect(try await one.claim(request).jobs.map(\.token.job) == again)
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test(
      "Who loses the connection while taking away what no job requires any more does it on another", arguments: [0, 1])
    func lost(pruned: Int) async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let clock = ManualClock()
      let store = try await server.store(schema, clock: clock)
      _ = try await store.insert(jobs("a", "b"))
      // The first who removes a route is cut off: a sequence's number is not given back.
      try server.psql(
        """
        CREATE SEQUENCE cuts;
        CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF nextval('"\(schema)".cuts')=1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
          RETURN OLD;
        END $$;
        CREATE TRIGGER cut BEFORE DELETE ON route FOR EACH ROW EXECUTE FUNCTION cut();
        """, schema: schema)
      if pruned == 1 {
        _ = try await store.changeAll(.cancel(reason: nil), where: .all)
        clock.advance(by: .seconds(30 * 86400))
        _ = try await store.recover(RecoveryRequest())
      } else {
        _ = try await store.changeAll(.remove, where: .all)
      }
      #expect(try server.psql("SELECT last_value>1 FROM cuts", schema: schema) == [["t"]])
      #expect(try server.psql("SELECT 1 FROM route WHERE requires<>''", schema: schema).isEmpty)
      #expect(try server.psql("SELECT 1 FROM tally", schema: schema).isEmpty)
      #expect(try await store.counts(where: .all).total == 0)
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("Who works on a store that is dropped, and made anew by others, is refused there", arguments: [1, 2])
    func anew(count: Int) async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let old = try await server.store(schema)
      _ = try await old.insert(JobInsertion([.plain("old")]))
      try server.psql("DROP SCHEMA \"\(schema)\" CASCADE")
      let new = try await server.store(schema)
      let id = try await new.insert(JobInsertion([.plain("new")])).ids[0]
      // Its numbers are other jobs' by now.
      let read = await #expect(throws: JobError.self) { _ = try await old.jobs(JobQuery(.id(id))) }
      #expect(read?.code == .notAStore, "\(read as Any)")
      let jobs = JobInsertion((0..<count).map { _ in .plain("old") })
      let error = await #expect(throws: JobError.self) { try await old.insert(jobs) }
      #expect(error?.code == .notAStore, "\(error as Any)")
      #expect(try await new.jobs(JobQuery()).map(\.id) == [id])
      #expect(try await new.insert(JobInsertion([.plain("old")])).ids.count == 1)
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("Who adds jobs while others take the last away loses none")
    func race() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let stores = try await [server.store(schema), server.store(schema), server.store(schema)]
      let kept = try await withThrowingTaskGroup(of: [JobID].self) { group in
        for store in stores {
          group.addTask {
            var kept: [JobID] = []
            for round in 0..<40 {
              let ids = try await store.insert(jobs("a", "b", "c\(round % 3)")).ids
              _ = try await store.changeAll(.remove, where: .ids(round % 8 == 7 ? Array(ids.dropFirst()) : ids))
              if round % 8 == 7 { kept.append(ids[0]) }
            }
            return kept
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(try await stores[0].jobs(JobQuery(limit: 1000)).map(\.id) == kept.sorted())
      #expect(try server.psql("SELECT id FROM job WHERE route NOT IN(SELECT id FROM route)", schema: schema).isEmpty)
      try WholeStore.expect(of: server, schema: schema)
    }
  }
#endif
