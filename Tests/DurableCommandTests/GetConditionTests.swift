#if Shell
  import Foundation
  import LyingServer
  import Subprocess
  import Testing

  @Suite("durable get, and what a download waits for")
  struct GetConditionTests {
    let durable: Durable
    let server: LyingServer
    private let content = Content(300_000)

    init() async throws {
      durable = try Durable()
      server = try await LyingServer()
    }

    private func file(_ name: String) -> Data? { FileManager.default.contents(atPath: durable.folder + "/" + name) }

    @Test("get --after fetches after a success, --after-failure after a failure, --after-end after either")
    func ends() async throws {
      server.serve("/a.bin", .file(content))
      #expect(try await durable("get", "--detach", "-O", "good", server.url("/a.bin")).line == "1")
      #expect(try await durable("get", "--detach", "-O", "bad", server.url("/missing")).line == "2")
      let waiting = [
        ("--after", "1", "succeeded"), ("--after", "2", "skipped"), ("--after-failure", "1", "skipped"),
        ("--after-failure", "2", "succeeded"), ("--after-end", "1", "succeeded"), ("--after-end", "2", "succeeded"),
      ]
      for (option, parent, _) in waiting {
        _ = try await durable("get", "--detach", option, parent, "-O", parent + option, server.url("/a.bin"))
      }
      #expect(try await durable.state(8) == "blocked")
      #expect(try await durable("work", "--drain").status == .exited(1))
      #expect(file("good") == Data(content.bytes))
      for (id, (option, parent, state)) in zip(3..., waiting) {
        #expect(try await durable.state(id) == state, "\(option) \(parent)")
        #expect(file(parent + option) == (state == "succeeded" ? Data(content.bytes) : nil), "\(option) \(parent)")
      }
    }

    @Test(
      "get --after-end and --after-failure wait for a key that comes later, and need --detach",
      arguments: [
        ("--after-end", "true"), ("--after-failure", "false"),
      ])
    func key(option: String, command: String) async throws {
      server.serve("/a.bin", .file(content))
      let refused = try await durable("get", option, "night", server.url("/a.bin"))
      #expect(refused.status == .exited(2))
      #expect(refused.stderr.contains("--detach leaves it to 'durable work'"), "\(refused.stderr)")
      #expect(try await durable("get", "--detach", option, "night", server.url("/a.bin")).line == "1")
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(file("a.bin") == nil)
      _ = try await durable.add("--key", "night", "--max-attempts", "1", "--", command)
      _ = try await durable("work", "--drain")
      #expect(file("a.bin") == Data(content.bytes))
    }

    @Test("what requires the network waits untouched while there is said to be none, and comes once there is")
    func network() async throws {
      server.serve("/a.bin", .file(content))
      server.serve("/orders", .page(201, "made"))
      try await durable("constraint", "set", "network", "no")
      #expect(try await durable("get", "--detach", "--requires", "network", server.url("/a.bin")).line == "1")
      #expect(try await durable("send", "POST", "--requires", "network", server.url("/orders")).line == "2")
      _ = try await durable.work { [self] worker in
        // Of three that are ready, the worker would begin these first.
        let other = try await durable.add("--", "true")
        try await worker.says("ended", other)
        for id in [1, 2] {
          let job = try await durable.job(id)
          #expect(job["state"] as? String == "ready")
          #expect(job["attempt"] as? Int == 0)
          let reason = try await durable("explain", "\(id)").text
          #expect(reason.contains("Job \(id) waits for network, which was set by hand to no"), "\(reason)")
        }
        #expect(server.requests.isEmpty)
        try await durable("constraint", "set", "network", "yes")
        for id in [1, 2] { try await worker.says("ended", id) }
      }
      #expect(file("a.bin") == Data(content.bytes))
      #expect(server.requests("/orders").count == 1)
      for id in [1, 2] {
        let job = try await durable.job(id)
        #expect(job["state"] as? String == "succeeded")
        #expect(job["attempt"] as? Int == 1)
      }
    }
  }
#endif
