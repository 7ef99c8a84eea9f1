#if Shell && Postgres
  import DurableJobs
  import DurableJobsPostgres
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsSQLite

  @Suite struct MoveTests {
    private let server: TestServer
    private let database: String
    private let durable: Durable
    private var file: String { durable.folder + "/old.sqlite" }

    init() throws {
      server = try TestServer.shared.get()
      database = try server.database()
      durable = try Durable(store: server.string(database: database))
    }

    private func sql(_ text: String) throws -> [[String]] {
      try server.psql(text, schema: "durable_jobs", database: database)
    }

    private func move() async throws -> Durable.Outcome {
      try await durable("move", "--from", file, "--to", durable.store)
    }

    private func paused(_ durable: Durable) async throws -> [String]? {
      try await durable("status", "--json").json["paused"] as? [String]
    }

    /// Has the next change of a pause in the file fail, or ends that.
    private func breakFile(_ isBroken: Bool) async throws {
      let store = try SQLiteStore(path: file)
      let trigger = "TRIGGER broken BEFORE UPDATE OF paused ON durable_queue BEGIN SELECT RAISE(ABORT,'is broken'); END"
      try await store.engine.write(.other) {
        try Statement(isBroken ? "CREATE \(trigger)" : "DROP TRIGGER broken", on: $0.connection.handle).run()
      }
      await store.close()
    }

    /// Both stores answer alike, but that nobody goes on with the old one.
    private func expectSame(sourceLocation: SourceLocation = #_sourceLocation) async throws {
      let old = try SQLiteStore(path: file)
      let new = try await PostgresStore(durable.store)
      let detail: JobQuery.Detail = [.payload, .output, .failures, .edges, .steps]
      let (before, after) = (
        try await old.jobs(JobQuery(detail: detail, limit: 100_000)),
        try await new.jobs(JobQuery(detail: detail, limit: 100_000))
      )
      #expect(before.count == after.count, sourceLocation: sourceLocation)
      for (before, after) in zip(before, after) where before != after {
        Issue.record("\(before)\nbecame\n\(after)", sourceLocation: sourceLocation)
      }
      #expect(try await old.counts(where: .all) == new.counts(where: .all), sourceLocation: sourceLocation)
      let settings = (try await old.settings(), try await new.settings())
      #expect(
        settings.0.filter { $0.pausedQueue == nil } == settings.1.filter { $0.pausedQueue == nil },
        sourceLocation: sourceLocation)
      let queues = Set(before.map(\.queue))
      #expect(queues.isSubset(of: settings.0.compactMap(\.pausedQueue)), sourceLocation: sourceLocation)
      #expect(
        try await old.batches(.newest(1000)) == new.batches(.newest(1000)), sourceLocation: sourceLocation)
      let faults = try WholeStore.faults(of: server, schema: "durable_jobs", database: database)
      #expect(faults == [], sourceLocation: sourceLocation)
      let highest = before.last?.id.rawValue ?? 0
      let next = try await new.insert(
        JobInsertion([NewJob(queue: "new", kind: "k", payload: Data(), terms: JobTerms(), edges: [])]))
      #expect(next.ids[0].rawValue > highest, sourceLocation: sourceLocation)
      await old.close()
      await new.close()
    }

    @Test("What a random life has left in a file is on the server after a move", arguments: 1...3)
    func random(seed: Int) async throws {
      let file = file
      let store = Lock<SQLiteStore?>(nil)
      let subject = StoreUnderTest { policy in
        // Its workers are long gone by the clock of the program that moves it.
        let clock = ManualClock(now: Date(timeIntervalSinceNow: -6 * 3600))
        var configuration = SQLiteStore.Configuration()
        configuration.policy = policy
        configuration.clock = clock
        let made = try SQLiteStore(path: file, configuration: configuration)
        store.withLock { $0 = made }
        return (made, clock)
      }
      try await RandomHistory(seed: UInt64(seed), steps: 150).run(subject)
      await store.withLock { $0 }?.close()
      let outcome = try await move()
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      try await expectSame()
    }

    @Test("A store with everything is moved with its logs, and goes on where it was; again, nothing is done")
    func everything() async throws {
      let old = try Durable(store: file)
      let first = try await old.add("--key", "é", "--tag", "t", "--", "echo", "hello")
      let bad = try await old.add("--", "false")
      #expect(try await old("work", "--drain").status == .exited(1))
      #expect(try await old("batch", "create", "b").status == .exited(0))
      let next = try await old.add("--after", "\(first)", "--lane", "l", "--unique", "u", "--batch", "b", "--", "true")
      let later = try await old.add("--after", "k", "--lane", "l", "--", "true")
      let due = try await old.add("--delay", "1h", "--deadline", "2h", "--requires", "office", "--", "true")
      let fifo = try Fifo(in: old)
      let lost = try await old.add("--queue", "killed", "--", "sh", "-c", "echo runs >\(fifo.path); exec sleep 1000")
      _ = try await old.work("--queue", "killed") { worker in
        #expect(await fifo.said() == "runs")
        kill(worker.process, SIGKILL)
        await worker.ends()
      }
      let gone = try await old.add("--", "true")
      try await old("pause", "--queue", "slow")
      try await old("constraint", "set", "office", "no")
      try await old("limits", "set", "--queue", "slow", "--running", "2", "--rate", "5/1h", "--burst", "3")
      #expect(try await old("cancel", "\(gone)").status == .exited(0))
      #expect(try await old("remove", "\(gone)").status == .exited(0))
      let moved = try await move()
      #expect(moved.status == .exited(0) && moved.line.hasPrefix("6 jobs moved to postgres://"), "\(moved.stderr)")
      #expect(moved.stderr.contains("DURABLE_STORE"))
      let again = try await move()
      #expect(again.status == .exited(0) && again.line.contains("before: nothing was done"), "\(again.stderr)")
      #expect(try await durable("log", "\(first)").text == "hello\n")
      #expect(try await durable("status", "--json").json["paused"] as? [String] == ["slow"])
      #expect(try await durable("limits").text == "slow  2 at once, 5 an hour and 3 in a row; 0 running\n")
      try await expectSame()
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try await [durable.state(bad), durable.state(next)] == ["failed", "succeeded"])
      #expect(try await [durable.state(later), durable.state(due)] == ["blocked", "scheduled"])
      #expect(try await durable.state(lost) == "running")
      let new = try await durable.add("--", "true")
      #expect(new > gone)
      let late = try await old.add("--", "true")
      let refused = try await move()
      #expect(
        refused.status != .exited(0) && refused.stderr.contains("jobs \(late) to \(late) came"), "\(refused.stderr)")
    }

    @Test("Waits that were put right after the clock was set back stay so")
    func epoch() async throws {
      var configuration = SQLiteStore.Configuration()
      configuration.clock = ManualClock(now: Date(timeIntervalSinceNow: 100 * 24 * 3600))
      let store = try SQLiteStore(path: file, configuration: configuration)
      _ = try await store.insert(
        JobInsertion([
          NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(start: .after(.seconds(3600))), edges: [])
        ]))
      await store.close()
      #expect(try await durable("pause", "--store", file).status == .exited(0))
      let outcome = try await move()
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      try await expectSame()
    }

    @Test("A move that is killed in its middle leaves nothing, and is done again")
    func killed() async throws {
      let old = try Durable(store: file)
      for _ in 0..<3 { _ = try await old.add("--tag", "t", "--", "true") }
      try await old("pause", "--queue", "slow")
      #expect(try await durable("migrate").status == .exited(0))
      let (server, database) = (server, database)
      // Whoever holds this table stops the move after its jobs were written.
      try await server.holding("LOCK TABLE durable_jobs.step IN ACCESS EXCLUSIVE MODE", database: database) {
        let ended = try await durable.run("move", "--from", file, "--to", durable.store) { move in
          let waiting = "SELECT 1 FROM pg_stat_activity WHERE datname='\(database)' AND wait_event_type='Lock'"
          try await until { try !server.psql(waiting).isEmpty }
          kill(move.process, SIGKILL)
        }
        #expect(ended.status == .signaled(SIGKILL))
      }
      // The server finds out once its client has what it waits for.
      try await until { try sql("SELECT 1 FROM pg_locks WHERE relation='job'::regclass").isEmpty }
      #expect(try sql("SELECT count(*) FROM job") == [["0"]])
      #expect(try await paused(old) == ["default", "slow"])
      try await durable("constraint", "set", "office", "no")
      let refused = try await move()
      #expect(
        refused.status == .exited(2)
          && refused.stderr.contains("The queues of \(file) stay paused, as an earlier move left them"),
        "\(refused.stderr)")
      try await durable("constraint", "set", "office", "clear")
      let outcome = try await move()
      #expect(outcome.status == .exited(0) && outcome.line.hasPrefix("3 jobs moved"), "\(outcome.stderr)")
      #expect(try await paused(durable) == ["slow"])
      try await expectSame()
    }

    @Test("Nothing is on the server unless the file's queues are paused")
    func unpausable() async throws {
      let old = try Durable(store: file)
      _ = try await old.add("--", "true")
      try await breakFile(true)
      let refused = try await move()
      #expect(
        refused.status == .exited(5) && refused.stderr.contains("the store \(file) refused a row (is broken)")
          && refused.stderr.contains("Nothing was moved\n"), "\(refused.stderr)")
      #expect(try sql("SELECT count(*) FROM job") == [["0"]])
      try await breakFile(false)
      #expect(try await move().line.hasPrefix("1 job moved"))
    }

    @Test("Of a damaged file nothing is moved, what helps is said, and its queues go on")
    func damaged() async throws {
      let old = try Durable(store: file)
      let line = "echo " + String(repeating: "y", count: 300) + "\n"
      try Data(String(repeating: line, count: 300).utf8).write(to: URL(fileURLWithPath: old.folder + "/commands"))
      #expect(try await old("add", "-i", "commands").status == .exited(0))
      // Its log moves into the file.
      try await SQLiteStore(path: file).close()
      var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
      let pages = stride(from: 0, to: bytes.count, by: 4096).filter { start in
        bytes[start..<start + 4096].count { $0 == UInt8(ascii: "y") } > 1500
      }
      let page = try #require(pages.dropFirst(pages.count / 2).first)
      bytes.replaceSubrange(page..<page + 100, with: Data(count: 100))
      try bytes.write(to: URL(fileURLWithPath: file))
      let refused = try await move()
      #expect(
        refused.status == .exited(5) && refused.stderr.contains("`durable repair`")
          && refused.stderr.hasSuffix("Nothing was moved\n"), "\(refused.stderr)")
      #expect(try await paused(old) == [])
    }

    @Test("A move whose commit fails leaves the file's queues paused, as the server may have it all")
    func uncertain() async throws {
      let old = try Durable(store: file)
      _ = try await old.add("--", "true")
      #expect(try await durable("migrate").status == .exited(0))
      _ = try sql(
        """
        CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no commit''; END';
        CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON origin DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION fail()
        """)
      let failed = try await move()
      #expect(
        failed.status == .exited(5) && failed.stderr.contains("stay paused, as the server may have all of it"),
        "\(failed.stderr)")
      #expect(try await paused(old) == ["default"])
      _ = try sql("DROP TRIGGER fail ON origin; DROP FUNCTION fail()")
      #expect(try await move().line.hasPrefix("1 job moved"))
      #expect(try await paused(durable) == [])
    }

    @Test(
      "What came to a file after its move is told, and all of its queues are paused, since they have what was moved")
    func late() async throws {
      let old = try Durable(store: file)
      let moved = try await old.add("--", "true")
      #expect(try await move().status == .exited(0))
      try await old("unpause")
      let added = try await old("add", "--queue", "late", "--", "true")
      let late = try #require(Int(added.line))
      #expect(added.stderr.hasPrefix("\(file) was moved to postgres://"), "\(added.stderr)")
      let refused = try await move()
      #expect(
        refused.status == .exited(2) && refused.stderr.contains("jobs \(late) to \(late) came to the file since")
          && refused.stderr.contains("the jobs up to \(moved) would run here a second time"), "\(refused.stderr)")
      #expect(try await paused(old) == ["default", "late"])
    }

    @Test("Schedules are moved with what is paused; and if what came is not what was sent, nothing is")
    func schedules() async throws {
      let old = try Durable(store: file)
      try await old("schedule", "add", "nightly", "30 4 * * MON-FRI", "--time-zone", "Europe/Berlin", "--", "true")
      try await old("schedule", "add", "often", "--every", "1h", "--", "true")
      try await old("schedule", "pause", "often")
      let job = try await old.add("--", "true")
      let before = try await old("schedule", "--json").text
      #expect(try await durable("migrate").status == .exited(0))
      _ = try sql(
        """
        CREATE FUNCTION eat() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE TRIGGER eat BEFORE INSERT ON spec FOR EACH ROW WHEN (NEW.id=\(job)) EXECUTE FUNCTION eat()
        """)
      let refused = try await move()
      #expect(refused.status == .exited(5), "\(refused.stderr)")
      #expect(
        refused.stderr.contains("is not what was sent: ") && refused.stderr.contains("spec 2 for 3. Nothing was moved"))
      #expect(try sql("SELECT count(*) FROM job") == [["0"]])
      #expect(try await paused(old) == [])
      _ = try sql("DROP TRIGGER eat ON spec; DROP FUNCTION eat()")
      let moved = try await move()
      #expect(moved.status == .exited(0) && moved.line.hasPrefix("3 jobs moved"), "\(moved.stderr)")
      #expect(try await durable("schedule", "--json").text == before)
      #expect(try await durable("schedule", "resume", "often").text.hasPrefix("often goes on, "))
      #expect(try await old("schedule", "resume", "often").text.hasPrefix("often goes on, "))
    }

    @Test("Nothing is moved while a worker lives that lost its jobs, as one that was stopped, or while one begins")
    func dispossessed() async throws {
      let old = try Durable(store: file)
      let (durable, file) = (durable, file)
      let fifo = try Fifo(in: old)
      let id = try await old.add("--", "sh", "-c", "echo runs >\(fifo.path); exec sleep 1000")
      _ = try await old.work { worker in
        #expect(await fifo.said() == "runs")
        let store = try SQLiteStore(path: file)
        try await store.engine.write(.other) {
          try Statement("DELETE FROM durable_worker", on: $0.connection.handle).run()
        }
        await store.close()
        let refused = try await durable("move", "--from", file, "--to", durable.store)
        #expect(
          refused.status == .exited(1) && refused.stderr.contains("process \(worker.process) works on"), "\(refused)")
        try await old("cancel", "\(id)")
      }
      #expect(try await durable("migrate").status == .exited(0))
      let (server, database) = (server, database)
      try await server.holding("LOCK TABLE durable_jobs.step IN ACCESS EXCLUSIVE MODE", database: database) {
        let ended = try await durable.run("move", "--from", file, "--to", durable.store) { move in
          let waiting = "SELECT 1 FROM pg_stat_activity WHERE datname='\(database)' AND wait_event_type='Lock'"
          try await until { try !server.psql(waiting).isEmpty }
          _ = try await old.work { worker in
            let folder = try MeetingFolder(of: file)
            await until { !folder.heldLocks.isEmpty }
            let holder = "datname='\(database)' AND query LIKE 'BEGIN; LOCK TABLE%'"
            try server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE \(holder)")
            try await move.says("process \(worker.process) works on")
          }
        }
        #expect(ended.status == .exited(1))
      }
      #expect(try sql("SELECT count(*) FROM job") == [["0"]])
    }

    @Test("A command that outlives its killed worker has ended once its job is on a server")
    func outliving() async throws {
      let old = try Durable(store: file)
      let fifo = try Fifo(in: old)
      let script = "trap '' TERM; echo runs >\(fifo.path); while :; do sleep 0.1; done"
      let id = try await old.add("--", "sh", "-c", script)
      _ = try await old.work { worker in
        #expect(await fifo.said() == "runs")
        kill(worker.process, SIGKILL)
        await worker.ends()
      }
      let moved = try await move()
      #expect(moved.status == .exited(0), "\(moved.stderr)")
      #expect(try !old.lives(id))
    }

    @Test("Nothing is moved while somebody works on the file, or to where there is something")
    func refused() async throws {
      let old = try Durable(store: file)
      _ = try await old.add("--", "true")
      let (durable, file) = (durable, file)
      let fifo = try Fifo(in: old)
      let id = try await old.add("--", "sh", "-c", "echo runs >\(fifo.path); exec sleep 1000")
      _ = try await old.work { worker in
        #expect(await fifo.said() == "runs")
        let refused = try await durable("move", "--from", file, "--to", durable.store)
        #expect(
          refused.status != .exited(0) && refused.stderr.contains("\(worker.process) works on"), "\(refused.stderr)")
        try await old("cancel", "\(id)")
        try await worker.says("ended", id)
      }
      #expect(try await durable("add", "--", "true").line == "1")
      let used = try await move()
      #expect(used.status != .exited(0) && used.stderr.contains("where there is nothing"), "\(used.stderr)")
      #expect(try sql("SELECT count(*) FROM job") == [["1"]])
      for (from, to, says) in [
        (durable.folder + "/none.sqlite", durable.store, "does not exist"), (file, "/x/y", "--to is a file"),
        (durable.store, durable.store, "--from is a server"),
      ] {
        let outcome = try await durable("move", "--from", from, "--to", to)
        #expect(outcome.status != .exited(0) && outcome.stderr.contains(says), "\(outcome.stderr)")
      }
    }
  }

  extension StoreSetting {
    fileprivate var pausedQueue: String? { if case .queue(let name, isPaused: true) = self { name } else { nil } }
  }
#endif
