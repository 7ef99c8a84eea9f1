#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// Users and passwords of a file, and who is told them.
  @Suite struct CredentialTests {
    let server: LyingServer
    let other: LyingServer
    let folder: TestFolder
    private let file: TestFolder

    init() async throws {
      server = try await LyingServer()
      other = try await LyingServer(on: "127.0.0.2")
      folder = try TestFolder()
      file = try TestFolder("netrc")
      server.serve("/a.bin", .file(content))
    }

    private func setting(_ netrc: String) throws -> Setting {
      try file.write(netrc, to: "netrc")
      return try Setting(in: folder, netrc: file.url.appending(path: "netrc"))
    }

    private static func basic(_ text: String) -> String { "Basic " + Data(text.utf8).base64EncodedString() }

    @Test func `a host's user and password come from the file, with each request`() async throws {
      server.serve("/a.bin", .redirect(to: "/b.bin"))
      server.serve("/b.bin", .file(content).breaking(after: 300_000), .file(content))
      let setting = try setting("machine 127.0.0.1 login kim password word")
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.count == 4)
      #expect(server.requests.allSatisfy { $0["Authorization"] == Self.basic("kim:word") })
    }

    @Test(arguments: [true, false])
    func `what the download brings itself counts, and nothing of the file`(inURL: Bool) async throws {
      server.serve("/a.bin", .redirect(to: other.url("/b.bin")))
      other.serve("/b.bin", .file(content))
      let setting = try setting("default login kim password word machine 127.0.0.2 login kim password word")
      let url = server.url("/a.bin", by: inURL ? "own:own@127.0.0.1" : nil)
      let headers = inURL ? [] : [Download.Header("authorization", "own")]
      let job = try await setting.fetch(setting.download(url, headers: headers))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map { $0["Authorization"] } == [inURL ? Self.basic("own:own") : "own"])
      #expect(other.requests.map { $0["Authorization"] } == [nil])
    }

    @Test func `a host that is redirected to gets what the file has for it by name, and nothing else`() async throws {
      let third = try await LyingServer(on: "127.0.0.3")
      server.serve("/a.bin", .redirect(to: other.url("/b.bin")))
      other.serve("/b.bin", .redirect(to: third.url("/c.bin")))
      third.serve("/c.bin", .file(content))
      let setting = try setting("machine 127.0.0.2 login two password two default login kim password word")
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.map { $0["Authorization"] } == [Self.basic("kim:word")])
      #expect(other.requests.map { $0["Authorization"] } == [Self.basic("two:two")])
      #expect(third.requests.map { $0["Authorization"] } == [nil])
    }

    @Test func `from https down to http nothing of the file goes`() async throws {
      let secure = try await LyingServer(certificate: SecureTests.certificate)
      secure.serve("/a.bin", .redirect(to: other.url("/b.bin")))
      other.serve("/b.bin", .redirect(to: server.url("/a.bin")))
      let setting = try setting("machine 127.0.0.1 login kim password word machine 127.0.0.2 login two password two")
      let job = try await setting.fetch(
        setting.download(secure.url("/a.bin"), caCertificates: SecureTests.authority))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(secure.requests.map { $0["Authorization"] } == [Self.basic("kim:word")])
      #expect((other.requests + server.requests).map { $0["Authorization"] } == [nil, nil])
    }

    @Test func `what came for one user of the file is not there for another`() async throws {
      server.serve("/a.bin", .file(content), .file(changed, etag: "\"second\"", lastModified: nil))
      func netrc(_ user: String) -> String { "machine 127.0.0.1 login \(user) password word" }
      let setting = try setting(netrc("alice"))
      let download = try setting.download(server.url("/a.bin"))
      #expect(try await setting.fetch(download).file?.wasThere == false)
      try file.write(netrc("bob"), to: "netrc")
      let other = try await setting.fetch(download)
      #expect(other.state == .failed)
      #expect(setting.errors.map(\.code) == [.fileExists])
      #expect(server.requests.map { $0["Authorization"] } == [Self.basic("alice:word"), Self.basic("bob:word")])
      try file.write(netrc("alice"), to: "netrc")
      let again = try await setting.fetch(download)
      #expect(again.file?.wasThere == true, "\(again.lastError)")
      #expect(server.requests.count == 2)
      #expect(try folder.holds(content, as: "a.bin"))
    }

    @Test func `what came for one user is known by another store for that user alone`() async throws {
      func fetch(_ user: String) async throws -> JobSnapshot {
        let setting = try setting("machine 127.0.0.1 login \(user) password word")
        return try await setting.fetch(setting.download(server.url("/a.bin")))
      }
      #expect(try await fetch("alice").file?.wasThere == false)
      #expect(try await fetch("bob").state == .failed)
      #expect(try await fetch("alice").file?.wasThere == true)
    }

    @Test(arguments: [nil, LyingAnswer.etag])
    func `a part that a redirect brought for nobody is gone on with for a user by a tag alone`(etag: String?)
      async throws
    {
      server.serve("/a.bin", .redirect(to: other.url("/b.bin")))
      let theirs = LyingAnswer.file(etag == nil ? changed : content, etag: etag)
      other.serve("/b.bin", .file(content, etag: etag).breaking(after: 300_000), .page(503), theirs)
      let setting = try setting("machine elsewhere login two password two")
      let download = try setting.download(server.url("/a.bin"))
      try await setting.jobs.queue.enqueue(download, options: JobOptions(maxAttempts: 1))
      #expect(try await setting.fetch(download, from: other).state == .failed)
      try file.write("machine 127.0.0.2 login kim password word", to: "netrc")
      let job = try await setting.fetch(download)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(other.requests.map(\.rangeStart) == [nil, 300_000, 300_000] + (etag == nil ? [nil] : []))
      #expect(try folder.holds(etag == nil ? changed : content, as: "a.bin"))
    }

    @Test func `nothing of the file is stored`() async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(404))
      let setting = try setting("machine 127.0.0.1 login kim password s3cret")
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(server.requests.first?["Authorization"] == Self.basic("kim:s3cret"))
      let stored = try await setting.jobs.queue.jobs(where: .id(job.id), detail: .all)
      for text in [
        String(decoding: try #require(stored.first?.payload), as: UTF8.self), "\(stored)",
        try folder.text("a.bin.part.json"),
      ] {
        #expect(!text.contains("s3cret") && !text.contains(Self.basic("kim:s3cret")))
      }
    }

    @Test(arguments: [nil, "machine a login \"kim"])
    func `a file that can't be read fails for good, and is named`(text: String?) async throws {
      let setting =
        try text.map { try self.setting($0) } ?? Setting(in: folder, netrc: file.url.appending(path: "netrc"))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(job.lastError.contains(file.path("netrc")) && !job.lastError.contains("kim"), "\(job.lastError)")
      #expect(setting.errors.map(\.code) == [.invalidDownload])
      #expect(server.requests.isEmpty)
      let own = try await setting.fetch(
        setting.download(server.url("/a.bin"), headers: [.init("Authorization", "own")]))
      #expect(own.state == .succeeded, "it needs nothing of it")
    }
  }
#endif
