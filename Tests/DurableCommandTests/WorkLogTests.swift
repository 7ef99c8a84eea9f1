#if Shell
  import Foundation
  import GRDBSQLite
  import Testing

  @Suite("What a worker says")
  struct WorkLogTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("that a job is done is said once that is stored, and not as long as it can't be")
    func unstored() async throws {
      let (runs, goOn) = (try Fifo(in: durable, "runs"), try Fifo(in: durable, "go-on"))
      let id = try await durable.add("--shell", "--", "[ -e over ] || { echo > runs; cat go-on; }; : > over")
      _ = try await durable.work { [durable] worker in
        try await worker.says("started", id)
        _ = await runs.said()
        var writer: OpaquePointer?
        try #require(sqlite3_open(durable.store, &writer) == SQLITE_OK)
        defer { sqlite3_close_v2(writer) }
        sqlite3_busy_timeout(writer, .max)
        try #require(sqlite3_exec(writer, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
        await goOn.say("now")
        try await durable.untilGone(id)
        // Its end is known to the worker, which has had time for a line.
        #expect(try await durable.state(id) == "running")
        kill(worker.process, SIGKILL)
        await worker.ends()
        #expect(await !worker.hasSaid("ended", id))
      }
      _ = try await durable.work("--drain") { worker in
        try await worker.says("ended", id)
        await worker.ends()
      }
      #expect(try await durable.state(id) == "succeeded")
    }
  }
#endif
