#if Postgres
  import CPostgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  /// Jobs in transactions of other clients, by statements.
  @Suite struct TransactionStatementTests {
    private typealias Order = PostgresTransactionTests.Order

    private let server: TestServer
    private let schema = TestServer.schema()
    private let queue: JobQueue

    init() async throws {
      server = try TestServer.shared.get()
      queue = JobQueue(store: try await server.store(schema))
    }

    @Test("A statement stores a job in the transaction of any client, as its options say")
    func statement() async throws {
      let options = [
        JobOptions(), JobOptions(priority: .high, maxAttempts: 7), JobOptions(start: .after(.seconds(3600))),
        JobOptions(start: .at(Date().addingTimeInterval(7200))), JobOptions(start: .at(Date(timeIntervalSince1970: 1))),
      ]
      for options in options {
        let statement = try queue.enqueueStatement(for: Order(number: 3), options: options)
        #expect(try run(statement, "ROLLBACK") != nil)
        let committed = try #require(try run(statement, "COMMIT"))
        let id = try #require(JobID(committed))
        let byQueue = try await queue.enqueue(Order(number: 3), options: options)
        let (one, other) = (try await queue.job(id), try await byQueue.snapshot)
        #expect(one.payload == other.payload && one.kind == other.kind && one.state == other.state)
        #expect(one.priority == other.priority && one.maxAttempts == other.maxAttempts)
        #expect(abs((one.runAt ?? .distantPast).timeIntervalSince(other.runAt ?? .distantPast)) < 60)
      }
      #expect(try await queue.counts().total == 2 * options.count)
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("What no statement can store is refused by name")
    func surplus() async throws {
      let all: [(JobOptions, String)] = [
        (JobOptions(key: "k"), "a key"), (JobOptions(unique: "u"), "a unique key"), (JobOptions(lane: "l"), "a lane"),
        (JobOptions(tags: ["t"]), "tags"), (JobOptions(timeout: .seconds(1)), "a time limit"),
        (JobOptions(deadline: .end(by: .after(.seconds(1)))), "a deadline"),
        (JobOptions(requires: ["r"]), "constraints"),
      ]
      for (options, what) in all {
        let error = #expect(throws: JobError.self) {
          try queue.enqueueStatement(for: Order(number: 1), options: options)
        }
        #expect(error?.message.contains(what) == true && error?.code == .invalidArgument, "\(what)")
      }
      let elsewhere = #expect(throws: JobError.self) {
        try JobQueue(store: InMemoryStore()).enqueueStatement(for: Order(number: 1))
      }
      #expect(elsewhere?.code == .wrongStore)
    }

    @Test("A handler ends its job by a statement, and of two attempts one is told that it came first")
    func completeStatement() async throws {
      let worker = JobWorker(queue)
      worker.register(Order.self, retry: .never) { order, context in
        let statement = try context.completeStatement(with: "sold \(order.number)")
        #expect(try run(statement, "ROLLBACK") == "t")
        #expect(try run(statement, "COMMIT") == "t")
        #expect(try run(statement, "COMMIT") == "f")
        return "late"
      }
      let job = try await queue.enqueue(Order(number: 1))
      try await worker.runUntilIdle()
      #expect(try await job.value == "sold 1")
      try WholeStore.expect(of: server, schema: schema)
    }

    /// As another client does it.
    private func run(_ statement: PostgresStatement, _ end: String) throws -> String? {
      let connection = PQconnectdb(server.string())
      defer { PQfinish(connection) }
      PQclear(PQexec(connection, "BEGIN"))
      let values = statement.values.map { $0.flatMap { strdup($0) } }
      defer { values.forEach { free($0) } }
      let result = PQexecParams(
        connection, statement.sql, Int32(values.count), nil, values.map { UnsafePointer($0) }, nil, nil, 0)
      defer { PQclear(result) }
      guard PQresultStatus(result) == PGRES_TUPLES_OK else {
        throw JobError(.storeFailed, String(cString: PQerrorMessage(connection)))
      }
      PQclear(PQexec(connection, end))
      return String(cString: PQgetvalue(result, 0, 0))
    }
  }
#endif
