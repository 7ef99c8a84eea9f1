#if HTTP
  import DurableJobs
  import Foundation
  import LyingServer
  import Testing

  @testable import DurableJobsHTTP

  /// The proxies of the environment. The server stands for one: it is asked for whole URLs, which are paths to it.
  @Suite struct ProxyTests {
    let proxy: LyingServer
    let server: LyingServer

    init() async throws {
      proxy = try await LyingServer(on: "127.0.0.2")
      server = try await LyingServer()
      server.serve("/a.bin", .file(content))
    }

    @Test func `a plain URL is asked of the proxy, whole, and its name is resolved there`() async throws {
      let url = "http://files.example:8080/a.bin"
      proxy.serve(url, .file(content).breaking(after: 300_000), .file(content))
      let setting = try Setting(environment: ["http_proxy": proxy.url("", by: "kim:word@127.0.0.2")])
      let job = try await setting.fetch(setting.download(url), from: proxy)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(proxy.requests.map(\.path) == [url, url])
      #expect(proxy.requests.map(\.rangeStart) == [nil, 300_000])
      #expect(proxy.requests.allSatisfy { $0["Host"] == "files.example:8080" })
      let basic = "Basic " + Data("kim:word".utf8).base64EncodedString()
      #expect(proxy.requests.allSatisfy { $0["Proxy-Authorization"] == basic && $0["Authorization"] == nil })
    }

    @Test(arguments: ["127.0.0.1", "localhost,127.0.0.1", "*", "10.0.0.0/8,127.0.0.0/9"])
    func `hosts that need no proxy are asked themselves`(list: String) async throws {
      let setting = try Setting(environment: ["http_proxy": proxy.url(""), "no_proxy": list])
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(proxy.requests.isEmpty)
      #expect(server.requests.allSatisfy { $0["Proxy-Authorization"] == nil })
    }

    @Test func `a network that needs no proxy is that of its addresses alone`() throws {
      func isDirect(_ host: String, _ list: String) throws -> Bool {
        let proxies = Proxies(environment: ["http_proxy": "proxy.example:1", "no_proxy": list])
        return try proxies.proxy(for: #require(HTTPURL("http://\(host)/"))) == nil
      }
      for host in ["10.0.0.1", "10.255.3.4"] { #expect(try isDirect(host, "10.0.0.0/8")) }
      for host in ["11.0.0.1", "10.example.org", "[fd00::1]"] { #expect(try !isDirect(host, "10.0.0.0/8")) }
      #expect(try isDirect("192.168.5.6", "192.168.4.0/22") && !isDirect("192.168.8.1", "192.168.4.0/22"))
      #expect(try isDirect("[fd00::1]", "fd00::/8") && !isDirect("[fe80::1]", "fd00::/8"))
      #expect(try isDirect("[::1]", "[0:0:0:0:0:0:0:1]") && !isDirect("[::2]", "::1"))
      #expect(try isDirect("1.2.3.4", "0.0.0.0/0") && !isDirect("1.2.3.4", "1.2.3.0/33"))
    }

    @Test func `a secure URL goes through a tunnel, and the proxy sees nothing of it`() async throws {
      let setting = try Setting(environment: ["https_proxy": proxy.url("")])
      proxy.serve("127.0.0.1:1", .page(403))
      let job = try await setting.attempt(
        setting.download("https://127.0.0.1:1/secret?word", headers: [.init("X-Secret", "s")]))
      #expect(job.state != .succeeded)
      let request = try #require(proxy.requests.first)
      #expect(request.method == "CONNECT")
      #expect(request.path == "127.0.0.1:1")
      #expect(request["X-Secret"] == nil)
    }

    @Test func `a proxy that is not there is named`() async throws {
      try await proxy.stopListening()
      let setting = try Setting(environment: ["http_proxy": proxy.url("")])
      let job = try await setting.attempt(setting.download(server.url("/a.bin")))
      #expect(job.state == .scheduled)
      #expect(setting.errors.map(\.code) == [.connection])
      #expect(job.lastError.contains("127.0.0.2"), "\(job.lastError)")
      #expect(server.requests.isEmpty)
    }
  }
#endif
