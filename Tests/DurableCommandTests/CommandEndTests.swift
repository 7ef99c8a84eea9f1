#if Shell
  import Foundation
  import Testing

  /// Commands that have ended by themselves, when their worker is told to end.
  @Suite
  struct CommandEndTests {
    private let durable: Durable

    init() throws { durable = try Durable() }

    @Test(
      "an end that came before the stop counts, also where the second Ctrl-C ends what the command left",
      arguments: [0, 3])
    func ended(code: Int) async throws {
      let told = try Fifo(in: durable, "told")
      // It leaves something that does not end when it is told to.
      let line = "echo ran >> runs; (trap 'echo > told' TERM; while :; do sleep 0.05; done) & exit \(code)"
      let id = try await durable.add("--shell", "--", line)
      _ = try await durable.run("work") { worker in
        _ = await told.said()
        kill(worker.process, SIGINT)
        try await worker.says("Stopping")
        kill(worker.process, SIGINT)
      }
      #expect(try await durable.state(id) == (code == 0 ? "succeeded" : "failed"))
      _ = try await durable("work", "--drain")
      #expect(try String(contentsOfFile: durable.folder + "/runs", encoding: .utf8) == "ran\n")
    }
  }
#endif
