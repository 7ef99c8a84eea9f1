#if HTTP
  import DurableJobs
  import Foundation
  import LyingServer
  import Testing

  @testable import DurableJobsHTTP

  extension Download {
    /// Notes on a file that this one brought it.
    func note(on name: String, as user: String? = nil) throws {
      let folder = try Folder(path: folder)
      let file = try #require(try folder.open(name, O_RDONLY))
      let status = try FileStatus(of: file, name)
      let tail = try file.tail(before: status.size, name)
      file.note(FileNote(FileOwner(self, as: user), nil, FileName(harmless: name), status, tail: tail))
    }
  }

  /// Whose a file is that has the size and the time of the one that is asked for.
  @Suite struct OwnerTests {
    let server: LyingServer
    let folder: TestFolder
    let other: TestFolder
    /// Of a server that tells no two of its versions apart, though their size and their date are the same.
    private let weak = LyingAnswer.file(content, etag: "W/\"1\"")

    init() async throws {
      server = try await LyingServer()
      folder = try TestFolder()
      other = try TestFolder("netrc")
    }

    /// In a store that knows nothing of what was fetched before.
    private func fetch(_ url: String, headers: [Download.Header] = [], as user: String? = nil) async throws
      -> JobSnapshot
    {
      if let user { try other.write("machine 127.0.0.1 login \(user) password x", to: user) }
      let setting = try Setting(in: folder, netrc: user.map { other.url.appending(path: $0) })
      return try await setting.fetch(setting.download(url, headers: headers, keepsServerTime: true))
    }

    private func expectOthers(_ job: JobSnapshot) throws {
      #expect(job.state == .failed, "\(job)")
      let error = job.lastError
      #expect(error.contains("is there already") || error.contains("was brought by"), "\(error)")
      #expect(try folder.holds(content, as: "a.bin"))
    }

    @Test func `another URL's file is not taken, though its server told no version`() async throws {
      server.serve("/evil", weak.with("Content-Disposition", "attachment; filename=a.bin"))
      server.serve("/a.bin", .file(changed))
      #expect(try await fetch(server.url("/evil")).file?.wasThere == false)
      try expectOthers(try await fetch(server.url("/a.bin")))
    }

    private static let early = "Thu, 01 Jan 1970 00:00:01 GMT"

    /// Answers with two versions of one size and one date.
    private static let versions: [(LyingAnswer, LyingAnswer)] = [
      (.file(content, etag: nil, lastModified: early), .file(changed, etag: nil, lastModified: early)),
      (
        .file(content, etag: nil).with("Date", LyingAnswer.lastModified),
        .file(changed, etag: nil).with("Date", "Mon, 05 Jan 2026 10:50:30 GMT")
      ),
      (.file(content, etag: "W/\"1\""), .file(changed, etag: "W/\"2\"")),
    ]

    @Test(arguments: versions)
    func `another version is not taken by a date that may be that of two, nor with another weak tag`(
      answers: (LyingAnswer, LyingAnswer)
    ) async throws {
      server.serve("/a.bin", answers.0, answers.1)
      #expect(try await fetch(server.url("/a.bin")).file?.wasThere == false)
      try expectOthers(try await fetch(server.url("/a.bin")))
    }

    @Test func `what somebody made is not taken by a date that all files of its server have`() async throws {
      server.serve("/a.bin", .file(changed, etag: nil, lastModified: Self.early))
      try Data(content.bytes).write(to: URL(filePath: folder.path("a.bin")))
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: folder.path("a.bin"))
      try expectOthers(try await fetch(server.url("/a.bin")))
    }

    @Test func `another user's file is not taken, and one's own is`() async throws {
      server.serve("/a.bin", weak)
      #expect(try await fetch(server.url("/a.bin"), as: "alice").file?.wasThere == false)
      #expect(try await fetch(server.url("/a.bin"), as: "alice").file?.wasThere == true)
      try expectOthers(try await fetch(server.url("/a.bin"), as: "bob"))
      try expectOthers(try await fetch(server.url("/a.bin")))
    }

    @Test func `what a redirect brought for one user is not taken by another, and by that user it is`() async throws {
      let mirror = try await LyingServer(on: "127.0.0.2")
      server.serve("/a.bin", .redirect(to: mirror.url("/a.bin")))
      mirror.serve("/a.bin", weak)
      func fetch(_ netrc: String) async throws -> JobSnapshot {
        try other.write(netrc, to: "netrc")
        let setting = try Setting(in: folder, netrc: other.url.appending(path: "netrc"))
        return try await setting.fetch(setting.download(server.url("/a.bin"), keepsServerTime: true))
      }
      let alice = "machine 127.0.0.2 login alice password x"
      #expect(try await fetch(alice).file?.wasThere == false)
      let again = try await fetch("machine elsewhere login carol password x \(alice)")
      #expect(again.file?.wasThere == true, "\(again.lastError)")
      try expectOthers(try await fetch("machine 127.0.0.2 login bob password x"))
      try expectOthers(try await fetch(""))
    }

    @Test(arguments: [true, false])
    func `what was asked for with headers or a password is not taken by who asks without`(isHeader: Bool) async throws {
      server.serve("/a.bin", .file(content, etag: nil))
      let url = isHeader ? server.url("/a.bin") : server.url("/a.bin", by: "alice:x@127.0.0.1")
      let headers = isHeader ? [Download.Header("Accept-Language", "de")] : []
      #expect(try await fetch(url, headers: headers).file?.wasThere == false)
      try expectOthers(try await fetch(server.url("/a.bin")))
    }

    @Test func `where nothing is noted, the store tells whose it is`() async throws {
      server.serve("/a.bin", .file(content, etag: nil))
      let setting = try Setting(in: folder)
      let personal = try setting.download(
        server.url("/a.bin"), headers: [.init("Accept-Language", "de")], keepsServerTime: true)
      #expect(try await setting.fetch(personal).file?.wasThere == false)
      // As on a file system without notes.
      let bytes = try Data(contentsOf: URL(filePath: folder.path("a.bin")))
      let time = try FileManager.default.attributesOfItem(atPath: folder.path("a.bin"))[.modificationDate]
      try FileManager.default.removeItem(atPath: folder.path("a.bin"))
      try bytes.write(to: URL(filePath: folder.path("a.bin")))
      try FileManager.default.setAttributes([.modificationDate: try #require(time)], ofItemAtPath: folder.path("a.bin"))
      try expectOthers(
        try await setting.fetch(setting.download(server.url("/a.bin"), keepsServerTime: true)))
    }

    @Test func `a file that somebody put in its place is not the one that came, though it has its size and time`()
      async throws
    {
      server.serve("/a.bin", .file(content))
      let setting = try Setting(in: folder)
      let download = try setting.download(server.url("/a.bin"), keepsServerTime: true)
      #expect(try await setting.fetch(download).file?.wasThere == false)
      let time = try FileManager.default.attributesOfItem(atPath: folder.path("a.bin"))[.modificationDate]
      #expect(rename(folder.path("a.bin"), folder.path("kept")) == 0)
      try Data(changed.bytes).write(to: URL(filePath: folder.path("a.bin")))
      try FileManager.default.setAttributes([.modificationDate: try #require(time)], ofItemAtPath: folder.path("a.bin"))
      _ = try await setting.fetch(download)
      #expect(server.requests.count == 2, "it was asked")
    }

    @Test func `what is noted of a URL is the same for each of its secrets`() throws {
      func owner(_ url: String, as user: String? = nil) throws -> FileOwner {
        FileOwner(Download(from: try #require(URL(string: url)), to: folder.url), as: user)
      }
      let plain = try owner("http://h/a?id=1")
      #expect(try owner("http://kim:word@h/a?id=1&pin=1234").isPersonal)
      #expect(try owner("http://h/a?id=2") != plain)
      #expect(try owner("http://h/a?id=1", as: "kim") != plain)
      let file = try #require(FileStatus(ofFileAt: folder.url.path))
      func note(_ owner: FileOwner) -> FileNote {
        FileNote(owner, FileVersion(entityTag: "\"1\""), FileName(harmless: "a"), file, tail: "")
      }
      #expect(try note(owner("http://h/a?id=1&pin=1234")) == note(owner("http://h/a?id=1&pin=5678")))
      #expect(try note(owner("http://h/a?id=1&pin=1234")) != note(plain), "its version is not noted")
    }

    @Test func `what is noted on a file has room in its inode on ext4, so that no flush waits for a block more`() throws
    {
      let download = try Download(from: #require(URL(string: "http://h/a?id=1")), to: folder.url)
      let file = try #require(FileStatus(ofFileAt: folder.url.path))
      let note = FileNote(
        FileOwner(download, as: nil), FileVersion(entityTag: "\"1\""), FileName(harmless: "a"), file, tail: "")
      #expect(note.bytes.count <= FileNote.room)
      let (one, two) = (String(repeating: "a", count: 200), String(repeating: "a", count: 201))
      #expect(FileNote.mark(one).count <= FileNote.room)
      #expect(FileNote.mark(one) != FileNote.mark(two))
    }

    @Test(arguments: ["1", "alice-key"])
    func `what was fetched with one secret in the URL is not taken for what another one asks for`(secret: String)
      async throws
    {
      server.serve("/a.bin", .file(content, etag: nil), .file(changed, etag: nil))
      let setting = try Setting(in: folder)
      func fetch(_ key: String) async throws -> JobSnapshot {
        try await setting.fetch(setting.download(server.url("/a.bin?key=\(key)"), keepsServerTime: true))
      }
      #expect(try await fetch(secret).file?.wasThere == false)
      try expectOthers(try await fetch("2\(secret)"))
    }

    @Test func `a copy of what came, which has lost its note, is known by the store`() async throws {
      server.serve("/a.bin", .file(content))
      let setting = try Setting(in: folder)
      let download = try setting.download(server.url("/a.bin"), keepsServerTime: true)
      #expect(try await setting.fetch(download).file?.wasThere == false)
      let bytes = try Data(contentsOf: URL(filePath: folder.path("a.bin")))
      let time = try FileManager.default.attributesOfItem(atPath: folder.path("a.bin"))[.modificationDate]
      try FileManager.default.removeItem(atPath: folder.path("a.bin"))
      try bytes.write(to: URL(filePath: folder.path("a.bin")))
      try FileManager.default.setAttributes([.modificationDate: try #require(time)], ofItemAtPath: folder.path("a.bin"))
      #expect(try await setting.fetch(download).file?.wasThere == true)
      #expect(server.requests.count == 1, "it was not asked")
    }

    @Test func `the files of one path and two queries are two, unless they are signed anew each time`() throws {
      func place(_ url: String) throws -> String { try #require(HTTPURL(url)).place }
      #expect(try place("http://h/blob?v=1") != place("http://h/blob?v=2"))
      #expect(try place("http://h/blob?v=1") == place("http://h:80/blob?v=1"))
      #expect(try place("http://h/blob?se=1&sig=a") == place("http://h/blob?se=2&sig=b"))
      #expect(try place("http://h/blob?expires=1&md5=a") == "http://h:80/blob")
      #expect(try place("http://h/blob?uuid=0b28e176-3f4a-4c1d") == "http://h:80/blob")
      #expect(try place("http://h/blob?t=1795654321") == "http://h:80/blob")
      #expect(try place("http://h/blob?v=6.12.1-amd64-unsigned") != "http://h:80/blob")
    }

    @Test(
      arguments: [
        (LyingAnswer.etag, nil, .length, [nil, 295_904]), (nil, LyingAnswer.lastModified, .length, [nil, 295_904]),
        (nil, LyingAnswer.lastModified, .chunked, [nil, 295_904, nil]), (nil, nil, .length, [nil, nil]),
      ] as [(String?, String?, LyingAnswer.Framing, [Int64?])])
    func `where a redirect's query is made anew each time, a tag tells the version, or a date with a size`(
      etag: String?, date: String?, framing: LyingAnswer.Framing, starts: [Int64?]
    ) async throws {
      server.serve("/latest", (1...9).map { .redirect(to: "/blob?n=\($0)") })
      let file = LyingAnswer.file(content, etag: etag, lastModified: date).framed(framing)
      server.serve("/blob", file.breaking(after: 300_000), file)
      let setting = try Setting(in: folder)
      let job = try await setting.fetch(setting.download(server.url("/latest")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.filter { $0.path.hasPrefix("/blob") }.map(\.rangeStart) == starts)
      #expect(try folder.holds(content, as: "latest"))
    }

    @Test func `a redirect to another version is not gone on with, though its tag is the same`() async throws {
      server.serve("/latest", .redirect(to: "/blob?v=1"), .redirect(to: "/blob?v=2"))
      server.serve("/blob", .file(content).breaking(after: 300_000), .file(changed))
      let setting = try Setting(in: folder)
      let job = try await setting.fetch(setting.download(server.url("/latest")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try folder.holds(changed, as: "latest"))
    }
  }
#endif
