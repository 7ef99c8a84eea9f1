#if Shell
  import Foundation
  import Testing

  @Suite("A command that is added without an option")
  struct PlainAddTests {
    private let durable: Durable

    init() throws { durable = try Durable() }

    @Test("It is stored as if each option that has a default were typed")
    func same() async throws {
      let plain = try await durable.add("--", "printf", "%s", "--json")
      let typed = try await durable.add("--queue", "default", "--max-attempts", "1", "--", "printf", "%s", "--json")
      let (first, second) = (try await stored(plain), try await stored(typed))
      #expect(first == second)
      #expect((first["payload"] as? [String: Any])?["arguments"] as? [String] == ["printf", "%s", "--json"])
    }

    @Test("What is wrong with its store is told in the same words")
    func refused() async throws {
      let store = durable.folder + "/no/such/folder/jobs.sqlite"
      let plain = try await durable("add", "--", "true", environment: ["DURABLE_STORE": store])
      let typed = try await durable("add", "--queue", "default", "--", "true", environment: ["DURABLE_STORE": store])
      #expect(plain.status == .exited(5) && plain.status == typed.status)
      #expect(plain.stderr == typed.stderr && plain.text == typed.text)
    }

    /// All that there is of a job, but what no two jobs share.
    private func stored(_ id: Int) async throws -> NSDictionary {
      var job = try await durable.job(id)
      for name in ["id", "createdAt"] { try #require(job.removeValue(forKey: name) != nil, "\(job)") }
      return job as NSDictionary
    }
  }
#endif
