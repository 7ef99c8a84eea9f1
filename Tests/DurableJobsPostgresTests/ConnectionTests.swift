#if Postgres
  import DurableJobs
  import DurableJobsPostgres
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  /// How many connections of a server a store takes, as docs/fleet.md counts them.
  @Suite struct ConnectionTests {
    private struct Work: JobPayload {
      static let kind = "work"
    }

    @Test("However many calls wait, a store has its connections and one that listens", arguments: [false, true])
    func most(isPooled: Bool) async throws {
      let server = try TestServer.shared.get()
      let (database, schema) = (try server.database(), TestServer.schema())
      let store = try await server.store(schema, "dbname=\(database) application_name=fleet") {
        ($0.connections, $0.isPooled, $0.callLimit) = (4, isPooled, .seconds(600))
      }
      func connections(_ condition: String = "true") throws -> Int {
        try server.psql(
          "SELECT 1 FROM pg_stat_activity WHERE datname=current_database() AND application_name='fleet' AND \(condition)",
          database: database
        ).count
      }
      // The one that it was opened with is closed, and the server needs a moment to see it.
      try await until { try connections() == 0 }
      let worker = JobWorker(JobQueue(store: store))
      worker.register(Work.self) { _, _ in }
      worker.start()
      let calls = try await server.holding("LOCK TABLE \"\(schema)\".job", database: database) {
        let calls = Task {
          try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<30 { group.addTask { _ = try await store.insert(JobInsertion([.plain()])) } }
            for _ in 0..<30 { group.addTask { _ = try await store.counts(where: .all) } }
            try await group.waitForAll()
          }
        }
        try await until { try connections("wait_event_type='Lock'") == 4 }
        if !isPooled { try await until { try connections("query LIKE 'LISTEN%'") == 1 } }
        #expect(try connections() == (isPooled ? 4 : 5))
        return calls
      }
      try await calls.value
      #expect(try connections() == (isPooled ? 4 : 5))
      await worker.stop()
      await store.close()
      try await until { try connections() == 0 }
    }
  }
#endif
