#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// Downloads over TLS: whom to trust, and what is not said in the open.
  @Suite struct SecureTests {
    /// Made for these tests; valid until 2120, for localhost, 127.0.0.1 and 127.0.0.2.
    static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
    static let authority = fixtures.appending(path: "ca.pem")
    /// Another authority, which has signed nothing.
    static let other = fixtures.appending(path: "other-ca.pem")
    static let certificate = LyingServer.Certificate(
      certificate: fixtures.appending(path: "server.pem").path, key: fixtures.appending(path: "server.key").path)

    let server: LyingServer
    let setting: Setting

    init() async throws {
      server = try await LyingServer(certificate: Self.certificate)
      setting = try Setting()
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `a server whose authority is given is trusted`(name: String) async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .file(content))
      let job = try await setting.fetch(
        setting.download(server.url("/a.bin", by: name), caCertificates: Self.authority), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000])
    }

    @Test func `a server whose authority nobody knows is not trusted, and it says what helps`() async throws {
      server.serve("/a.bin", .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(job.attempt == 20, "a log-in before the network goes away, and a clock is set")
      #expect(job.lastError.contains("--cacert"), "\(job.lastError)")
      #expect(server.requests.isEmpty)
      #expect(setting.folder.names == [])
    }

    @Test func `a file of certificates that was replaced is read anew`() async throws {
      server.serve("/a.bin", .file(content))
      let file = setting.folder.url.appending(path: "ca.pem")
      try FileManager.default.copyItem(atPath: Self.other.path, toPath: file.path)
      let download = try setting.download(server.url("/a.bin"), caCertificates: file)
      let refused = try await setting.attempt(download)
      #expect(refused.state == .scheduled)
      #expect(setting.errors.map(\.code) == [.untrusted])
      try Data(contentsOf: Self.authority).write(to: file)
      try await setting.jobs.advance(by: .seconds(10))
      let job = try await setting.jobs.queue.job(refused.id)
      #expect(job.state == .succeeded, "\(job.lastError)")
    }

    @Test(arguments: ["no-such-file.pem", "server.key"])
    func `a file that holds no certificates fails for good, and is named`(name: String) async throws {
      let file = Self.fixtures.appending(path: name)
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), caCertificates: file))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(job.lastError.contains(file.path), "\(job.lastError)")
      #expect(server.requests.isEmpty)
    }

    @Test func `from https to http headers and credentials do not go, and not back either`() async throws {
      let open = try await LyingServer()
      server.serve("/a.bin", .redirect(to: open.url("/b.bin")))
      open.serve("/b.bin", .redirect(to: server.url("/c.bin")))
      server.serve("/c.bin", .file(content))
      let job = try await setting.fetch(
        setting.download(
          server.url("/a.bin", by: "kim:word@127.0.0.1"), headers: [.init("X-Secret", "s")],
          caCertificates: Self.authority))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests("/a.bin")[0]["Authorization"] != nil)
      for request in open.requests + server.requests("/c.bin") {
        #expect(request["Authorization"] == nil)
        #expect(request["X-Secret"] == nil)
      }
    }

    @Test func `an end of the connection without an end of the conversation is a broken one`() async throws {
      server.serve("/a.bin", .file(content).framed(.chunkedCut).holding(after: content.size), .file(content))
      let job = try await setting.fetch(
        setting.download(server.url("/a.bin"), caCertificates: Self.authority), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 1_000_000])
    }
  }
#endif
