#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// Servers that pack the file for the way, though they were asked not to.
  @Suite struct EncodingTests {
    let server: LyingServer
    let setting: Setting
    static let archive = content.gzipped
    let packed = LyingAnswer.file(archive).with("Content-Encoding", "gzip")

    init() async throws {
      server = try await LyingServer()
      setting = try Setting()
    }

    @Test(arguments: [LyingAnswer.Framing.length, .chunked])
    func `a file that was packed for the way arrives unpacked`(framing: LyingAnswer.Framing) async throws {
      server.serve("/a.bin", packed.framed(framing))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.attempt == 1)
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test(arguments: ["x-gzip", "X-GZIP", "identity, gzip", "aws-chunked, gzip", "gzip, identity", "utf-8,x-gzip"])
    func `a file that was packed for the way arrives unpacked, however that is said`(encoding: String) async throws {
      server.serve("/a.bin", packed.with("Content-Encoding", encoding))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a file that was packed for the way arrives unpacked where two headers say so`() async throws {
      server.serve("/a.bin", packed.with("Content-Encoding", "identity").adding("Content-Encoding", "gzip"))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `an empty file is empty, whatever is said of how it was packed`() async throws {
      server.serve("/a.bin", LyingAnswer.file(Content(0)).with("Content-Encoding", "gzip"))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(Content(0), as: "a.bin"))
    }

    @Test func `a file that was packed twice fails for good`() async throws {
      server.serve("/a.bin", packed.with("Content-Encoding", "gzip, gzip"))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(setting.folder.names == [])
    }

    @Test func `size and checksum are those of the file, not of what was on the way`() async throws {
      server.serve("/a.bin", packed)
      let job = try await setting.fetch(
        setting.download(server.url("/a.bin"), sha256: content.sha256, size: content.size))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a packed file that broke off is never gone on from`() async throws {
      // The first answer tells that the server packs, and is left.
      server.serve("/a.bin", packed, packed.breaking(after: 300_000), packed)
      async let fetch = setting.fetch(setting.download(server.url("/a.bin")))
      await server.held("/a.bin")
      try await setting.received(100_000)
      server.release()
      let job = try await fetch
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.allSatisfy { $0["Range"] == nil })
    }

    @Test func `a packed answer to a range has it fetched anew`() async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), packed)
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test(arguments: ["a.gz", "a.tgz", "a.tar.gz"])
    func `a file that is packed by itself stays so, whatever the server calls it`(name: String) async throws {
      server.serve("/\(name)", packed.breaking(after: 300_000), packed)
      let job = try await setting.fetch(setting.download(server.url("/\(name)")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(Self.archive, as: name))
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000])
    }

    @Test func `the name that the server gives decides whether a file is packed by itself`() async throws {
      let named = packed.with("Content-Disposition", "attachment; filename=a.tar.gz")
      server.serve("/get", named.breaking(after: 300_000), named.notRepeating("Content-Disposition"))
      let job = try await setting.fetch(setting.download(server.url("/get")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(Self.archive, as: "a.tar.gz"))
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000])
      server.serve("/b.gz", packed.with("Content-Disposition", "attachment; filename=b.bin"))
      let other = try await setting.fetch(setting.download(server.url("/b.gz")))
      #expect(other.state == .succeeded, "\(other.lastError)")
      #expect(try setting.folder.holds(content, as: "b.bin"))
    }

    @Test(arguments: ["/a.tar.gz", "/get"])
    func `a packed file that was packed once more for the way is unpacked once`(path: String) async throws {
      server.serve(
        path, .file(Self.archive.gzipped).with("Content-Encoding", "gzip").with("Content-Type", "application/gzip"))
      let job = try await setting.fetch(setting.download(server.url(path)))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(Self.archive, as: String(path.dropFirst())))
    }

    @Test(arguments: [false, true])
    func `a packed file stays so where only one of its servers packs it once more`(breaks: Bool) async throws {
      let twice = LyingAnswer.file(Self.archive.gzipped).with("Content-Encoding", "gzip")
      // The first answer tells that it is packed twice, and is left.
      server.serve("/a.tar.gz", [twice] + (breaks ? [twice.breaking(after: 300_000)] : []) + [packed])
      async let fetch = setting.fetch(setting.download(server.url("/a.tar.gz")))
      if breaks {
        await server.held("/a.tar.gz")
        try await setting.received(100_000)
        server.release()
      }
      let job = try await fetch
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(Self.archive, as: "a.tar.gz"))
      #expect(setting.folder.names == ["a.tar.gz"])
    }

    @Test func `a packed file that was packed once more for the way is not gone on from`() async throws {
      let twice = LyingAnswer.file(Self.archive.gzipped).with("Content-Encoding", "gzip")
      server.serve("/a.gz", twice, twice.breaking(after: 300_000), twice)
      async let fetch = setting.fetch(setting.download(server.url("/a.gz")))
      await server.held("/a.gz")
      try await setting.received(100_000)
      server.release()
      let job = try await fetch
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(Self.archive, as: "a.gz"))
      #expect(server.requests.allSatisfy { $0["Range"] == nil })
    }

    @Test func `a file whose type says that it is packed by itself stays so, unless its name says otherwise`()
      async throws
    {
      let typed = packed.with("Content-Type", "application/x-gzip")
      for (path, file) in [("/get", Self.archive), ("/a.json", content)] {
        server.serve(path, typed)
        let job = try await setting.fetch(setting.download(server.url(path)))
        #expect(job.state == .succeeded, "\(job.lastError)")
        #expect(try setting.folder.holds(file, as: String(path.dropFirst())))
      }
    }

    @Test func `a file that is packed without the mark of its packing fails for good, and it says how`() async throws {
      let raw = Content(bytes: content.gzipped.bytes.dropFirst(10).dropLast(8))
      server.serve("/a.bin", .file(raw).with("Content-Encoding", "deflate"))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(job.lastError.contains("deflate"), "\(job.lastError)")
      #expect(setting.folder.names == [])
    }

    @Test func `a file that was packed in several pieces fails for good, and it says why`() async throws {
      let pieces = Content(bytes: content.gzipped.bytes + changed.gzipped.bytes)
      server.serve("/a.bin", .file(pieces).with("Content-Encoding", "gzip"))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(job.lastError.contains("pieces"), "\(job.lastError)")
      #expect(setting.folder.names == [], "nobody could go on from it")
    }

    @Test func `a packed file of another checksum than was given is kept where it says`() async throws {
      server.serve("/a.bin", packed)
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), sha256: changed.sha256))
      #expect(job.state == .failed)
      #expect(job.lastError.contains(setting.folder.path("a.bin.part")), "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin.part"))
    }

    @Test(arguments: ["br", "zstd", "secret"])
    func `an encoding that can't be undone fails for good, and is named`(encoding: String) async throws {
      server.serve("/a.bin", .file(content).with("Content-Encoding", encoding))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(job.lastError.contains("'\(encoding)'"), "\(job.lastError)")
      #expect(setting.errors.map(\.code) == [.unusableAnswer])
      #expect(!setting.folder.names.contains("a.bin"))
    }

    @Test(arguments: ["identity", "none", "Binary", "UTF-8", "utf-8, identity", "aws-chunked"])
    func `an encoding that packs nothing is none`(encoding: String) async throws {
      server.serve("/a.bin", .file(content).with("Content-Encoding", encoding))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `what is called packed and is not is no file`() async throws {
      server.serve("/a.bin", .file(content).with("Content-Encoding", "gzip"))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(job.lastError.contains("packed otherwise than it says"), "\(job.lastError)")
      #expect(!setting.folder.names.contains("a.bin"))
    }

    @Test func `a small answer that unpacks without end is stopped by the size that was given`() async throws {
      let bomb = Content(bytes: [UInt8](repeating: 0, count: 300_000)).gzipped
      server.serve("/a.bin", .file(bomb).with("Content-Encoding", "gzip"))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), size: 1000))
      #expect(job.state == .failed)
      #expect(setting.errors.last?.code == .wrongContent)
      #expect(!setting.folder.names.contains("a.bin"))
    }
  }
#endif
