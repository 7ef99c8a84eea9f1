#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct ClaimPlanTests {
    /// Statistics of a table that was another one when they were taken.
    private static let statistics = [
      // Taken while all was empty.
      "ANALYZE job; ANALYZE spec; ANALYZE wait",
      // Said to be small, and to have one route and state.
      "UPDATE pg_class SET reltuples=1,relpages=1 WHERE oid='job'::regclass",
      // Said to be huge.
      "UPDATE pg_class SET reltuples=1e12,relpages=1000000 WHERE oid='job'::regclass",
      thousandsHaveEnded,
    ]
    /// Taken while all that there was ran.
    private static let allRuns = """
      INSERT INTO job SELECT nextval('job_id'),1,0,0,256,0,0,0,0,5 FROM generate_series(1,50); ANALYZE job;
      INSERT INTO job SELECT nextval('job_id'),1,0,0,0,0,0,0,0,7 FROM generate_series(1,5000)
      """
    /// Taken of thousands of jobs that have ended, and never of what stands beside them, which is empty.
    private static let thousandsHaveEnded = """
      INSERT INTO job SELECT nextval('job_id'),1,0,0,0,0,0,0,0,7 FROM generate_series(1,5000); ANALYZE job
      """

    @Test("C80 A claim takes no more than was asked for, whatever the planner believes", arguments: statistics)
    func notMore(statistics: String) async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let store = try await server.store(schema)
      try server.psql("ALTER TABLE job SET (autovacuum_enabled=false)", schema: schema)
      try server.psql(statistics, schema: schema)
      for queue in ["a", "b", "c"] {
        let jobs = (0..<300).map { NewJob(queue: queue, kind: "k\($0 % 4)", payload: Data()) }
        _ = try await store.insert(JobInsertion(jobs))
      }
      try server.psql(statistics, schema: schema)
      let kinds: Set<String> = ["k0", "k1", "k2", "k3"]
      var seen: Set<JobID> = []
      for round in 0..<12 {
        let free = ["a": 7, "b": 1, "c": round % 3]
        let batch = try await store.claim(ClaimRequest(worker: WorkerID("w\(round % 2)"), kinds: kinds, free: free))
        for (queue, number) in free { #expect(batch.jobs.count { $0.queue == queue } == number) }
        #expect(seen.isDisjoint(with: batch.jobs.map(\.token.job)))
        seen.formUnion(batch.jobs.map(\.token.job))
        #expect(batch.jobs.map(\.token.job) == batch.jobs.map(\.token.job).sorted())
      }
      let running = try await store.counts(where: .state(.running))
      #expect(running[.running] == seen.count)
    }

    /// What a turn and all that may follow of it consist of.
    private static let ofTurns = [
      Transaction.finishSQL, Transaction.takeSQL, Transaction.promoteSQL, Transaction.nextDueSQL, Transaction.lookSQL,
      Transaction.keepSQL, Transaction.keepFreeSQL, Transaction.renewFreeSQL,
      Transaction.jobsSQL, Transaction.lockJobsSQL, Transaction.lockChildrenSQL, Transaction.childrenSQL,
      Transaction.parentsSQL, Transaction.saveSQL, Transaction.certainSQL, Transaction.ownClaimsSQL,
      Transaction.overdueReadySQL,
      Transaction.childEdgesSQL, Transaction.lanesSQL, Transaction.waitingSQL, Transaction.lockWaitingSQL,
      Transaction.waitingRowsSQL, Transaction.ownersSQL, Transaction.newestOwnersSQL, Transaction.lockNamedSQL,
      Transaction.namedSQL, Transaction.waitersSQL, Transaction.lockHeldSQL, Transaction.heldCountsSQL,
      Transaction.lockOverdueSQL, Transaction.overdueSQL, Transaction.takeOneSQL, Reader.straysSQL, ClaimWork.inputsSQL,
      ClaimWork.stepsSQL, Reader.needsSQL, Reader.headsSQL,
    ]

    /// All that has a fixed form, as the planner has it without knowing a value.
    @Test(
      "C80 No statement of a turn reads a whole table, whatever the planner believes",
      arguments: ["", allRuns] + statistics)
    func plans(statistics: String) async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let store = try await server.store(schema)
      try server.psql("ALTER TABLE job SET (autovacuum_enabled=false);" + statistics, schema: schema)
      for sql in Self.ofTurns {
        let plan = try plan(of: sql, on: server, schema)
        #expect(!plan.contains("Seq Scan on job") && !plan.contains("Seq Scan on spec"), "\(sql)\n\(plan)")
        // Whoever goes through the line of jobs goes through that of a route.
        let conditions = plan.matches(of: /using job_line on [^\n]*\n\s*Index Cond: ([^\n]*)/).map(\.1)
        #expect(conditions.allSatisfy { $0.contains("route = ") }, "\(sql)\n\(plan)")
        // An index without a condition is a whole table, which only a small one may be. Of routes, each is looked at.
        let whole = plan.matches(of: /using \w+ on (\w+)[^\n]*\n(?!\s*Index Cond)/).map(\.1).filter { $0 != "route" }
        #expect(
          ![Self.thousandsHaveEnded, Self.allRuns].contains(statistics) || whole.isEmpty, "\(whole) \(sql)\n\(plan)")
        #expect(!plan.contains("Seq Scan on edge") && !plan.contains("Seq Scan on wait"), "\(sql)\n\(plan)")
      }
      await store.close()
    }

    @Test("A filter of many ids has them hashed, and what runs in a batch is found among what runs")
    func pages() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      _ = try await server.store(schema)
      let ids = JobFilter.ids([1, 2].map(JobID.init(rawValue:)))
      let pages = [
        JobPage(filter: ids, routes: []), JobPage(filter: .tag("t") || ids, routes: []),
        JobPage(filter: ids, among: [JobID(rawValue: 1)], routes: []),
      ]
      for (page, types) in zip(pages, ["bigint[],bigint[]", "text,bigint[]", "bigint[],bigint[]"]) {
        let plan = try plan(of: page.text("j.id"), types, on: server, schema)
        #expect(plan.contains("hashed SubPlan"), "\(plan)")
      }
      let running = JobPage(filter: .batch(BatchID(rawValue: 1)) && .state(.running), routes: [])
      let plan = try plan(of: running.text("j.id"), on: server, schema)
      #expect(plan.contains("state = 5") && !plan.contains("batch_job"), "\(plan)")
    }

    private func plan(
      of sql: String, _ types: String? = nil, on server: TestServer, _ schema: String
    ) throws -> String {
      let numbers = Set(sql.matches(of: /\$(\d+)/).compactMap { Int($0.1) })
      let count = numbers.max() ?? 0
      let nulls = [String](repeating: "NULL", count: count).joined(separator: ",")
      let text = sql.replacing("§", with: "\"\(schema)\".")
      let types = (types ?? Self.types[sql]).map { "(\($0))" } ?? ""
      let settings = Connection.settingsSQL.replacing("$1", with: "false")
      return try server.psql(
        "\(settings); PREPARE p\(types) AS \(text); EXPLAIN EXECUTE p\(count > 0 ? "(\(nulls))" : "")", schema: schema
      ).map { $0.joined() }.joined(separator: "\n")
    }

    private static let types = [
      Transaction.finishSQL: "bigint[],bigint[],bigint[],bytea[],bigint",
      Transaction.takeSQL: "bigint[],bigint[],bigint[],bigint,bigint,bigint[],bigint[],bigint[]",
      Transaction.promoteSQL: "bigint[],bigint,bigint,bigint[]", Transaction.nextDueSQL: "bigint[],bigint[]",
      Transaction.lookSQL: "bigint[]", Transaction.jobsSQL: "bigint[]", Transaction.lockJobsSQL: "bigint[]",
      Transaction.lockChildrenSQL: "bigint[]", Transaction.childrenSQL: "bigint[]", Transaction.parentsSQL: "bigint[]",
      Transaction.saveSQL: "bigint[],bigint[],bigint[],bigint[],bigint[],bigint[],bigint[],bigint[],bigint[]",
      Transaction.certainSQL: "bigint[],bigint[],bigint[]", Transaction.overdueReadySQL: "bigint,bigint[]",
      Transaction.lanesSQL: "text[]", Transaction.waitingSQL: "text[],bigint[]",
      Transaction.lockWaitingSQL: "text[],bigint[]", Transaction.waitingRowsSQL: "text[],bigint[]",
      Transaction.newestOwnersSQL: "text[],bigint", Transaction.lockNamedSQL: "text[],bigint[]",
      Transaction.namedSQL: "text[],bigint[]",
      Transaction.takeOneSQL: "bigint[],bigint[],bigint[],bigint,bigint,bigint",
      Reader.needsSQL: "bigint[],text[]", Reader.headsSQL: "bigint[],text[]",
    ]
  }
#endif
