#if Shell
  import DurableJobs
  import Foundation
  import Testing

  @Suite("What is waited for")
  struct WaitTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("several queues are idle once all of them are: one that was may have got work of another")
    func severalQueues() async throws {
      let first = try await durable.add("--queue", "b", "--", "true")
      let second = try await durable.add("--queue", "a", "--after", "\(first)", "--", "true")
      let waited = try await durable.run("wait", "--queue", "a", "--queue", "b") { [durable] program in
        // It has passed over the queue 'a' by then, in which nothing can begin yet.
        try await program.says("Job \(first) ")
        #expect(try await durable("work", "--drain", "--queue", "b").status == .exited(0))
        try await program.says("Job \(second) ")
        #expect(try await durable("work", "--drain", "--queue", "a").status == .exited(0))
      }
      #expect(waited.status == .exited(0))
      #expect(!waited.stderr.contains("Idle"), "\(waited.stderr)")
      #expect(try await durable.state(second) == "succeeded")
    }
  }
#endif
