#if Shell
  import Foundation
  import GRDBSQLite
  import Testing

  @Suite("What a worker says")
  struct WorkLogTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    private func sql(_ text: String) throws {
      var store: OpaquePointer?
      try #require(sqlite3_open(durable.store, &store) == SQLITE_OK)
      defer { sqlite3_close_v2(store) }
      sqlite3_busy_timeout(store, .max)
      try #require(sqlite3_exec(store, text, nil, nil, nil) == SQLITE_OK)
    }

    @Test("that an old failed job is deleted is no failure of who drains a queue")
    func deleted() async throws {
      let old = try await durable.add("--", "false")
      #expect(try await durable("work", "--drain").status == .exited(1))
      try sql("UPDATE durable_job SET entered_at=entered_at-40*86400000")
      _ = try await durable.add("--", "true")
      let worked = try await durable("work", "--drain")
      #expect(try await durable("show", "\(old)").status == .exited(3), "it was deleted")
      #expect(worked.status == .exited(0), "\(worked.text)\(worked.stderr)")
    }

    @Test("a result that the store did not take is no success, and the end is said once")
    func refused() async throws {
      let (runs, goOn) = (try Fifo(in: durable, "runs"), try Fifo(in: durable, "go-on"))
      let id = try await durable.add("--shell", "--", "echo > runs; cat go-on")
      _ = try await durable.work { [durable] worker in
        _ = await runs.said()
        kill(worker.process, SIGSTOP)
        await goOn.say("now")
        try await durable.untilGone(id)
        #expect(try await durable("fail", "\(id)").status == .exited(0))
        kill(worker.process, SIGCONT)
        let next = try await durable.add("--", "true")
        try await worker.says("ended", next)
        kill(worker.process, SIGTERM)
        await worker.ends()
        #expect(await worker.results(id) == ["returned"])
        #expect(await worker.results(next) == ["succeeded"])
      }
    }

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
