#if Service
  import DurableJobs
  import DurableJobsService
  import DurableJobsTesting
  import Foundation
  import Logging
  import ServiceLifecycle
  import ServiceLifecycleTestKit
  import Testing

  struct Errand: JobPayload {
    static let kind = "errand"
    var name = "shop"
  }

  @Suite struct ServiceTests {
    let queue = JobQueue(store: InMemoryStore())

    @Test func `A worker in a group runs jobs until the group shuts down, and lets what runs end`() async throws {
      let (begun, mayEnd) = (Gate(), Gate())
      let worker = JobWorker(queue, maxConcurrentJobs: 1)
      worker.register(Errand.self) { errand, _ in
        begun.open()
        await mayEnd.pass()
      }
      let first = try await queue.enqueue(Errand())
      try await testGracefulShutdown { trigger in
        try await withThrowingTaskGroup { group in
          group.addTask {
            try await ServiceGroup(
              services: [worker.service(grace: .seconds(600))], logger: Logger(label: "test")
            ).run()
          }
          await begun.pass()
          trigger.triggerGracefulShutdown()
          mayEnd.open()
          try await group.waitForAll()
        }
      }
      #expect(try await first.snapshot.state == .succeeded)
      let second = try await queue.enqueue(Errand())
      #expect(try await second.snapshot.state == .ready)
    }

    @Test func `What has not ended within its grace goes back, its attempt given back`() async throws {
      let begun = Gate()
      let worker = JobWorker(queue)
      worker.register(Errand.self) { _, context in
        begun.open()
        while context.stopReason == nil { await Task.yield() }
        throw CancellationError()
      }
      let job = try await queue.enqueue(Errand())
      try await testGracefulShutdown { trigger in
        try await withThrowingTaskGroup { group in
          group.addTask { try await worker.service(grace: .zero).run() }
          await begun.pass()
          trigger.triggerGracefulShutdown()
          try await group.waitForAll()
        }
      }
      let snapshot = try await job.snapshot
      #expect((snapshot.state, snapshot.attempt) == (.ready, 0))
    }

    @Test func `A worker that can't run ends its group with the error`() async throws {
      let worker = JobWorker(queue, maxConcurrentJobs: 0)
      let group = ServiceGroup(services: [worker.service()], logger: Logger(label: "test"))
      let error = await #expect(throws: JobError.self) { try await group.run() }
      #expect(error?.code == .invalidArgument)
    }
  }
#endif
