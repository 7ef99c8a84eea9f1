#if Shell && Postgres && os(Linux)
  import Foundation
  import Testing

  @Suite("A machine without libpq")
  struct LibpqTests {
    private let durable: Durable

    init() throws {
      durable = try Durable()
      // The loader finds this one first, and it is none.
      try Data("no library".utf8).write(to: URL(fileURLWithPath: durable.folder + "/libpq.so.5"))
    }

    @Test("Stores in files need none")
    func files() async throws {
      let added = try await durable("add", "--", "true", environment: ["LD_LIBRARY_PATH": durable.folder])
      #expect(added.status == .exited(0) && added.line == "1", "\(added.stderr)")
    }

    @Test(
      "A store on a server is refused with what to install",
      arguments: ["postgres://postgres@/jobs", "host=/tmp user=postgres"])
    func servers(store: String) async throws {
      let refused = try await durable(
        "status", "--store", store, environment: ["LD_LIBRARY_PATH": durable.folder])
      #expect(refused.status == .exited(5) && refused.text.isEmpty)
      #expect(refused.stderr.contains("needs libpq 14 or newer"), "\(refused.stderr)")
      #expect(refused.stderr.contains("libpq.so.5") && refused.stderr.contains("libpq5 on Debian"), "\(refused.stderr)")
    }
  }
#endif
