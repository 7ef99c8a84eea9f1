#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// A file that is there already, whoever brought it, and what its server tells of it.
  @Suite struct SkipTests {
    let server: LyingServer
    let setting: Setting

    init() async throws {
      server = try await LyingServer()
      setting = try Setting()
      server.serve("/a.bin", .file(content))
    }

    /// `a.bin`, of that size, last changed as long after the server's file.
    private func put(_ size: Int64 = content.size, later seconds: Double = 0) throws {
      try Data(content.bytes(0..<size)).write(to: URL(filePath: setting.folder.path("a.bin")))
      let date = Date(timeIntervalSince1970: 1_767_608_430 + seconds)
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: setting.folder.path("a.bin"))
    }

    private func fetch(skipsExisting: Bool, overwrites: Bool = false, named name: String? = nil) async throws
      -> JobSnapshot
    {
      try await setting.fetch(
        setting.download(server.url("/a.bin"), named: name, overwrites: overwrites, skipsExisting: skipsExisting))
    }

    @Test(arguments: [nil, "a.bin"], [false, true])
    func `a file of the server's size and time is there, whoever brought it`(name: String?, skips: Bool) async throws {
      try put()
      let job = try await fetch(skipsExisting: skips, named: name)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.file?.wasThere == true)
      #expect(setting.folder.names == ["a.bin"])
      #expect(server.requests.map(\.rangeStart) == [content.size - 1])
      #expect(server.bytesSent == 1)
    }

    @Test(arguments: [LyingAnswer.Ranges.honoured, .ignored], [false, true])
    func `a file that its server may have changed within that second is not known by its time`(
      ranges: LyingAnswer.Ranges, skips: Bool
    ) async throws {
      server.serve("/a.bin", .file(content).with("Date", LyingAnswer.lastModified).ranges(ranges))
      try put()
      let job = try await fetch(skipsExisting: skips)
      #expect((job.file?.wasThere == true) == skips)
      try put(later: -1)
      #expect(try await fetch(skipsExisting: skips).state == .failed, "the server's is later")
    }

    @Test(arguments: [(content.size, 1.0), (content.size, -1.0), (999_999, 0.0)])
    func `one of another size or time is not`(size: Int64, later: Double) async throws {
      try put(size, later: later)
      let job = try await fetch(skipsExisting: false)
      #expect(job.state == .failed)
      #expect(setting.errors.map(\.code) == [.fileExists])
      #expect(setting.folder.names == ["a.bin"])
      #expect(setting.folder.size("a.bin") == size)
    }

    @Test func `what was skipped once was never compared, and is not taken for the file where that is asked for`()
      async throws
    {
      try put(later: 10)
      #expect(try await fetch(skipsExisting: true).file?.wasThere == true)
      let job = try await fetch(skipsExisting: false)
      #expect(job.state == .failed)
      #expect(setting.errors.map(\.code) == [.fileExists])
    }

    @Test func `a file whose end nobody told is no file for who doesn't accept that`() async throws {
      server.serve("/a.bin", .file(content, etag: nil, lastModified: nil).framed(.close))
      func fetch(acceptsUnknownLength: Bool) async throws -> JobSnapshot {
        try await setting.fetch(
          setting.download(server.url("/a.bin"), acceptsUnknownLength: acceptsUnknownLength))
      }
      #expect(try await fetch(acceptsUnknownLength: true).state == .succeeded)
      #expect(try await fetch(acceptsUnknownLength: true).file?.wasThere == true)
      #expect(try await fetch(acceptsUnknownLength: false).state == .failed)
    }

    @Test(arguments: [true, false])
    func `a file that a download of another URL brought since this one was asked for is not its own`(
      skips: Bool
    ) async throws {
      server.serve("/en/a.bin", .file(content))
      server.serve("/de/a.bin", .file(changed))
      let downloads = try ["/en/a.bin", "/de/a.bin"].map {
        try setting.download(server.url($0), skipsExisting: skips, keepsServerTime: true)
      }
      try await setting.jobs.queue.enqueue(contentsOf: downloads)
      #expect(try await setting.fetch(downloads[0]).state == .succeeded)
      let other = try await setting.fetch(downloads[1])
      #expect(other.state == .failed)
      #expect(other.lastError.contains("was brought by a download of another URL"), "\(other.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      try await setting.jobs.advance(by: .seconds(1))
      let later = try await setting.fetch(downloads[1])
      #expect((later.file?.wasThere == true) == skips, "it was there when this was asked for: \(later.lastError)")
    }

    /// Of two URLs, whose files have one name, one size and one time.
    private func twins() throws -> (Download, Download) {
      server.serve("/v1/a.bin", .file(content))
      server.serve("/v2/a.bin", .file(changed))
      func download(_ path: String) throws -> Download {
        try setting.download(server.url(path), keepsServerTime: true)
      }
      return (try download("/v1/a.bin"), try download("/v2/a.bin"))
    }

    @Test func `a file that another URL brought to where this one's was is not this one's by its size and its time`()
      async throws
    {
      let (first, second) = try twins()
      #expect(try await setting.fetch(first).state == .succeeded)
      try FileManager.default.moveItem(
        atPath: setting.folder.path("a.bin"), toPath: setting.folder.path("kept.bin"))
      #expect(try await setting.fetch(second).state == .succeeded)
      try await setting.jobs.advance(by: .seconds(3600))
      let again = try await setting.fetch(first)
      #expect(again.state == .failed)
      #expect(again.lastError.contains("was brought by a download of another URL"), "\(again.lastError)")
      #expect(try setting.folder.holds(changed, as: "a.bin"))
    }

    @Test func `a file of another URL is not this one's by a size and a time that are the same`() async throws {
      let (first, second) = try twins()
      #expect(try await setting.fetch(first).state == .succeeded)
      try await setting.jobs.advance(by: .seconds(3600))
      let other = try await setting.fetch(second)
      #expect(other.state == .failed)
      #expect(other.lastError.contains("was brought by a download of another URL"), "\(other.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(try await setting.fetch(first).file?.wasThere == true)
    }

    @Test func `where it may be replaced, one of the server's size and time is, unless it is to be skipped`()
      async throws
    {
      try put()
      let kept = try await fetch(skipsExisting: true, overwrites: true)
      #expect(kept.file?.wasThere == true, "\(kept.lastError)")
      let replaced = try await fetch(skipsExisting: false, overwrites: true)
      #expect(replaced.file?.wasThere == false, "\(replaced.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a file to be skipped may be younger than the server's, as one of yesterday is`() async throws {
      try put(later: 86_400)
      let job = try await fetch(skipsExisting: true)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.file?.wasThere == true)
    }

    @Test(arguments: [(content.size, -1.0), (999_999, 86_400.0)], [false, true])
    func `a file that is older than the server's, or of another size, is not skipped`(
      file: (size: Int64, later: Double), overwrites: Bool
    ) async throws {
      try put(file.size, later: file.later)
      let job = try await fetch(skipsExisting: true, overwrites: overwrites)
      if overwrites {
        #expect(job.file?.wasThere == false, "\(job.lastError)")
        #expect(try setting.folder.holds(content, as: "a.bin"))
      } else {
        #expect(job.state == .failed)
        #expect(setting.errors.map(\.code) == [.fileExists])
        #expect(setting.folder.size("a.bin") == file.size)
      }
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a file that this store brought is skipped unless the server tells of another by now`() async throws {
      #expect(try await fetch(skipsExisting: true).file?.wasThere == false)
      #expect(try await fetch(skipsExisting: true).file?.wasThere == true)
      server.serve("/a.bin", .file(changed, etag: "\"second\"", lastModified: "Fri, 01 Jan 2100 00:00:00 GMT"))
      #expect(try await fetch(skipsExisting: false).file?.wasThere == true)
      let job = try await fetch(skipsExisting: true)
      #expect(job.state == .failed)
      #expect(setting.errors.map(\.code) == [.fileExists])
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a file is skipped for being there where the server tells neither size nor time`() async throws {
      server.serve("/a.bin", .file(content, lastModified: nil).framed(.chunked).ranges(.ignored))
      try setting.folder.write("precious", to: "a.bin")
      let job = try await fetch(skipsExisting: true)
      #expect(job.file?.wasThere == true, "\(job.lastError)")
      #expect(try setting.folder.text("a.bin") == "precious")
    }

    @Test(arguments: [999_999, 1_000_001, 1])
    func `a file of another size than the server's is looked at, and then replaced if it may be`(size: Int64)
      async throws
    {
      try put(min(size, content.size), later: 86_400)
      truncate(setting.folder.path("a.bin"), Int(size))
      let job = try await fetch(skipsExisting: true, overwrites: true)
      #expect(job.file?.wasThere == false, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == (size > 1 ? [size - 1, nil] : [nil]))
    }

    @Test func `a file under the name that the server gives is skipped too`() async throws {
      server.serve("/a.bin", .file(content).with("Content-Disposition", "attachment; filename=b.bin"))
      try put(later: 86_400)
      try FileManager.default.moveItem(atPath: setting.folder.path("a.bin"), toPath: setting.folder.path("b.bin"))
      let job = try await fetch(skipsExisting: true)
      #expect(job.file?.wasThere == true, "\(job.lastError)")
      #expect(job.file?.path == setting.folder.path("b.bin"))
      #expect(setting.folder.names == ["b.bin"])
    }

    @Test func `a file under the URL's name is no matter where the server gives another`() async throws {
      server.serve("/a.bin", .file(content).with("Content-Disposition", "attachment; filename=b.bin"))
      try put(later: 86_400)
      let job = try await fetch(skipsExisting: true)
      #expect(job.file?.wasThere == false, "\(job.lastError)")
      #expect(job.file?.path == setting.folder.path("b.bin"))
      #expect(try setting.folder.holds(content, as: "b.bin"))
      #expect(setting.folder.names == ["a.bin", "b.bin"])
    }

    @Test func `a checksum alone decides what is skipped, and needs no server`() async throws {
      try put(later: -1000)
      let download = try setting.download(server.url("/a.bin"), sha256: content.sha256, skipsExisting: true)
      #expect(try await setting.fetch(download).file?.wasThere == true)
      let other = try setting.download(server.url("/a.bin"), sha256: changed.sha256, skipsExisting: true)
      #expect(try await setting.fetch(other).state == .failed)
      #expect(setting.errors.map(\.code) == [.fileExists])
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a file that is there ends its part`() async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(404), .file(content))
      let broken = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(broken.state == .failed)
      try put(later: 86_400)
      let job = try await fetch(skipsExisting: true)
      #expect(job.file?.wasThere == true, "\(job.lastError)")
      #expect(setting.folder.names == ["a.bin"])
    }
  }
#endif
