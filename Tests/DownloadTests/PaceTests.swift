#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// Connections that are too slow, and downloads that are not to be too fast. Time passes only as a test lets it.
  @Suite(.timeLimit(.minutes(1))) struct PaceTests {
    let server: LyingServer

    init() async throws { server = try await LyingServer() }

    @Test(arguments: [Answer.silence, .file(content).holding(after: 0)])
    func `a server that says nothing is given up, and asked again`(answer: Answer) async throws {
      let setting = try Setting(limits: .init(minimumBytes: 1000, slowFor: .seconds(30)))
      server.serve("/a.bin", answer, .file(content))
      async let job = setting.fetch(setting.download(server.url("/a.bin")))
      await server.held("/a.bin")
      try await setting.pass(.seconds(30), onTimerOf: .seconds(30))
      #expect(try await job.state == .succeeded)
      #expect(setting.errors.map(\.code) == [.stalled])
      #expect(try await job.attempt == 2)
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a connection that brings nothing more is given up, and gone on from`() async throws {
      let setting = try Setting(limits: .init(minimumBytes: 1000, slowFor: .seconds(30)))
      server.serve("/a.bin", .file(content).holding(after: 400_000), .file(content))
      async let job = setting.fetch(setting.download(server.url("/a.bin")))
      try await setting.received(400_000)
      // The first look finds 400,000 bytes, the next none.
      while setting.waits.isEmpty {
        try await setting.pass(.seconds(30), onTimerOf: .seconds(1)) { !setting.waits.isEmpty }
      }
      #expect(try await job.state == .succeeded)
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 400_000])
    }

    @Test func `a connection that is slow, but not too slow, is kept`() async throws {
      let setting = try Setting(limits: .init(minimumBytes: 1000, slowFor: .seconds(30)))
      let slow = (1...20).reduce(Answer.file(Content(42_000))) { $0.holding(after: Int64($1) * 2000) }
      server.serve("/a.bin", slow)
      async let job = setting.fetch(setting.download(server.url("/a.bin")))
      for step in 1...20 {
        await server.held("/a.bin")
        try await setting.received(Int64(step) * 2000)
        // Less than the time limit: each look finds at least what came before the last step.
        try await setting.pass(.seconds(20), onTimerOf: .seconds(1))
        server.release()
      }
      #expect(try await job.state == .succeeded)
      #expect(server.requests.count == 1)
      #expect(setting.errors.isEmpty)
      #expect(try setting.folder.holds(Content(42_000), as: "a.bin"))
    }

    @Test func `a limit of the rate is one for all downloads together`() async throws {
      let setting = try Setting(limits: .init(bytesPerSecond: 100_000), concurrency: 2)
      server.serve("/a", .file(content))
      server.serve("/b", .file(changed))
      let downloads = try ["/a", "/b"].map { try setting.download(server.url($0)) }
      let began = setting.jobs.clock.uptime
      let jobs = try await setting.jobs.queue.enqueue(contentsOf: downloads)
      setting.jobs.worker.start()
      func succeeded() -> Int {
        setting.events().count { if case .succeeded = $0 { true } else { false } }
      }
      while succeeded() < 2 {
        try await setting.soon { succeeded() == 2 || setting.jobs.clock.timers.contains { $0 <= .seconds(5) } }
        if let next = setting.jobs.clock.timers.first { setting.jobs.clock.advance(by: next) }
      }
      for job in jobs { #expect(try await job.value.size == content.size) }
      await setting.jobs.worker.stop()
      // 2 MB at 100 kB a second; a second's worth may come at once.
      #expect(setting.jobs.clock.uptime - began >= .seconds(19))
      #expect(setting.errors.isEmpty)
      #expect(try setting.folder.holds(content, as: "a"))
      #expect(try setting.folder.holds(changed, as: "b"))
    }
  }
#endif
