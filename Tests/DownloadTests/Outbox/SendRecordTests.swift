#if HTTP
  import DurableJobs
  import DurableJobsSQLite
  import DurableJobsTesting
  import Foundation
  import LyingServer
  import TestProcesses
  import Testing

  @testable import DurableJobsHTTP

  /// What the next attempt of a request knows of one whose end was not stored.
  @Suite struct SendRecordTests {
    let server: LyingServer
    let folder: TestFolder
    let store: SQLiteStore
    let queue: JobQueue

    init() async throws {
      server = try await LyingServer()
      folder = try TestFolder("outbox")
      store = try SQLiteStore(path: folder.path("jobs.sqlite"))
      queue = JobQueue(store: store)
    }

    private var records: [String] { records("jobs.sqlite") }

    private func records(_ store: String) -> [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: folder.path("\(store)-outbox"))) ?? []).sorted()
    }

    /// A worker with an outbox of its own, as in a new process.
    private func worker(on store: (any JobStore)? = nil) -> JobWorker {
      let store = store ?? self.store
      let worker = JobWorker(JobQueue(store: store))
      Outbox(store: store, environment: [:]).register(with: worker)
      return worker
    }

    private func post(key: String? = "k-1") throws -> SendRequest {
      SendRequest(.post, try server.at("/orders"), body: .data(Data("tea".utf8)), idempotencyKey: key)
    }

    /// Runs a worker, and stops it at once when `condition` holds.
    private func run(_ worker: JobWorker, until condition: @escaping @Sendable () async throws -> Void) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await worker.run() }
        try await condition()
        await worker.stop(grace: .zero)
        try await group.waitForAll()
      }
    }

    @Test(arguments: ["k-1", nil])
    func `what a server has answered is not asked again, though the store had no room for it`(key: String?) async throws
    {
      server.serve("/orders", .page(201, "made").with("Location", "/orders/7"))
      let path = folder.path("full.sqlite")
      let first = try SQLiteStore(path: path)
      let full = FaultyStore(first)
      full.fail(next: .max, .settle, with: JobError(.diskFull, "no room"))
      let id = try await JobQueue(store: full).enqueue(try post(key: key)).id
      await #expect(throws: JobError.self) {
        try await run(worker(on: full)) { await until { full.calls(of: .settle) > 0 } }
      }
      #expect(records("full.sqlite") == ["\(id).sent"])
      // As its process would by its death.
      await first.close()
      let second = try SQLiteStore(path: path)
      try await worker(on: second).runUntilIdle()
      let job = try await second.job(id, detail: .all)
      #expect(job.state == .succeeded, "\(job)")
      #expect(job.answer?.status == 201)
      #expect(job.answer?.body == Data("made".utf8))
      #expect(job.answer?["Location"] == "/orders/7")
      #expect(server.requests.count == 1)
      #expect(records("full.sqlite").isEmpty)
    }

    @Test func `what a server has answered is noted before the body of its answer has come`() async throws {
      server.serve("/orders", .page(201, "made").with("Location", "/orders/7").holding(after: 2))
      let request = try post()
      let id = try await queue.enqueue(request).id
      let date = try await queue.job(id).createdAt
      let path = folder.path("jobs.sqlite-outbox/\(id).sent")
      try await run(worker()) { [store] in
        await until { FileManager.default.contents(atPath: path)?.range(of: Data("\"status\":201".utf8)) != nil }
        // As an attempt of another process finds it, if this one dies now.
        let record = try SendRecord(of: request, by: id, storedAt: date, in: BodyFolder(of: store))
        let answer = try #require(record?.answer)
        #expect(answer.status == 201)
        #expect(answer["Location"] == "/orders/7")
        #expect(answer.body.isEmpty && answer.isCut)
        server.release()
        _ = try await queue.store.firstAfterEachSignal { try await queue.counts()[.succeeded] == 1 ? true : nil }
      }
      #expect(try await store.job(id, detail: .all).answer?.body == Data("made".utf8))
      #expect(records.isEmpty)
    }

    @Test func `a first conflict in a new process may be that of a request that was stopped`() async throws {
      server.serve("/orders", .silence, .page(409), .page(200))
      let job = try await queue.enqueue(try post())
      try await run(worker()) { [server] in await server.held("/orders") }
      try await worker().runUntilIdle()
      #expect(try await queue.job(job.id).state == .succeeded)
      #expect(server.requests.count == 3)
      #expect(records.isEmpty)
    }

    @Test func `what reached nobody has not been sent, and a first conflict is one`() async throws {
      server.serve("/orders", .page(409))
      try await server.stopListening()
      let job = try await queue.enqueue(try post())
      try await run(worker()) { [queue] in
        _ = try await queue.store.firstAfterEachSignal { try await queue.counts()[.scheduled] == 1 ? true : nil }
      }
      #expect(records.isEmpty)
      try await server.listenAgain()
      try await worker().runUntilIdle()
      #expect(try await queue.job(job.id).state == .failed)
      #expect(server.requests.count == 1)
      #expect(records.isEmpty)
    }

    @Test func `what met the end of a kept connection may have arrived, and the next process knows`() async throws {
      server.serve("/orders", .page(200), .silence, .page(409), .page(200))
      let first = try await queue.enqueue(try post(key: "k-0"))
      let second = Lock<JobID?>(nil)
      try await run(worker()) { [server, queue] in
        _ = try await first.value
        let id = try await queue.enqueue(try post()).id
        second.withLock { $0 = id }
        await server.held("/orders")
        try await server.stopListening()
        server.closeConnections()
        _ = try await queue.store.firstAfterEachSignal { try await queue.counts()[.scheduled] == 1 ? true : nil }
      }
      let id = try #require(second.withLock { $0 })
      #expect(records == ["\(id).sent"])
      try await server.listenAgain()
      try await worker().runUntilIdle()
      #expect(try await queue.job(id).state == .succeeded)
      #expect(server.requests.count == 4)
      #expect(records.isEmpty)
    }

    @Test func `a request that failed without an answer may have arrived, and its retry knows`() async throws {
      server.serve("/orders", .hangUp, .hangUp, .page(409), .page(200))
      let job = try await queue.enqueue(try post(), options: JobOptions(maxAttempts: 2))
      try await worker().runUntilIdle()
      #expect(try await queue.job(job.id).state == .failed)
      #expect(records == ["\(job.id).sent"])
      #expect(folder.size("jobs.sqlite-outbox/\(job.id).sent") ?? .max < 100, "what was for its answer is free again")
      try await queue.retry(job.id)
      try await worker().runUntilIdle()
      #expect(try await queue.job(job.id).state == .succeeded)
      #expect(server.requests.count == 4)
      #expect(records.isEmpty)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"))
    func `where no file can be made for its answer nothing is sent`() async throws {
      let disk = try SmallDisk(in: folder, megabytes: 8, files: 100)
      server.serve("/orders", .page(200))
      let small = try SQLiteStore(path: folder.path("small.sqlite"))
      let queue = JobQueue(store: small)
      try await run(worker(on: small)) { [folder] in
        // The worker has what it needs.
        _ = try await queue.enqueue(try SendRequest(.get, #require(URL(string: "http://127.0.0.1:1/")))).id
        _ = try await small.firstAfterEachSignal { try await queue.counts()[.scheduled] == 1 ? true : nil }
        try FileManager.default.removeItem(atPath: folder.path("small.sqlite-outbox"))
        var fillers = 0
        while FileManager.default.createFile(atPath: folder.path("filler-\(fillers)"), contents: nil) { fillers += 1 }
        let id = try await queue.enqueue(try post()).id
        _ = try await small.firstAfterEachSignal {
          try await queue.job(id).progress?.message?.contains("no room to note") == true ? true : nil
        }
      }
      #expect(server.requests.isEmpty)
      await small.close()
      withExtendedLifetime(disk) {}
    }

    @Test func `what came to no secure connection has not been sent`() async throws {
      let secure = try await LyingServer(certificate: SecureTests.certificate)
      let id = try await queue.enqueue(
        SendRequest(.post, try secure.at("/orders", by: "localhost"), body: .data(Data("tea".utf8)))
      ).id
      try await run(worker()) { [queue] in
        _ = try await queue.store.firstAfterEachSignal { try await queue.counts()[.scheduled] == 1 ? true : nil }
      }
      #expect(try await store.job(id, detail: .all).lastError.contains("the certificate of localhost"))
      #expect(records.isEmpty)
      #expect(secure.requests.isEmpty)
    }

    @Test func `a request that was stopped, and then refused, may have arrived for a retry still`() async throws {
      server.serve("/orders", .silence, .page(404))
      let job = try await queue.enqueue(try post())
      try await run(worker()) { [server] in await server.held("/orders") }
      #expect(records == ["\(job.id).sent"])
      try await worker().runUntilIdle()
      #expect(try await queue.job(job.id).state == .failed)
      #expect(records == ["\(job.id).sent"])
      try await queue.remove(job.id)
      try await BodyFolder(of: store).sweep(store, at: store.clock.uptime)
      #expect(records.isEmpty)
    }

    // MARK: The record

    private let made = HTTPAnswer(
      status: 201, headers: [HTTPHeader("ETag", "e")], body: Data("made".utf8), isCut: false)

    private func record(of request: SendRequest, by job: Int64 = 7, at date: Date = Date(timeIntervalSince1970: 1))
      throws -> SendRecord
    {
      try #require(
        try SendRecord(of: request, by: JobID(rawValue: job), storedAt: date, in: BodyFolder(of: store)))
    }

    @Test func `an answer is that of the job that it was noted for, and of no other with its number`() throws {
      let request = try post()
      let first = try record(of: request)
      #expect(!first.wasSent && first.answer == nil)
      #expect(try record(of: request).wasSent)
      first.note(made)
      let second = try record(of: request)
      #expect(second.wasSent && second.answer == made)
      let later = try record(of: request, at: Date(timeIntervalSince1970: 2))
      #expect(!later.wasSent && later.answer == nil)
      later.note(made)
      let other = try record(of: post(key: nil), at: Date(timeIntervalSince1970: 2))
      #expect(!other.wasSent && other.answer == nil)
    }

    @Test func `who reached nobody takes its record away, but not from an attempt that came after it`() throws {
      let bodies = BodyFolder(of: store)
      let request = try post()
      try record(of: request).remove(from: bodies)
      #expect(records.isEmpty)
      let frozen = try record(of: request)
      let second = try record(of: request)
      frozen.remove(from: bodies)
      #expect(records == ["7.sent"])
      second.note(made)
      frozen.remove(from: bodies)
      #expect(try record(of: request).answer == made)
    }

    @Test func `an answer that was cut off while it was noted is none`() throws {
      let request = try post()
      let path = folder.path("jobs.sqlite-outbox/7.sent")
      try record(of: request).note(made)
      let whole = try Data(contentsOf: URL(filePath: path))
      let end = try #require(whole.lastIndex { $0 != 0 })
      for length in stride(from: 0, through: end, by: 7) {
        try (whole.prefix(length) + Data(count: whole.count - length)).write(to: URL(filePath: path))
        #expect(try record(of: request).answer == nil)
      }
    }

    @Test func `what was noted of an answer stays where its body is cut off while that is noted`() throws {
      let request = try post()
      let path = folder.path("jobs.sqlite-outbox/7.sent")
      let head = HTTPAnswer(status: 201, headers: made.headers, body: Data(), isCut: true)
      let first = try record(of: request)
      first.note(head)
      let before = try Data(contentsOf: URL(filePath: path))
      first.note(made)
      let after = try Data(contentsOf: URL(filePath: path))
      let end = try #require(after.lastIndex { $0 != 0 })
      var isWhole: [Bool] = []
      for length in stride(from: 0, through: end + 1, by: 1) {
        try (after.prefix(length) + before.dropFirst(length)).write(to: URL(filePath: path))
        let answer = try #require(try record(of: request).answer)
        #expect(answer == head || answer == made)
        isWhole.append(answer == made)
      }
      #expect(isWhole.first == false && isWhole.last == true)
    }

    @Test func `a long answer is noted whole`() throws {
      let request = try post()
      let long = HTTPAnswer(
        status: 200, headers: [], body: Data((0..<HTTPAnswer.mostBytes).map { UInt8($0 % 32) }), isCut: false)
      try record(of: request).note(long)
      #expect(try record(of: request).answer == long)
    }

    @Test func `records of jobs that have succeeded or are gone are swept, and no others`() async throws {
      let bodies = BodyFolder(of: store)
      var ids: [JobID] = []
      for _ in 1...3 { ids.append(try await queue.enqueue(try post(key: nil)).id) }
      for id in ids + [JobID(rawValue: 99)] { _ = try record(of: try post(), by: id.rawValue) }
      try await queue.cancel(ids[0])
      try await queue.complete(ids[1])
      try await bodies.sweep(store, at: store.clock.uptime)
      #expect(records == ["\(ids[0]).sent", "\(ids[2]).sent"])
    }

    @Test(.enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"))
    func `where there is no room to note what is answered, nothing is sent`() async throws {
      let disk = try SmallDisk(in: folder, megabytes: 4)
      let store = try SQLiteStore(path: folder.path("small.sqlite"))
      let bodies = BodyFolder(of: store)
      #expect(bodies.make())
      #expect(FileManager.default.createFile(atPath: folder.path("rest"), contents: nil))
      let rest = try FileHandle(forWritingTo: URL(filePath: folder.path("rest")))
      for size in [65_536, 4096] { while (try? rest.write(contentsOf: Data(count: size))) != nil {} }
      let error = #expect(throws: RequestError.self) {
        try SendRecord(of: try post(), by: JobID(rawValue: 1), storedAt: Date(), in: bodies)
      }
      #expect(error?.code == .shortage)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("small.sqlite-outbox")).isEmpty)
      await store.close()
      withExtendedLifetime(disk) {}
    }
  }
#endif
