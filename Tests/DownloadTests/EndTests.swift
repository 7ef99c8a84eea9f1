#if HTTP
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// How the end of a file is known, and what is checked there.
  @Suite struct EndTests {
    let server: LyingServer
    let setting: Setting

    init() async throws {
      server = try await LyingServer()
      setting = try Setting()
    }

    @Test func `chunks that came to their end are a whole file`() async throws {
      server.serve("/a.bin", .file(content).framed(.chunked))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `chunks without an end are gone on from`() async throws {
      server.serve("/a.bin", .file(content).framed(.chunked).breaking(after: 400_000), .file(content).framed(.chunked))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 400_000])
    }

    @Test(arguments: [100, 103])
    func `a length that comes before the answer itself makes no end of a body that is cut`(interim: Int) async throws {
      let whole = LyingAnswer.file(content).framed(.chunked).after(interim: interim)
      server.serve("/a.bin", whole.breaking(after: 400_000), whole)
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 400_000])
    }

    @Test func `an end that is told by nothing is no end, and it says what helps`() async throws {
      server.serve("/a.bin", .file(content).framed(.close))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      for way in ["--sha256", "--size", "--accept-unknown-length"] {
        #expect(job.lastError.contains(way), "\(job.lastError)")
      }
      #expect(setting.errors.map(\.code) == [.unusableAnswer])
      #expect(!setting.folder.names.contains("a.bin"))
    }

    @Test(arguments: [
      LyingAnswer.file(content).framed(.coded("identity")), .file(content).framed(.coded("chunked, identity")),
      .file(content).framed(.close).speaking("HTTP/1.0"), .file(content).framed(.chunked).speaking("HTTP/1.0"),
      .file(content).framed(.coded("gzip")),
    ])
    func `no other answer without an end gives a file`(answer: LyingAnswer) async throws {
      server.serve("/a.bin", answer)
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(setting.errors.first?.code == .unusableAnswer, "\(setting.errors)")
      #expect(setting.folder.names == [])
    }

    @Test(
      arguments: [(0, ""), (1, ""), (50, ""), (99, "hello"), (100, "hello"), (103, "hello"), (101, "")], [false, true])
    func `a status that is none ends an attempt and nothing else`(answer: (Int, String), isRedirected: Bool)
      async throws
    {
      server.serve("/b.bin", .page(answer.0, answer.1))
      server.serve("/a.bin", isRedirected ? .redirect(to: "/b.bin") : .page(answer.0, answer.1))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(setting.errors.first.map { [.unusableAnswer, .refused].contains($0.code) } == true, "\(setting.errors)")
      #expect(setting.folder.names == [])
      server.serve("/c.bin", .file(content))
      let next = try await setting.fetch(setting.download(server.url("/c.bin")))
      #expect(next.state == .succeeded, "\(next.lastError)")
    }

    @Test func `an old server that says the length gives a file`() async throws {
      server.serve("/a.bin", .file(content).speaking("HTTP/1.0"))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `an end that is told by nothing is one if that is accepted`() async throws {
      server.serve("/a.bin", .file(content).framed(.close))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), acceptsUnknownLength: true))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test(arguments: [true, false])
    func `an end that is told by nothing is one if the size or the checksum says so`(bySize: Bool) async throws {
      server.serve("/a.bin", .file(content).framed(.close))
      let job = try await setting.fetch(
        setting.download(
          server.url("/a.bin"), sha256: bySize ? nil : content.sha256, size: bySize ? content.size : nil))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test(arguments: [LyingAnswer.Ranges.honoured, .ignored])
    func `an end that nothing tells, before the checksum is right, is a broken connection`(ranges: LyingAnswer.Ranges)
      async throws
    {
      let file = LyingAnswer.file(content).framed(.close).ranges(ranges)
      server.serve("/a.bin", file.breaking(after: 300_000), file)
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), sha256: content.sha256), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.attempt == 1 && job.failures.isEmpty, "it came further")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000])
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `another checksum of a file whose end nothing tells fails in the end, and both are told`() async throws {
      server.serve("/a.bin", .file(changed).framed(.close).ranges(.ignored))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), sha256: content.sha256))
      #expect(job.state == .failed)
      #expect(job.lastError.contains(changed.sha256) && job.lastError.contains("cut"), "\(job.lastError)")
      #expect(!setting.folder.names.contains("a.bin"))
    }

    @Test func `an end before the size that was given is a broken connection`() async throws {
      server.serve("/a.bin", .file(content).framed(.close).breaking(after: 300_000), .file(content).framed(.close))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), size: content.size), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000])
    }

    @Test func `another checksum than was given is final for a file that came in one piece`() async throws {
      server.serve("/a.bin", .file(changed))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), sha256: content.sha256))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(job.lastError.contains(content.sha256) && job.lastError.contains(changed.sha256), "\(job.lastError)")
      #expect(setting.errors.map(\.code) == [.wrongContent])
      #expect(!setting.folder.names.contains("a.bin"))
      #expect(job.lastError.contains(setting.folder.path("a.bin.part")), "\(job.lastError)")
      // The checksum was mistyped: nothing has to come again.
      let again = try await setting.fetch(setting.download(server.url("/a.bin"), sha256: changed.sha256))
      #expect(again.state == .succeeded, "\(again.lastError)")
      #expect(server.requests.count == 1)
      #expect(try setting.folder.holds(changed, as: "a.bin"))
    }

    @Test func `another checksum of a file that came in pieces has it fetched anew`() async throws {
      // The second piece is of another file, though the server says that it is not.
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .file(changed), .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), sha256: content.sha256), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, nil])
      #expect(job.failures.map(\.attempt) == [1])
    }

    @Test func `a few words of another checksum, where the name says that there are none, may pass`() async throws {
      server.serve(
        "/a.bin", .page(200, "try later").with("Content-Type", "text/plain"), .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), sha256: content.sha256))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.attempt == 2)
      #expect(setting.errors.map(\.code) == [.wrongContent])
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `another length than the size that was given is refused before the first byte`() async throws {
      server.serve("/a.bin", .file(content).holding(after: 0))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), size: 999))
      #expect(job.state == .failed)
      #expect(job.lastError.contains("999") && job.lastError.contains("1000000"), "\(job.lastError)")
      #expect(setting.errors.map(\.code) == [.wrongContent])
      #expect(server.bytesSent == 0)
      #expect(!setting.folder.names.contains("a.bin"))
    }

    @Test func `more bytes than the size that was given, in chunks, are refused`() async throws {
      server.serve("/a.bin", .file(content).framed(.chunked))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), size: 999_999))
      #expect(job.state == .failed)
      #expect(setting.errors.map(\.code) == [.wrongContent])
      #expect(!setting.folder.names.contains("a.bin"))
    }

    @Test func `so they are where a part is here, which is fetched anew`() async throws {
      server.serve(
        "/a.bin", .file(content).breaking(after: 300_000),
        .file(Content(1_000_001, seed: 9), etag: nil, lastModified: nil).framed(.chunked).ranges(.ignored),
        .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), size: content.size), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test(arguments: [true, false]) func `the file has the server's time if that is wanted`(isWanted: Bool) async throws
    {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .file(content))
      let job = try await setting.fetch(
        setting.download(server.url("/a.bin"), sha256: content.sha256, keepsServerTime: isWanted), from: server)
      let path = setting.folder.path("a.bin")
      let time = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
      let serverTime: TimeInterval = 1_767_608_430
      #expect((time?.timeIntervalSince1970 == serverTime) == isWanted)
      let file = try #require(job.file)
      #expect(file.path == path)
      #expect(file.size == content.size)
      #expect(file.sha256 == content.sha256)
      #expect(!file.wasThere)
      #expect((file.modified == Int64(serverTime) * 1_000_000_000) == isWanted)
    }
  }
#endif
