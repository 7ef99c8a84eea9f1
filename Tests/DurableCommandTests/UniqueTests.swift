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

    @Test("that a job of another kind has is not followed in vain")
    func otherKind() async throws {
      _ = try await durable("send", "POST", "http://127.0.0.1:9/", "--unique", "a")
      let followed = try await durable("add", "--follow", "--unique", "a", "--", "true")
      #expect(followed.status == .exited(1))
      #expect(followed.stderr.contains("can't be run by this command; 'durable wait 1' waits for it"))
    }

    @Test("that a job of another queue has is followed there")
    func otherQueue() async throws {
      #expect(try await durable.add("--queue", "q2", "--unique", "a", "--", "echo", "there") == 1)
      let followed = try await durable("add", "--follow", "--unique", "a", "--", "echo", "here")
      #expect(followed.status == .exited(0))
      #expect(followed.text == "there\n")
    }

    @Test("goes with --idempotency-key: the one is this store's, the other the server's")
    func idempotency() async throws {
      let words = ["send", "POST", "http://127.0.0.1:9/", "--idempotency-key", "k", "--unique", "a"].map {
        Array($0.utf8)
      }
      #expect(try await durable.run(words).text == "1\n")
      let again = try await durable.run(words)
      #expect(again.text == "1\n")
      #expect(again.stderr.contains("Job 1 has the unique key 'a' already: nothing was added"), "\(again.stderr)")
      #expect(try await durable("show", "1").text.contains("Idempotency-Key: k"))
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
