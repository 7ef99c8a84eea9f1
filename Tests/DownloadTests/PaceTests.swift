#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// Connections that are too slow. Time passes only as a test lets it.
  @Suite struct PaceTests {
    let server: LyingServer

    init() async throws { server = try await LyingServer() }

    @Test(arguments: [LyingAnswer.silence, .file(content).holding(after: 0)])
    func `a server that says nothing is given up, and asked again`(answer: LyingAnswer) async throws {
      let setting = try Setting(limits: .init(minimumBytes: 1000, slowFor: .seconds(30)))
      server.serve("/a.bin", answer, .file(content))
      let download = try setting.download(server.url("/a.bin"))
      async let first = setting.attempt(download)
      await server.held("/a.bin")
      try await setting.passUntilStalled()
      #expect(try await first.state == .scheduled)
      #expect(setting.errors.map(\.code) == [.stalled])
      let job = try await setting.fetch(download)
      #expect(try await job.id == first.id)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.attempt == 2)
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a connection that brings nothing more is given up, and gone on from`() async throws {
      let setting = try Setting(limits: .init(minimumBytes: 1000, slowFor: .seconds(30)))
      server.serve("/a.bin", .file(content).holding(after: 400_000), .file(content))
      let download = try setting.download(server.url("/a.bin"))
      async let first = setting.attempt(download)
      await server.held("/a.bin")
      try await setting.received(400_000)
      try await setting.passUntilStalled()
      #expect(try await first.failures.isEmpty, "it brought the file further")
      let job = try await setting.fetch(download)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.attempt == 1)
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 400_000])
    }

    @Test func `a connection that brings something, and less than the minimum, is given up`() async throws {
      let setting = try Setting(limits: .init(minimumBytes: 1000, slowFor: .seconds(30)))
      server.serve("/a.bin", .file(content).holding(after: 500), .file(content))
      async let attempt = setting.attempt(setting.download(server.url("/a.bin")))
      await server.held("/a.bin")
      try await setting.received(500)
      try await setting.passUntilStalled()
      #expect(setting.waits.first?.contains("less than 1000 bytes in 30 s") == true, "\(setting.waits)")
      #expect(try await attempt.state == .scheduled)
    }

    @Test func `a small file that takes more than a second is on the disk from then on`() async throws {
      let small = Content(20_000)
      let setting = try Setting(limits: .init(slowFor: .seconds(1000)))
      server.serve("/a.bin", .file(small).holding(after: 2000))
      async let job = setting.fetch(setting.download(server.url("/a.bin")))
      await server.held("/a.bin")
      #expect(setting.folder.names == [])
      // Written, and flushed.
      while (try? setting.folder.text("a.bin.part.json").contains("\n2000 ")) != true {
        try await setting.pass(.seconds(1), onTimerOf: [.seconds(1)])
      }
      #expect(setting.folder.size("a.bin.part") == 2000)
      server.release()
      #expect(try await job.state == .succeeded)
      #expect(try setting.folder.holds(small, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a transfer that waits for its share of the speed is not slow`() async throws {
      let file = Content(100_000)
      let setting = try Setting(limits: .init(bytesPerSecond: 1000, minimumBytes: 1000, slowFor: .seconds(30)))
      server.serve("/a.bin", .file(file))
      let isOver = Lock(false)
      async let attempt: JobSnapshot = {
        defer { isOver.withLock { $0 = true } }
        return try await setting.attempt(setting.download(server.url("/a.bin")))
      }()
      while !isOver.withLock({ $0 }) {
        try await setting.pass(.milliseconds(50), onTimerOf: [.milliseconds(50)]) { isOver.withLock { $0 } }
      }
      #expect(try await attempt.state == .succeeded)
      #expect(setting.errors.isEmpty && setting.waits.isEmpty)
      #expect(server.requests.count == 1)
      #expect(try setting.folder.holds(file, as: "a.bin"))
      #expect(setting.jobs.clock.uptime >= .seconds(100))
    }

    @Test func `of many transfers that wait for their shares none is slow`() async throws {
      let file = Content(5000)
      let paths = (0..<32).map { "/\($0).bin" }
      for path in paths { server.serve(path, .file(file)) }
      // Each has far less than the minimum.
      let setting = try Setting(
        limits: .init(bytesPerSecond: 1000, minimumBytes: 5000, slowFor: .seconds(30)), concurrency: 32)
      let isOver = Lock(false)
      async let end: Void = {
        defer { isOver.withLock { $0 = true } }
        for path in paths { try await setting.jobs.queue.enqueue(setting.download(server.url(path))) }
        try await setting.jobs.drain()
      }()
      while !isOver.withLock({ $0 }) {
        try await setting.pass(.milliseconds(50), onTimerOf: [.milliseconds(50)]) { isOver.withLock { $0 } }
      }
      try await end
      #expect(setting.errors.isEmpty && setting.waits.isEmpty, "\(setting.errors) \(setting.waits)")
      #expect(server.requests.count == paths.count)
      for path in paths { #expect(try setting.folder.holds(file, as: String(path.dropFirst()))) }
      #expect(setting.jobs.clock.uptime >= .seconds(160))
    }

    @Test func `as long as a transfer waits for its share, the server can send no more`() async throws {
      let file = Content(40_000_000)
      let setting = try Setting(limits: .init(bytesPerSecond: 20_000_000, slowFor: .seconds(1_000_000)))
      server.serve("/a.bin", .file(file))
      let isOver = Lock(false)
      async let attempt: JobSnapshot = {
        defer { isOver.withLock { $0 = true } }
        return try await setting.attempt(setting.download(server.url("/a.bin")))
      }()
      var furthest: Int64 = 0
      while !isOver.withLock({ $0 }) {
        let here = setting.folder.size("a.bin.part") ?? 0
        if here > 0 { furthest = max(furthest, server.bytesSent - here) }
        setting.jobs.clock.advance(by: .milliseconds(4))
        await Task.yield()
      }
      #expect(try await attempt.state == .succeeded)
      #expect(furthest > 0 && furthest < 20_000_000, "what two sockets hold, and not the file: \(furthest)")
    }

    @Test func `a connection that is slow, but not too slow, is kept`() async throws {
      let setting = try Setting(limits: .init(minimumBytes: 1000, slowFor: .seconds(30)))
      let slow = (1...20).reduce(LyingAnswer.file(Content(420_000))) { $0.holding(after: Int64($1) * 20_000) }
      server.serve("/a.bin", slow)
      async let job = setting.fetch(setting.download(server.url("/a.bin")))
      for step in 1...20 {
        await server.held("/a.bin")
        try await setting.received(Int64(step) * 20_000)
        // Less than the time limit: each look finds at least what came before the last step.
        try await setting.pass(.seconds(20), onTimerOf: [.seconds(1)])
        server.release()
      }
      #expect(try await job.state == .succeeded)
      #expect(server.requests.count == 1)
      #expect(setting.errors.isEmpty)
      #expect(try setting.folder.holds(Content(420_000), as: "a.bin"))
    }
  }

  /// A connection that breaks while more of it has arrived than was read.
  @Suite struct EarlyEndTests {
    @Test(arguments: [false, true])
    func `what has arrived and waits for the speed limit is not lost with its connection`(speaksHTTP2: Bool)
      async throws
    {
      let server = try await LyingServer(
        certificate: speaksHTTP2 ? SecureTests.certificate : nil, speaksHTTP2: speaksHTTP2)
      server.serve("/a.bin", .file(content).holding(after: 10_000).cut(after: 150_000), .page(503))
      let setting = try Setting(limits: .init(bytesPerSecond: 100_000, slowFor: .seconds(1_000_000_000_000)))
      let download = try setting.download(
        server.url("/a.bin"), caCertificates: speaksHTTP2 ? SecureTests.authority : nil)
      let isOver = Lock(false)
      async let attempt: Void = {
        _ = try await setting.attempt(download)
        isOver.withLock { $0 = true }
      }()
      try await setting.received(1)  // the rest waits
      await server.held("/a.bin")
      server.release()
      await server.until { $0[0].isOver }
      while !isOver.withLock({ $0 }) {
        setting.jobs.clock.advance(by: .seconds(1))
        await Task.yield()
      }
      try await attempt
      #expect(setting.folder.size("a.bin.part") == 150_000)
    }
  }

  extension Setting {
    /// Lets the time pass after which a connection is given up, until that has happened to one.
    fileprivate func passUntilStalled() async throws {
      func isOver() -> Bool { !errors.isEmpty || !waits.isEmpty }
      while !isOver() { try await pass(.seconds(30), onTimerOf: [.seconds(1), .seconds(30)], unless: isOver) }
    }
  }
#endif
