#if HTTP
  import DurableJobs
  import DurableJobsSQLite
  import DurableJobsTesting
  import Foundation
  import LyingServer
  import NIOCore
  import NIOPosix
  import TestProcesses
  import Testing

  @testable import DurableJobsHTTP

  @Suite struct OutboxBodyTests {
    let server: LyingServer
    let folder: TestFolder
    let store: SQLiteStore
    let queue: JobQueue
    let worker: JobWorker
    private let file: URL
    private var copies: [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: folder.path("jobs.sqlite-outbox"))) ?? []).sorted()
    }

    init() async throws {
      server = try await LyingServer()
      folder = try TestFolder("outbox")
      store = try SQLiteStore(path: folder.path("jobs.sqlite"))
      queue = JobQueue(store: store)
      worker = JobWorker(queue)
      Outbox(store: store, environment: [:]).register(with: worker)
      file = URL(filePath: folder.path("photo.jpg"))
      try Data(content.bytes).write(to: file)
    }

    private let content = Content(3_000_000)

    @Test func `a file in its place that is changed while it is sent arrives as one version`() async throws {
      var iterator = try FileBody(path: file.path) { _, _ in }.makeAsyncIterator()
      _ = try await iterator.next()
      let other = try FileHandle(forWritingTo: file)
      try other.seek(toOffset: 2_999_999)
      try other.write(contentsOf: Data("x".utf8))
      try other.close()
      let error = await #expect(throws: RequestError.self) { while try await iterator.next() != nil {} }
      #expect(error?.message.contains("was changed while it was sent") == true, "\(String(describing: error))")
    }

    @Test(arguments: ["another", "another that is longer", "the beginning stays, and the rest not, and it is longer"])
    func `a file that is written over while it is copied is of two versions, and one that is added to is not`(
      text: String
    ) throws {
      let old = Data("the beginning stays, and the rest, too".utf8)
      try old.write(to: file)
      let source = try Descriptor(reading: file.path)
      let steady = try SteadyFile(source, file.path)
      #expect(steady.isSteady)
      let other = try FileHandle(forWritingTo: file)
      try other.seekToEnd()
      try other.write(contentsOf: Data(", and more".utf8))
      #expect(steady.isSteady)
      try other.truncate(atOffset: 0)
      try other.seek(toOffset: 0)
      try other.write(contentsOf: Data(text.utf8))
      #expect(!steady.isSteady)
      #expect(throws: RequestError.self) {
        try BodyFolder(of: store).copy(source, file.path, after: old, steady)
      }
      #expect(copies.isEmpty)
    }

    @Test func `a copied file is sent as it was, and the copy goes once it has arrived`() async throws {
      server.serve("/photos", .page(500), .page(201, "thanks"))
      let body = try SendRequest.Body.file(file, type: "image/jpeg", copiedBeside: store)
      try Data("another".utf8).write(to: file)
      let sent = try await queue.enqueue(SendRequest(.post, try server.at("/photos"), body: body))
      #expect(copies.count == 1)
      try await worker.runUntilIdle()
      #expect(try await sent.value.status == 201)
      #expect(server.requests("/photos").map { $0.body == content.bytes } == [true, true])
      #expect(server.requests.first?["Content-Type"] == "image/jpeg")
      #expect(copies.isEmpty)
    }

    @Test func `a copy is readable for its owner alone, and stays while its job may be retried`() async throws {
      server.serve("/photos", .page(404), .page(200))
      let body = try SendRequest.Body.file(file, copiedBeside: store)
      let job = try await queue.enqueue(SendRequest(.put, try server.at("/photos"), body: body))
      try await worker.runUntilIdle()
      #expect(try await queue.job(job.id).state == .failed)
      let name = try #require(copies.first)
      for (path, permissions) in [("jobs.sqlite-outbox/\(name)", 0o600), ("jobs.sqlite-outbox", 0o700)] {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(path))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == permissions)
      }
      try await queue.retry(job.id)
      try await worker.runUntilIdle()
      #expect(try await job.value.status == 200)
      #expect(copies.isEmpty)
    }

    @Test func `a store that is in no file has copies, too, and small ones are in the store itself`() async throws {
      server.serve("/photos", .page(200))
      let setting = OutboxSetting()
      let small = URL(filePath: folder.path("small"))
      try Data("small".utf8).write(to: small)
      for file in [file, small] {
        let body = try SendRequest.Body.file(file, copiedBeside: setting.jobs.queue.store)
        try FileManager.default.removeItem(at: file)
        let job = try await setting.send(SendRequest(.post, try server.at("/photos"), body: body))
        #expect(job.state == .succeeded, "\(job)")
      }
      #expect(server.requests.map { Content(bytes: $0.body) == Content(bytes: content.bytes) } == [true, false])
      #expect(server.bodies("/photos").last == "small")
      #expect(copies.isEmpty)
    }

    @Test func `a store that is in no file and outlives its process takes no copy, and small files`() throws {
      struct Nowhere: SnapshotProvider {
        func load() -> [String: Data] { [:] }
        func save(_ entries: [String: Data]) {}
        func remove(_ names: [String]) {}
      }
      let store = try InMemoryStore(provider: Nowhere())
      let error = #expect(throws: RequestError.self) { try SendRequest.Body.file(file, copiedBeside: store) }
      #expect(error?.code == .unusableBody)
      for words in ["file(inPlace:)", "PostgresStore.Configuration.folder"] {
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
      }
      try Data("small".utf8).write(to: file)
      #expect(try SendRequest.Body.file(file, copiedBeside: store).bytes == Data("small".utf8))
    }

    @Test func `a file in its place is sent as it is then, and stays`() async throws {
      server.serve("/photos", .page(200))
      let body = SendRequest.Body.file(inPlace: file)
      let job = try await queue.enqueue(SendRequest(.post, try server.at("/photos"), body: body))
      try Data("another".utf8).write(to: file)
      try await worker.runUntilIdle()
      #expect(try await job.value.status == 200)
      #expect(server.bodies("/photos") == ["another"])
      #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `a file that is missing fails the request at once, and is named`() async throws {
      let missing = URL(filePath: folder.path("missing"))
      let error = #expect(throws: RequestError.self) {
        try SendRequest.Body.file(missing, copiedBeside: store)
      }
      #expect(error?.code == .unusableBody)
      #expect(error?.message == "can't read \(missing.path): No such file or directory")
      #expect(throws: RequestError.self) { try SendRequest.Body.file(folder.url, copiedBeside: store) }
      let job = try await queue.enqueue(
        SendRequest(.post, try server.at("/photos"), body: .file(inPlace: missing)))
      try await worker.runUntilIdle()
      let snapshot = try await store.job(job.id, detail: .all)
      #expect(snapshot.state == .failed)
      #expect(snapshot.attempt == 1)
      #expect(snapshot.lastError.contains(missing.path))
      #expect(server.requests.isEmpty)
      #expect(copies.isEmpty)
    }

    @Test(arguments: [nil, Listener.answer])
    func `a file that becomes shorter while it is sent fails the request at once, and is named`(answer: String?)
      async throws
    {
      let listener = try Listener()
      try Data(count: 30_000_000).write(to: file)
      let url = try #require(URL(string: "http://127.0.0.1:\(listener.port)/photos"))
      let job = try await queue.enqueue(SendRequest(.put, url, body: .file(inPlace: file)))
      async let run = worker.runUntilIdle()
      // Its head has come, and more than it takes unread is still to be sent.
      let connection = await listener.firstBytes()
      #expect(truncate(file.path, 100_000) == 0)
      answer.map(connection.say)
      await connection.drain()
      connection.close()
      _ = try await run
      let snapshot = try await store.job(job.id, detail: .all)
      #expect(snapshot.state == .failed, "\(snapshot)")
      #expect(snapshot.attempt == 1)
      #expect(snapshot.lastError == "\(file.path) became shorter while it was sent")
      #expect(copies.isEmpty, "no server has all of it")
    }

    @Test(arguments: [Listener.answer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"])
    func `a request that is answered before all of it has gone has arrived once that has`(early: String) async throws {
      let listener = try Listener()
      try Data(count: 30_000_000).write(to: file)
      let url = try #require(URL(string: "http://127.0.0.1:\(listener.port)/photos"))
      let body = try SendRequest.Body.file(file, copiedBeside: store)
      let job = try await queue.enqueue(SendRequest(.put, url, body: body), options: JobOptions(maxAttempts: 1))
      async let broken = worker.runUntilIdle()
      let first = await listener.firstBytes()
      first.say(early)
      first.close()
      _ = try await broken
      let snapshot = try await store.job(job.id, detail: .all)
      #expect(snapshot.state == .failed, "\(snapshot)")
      let words =
        "closed the connection before it had the whole request, which has not arrived. If that stays so, send less"
      #expect(snapshot.lastError.contains(words), "\(snapshot.lastError)")
      #expect(copies.contains { $0 == body.copy }, "nobody has all of it")
      try await queue.retry(job.id)
      async let whole = worker.runUntilIdle()
      let second = await listener.firstBytes()
      second.say(Listener.answer)
      #expect(await second.drain(atMost: 30_000_000) == 30_000_000)
      _ = try await whole
      second.close()
      #expect(try await job.value.body == Data("hello".utf8))
      #expect(copies.isEmpty)
    }

    @Test func `an answer that began before all of its request had gone is noted once that has`() async throws {
      let listener = try Listener()
      try Data(count: 30_000_000).write(to: file)
      let url = try #require(URL(string: "http://127.0.0.1:\(listener.port)/photos"))
      let job = try await queue.enqueue(SendRequest(.put, url, body: .file(inPlace: file)))
      let path = folder.path("jobs.sqlite-outbox/\(job.id).sent")
      async let run = worker.runUntilIdle()
      let connection = await listener.firstBytes()
      connection.say("HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\n")
      #expect(await connection.drain(atMost: 30_000_000) == 30_000_000)
      // The body of its answer stands still.
      await until { FileManager.default.contents(atPath: path)?.range(of: Data("\"status\":201".utf8)) != nil }
      connection.say("hello")
      _ = try await run
      connection.close()
      #expect(try await job.value.body == Data("hello".utf8))
    }

    @Test func `a copy is not old by a clock that was set`() async throws {
      server.serve("/", .page(200))
      let body = try SendRequest.Body.file(file, copiedBeside: store)
      let copy = folder.path("jobs.sqlite-outbox/\(try #require(copies.first))")
      let date = Date(timeIntervalSinceNow: -24 * 3600)
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: copy)
      // The first request that is sent has old copies looked for.
      try await queue.enqueue(SendRequest(.get, try server.at("/")))
      try await worker.runUntilIdle()
      #expect(copies.count == 1)
      let sent = try await queue.enqueue(SendRequest(.post, try server.at("/"), body: body))
      try await worker.runUntilIdle()
      #expect(try await sent.value.status == 200)
    }

    @Test func `copies that no job will send are deleted after some hours, and no others`() async throws {
      server.serve("/photos", .page(404))
      server.serve("/", .page(200))
      let needed = try SendRequest.Body.file(file, copiedBeside: store)
      try await queue.enqueue(SendRequest(.post, try server.at("/photos"), body: needed))
      try await worker.runUntilIdle()
      _ = try SendRequest.Body.file(file, copiedBeside: store)
      let now = store.clock.uptime
      let bodies = BodyFolder(of: store)
      for (uptime, left) in [(.zero, 2), (now, 2), (now + .seconds(3 * 3600), 2), (now + .seconds(5 * 3600), 1)] {
        try await bodies.sweep(store, at: uptime)
        #expect(copies.count == left)
      }
      #expect(copies == [needed.copy])
    }

    @Test func `what is noted of requests is looked through by pages, and stays where they may be sent again`()
      async throws
    {
      let store = FaultyStore(store)
      let bodies = BodyFolder(of: store)
      #expect(bodies.make())
      let id = try await queue.enqueue(SendRequest(.post, try server.at("/photos"))).id
      for number in 0..<1000 {
        let name = "jobs.sqlite-outbox/\(id.rawValue + Int64(number)).sent"
        #expect(FileManager.default.createFile(atPath: folder.path(name), contents: Data()))
      }
      try await bodies.sweep(store, at: .zero)
      #expect(copies == ["\(id).sent"])
      #expect(store.calls(of: .jobs) <= 3, "a page has hundreds")
    }

    @Test(arguments: [true, false])
    func `a copy that a schedule names, or may name in a payload that can't be read, is there for each tick`(
      isReadable: Bool
    ) async throws {
      server.serve("/photos", .page(200))
      let request = SendRequest(.post, try server.at("/photos"), body: try .file(file, copiedBeside: store))
      let plain = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
      let template = ["kind": "request", "payload": isReadable ? plain : #"{"$sealed":"AAAA","$key":"new"}"#]
      let payload = try JSONEncoder().encode(["job": template])
      let terms = JobTerms(start: .after(.seconds(864_000)))
      let schedule = try await store.insert(
        JobInsertion([NewJob(queue: "default", kind: "durable.schedule", payload: payload, terms: terms)])
      ).jobs[0].id
      for times in 1...2 {
        let tick = try await queue.enqueue(request, options: JobOptions(unique: "\(times)"))
        try await worker.runUntilIdle()
        #expect(try await tick.value.status == 200)
        try await BodyFolder(of: store).sweep(store, at: store.clock.uptime + .seconds(5 * 3600))
        #expect(copies == [request.body.copy])
      }
      let ends: [(JobChange, Bool)] = [(.fail(message: "no"), true), (.retry, true), (.cancel(reason: nil), false)]
      for (end, isKept) in ends {
        _ = try await store.change(end, where: .id(schedule), after: nil, limit: 1)
        try await BodyFolder(of: store).sweep(store, at: store.clock.uptime + .seconds(5 * 3600))
        #expect(copies.count == (isKept ? 1 : 0), "\(end)")
      }
    }

    @Test(arguments: [
      (EIO, RequestError.Code.connection), (ESTALE, .connection), (ETIMEDOUT, .connection), (ENOMEM, .connection),
      (EMFILE, .shortage), (ENOENT, .unusableBody), (EACCES, .unusableBody),
    ]) func `a file whose server is away may be read later`(number: Int32, code: RequestError.Code) {
      errno = number
      #expect(FileBody.failure("/a").code == code)
    }

    @Test func `what nobody will send is deleted when a worker starts, though it sends nothing`() async throws {
      let kept = try SendRequest.Body.file(file, copiedBeside: store)
      // Its maker has gone.
      try FileManager.default.copyItem(
        atPath: folder.path("jobs.sqlite-outbox/\(copies[0])"), toPath: folder.path("jobs.sqlite-outbox/draft"))
      try await worker.runUntilIdle()
      #expect(copies == [kept.copy])
    }

    @Test func `a copy goes with the row of its job, unless another needs it`() async throws {
      let bodies = BodyFolder(of: store)
      let (first, second) = (
        try SendRequest.Body.file(file, copiedBeside: store), try SendRequest.Body.file(file, copiedBeside: store)
      )
      var ids: [JobID] = []
      for (path, body) in [("/1", first), ("/2", second), ("/3", second)] {
        ids.append(try await queue.enqueue(SendRequest(.post, try server.at(path), body: body)).id)
      }
      try await queue.cancelAll(where: .all)
      let gone = Array(ids.prefix(2))
      let names = try await bodies.copies(of: gone, in: store)
      #expect(names == [first.copy, second.copy])
      for id in gone { try await queue.remove(id) }
      try await bodies.removeCopies(names, goneFrom: store)
      #expect(copies == [second.copy])
    }

    @Test func `over HTTP/2 a server that has answered whole may need no more of a request`() async throws {
      let server = try await LyingServer(certificate: SecureTests.certificate, speaksHTTP2: true, answersEarly: true)
      server.serve("/photos", .page(201, "enough"))
      // More than may go before the server has taken some of it.
      let request = SendRequest(
        .post, try server.at("/photos", by: "localhost"), body: .data(Data(count: SendRequest.Body.mostBytes)),
        caCertificates: SecureTests.authority)
      let job = try await queue.enqueue(request, options: JobOptions(maxAttempts: 1))
      try await worker.runUntilIdle()
      #expect(try await job.value.body == Data("enough".utf8))
      #expect(server.requests.count == 1)
    }

    @Test func `a server that answers without end, and takes no more of the request, stands still`() async throws {
      let listener = try Listener()
      try Data(count: 30_000_000).write(to: file)
      let setting = OutboxSetting()
      let url = try #require(URL(string: "http://127.0.0.1:\(listener.port)/photos"))
      let id = try await setting.jobs.queue.enqueue(SendRequest(.put, url, body: .file(inPlace: file))).id
      let isOver = Lock(false)
      async let drained: Void = {
        defer { isOver.withLock { $0 = true } }
        try await setting.jobs.drain()
      }()
      let connection = await listener.firstBytes()
      connection.say("HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n")
      let began = setting.jobs.clock.uptime
      while !isOver.withLock({ $0 }), setting.jobs.clock.uptime - began < .seconds(600) {
        // More than systems hold for who does not read it: it is read.
        await connection.flood(20_000_000)
        if !setting.jobs.clock.timers.isEmpty { setting.jobs.clock.advance(by: .seconds(30)) }
        await Task.yield()
      }
      #expect(setting.jobs.clock.uptime - began < .seconds(600))
      connection.close()
      try await drained
      #expect(try await setting.job(id).lastError.contains("took nothing"))
    }

    #if os(Linux)
      @Test func `a connection whose buffer can't be limited is used all the same`() async throws {
        // As systems that don't have the option refuse it.
        let path = folder.path("socket")
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group).bind(unixDomainSocketPath: path).get()
        let channel = try await ClientBootstrap(group: group).connect(unixDomainSocketPath: path).get()
        try await channel.eventLoop.submit {
          #expect(throws: IOError.self) { try channel.syncOptions?.setOption(Clients.notSentLowAt, value: 1) }
          channel.takeLittleAhead()
        }.get()
        #expect(channel.isActive)
        try await channel.close()
        try await listener.close()
      }

      @Test func `the system takes little more of a file than it sends`() async throws {
        server.serve("/photos", .silence)
        let job = try await queue.enqueue(SendRequest(.put, try server.at("/photos"), body: .file(inPlace: file)))
        async let run: Void = worker.run()
        await server.held("/photos")
        let limits = (0..<4096).compactMap { unsentLimit(ofConnection: $0, to: server.port) }
        #expect(limits.contains(1 << 17), "\(limits)")
        try await queue.cancel(job.id)
        await worker.stop(grace: .zero)
        try await run
      }

      /// Nil for what is no connection of this process to that port.
      private func unsentLimit(ofConnection number: Int32, to port: Int) -> Int32? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnection = withUnsafeMutablePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(number, $0, &length) == 0 }
        }
        guard isConnection, address.sin_family == AF_INET, address.sin_port == in_port_t(port).bigEndian else {
          return nil
        }
        var limit: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(number, 6, 25, &limit, &size) == 0 ? limit : nil  // TCP_NOTSENT_LOWAT
      }
    #endif

    @Test func `a pipe is no file to be sent where it is, and nobody is waited for who writes to it`() async throws {
      let path = folder.path("pipe")
      #expect(mkfifo(path, 0o600) == 0)
      let job = try await queue.enqueue(
        SendRequest(.post, try server.at("/photos"), body: .file(inPlace: URL(filePath: path))))
      try await worker.runUntilIdle()
      #expect(try await store.job(job.id, detail: .all).lastError.hasSuffix("it is no file"))
    }

    @Test func `the copy of what is to follow a batch is kept as long as that is not done`() async throws {
      let body = try SendRequest.Body.file(file, copiedBeside: store)
      let batch = try await queue.openBatch("b", whenDone: SendRequest(.post, try server.at("/photos"), body: body))
      let bodies = BodyFolder(of: store)
      let later = store.clock.uptime + .seconds(5 * 3600)
      try await bodies.sweep(store, at: later)
      #expect(copies == [body.copy])
      try await batch.close()
      try await bodies.sweep(store, at: later)
      #expect(copies == [body.copy], "a job needs it now")
      try await queue.cancelAll(where: .all)
      try await queue.removeAll(where: .all)
      try await bodies.sweep(store, at: later)
      #expect(copies.isEmpty)
    }

    @Test func `the copy of what is to follow a batch is kept, however many batches came after it`() async throws {
      let body = try SendRequest.Body.file(file, copiedBeside: store)
      _ = try await queue.openBatch("b", whenDone: SendRequest(.post, try server.at("/photos"), body: body))
      try await withThrowingTaskGroup(of: Void.self) { [queue] group in
        for number in 0...10_000 {
          group.addTask { try await queue.openBatch("later \(number)").close() }
        }
        try await group.waitForAll()
      }
      try await BodyFolder(of: store).sweep(store, at: store.clock.uptime + .seconds(5 * 3600))
      #expect(copies == [body.copy])
    }

    @Test func `a copy from before the machine began anew is no older than that`() async throws {
      _ = try SendRequest.Body.file(file, copiedBeside: store)
      let draft = "jobs.sqlite-outbox/\(try #require(copies.first?.prefix { $0 != "." }))"
      try FileManager.default.moveItem(
        atPath: folder.path("jobs.sqlite-outbox/\(copies[0])"), toPath: folder.path(draft))
      let made = "jobs.sqlite-outbox/x.999999999"
      try FileManager.default.copyItem(atPath: folder.path(draft), toPath: folder.path(made))
      let bodies = BodyFolder(of: store)
      try await bodies.sweep(store, at: .seconds(60))
      #expect(copies == ["x.999999999"], "nobody makes the other one any more")
      try await bodies.sweep(store, at: .seconds(5 * 3600))
      #expect(copies.isEmpty)
    }

    @Test func `a copy that is still being made is not deleted, however long nothing of it has come`() async throws {
      server.serve("/photos", .page(200))
      server.serve("/", .page(200))
      let path = folder.path("pipe")
      #expect(mkfifo(path, 0o600) == 0)
      async let copied = {
        try await withTaskExecutorPreference(DiskThreads.of(folder: folder.url.path)) { [store] in
          try await Self.copy(path, beside: store)
        }
      }()
      let pipe = try await withTaskExecutorPreference(DiskThreads.of(folder: folder.url.path)) {
        try await Self.open(path)
      }
      try await withTaskExecutorPreference(DiskThreads.of(folder: folder.url.path)) { [content] in
        try await Self.write(content.bytes(0..<70_000), to: pipe)
      }
      await until { copies.first.flatMap { folder.size("jobs.sqlite-outbox/\($0)") } ?? 0 >= 65_537 }
      let copy = folder.path("jobs.sqlite-outbox/\(copies[0])")
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -24 * 3600)], ofItemAtPath: copy)
      // The first request that is sent has old copies looked for.
      try await queue.enqueue(SendRequest(.get, try server.at("/")))
      try await worker.runUntilIdle()
      #expect(server.requests.count == 1)
      try pipe.close()
      let body = try await copied
      #expect(copies.count == 1)
      let sent = try await queue.enqueue(SendRequest(.post, try server.at("/photos"), body: body))
      try await worker.runUntilIdle()
      #expect(try await sent.value.status == 200)
      #expect(server.requests("/photos").map { $0.body == content.bytes(0..<70_000) } == [true])
    }

    // What blocks, for the threads that may.
    private static func copy(_ path: String, beside store: SQLiteStore) async throws -> SendRequest.Body {
      try SendRequest.Body.file(URL(filePath: path), copiedBeside: store)
    }
    private static func open(_ path: String) async throws -> FileHandle {
      try FileHandle(forWritingTo: URL(filePath: path))
    }
    private static func write(_ bytes: [UInt8], to pipe: FileHandle) async throws {
      try pipe.write(contentsOf: Data(bytes))
    }

    @Test func `a copy is of one job: enqueued twice, it is sent once`() async throws {
      server.serve("/photos", .page(200))
      let body = try SendRequest.Body.file(file, copiedBeside: store)
      let request = SendRequest(.post, try server.at("/photos"), body: body, idempotencyKey: nil)
      let first = try await queue.enqueue(request)
      let second = try await queue.enqueue(request)
      #expect(first.id == second.id)
      try await worker.runUntilIdle()
      #expect(try await second.value.status == 200)
      #expect(server.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func `over TLS bytes go by HTTP/2 where the server speaks it, and a file by HTTP/1.1`(isFile: Bool) async throws {
      let server = try await LyingServer(certificate: SecureTests.certificate, speaksHTTP2: !isFile)
      server.serve("/photos", .page(200))
      let bytes = isFile ? content.bytes : content.bytes(0..<Int64(SendRequest.Body.mostBytes))
      let request = SendRequest(
        .put, try server.at("/photos", by: "localhost"), body: isFile ? .file(inPlace: file) : .data(Data(bytes)),
        caCertificates: SecureTests.authority)
      let job = try await queue.enqueue(request)
      try await worker.runUntilIdle()
      #expect(try await job.value.status == 200)
      #expect(server.requests.map { $0.body == bytes } == [true])
      #expect(server.requests.map(\.version) == [isFile ? "HTTP/1.1" : "HTTP/2"])
    }
  }

  /// A port that takes connections, and reads nothing before it is told to.
  final class Listener: Sendable {
    let port: UInt16
    private let number: Int32
    private static let peek: Int32 = 2  // MSG_PEEK, which systems have as different types

    init() throws {
      #if os(Linux)
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      #else
        let number = socket(AF_INET, SOCK_STREAM, 0)
      #endif
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      func withAddress(_ body: (UnsafeMutablePointer<sockaddr>) -> Int32) -> Int32 {
        withUnsafeMutablePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
      }
      // So little the system takes of what nobody reads.
      var taken: Int32 = 65_536
      setsockopt(number, SOL_SOCKET, SO_RCVBUF, &taken, socklen_t(MemoryLayout<Int32>.size))
      try #require(number >= 0 && withAddress { bind(number, $0, size) } == 0 && listen(number, 5) == 0)
      try #require(withAddress { getsockname(number, $0, &size) } == 0)
      _ = fcntl(number, F_SETFL, O_NONBLOCK)
      port = UInt16(bigEndian: address.sin_port)
      self.number = number
    }

    deinit { close(number) }

    static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

    struct Connection: Sendable {
      fileprivate let number: Int32

      /// Reads what comes until it ends, or has so many bytes. Returns how many came.
      @discardableResult func drain(atMost most: Int = .max) async -> Int {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var came = 0
        while came < most, !Task.isCancelled {
          let count = recv(number, &bytes, min(bytes.count, most - came), 0)
          if count == 0 || count < 0 && ![EAGAIN, EINTR].contains(errno) { break }
          came += max(count, 0)
          await Task.yield()
        }
        return came
      }

      /// Sends so many bytes of an answer, or as many as are taken before the connection ends.
      func flood(_ count: Int) async {
        let bytes = [UInt8](repeating: 0, count: 1 << 16)
        var sent = 0
        while sent < count, !Task.isCancelled {
          let taken = send(number, bytes, bytes.count, Self.quiet)
          if taken < 0, ![EAGAIN, EINTR].contains(errno) { return }
          sent += max(taken, 0)
          await Task.yield()
        }
      }

      #if os(Linux)
        private static let quiet: Int32 = 0x4000  // MSG_NOSIGNAL
      #else
        private static let quiet: Int32 = 0x80000
      #endif

      func say(_ text: String) { send(number, text, text.utf8.count, 0) }

      func close() { _ = Foundation.close(number) }
    }

    /// A connection of which something has come, which is not read.
    func firstBytes() async -> Connection {
      var connection: Int32 = -1
      while connection < 0, !Task.isCancelled {
        connection = accept(number, nil, nil)
        await Task.yield()
      }
      _ = fcntl(connection, F_SETFL, O_NONBLOCK)
      var byte: UInt8 = 0
      while recv(connection, &byte, 1, Self.peek) <= 0, !Task.isCancelled { await Task.yield() }
      return Connection(number: connection)
    }
  }
#endif
