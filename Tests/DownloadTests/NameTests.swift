#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsTesting
  import Foundation
  import LyingServer
  import Testing

  /// Names that servers and URLs give, and the one folder that no name leads out of.
  @Suite struct NameTests {
    let server: LyingServer
    let outside: TestFolder
    let setting: Setting

    init() async throws {
      server = try await LyingServer()
      outside = try TestFolder("outside")
      // The folder of downloads lies within another, so that what escaped would be seen.
      let inner = try TestFolder("inner")
      setting = try Setting(in: inner)
    }

    @Test(arguments: [
      ("attachment; filename=\"plain.txt\"", "plain.txt"),
      ("attachment; filename=token.txt", "token.txt"),
      ("attachment; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt; filename=\"fallback.txt\"", "naïve €.txt"),
      ("attachment; filename=\"../../escaped.txt\"", "escaped.txt"),
      ("attachment; filename=\"/etc/passwd\"", "passwd"),
      ("attachment; filename=\"..\\\\..\\\\escaped.txt\"", "escaped.txt"),
      ("attachment; filename*=UTF-8''..%2F..%2Fescaped.txt", "escaped.txt"),
      ("attachment; filename=\".bashrc\"", "bashrc"),
      ("attachment; filename=\"...hidden\"", "hidden"),
      ("attachment; filename*=UTF-8''null%00byte.txt", "nullbyte.txt"),
      ("attachment; filename*=UTF-8''bell%07%1B%5B31m.txt", "bell[31m.txt"),
      ("attachment; filename=\"other.sqlite-wal\"", "other.sqlite_wal"),
      ("attachment; filename=\"quote\\\"d.txt\"", "quote\"d.txt"),
      ("attachment; filename=\"\"", "a.bin"), ("attachment; filename= ", "a.bin"),
      ("attachment; filename*=UTF-8''; filename=b.bin", "b.bin"),
    ])
    func `the server's name is used, once it is harmless`(disposition: String, name: String) async throws {
      server.serve("/a.bin", .file(content).with("Content-Disposition", disposition))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(setting.folder.names == [name])
      #expect(try setting.folder.holds(content, as: name))
      #expect(job.file?.path == setting.folder.path(name))
    }

    @Test(arguments: [
      "attachment; filename=\"..\"", "attachment; filename=\"\"", "attachment", "inline; filename=\"/\"", ";;=\"",
    ])
    func `a server's name that is none leaves some name`(disposition: String) async throws {
      server.serve("/a.bin", .file(content).with("Content-Disposition", disposition))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(setting.folder.names.count == 1)
      #expect(["a.bin", "download"].contains(setting.folder.names.first))
    }

    @Test func `a name that was given is the name, whatever the server calls it`() async throws {
      server.serve("/a.bin", .file(content).with("Content-Disposition", "attachment; filename=\"b.bin\""))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), named: "c.bin"))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(setting.folder.names == ["c.bin"])
    }

    @Test(arguments: [
      ("/dir/a%20b.txt", "a b.txt"), ("/%2e%2e", "download"), ("/..%2F..%2Fescaped", "escaped"), ("/", "download"),
      ("", "download"),
      ("/dir/", "download"), ("/.profile", "profile"), ("/a%00b", "ab"), ("/a.txt?b=/c.txt", "a.txt"),
      ("/%E6%97%A5%E6%9C%AC.txt", "日本.txt"), ("/a%5Cb.txt", "b.txt"),
    ])
    func `the URL's name is its last component, once it is harmless`(path: String, name: String) async throws {
      let asked = path.isEmpty ? "/" : String(path.prefix { $0 != "?" })
      server.serve(asked, .file(content))
      let job = try await setting.fetch(setting.download(server.url(path)))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(setting.folder.names == [name])
      #expect(try setting.folder.holds(content, as: name))
    }

    @Test(arguments: [String(repeating: "x", count: 300) + ".tar", String(repeating: "日", count: 120) + ".txt"])
    func `a long name is cut, its ending kept, with room for the part's`(long: String) async throws {
      let path = "/" + long.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["."]))!
      server.serve(path, .file(content).breaking(after: 300_000), .file(content))
      let job = try await setting.fetch(setting.download(server.url(path)), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      let name = try #require(setting.folder.names.first)
      #expect(name.utf8.count <= 255 - ".part.json".utf8.count)
      #expect(name.hasSuffix(String(long.suffix(4))) && long.hasPrefix(name.dropLast(4)))
    }

    @Test(arguments: ["../up.bin", "a/b.bin", "..", "", "nul\u{0}.bin", String(repeating: "x", count: 400)])
    func `a name that a person gave is used as it is, or refused`(name: String) async throws {
      server.serve("/a.bin", .file(content))
      do {
        let job = try await setting.fetch(setting.download(server.url("/a.bin"), named: name))
        #expect(job.state == .failed)
      } catch let error as DownloadError {
        #expect(error.code == .invalidDownload)
      }
      #expect(setting.folder.names == [])
      #expect(server.requests.isEmpty)
    }

    @Test(arguments: [false, true]) func `no server can begin another's file`(inURL: Bool) async throws {
      let planted = Content("planted bytes!")
      let record = """
        {"url":"\(server.url("/debian.iso"))","version":{"total":\(planted.size),"entityTag":"\\"first\\""},\
        "isDecoded":false,"highest":0}
        \(planted.size)

        """
      let evil = try await LyingServer(on: "127.0.0.2")
      for (number, (ending, body)) in [(".part", planted), (".part.json", Content(record))].enumerated() {
        let name = "debian.iso" + ending + "y" + String(repeating: "\u{301}", count: 120)
        let coded = try #require(name.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let path = inURL ? "/" + coded : "/\(number)"
        evil.serve(
          path, .file(body).with("Content-Disposition", inURL ? "inline" : "inline; filename*=UTF-8''\(coded)"))
        let job = try await setting.fetch(setting.download(evil.url(path)))
        #expect(job.state == .succeeded, "\(job.lastError)")
      }
      server.serve("/debian.iso", .file(content))
      let job = try await setting.fetch(setting.download(server.url("/debian.iso")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(server.requests.count == 1)
      #expect(try setting.folder.holds(content, as: "debian.iso"))
    }

    @Test(arguments: [1000, 1_000_000], [0o600, 0o644])
    func `a file has the permissions that the downloader gives, small or large`(size: Int64, permissions: Int)
      async throws
    {
      server.serve("/a.bin", .file(Content(size)))
      let jobs = TestJobs()
      Downloader(store: jobs.queue.store, permissions: permissions, environment: [:]).register(with: jobs.worker)
      let id = try await jobs.queue.enqueue(setting.download(server.url("/a.bin"))).id
      try await jobs.drain()
      #expect(try await jobs.queue.job(id).state == .succeeded)
      let status = try FileManager.default.attributesOfItem(atPath: setting.folder.path("a.bin"))
      #expect((status[.posixPermissions] as? NSNumber)?.intValue == permissions)
    }

    // MARK: What stands in the way

    @Test(arguments: ["a.bin", "a.bin.part", "a.bin.part.json"], [false, true])
    func `nothing is written through a symbolic link`(name: String, overwrites: Bool) async throws {
      try outside.write("precious", to: "target")
      try FileManager.default.createSymbolicLink(
        atPath: setting.folder.path(name), withDestinationPath: outside.path("target"))
      server.serve("/a.bin", .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), overwrites: overwrites))
      #expect(try outside.text("target") == "precious")
      #expect(outside.names == ["target"])
      if job.state == .succeeded {
        #expect(overwrites)
        #expect(try setting.folder.holds(content, as: "a.bin"))
        let type = try FileManager.default.attributesOfItem(atPath: setting.folder.path("a.bin"))[.type]
        #expect(type as? FileAttributeType == .typeRegular)
      } else {
        #expect(job.lastError.contains(setting.folder.path(name)), "\(job.lastError)")
        #expect(setting.errors.map(\.code) == [.fileExists])
      }
    }

    @Test(arguments: ["a.bin.part", "a.bin.part.json"])
    func `nothing is written through a link that took the place of what was here`(name: String) async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(503), .file(content))
      let download = try setting.download(server.url("/a.bin"))
      async let begun = setting.attempt(download)
      await server.held("/a.bin")
      try await setting.received(300_000)
      server.release()
      #expect(try await begun.state == .scheduled)
      // A record that is whole, so that nothing but the link speaks against it.
      try FileManager.default.moveItem(atPath: setting.folder.path(name), toPath: outside.path("target"))
      try FileManager.default.createSymbolicLink(
        atPath: setting.folder.path(name), withDestinationPath: outside.path("target"))
      let before = try Data(contentsOf: URL(filePath: outside.path("target")))
      let job = try await setting.fetch(download)
      #expect(job.state == .failed)
      #expect(job.lastError.contains("\(setting.folder.path(name)) is a symbolic link"), "\(job.lastError)")
      #expect(try Data(contentsOf: URL(filePath: outside.path("target"))) == before)
    }

    @Test func `nothing is written through a link that leads nowhere yet`() async throws {
      try FileManager.default.createSymbolicLink(
        atPath: setting.folder.path("a.bin.part"), withDestinationPath: outside.path("made-by-it"))
      server.serve("/a.bin", .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      #expect(outside.names == [])
    }

    @Test(arguments: ["a.bin", "a.bin.part"]) func `a folder in the place of the file is left alone`(name: String)
      async throws
    {
      try FileManager.default.createDirectory(atPath: setting.folder.path(name), withIntermediateDirectories: false)
      try setting.folder.write("precious", to: name + "/inside")
      server.serve("/a.bin", .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), overwrites: name == "a.bin"))
      #expect(job.state == .failed)
      #expect(job.lastError.contains(setting.folder.path(name)), "\(job.lastError)")
      #expect(try setting.folder.text(name + "/inside") == "precious")
    }
  }
#endif
