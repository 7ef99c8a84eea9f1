#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// Passwords and headers are in what is stored to be sent, and in nothing else that is stored, told or printed.
  @Suite struct SecretTests {
    /// The secret itself, and what is sent of it.
    static let words = ["s3cret", "c2VjcmV0", "czNjcmV0", Data("kim:s3cret".utf8).base64EncodedString()]
    static let headers = [Download.Header("Authorization", "Bearer s3cret"), .init("X-Key", "s3cret")]

    private func expectNone(in texts: [String]) {
      #expect(!texts.isEmpty)
      for text in texts {
        #expect(!Self.words.contains { text.contains($0) }, "\(text)")
      }
    }

    @Test func `a download says nothing of them, in whatever way it is printed`() throws {
      let download = Download(
        from: try #require(URL(string: "https://kim:s3cret@example.org/a")), to: URL(filePath: "/tmp"),
        headers: Self.headers)
      var dumped = ""
      dump(download, to: &dumped)
      dump(download.headers, to: &dumped)
      expectNone(in: [
        "\(download)", String(reflecting: download), "\([download])", "\(download.headers)",
        String(reflecting: download.headers),
        dumped, download.identity, "\(Optional(download) as Any)",
      ])
      #expect("\(download)".contains("https://example.org/a"))
    }

    @Test(arguments: [
      "http://kim:s3cret@/a", "http://kim:s3cret@h:99999/a", "ftp://kim:s3cret@h/a", "kim:s3cret@h/a",
      "//kim:s3cret@h/a",
      "http://h:99999/a?s3cret", "s3cret@h", "http://kim:s3cret@b%20d/a", "x:/?s3cret",
    ]) func `a URL that is refused is told without them`(url: String) throws {
      let download = Download(from: try #require(URL(string: url)), to: URL(filePath: "/tmp"))
      let error = #expect(throws: DownloadError.self) { try download.validate() }
      expectNone(in: [try #require(error).message])
    }

    @Test(arguments: [
      Download.Header("X-Key: s3cret", ""), .init("Bearer s3cret", "x"), .init("X-Key", "s3cret\n"),
      .init("X-Key", "\u{7f}s3cret"),
    ]) func `a header that is refused is told without its value`(header: Download.Header) throws {
      let download = Download(
        from: try #require(URL(string: "http://h/a")), to: URL(filePath: "/tmp"), headers: [header])
      let error = #expect(throws: DownloadError.self) { try download.validate() }
      expectNone(in: [try #require(error).message])
    }

    /// All that is told and stored of a download, but for its payload.
    private func told(_ setting: Setting, _ download: Download) async throws -> [String] {
      let id = try await setting.jobs.queue.enqueue(download).id
      try await setting.jobs.drain()
      try await setting.jobs.advance(by: .seconds(400))
      var job = try #require(try await setting.jobs.queue.jobs(where: .id(id), detail: .all).first)
      job.payload = nil
      #expect(!setting.events().isEmpty)
      #expect(!job.failures.isEmpty || !setting.waits.isEmpty || job.state == .succeeded)
      let records = setting.folder.names.filter { $0.hasSuffix(".json") }
      return ["\(job)", String(reflecting: job)] + setting.events().flatMap { ["\($0)", String(reflecting: $0)] }
        + (try records.map { try setting.folder.text($0) })
    }

    static let answers: [LyingAnswer] = [
      .file(content), .file(content).cut(after: 300_000), .page(404), .page(401), .page(503), .page(200), .hangUp,
      .file(content).framed(.close), .file(content).framed(.coded("gzip")),
      .file(content).with("Content-Encoding", "br"),
      .file(Content("s")).with("Content-Length", "x"), .page(302), .redirect(to: "/a.bin"),
      .redirect(to: "/a.bin?s3cret"),
      .redirect(to: "ftp://kim:s3cret@h/a"), .redirect(to: "http://kim:s3cret@h:99999/"),
      .redirect(to: "//kim:s3cret@/x?s3cret"),
      .redirect(to: "http://kim:s3cret@127.0.0.1:1/x"), .redirect(to: "http://kim:s3cret@no-such-host.invalid/x"),
    ]

    @Test(arguments: answers) func `whatever a server answers, they are told to nobody else`(answer: LyingAnswer)
      async throws
    {
      let server = try await LyingServer()
      server.serve("/a.bin", answer)
      for sha256 in [nil, String(repeating: "0", count: 64)] {
        let setting = try Setting()
        let url = server.url("/a.bin", by: "kim:s3cret@127.0.0.1")
        expectNone(
          in: try await told(setting, setting.download(url, sha256: sha256, headers: [.init("X-Key", "s3cret")])))
      }
      #expect(server.requests.first?["X-Key"] == "s3cret")
    }

    @Test(arguments: [
      "http://kim:s3cret@127.0.0.1:1", "kim:s3cret@127.0.0.1:1", "socks5://kim:s3cret@127.0.0.1:1",
      "https://kim:s3cret@h:1",
      "kim:s3cret@", "http://kim:s3/cret@h:1", "http://kim:s3cret@h:99999", "http://kim:s3#cret@h",
      "http://kim:s3cret@no-such-host.invalid", "http://kim:s3cret?x@h:1", "http://kim:x?s3cret@h:1",
    ]) func `a proxy that is no good is told without them`(proxy: String) async throws {
      for url in ["http://files.example/a.bin", "https://files.example/a.bin"] {
        let setting = try Setting(environment: ["http_proxy": proxy, "https_proxy": proxy])
        let told = try await told(setting, setting.download(url, headers: Self.headers))
        expectNone(in: told)
        #expect(!told.contains { $0.contains("s3/cret") || $0.contains("s3#cret") })
      }
    }

    @Test(arguments: ["socks5://kim:s3cret@127.0.0.1:1", "https://h:1", "socks4://h", "http://h:99999", "http://"])
    func `a proxy that can't be used fails for good, and says why`(proxy: String) async throws {
      let setting = try Setting(environment: ["all_proxy": proxy])
      let job = try await setting.fetch(setting.download("http://files.example/a.bin"))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(setting.errors.map(\.code) == [.invalidDownload])
      #expect(job.lastError.contains(proxy.hasPrefix("socks5") ? "SOCKS" : "all_proxy"), "\(job.lastError)")
    }

    @Test func `a proxy that wants credentials for a tunnel fails for good, and says so`() async throws {
      let proxy = try await LyingServer()
      proxy.serve("files.example:443", .page(407))
      let setting = try Setting(environment: ["https_proxy": proxy.url("", by: "kim:s3cret@127.0.0.1")])
      let job = try await setting.fetch(setting.download("https://files.example/a.bin"))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(job.lastError.contains("the proxy 127.0.0.1:\(proxy.port)"), "\(job.lastError)")
      #expect(!job.lastError.contains("s3cret"))
      #expect(proxy.requests.first?["Proxy-Authorization"] == "Basic " + Data("kim:s3cret".utf8).base64EncodedString())
    }

    // MARK: What is taken, is sent

    @Test(
      arguments: [true, false],
      ["plain", "", " a ", "a\tb", "na\u{ef}ve \u{20ac}", "\u{85}", String(repeating: "x", count: 9000)])
    func `a header that is not refused arrives as it is`(speaksHTTP2: Bool, value: String) async throws {
      let server = try await LyingServer(
        certificate: speaksHTTP2 ? SecureTests.certificate : nil, speaksHTTP2: speaksHTTP2)
      server.serve("/a.bin", .file(content))
      let setting = try Setting()
      let job = try await setting.fetch(
        setting.download(
          server.url("/a.bin"), headers: [.init("X-!#$%&'*+-.^_`|~1", value)],
          caCertificates: speaksHTTP2 ? SecureTests.authority : nil))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map { $0["X-!#$%&'*+-.^_`|~1"] } == [value == " a " ? "a" : value])
    }

    @Test(arguments: [true, false])
    func `a host that is no host does no harm`(speaksHTTP2: Bool) async throws {
      let server = try await LyingServer(
        certificate: speaksHTTP2 ? SecureTests.certificate : nil, speaksHTTP2: speaksHTTP2)
      server.serve("/a.bin", .file(content))
      let setting = try Setting()
      let job = try await setting.fetch(
        setting.download(
          server.url("/a.bin"), headers: [.init("Host", "5")],
          caCertificates: speaksHTTP2 ? SecureTests.authority : nil))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }
  }
#endif
