#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// Ways to the file that lead through others, and what is told on them.
  @Suite struct RedirectTests {
    let server: LyingServer
    let other: LyingServer
    let setting: Setting
    private let secret = Download.Header("X-Secret", "for the first host only")

    init() async throws {
      server = try await LyingServer()
      other = try await LyingServer(on: "127.0.0.2")
      setting = try Setting()
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func `a redirect is followed, under the first name`(status: Int)
      async throws
    {
      server.serve("/a.bin", .redirect(status, to: "/there/b.txt"))
      server.serve("/there/b.txt", .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.attempt == 1)
      #expect(setting.folder.names == ["a.bin"])
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.path) == ["/a.bin", "/there/b.txt"])
    }

    @Test func `a cookie that a redirect sets comes back to its server alone`() async throws {
      server.serve("/a.bin", .redirect(to: "/b.bin").adding("Set-Cookie", "pass=1; Path=/; HttpOnly"))
      server.serve("/b.bin", .redirect(to: other.url("/c.bin")).adding("Set-Cookie", "more=2"))
      other.serve("/c.bin", .redirect(to: server.url("/d.bin")))
      server.serve("/d.bin", .file(content))
      let job = try await setting.fetch(
        setting.download(server.url("/a.bin"), headers: [Download.Header("Cookie", "own=0")]))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests("/a.bin").first?["Cookie"] == "own=0")
      #expect(server.requests("/b.bin").first?["Cookie"] == "own=0; pass=1")
      #expect(other.requests("/c.bin").first?["Cookie"] == nil)
      #expect(server.requests("/d.bin").first?["Cookie"] == "pass=1; more=2")
    }

    @Test(arguments: ["b.bin", "./b.bin", "../x/b.bin", "?to=b", "//127.0.0.1:PORT/x/b.bin", "b.bin#part"])
    func `a redirect may be relative`(location: String) async throws {
      let location = location.replacing("PORT", with: "\(server.port)")
      server.serve("/x/b.bin", .file(content))
      server.serve("/x/a.bin", .redirect(to: location), .file(content))
      let job = try await setting.fetch(setting.download(server.url("/x/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.last?.path == (location.hasPrefix("?") ? "/x/a.bin?to=b" : "/x/b.bin"))
    }

    @Test func `two headers of one name are both sent, and one in place of our own alone`() async throws {
      server.serve("/a.bin", .file(content))
      let headers = [("X-A", "1"), ("Accept", "text/plain"), ("x-a", "2"), ("Host", "a"), ("Host", "b")]
      let job = try await setting.fetch(
        setting.download(server.url("/a.bin"), headers: headers.map { Download.Header($0, $1) }))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map { $0["X-A"] } == ["1, 2"])
      #expect(server.requests.map { $0["Accept"] } == ["text/plain"])
      #expect(server.requests.map { $0["Host"] } == ["b"])
    }

    @Test func `headers and credentials go to the first host, also over its redirects`() async throws {
      server.serve("/a.bin", .redirect(to: "/b.bin"))
      server.serve("/b.bin", .file(content))
      let url = server.url("/a.bin", by: "kim:pass%20word@127.0.0.1")
      let job = try await setting.fetch(setting.download(url, headers: [secret]))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map { $0["X-Secret"] } == [secret.value, secret.value])
      let basic = "Basic " + Data("kim:pass word".utf8).base64EncodedString()
      #expect(server.requests.map { $0["Authorization"] } == [basic, basic])
      #expect(server.requests.allSatisfy { $0["Host"] == "127.0.0.1:\(server.port)" })
    }

    @Test(arguments: [true, false])
    func `headers and credentials go to no other host or port, and not back either`(isOtherPort: Bool) async throws {
      let second = isOtherPort ? try await LyingServer() : other
      server.serve("/a.bin", .redirect(to: second.url("/b.bin")))
      second.serve("/b.bin", .redirect(to: server.url("/c.bin")))
      server.serve("/c.bin", .file(content))
      let url = server.url("/a.bin", by: "kim:word@127.0.0.1")
      let job = try await setting.fetch(
        setting.download(url, headers: [secret, .init("Cookie", "a=b"), .init("Authorization", "Bearer c")]))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests("/a.bin")[0]["X-Secret"] == secret.value)
      #expect(server.requests("/a.bin")[0]["Cookie"] == "a=b")
      #expect(server.requests("/a.bin")[0]["Authorization"]?.contains("Bearer c") == true)
      for request in second.requests + server.requests("/c.bin") {
        #expect(request["X-Secret"] == nil)
        #expect(request["Authorization"] == nil)
        #expect(request["Cookie"] == nil)
      }
    }

    @Test func `another name of the same machine is another host`() async throws {
      server.serve("/a.bin", .redirect(to: server.url("/b.bin", by: "localhost")))
      server.serve("/b.bin", .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), headers: [secret]))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map { $0["X-Secret"] } == [secret.value, nil])
    }

    @Test func `credentials in a redirect are not those of the person, and reach nobody after it`() async throws {
      server.serve("/a.bin", .redirect(to: other.url("/b.bin", by: "eve:evil@127.0.0.2")))
      other.serve("/b.bin", .redirect(to: server.url("/c.bin")))
      server.serve("/c.bin", .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.allSatisfy { $0["Authorization"] == nil })
      #expect(setting.events().allSatisfy { !"\($0)".contains("evil") })
    }

    @Test func `ten redirects are followed, and an eleventh is not`() async throws {
      for number in 1...10 { server.serve("/\(number)", .redirect(to: "/\(number + 1)")) }
      server.serve("/11", .file(content), .redirect(to: "/12"))
      server.serve("/12", .file(content))
      let fine = try await setting.fetch(setting.download(server.url("/1"), named: "a.bin"))
      #expect(fine.state == .succeeded, "\(fine.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      let job = try await setting.fetch(setting.download(server.url("/1"), named: "b.bin"))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(job.lastError.contains("redirect"), "\(job.lastError)")
      #expect(server.requests("/12").isEmpty)
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a loop is told as one`() async throws {
      server.serve("/a.bin", .redirect(to: "/b.bin"))
      server.serve("/b.bin", .redirect(to: "/a.bin"))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(job.lastError.contains("redirect"), "\(job.lastError)")
      #expect(server.requests.count <= 11)
    }

    @Test(arguments: [
      "ftp://127.0.0.1/a", "file:///etc/passwd", "javascript:1", "http://", "http://[::1", "mailto:kim",
      "http:///a",
    ])
    func `a redirect to what is no web address fails for good, and names it`(location: String) async throws {
      server.serve("/a.bin", .redirect(to: location))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(job.lastError.contains(location), "\(job.lastError)")
      #expect(setting.errors.map(\.code) == [.unusableAnswer])
      #expect(setting.folder.names == [])
    }

    @Test func `a redirect to nowhere fails for good`() async throws {
      server.serve("/a.bin", .page(302))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(setting.errors.map(\.code) == [.unusableAnswer])
    }

    @Test func `what broke off behind a redirect goes on behind it`() async throws {
      server.serve("/a.bin", .redirect(to: other.url("/b.bin")))
      other.serve("/b.bin", .file(content).breaking(after: 300_000), .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: other)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(other.requests.map(\.rangeStart) == [nil, 300_000])
      #expect(other.requests.map { $0["If-Range"] } == [nil, LyingAnswer.etag])
      #expect(server.requests.count == 2, "the way is asked for again")
    }

    @Test func `a part of what one redirect led to is not gone on with by another's file of the same tag`() async throws
    {
      let other = Content(content.size, seed: 7)
      server.serve("/a.bin", .redirect(to: "/b.bin"), .redirect(to: "/c.bin"))
      server.serve("/b.bin", .file(content).breaking(after: 300_000))
      server.serve("/c.bin", .file(other))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(other, as: "a.bin"))
    }

    @Test func `a redirect that leads elsewhere next time is still checked by the entity tag`() async throws {
      server.serve("/a.bin", .redirect(to: "/b.bin"), .redirect(to: "/c.bin"))
      server.serve("/b.bin", .file(content).breaking(after: 300_000))
      server.serve("/c.bin", .file(changed, etag: "\"second\""))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(changed, as: "a.bin"))
    }
  }
#endif
