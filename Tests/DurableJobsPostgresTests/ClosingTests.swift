#if Postgres
  import DurableJobs
  import DurableJobsPostgres
  import Foundation
  import PostgresTestServer
  import Testing

  @Suite struct ClosingTests {
    @Test("A store that is closed gives back what its worker runs, also in a task that is cancelled")
    func giveBack() async throws {
      let (server, schema) = (try TestServer.shared.get(), TestServer.schema())
      let store = try await server.store(schema)
      let worker = JobWorker(JobQueue(store: store))
      let (began, mayEnd) = (Gate(), Gate())
      worker.register(kind: "work") { _, _ in
        began.open()
        await Task { await mayEnd.pass() }.value
        return nil
      }
      let id = try await store.insert(JobInsertion([.plain()])).ids[0]
      let run = Task { try await worker.run() }
      await began.pass()
      await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        await store.close()
      }.value
      let again = try await server.store(schema)
      let job = try #require(try await again.jobs(JobQuery(.id(id))).first)
      #expect(job.state == .ready)
      #expect((job.attempt, job.crashes) == (0, 0))
      mayEnd.open()
      await #expect { try await run.value } throws: { ($0 as? JobError)?.code == .closed }
      await store.close()
      await again.close()
    }
  }
#endif
