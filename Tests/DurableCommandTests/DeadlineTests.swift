#if Shell
  import Testing

  @Suite("--deadline")
  struct DeadlineTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("gives up a command that runs beyond it, and does not try again")
    func running() async throws {
      let id = try await durable.add("--deadline", "1s", "--max-attempts", "5", "--", "sleep", "1000")
      _ = try await durable("work", "--drain")
      #expect(try await durable.state(id) == "failed")
      #expect(try await durable.message(id).contains("its deadline has passed"))
    }

    @Test("ends what follows a job that can't begin")
    func followed() async throws {
      let followed = try await durable("add", "--follow", "--deadline", "1s", "--after", "nobody", "--", "true")
      #expect(followed.status == .exited(1))
      #expect(followed.stderr.contains("its deadline has passed"))
    }

    @Test("that has passed is refused, and nothing is added", arguments: ["2001-01-01T00:00Z", "0", "0s"])
    func past(text: String) async throws {
      for arguments in [
        ["add", "--deadline", text, "--", "true"], ["get", "--deadline", text, "http://127.0.0.1:9/"],
      ] {
        let refused = try await durable.run(arguments.map { Array($0.utf8) })
        #expect(refused.status == .exited(2))
        #expect(refused.stderr.contains("--deadline"))
      }
      #expect(try await durable.add("--", "true") == 1)
    }

    @Test("that is no time is refused, and nothing is added")
    func noTime() async throws {
      let refused = try await durable("add", "--deadline", "soon", "--", "true")
      #expect(refused.status == .exited(2))
      #expect(refused.stderr.contains("soon"))
      #expect(try await durable.add("--", "true") == 1)
    }
  }
#endif
