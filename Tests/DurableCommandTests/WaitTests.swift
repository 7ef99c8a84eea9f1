#if Shell
  import DurableJobs
  import DurableJobsProcess
  import Foundation
  import TestProcesses
  import Testing

  @testable import durable

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

    @Test("two queues are not idle where one got work of the other after it was asked, however that job has left off")
    func passedOn() async throws {
      for exit in [JobExit.suspend(because: "enough"), .permanent(JobError(.invalidArgument, "no"))] {
        let base = InMemoryStore()
        try await JobQueue("b", store: base).enqueue(ShellCommand(["true"]))
        let store = MeddledStore(base) { queue in
          guard queue == "b", try await base.counts(where: .queue("a"))[.ready] == 0 else { return }
          let worker = JobWorker(JobQueue("b", store: base))
          worker.register(ShellCommand.self) { command, _ in
            try await JobQueue("a", store: base).enqueue(command)
            throw exit
          }
          _ = try await worker.runNext()
        }
        #expect(try await !store.areIdle(["a", "b"]))
        #expect(try await base.counts(where: .queue("b"))[.ready] == 0)
      }
    }
  }

  /// A store that something is done to before it is asked whether a queue is idle.
  private final class MeddledStore: PassingStore {
    let base: any JobStore
    private let meddle: @Sendable (String) async throws -> Void

    init(_ base: any JobStore, _ meddle: @escaping @Sendable (String) async throws -> Void) {
      self.base = base
      self.meddle = meddle
    }

    func outstanding(_ scope: WorkScope) async throws -> OutstandingWork {
      if case .queue(let name, _) = scope { try await meddle(name) }
      return try await base.outstanding(scope)
    }
  }
#endif
