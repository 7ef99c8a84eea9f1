#if Postgres
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  /// Where a machine keeps what belongs beside a store.
  @Suite final class StoreHomeTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/durable-home-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func path(_ system: String?, _ database: Int64, of all: Set<Int64>) -> String {
      let path = StoreHome(system: system, database: database, databases: all).path(in: folder, of: "id")
      return String(path.dropFirst(folder.count + 1))
    }

    @Test("A copy, on the same server or another, has a place of its own, and the original keeps the plain one")
    func copies() {
      #expect(path("1", 5, of: [5]) == "postgres-id")
      #expect(path("1", 6, of: [5, 6]) == "postgres-id-1-6")
      #expect(path("2", 5, of: [5]) == "postgres-id-2-5")
      #expect(path(nil, 6, of: [6]) == "postgres-id--6")
      #expect(path("1", 5, of: [5, 6]) == "postgres-id")
      #expect(path(nil, 5, of: [5]) == "postgres-id", "a user who may not read which server it is")
    }

    @Test("What has taken the place of a database that its server has no more goes on with what that left")
    func successor() throws {
      #expect(path("1", 5, of: [5]) == "postgres-id")
      #expect(path("1", 6, of: [6]) == "postgres-id")
      #expect(path("1", 7, of: [6, 7]) == "postgres-id-1-7")
      #expect(path("1", 7, of: [7]) == "postgres-id-1-7", "its workers may be at work there")
      #expect(path("1", 8, of: [7, 8]) == "postgres-id")
      #expect(path("2", 7, of: [7]) == "postgres-id-2-7", "nobody here can tell whether the other server is gone")
      for note in ["", "-2-7"] { try FileManager.default.removeItem(atPath: folder + "/postgres-id\(note).database") }
      #expect(path("2", 7, of: [7]) == "postgres-id", "who removes the notes has decided that it is")
      try Data().write(to: URL(fileURLWithPath: folder + "/postgres-id.database"))
      #expect(path(nil, 7, of: [7]) == "postgres-id")
      #expect(path("2", 9, of: [9]) == "postgres-id-2-9", "what a power cut had emptied was written anew")
      #expect(path("2", 7, of: [7]) == "postgres-id")
      #expect(path("3", 7, of: [7]) == "postgres-id-3-7", "who may read which server it is has noted it")
    }

    @Test("A copy of a database shares nothing with it that this machine keeps, also after the original was dropped")
    func databases() async throws {
      let server = try TestServer.shared.get()
      let original = try server.database()
      let copy = original + "_copy"
      func place(of database: String) async throws -> String? {
        var configuration = PostgresStore.Configuration()
        configuration.folder = folder
        let store = try await PostgresStore(server.string(database: database), configuration: configuration)
        await store.close()
        return store.path
      }
      let first = try await place(of: original)
      // The server may not have noticed yet that the store has left.
      await until { (try? server.psql("CREATE DATABASE \(copy) TEMPLATE \(original)")) != nil }
      let second = try await place(of: copy)
      #expect(first != nil && second != nil && first != second)
      #expect(try await place(of: original) == first)
      try server.psql("DROP DATABASE \(original) WITH (FORCE)")
      #expect(try await place(of: copy) == second)
      try server.psql("DROP DATABASE \(copy) WITH (FORCE)")
    }
  }
#endif
