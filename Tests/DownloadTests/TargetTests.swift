#if HTTP
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// What goes over the wire for a URL.
  @Suite struct TargetTests {
    let server: LyingServer
    let setting: Setting

    init() async throws {
      server = try await LyingServer()
      setting = try Setting()
    }

    private func fetch(_ url: String, from server: LyingServer) async throws {
      let download = Download(from: try #require(URL(typed: url)), to: setting.folder.url, named: "a.bin")
      let job = try await setting.fetch(download)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    static let targets = [
      ("/caf%E9.pdf", "/caf%E9.pdf"), ("/%E9?%E9", "/%E9?%E9"), ("/a%20b[1].bin", "/a%20b%5B1%5D.bin"),
      ("/a%2Fb%2fc", "/a%2Fb%2fc"), ("/a b%20c\u{e9}", "/a%20b%20c%C3%A9"), ("/a//b/../c", "/a//b/../c"),
      ("/a?b=%5B[]&c=d+e", "/a?b=%5B%5B%5D&c=d+e"), ("?q=1", "/?q=1"), ("/a?#b", "/a?"),
      ("/a%00%0D%0Ab", "/a%00%0D%0Ab"),
      ("/a;b=c,d!$&'()*+:@~", "/a;b=c,d!$&'()*+:@~"),
    ]

    @Test(arguments: targets) func `a request asks for what was given`(path: String, target: String) async throws {
      server.serve(String(target.prefix { $0 != "?" }), .file(content))
      try await fetch(server.url(path), from: server)
      #expect(server.requests.map(\.line) == ["GET \(target) HTTP/1.1"])
      #expect(server.requests.map { $0["Host"] } == ["127.0.0.1:\(server.port)"])
    }

    @Test func `a URL that Foundation makes is asked for as it shows`() async throws {
      server.serve("/caf%E9.pdf", .file(content))
      let job = try await setting.fetch(setting.download(server.url("/caf%E9.pdf#page=1")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "caf%E9.pdf"))
      #expect(server.requests.map(\.line) == ["GET /caf%E9.pdf HTTP/1.1"])
    }

    @Test(arguments: targets) func `so does one over HTTP/2`(path: String, target: String) async throws {
      let server = try await LyingServer(certificate: SecureTests.certificate, speaksHTTP2: true)
      server.serve(String(target.prefix { $0 != "?" }), .file(content))
      let job = try await setting.fetch(
        Download(
          from: try #require(URL(typed: server.url(path))), to: setting.folder.url, named: "a.bin",
          caCertificates: SecureTests.authority))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.line) == ["GET \(target) HTTP/2"])
    }

    @Test(arguments: targets) func `and one through a proxy`(path: String, target: String) async throws {
      let url = "http://files.example:8080" + target
      server.serve(String(url.prefix { $0 != "?" }), .file(content))
      let setting = try Setting(environment: ["http_proxy": server.url("")])
      let download = Download(
        from: try #require(URL(typed: "http://files.example:8080" + path)), to: setting.folder.url, named: "a.bin")
      let job = try await setting.fetch(download)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.line) == ["GET \(url) HTTP/1.1"])
      #expect(server.requests.map { $0["Host"] } == ["files.example:8080"])
    }

    @Test(arguments: [
      ("/caf%E9.pdf", "/caf%E9.pdf"), ("/a%20b[1].bin", "/a%20b[1].bin"), ("/caf\u{e9} b", "/caf%C3%A9%20b"),
      ("../%E9/./[x]?[%5B]#%E9", "/x/%E9/[x]?[%5B]"), ("/100%", "/100%"), ("?\u{e9}", "/x/y/z?%C3%A9"),
    ]) func `a redirect is followed as it was given`(location: String, target: String) async throws {
      server.serve("/x/y/z", .redirect(to: location), .file(content))
      server.serve(
        String(target.prefix { $0 != "?" }),
        target.hasPrefix("/x/y/z") ? [.redirect(to: location), .file(content)] : [.file(content)])
      try await fetch(server.url("/x/y/z"), from: server)
      #expect(server.requests.map(\.line) == ["GET /x/y/z HTTP/1.1", "GET \(target) HTTP/1.1"])
    }

    @Test func `a redirect in another character set keeps its bytes`() async throws {
      server.serve("/a", .redirect(to: "/caf\u{e9} \u{fc}.bin").inLatin1())
      server.serve("/caf%E9%20%FC.bin", .file(content))
      try await fetch(server.url("/a"), from: server)
      #expect(server.requests.map(\.line) == ["GET /a HTTP/1.1", "GET /caf%E9%20%FC.bin HTTP/1.1"])
    }

    @Test func `an address of the sixth version has its brackets where it is told`() async throws {
      let server = try await LyingServer(on: "::1")
      server.serve("/a", .file(content))
      try await fetch(server.url("/a", by: "[::1]"), from: server)
      #expect(server.requests.map { $0["Host"] } == ["[::1]:\(server.port)"])
    }
  }
#endif
