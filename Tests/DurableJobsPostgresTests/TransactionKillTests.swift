#if Postgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  /// Transactions of a program's own on a server that is killed.
  @Suite struct TransactionKillTests {
    private typealias Order = PostgresTransactionTests.Order

    private let schema = TestServer.schema()

    @Test("C45 A server that is killed before the COMMIT has the closure run again, and its work is there once")
    func killedBefore() async throws {
      let server = try TestServer()
      let store = try await server.store(schema)
      let queue = JobQueue(store: store)
      try server.psql("CREATE TABLE sale(number bigint PRIMARY KEY)", schema: schema)
      let runs = Lock(0)
      let handle = try await store.transaction { transaction in
        try transaction.execute("INSERT INTO \(schema).sale VALUES(1)")
        let handle = try queue.enqueue(Order(number: 1), in: transaction)
        if runs.withLock({ runs in
          runs += 1
          return runs == 1
        }) {
          try server.kill()
          try server.start()
        }
        try transaction.execute("SELECT 1")
        return handle
      }
      #expect(runs.withLock { $0 } == 2)
      #expect(try server.psql("SELECT number FROM sale", schema: schema) == [["1"]])
      #expect(try await store.jobs(JobQuery()).map(\.id) == [handle.id])
      try WholeStore.expect(of: server, schema: schema)
      await store.close()
    }

    @Test(
      "Whenever the server is killed, the rows that were written are those of the jobs, and what was acknowledged is there"
    )
    func killedAnytime() async throws {
      let server = try TestServer()
      let store = try await server.store(schema) { $0.callLimit = .seconds(60) }
      let queue = JobQueue(store: store)
      try server.psql("CREATE TABLE sale(number bigint PRIMARY KEY)", schema: schema)
      let (acknowledged, isOver) = (Lock<Set<String>>([]), Lock(false))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<2 {
          group.addTask {
            var number = worker * 1_000_000
            while !isOver.withLock({ $0 }) {
              number += 1
              let next = number
              do {
                try await store.transaction { transaction in
                  try transaction.execute("INSERT INTO \(schema).sale VALUES($1)", ["\(next)"])
                  try queue.enqueue(Order(number: next), options: JobOptions(key: "\(next)"), in: transaction)
                }
                _ = acknowledged.withLock { $0.insert("\(next)") }
              } catch let error as JobError where error.cause is UnknownOutcome {
                // Both or neither; nobody can say.
              }
            }
          }
        }
        group.addTask {
          defer { isOver.withLock { $0 = true } }
          for _ in 0..<4 {
            let goal = acknowledged.withLock(\.count) + .random(in: 10...100)
            try await until {
              try Task.checkCancellation()
              return acknowledged.withLock(\.count) >= goal
            }
            try server.kill()
            try server.start()
          }
        }
        // The first that fails ends the others.
        for try await _ in group {}
      }
      let rows = Set(try server.psql("SELECT number FROM sale", schema: schema).map { $0[0] })
      let jobs = try await store.jobs(JobQuery(limit: 1_000_000)).compactMap(\.key)
      #expect(Set(jobs) == rows && jobs.count == rows.count)
      #expect(acknowledged.withLock { $0 }.isSubset(of: rows))
      try WholeStore.expect(of: server, schema: schema)
      await store.close()
    }
  }
#endif
