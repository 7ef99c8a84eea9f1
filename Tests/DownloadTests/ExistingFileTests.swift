#if HTTP
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import LyingServer
  import Testing

  @testable import DurableJobsHTTP

  /// What is in the file's place already, and whose it is.
  @Suite struct ExistingFileTests {
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

    @Test func `a file that a download of this store brought is there, and it says so without asking`() async throws {
      let first = try await fetch()
      let second = try await fetch()
      #expect(second.id != first.id)
      #expect(second.state == .succeeded, "\(second.lastError)")
      #expect(first.file?.wasThere == false)
      #expect(second.file?.wasThere == true)
      #expect(second.file?.path == first.file?.path)
      #expect(server.requests.count == 1)
      let third = try await fetch()
      #expect(third.file?.wasThere == true)
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a file that this store brought is there under its name, too, whether that is given or not`()
      async throws
    {
      #expect(try await fetch().state == .succeeded)
      let named = try await setting.fetch(setting.download(server.url("/a.bin"), named: "a.bin"))
      #expect(named.file?.wasThere == true, "\(named.lastError)")
      let other = try await setting.fetch(setting.download(server.url("/a.bin"), named: "b.bin"))
      #expect(other.file?.wasThere == false)
      #expect(server.requests.count == 2)
    }

    @Test func `a file that was changed since is another file`() async throws {
      _ = try await fetch()
      try setting.folder.write("precious", to: "a.bin")
      let job = try await fetch()
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(job.lastError.contains("--overwrite") && job.lastError.contains(setting.folder.path("a.bin")))
      #expect(setting.errors.map(\.code) == [.fileExists])
      #expect(try setting.folder.text("a.bin") == "precious")
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a file of the same size and another time is another file`() async throws {
      _ = try await fetch()
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: setting.folder.path("a.bin"))
      let job = try await fetch()
      #expect(job.state == .failed)
      #expect(setting.errors.map(\.code) == [.fileExists])
    }

    @Test func `a file that is gone is fetched anew`() async throws {
      let first = try await fetch()
      try FileManager.default.removeItem(atPath: setting.folder.path("a.bin"))
      let second = try await fetch()
      #expect(second.id != first.id)
      #expect(second.state == .succeeded, "\(second.lastError)")
      #expect(second.file?.wasThere == false)
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.count == 2)
    }

    @Test func `another download does not take over a file`() async throws {
      _ = try await fetch()
      server.serve("/other/a.bin", .file(changed))
      let job = try await setting.fetch(setting.download(server.url("/other/a.bin")), from: server)
      #expect(job.state == .failed)
      #expect(setting.errors.map(\.code) == [.fileExists])
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test(arguments: [-3600, 0, 3600])
    func `what another download brought since is not replaced, though the clock was set`(step: Int) async throws {
      server.serve("/other/a.bin", .file(changed))
      let downloads = try [server.url("/a.bin"), server.url("/other/a.bin")].map {
        try setting.download($0, overwrites: true)
      }
      try await setting.jobs.queue.enqueue(contentsOf: downloads)
      setting.jobs.clock.stepWallClock(by: .seconds(step))
      #expect(try await setting.fetch(downloads[0]).state == .succeeded)
      let other = try await setting.fetch(downloads[1])
      #expect(other.state == .failed)
      #expect(other.lastError.contains("was brought by another download"), "\(other.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `what another download brought since is not replaced by another spelling of its name`() async throws {
      server.serve("/A.bin", .file(changed))
      let downloads = try ["/a.bin", "/A.bin"].map { try setting.download(server.url($0), overwrites: true) }
      try await setting.jobs.queue.enqueue(downloads[1], options: JobOptions(start: .after(.seconds(60))))
      #expect(try await setting.fetch(downloads[0]).state == .succeeded)
      // As it is where a file system ignores case.
      _ = link(setting.folder.path("a.bin"), setting.folder.path("A.bin"))
      let other = try await setting.fetch(downloads[1])
      #expect(other.state == .failed)
      #expect(other.lastError.contains("was brought by another download"), "\(other.lastError)")
      for name in ["a.bin", "A.bin"] { #expect(try setting.folder.holds(content, as: name)) }
    }

    @Test func `a symbolic link is told as one where a checksum is wanted, and its file's is not taken`() async throws {
      try Data(content.bytes).write(to: URL(filePath: setting.folder.path("b.bin")))
      #expect(symlink("b.bin", setting.folder.path("a.bin")) == 0)
      let job = try await fetch(sha256: content.sha256)
      #expect(job.state == .failed)
      #expect(job.lastError.contains("and is no plain file"), "\(job.lastError)")
    }

    @Test(arguments: [("bob", ""), ("alice", "bob:secret@")], [nil, "\"second\""])
    func `what came for one user is not there for another, unless a tag says so`(
      asked: (second: String, user: String), tag: String?
    ) async throws {
      let (second, user) = asked
      let first = "alice"
      func download(_ cookie: String, _ user: String) throws -> Download {
        let url = server.url("/a.bin").replacing("//", with: "//\(user)")
        return try setting.download(url, headers: [Download.Header("Cookie", "user=\(cookie)")])
      }
      // Two files of one length and one time.
      server.serve("/a.bin", .file(content, etag: tag.map { _ in LyingAnswer.etag }), .file(changed, etag: tag))
      #expect(try await setting.fetch(download(first, "")).state == .succeeded)
      #expect(try await setting.fetch(download(first, "")).file?.wasThere == true)
      #expect(server.requests.count == 1)
      let job = try await setting.fetch(download(second, user))
      #expect(job.state == .failed)
      #expect(setting.errors.map(\.code) == [.fileExists])
      #expect(server.requests.count == 2)
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test(arguments: [false, true]) func `a file whose checksum fits is there, whoever brought it`(overwrites: Bool)
      async throws
    {
      try Data(content.bytes).write(to: URL(filePath: setting.folder.path("a.bin")))
      let job = try await fetch(sha256: content.sha256, overwrites: overwrites)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.file?.wasThere == true)
      #expect(server.requests.isEmpty)
    }

    @Test func `a file whose checksum does not fit stays, unless it may be replaced`() async throws {
      try setting.folder.write("precious", to: "a.bin")
      let refused = try await fetch(sha256: content.sha256)
      #expect(refused.state == .failed)
      #expect(refused.lastError.contains("--overwrite"), "\(refused.lastError)")
      #expect(try setting.folder.text("a.bin") == "precious")
      let replaced = try await fetch(sha256: content.sha256, overwrites: true)
      #expect(replaced.state == .succeeded, "\(replaced.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a file that may be replaced stays until the new one is whole`() async throws {
      try setting.folder.write("precious", to: "a.bin")
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(404), .file(content))
      #expect(try await fetch(overwrites: true).state == .failed)
      #expect(try setting.folder.text("a.bin") == "precious")
      #expect(try await fetch(overwrites: true).state == .succeeded)
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, 300_000])
    }

    #if os(Linux)
      @Test(.enabled(if: geteuid() == 0, "only root may say that a file stays as it is"), arguments: [true, false])
      func `a file that may not be replaced is told of before the first byte`(isNamed: Bool) async throws {
        try setting.folder.write("precious", to: "a.bin")
        guard run("/usr/bin/chattr", "+i", setting.folder.path("a.bin")) else {
          return print("The file system here has no files that stay as they are")
        }
        defer { _ = run("/usr/bin/chattr", "-i", setting.folder.path("a.bin")) }
        let job = try await setting.fetch(
          setting.download(server.url("/a.bin"), named: isNamed ? "a.bin" : nil, overwrites: true))
        #expect(job.state == .failed)
        #expect(job.attempt == 1)
        #expect(setting.errors.map(\.code) == [.fileExists])
        #expect(job.lastError.contains("may not be replaced"), "\(job.lastError)")
        #expect(server.requests.count == (isNamed ? 0 : 1), "the server may know another name")
        #expect(setting.folder.names == ["a.bin"])
        #expect(try setting.folder.text("a.bin") == "precious")
      }

      private func run(_ program: String, _ arguments: String...) -> Bool {
        guard let process = try? Process.run(URL(filePath: program), arguments: arguments) else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
      }
    #endif

    @Test func `a file that comes while the download runs is not replaced`() async throws {
      server.serve("/a.bin", .file(content).holding(after: 500_000))
      let setting = setting
      async let job = setting.fetch(setting.download(server.url("/a.bin")))
      await server.held("/a.bin")
      try setting.folder.write("precious", to: "a.bin")
      server.release()
      #expect(try await job.state == .failed)
      #expect(setting.errors.map(\.code) == [.fileExists])
      #expect(try setting.folder.text("a.bin") == "precious")
    }

    @Test(arguments: [false, true])
    func `a file under a name that the server alone gives is not replaced`(overwrites: Bool) async throws {
      server.serve("/a.bin", .file(content).with("Content-Disposition", "attachment; filename=b.bin"))
      try setting.folder.write("precious", to: "b.bin")
      let job = try await fetch(overwrites: overwrites)
      #expect(job.state == .failed)
      #expect(job.attempt == 1)
      #expect(job.lastError.contains(setting.folder.path("b.bin")), "\(job.lastError)")
      #expect(job.lastError.contains("with --overwrite") && job.lastError.contains("with -O"), "\(job.lastError)")
      #expect(try setting.folder.text("b.bin") == "precious")
      let named = try setting.download(server.url("/a.bin"), named: "b.bin", overwrites: true)
      #expect(try await setting.fetch(named).state == .succeeded)
      #expect(try setting.folder.holds(content, as: "b.bin"))
    }

    @Test(.enabled(if: TestFolder.keepsForms, "here the two names are one"))
    func `a file whose name only looks like the URL's is not replaced`() async throws {
      let theirs = "e\u{301}.txt"
      server.serve("/%C3%A9.txt", .file(content).with("Content-Disposition", "inline; filename*=UTF-8''e%CC%81.txt"))
      try setting.folder.write("precious", to: theirs)
      let job = try await setting.fetch(setting.download(server.url("/%C3%A9.txt"), overwrites: true))
      #expect(job.state == .failed)
      #expect(try setting.folder.text(theirs) == "precious")
    }

    @Test func `a file under its server's name is replaced by the download that brought it`() async throws {
      let disposition = ("Content-Disposition", "attachment; filename=b.bin")
      server.serve(
        "/a.bin", .file(content).with(disposition.0, disposition.1), .file(changed).with(disposition.0, disposition.1))
      #expect(try await fetch().state == .succeeded)
      let job = try await fetch(overwrites: true)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(changed, as: "b.bin"))
    }

    @Test(arguments: ["b.bin", "a.bin"])
    func `what one download brought under a server's name, another that was asked for before does not replace`(
      name: String
    ) async throws {
      let disposition = ("Content-Disposition", "attachment; filename=\(name)")
      server.serve("/1", .file(content).with(disposition.0, disposition.1))
      // The second has that name by its server, too, or by its URL.
      let second = name == "a.bin" ? "/a.bin" : "/2"
      server.serve(second, .file(changed).with(disposition.0, disposition.1))
      let downloads = try ["/1", second].map { try setting.download(server.url($0), overwrites: true) }
      try await setting.jobs.queue.enqueue(contentsOf: downloads)
      let first = try await setting.fetch(downloads[0])
      let other = try await setting.fetch(downloads[1])
      #expect(first.state == .succeeded, "\(first.lastError)")
      #expect(other.state == .failed)
      #expect(other.lastError.contains(setting.folder.path(name)), "\(other.lastError)")
      #expect(try setting.folder.holds(content, as: name))
      guard name == "a.bin" else { return }
      try await setting.jobs.advance(by: .seconds(1))
      let later = try await setting.fetch(downloads[1])
      #expect(later.state == .succeeded, "it was asked for when the other was there: \(later.lastError)")
      #expect(try setting.folder.holds(changed, as: name))
    }

    /// A download has brought `a.bin` under its server's name, and the second, whose URL says that name, is fetched by another
    /// downloader on the same store, as after a new start of the process: it replaces nothing.
    private func isKnownElsewhere(_ setting: Setting) async throws {
      server.serve("/1", .file(content).with("Content-Disposition", "attachment; filename=a.bin"))
      server.serve("/a.bin", .file(changed))
      let downloads = try ["/1", "/a.bin"].map { try setting.download(server.url($0), overwrites: true) }
      let queue = setting.jobs.queue
      let id = try await queue.enqueue(contentsOf: downloads)[1].id
      try await queue.suspend(id)
      #expect(try await setting.fetch(downloads[0]).state == .succeeded)
      Downloader(store: queue.store, environment: [:]).register(with: setting.jobs.worker)
      try await queue.resume(id)
      let other = try await setting.fetch(downloads[1])
      #expect(other.id == id)
      #expect(other.state == .failed)
      #expect(other.lastError.contains(setting.folder.path("a.bin")), "\(other.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `what a download brought under a server's name is known to another process, too`() async throws {
      try await isKnownElsewhere(setting)
    }

    /// As an encryption does it: nobody reads a payload in the store.
    private struct Sealing: JobMiddleware {
      func enqueue(_ job: inout NewJob) throws {
        job.payload = try JSONEncoder().encode(["sealed": job.payload])
      }

      func run(
        _ job: ClaimedJob, context: JobContext, next: @Sendable (ClaimedJob, JobContext) async throws -> Data?
      ) async throws -> Data? {
        var job = job
        job.payload = try JSONDecoder().decode([String: Data].self, from: job.payload)["sealed"] ?? Data()
        return try await next(job, context)
      }
    }

    @Test func `what a download brought whose payload can't be read is not replaced by another`() async throws {
      let setting = try Setting(middleware: [Sealing()])
      try await isKnownElsewhere(setting)
    }

    @Test func `what another process brought since is not replaced by who has replaced files before`() async throws {
      server.serve("/0", .file(content))
      server.serve("/1", .file(content).with("Content-Disposition", "attachment; filename=a.bin"))
      server.serve("/a.bin", .file(changed))
      let (store, worker) = (setting.jobs.queue.store, setting.jobs.worker)
      let processes = (0..<2).map { _ in Downloader(store: store, environment: [:]) }
      processes[0].register(with: worker)
      try setting.folder.write("old", to: "0")
      #expect(try await setting.fetch(setting.download(server.url("/0"), overwrites: true)).state == .succeeded)
      let late = try setting.download(server.url("/a.bin"), overwrites: true)
      let id = try await setting.jobs.queue.enqueue(late).id
      try await setting.jobs.queue.suspend(id)
      processes[1].register(with: worker)
      #expect(try await setting.fetch(setting.download(server.url("/1"))).state == .succeeded)
      processes[0].register(with: worker)
      try await setting.jobs.queue.resume(id)
      let job = try await setting.fetch(late)
      #expect(job.id == id)
      #expect(job.state == .failed)
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test(arguments: [1000, 1_000_000])
    func `what is replaced keeps who may read it, from the first byte that is on the disk`(size: Int64) async throws {
      server.serve("/a.bin", .file(Content(size)).holding(after: size / 2))
      try setting.folder.write("old", to: "a.bin")
      let path = setting.folder.path("a.bin")
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      func permissions(_ path: String) -> Int? {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? NSNumber)?.intValue
      }
      let download = try setting.download(server.url("/a.bin"), overwrites: true)
      async let job = setting.fetch(download)
      await server.held("/a.bin")
      // A small one is in memory.
      if size > Part.smallBytes { try await setting.soon { permissions(path + ".part") == 0o600 } }
      server.release()
      #expect(try await job.state == .succeeded)
      #expect(try setting.folder.holds(Content(size), as: "a.bin"))
      #expect(permissions(path) == 0o600)
    }

    @Test(
      .enabled(if: geteuid() == 0, "only root may give files away"), arguments: [1000, 1_000_000], [true, false])
    func `what is replaced is read by its group, and by no other that a folder gives to what is made in it`(
      size: Int64, isFolders: Bool
    ) async throws {
      server.serve("/a.bin", .file(Content(size)).holding(after: size / 2))
      try setting.folder.write("old", to: "a.bin")
      let path = setting.folder.path("a.bin")
      #expect(chown(setting.folder.url.path, 0, 4711) == 0 && chmod(setting.folder.url.path, 0o2775) == 0)
      #expect(chown(path, 0, isFolders ? 4711 : getegid()) == 0 && chmod(path, 0o640) == 0)
      let permissions = isFolders ? 0o640 : 0o600
      async let job = setting.fetch(setting.download(server.url("/a.bin"), overwrites: true))
      await server.held("/a.bin")
      // A small one is in memory.
      if size > Part.smallBytes {
        try await setting.soon { FileStatus(ofFileAt: path + ".part")?.size ?? 0 > 0 }
        #expect(FileStatus(ofFileAt: path + ".part")?.permissions == permissions)
      }
      server.release()
      #expect(try await job.state == .succeeded)
      #expect(try setting.folder.holds(Content(size), as: "a.bin"))
      #expect(FileStatus(ofFileAt: path)?.group == 4711)
      #expect(FileStatus(ofFileAt: path)?.permissions == permissions)
    }

    @Test(arguments: ["/a.bin", "/a.bin?token=s3cret", "/a.bin by kim"])
    func `what a download brought under its server's name is replaced by it, though the store has forgotten that`(
      way: String
    ) async throws {
      let path = String(way.prefix { $0 != " " })
      func named(_ content: Content, _ tag: String) -> LyingAnswer {
        .file(content, etag: tag).with("Content-Disposition", "attachment; filename=b.bin")
      }
      server.serve("/a.bin", named(content, "\"1\""), named(changed, "\"2\""))
      let headers = way == path ? [] : [Download.Header("Cookie", "kim")]
      func fetch(overwrites: Bool) async throws -> JobSnapshot {
        let store = try Setting(in: setting.folder)
        return try await store.fetch(
          store.download(server.url(path), headers: headers, overwrites: overwrites))
      }
      #expect(try await fetch(overwrites: false).state == .succeeded)
      let job = try await fetch(overwrites: true)
      // Of what may be another user's nothing is known without the store.
      let isReplaced = way == "/a.bin"
      #expect(job.state == (isReplaced ? .succeeded : .failed), "\(job.lastError)")
      #expect(try setting.folder.holds(isReplaced ? changed : content, as: "b.bin"))
    }

    @Test func `what changed since a download brought it under its server's name is not replaced`() async throws {
      let named = LyingAnswer.file(content).with("Content-Disposition", "attachment; filename=b.bin")
      server.serve("/a.bin", named)
      #expect(try await setting.fetch(setting.download(server.url("/a.bin"))).state == .succeeded)
      try setting.folder.write("edited", to: "b.bin")
      let other = try Setting(in: setting.folder)
      let job = try await other.fetch(other.download(server.url("/a.bin"), overwrites: true))
      #expect(job.state == .failed)
      #expect(try setting.folder.text("b.bin") == "edited")
    }

    @Test func `of two stores that replace a file by the same version, the second finds it`() async throws {
      server.serve("/a.bin", .file(content).holding(after: 500_000), .file(content))
      try setting.folder.write("old", to: "a.bin")
      let other = try Setting(in: setting.folder)
      let download = try setting.download(server.url("/a.bin"), overwrites: true)
      async let first = setting.fetch(download)
      await server.held("/a.bin")
      try await setting.arrived(500_000)
      #expect(try await other.attempt(download).state == .scheduled)
      server.release()
      #expect(try await first.state == .succeeded)
      let second = try await other.fetch(download)
      #expect(second.state == .succeeded, "\(second.lastError)")
      #expect(second.file?.wasThere == true)
      #expect(setting.folder.names == ["a.bin"])
    }

    /// How often the store is asked for jobs when a download that came is asked for again, after so many others came.
    private func questions(after count: Int, isNoted: Bool) async throws -> Int {
      let folder = try TestFolder()
      let store = FaultyStore(InMemoryStore(clock: ManualClock()))
      let queue = JobQueue(store: store)
      let download = Download(from: try #require(URL(string: server.url("/a.bin"))), to: folder.url)
      let others = (0..<count).map { number in
        var other = download
        other.name = "other \(number)"
        return other
      }
      let stub = JobWorker(queue)
      stub.register(Download.self) { other, _ in
        DownloadedFile(path: "\(other.folder)/\(other.name ?? "")", size: 1, sha256: nil, modified: 1, wasThere: false)
      }
      _ = try await queue.enqueue(contentsOf: others)
      try await stub.runUntilIdle()
      let worker = JobWorker(queue)
      Downloader(store: store, environment: [:]).register(with: worker)
      _ = try await queue.enqueue(download)
      try await worker.runUntilIdle()
      if !isNoted {
        // A copy has no note, as on a file system without any.
        let path = folder.path("a.bin")
        let time = try #require(FileStatus(ofFileAt: path)).modified
        let bytes = try Data(contentsOf: URL(filePath: path))
        try FileManager.default.removeItem(atPath: path)
        try bytes.write(to: URL(filePath: path))
        let spec = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
        #expect(utimensat(AT_FDCWD, path, [spec, spec], 0) == 0)
      }
      let again = try await queue.enqueue(download)
      let before = store.calls(of: .jobs)
      try await worker.runUntilIdle()
      let questions = store.calls(of: .jobs) - before
      let file = try #require(try await queue.jobs(where: .id(again.id), detail: .all).first?.file)
      #expect(file.wasThere)
      return questions
    }

    @Test(arguments: [true, false])
    func `a file that is noted to be one's own, or has a time of its own, is known without a look through all others`(
      isNoted: Bool
    ) async throws {
      server.serve("/a.bin", .file(Content(1000)))
      #expect(try await questions(after: 1100, isNoted: isNoted) == questions(after: 0, isNoted: isNoted))
    }

    @Test(arguments: [1000, 1_000_000], [nil, 0o777])
    func `what is replaced under its server's name keeps who may read it, from the first byte too`(
      size: Int64, others: Int?
    ) async throws {
      let (old, new) = (Content(size), Content(size, seed: 2))
      func named(_ content: Content, _ tag: String) -> LyingAnswer {
        .file(content, etag: tag).with("Content-Disposition", "attachment; filename=b.bin")
      }
      // The last byte is asked for where something has the URL's name.
      let later = named(new, "\"2\"").ranges(.ignored).holding(after: size / 2)
      server.serve("/a.bin", named(old, "\"1\""), later, later)
      #expect(try await setting.fetch(setting.download(server.url("/a.bin"))).state == .succeeded)
      func permissions(_ name: String) -> Int? { FileStatus(ofFileAt: setting.folder.path(name))?.permissions }
      #expect(chmod(setting.folder.path("b.bin"), 0o600) == 0)
      if let others {
        try setting.folder.write("mine", to: "a.bin")
        #expect(chmod(setting.folder.path("a.bin"), mode_t(others)) == 0)
      }
      async let job = setting.fetch(setting.download(server.url("/a.bin"), overwrites: true))
      await server.held("/a.bin")
      if size > Part.smallBytes {
        try await setting.soon { setting.folder.names.contains { $0.hasSuffix(".part") } }
        let part = try #require(setting.folder.names.first { $0.hasSuffix(".part") })
        #expect(permissions(part) == 0o600)
      }
      server.release()
      let done = try await job
      #expect(done.state == .succeeded, "\(done.lastError)")
      #expect(try setting.folder.holds(new, as: "b.bin"))
      #expect(permissions("b.bin") == 0o600)
    }

    @Test(arguments: [1000, 1_000_000], [false, true])
    func `what changed since the attempt began is not replaced`(size: Int64, wasThere: Bool) async throws {
      server.serve("/a.bin", .file(Content(size)).holding(after: size / 2))
      if wasThere { try setting.folder.write("old", to: "a.bin") }
      let download = try setting.download(server.url("/a.bin"), overwrites: true)
      async let job = setting.fetch(download)
      await server.held("/a.bin")
      try setting.folder.write("edited", to: "a.bin")
      server.release()
      #expect(try await job.state == .failed)
      #expect(setting.errors.map(\.code) == [.fileExists])
      #expect(try setting.folder.text("a.bin") == "edited")
      server.serve("/a.bin", .file(Content(size)))
      #expect(try await setting.fetch(download).state == .succeeded)
      #expect(try setting.folder.holds(Content(size), as: "a.bin"))
    }

    @Test(arguments: [false, true])
    func `what changed since the first attempt is not replaced by a later one`(wasThere: Bool) async throws {
      server.serve("/a.bin", .page(503), .file(content))
      if wasThere { try setting.folder.write("old", to: "a.bin") }
      let download = try setting.download(server.url("/a.bin"), overwrites: true)
      #expect(try await setting.attempt(download).state == .scheduled)
      try setting.folder.write("edited", to: "a.bin")
      let job = try await setting.fetch(download)
      #expect(job.state == .failed)
      #expect(job.lastError.contains("since this one was asked for"), "\(job.lastError)")
      #expect(try setting.folder.text("a.bin") == "edited")
      #expect(try await setting.fetch(download).state == .succeeded)
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    // MARK: Parts

    @Test func `what somebody wrote into a part is not gone on from`() async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(404), .file(content))
      let download = try setting.download(server.url("/a.bin"))
      #expect(try await setting.fetch(download, from: server).state == .failed)
      let part = try FileHandle(forUpdating: URL(filePath: setting.folder.path("a.bin.part")))
      let others = Data(repeating: 1, count: 400_000)
      try part.write(contentsOf: others)
      try part.close()
      #expect(try await setting.fetch(download).state == .failed)
      #expect(setting.errors.last?.code == .fileExists)
      #expect(FileManager.default.contents(atPath: setting.folder.path("a.bin.part")) == others)
    }

    @Test(
      arguments: [(5, nil), (5, "a.bin"), (1_000_000, nil), (1_000_000, "a.bin")] as [(Int64, String?)], [false, true])
    func `a part that nobody knows is left alone, and does not stand in the way of what may replace the file`(
      of: (size: Int64, name: String?), overwrites: Bool
    ) async throws {
      let (size, name) = of
      try setting.folder.write("precious", to: "a.bin.part")
      let file = Content(size)
      server.serve("/a.bin", .file(file))
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), named: name, overwrites: overwrites))
      #expect(try setting.folder.text("a.bin.part") == "precious")
      if overwrites {
        #expect(job.state == .succeeded, "\(job.lastError)")
        #expect(try setting.folder.holds(file, as: "a.bin"))
        #expect(setting.folder.names == ["a.bin", "a.bin.part"])
      } else {
        #expect(job.state == .failed)
        #expect(job.lastError.contains("--overwrite") && job.lastError.contains(setting.folder.path("a.bin.part")))
        #expect(setting.folder.names == ["a.bin.part"])
      }
    }

    @Test(arguments: [nil, "a.bin"] as [String?])
    func `a part of another URL is left alone by what may replace the file, too`(name: String?) async throws {
      server.serve("/other/a.bin", .file(changed).breaking(after: 300_000), .page(404), .file(changed))
      let other = try setting.download(server.url("/other/a.bin"), named: name)
      #expect(try await setting.fetch(other, from: server).state == .failed)
      let download = try setting.download(server.url("/a.bin"), named: name, overwrites: true)
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(404), .file(content))
      #expect(try await setting.fetch(download, from: server).state == .failed)
      #expect(try await setting.fetch(download).state == .succeeded)
      #expect(server.requests("/a.bin").map(\.rangeStart) == [nil, 300_000, 300_000])
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin", "a.bin.part", "a.bin.part.json"])
      #expect(setting.folder.size("a.bin.part") == 300_000)
    }

    @Test(arguments: [8, 300_000, 1_000_000], [nil, "a.bin"] as [String?])
    func `what somebody put under the name of a part is left alone`(size: Int64, name: String?) async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(404), .file(content))
      let download = try setting.download(server.url("/a.bin"), named: name)
      #expect(try await setting.fetch(download, from: server).state == .failed)
      let mine = Content(size, seed: 9)
      try FileManager.default.moveItem(
        atPath: setting.folder.path("a.bin.part"), toPath: setting.folder.path("moved"))
      try Data(mine.bytes).write(to: URL(filePath: setting.folder.path("a.bin.part")))
      let job = try await setting.fetch(download)
      #expect(job.state == .failed)
      #expect(job.lastError.contains(setting.folder.path("a.bin.part")), "\(job.lastError)")
      #expect(try setting.folder.holds(mine, as: "a.bin.part"))
      try FileManager.default.removeItem(atPath: setting.folder.path("a.bin.part"))
      try FileManager.default.moveItem(
        atPath: setting.folder.path("moved"), toPath: setting.folder.path("a.bin.part"))
      #expect(try await setting.fetch(download).state == .succeeded)
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, 300_000])
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a part that was copied to where it is, as from another disk, is gone on with`() async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(404), .file(content))
      #expect(try await fetch().state == .failed)
      let part = setting.folder.path("a.bin.part")
      try FileManager.default.moveItem(atPath: part, toPath: part + "-old")
      try FileManager.default.copyItem(atPath: part + "-old", toPath: part)
      #expect(try await fetch().state == .succeeded)
      #expect(server.requests.map(\.rangeStart) == [nil, 300_000, 300_000])
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a part of another URL is left alone, and does not stand in the way`() async throws {
      server.serve("/other/a.bin", .file(changed).breaking(after: 300_000), .page(404))
      #expect(try await setting.fetch(setting.download(server.url("/other/a.bin")), from: server).state == .failed)
      let job = try await fetch()
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(
        try Content(bytes: changed.bytes(0..<300_000)).firstDifference(inFileAt: setting.folder.path("a.bin.part"))
          == nil)
      #expect(setting.folder.names == ["a.bin", "a.bin.part", "a.bin.part.json"])
    }

    @Test func `under a name that was given, a part of another URL stands in the way`() async throws {
      server.serve("/other/a.bin", .file(changed).breaking(after: 300_000), .page(404))
      let other = try setting.download(server.url("/other/a.bin"), named: "b")
      #expect(try await setting.fetch(other, from: server).state == .failed)
      let job = try await setting.fetch(setting.download(server.url("/a.bin"), named: "b"))
      #expect(job.state == .failed)
      #expect(setting.errors.last?.code == .fileExists)
    }

    @Test(
      .enabled(if: geteuid() == 0, "only root may give files away"), arguments: ["a.bin.part", "a.bin.part.json"],
      [false, true])
    func `what belongs to another user is not taken up, unless the folder does too`(name: String, ownsFolder: Bool)
      async throws
    {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(404), .file(content))
      #expect(try await fetch().state == .failed)
      #expect(chown(setting.folder.path(name), 4711, 4711) == 0)
      if ownsFolder { #expect(chown(setting.folder.url.path, 4711, 4711) == 0) }
      for overwrites in [false, true] {
        let job = try await fetch(overwrites: overwrites)
        guard !ownsFolder else {
          #expect(job.state == .succeeded, "\(job.lastError)")
          break
        }
        #expect(job.state == .failed)
        #expect(job.lastError.contains("another user") && job.lastError.contains(setting.folder.path(name)))
        #expect(setting.errors.last?.code == .fileExists)
        #expect(setting.folder.names == ["a.bin.part", "a.bin.part.json"])
      }
      #expect(server.requests.map(\.rangeStart) == (ownsFolder ? [nil, 300_000, 300_000] : [nil, 300_000]))
    }

    @Test func `a part that was replaced while it grew is not given the file's name`() async throws {
      server.serve("/a.bin", .file(content).holding(after: 300_000))
      async let job = fetch()
      await server.held("/a.bin")
      try await setting.received(300_000)
      try FileManager.default.removeItem(atPath: setting.folder.path("a.bin.part"))
      try setting.folder.write("something else", to: "a.bin.part")
      server.release()
      #expect(try await job.state == .failed)
      #expect(setting.errors.last?.code == .fileExists)
      #expect(!setting.folder.names.contains("a.bin"))
    }

    @Test(arguments: [(100, true), (3_000_000, true), (3_000_000, false)])
    func `a part that somebody else changes while it grows does not become the file`(length: Int64, hasSum: Bool)
      async throws
    {
      server.serve("/a.bin", .file(content).holding(after: 300_000), .file(content))
      let download = try setting.download(server.url("/a.bin"), sha256: hasSum ? content.sha256 : nil)
      async let job = setting.fetch(download)
      await server.held("/a.bin")
      try await setting.received(300_000)
      #expect(truncate(setting.folder.path("a.bin.part"), off_t(length)) == 0)
      server.release()
      let done = try await job
      #expect(done.state == .succeeded)
      #expect(done.lastError.contains("was changed by something else"), "\(done.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `a part that was removed while it grew has the file begin anew`() async throws {
      server.serve("/a.bin", .file(content).holding(after: 300_000), .file(content))
      async let job = fetch()
      await server.held("/a.bin")
      try await setting.received(300_000)
      try FileManager.default.removeItem(atPath: setting.folder.path("a.bin.part"))
      server.release()
      let done = try await job
      #expect(done.state == .succeeded, "\(done.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, nil])
    }

    @Test(arguments: [300_000, 1000])
    func `where the folder was moved away, nothing is told to be in its place`(size: Int64) async throws {
      let away = try TestFolder("away")
      let file = Content(size)
      server.serve("/a.bin", .file(file).holding(after: size / 2))
      async let job = setting.attempt(setting.download(server.url("/a.bin")))
      await server.held("/a.bin")
      try FileManager.default.moveItem(atPath: setting.folder.url.path, toPath: away.path("moved"))
      try FileManager.default.createDirectory(at: setting.folder.url, withIntermediateDirectories: false)
      server.release()
      let ended = try await job
      #expect(ended.state == .failed)
      #expect(setting.errors.map(\.code) == [.unusableFolder])
      #expect(ended.lastError.contains(setting.folder.url.path), "\(ended.lastError)")
      #expect(setting.folder.names == [])
    }

    @Test func `a file that a crash left unsaid is not taken where another checksum is wanted`() async throws {
      #expect(try await fetch().state == .succeeded)
      var status = stat()
      #expect(stat(setting.folder.path("a.bin"), &status) == 0)
      let modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
      let wanted = try setting.download(server.url("/a.bin"), sha256: String(repeating: "0", count: 64))
      let id = try await setting.jobs.queue.enqueue(wanted).id
      let stored = try await setting.jobs.queue.jobs(where: .id(id), detail: .payload).first
      let nonce = try #require(stored.flatMap { Download(of: $0) }?.nonce.text)
      try setting.folder.write(
        """
        {"url":"\(server.url("/a.bin"))","version":{},"isDecoded":false,"highest":0,"whole":{"job":2,"nonce":"\(nonce)",\
        "name":"a.bin","size":\(content.size),"modified":\(modified)}}

        """, to: "a.bin.part.json")
      let job = try await setting.fetch(wanted)
      #expect(job.state == .failed)
      #expect(job.lastError.contains("--overwrite"), "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test(arguments: ["", "{", "{}", "nonsense\n12\n"])
    func `a damaged record loses its part's bytes, and never the file's truth`(record: String) async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(404), .file(content))
      #expect(try await fetch().state == .failed)
      try setting.folder.write(record, to: "a.bin.part.json")
      let job = try await fetch()
      if job.state == .failed {
        #expect(setting.errors.last?.code == .fileExists)
        #expect(try await fetch(overwrites: true).state == .succeeded)
        // Whose it is nobody can say any more.
        #expect(setting.folder.names.contains("a.bin.part"))
      }
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }

    @Test func `a part over which something shorter was written is left alone, and it says so`() async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(404), .file(content))
      #expect(try await fetch().state == .failed)
      let part = try FileHandle(forUpdating: URL(filePath: setting.folder.path("a.bin.part")))
      try part.truncate(atOffset: 0)
      try part.write(contentsOf: Data("precious".utf8))
      try part.close()
      let job = try await fetch()
      #expect(job.state == .failed)
      #expect(
        job.lastError.contains("a.bin.part has 8 bytes, though 300000 came; remove it, or start anew with --overwrite"),
        "\(job.lastError)")
      #expect(try setting.folder.text("a.bin.part") == "precious")
      #expect(try await fetch(overwrites: true).state == .succeeded)
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(try setting.folder.text("a.bin.part") == "precious")
    }

    @Test func `a part that is gone has the file fetched whole`() async throws {
      server.serve("/a.bin", .file(content).breaking(after: 300_000), .page(404), .file(content))
      #expect(try await fetch().state == .failed)
      try FileManager.default.removeItem(atPath: setting.folder.path("a.bin.part"))
      let job = try await fetch()
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "a.bin"))
    }
  }
#endif
