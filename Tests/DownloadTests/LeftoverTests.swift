#if HTTP
  import DurableJobs
  import Foundation
  import LyingServer
  import Testing

  @testable import DurableJobsHTTP

  /// A whole file whose job never came to tell of it: its process was killed, and then the job was ended from outside.
  @Suite struct LeftoverTests {
    let server: LyingServer
    let setting: Setting
    let download: Download

    init() async throws {
      server = try await LyingServer()
      setting = try Setting()
      server.serve("/a.bin", .file(content))
      download = try setting.download(server.url("/a.bin"))
    }

    /// A job of this download that was cancelled.
    private func cancelled() async throws -> JobID {
      let handle = try await setting.jobs.queue.enqueue(download)
      try await handle.cancel()
      return handle.id
    }

    private func mark(_ job: JobID, _ url: String = "") -> String {
      setting.folder.path(FileName(harmless: "a.bin").mark(for: url.isEmpty ? download.url.absoluteString : url, job))
    }

    private func put() throws { try Data(content.bytes).write(to: URL(filePath: setting.folder.path("a.bin"))) }

    @Test(arguments: [nil, content.sha256]) func `a small one is known by its second name, which goes`(sha256: String?)
      async throws
    {
      let job = try await cancelled()
      try put()
      #expect(link(setting.folder.path("a.bin"), mark(job)) == 0)
      var next = download
      next.sha256 = sha256
      let found = try await setting.fetch(next)
      #expect(found.id != job)
      #expect(found.state == .succeeded, "\(found.lastError)")
      #expect(server.requests.isEmpty)
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a large one is known by its record, which goes`() async throws {
      let job = try await cancelled()
      try put()
      let status = try #require(try Folder(path: setting.folder.url.path).status(of: "a.bin"))
      var record = PartRecord(url: download.url.absoluteString)
      record.whole = PartRecord.Whole(job: job, name: "a.bin", size: status.size, modified: status.modified)
      try record.lines.write(to: URL(filePath: setting.folder.path("a.bin.part.json")))
      let found = try await setting.fetch(download)
      #expect(found.state == .succeeded, "\(found.lastError)")
      #expect(server.requests.isEmpty)
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `one that was replaced since is another file, and its second name goes`() async throws {
      let job = try await cancelled()
      try Data(content.bytes).write(to: URL(filePath: mark(job)))
      try setting.folder.write("precious", to: "a.bin")
      let found = try await setting.fetch(download)
      #expect(found.state == .failed)
      #expect(setting.errors.map(\.code) == [.fileExists])
      #expect(try setting.folder.text("a.bin") == "precious")
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a second name of another download's job tells nothing`() async throws {
      let job = try await cancelled()
      try put()
      #expect(link(setting.folder.path("a.bin"), mark(job, "http://127.0.0.1/b.bin")) == 0)
      #expect(try await setting.fetch(download).state == .failed)
      #expect(setting.folder.names.count == 2)
    }
  }
#endif
