#if Postgres
  import DurableJobs
  import Foundation
  import PostgresTestServer
  import Testing

  @testable import DurableJobsPostgres

  /// Servers that are being started, and connections that are lost, while a store is opened.
  @Suite struct OpeningTests {
    private let server: TestServer
    private let wire: TestWire
    private let schema = TestServer.schema()

    init() throws {
      server = try TestServer.shared.get()
      wire = try TestWire(before: server)
    }

    /// As it is told in two languages.
    private static let refusals = ["the database system is starting up", "das Datenbanksystem startet"]

    @Test("A store whose server is being started opens once it is there", arguments: refusals)
    func starting(words: String) async throws {
      wire.refuse(3, saying: words)
      let store = try await server.store(schema, "host=\(wire.folder)")
      #expect(wire.refusals == 0)
      #expect(try await store.insert(JobInsertion([.plain()])).ids.count == 1)
      await store.close()
    }

    @Test("A server that is being started for longer than a call may take is told so", arguments: refusals)
    func startingForLong(words: String) async {
      wire.refuse(1_000_000, saying: words)
      let error = await #expect(throws: JobError.self) {
        try await server.store(schema, "host=\(wire.folder)") { $0.callLimit = .milliseconds(200) }
      }
      #expect(error?.code == .storeFailed)
      let told = error?.message ?? ""
      #expect(told.contains("is being stopped or started") && told.contains(words), "\(told)")
      #expect(!told.contains("57P03"), "\(told)")
      #expect(wire.refusals < 999_999)
    }

    @Test("Who may take days for a call waits half a minute for a server, and a second where nobody has answered")
    func patience() {
      let month = Duration.seconds(30 * 24 * 3600)
      #expect(Opening.patience(callLimit: month, isServerThere: true) == .seconds(30))
      #expect(Opening.patience(callLimit: month, isServerThere: false) == .seconds(1))
      #expect(Opening.patience(callLimit: .milliseconds(200), isServerThere: true) == .milliseconds(200))
    }

    @Test("The folder that this machine keeps for stores is made, and each store has a place of its own there")
    func folder() async throws {
      let folder = "\(FileManager.default.temporaryDirectory.path)/durable-folder-\(UUID())"
      defer { try? FileManager.default.removeItem(atPath: folder) }
      var paths: [String?] = []
      for schema in [schema, schema, TestServer.schema()] {
        let store = try await server.store(schema) { $0.folder = folder + "/of this" }
        paths.append(store.path)
        await store.close()
      }
      #expect(paths[0] == paths[1] && paths[0] != paths[2])
      for path in paths { #expect(path.map { ($0 as NSString).deletingLastPathComponent } == folder + "/of this") }
      let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/of this")
      #expect(attributes[.posixPermissions] as? Int == 0o700)
      let error = await #expect(throws: JobError.self) { try await server.store(schema) { $0.folder = "/dev/null/a" } }
      #expect(error?.code == .unusableFile && error?.message.contains("/dev/null/a") == true, "\(error as Any)")
    }

    @Test("What fails below a store is told in words")
    func words() {
      let error = DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no JSON"))
      #expect(JobError(error, server: "here").message == "the store here failed: no JSON at the top")
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
