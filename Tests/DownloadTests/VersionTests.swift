#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// Another version of a file, of which a part is here: it comes beside the part, which goes once the new file is whole.
  @Suite struct VersionTests {
    let server: LyingServer
    let setting: Setting
    let first = LyingAnswer.file(content)
    let second = LyingAnswer.file(changed, etag: "\"second\"")

    init() async throws {
      server = try await LyingServer()
      setting = try Setting()
    }

    private func fetch(_ answers: LyingAnswer..., sha256: String? = nil) async throws -> JobSnapshot {
      server.serve("/a.bin", answers)
      return try await setting.fetch(setting.download(server.url("/a.bin"), sha256: sha256), from: server)
    }

    private func holds(_ count: Int64, of file: Content, as name: String) throws -> Bool {
      try setting.folder.holds(Content(bytes: file.bytes(0..<count)), as: name)
    }

    @Test func `what is here stays as long as the new version is not whole`() async throws {
      let job = try await fetch(first.breaking(after: 300_000), second.breaking(after: 100_000), .page(404))
      #expect(job.state == .failed)
      #expect(try holds(300_000, of: content, as: "a.bin.part"))
      #expect(try holds(100_000, of: changed, as: "a.bin~new.part"))
    }

    @Test func `what is here is gone on with when the server has its version again`() async throws {
      let job = try await fetch(first.breaking(after: 300_000), second.breaking(after: 100_000), first)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, 300_000])
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `the new version is gone on with when the server has that one, and both parts go with its end`()
      async throws
    {
      let job = try await fetch(first.breaking(after: 300_000), second.breaking(after: 100_000), second, second)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, 300_000, 100_000])
      #expect(server.requests.map { $0["If-Range"] } == [nil, LyingAnswer.etag, LyingAnswer.etag, "\"second\""])
      #expect(try setting.folder.holds(changed, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a server that tells no time of its answers has two versions of a second kept apart`() async throws {
      func undated(_ content: Content) -> LyingAnswer {
        LyingAnswer.file(content, etag: nil, lastModified: nil).with("Last-Modified", LyingAnswer.lastModified)
      }
      let job = try await fetch(undated(content).breaking(after: 300_000), undated(changed))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(changed, as: "a.bin"))
    }

    @Test func `the new version is gone on with, though its server sends ranges of it to who asks for the old one's`()
      async throws
    {
      let blind = second.ignoringIfRange()
      let job = try await fetch(
        first.breaking(after: 500_000), blind, blind.breaking(after: 200_000), blind, blind, blind)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.rangeStart) == [nil, 500_000, nil, 500_000, nil, 200_000])
      #expect(try setting.folder.holds(changed, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `of two parts that can't be gone on with, one begins anew within the attempt`() async throws {
      let blind = second.ignoringIfRange()
      let job = try await fetch(
        first.breaking(after: 500_000), blind, blind.breaking(after: 200_000), blind, blind,
        blind.ranges(.refused(tellingSize: false)), blind)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.attempt == 2)
      #expect(server.requests.map(\.rangeStart) == [nil, 500_000, nil, 500_000, nil, 200_000, nil])
      #expect(try setting.folder.holds(changed, as: "a.bin"))
    }

    @Test func `an attempt that brought a new version further is none, though the old one's part is longer`()
      async throws
    {
      let piece = second.breaking(after: 100_000)
      let job = try await fetch(
        first.breaking(after: 500_000), piece, second, piece, piece, second, piece, piece, second)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(
        server.requests.map(\.rangeStart) == [
          nil, 500_000, 500_000, 100_000, 200_000, 500_000, 300_000, 400_000, 500_000, 500_000,
        ])
      #expect(job.attempt == 2)
    }

    @Test func `of two versions the longer is asked for first`() async throws {
      let job = try await fetch(first.breaking(after: 300_000), second.breaking(after: 500_000), second)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, 500_000])
      #expect(try setting.folder.holds(changed, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `of three versions the shortest part goes`() async throws {
      let third = LyingAnswer.file(content, etag: "\"third\"")
      let job = try await fetch(
        first.breaking(after: 300_000), second.breaking(after: 500_000), third.breaking(after: 100_000), .page(404))
      #expect(job.state == .failed)
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, 500_000, 100_000])
      #expect(try holds(100_000, of: content, as: "a.bin.part"))
      #expect(try holds(500_000, of: changed, as: "a.bin~new.part"))
    }

    @Test func `a server that takes turns with two versions comes to an end`() async throws {
      let job = try await fetch(
        first.breaking(after: 300_000), second.breaking(after: 100_000), second, first, second)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.count <= 5)
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a server that ignores ranges never costs more than it brings`() async throws {
      let blind = first.ranges(.ignored)
      let job = try await fetch(first.breaking(after: 300_000), blind.breaking(after: 200_000), .page(404))
      #expect(job.state == .failed)
      #expect(setting.folder.size("a.bin.part") == 300_000)
      let again = try await fetch(first)
      #expect(again.state == .succeeded, "\(again.lastError)")
      #expect(server.requests.last?.rangeStart == 300_000)
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test(arguments: [LyingAnswer.Ranges.shifted(1000), .refused(tellingSize: false)])
    func `a range that can't be used costs nothing before the whole file is here`(ranges: LyingAnswer.Ranges)
      async throws
    {
      let job = try await fetch(
        first.breaking(after: 300_000), first.ranges(ranges), first.breaking(after: 100_000), .page(404))
      #expect(job.state == .failed)
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, nil, 300_000])
      #expect(setting.folder.size("a.bin.part") == 300_000)
    }

    @Test func `a part that comes with the status of a whole file is not taken for the file`() async throws {
      // The status was forgotten: what comes is the rest.
      let rest = LyingAnswer.file(Content(bytes: content.bytes(300_000..<1_000_000))).ranges(.ignored)
      let job = try await fetch(
        first.breaking(after: 300_000), rest.with("Content-Range", "bytes 300000-999999/1000000"), first)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, nil])
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test(arguments: [LyingAnswer.Framing.length, .chunked])
    func `a file of the known version and another length is not taken, and what is here stays`(
      framing: LyingAnswer.Framing
    ) async throws {
      let short = LyingAnswer.file(Content(bytes: content.bytes(0..<1000))).ranges(.ignored).framed(framing)
      let job = try await fetch(first.breaking(after: 300_000), short, first)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, 300_000])
      #expect(setting.errors.map(\.code) == [.unusableAnswer])
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    /// It says no version, nor that it is another type.
    private static let words = LyingAnswer.file(Content("Service busy"), etag: nil, lastModified: nil).ranges(.ignored)

    @Test(arguments: [
      words, words.framed(.chunked), words.framed(.chunked).without("Content-Type"),
      .page(203, "Service busy").without("Content-Type"),
      .file(Content("Service busy").gzipped, etag: nil, lastModified: nil).ranges(.ignored)
        .with("Content-Encoding", "gzip"),
    ])
    func `a few bytes of no version are not the file, however their end is told, and what is here stays`(
      words: LyingAnswer
    ) async throws {
      // In an attempt that brought something, and in another one.
      let job = try await fetch(first.breaking(after: 300_000), words, words, words, words, first)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.last?.rangeStart == 300_000)
      #expect(Set(setting.errors.map(\.code)) == [.unusableAnswer])
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `what can be gone on with is asked for first, though more came that can't be`() async throws {
      let unknown = LyingAnswer.file(changed, etag: nil, lastModified: nil).ranges(.ignored)
      let job = try await fetch(
        first.breaking(after: 300_000), unknown.breaking(after: 500_000), Self.words.framed(.chunked), first)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, 300_000, 300_000])
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a length that was told wrong once, under the right tag, is not held against the file`() async throws {
      let size = content.size
      let job = try await fetch(first.framed(.lengthOff(by: 1000)).holding(after: size), first)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.attempt <= 2)
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a small file in place of a large part comes beside it, and then it is the file`() async throws {
      let small = Content(2000, seed: 3)
      let job = try await fetch(first.breaking(after: 300_000), .file(small, etag: "\"small\""))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(small, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a new version with another checksum is no file, and what was here is gone on with`() async throws {
      let job = try await fetch(
        first.breaking(after: 300_000), .page(200), first, sha256: content.sha256)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, 300_000])
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    /// Of two versions that a server names alike, and keeps apart by a query.
    @Test(
      arguments: [
        ("/f.bin", nil, "/f.bin?v=2"), ("/f.bin?v=1", nil, "/f.bin?v=2"),
        ("/dl", "/f.bin?token=abcdefabcdefabcdef12", "/f.bin?v=2"), ("/dl", "/f.bin?v=1", "/f.bin?v=2"),
        ("/dl", "/get?file=annual-report-2025", "/get?file=annual-report-2026"),
        ("/f.bin", "/f.bin?file=annual-report-2025", "/f.bin?file=annual-report-2026"),
      ] as [(String, String?, String)], [LyingAnswer.etag, nil])
    func `what a redirect leads to by another query is not taken for the rest unseen`(
      way: (String, String?, String), etag: String?
    ) async throws {
      let (url, before, after) = way
      let first = LyingAnswer.file(content, etag: etag).breaking(after: 300_000)
      let second = LyingAnswer.file(changed, etag: etag)
      // A path's answers are given whatever the query.
      func path(_ url: String) -> String { String(url.prefix { $0 != "?" }) }
      let redirect = before.map { [LyingAnswer.redirect(to: $0)] } ?? []
      if path(url) == path(after) {
        let later = Array(repeating: [LyingAnswer.redirect(to: after), second], count: 5)
        server.serve(path(url), redirect + [first] + later.flatMap { $0 })
      } else {
        server.serve(path(url), redirect + [.redirect(to: after)])
        server.serve(path(after), first, second)
      }
      let job = try await setting.fetch(setting.download(server.url(url), named: "a.bin"), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(changed, as: "a.bin"))
    }

    @Test func `what a redirect leads to by another query is gone on with where it is the same file`() async throws {
      server.serve("/dl", .redirect(to: "/f.bin?token=abcdefabcdefabcdef12"), .redirect(to: "/f.bin?token=3"))
      server.serve("/f.bin", first.breaking(after: 300_000), first)
      let job = try await setting.fetch(setting.download(server.url("/dl"), named: "a.bin"), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests("/f.bin?token=3").map(\.rangeStart) == [300_000 - 4096])
    }

    @Test func `a name that another download uses has no second version: the part starts anew`() async throws {
      server.serve("/a.bin~new", first.breaking(after: 50_000), .page(404))
      #expect(
        try await setting.fetch(setting.download(server.url("/a.bin~new")), from: server).state == .failed)
      let job = try await fetch(first.breaking(after: 300_000), second)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(changed, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin", "a.bin~new.part", "a.bin~new.part.json"])
      #expect(setting.folder.size("a.bin~new.part") == 50_000)
    }
  }
#endif
