#if Postgres
  import DurableJobs
  import DurableJobsProcess
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  /// Workers that end without a word, and their leases have an hour to come.
  @Suite struct NeighbourTests {
    private let server: TestServer
    private let schema = TestServer.schema()
    private let store: PostgresStore
    private let record: String

    init() async throws {
      server = try TestServer.shared.get()
      store = try await server.store(schema)
      record = FileManager.default.temporaryDirectory.appending(path: "record-\(schema)").path
    }

    @discardableResult
    private func sql(_ text: String) throws -> [[String]] { try server.psql(text, schema: schema) }

    /// A process that runs a job, and goes on with it until it is killed.
    private func worker(behind command: [String] = []) async throws -> ChildProcess {
      let words = command + [URL.built("CrashProbe").path, "work", "\(server.string()) schema=\(schema)", record]
      let process = try ChildProcess("/usr/bin/env", words)
      _ = try await store.insert(JobInsertion([.plain("hold")]))
      try await until { try await runs() }
      // It has told others by then that it lives.
      _ = try await store.insert(JobInsertion([.plain("work")]))
      try await until { try await store.counts(where: .kind("work"))[.succeeded] == 1 }
      return process
    }

    private func runs() async throws -> Bool {
      try await store.counts(where: .kind("hold"))[.running] == 1
    }

    /// Kills it, with an hour of its lease to come, or what it renews it for at that moment.
    private func kill(_ process: ChildProcess) async throws {
      try sql("UPDATE worker SET lease_until=lease_until+3600000 WHERE lease_until>0")
      process.send(SIGKILL)
      await process.ended()
    }

    @Test("What a killed process ran comes back with the first look, and its worker is told to have died")
    func looked() async throws {
      let process = try await worker()
      #expect(try await store.workers().map(\.standing) == [.alive])
      try await kill(process)
      #expect(try sql("SELECT lease_until>extract(epoch FROM now())*1000 FROM worker") == [["t"]])
      #expect(try await store.workers().map(\.standing) == [.dead])
      let report = try await store.recover(RecoveryRequest())
      #expect(report.recovered == 1 && report.comeAgain == nil)
      #expect(try await !runs())
      #expect(try await store.workers().isEmpty)
    }

    enum Arrival: CaseIterable { case beforeTheWorker, beforeItsEnd, afterIt }

    @Test("Who listens has it come back without a look of its own", arguments: Arrival.allCases)
    func noticed(arrival: Arrival) async throws {
      let (told, continuation) = AsyncStream.makeStream(of: Void.self)
      var subscription: StoreSignals.Subscription?
      func listen() async {
        subscription = store.signals.listen { if case .changedElsewhere(.all) = $0 { continuation.yield() } }
        // It hears from now on.
        for await _ in told { break }
      }
      if arrival == .beforeTheWorker { await listen() }
      let process = try await worker()
      if arrival == .beforeItsEnd { await listen() }
      try await kill(process)
      if arrival == .afterIt { await listen() }
      try await until { try await !runs() }
      withExtendedLifetime(subscription) {}
    }

    enum Failing: CaseIterable { case theLookForNeighbours, theRecovery }

    @Test(
      "Who listens, and has no worker, has it come back also where its first look failed", arguments: Failing.allCases)
    func failing(what: Failing) async throws {
      let other = try await server.store(schema, "options='-c log_min_messages=error'")
      let (told, continuation) = AsyncStream.makeStream(of: Void.self)
      var subscription: StoreSignals.Subscription?
      func listen() async {
        subscription = other.signals.listen { if case .changedElsewhere(.all) = $0 { continuation.yield() } }
        for await _ in told { break }
      }
      if what == .theRecovery { await listen() }
      let process = try await worker()
      try sql("UPDATE worker SET lease_until=lease_until+3600000 WHERE lease_until>0")
      try sql("ALTER TABLE worker RENAME TO away")
      if what == .theLookForNeighbours { await listen() }
      if what == .theRecovery {
        process.send(SIGKILL)
        await process.ended()
      }
      try await until { try log().contains("\"\(schema).worker\" does not exist") }
      try sql("ALTER TABLE away RENAME TO worker")
      if what == .theLookForNeighbours {
        process.send(SIGKILL)
        await process.ended()
      }
      try await until { try await !runs() }
      withExtendedLifetime(subscription) {}
      await other.close()
    }

    @Test("Who is told of nothing, as behind a pooler, has it come back by its looks, and has no worker itself")
    func looksOnly() async throws {
      let other = try await server.store(schema) { ($0.isPooled, $0.pollInterval) = (true, .milliseconds(10)) }
      let subscription = other.signals.listen { _ in }
      await until { other.engine.outlook.value != nil }
      let process = try await worker()
      try await kill(process)
      try await until { try await !runs() }
      withExtendedLifetime(subscription) {}
      await other.close()
    }

    /// What the server has said, of errors where it was asked to.
    private func log() throws -> String {
      String(decoding: try Data(contentsOf: URL(filePath: server.folder + "/log")), as: UTF8.self)
    }

    @Test("Whoever watches is told of each death once, however many die at once and however many watch")
    func many() async throws {
      let own = try #require(WorkerProcess.current())
      let children = try (0..<50).map { _ in try ChildProcess("/usr/bin/env", ["sleep", "600"]) }
      let processes = try children.map { child in
        let start = try #require(ProcessEntry(child.pid)).start
        return try #require(
          WorkerProcess(number: Int64(child.pid), start: Int64(clamping: start), machine: own.machine))
      }
      let deaths = Lock(0)
      let watches = (0..<40).map { _ in DeathWatch(own: own) }
      for watch in watches { watch.begin { deaths.withLock { $0 += 1 } } }
      // Half of them end while they watch.
      await withTaskGroup(of: Void.self) { group in
        for watch in watches { group.addTask { for process in processes.prefix(25) { watch.watch(process) } } }
      }
      for child in children.prefix(25) { child.send(SIGKILL) }
      await withTaskGroup(of: Void.self) { group in
        for watch in watches { group.addTask { for process in processes.dropFirst(25) { watch.watch(process) } } }
        for child in children.prefix(25) { group.addTask { await child.ended() } }
      }
      for child in children.dropFirst(25) { child.send(SIGKILL) }
      for child in children { await child.ended() }
      await until { deaths.withLock { $0 } == children.count * watches.count }
      for watch in watches { watch.end() }
      // Of one that has ended before it is watched, too; and after the end nobody is told anything.
      let late = DeathWatch(own: own)
      late.begin { deaths.withLock { $0 += 1 } }
      late.watch(processes[0])
      late.end()
      late.watch(processes[0])
      #expect(deaths.withLock { $0 } == children.count * watches.count + 1)
    }

    enum Place: CaseIterable {
      case here, otherStart, noSuchProcess, otherMachine, unknownMachine
      var isDead: Bool { self == .otherStart || self == .noSuchProcess }
    }

    @Test("Only a process of this very machine is judged, by its number and its start", arguments: Place.allCases)
    func judged(place: Place) async throws {
      _ = try await store.insert(JobInsertion([.plain()]))
      let holder = try await server.store(schema)
      #expect(try await holder.claim(.of(1)).jobs.count == 1)
      let gone = try ChildProcess("/usr/bin/env", ["true"])
      await gone.ended()
      switch place {
      case .here: break
      case .otherStart: try sql("UPDATE worker SET process_start=process_start-1")
      case .noSuchProcess: try sql("UPDATE worker SET pid=\(gone.pid)")
      case .otherMachine: try sql("UPDATE worker SET pid=\(gone.pid),machine='another'||machine")
      case .unknownMachine: try sql("UPDATE worker SET pid=\(gone.pid),machine=NULL,process_start=NULL")
      }
      #expect(try await store.workers().map(\.standing) == [place.isDead ? .dead : .alive])
      #expect(try await store.recover(RecoveryRequest()).recovered == (place.isDead ? 1 : 0))
      await holder.close()
    }

    #if os(Linux)
      @Test(
        "A worker of a container is left alone from outside, where its number is another's",
        .enabled(if: Self.canMakeContainers), arguments: [["--mount-proc"], []])
      func container(mounts: [String]) async throws {
        let process = try await worker(behind: ["unshare", "--pid", "--fork", "--kill-child"] + mounts)
        #expect(try sql("SELECT pid,machine IS NULL FROM worker") == [["1", mounts.isEmpty ? "t" : "f"]])
        #expect(try await store.workers().map(\.standing) == [.alive])
        #expect(try await store.recover(RecoveryRequest()).recovered == 0)
        // Nobody out here can tell that it has ended, either.
        try sql("UPDATE worker SET lease_until=lease_until+3600000")
        process.send(SIGKILL)
        await process.ended()
        #expect(try await store.workers().map(\.standing) == [.alive])
        #expect(try await store.recover(RecoveryRequest()).recovered == 0)
      }

      private static let canMakeContainers: Bool = {
        let test = try? ChildProcess("/usr/bin/env", ["unshare", "--pid", "--fork", "--mount-proc", "true"])
        if test?.wait() == .exited(0) { return true }
        print("skipped: no space of process numbers can be made here (unshare)")
        return false
      }()
    #endif
  }
#endif
