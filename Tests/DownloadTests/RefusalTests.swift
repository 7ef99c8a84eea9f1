#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsTesting
  import Foundation
  import LyingServer
  import Testing

  /// Servers that don't give the file: for good, for now, or without a word.
  @Suite struct RefusalTests {
    let server: LyingServer
    let setting: Setting

    init() async throws {
      server = try await LyingServer()
      setting = try Setting()
    }

    @Test(arguments: [400, 401, 403, 404, 410, 451])
    func `a refusal for good fails the job at once, and keeps what is here`(status: Int) async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(status), .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(job.lastError.contains("\(status)"), "\(job.lastError)")
      #expect(setting.errors.last?.code == .refused)
      let row = try await setting.jobs.queue.jobs(where: .id(job.id), detail: .failures)
      #expect(row.first?.failures.last?.code == "refused-\(status)")
      #expect(setting.folder.names == ["a.bin.part", "a.bin.part.json"])

      // A person mends it, and asks again.
      let again = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(again.id != job.id)
      #expect(again.state == .succeeded, "\(again.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, 300_000])
    }

    @Test(arguments: [404, 403]) func `a refusal of the first request leaves nothing behind`(status: Int) async throws {
      server.serve("/a.bin", .page(status))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(setting.folder.names == [])
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 599])
    func `a refusal for now is followed by another attempt`(status: Int) async throws {
      server.serve("/a.bin", .page(status), .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.attempt == 2)
      #expect(job.lastError.contains("\(status)"), "\(job.lastError)")
      #expect(setting.errors.map(\.code) == [.refused])
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a refusal for now that never ends uses the attempts up`() async throws {
      server.serve("/a.bin", .page(500))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(job.attempt == 20)
      #expect(server.requests.count == 20)
      #expect(job.lastError.contains("500"))
    }

    @Test(arguments: [false, true])
    func `a server says when to come back, in seconds or by a date`(byDate: Bool) async throws {
      let date = setting.jobs.clock.now.addingTimeInterval(120)
      let value = byDate ? date.asHTTP : "120"
      server.serve("/a.bin", .page(503).with("Retry-After", value), .file(content))
      let job = try await setting.attempt(setting.download(server.url("/a.bin")))
      #expect(job.state == .scheduled)
      let wait = try #require(job.runAt).timeIntervalSince(setting.jobs.clock.now)
      #expect((119...121).contains(wait), "\(wait)")
      try await setting.jobs.advance(by: .seconds(118))
      #expect(server.requests.count == 1)
      try await setting.jobs.advance(by: .seconds(4))
      #expect(try await setting.jobs.queue.job(job.id).state == .succeeded)
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test(arguments: ["0", "1", "Mon, 01 Jan 2001 00:00:00 GMT"])
    func `a server that says to come back at once is left the time that grows with each attempt`(value: String)
      async throws
    {
      server.serve("/a.bin", .page(503).with("Retry-After", value))
      let download = try setting.download(server.url("/a.bin"))
      var waits: [TimeInterval] = []
      for _ in 0..<6 {
        let job = try await setting.attempt(download)
        let wait = try #require(job.runAt).timeIntervalSince(setting.jobs.clock.now)
        waits.append(wait)
        setting.jobs.clock.advance(by: .seconds(wait))
      }
      #expect(waits[0] >= 0.5)
      #expect(waits[5] >= 100, "\(waits)")
    }

    @Test(arguments: [-86_400.0, 86_400]) func `a date is read by the server's clock`(isAhead: Double) async throws {
      let date = setting.jobs.clock.now.addingTimeInterval(isAhead)
      server.serve(
        "/a.bin",
        .page(503).with("Date", date.asHTTP).with("Retry-After", date.addingTimeInterval(120).asHTTP))
      let job = try await setting.attempt(setting.download(server.url("/a.bin")))
      let wait = try #require(job.runAt).timeIntervalSince(setting.jobs.clock.now)
      #expect((119...121).contains(wait), "\(wait)")
    }

    @Test func `an hour that a server asks for is one job's, and a minute of it the host's`() async throws {
      server.serve("/a.bin", .page(429).with("Retry-After", "3600"), .file(content))
      server.serve("/b.bin", .file(content))
      let jobs = try await setting.jobs.queue.enqueue(contentsOf: [
        setting.download(server.url("/a.bin")), setting.download(server.url("/b.bin")),
      ])
      try await setting.jobs.drain()
      #expect(server.requests.map(\.path) == ["/a.bin"])
      try await setting.jobs.advance(by: .seconds(62))
      #expect(try await jobs[1].snapshot.state == .succeeded)
      #expect(try await jobs[0].snapshot.state == .scheduled)
      #expect(server.requests("/a.bin").count == 1)
      try await setting.jobs.advance(by: .seconds(3600))
      #expect(try await jobs[0].snapshot.state == .succeeded)
    }

    @Test(arguments: [429, 503]) func `the server that wants to be left alone is, and not who redirects to it`(
      status: Int
    ) async throws {
      let other = try await LyingServer(on: "127.0.0.2")
      for path in ["/a.bin", "/d.bin"] { server.serve(path, .redirect(to: other.url(path))) }
      server.serve("/b.bin", .file(content))
      other.serve("/a.bin", .page(status).with("Retry-After", "30"), .file(content))
      other.serve("/d.bin", .file(content))
      let jobs = try await setting.jobs.queue.enqueue(contentsOf: [
        setting.download(server.url("/a.bin")), setting.download(server.url("/b.bin")),
        setting.download(server.url("/d.bin")),
      ])
      try await setting.jobs.drain()
      #expect(server.requests.map(\.path) == ["/a.bin", "/b.bin", "/d.bin"])
      #expect(other.requests.map(\.path) == ["/a.bin"])
      #expect(try await jobs[1].snapshot.state == .succeeded)
      #expect(try await jobs[2].snapshot.failures.isEmpty)
      try await setting.jobs.advance(by: .seconds(40))
      for job in jobs { #expect(try await job.snapshot.state == .succeeded) }
    }

    @Test func `an error that says when to come back holds nobody else up`() async throws {
      server.serve("/a.bin", .page(500).with("Retry-After", "60"))
      server.serve("/b.bin", .file(content))
      try await setting.jobs.queue.enqueue(contentsOf: [
        setting.download(server.url("/a.bin")), setting.download(server.url("/b.bin")),
      ])
      try await setting.jobs.drain()
      #expect(server.requests.map(\.path) == ["/a.bin", "/b.bin"])
    }

    @Test func `a server that wants to be left alone is left alone by all, and others are not`() async throws {
      let other = try await LyingServer(on: "127.0.0.2")
      server.serve("/a.bin", .page(429).with("Retry-After", "60"), .file(content))
      server.serve("/b.bin", .file(content))
      other.serve("/c.bin", .file(content))
      let jobs = try await setting.jobs.queue.enqueue(contentsOf: [
        setting.download(server.url("/a.bin")), setting.download(server.url("/b.bin")),
        setting.download(other.url("/c.bin")),
      ])
      try await setting.jobs.drain()
      #expect(server.requests.map(\.path) == ["/a.bin"])
      #expect(other.requests.map(\.path) == ["/c.bin"])
      #expect(try await jobs[1].snapshot.failures.isEmpty)
      #expect(!setting.waits.isEmpty)
      try await setting.jobs.advance(by: .seconds(120))
      for (job, name) in zip(jobs, ["a.bin", "b.bin", "c.bin"]) {
        #expect(try await job.snapshot.state == .succeeded)
        #expect(try setting.folder.holds(content, as: name))
      }
      #expect(try await jobs[1].snapshot.attempt == 1, "waiting is no attempt")
    }

    @Test func `nobody listens: it is tried again, and fetched when somebody does`() async throws {
      // Of its own address: nobody else may take the port meanwhile.
      let server = try await LyingServer(on: "127.0.0.5")
      server.serve("/a.bin", .file(content))
      try await server.stopListening()
      let job = try await setting.attempt(setting.download(server.url("/a.bin")))
      #expect(job.state == .scheduled)
      #expect(setting.errors.map(\.code) == [.connection])
      #expect(job.lastError.contains("127.0.0.5"), "\(job.lastError)")
      try await server.listenAgain()
      try await setting.jobs.advance(by: .seconds(10))
      #expect(try await setting.jobs.queue.job(job.id).state == .succeeded)
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    /// Lets so much time pass, with all attempts in it, or until the job has ended.
    private func pass(_ time: Duration, for job: JobSnapshot) async throws {
      let end = setting.jobs.clock.uptime + time
      while setting.jobs.clock.uptime < end, try await !setting.jobs.queue.job(job.id).state.isFinished {
        try await setting.jobs.advance(by: .seconds(600))
      }
    }

    @Test func `a download bears a day without a network, and comes when there is one`() async throws {
      // Of its own address: nobody else may take the port meanwhile.
      let server = try await LyingServer(on: "127.0.0.4")
      server.serve("/a.bin", .file(content))
      try await server.stopListening()
      let job = try await setting.attempt(setting.download(server.url("/a.bin")))
      try await pass(.seconds(86_400), for: job)
      #expect(try await setting.jobs.queue.job(job.id).state == .scheduled)
      try await server.listenAgain()
      try await setting.jobs.advance(by: .seconds(310))
      #expect(try await setting.jobs.queue.job(job.id).state == .succeeded)
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a host that is never reached fails the download in the end`() async throws {
      let job = try await setting.attempt(setting.download("http://127.0.0.1:1/a.bin"))
      try await pass(.seconds(4 * 86_400), for: job)
      let end = try await setting.jobs.queue.job(job.id)
      #expect(end.state == .failed)
      #expect(end.attempt == 20)
      #expect(end.lastError.contains("can't connect"), "\(end.lastError)")
    }

    #if os(Linux)
      @Test func `a file of passwords that can't be read for now is waited for, and no attempt is used`() async throws {
        // It can be opened, and reading it is an error of the system.
        let setting = try Setting(netrc: URL(filePath: "/proc/self/mem"))
        server.serve("/a.bin", .file(content))
        let job = try await setting.attempt(setting.download(server.url("/a.bin")))
        #expect(job.state == .scheduled, "\(job)")
        #expect(job.attempt == 0)
        #expect(setting.waits == ["can't read /proc/self/mem for now: Input/output error"])
        #expect(server.requests.isEmpty)
      }
    #endif

    @Test func `a store that is busy is waited for, and no attempt is used`() async throws {
      let store = FaultyStore(InMemoryStore(clock: ManualClock()))
      let queue = JobQueue(store: store)
      let worker = JobWorker(queue)
      let waits = Lock<[String]>([])
      Downloader(store: store, environment: [:]) { _, _, event in
        if case .waits(let why, _) = event { waits.withLock { $0.append(why) } }
      }.register(with: worker)
      // Whose it is, the store is asked.
      try setting.folder.write("another", to: "a.bin")
      let id = try await queue.enqueue(setting.download(server.url("/a.bin"))).id
      store.fail(next: 1, .jobs, with: JobError(.locked, "the store is busy"))
      _ = try await worker.runNext()
      let job = try await queue.job(id)
      #expect(job.state == .scheduled)
      #expect(job.failures.isEmpty, "\(job.lastError)")
      #expect(waits.withLock { $0 } == ["the store is busy"])
    }

    @Test func `a host that nobody knows may be known later`() async throws {
      let job = try await setting.attempt(setting.download("http://no-such-host.invalid/a.bin"))
      #expect(job.state == .scheduled)
      #expect(setting.errors.map(\.code) == [.connection])
      #expect(job.lastError.contains("no-such-host.invalid"), "\(job.lastError)")
    }

    @Test func `a connection that was lost while it was kept is made anew, and no attempt is used`() async throws {
      server.serve("/a.bin", .file(content))
      server.serve("/b.bin", .reset, .file(content))
      for name in ["a.bin", "b.bin"] {
        let job = try await setting.fetch(setting.download(server.url("/" + name)))
        #expect(job.state == .succeeded, "\(job.lastError)")
        #expect(job.attempt == 1)
        #expect(try setting.folder.holds(content, as: name))
      }
      #expect(setting.errors.isEmpty && setting.waits.isEmpty)
      #expect(server.requests("/b.bin").count == 2)
    }

    @Test func `a server that hangs up is asked again`() async throws {
      server.serve("/a.bin", .hangUp, .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.attempt == 2)
      #expect(setting.errors.map(\.code) == [.connection])
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }
  }

  extension Date {
    /// As HTTP writes it.
    var asHTTP: String {
      let format = DateFormatter()
      format.locale = Locale(identifier: "en_US_POSIX")
      format.timeZone = TimeZone(identifier: "GMT")
      format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
      return format.string(from: self)
    }
  }
#endif
