#if Shell
  import Testing

  @Suite("--unique")
  struct UniqueTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("leads to the job that has the key, replaces it, or goes behind it")
    func policies() async throws {
      #expect(try await durable.add("--unique", "sync", "--", "echo", "one") == 1)
      let kept = try await durable("add", "--unique", "sync", "--", "echo", "two")
      #expect(kept.text == "1\n")
      #expect(kept.stderr.contains("Job 1 has the unique key 'sync': nothing was added"))
      #expect(try await durable.add("--unique", "sync:replace", "--", "echo", "three") == 2)
      #expect(try await durable.state(1) == "cancelled")
      #expect(try await durable.add("--unique", "sync:append", "--", "echo", "four") == 3)
      #expect(try await durable.state(3) == "blocked")
      _ = try await durable("work", "--drain")
      #expect(try await durable.state(3) == "succeeded")
    }

    @Test("of an unknown policy says which there are, and adds nothing")
    func unknown() async throws {
      let refused = try await durable("add", "--unique", "a:b", "--", "true")
      #expect(refused.status == .exited(2))
      #expect(refused.stderr.contains("the policy is keep, replace or append, and not 'b'"))
      #expect(try await durable.add("--unique", "a:b:keep", "--", "true") == 1)
    }
  }
#endif
