#if Postgres
  import DurableJobs
  import DurableJobsPostgres
  import Foundation
  import PostgresTestServer
  import Testing

  /// Servers that are being started, and connections that are lost, while a store is opened.
  @Suite struct OpeningTests {
    private let server: TestServer
    private let wire: TestWire
    private let schema = TestServer.schema()

    init() throws {
      server = try TestServer.shared.get()
      wire = try TestWire(before: server)
    }

    @Test("A store whose server is being started opens once it is there")
    func starting() async throws {
      wire.refuse(3)
      let store = try await server.store(schema, "host=\(wire.folder)")
      #expect(wire.refusals == 0)
      #expect(try await store.insert(JobInsertion([.plain()])).ids.count == 1)
      await store.close()
    }

    @Test("A server that is being started for longer than a call may take is told so")
    func startingForLong() async {
      wire.refuse(1_000_000)
      let error = await #expect(throws: JobError.self) {
        try await server.store(schema, "host=\(wire.folder)") { $0.callLimit = .milliseconds(200) }
      }
      #expect(error?.code == .storeFailed)
      #expect(error?.message.contains("is being stopped or started") == true, "\(error.map { "\($0)" } ?? "")")
      #expect(wire.refusals < 999_999)
    }

    @Test(
      "A store whose connection is cut while it opens, or before its making is heard of, opens",
      arguments: [false, true])
    func cut(isCommit: Bool) async throws {
      wire.cutAtEnd(isCommit: isCommit)
      let store = try await server.store(schema, "host=\(wire.folder)")
      #expect(wire.cuts == 1)
      #expect(try await store.insert(JobInsertion([.plain()])).ids.count == 1)
      await store.close()
      try WholeStore.expect(of: server, schema: schema)
    }
  }
#endif
