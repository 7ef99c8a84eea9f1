#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// What of the files beside a download is believed, and by whose word.
  @Suite struct BelievedTests {
    let server: LyingServer
    let setting: Setting

    init() async throws {
      server = try await LyingServer()
      setting = try Setting()
      server.serve("/a.bin", .file(content))
    }

    private func fetch(sha256: String? = nil, overwrites: Bool = false) async throws -> JobSnapshot {
      try await setting.fetch(
        setting.download(server.url("/a.bin"), sha256: sha256, overwrites: overwrites), from: server)
    }

    /// A part and its record that say that all of `file` is here.
    private func plant(_ file: Content, tag: String = LyingAnswer.etag) throws {
      try Data(file.bytes).write(to: URL(filePath: setting.folder.path("a.bin.part")))
      let tag = tag.replacing("\"", with: "\\\"")
      try setting.folder.write(
        """
        {"url":"\(server.url("/a.bin"))","version":{"total":\(file.size),"entityTag":"\(tag)"},"isDecoded":false,\
        "highest":0}
        \(file.size)

        """, to: "a.bin.part.json")
    }

    @Test func `a part that is whole by its record is a file once its server has said so, for a byte`() async throws {
      try plant(content)
      let job = try await fetch()
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.rangeStart) == [content.size - 1])
      #expect(server.requests.first?["If-Range"] == LyingAnswer.etag)
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test(arguments: [changed, Content("x")])
    func `a part that is whole by its record, but of another version, is no file`(planted: Content) async throws {
      try plant(planted, tag: "\"second\"")
      let job = try await fetch()
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a part that is whole by its checksum needs nobody's word`() async throws {
      try plant(content)
      let job = try await fetch(sha256: content.sha256)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.file?.sha256 == content.sha256)
      #expect(server.requests.isEmpty)
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a part that is whole by its record, and not by its checksum, comes anew`() async throws {
      try plant(changed)
      let job = try await fetch(sha256: content.sha256)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.rangeStart) == [nil])
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a record that a death left beside a file that is told of goes with the next look`() async throws {
      #expect(try await fetch().state == .succeeded)
      try setting.folder.write(
        "{\"url\":\"\(server.url("/a.bin"))\",\"version\":{},\"isDecoded\":false,\"highest\":0}\n",
        to: "a.bin.part.json")
      #expect(try await fetch().file?.wasThere == true)
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a file that a record calls another job's is not taken without a word of its server`() async throws {
      try setting.folder.write("precious", to: "a.bin")
      var status = stat()
      #expect(stat(setting.folder.path("a.bin"), &status) == 0)
      let modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
      try setting.folder.write(
        """
        {"url":"\(server.url("/a.bin"))","version":{},"isDecoded":false,"highest":0,"whole":{"job":4711,\
        "name":"a.bin","size":8,"modified":\(modified)}}

        """, to: "a.bin.part.json")
      let job = try await fetch()
      #expect(job.state == .failed)
      #expect(setting.errors.map(\.code) == [.fileExists])
      #expect(setting.folder.names == ["a.bin"])
      #expect(try setting.folder.text("a.bin") == "precious")
    }

    @Test func `a checksum that nobody asked for is not told, though an earlier job had one`() async throws {
      #expect(try await fetch(sha256: content.sha256).file?.sha256 == content.sha256)
      let job = try await fetch()
      #expect(job.file?.wasThere == true)
      #expect(job.file?.sha256 == nil)
    }

    // MARK: Mirrors

    /// What the mirror is asked after the first server broke off.
    private func fetchFromMirror(
      _ answers: LyingAnswer..., sha256 first: String?, _ second: String?, named name: String? = nil
    ) async throws -> (JobSnapshot, [Request]) {
      let mirror = try await LyingServer(on: "127.0.0.2")
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(404))
      mirror.serve("/there/a.bin", answers)
      let broken = try await setting.fetch(
        setting.download(server.url("/a.bin"), named: name, sha256: first), from: server)
      #expect(broken.state == .failed)
      let job = try await setting.fetch(
        setting.download(mirror.url("/there/a.bin"), named: name, sha256: second), from: mirror)
      return (job, mirror.requests)
    }

    @Test(arguments: [nil, "b.bin"])
    func `where one checksum decides, another server's file of the name is gone on with`(name: String?) async throws {
      let sum = content.sha256
      let (job, requests) = try await fetchFromMirror(
        .file(content, etag: "\"mirror\"").breaking(after: 200_000), .file(content, etag: "\"third\""),
        sha256: sum, sum, named: name)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(requests.map(\.rangeStart) == [300_000, 500_000])
      #expect(requests.allSatisfy { $0["If-Range"] == nil })
      #expect(try setting.folder.holds(content, as: name ?? "a.bin"))
      #expect(setting.folder.names == [name ?? "a.bin"])
    }

    @Test func `another checksum, or none, is another file`() async throws {
      for (first, second) in [(content.sha256, changed.sha256), (nil, changed.sha256), (content.sha256, nil)] {
        let (job, requests) = try await fetchFromMirror(.file(changed, etag: "\"mirror\""), sha256: first, second)
        #expect(job.state == .succeeded, "\(job.lastError)")
        #expect(requests.map(\.rangeStart) == [nil])
        #expect(try setting.folder.holds(changed, as: "a.bin"))
        for name in setting.folder.names { try FileManager.default.removeItem(atPath: setting.folder.path(name)) }
      }
    }

    @Test func `what one server said of its part is not said of another's file`() async throws {
      let sum = content.sha256
      let mirror = try await LyingServer(on: "127.0.0.2")
      // Both have a version of the same tag.
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(404))
      mirror.serve("/a.bin", .page(404), .file(changed))
      #expect(
        try await setting.fetch(setting.download(server.url("/a.bin"), sha256: sum), from: server).state == .failed)
      #expect(try await setting.fetch(setting.download(mirror.url("/a.bin"), sha256: sum)).state == .failed)
      let job = try await setting.fetch(setting.download(mirror.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(mirror.requests.map(\.rangeStart) == [300_000, nil])
      #expect(try setting.folder.holds(changed, as: "a.bin"))
    }

    @Test func `a mirror that has another file costs the part, and one attempt`() async throws {
      let other = changed.bytes(300_000..<1_000_000)
      let mixed = Content(bytes: content.bytes(0..<300_000) + other)
      let (job, requests) = try await fetchFromMirror(
        .file(mixed, etag: "\"mirror\""), .file(content), sha256: content.sha256, content.sha256)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(requests.map(\.rangeStart) == [300_000, nil])
      #expect(job.failures.map(\.attempt) == [1])
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `where a checksum decides, a validator that changed does not matter`() async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .file(content, etag: "\"second\""))
      let job = try await fetch(sha256: content.sha256)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000])
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }
  }
#endif
