#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// Downloads over HTTP/2, whose streams share a connection.
  @Suite struct HTTP2Tests {
    let server: LyingServer

    init() async throws {
      server = try await LyingServer(certificate: SecureTests.certificate, speaksHTTP2: true)
    }

    private func download(_ setting: Setting, sha256: String? = nil) throws -> Download {
      try setting.download(server.url("/a.bin"), sha256: sha256, caCertificates: SecureTests.authority)
    }

    @Test func `a file comes over HTTP/2 where the server speaks it`() async throws {
      server.serve("/a.bin", .file(content))
      let setting = try Setting()
      let job = try await setting.fetch(download(setting, sha256: content.sha256))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.version) == ["HTTP/2"])
    }

    @Test func `a stream that is reset loses nothing that had come`() async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .file(content))
      let setting = try Setting()
      let job = try await setting.fetch(download(setting), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000])
      #expect(server.requests[1]["If-Range"] == LyingAnswer.etag)
    }

    @Test(arguments: [1000, 700_000]) func `a stream that is reset is no end of a file whose length nobody told`(
      cut: Int64
    ) async throws {
      let file = LyingAnswer.file(content).framed(.chunked)
      server.serve("/a.bin", file.breaking(after: cut), file)
      let setting = try Setting()
      let job = try await setting.fetch(download(setting), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.count == 2)
    }

    @Test func `a connection that is closed is none either`() async throws {
      let file = LyingAnswer.file(content).framed(.chunked)
      server.serve("/a.bin", file.holding(after: 300_000), file)
      let setting = try Setting()
      async let job = setting.fetch(download(setting))
      await server.held("/a.bin")
      try await setting.received(300_000)
      server.closeConnections()
      #expect(try await job.state == .succeeded)
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.count == 2)
    }

    @Test func `a connection that breaks takes no byte of its streams along`() async throws {
      server.serve("/a.bin", .file(content).holding(after: 300_000), .file(content))
      let setting = try Setting()
      async let job = setting.fetch(download(setting))
      await server.held("/a.bin")
      try await setting.received(300_000)
      server.closeConnections()
      #expect(try await job.state == .succeeded)
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000])
    }

    @Test func `many files come side by side, each right`() async throws {
      let files = (1...20).map { Content(100_000, seed: UInt64($0)) }
      for (number, file) in files.enumerated() { server.serve("/\(number)", .file(file)) }
      let setting = try Setting(concurrency: 6)
      for number in files.indices {
        try await setting.jobs.queue.enqueue(
          setting.download(server.url("/\(number)"), caCertificates: SecureTests.authority))
      }
      _ = try await setting.jobs.drain()
      for (number, file) in files.enumerated() { #expect(try setting.folder.holds(file, as: "\(number)")) }
      #expect(server.requests.allSatisfy { $0.version == "HTTP/2" })
    }
  }
#endif
