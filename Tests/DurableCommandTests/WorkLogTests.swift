#if Shell
  import Console
  import DurableJobs
  import Foundation
  import GRDBSQLite
  import Testing

  @testable import durable

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

    @Test(
      "why a job failed stands below its line where that has no room for it, as in status",
      arguments: [40, 60, 80, 120])
    func reasons(width: Int) throws {
      let reason = "exited with code 22, and said a lot about why it did: there was no more room on the disk for that"
      let line = WorkLine(
        id: JobID(rawValue: 7), mark: .failed, title: "curl -fO https://example.org/a", detail: reason)
      let lines = line.lines(for: .out, width: width)
      #expect(lines.count == (width == 40 ? 3 : width < 100 ? 3 : 2), "\(lines)")
      #expect(lines[0].hasPrefix("   7  failed  curl -f"))
      for line in lines { #expect(line.columns < width, "\(line)") }
      let words = lines.dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
      #expect(width < 80 ? words.hasSuffix("…") : words == reason)
      #expect(line.lines(for: .out, width: nil) == ["   7  failed  curl -fO https://example.org/a  \(reason)"])
      var short = line
      short.detail = "exited with code 22"
      #expect(
        short.lines(for: .out, width: 80) == ["   7  failed  curl -fO https://example.org/a  exited with code 22"])
    }

    @Test("which jobs have failed is kept only where they are counted in the end", arguments: [false, true])
    func failures(areCounted: Bool) {
      let log = WorkLog(json: true, countsFailures: areCounted)
      log.hear(.committed([JobTransition(id: JobID(rawValue: 1), queue: "q", kind: "k", state: .failed)]))
      #expect(log.failures(in: ["q"]) == (areCounted ? 1 : 0) && log.hasFailures)
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
