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
    private func cancelled() async throws -> KnownJob {
      let handle = try await setting.jobs.queue.enqueue(download)
      try await handle.cancel()
      let job = try await setting.jobs.queue.jobs(where: .id(handle.id), detail: .payload).first.flatMap {
        Download(of: $0)
      }
      try #require(job?.nonce.text != nil)
      return KnownJob(handle.id, of: job)
    }

    /// What a crash leaves of a large file that has its name.
    private func putRecord(of job: KnownJob, as users: String? = nil) throws {
      let status = try #require(try Folder(path: setting.folder.url.path).status(of: "a.bin"))
      var record = PartRecord(url: download.url.absoluteString)
      record.version.users = users
      record.whole = PartRecord.Whole(
        job: job.id, nonce: job.nonce, name: "a.bin", size: status.size, modified: status.modified)
      try record.lines.write(to: URL(filePath: setting.folder.path("a.bin.part.json")))
    }

    private func mark(_ job: KnownJob, _ url: String = "") -> String {
      setting.folder.path(FileName(harmless: "a.bin").mark(for: url.isEmpty ? download.url.absoluteString : url, job))
    }

    /// What a crash leaves of a small one: a second name, and what is noted on it.
    private func leave(_ name: String = "a.bin", by job: KnownJob) throws {
      try download.note(on: name)
      #expect(link(setting.folder.path(name), mark(job)) == 0)
    }

    private func put() throws { try Data(content.bytes).write(to: URL(filePath: setting.folder.path("a.bin"))) }

    @Test(arguments: [nil, content.sha256]) func `a small one is known by its second name, which goes`(sha256: String?)
      async throws
    {
      let job = try await cancelled()
      try put()
      try leave(by: job)
      var next = download
      next.sha256 = sha256
      let found = try await setting.fetch(next)
      #expect(found.id != job.id)
      #expect(found.state == .succeeded, "\(found.lastError)")
      #expect(server.requests.isEmpty)
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a small one that has its server's name is known, though another file has the URL's`() async throws {
      server.serve(
        "/a.bin",
        .file(content, etag: nil, lastModified: nil).with("Content-Disposition", "attachment; filename=b.bin"))
      let job = try await cancelled()
      try setting.folder.write("precious", to: "a.bin")
      try Data(content.bytes).write(to: URL(filePath: setting.folder.path("b.bin")))
      try leave("b.bin", by: job)
      let found = try await setting.fetch(download)
      #expect(found.file?.path == setting.folder.path("b.bin"), "\(found.lastError)")
      #expect(setting.folder.names == ["a.bin", "b.bin"])
      #expect(try setting.folder.text("a.bin") == "precious")
    }

    @Test(arguments: [true, false])
    func `a small one that was changed since, or has another name by now, is none`(isEdit: Bool) async throws {
      let job = try await cancelled()
      try put()
      try leave(by: job)
      if isEdit {
        let file = try FileHandle(forWritingTo: URL(filePath: setting.folder.path("a.bin")))
        try file.seekToEnd()
        try file.write(contentsOf: Data("A LINE OF SOMEBODY".utf8))
        try file.close()
      } else {
        #expect(rename(setting.folder.path("a.bin"), setting.folder.path("mine")) == 0)
      }
      let found = try await setting.fetch(download)
      #expect(found.state == (isEdit ? .failed : .succeeded), "\(found.lastError)")
      #expect(found.file?.wasThere != true)
      #expect(!server.requests.isEmpty)
      let names = setting.folder.names.filter { !$0.hasSuffix(".part") }
      #expect(names == (isEdit ? ["a.bin"] : ["a.bin", "mine"]))
    }

    @Test func `a second name that was left after its job's success was stored goes, where the file has its checksum`()
      async throws
    {
      var download = download
      download.sha256 = content.sha256
      let id = try await setting.fetch(download).id
      let stored = try await setting.jobs.queue.jobs(where: .id(id), detail: .payload).first.flatMap {
        Download(of: $0)
      }
      #expect(link(setting.folder.path("a.bin"), mark(KnownJob(id, of: stored))) == 0)
      setting.jobs.clock.advance(by: .seconds(1))
      let again = try await setting.fetch(download)
      #expect(again.id != id && again.file?.wasThere == true, "\(again.lastError)")
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a large one is known by its record, which goes`() async throws {
      let job = try await cancelled()
      try put()
      try putRecord(of: job)
      let found = try await setting.fetch(download)
      #expect(found.state == .succeeded, "\(found.lastError)")
      #expect(server.requests.isEmpty)
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test(arguments: [true, false], [nil, "127.0.0.1 login kim", "mirror login kim"] as [String?])
    func `what was named before a crash is its job's own whatever else stands in the file of passwords by then`(
      isSmall: Bool, user: String?
    ) async throws {
      let passwords = try TestFolder("netrc")
      let netrc = passwords.path("netrc")
      func write(_ text: String) throws {
        try passwords.write(text + "machine elsewhere login a password b", to: "netrc")
      }
      let known = user.map { "machine \($0) password word " } ?? ""
      try write(known)
      let setting = try Setting(in: self.setting.folder, netrc: URL(filePath: netrc))
      let id = try await setting.jobs.queue.enqueue(download).id
      let stored = try await setting.jobs.queue.jobs(where: .id(id), detail: .payload).first.flatMap {
        Download(of: $0)
      }
      let job = KnownJob(id, of: stored)
      let users = try user.map { user in
        let netrc = try #require(Netrc(known.utf8))
        let host = String(user.prefix { $0 != " " })
        return Asker.digest(of: try #require(netrc.credentials(for: host, isNamed: true)), at: host)
      }
      try put()
      if isSmall {
        try download.note(on: "a.bin", as: users)
        #expect(link(setting.folder.path("a.bin"), mark(job)) == 0)
      } else {
        try putRecord(of: job, as: users)
      }
      let found = try await setting.fetch(download)
      #expect(found.state == .succeeded, "\(found.lastError)")
      #expect(found.file?.wasThere == false)
      #expect(server.requests.isEmpty)
    }

    @Test(arguments: [true, false], ["127.0.0.1 login kim", "mirror login kim"])
    func `what was named before a crash for one user is not another's`(isSmall: Bool, user: String) async throws {
      let passwords = try TestFolder("netrc")
      try passwords.write("machine \(user)ball password word", to: "netrc")
      let setting = try Setting(in: self.setting.folder, netrc: passwords.url.appending(path: "netrc"))
      let id = try await setting.jobs.queue.enqueue(download).id
      let stored = try await setting.jobs.queue.jobs(where: .id(id), detail: .payload).first.flatMap {
        Download(of: $0)
      }
      try put()
      if isSmall {
        try download.note(on: "a.bin", as: "0123456789abcdef")
        #expect(link(setting.folder.path("a.bin"), mark(KnownJob(id, of: stored))) == 0)
      } else {
        try putRecord(of: KnownJob(id, of: stored), as: "0123456789abcdef")
      }
      #expect(try await setting.fetch(download).state == .failed)
    }

    @Test func `what a death of the job itself left without the file's name goes, though the file is there by then`()
      async throws
    {
      var download = download
      download.sha256 = content.sha256
      let id = try await setting.jobs.queue.enqueue(download).id
      let stored = try await setting.jobs.queue.jobs(where: .id(id), detail: .payload).first.flatMap {
        Download(of: $0)
      }
      try Data(content.bytes.prefix(1000)).write(to: URL(filePath: mark(KnownJob(id, of: stored))))
      try put()
      let job = try await setting.fetch(download)
      #expect(job.id == id)
      #expect(job.file?.wasThere == true, "\(job.lastError)")
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test(arguments: [true, false], [true, false])
    func `a part of a file that is here by its checksum goes, and one that is to have another checksum stays`(
      isSame: Bool, isOwn: Bool
    ) async throws {
      try put()
      let name = FileName(of: download.url)
      let part = isOwn ? name.apart(for: download.url.absoluteString) : name
      try Data(content.bytes.prefix(1000)).write(to: URL(filePath: setting.folder.path(part.part)))
      let record = PartRecord(
        url: download.url.absoluteString, sha256: isSame ? content.sha256 : changed.sha256)
      try record.lines.write(to: URL(filePath: setting.folder.path(part.record)))
      var download = download
      download.sha256 = content.sha256
      let job = try await setting.fetch(download)
      #expect(job.file?.wasThere == true, "\(job.lastError)")
      #expect(setting.folder.names == ["a.bin"] + (isSame ? [] : [part.part, part.record]))
    }

    @Test(arguments: ["a.bin", nil])
    func `a part of another version goes where a small file is known by its second name`(name: String?) async throws {
      var download = download
      download.name = name
      let id = try await setting.jobs.queue.enqueue(download).id
      let stored = try await setting.jobs.queue.jobs(where: .id(id), detail: .payload).first.flatMap {
        Download(of: $0)
      }
      try put()
      try leave(by: KnownJob(id, of: stored))
      try Data(changed.bytes.prefix(1000)).write(to: URL(filePath: setting.folder.path("a.bin~new.part")))
      try PartRecord(url: download.url.absoluteString).lines.write(
        to: URL(filePath: setting.folder.path("a.bin~new.part.json")))
      let job = try await setting.fetch(download)
      #expect(job.id == id)
      #expect(job.state == .succeeded, "\(job.lastError)")
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

    @Test(arguments: [false, true], [nil, "other"] as [String?])
    func `what a job of another store left is not what the job of the same number here brought`(
      isSmall: Bool, nonce: String?
    ) async throws {
      try Data(changed.bytes).write(to: URL(filePath: setting.folder.path("a.bin")))
      let theirs = KnownJob(JobID(rawValue: 1), nonce: nonce)
      if isSmall {
        try leave(by: theirs)
      } else {
        try putRecord(of: theirs)
      }
      var next = download
      next.overwrites = true
      let found = try await setting.fetch(next)
      #expect(found.id == theirs.id)
      #expect(found.state == .succeeded, "\(found.lastError)")
      #expect(found.file?.wasThere == false)
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test(arguments: [true, false])
    func `a second name that a job of another store left goes where the file is known without it`(isTold: Bool)
      async throws
    {
      let date = Date(timeIntervalSince1970: 1_700_000_000)
      server.serve("/a.bin", .file(content, lastModified: "Tue, 14 Nov 2023 22:13:20 GMT"))
      try put()
      try FileManager.default.setAttributes(
        [.modificationDate: isTold ? date : date + 60], ofItemAtPath: setting.folder.path("a.bin"))
      let theirs = mark(KnownJob(JobID(rawValue: 1), nonce: "theirs"))
      #expect(link(setting.folder.path("a.bin"), theirs) == 0)
      try setting.folder.write("mine", to: "a.bin~00000000.new.part")
      let found = try await setting.fetch(download)
      #expect(found.state == (isTold ? .succeeded : .failed), "\(found.lastError)")
      #expect(FileManager.default.fileExists(atPath: theirs) != isTold)
      #expect(try setting.folder.text("a.bin~00000000.new.part") == "mine")
    }

    @Test func `what a job of another store left of a small file before it had its name goes when another brings it`()
      async throws
    {
      server.serve("/a.bin", .file(Content(1000)))
      let folder = try Folder(path: setting.folder.url.path)
      func made(_ number: Int64) throws -> (String, Descriptor) {
        let job = KnownJob(JobID(rawValue: number), nonce: "theirs")
        let mark = FileName(harmless: "a.bin").mark(for: download.url.absoluteString, job)
        return (mark, try #require(try folder.lock(mark)))
      }
      let held = try made(1)
      guard held.1.note(part: held.0) else { return }
      do {
        let (begun, whole) = (try made(2), try made(3))
        #expect(begun.1.note(part: begun.0))
        try download.note(on: whole.0)
      }
      try setting.folder.write("mine", to: "a.bin~00000000.new.part")
      #expect(setting.folder.names.count == 4)
      #expect(try await setting.fetch(download).file?.wasThere == false)
      #expect(Set(setting.folder.names) == ["a.bin", held.0, "a.bin~00000000.new.part"])
      withExtendedLifetime(held) {}
    }

    @Test func `for second names a folder is read once a second, however many files ask for them`() async throws {
      let clock = setting.jobs.clock
      func fetch(_ file: String) async throws -> Bool {
        let path = setting.folder.path(file)
        server.serve("/\(file)", .file(content, lastModified: "Tue, 14 Nov 2023 22:13:20 GMT"))
        if setting.folder.size(file) == nil {
          try Data(content.bytes).write(to: URL(filePath: path))
          let date = Date(timeIntervalSince1970: 1_700_000_000)
          try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
          #expect(link(path, path + "~00000000.new.part") == 0)
        }
        let found = try await setting.fetch(setting.download(server.url("/\(file)")))
        #expect(found.file?.wasThere == true, "\(found.lastError)")
        return setting.folder.size(file + "~00000000.new.part") == nil
      }
      #expect(try await fetch("a.bin"))
      #expect(try await fetch("b.bin") == false, "it came since")
      clock.advance(by: .seconds(1))
      #expect(try await fetch("b.bin"))
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
