#if HTTP
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// Answers that break off, and what the next request makes of what is here.
  @Suite struct ResumeTests {
    let server: LyingServer
    let setting: Setting

    init() async throws {
      server = try await LyingServer()
      setting = try Setting()
    }

    /// Serves these in turn as `/a.bin`, fetches it, and returns what was asked.
    private func fetch(
      _ answers: LyingAnswer..., sha256: String? = nil, expecting wanted: Content = content, attempt: Int = 1
    ) async throws -> [Request] {
      server.serve("/a.bin", answers)
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), sha256: sha256), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.attempt == attempt)
      #expect(try setting.folder.holds(wanted, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
      return server.requests("/a.bin")
    }

    @Test func `a file comes in one request, and nothing but the file is left`() async throws {
      let requests = try await fetch(.file(content))
      #expect(requests.count == 1)
      #expect(requests[0].method == "GET")
      #expect(requests[0]["Accept-Encoding"] == "identity")
      #expect(requests[0]["User-Agent"]?.hasPrefix("durable/") == true)
      #expect(requests[0]["Range"] == nil)
      #expect(requests[0]["If-Range"] == nil)
      #expect(server.bytesSent == content.size)
    }

    @Test(arguments: [LyingAnswer.etag, nil], [false, true])
    func `a few words in place of the rest of a file are not the file, and what is here stays`(
      etag: String?, hasChecksum: Bool
    ) async throws {
      let words = LyingAnswer.page(200, "try later").with("Content-Type", "text/plain")
      let file = LyingAnswer.file(content, etag: etag)
      let requests = try await fetch(
        file.breaking(after: 300_000), words, words, file, sha256: hasChecksum ? content.sha256 : nil, attempt: 3)
      #expect(requests.map(\.rangeStart) == [nil, 300_000, 300_000, 300_000])
    }

    @Test func `an empty file is a file`() async throws {
      let empty = Content("")
      #expect(try await fetch(.file(empty), expecting: empty).count == 1)
    }

    @Test func `what broke off goes on where it broke, on the condition that the file is still the same`() async throws
    {
      let requests = try await fetch(.file(content).breaking(after: 300_000), .file(content))
      #expect(requests.map(\.rangeStart) == [nil, 300_000])
      #expect(requests[1]["If-Range"] == LyingAnswer.etag)
      #expect(requests[1]["Accept-Encoding"] == "identity")
      #expect(server.bytesSent == content.size)
      #expect(setting.errors.isEmpty || setting.errors.allSatisfy { $0.code == .connection })
    }

    @Test func `after a cut it is asked again at once, and after another one a second later`() async throws {
      server.serve(
        "/a.bin", .file(content).cut(after: 300_000), .file(content).cut(after: 300_000),
        .file(content).cut(after: 300_000), .file(content))
      let first = try await setting.attempt(setting.download(server.url("/a.bin")))
      #expect(first.state == .scheduled)
      #expect(setting.waits.count == 1)
      #expect(server.requests.count == 2)
      try await setting.jobs.advance(by: .seconds(1))
      let job = try await setting.jobs.queue.job(first.id)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.attempt == 1 && job.failures.isEmpty)
      #expect(server.requests.count == 4)
      #expect(setting.waits.count == 1)
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a cut of what can't be gone on from is not followed by another request at once`() async throws {
      let answer = LyingAnswer.file(content, etag: nil, lastModified: nil)
      server.serve("/a.bin", answer.cut(after: 300_000), answer)
      let job = try await setting.attempt(setting.download(server.url("/a.bin")))
      #expect(job.state == .scheduled)
      #expect(server.requests.count == 1)
    }

    @Test func `an attempt that brings the file further uses none up: 30 breaks with 20 attempts`() async throws {
      let requests = try await fetch(.file(content).breaking(after: 33_000))
      #expect(requests.map(\.rangeStart) == [nil] + (1...30).map { $0 * 33_000 })
      #expect(server.bytesSent == content.size)
    }

    @Test func `attempts that bring nothing further are used up`() async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .file(content).breaking(after: 0))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(job.state == .failed)
      #expect(job.attempt == 20)
      #expect(server.requests.count == 22, "the first time it is asked again at once")
      #expect(setting.errors.last?.code == .connection)
      #expect(setting.folder.names == ["a.bin.part", "a.bin.part.json"], "what is here is kept")
    }

    @Test func `a file that is begun anew again and again uses attempts up, however far each came`() async throws {
      let answer = LyingAnswer.file(content, etag: nil, lastModified: nil)
      server.serve("/a.bin", (0..<200).map { answer.breaking(after: $0 % 2 == 0 ? 300_000 : 200_000) })
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(job.state == .failed)
      #expect(job.attempt == 20)
      #expect(server.requests.count == 21, "the first brought it further")
    }

    @Test(arguments: [LyingAnswer.etag, nil], [false, true])
    func `a part that came for somebody else is gone on from only by a tag, or to a checksum`(
      etag: String?, hasChecksum: Bool
    ) async throws {
      let answer = LyingAnswer.file(content, etag: etag)
      server.serve("/a.bin", answer.breaking(after: 300_000), .page(403), answer)
      func download(_ user: String) throws -> Download {
        try setting.download(
          server.url("/a.bin"), sha256: hasChecksum ? content.sha256 : nil, headers: [.init("X-User", user)])
      }
      #expect(try await setting.fetch(download("kim"), from: server).state == .failed)
      #expect(setting.folder.size("a.bin.part") == 300_000)
      #expect(try await setting.fetch(download("lee")).state == .succeeded)
      let goesOn = etag != nil || hasChecksum
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, goesOn ? 300_000 : nil])
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `with no entity tag the condition is the time of the last change`() async throws {
      let requests = try await fetch(
        .file(content, etag: nil).breaking(after: 300_000), .file(content, etag: nil))
      #expect(requests[1].rangeStart == 300_000)
      #expect(requests[1]["If-Range"] == LyingAnswer.lastModified)
    }

    @Test func `a weak entity tag is no condition, and neither is a time beside it`() async throws {
      let weak = LyingAnswer.file(content, etag: "W/\"first\"")
      let requests = try await fetch(weak.breaking(after: 300_000), weak)
      #expect(requests.map { $0["Range"] } == [nil, nil])
    }

    @Test(arguments: [nil, "W/\"first\""])
    func `with nothing to tell versions apart it starts anew`(etag: String?) async throws {
      let answer = LyingAnswer.file(content, etag: etag, lastModified: nil)
      let requests = try await fetch(answer.breaking(after: 300_000), answer)
      #expect(requests.map { $0["Range"] } == [nil, nil])
    }

    @Test func `with nothing to tell versions apart, but a checksum, it goes on`() async throws {
      let answer = LyingAnswer.file(content, etag: nil, lastModified: nil)
      let requests = try await fetch(answer.breaking(after: 300_000), answer, sha256: content.sha256)
      #expect(requests.map(\.rangeStart) == [nil, 300_000])
      #expect(requests[1]["If-Range"] == nil)
    }

    @Test func `a server that ignores the range sends all again`() async throws {
      let requests = try await fetch(.file(content).breaking(after: 300_000), .file(content).ranges(.ignored))
      #expect(requests.map(\.rangeStart) == [nil, 300_000])
      #expect(server.bytesSent == content.size + 300_000)
    }

    @Test(arguments: [0, 200_000]) func `a part that something else cuts while it grows is begun anew`(length: Int)
      async throws
    {
      let large = Content(3_000_000)
      server.serve("/a.bin", .file(large).holding(after: 1_000_000), .file(large))
      let setting = setting
      async let job = setting.fetch(setting.download(server.url("/a.bin")))
      await server.held("/a.bin")
      try await setting.received(1_000_000)
      #expect(truncate(setting.folder.path("a.bin.part"), length) == 0)
      server.release()
      #expect(try await job.state == .succeeded)
      #expect(setting.errors.map(\.code) == [.disk])
      #expect(try setting.folder.holds(large, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, nil])
    }

    @Test func `a file that changed comes whole`() async throws {
      let requests = try await fetch(
        .file(content).breaking(after: 300_000), .file(changed, etag: "\"second\""), expecting: changed)
      #expect(requests.map(\.rangeStart) == [nil, 300_000])
    }

    @Test(arguments: [changed, Content(1_500_000, seed: 2), Content(200_000, seed: 2)])
    func `a file that changed comes whole, though the server heeds no condition`(new: Content) async throws {
      let second = LyingAnswer.file(new, etag: "\"second\"", lastModified: "Tue, 06 Jan 2026 10:20:30 GMT")
      let requests = try await fetch(
        .file(content).breaking(after: 300_000), second.ignoringIfRange(), second, expecting: new)
      #expect(requests.map(\.rangeStart) == [nil, 300_000, nil], "and in the same attempt")
    }

    @Test(arguments: [
      LyingAnswer.Ranges.shifted(1000), .shifted(-1000), .shifted(-300_000), .ofTotal(2_000_000), .ofTotal(999_999),
      .multipart, .multipartWithRange, .lengthOff(by: -1000), .unsaid, .refused(tellingSize: true),
      .refused(tellingSize: false),
    ])
    func `a server that answers a range oddly is asked for all, in the same attempt`(ranges: LyingAnswer.Ranges)
      async throws
    {
      let requests = try await fetch(.file(content).breaking(after: 300_000), .file(content).ranges(ranges))
      #expect(requests.map(\.rangeStart) == [nil, 300_000, nil])
      #expect(requests[2]["If-Range"] == nil)
    }

    @Test(arguments: [
      (LyingAnswer.file(content), "ETag"), (LyingAnswer.file(content, etag: nil), "Last-Modified"),
    ])
    func `a range that no longer says which version it is of is not taken, but for a checksum`(
      answer: LyingAnswer, header: String
    ) async throws {
      let short = answer.notRepeating(header)
      let requests = try await fetch(answer.breaking(after: 300_000), short)
      #expect(requests.map(\.rangeStart) == [nil, 300_000, nil])
      try FileManager.default.removeItem(atPath: setting.folder.path("a.bin"))
      server.serve("/b.bin", answer.breaking(after: 300_000), short)
      let job = try await setting.fetch(setting.download(server.url("/b.bin"), sha256: content.sha256), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests("/b.bin").map(\.rangeStart) == [nil, 300_000])
    }

    @Test func `what was said with the whole file need not be said again with a part of it`() async throws {
      let answer = LyingAnswer.file(content).with("Content-Disposition", "attachment; filename=b.bin")
      server.serve(
        "/a.bin", answer.breaking(after: 300_000), answer.notRepeating("Content-Disposition", "Last-Modified"))
      let job = try await setting.fetch(
        setting.download(server.url("/a.bin"), keepsServerTime: true), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000])
      #expect(setting.folder.names == ["b.bin"])
      #expect(job.file?.modified == 1_767_608_430_000_000_000)
    }

    @Test func `a file that has the URL's name does not stand in the way of one that its server named before`()
      async throws
    {
      let answer = LyingAnswer.file(content).with("Content-Disposition", "attachment; filename=b.bin")
      // The first look is at the file that is there.
      server.serve(
        "/a.bin", answer, answer.breaking(after: 300_000), answer.notRepeating("Content-Disposition", "Last-Modified"))
      try setting.folder.write("precious", to: "a.bin")
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.rangeStart) == [7, nil, 300_000])
      #expect(try setting.folder.text("a.bin") == "precious")
      #expect(try setting.folder.holds(content, as: "b.bin"))
    }

    @Test func `a range that is shorter than what was asked for is gone on from`() async throws {
      let requests = try await fetch(
        .file(content).breaking(after: 300_000), .file(content).ranges(.atMost(200_000)))
      #expect(requests.map(\.rangeStart) == [nil, 300_000, 500_000, 700_000, 900_000])
      #expect(server.bytesSent == content.size)
    }

    @Test func `all bytes were here already: the server says that nothing is left, and of which version`() async throws
    {
      let requests = try await fetch(.file(content).framed(.chunkedCut).holding(after: content.size), .file(content))
      #expect(requests.map(\.rangeStart) == [nil, 1_000_000])
      #expect(server.exchanges.map(\.status) == [200, 416])
    }

    @Test func `that nothing is left of no version that it names is asked again, by a byte`() async throws {
      let whole = LyingAnswer.file(content).framed(.chunkedCut).holding(after: content.size)
      let requests = try await fetch(whole, .file(content).notRepeating("ETag", "Last-Modified"), .file(content))
      #expect(requests.map(\.rangeStart) == [nil, 1_000_000, 999_999])
      #expect(server.exchanges.map(\.status) == [200, 416, 206])
    }

    @Test func `that nothing is left of another version of the same length is not believed`() async throws {
      server.serve(
        "/a.bin", .file(content).framed(.chunkedCut).holding(after: content.size),
        .file(changed, etag: "\"second\"").notRepeating("ETag", "Last-Modified").ignoringIfRange())
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(changed, as: "a.bin"))
    }

    @Test func `an answer with fewer bytes than it says is gone on from`() async throws {
      let requests = try await fetch(
        .file(Content(bytes: content.bytes(0..<400_000))).framed(.lengthOff(by: 600_000)).holding(after: 400_000),
        .file(content))
      #expect(requests.map(\.rangeStart) == [nil, 400_000])
    }

    @Test func `of an answer with more bytes than it says the rest is left`() async throws {
      let longer = Content(bytes: content.bytes + [UInt8](repeating: 7, count: 5000))
      let requests = try await fetch(.file(longer).framed(.lengthOff(by: -5000)))
      #expect(requests.count == 1)
    }

    @Test func `the same by a connection that is used again`() async throws {
      let longer = Content(bytes: content.bytes + "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad".utf8)
      let surplus = longer.size - content.size
      server.serve("/b.bin", .file(changed))
      _ = try await fetch(.file(longer).framed(.lengthOff(by: -surplus)))
      let job = try await setting.fetch(setting.download(server.url("/b.bin")))
      #expect(job.state == .succeeded)
      #expect(try setting.folder.holds(changed, as: "b.bin"))
    }

    @Test(
      arguments: [LyingAnswer.Framing.length, .chunked],
      [
        "HTTP/1.1 200 OK\r\nX-Rest: ", "H", "\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 3\r\n\r\nbad",
      ])
    func `what follows an answer on a connection that is kept is no beginning of the next one`(
      framing: LyingAnswer.Framing, surplus: String
    ) async throws {
      let small = Content(1000, seed: 5)
      server.serve("/a.bin", .file(small).framed(framing).followed(by: surplus))
      // With another first line it would be a file of three bytes.
      server.serve(
        "/b.bin", .page(503, "bad").with("Content-Type", "application/octet-stream"), .file(changed))
      for path in ["/a.bin", "/b.bin"] {
        let job = try await setting.fetch(setting.download(server.url(path)))
        #expect(job.state == .succeeded, "\(job.lastError)")
      }
      #expect(try setting.folder.holds(small, as: "a.bin"))
      #expect(try setting.folder.holds(changed, as: "b.bin"))
      #expect(setting.errors.map(\.code) == [.refused])
      #expect(server.requests("/b.bin").count == 2)
    }

    @Test(arguments: [0, 299_999, 300_001]) func `a checksum counts all bytes over a resume`(cut: Int64) async throws {
      let requests = try await fetch(
        .file(content).breaking(after: cut), .file(content), sha256: content.sha256, attempt: cut == 0 ? 2 : 1)
      #expect(requests.map(\.rangeStart) == [nil, cut == 0 ? nil : cut])
    }
  }
#endif
