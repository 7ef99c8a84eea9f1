#if Postgres
  import CPostgres
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct BadServerTests {
    /// What opening is refused with, which names what the caller can do and no password.
    private func refusal(
      _ string: String, _ code: JobError.Code, says words: String,
      _ change: (inout PostgresStore.Configuration) -> Void = { _ in },
      sourceLocation: SourceLocation = #_sourceLocation
    ) async {
      var configuration = PostgresStore.Configuration()
      configuration.schema = TestServer.schema()
      change(&configuration)
      do {
        _ = try await PostgresStore(string, configuration: configuration)
        Issue.record("opened \(string)", sourceLocation: sourceLocation)
      } catch let error as JobError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        #expect(error.message.contains(words), "\(error)", sourceLocation: sourceLocation)
        for text in ["\(error)", "\(error.cause.map { "\($0)" } ?? "")"] {
          #expect(!text.contains("hunter2"), sourceLocation: sourceLocation)
        }
      } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
      }
    }

    @Test("A string that is none is refused, and not repeated")
    func noString() async {
      await refusal("postgres://me:hunter2@[::1/x", .invalidArgument, says: "connection string")
      await refusal("host=a password='hunter2", .invalidArgument, says: "connection string")
    }

    @Test(
      "A URL whose password has a character that ends it is refused, and shows nothing of it",
      arguments: [
        "postgres://me:hunter2/x@127.0.0.1:1/app", "postgres://me:12/hunter2@127.0.0.1:1/app",
        "postgresql://me:x@hunter2@127.0.0.1:1/app", "postgres://me:hunter2/app",
        "postgres://me:1?hunter2/x@127.0.0.1/app",
      ])
    func password(url: String) async {
      await refusal(url, .invalidArgument, says: "%2F")
    }

    @Test(
      "A connection string in the place of a name is refused, and shows nothing of it",
      arguments: [
        "host=127.0.0.1 port=1 dbname=postgres://postgres:hunter2@127.0.0.1:1/app",
        "host=127.0.0.1 port=1 dbname='user=postgres password=hunter2'",
        "postgres:///app?host=127.0.0.1&port=1&dbname=postgres://a:hunter2@127.0.0.1:1/app",
        "port=1 host=postgres://me:hunter2@127.0.0.1/app", "port=1 user=postgres://me:hunter2@127.0.0.1/app",
        "service=postgres://me:hunter2@127.0.0.1/app",
      ])
    func nested(string: String) async {
      await refusal(string, .invalidArgument, says: "is a connection string itself")
    }

    @Test("A host that is silent gets its part of the time that a call has, and not more than the string says")
    func patience() throws {
      let (one, two) = (try ServerName("host=a"), try ServerName("host=a,b connect_timeout=60"))
      #expect(one.connectTimeout(within: .seconds(60)) == 5)
      #expect(one.connectTimeout(within: .seconds(3)) == 3)
      #expect(two.connectTimeout(within: .seconds(60)) == 30)
      #expect(two.connectTimeout(within: .seconds(3)) == 2)
      #expect(try ServerName("host=a connect_timeout=0").connectTimeout(within: .seconds(9)) == 9)
      #expect(try ServerName("host=a connect_timeout=x").connectTimeout(within: .seconds(9)) == nil)
    }

    @Test(
      "A name that can be no schema is refused",
      arguments: ["", "a b", "x\"; DROP", "pg_jobs", String(repeating: "x", count: 49)])
    func noSchema(name: String) async {
      await refusal("host=/nowhere", .invalidArgument, says: "schema") { $0.schema = name }
    }

    @Test("An error names the server, and never its password")
    func description() throws {
      let name = try ServerName("postgres://me:hunter2@db.example.com:5433/app?sslmode=require")
      #expect("\(name)" == "postgres://me@db.example.com:5433/app")
    }

    @Test("A wrong password is told as one")
    func wrongPassword() async throws {
      let server = try TestServer.shared.get()
      try server.psql("DO $$ BEGIN CREATE ROLE locked LOGIN PASSWORD 'right'; EXCEPTION WHEN OTHERS THEN END $$")
      await refusal(server.string(user: "locked", more: "password=hunter2"), .unusableFile, says: "password")
      await refusal(server.string(user: "locked"), .unusableFile, says: "password")
    }

    @Test("A host that nobody knows is told as one")
    func unknownHost() async {
      await refusal("host=db.invalid user=me password=hunter2", .unusableFile, says: "host")
    }

    @Test("Where nobody listens, that is told")
    func nobody() async {
      await refusal("host=127.0.0.1 port=1 user=me password=hunter2", .storeFailed, says: "can't be reached")
    }

    @Test("A database that is missing is told as one, with how to make it")
    func missingDatabase() async throws {
      let server = try TestServer.shared.get()
      await refusal(server.string(database: "nope"), .unusableFile, says: "createdb")
    }

    @Test("A missing right is told with the GRANT that gives it")
    func missingRight() async throws {
      let server = try TestServer.shared.get()
      try server.psql("DO $$ BEGIN CREATE ROLE poor LOGIN; EXCEPTION WHEN OTHERS THEN END $$")
      let database = try server.database()
      try server.psql("REVOKE CONNECT ON DATABASE \(database) FROM PUBLIC")
      await refusal(
        server.string(user: "poor", database: database), .unusableFile,
        says: "run: GRANT CONNECT ON DATABASE \"\(database)\" TO \"poor\"")
      let schema = TestServer.schema()
      func isTold(_ right: String) async throws {
        let grant = "GRANT \(right) TO \"poor\""
        var configuration = PostgresStore.Configuration()
        configuration.schema = schema
        let error = await #expect(throws: JobError.self) {
          _ = try await PostgresStore(server.string(user: "poor"), configuration: configuration)
            .insert(JobInsertion([.plain()]))
        }
        #expect(error?.code == .unusableFile && error?.message.hasSuffix("run: " + grant) == true, "\(error as Any)")
        #expect(error?.message.ranges(of: "GRANT").count == 1)
        try server.psql(grant)
      }
      try await isTold("CREATE ON DATABASE \"postgres\"")
      try server.psql("REVOKE CREATE ON DATABASE postgres FROM poor; CREATE SCHEMA \(schema)")
      try await isTold("USAGE, CREATE ON SCHEMA \"\(schema)\"")
      try server.psql("DROP SCHEMA \(schema)")
      await (try server.store(schema)).close()
      try await isTold("USAGE ON SCHEMA \"\(schema)\"")
      try await isTold("ALL ON ALL TABLES IN SCHEMA \"\(schema)\"")
      try await isTold("ALL ON ALL SEQUENCES IN SCHEMA \"\(schema)\"")
      var configuration = PostgresStore.Configuration()
      configuration.schema = schema
      let store = try await PostgresStore(server.string(user: "poor"), configuration: configuration)
      // With those that were named, all is done.
      let id = try await store.insert(JobInsertion([.plain()])).ids[0]
      let jobs = try await store.claim(.of(1)).jobs
      #expect(try await store.settle(jobs.map { $0.settled() }, thenClaim: nil).replies.map(\.state) == [.succeeded])
      try await store.configure([.limits(queue: "default", JobLimits(running: 1)), .lane("l", width: 2)])
      #expect(try await store.change(.remove, where: .id(id), after: nil, limit: 1).changed == [id])
      await store.close()
    }

    @Test("A newer store is left as it is")
    func newer() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      await (try server.store(schema)).close()
      try server.psql("UPDATE meta SET version=99", schema: schema)
      await refusal(server.string(), .newerVersion, says: "99") { $0.schema = schema }
      #expect(try server.psql("SELECT version FROM meta", schema: schema) == [["99"]])
    }

    @Test("A version that no store has is told as damage", arguments: [0, -1])
    func damaged(version: Int) async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      await (try server.store(schema)).close()
      try server.psql("UPDATE meta SET version=\(version)", schema: schema)
      await refusal(server.string(), .notAStore, says: "\(version)") { $0.schema = schema }
    }

    @Test(
      "A schema of something else is left as it is",
      arguments: ["CREATE TABLE things(id int)", "CREATE TABLE meta(version int)", "CREATE TABLE job(id int)"])
    func foreign(table: String) async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      try server.psql("CREATE SCHEMA \(schema)")
      try server.psql(table, schema: schema)
      await refusal(server.string(), .notAStore, says: "something else") { $0.schema = schema }
      let tables = "SELECT count(*) FROM pg_tables WHERE schemaname='\(schema)'"
      #expect(try server.psql(tables) == [["1"]])
    }

    @Test("No tables are made where none are to be")
    func noTables() async throws {
      let server = try TestServer.shared.get()
      await refusal(server.string(), .notAStore, says: "script") { $0.makesTables = false }
    }

    @Test("The script makes a store by hand")
    func script() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      try server.psql(PostgresStore.script(schema: schema))
      let store = try await server.store(schema) { $0.makesTables = false }
      #expect(try await store.insert(JobInsertion([.plain()])).ids.count == 1)
    }

    @Test("A server that is too old is refused")
    func oldServer() throws {
      let error = #expect(throws: JobError.self) { try Opening.check(version: 120_017) }
      #expect(error?.message.contains("PostgreSQL 12") == true && error?.code == .unusableFile)
      try Opening.check(version: 130_000)
    }

    @Test("A database in another encoding is refused, with how to make one")
    func encoding() async throws {
      let server = try TestServer.shared.get()
      try server.psql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
      await refusal(server.string(database: "latin"), .unusableFile, says: "UTF8")
    }

    @Test("A server whose commits would not survive a power cut is refused, unless that is accepted")
    func weak() async throws {
      let server = try TestServer(options: "-c fsync=off")
      await refusal(server.string(), .weakDurability, says: "fsync")
      let store = try await server.store { $0.acceptsWeakDurability = true }
      #expect(try await store.insert(JobInsertion([.plain()])).ids.count == 1)
      await store.close()
    }

    @Test("A server that follows another is told by the code of its refusal, whatever language it speaks")
    func words() throws {
      let server = try TestServer()
      try server.stop()
      try server.follow(true)
      try server.start()
      let connection = try #require(PQconnectdb(server.string()))
      defer { PQfinish(connection) }
      let result = try #require(PQexec(connection, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"))
      defer { PQclear(result) }
      #expect(PostgresFailure(result, on: connection).sqlState == "25006")
      #expect(PostgresFailure.state("0A000", from: "call_bool_check_hook") == "25006")
      #expect(PostgresFailure.state("0A000", from: "exec_stmt_raise") == "0A000")
    }

    @Test("C77 A server that follows another one is refused, and a store goes on once that leads")
    func following() async throws {
      let server = try TestServer()
      let schema = TestServer.schema()
      let store = try await server.store(schema)
      let first = try await store.insert(JobInsertion([.plain()])).ids
      try server.stop()
      try server.follow(true)
      try server.start()
      await refusal(server.string(), .readOnly, says: "leads") { $0.schema = schema }
      let error = await #expect(throws: JobError.self) { try await store.insert(JobInsertion([.plain()])) }
      #expect(error?.code == .readOnly, "\(error.map { "\($0)" } ?? "")")
      #expect(try await store.jobs(JobQuery()).map(\.id) == first)
      try server.stop()
      try server.follow(false)
      try server.start()
      let second = try await store.insert(JobInsertion([.plain()])).ids
      #expect(try await store.jobs(JobQuery()).map(\.id) == first + second)
      await store.close()
    }

    @Test(
      "A server that its administrator made read-only is written neither by a new store nor by one that is open and idle",
      arguments: [false, true])
    func readOnly(isPooled: Bool) async throws {
      let server = try TestServer()
      let pooler = isPooled ? try TestPooler(before: server) : nil
      defer { withExtendedLifetime(pooler) {} }
      let schema = TestServer.schema()
      let store = try await server.store(schema, pooler?.way ?? "") { $0.isPooled = isPooled }
      let ids = try await store.insert(JobInsertion([.plain()])).ids
      try server.psql("ALTER SYSTEM SET default_transaction_read_only=on")
      try server.psql("SELECT pg_reload_conf()")
      try await until { try server.psql("SHOW default_transaction_read_only") == [["on"]] }
      await refusal(server.string(), .readOnly, says: "leads") { $0.schema = schema }
      // An open connection has not heard of it: nothing was asked for on it since.
      let calls: [() async throws -> Void] = [
        { _ = try await store.claim(.of(1)) }, { _ = try await store.insert(JobInsertion([.plain()])) },
        { try await store.transaction { _ = try $0.execute("DELETE FROM \(schema).job") } },
      ]
      for call in calls {
        let error = await #expect(throws: JobError.self) { try await call() }
        #expect(error?.code == .readOnly, "\(error as Any)")
        let jobs = try await store.jobs(JobQuery())
        #expect(jobs.map(\.id) == ids && jobs.map(\.state) == [.ready])
      }
      try server.psql("ALTER SYSTEM RESET default_transaction_read_only")
      try server.psql("SELECT pg_reload_conf()")
      try await until { try server.psql("SHOW default_transaction_read_only") == [["off"]] }
      #expect(try await store.insert(JobInsertion([.plain()])).ids.count == 1)
      await store.close()
    }

    @Test("While the server can't be written no time passes for who is asked for a sign of life, and could give none")
    func doubts() async throws {
      let server = try TestServer()
      let clock = ManualClock()
      let store = try await server.store(TestServer.schema(), clock: clock)
      _ = try await store.insert(JobInsertion([.plain()]))
      let job = try await store.claim(.of(1)).jobs[0]
      func setReadOnly(_ change: String, shows: String) async throws {
        try server.psql("ALTER SYSTEM \(change)")
        try server.psql("SELECT pg_reload_conf()")
        try await until { try server.psql("SHOW default_transaction_read_only") == [[shows]] }
        // The server tells open connections when they have nothing to do.
        _ = try await store.counts(where: .all)
      }
      try await setReadOnly("SET default_transaction_read_only=on", shows: "on")
      clock.advance(by: Defaults.lease)
      for _ in 0..<2 {
        _ = try? await store.recover(RecoveryRequest())
        clock.advance(by: .seconds(5))
      }
      try await setReadOnly("RESET default_transaction_read_only", shows: "off")
      #expect(try await store.recover(RecoveryRequest()).recovered == 0)
      #expect(try await store.settle([job.settled()], thenClaim: nil).replies[0].isAccepted)
      await store.close()
    }

    @Test("Where several hosts follow another one, the first is waited for to lead, or another")
    func several() async throws {
      let server = try TestServer()
      let schema = TestServer.schema()
      await (try server.store(schema)).close()
      let other = try TestServer(options: "-c wal_retrieve_retry_interval=1s", following: server)
      // Nobody leads at first.
      try server.stop()
      try server.follow(true)
      try server.start()
      for attributes in ["", "target_session_attrs=read-write"] {
        let failure = PostgresFailure(.lost, "session is read-only")
        #expect(failure.isFromServer)
        let hosts = "host=\(other.folder),\(server.folder) \(attributes)"
        let error = await #expect(throws: JobError.self) {
          try await server.store(schema, hosts) { $0.callLimit = .milliseconds(200) }
        }
        #expect(error?.code == .readOnly, "\(error as Any)")
      }
      try server.promote()
      // The first still follows.
      let store = try await server.store(schema, "host=\(other.folder),\(server.folder)")
      #expect(try await store.insert(JobInsertion([.plain()])).ids.count == 1)
      await store.close()
    }

    @Test("Twenty that make a store at once make one")
    func atOnce() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      try await withThrowingTaskGroup(of: JobID.self) { group in
        for _ in 0..<20 {
          group.addTask {
            let store = try await server.store(schema) { $0.connections = 1 }
            return try await store.insert(JobInsertion([.plain()])).ids[0]
          }
        }
        var ids: Set<JobID> = []
        for try await id in group { ids.insert(id) }
        #expect(ids.count == 20)
      }
      #expect(try server.psql("SELECT count(*) FROM meta", schema: schema) == [["1"]])
      try WholeStore.expect(of: server, schema: schema)
    }
  }
#endif
