#if HTTP
  import DurableJobs
  import DurableJobsSystem
  import Foundation
  import Testing

  @testable import DurableJobsHTTP

  /// A part and its record, without a server.
  @Suite struct PartFileTests {
    let testFolder: TestFolder
    let folder: Folder
    let name = FileName(harmless: "a.bin")
    let job = KnownJob(JobID(rawValue: 7), nonce: "n")
    var mark: String { name.mark(for: "http://example.org/a.bin", job) }
    let download: Download

    init() throws {
      testFolder = try TestFolder()
      folder = try Folder(path: testFolder.url.path)
      download = Download(from: try #require(URL(string: "http://example.org/a.bin")), to: testFolder.url)
    }

    private var owner: FileOwner { FileOwner(download, as: nil) }

    private func part(
      _ url: String = "http://example.org/a.bin", sha256: String? = nil, in folder: Folder? = nil
    ) throws -> PartFile {
      try PartFile(
        name, mark: mark, in: folder ?? self.folder, url: url, sha256: sha256, permissions: nil)
    }

    private func write(_ bytes: String, to part: PartFile) throws {
      try Data(bytes.utf8).withUnsafeBytes { try part.append($0) }
    }

    private func learn(_ tag: String, _ part: PartFile) throws {
      try part.learn(FileVersion(entityTag: tag), serverName: nil, modified: nil, isDecoded: false)
    }

    @Test func `A file that others remove while it is opened is none, and made again`() async throws {
      let isOver = Lock(false)
      let others = Thread { [folder] in while !isOver.value { folder.remove("a") } }
      others.start()
      defer { isOver.withLock { $0 = true } }
      for _ in 0..<20_000 { _ = try folder.lock("a") }
    }

    @Test func `A part whose process was killed before it was marked is one's own, and so it is after the next kill`()
      throws
    {
      do {
        let part = try part()
        try write("12345", to: part)
        try part.flush(5)
      }
      // What is recorded first, and the file that is made then.
      let line = try #require(try testFolder.text("a.bin.part.json").split(separator: "\n").first)
      #expect(!line.contains("inode"))
      try testFolder.write("\(line)\n", to: "a.bin.part.json")
      folder.remove(name.part)
      try testFolder.write("", to: "a.bin.part")
      for _ in 0..<3 { _ = try part() }
    }

    @Test func `A line that a crash cut off harms neither what was said before nor what is said after`() throws {
      do {
        let part = try part()
        try learn("1", part)
        try write("12345", to: part)
        try part.flush(5)
      }
      try testFolder.write(try testFolder.text("a.bin.part.json") + "{\"url\":\"ht", to: "a.bin.part.json")
      do {
        let part = try part()
        #expect(part.record.version.entityTag == "1")
        #expect(part.record.flushed == 5)
        #expect(part.length == 5)
        try learn("2", part)
        try part.flush(5)
      }
      let last = try part()
      #expect(last.record.version.entityTag == "2")
      #expect(last.record.flushed == 5)
    }

    @Test func `What came after the last flush is not trusted, though the machine has not started anew since`() throws {
      do {
        let part = try part()
        try learn("1", part)
        try write("12345", to: part)
        try part.flush(5)
        try write("67890", to: part)
        // As a death leaves it.
        #expect(try testFolder.text("a.bin.part") == "1234567890")
      }
      let next = try part()
      #expect(next.length == 5)
      #expect(try testFolder.text("a.bin.part") == "12345")
    }

    @Test func `What somebody else puts in the place of a part of which nothing was flushed is not taken for it`()
      throws
    {
      let text = "other"
      do {
        let part = try part()
        try learn("1", part)
        try write(String(repeating: "x", count: 300_000), to: part)
      }
      let canBeNoted = Descriptor(open(testFolder.path("a.bin.part"), O_RDONLY)).isNoted(part: "") != nil
      // In place, so that it has the same number.
      try Data(text.utf8).write(to: URL(filePath: testFolder.path("other")))
      try FileManager.default.removeItem(atPath: testFolder.path("a.bin.part"))
      try FileManager.default.moveItem(atPath: testFolder.path("other"), toPath: testFolder.path("a.bin.part"))
      let record = try testFolder.text("a.bin.part.json")
      let number = try #require(PartRecord(Data(record.utf8))?.inode)
      let status = try #require(folder.status(of: "a.bin.part"))
      try testFolder.write(record.replacing("\(number)", with: "\(status.inode)"), to: "a.bin.part.json")
      if canBeNoted {
        #expect(throws: PartFile.Taken.self) { try part() }
        #expect(try testFolder.text("a.bin.part") == text)
      }
    }

    /// Puts another file in the place of the part's bytes, which has the same number, as file systems give it again.
    private func replaceBytes(with text: String) throws {
      try testFolder.write(text, to: "other")
      try FileManager.default.removeItem(atPath: testFolder.path("a.bin.part"))
      try FileManager.default.moveItem(atPath: testFolder.path("other"), toPath: testFolder.path("a.bin.part"))
      let record = try testFolder.text("a.bin.part.json")
      let number = try #require(PartRecord(Data(record.utf8))?.inode)
      let status = try #require(folder.status(of: "a.bin.part"))
      try testFolder.write(
        record.replacing("\"inode\":\(number)", with: "\"inode\":\(status.inode)"), to: "a.bin.part.json")
    }

    private func canBeNoted() throws -> Bool {
      try testFolder.write("", to: "noted")
      defer { folder.remove("noted") }
      return Descriptor(open(testFolder.path("noted"), O_RDONLY)).isNoted(part: "") != nil
    }

    @Test(arguments: [false, true]) func `An empty file of another program under a part's name is not written into`(
      wasFlushed: Bool
    ) throws {
      do {
        let part = try part()
        try learn("1", part)
        try write(String(repeating: "x", count: 300_000), to: part)
        if wasFlushed { try part.flush(300_000) }
      }
      try replaceBytes(with: "")
      guard try canBeNoted() else { return print("No attribute can be set here, by which an empty file is known") }
      #expect(throws: PartFile.Taken.self) { try part() }
      #expect(try testFolder.text("a.bin.part") == "")
    }

    /// Leaves a whole file that was about to be named, and of which nothing was flushed before.
    private func leaveWhole() throws {
      try testFolder.write("precious", to: "a.bin")
      let part = try part()
      try learn("1", part)
      try write(String(repeating: "x", count: 300_000), to: part)
      #expect(try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil) == nil)
    }

    @Test(arguments: [300_000, 5]) func `Another file in the place of one that came whole is told by its last bytes`(
      size: Int
    ) throws {
      try leaveWhole()
      let text = String(repeating: "y", count: size)
      try replaceBytes(with: text)
      #expect(throws: PartFile.Taken.self) { try part() }
      #expect(try testFolder.text("a.bin.part") == text)
    }

    @Test func `A whole file that got no name, and was not flushed before, is one's own as often as one looks`() throws
    {
      try leaveWhole()
      for _ in 1...3 { #expect(try part().length == 0) }
      let part = try part()
      try write(String(repeating: "z", count: 300_000), to: part)
      try part.flush(300_000)
      #expect(testFolder.size("a.bin.part") == 300_000)
    }

    @Test func `An empty file that got no name is one's own as often as one looks`() throws {
      try testFolder.write("precious", to: "a.bin")
      do {
        let part = try part()
        try learn("1", part)
        #expect(try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil) == nil)
      }
      #expect(testFolder.size("a.bin.part") == 0)
      for _ in 1...3 { #expect(try part().length == 0) }
    }

    @Test func `A file that got its name, and was left its part's, keeps the one that it got`() throws {
      do {
        let part = try part()
        try learn("1", part)
        try write(String(repeating: "x", count: 300_000), to: part)
        #expect(try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil) != nil)
      }
      // As a death leaves it between the two.
      #expect(link(testFolder.path("a.bin"), testFolder.path("a.bin.part")) == 0)
      let next = try part()
      #expect(next.length == 0)
      #expect(testFolder.names == ["a.bin"])
      #expect(testFolder.size("a.bin") == 300_000)
    }

    @Test func `A disk that had room for no byte was not filled`() throws {
      let part = try part()
      try part.learn(FileVersion(), serverName: nil, modified: nil, isDecoded: false)
      #expect(part.giveWay() == nil)
      part.settle()
      #expect(testFolder.names == [])
    }

    @Test func `A part that had to start over is one's own, though it is empty`() throws {
      do {
        let part = try part()
        try part.learn(FileVersion(), serverName: nil, modified: nil, isDecoded: false)
        try write(String(repeating: "x", count: 300_000), to: part)
        try part.flush(300_000)
        #expect(part.giveWay() != nil)
      }
      #expect(testFolder.size("a.bin.part") == 0)
      let part = try part()
      #expect(part.length == 0)
      #expect(part.record.shortage?.room == 300_000)
    }

    @Test func `A part that was removed is begun anew in its place`() throws {
      for _ in 1...2 {
        do {
          let part = try part()
          try learn("1", part)
          try write(String(repeating: "x", count: 300_000), to: part)
        }
        try FileManager.default.removeItem(atPath: testFolder.path("a.bin.part"))
      }
      #expect(try part().length == 0)
    }

    @Test(arguments: [nil, 0o640, 0o600]) func `A record is its owner's alone to read, since a URL in it may be signed`(
      permissions: Int?
    ) throws {
      let part = try PartFile(
        FileName(harmless: "a.bin"), mark: "mark", in: Folder(path: testFolder.url.path),
        url: "http://example.org/a.bin?sig=s3cret", sha256: nil,
        permissions: permissions.map(FilePermissions.init))
      try learn("1", part)
      try write("12345", to: part)
      try part.flush(5)
      func permissionsOf(_ name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: testFolder.path(name))
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
      }
      #expect(try permissionsOf("a.bin.part.json") == 0o600)
      if let permissions { #expect(try permissionsOf("a.bin.part") == permissions) }
    }

    @Test func `One has it at a time, and the other is told whose it is`() throws {
      let first = try part()
      try learn("1", first)
      let error = #expect(throws: PartFile.Taken.self) { try part("http://example.org/b.bin") }
      guard case .isHeld(let url) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(url == "http://example.org/a.bin")
      withExtendedLifetime(first) {}
    }

    @Test(arguments: [ENOSYS, ENOTSUP, ENOLCK]) func `Where files can't be locked, nothing is waited for`(number: Int32)
      throws
    {
      let folder = try Folder(
        path: testFolder.url.path,
        locking: { _ in
          errno = number
          return -1
        })
      let part = try part(in: folder)
      try write("12345", to: part)
      let error = #expect(throws: DownloadError.self) { try part.flush(5) }
      #expect(error?.code == .unusableFolder)
      #expect(error?.message.contains("can't lock") == true)
      #expect(testFolder.names == [])
    }

    @Test func `A lock is asked for again where a signal came between`() throws {
      let calls = Lock(0)
      let folder = try Folder(
        path: testFolder.url.path,
        locking: { file in
          calls.withLock { $0 += 1 }
          guard calls.withLock({ $0 }) > 1 else {
            errno = EINTR
            return -1
          }
          return flock(file, LOCK_EX | LOCK_NB)
        })
      let lock = try folder.lock("a.bin.part.json")
      #expect(lock != nil)
      #expect(calls.withLock { $0 } == 2)
      #expect(try folder.lock("a.bin.part.json") == nil, "somebody has it")
    }

    @Test func `A lock on what is removed again and again is given up`() throws {
      let path = testFolder.path("a.bin.part.json")
      let folder = try Folder(
        path: testFolder.url.path,
        locking: { file in
          unlink(path)
          return flock(file, LOCK_EX | LOCK_NB)
        })
      let error = #expect(throws: DownloadError.self) { _ = try folder.lock("a.bin.part.json") }
      #expect(error?.code == .disk)
    }

    @Test func `A part with another name somewhere is not written to`() throws {
      do {
        let part = try part()
        try write("12345", to: part)
        try part.flush(5)
      }
      #expect(link(testFolder.path("a.bin.part"), testFolder.path("elsewhere")) == 0)
      let error = #expect(throws: DownloadError.self) { try part() }
      #expect(error?.code == .fileExists)
      #expect(try testFolder.text("elsewhere") == "12345")
    }

    @Test func `A file that was named before it could be told is known again, as long as it is as it was`() throws {
      do {
        let part = try part()
        try write("12345", to: part)
        try part.flush(5)
        let file = try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil)
        #expect(file?.size == 5)
      }
      func recorded(_ download: Download, by other: Int64 = 7, nonce: String = "n") throws -> DownloadedFile? {
        try PartFile.recorded(name, in: folder, download, by: KnownJob(JobID(rawValue: other), nonce: nonce))?.file
      }
      #expect(try recorded(download)?.size == 5)
      #expect(try recorded(download, by: 8) == nil)
      #expect(try recorded(download, nonce: "m") == nil)
      #expect(try PartFile.recorded(name, in: folder, download, by: job, asker: Asker(own: "another")) == nil)
      var other = download
      other.size = 6
      #expect(try recorded(other) == nil)
      other = download
      other.sha256 = String(repeating: "0", count: 64)
      #expect(try recorded(other) == nil)
      other.sha256 = "5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5"
      #expect(try recorded(other)?.sha256 == other.sha256)
      other = download
      other.overwrites = true
      #expect(try recorded(other) != nil)
      try testFolder.write("54321", to: "a.bin")
      #expect(try recorded(download) == nil)
    }

    @Test(arguments: [5, 300_000]) func `What is noted on a file is on the disk before its name is`(size: Int) throws {
      let noted = Lock<[Bool]>([])
      let unwatched = self.folder
      let owner = self.owner
      let folder = try Folder(
        path: testFolder.url.path,
        flushing: { file, path in
          let name = (path as NSString).lastPathComponent
          if name.hasSuffix(".part"), let status = unwatched.status(of: name) {
            let isOwn = if case .isOwn = unwatched.noted(name, status, for: owner) { true } else { false }
            noted.withLock { $0.append(isOwn) }
          }
          try file.flush(path)
        })
      let part = try part(in: folder)
      try write(String(repeating: "x", count: size), to: part)
      let date = Date(timeIntervalSince1970: 1_700_000_000)
      #expect(try part.finish(as: name, by: job, of: owner, modified: date, sha256: nil, replacing: nil) != nil)
      #expect(noted.withLock { $0 } == [true], "flushed once, with what is noted")
      let status = try #require(unwatched.status(of: "a.bin"))
      #expect(unwatched.noted("a.bin", status, for: owner).isNamed("a.bin"))
    }

    @Test func `Nothing is cut off a file that has its name, whatever fails then`() throws {
      let fails = Lock(false)
      let folder = try Folder(
        path: testFolder.url.path,
        flushing: { file, path in
          if fails.withLock({ $0 }) { throw DownloadError(.disk, "can't flush \(path)") }
          try file.flush(path)
        })
      let part = try part(in: folder)
      try write(String(repeating: "x", count: 300_000), to: part)
      #expect(try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil) != nil)
      fails.withLock { $0 = true }
      part.settle()
      #expect(testFolder.size("a.bin") == 300_000)
    }

    @Test(arguments: [5, 300_000]) func `Who has named a file is known, until it is stored`(size: Int) throws {
      let part = try part()
      try write(String(repeating: "x", count: size), to: part)
      _ = try part.finish(
        as: FileName(harmless: "b.bin"), by: job, of: owner, modified: nil, sha256: nil, replacing: nil)
      let status = try #require(folder.status(of: "b.bin"))
      func isNamed(_ name: String, by other: Int64 = 7) -> Bool {
        PartFile.isNamed(
          FileName(harmless: name), status, in: folder, download, by: KnownJob(JobID(rawValue: other), nonce: "n"))
      }
      #expect(isNamed("b.bin"))
      #expect(!isNamed("b.bin", by: 8))
    }

    @Test func `The permissions of a file that only has a part's name stay as they are`() throws {
      do {
        let part = try part()
        try write("12345", to: part)
        try part.flush(5)
      }
      try FileManager.default.removeItem(atPath: testFolder.path("a.bin.part"))
      try testFolder.write("a letter of somebody", to: "a.bin.part")
      #expect(chmod(testFolder.path("a.bin.part"), 0o600) == 0)
      #expect(throws: PartFile.Taken.self) {
        try PartFile(
          name, mark: mark, in: folder, url: "http://example.org/a.bin", sha256: nil,
          permissions: FilePermissions(0o644))
      }
      #expect(folder.status(of: "a.bin.part")?.permissions == 0o600)
    }

    @Test func `What came while the whole file was flushed is not replaced`() throws {
      let final = testFolder.path("a.bin")
      try testFolder.write("old", to: "a.bin")
      let folder = try Folder(
        path: testFolder.url.path,
        flushing: { file, path in
          try file.flush(path)
          if path.hasSuffix(".json") { try Data("edited".utf8).write(to: URL(filePath: final)) }
        })
      let part = try part(in: folder)
      try write("12345", to: part)
      let old = folder.status(of: "a.bin")
      #expect(try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: old) == nil)
      #expect(try testFolder.text("a.bin") == "edited")
    }

    @Test func `A file that comes under a part's name while its record is made is nobody's part`() throws {
      let bytes = testFolder.path("a.bin.part")
      let folder = try Folder(
        path: testFolder.url.path,
        flushing: { file, path in
          try file.flush(path)
          try Data("precious".utf8).write(to: URL(filePath: bytes))
        })
      let part = try part(in: folder)
      try write("12345", to: part)
      #expect(throws: PartFile.Taken.self) { try part.flush(5) }
      #expect(testFolder.names == ["a.bin.part"])
      #expect(try testFolder.text("a.bin.part") == "precious")
    }

    @Test(arguments: [#"{"my":"precious"}"#, "{", "x", #"{"highest":0,"isDec"#, #"{"asker":"5a"#])
    func `A record is one that was being written only if it begins as one does`(text: String) throws {
      try testFolder.write(text, to: "a.bin.part.json")
      guard text == "{" || text.hasPrefix(#"{"highest":"#) || text.hasPrefix(#"{"asker":"#) else {
        #expect(throws: PartFile.Taken.self) { try self.part() }
        #expect(try testFolder.text("a.bin.part.json") == text)
        return
      }
      let part = try part()
      try write("12345", to: part)
      try part.flush(5)
      #expect(PartRecord(Data(try testFolder.text("a.bin.part.json").utf8))?.flushed == 5)
    }

    @Test func `What came anew and is not the file leaves what it was to replace, though that was in memory`() throws {
      let file = try part()
      for (version, bytes) in [(FileVersion(total: 9, entityTag: "\"1\""), "12345"), (FileVersion(total: 4), "busy")] {
        #expect(try file.begin(version, mayTurn: true))
        try file.learn(version, serverName: nil, modified: nil, isDecoded: false)
        try write(bytes, to: file)
      }
      file.takeBack()
      #expect(file.length == 5)
      file.settle()
      #expect(["a.bin.part", "a.bin~new.part"].compactMap { try? testFolder.text($0) } == ["12345"])
    }

    @Test func `A time that no file can have is none`() throws {
      let far = Date(timeIntervalSince1970: 1e300)
      let file = try #require(try folder.lock("a.bin"))
      #expect(try file.set(modified: far, "a.bin") == nil)
      let told = ServerFile(FileVersion(total: 5), modified: far)
      #expect(!told.isThere(size: 5, modified: 0, skipsExisting: false))
    }

    @Test(.enabled(if: geteuid() == 0, "only root may give files away"))
    func `In a folder of everybody's, nothing that is told of another user's file is believed`() throws {
      try testFolder.write("12345", to: "a.bin")
      #expect(chown(testFolder.path("a.bin"), 12345, 12345) == 0)
      let status = try #require(folder.status(of: "a.bin"))
      #expect(folder.isBelieved(status))
      #expect(chmod(testFolder.url.path, 0o1777) == 0)
      #expect(!(try Folder(path: testFolder.url.path)).isBelieved(status))
    }

    @Test(arguments: ["1234", "123456"]) func `A part that somebody else changed gets no name, and goes`(text: String)
      throws
    {
      let part = try part()
      try write("12345", to: part)
      try part.flush(5)
      let file = try FileHandle(forUpdating: URL(filePath: testFolder.path("a.bin.part")))
      try file.truncate(atOffset: 0)
      try file.write(contentsOf: Data(text.utf8))
      let error = #expect(throws: DownloadError.self) {
        try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil)
      }
      #expect(error?.code == .disk)
      #expect(testFolder.names == [])
    }

    @Test(arguments: ["a.bin.part", "a.bin.part.json"])
    func `A file that took the place of a part is not removed with it`(place: String) throws {
      let part = try part()
      try write("12345", to: part)
      try part.flush(5)
      try FileManager.default.removeItem(atPath: testFolder.path(place))
      try testFolder.write("precious", to: place)
      part.discard()
      #expect(testFolder.names == [place])
      #expect(try testFolder.text(place) == "precious")
    }

    @Test(arguments: [true, false]) func `A record that somebody has taken over stays when its job's success is stored`(
      isHeld: Bool
    ) throws {
      do {
        let part = try part()
        try write("12345", to: part)
        try part.flush(5)
        _ = try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil)
      }
      let (_, record) = try #require(try PartFile.recorded(name, in: folder, download, by: job))
      let proof = Transfer.NamingProof(folder: folder, mark: mark, record: (record, job))
      var other = isHeld ? try folder.lock(record) : nil
      if !isHeld {
        try testFolder.write(String(decoding: PartRecord(url: "http://other/").lines, as: UTF8.self), to: record)
      }
      proof.remove()
      #expect(testFolder.names == ["a.bin", record])
      if isHeld {
        other = nil
        proof.remove()
        #expect(testFolder.names == ["a.bin"])
      }
      withExtendedLifetime(other) {}
    }

    @Test func `Room beyond all numbers is room`() {
      var disk = statvfs()
      (disk.f_frsize, disk.f_blocks, disk.f_bavail) = (4096, 1000, 500)
      #expect(DiskRoom(disk)?.free == 2_048_000)
      #expect(DiskRoom(disk)?.reserve == 512_000)
      disk.f_bavail = .max
      #expect(DiskRoom(disk) == nil)
      disk.f_frsize = 1
      #expect(DiskRoom(disk)?.free == .max)
    }

    @Test(arguments: [#"{"room":9223372036854775807,"rounds":1}"#, #"{"room":5,"rounds":9223372036854775807}"#])
    func `A record with a number that can't be is none`(shortage: String) {
      let text = #"{"highest":0,"isDecoded":false,"shortage":\#(shortage),"url":"http://h/","version":{}}"# + "\n"
      #expect(PartRecord(Data(text.utf8)) == nil)
      let right = text.replacing(shortage, with: #"{"room":5,"rounds":1}"#)
      #expect(PartRecord(Data(right.utf8))?.shortage?.room == 5)
    }

    @Test(arguments: [-1, 101, Int.max]) func `A record that tells of a text more often than anybody counts is none`(
      times: Int
    ) throws {
      var record = PartRecord(url: "http://example.org/a.bin")
      record.text = PartRecord.Text(mark: "m", times: times)
      #expect(PartRecord(record.lines) == nil)
      record.text?.times = 100
      #expect(PartRecord(record.lines) == record)
    }

    @Test func `An empty file that has its name keeps its record until its success is stored`() throws {
      try testFolder.write("old", to: "a.bin")
      let part = try part()
      let old = folder.status(of: "a.bin")
      #expect(try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: old) != nil)
      part.settle()
      #expect(testFolder.names == ["a.bin", "a.bin.part.json"])
      #expect(testFolder.size("a.bin") == 0)
    }

    @Test func `A part that somebody else cut while it grows gets no hole, and goes`() throws {
      let part = try part()
      try learn("1", part)
      try write("12345", to: part)
      try part.flush(5)
      #expect(truncate(testFolder.path("a.bin.part"), 2) == 0)
      let error = #expect(throws: DownloadError.self) { try write("67890", to: part) }
      #expect(error?.code == .disk)
      part.settle()
      #expect(testFolder.names == [])
    }

    @Test func `A part that somebody else cut before it was flushed goes, too`() throws {
      let part = try part()
      try learn("1", part)
      try write("12345", to: part)
      try part.flush(5)
      try write("67890", to: part)
      #expect(truncate(testFolder.path("a.bin.part"), 7) == 0)
      let error = #expect(throws: DownloadError.self) { try part.flush(10) }
      #expect(error?.message.contains("changed by something else") == true, "\(error?.message ?? "")")
      part.settle()
      #expect(testFolder.names == [])
    }

    @Test func `A checksum is of the bytes in the file, and no others get its name`() throws {
      let part = try part(sha256: "5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5")
      try write("12345", to: part)
      try part.flush(5)
      let file = try FileHandle(forUpdating: URL(filePath: testFolder.path("a.bin.part")))
      #expect(try part.checksum() == part.record.sha256)
      // To the second, as some file systems have it.
      #expect(futimens(file.fileDescriptor, [timespec(), timespec()]) == 0)
      try file.write(contentsOf: Data("1".utf8))
      #expect(throws: DownloadError.self) {
        try part.finish(as: name, by: job, of: owner, modified: nil, sha256: part.record.sha256, replacing: nil)
      }
      #expect(testFolder.names == [])
      let next = try self.part(sha256: part.record.sha256)
      try write("12345", to: next)
      try next.flush(5)
      let other = try FileHandle(forUpdating: URL(filePath: testFolder.path("a.bin.part")))
      try other.write(contentsOf: Data("x".utf8))
      #expect(try next.checksum() != next.record.sha256)
    }

    @Test func `A checksum is of the bytes that are there, whatever a record or a time says`() throws {
      var download = download
      download.sha256 = "5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5"
      do {
        let part = try part(sha256: download.sha256)
        try write("12345", to: part)
        try part.flush(5)
        #expect(
          try part.finish(as: name, by: job, of: owner, modified: nil, sha256: part.checksum(), replacing: nil)?.sha256
            == download.sha256)
      }
      func recorded() throws -> DownloadedFile? { try PartFile.recorded(name, in: folder, download, by: job)?.file }
      #expect(try recorded() != nil)
      var status = stat()
      #expect(stat(testFolder.path("a.bin"), &status) == 0)
      try testFolder.write("54321", to: "a.bin")
      #expect(utimensat(AT_FDCWD, testFolder.path("a.bin"), [status.st_atim, status.st_mtim], 0) == 0)
      #expect(try recorded() == nil)
      download.sha256 = nil
      #expect(try recorded() == nil, "its last bytes are others")
    }

    @Test func `A file that was named from the part of a second version is known again, and the first one's part goes`()
      throws
    {
      let first = ["a.bin.part", "a.bin.part.json"]
      func tagged(_ tag: String) -> FileVersion { FileVersion(total: 1_000_000, entityTag: "\"\(tag)\"") }
      do {
        let part = try part()
        try part.learn(tagged("1"), serverName: nil, modified: nil, isDecoded: false)
        try write("12345", to: part)
        try part.flush(5)
        #expect(try part.begin(tagged("2"), mayTurn: true))
        try part.learn(tagged("2"), serverName: nil, modified: nil, isDecoded: false)
        try write("67", to: part)
        try part.flush(2)
        let kept = try first.map { try testFolder.text($0) }
        #expect(try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil)?.size == 2)
        #expect(testFolder.names == ["a.bin", "a.bin~new.part.json"])
        // As a death leaves it that comes just before they go.
        for (name, text) in zip(first, kept) { try testFolder.write(text, to: name) }
      }
      let found = try #require(try PartFile.recorded(name, in: folder, download, by: job))
      #expect(found.file.size == 2)
      #expect(found.record == "a.bin~new.part.json")
      #expect(testFolder.names == ["a.bin", "a.bin~new.part.json"])
    }

    // MARK: Flushes that fail

    /// A folder whose disk refuses to flush what is named so, as long as `isBroken`.
    private func brokenFolder(_ name: String, _ isBroken: Lock<Bool>) throws -> Folder {
      try Folder(path: testFolder.url.path) { file, path in
        guard isBroken.withLock({ $0 }), path.hasSuffix(name) else { return try file.flush(path) }
        errno = EIO
        throw DownloadError.disk("flush", path)
      }
    }

    @Test(arguments: [".part", ".part.json"], [false, true])
    func `What came after the last good flush is cut off where one failed, also if the process dies`(
      name: String, dies: Bool
    ) throws {
      let isBroken = Lock(false)
      do {
        let part = try part(in: try brokenFolder(name, isBroken))
        try part.learn(FileVersion(total: 1_000_000), serverName: nil, modified: nil, isDecoded: false)
        try write("12345", to: part)
        try part.flush(5)
        try write("67890", to: part)
        isBroken.withLock { $0 = true }
        #expect(throws: DownloadError.self) { try part.flush(10) }
        // The next one finds nothing wrong, for what was lost is forgotten.
        isBroken.withLock { $0 = false }
        #expect(throws: DownloadError.self) { try part.flush(10) }
        #expect(throws: DownloadError.self) { try write("x", to: part) }
        #expect(throws: DownloadError.self) {
          try part.finish(as: self.name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil)
        }
        if !dies {
          part.settle()
          #expect(try testFolder.text("a.bin.part") == "12345")
        }
      }
      let next = try part()
      #expect(next.length == 5)
      #expect(next.record.flushed == 5)
      #expect(try testFolder.text("a.bin.part") == "12345")
      try write("abc", to: next)
      try next.flush(8)
      #expect(try testFolder.text("a.bin.part") == "12345abc")
    }

    @Test func `What is cut off is no more in the record before it is gone, also if the process dies between`() throws {
      let isBroken = Lock(false)
      do {
        let part = try part(in: try brokenFolder(".part.json", isBroken))
        try learn("1", part)
        try write("12345", to: part)
        try part.flush(5)
        isBroken.withLock { $0 = true }
        #expect(throws: DownloadError.self) { try part.dropLastByte() }
        #expect(try testFolder.text("a.bin.part") == "12345", "it is said before it is done")
      }
      let next = try part()
      #expect(next.length == 4)
      #expect(try testFolder.text("a.bin.part") == "1234")
    }

    @Test func `A flush that failed at the end gives the file no name, and then what was flushed is left`() throws {
      let isBroken = Lock(false)
      let part = try part(in: try brokenFolder(".part", isBroken))
      try part.learn(FileVersion(total: 1_000_000), serverName: nil, modified: nil, isDecoded: false)
      try write("12345", to: part)
      try part.flush(5)
      try write("67890", to: part)
      isBroken.withLock { $0 = true }
      for _ in 0..<2 {
        #expect(throws: DownloadError.self) {
          try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil)
        }
        isBroken.withLock { $0 = false }
      }
      part.settle()
      #expect(testFolder.names == ["a.bin.part", "a.bin.part.json"])
      #expect(try testFolder.text("a.bin.part") == "12345")
    }

    @Test func `A flush that fails before the first good one leaves nothing`() throws {
      let part = try part(in: try brokenFolder(".part", Lock(true)))
      try part.learn(FileVersion(total: 1_000_000), serverName: nil, modified: nil, isDecoded: false)
      try write("12345", to: part)
      part.settle()
      #expect(testFolder.names == [])
    }

    @Test func `A small file whose second name can't be flushed is still in memory, and becomes a part`() throws {
      let isBroken = Lock(true)
      let part = try part(in: try brokenFolder(".new.part", isBroken))
      try part.learn(FileVersion(total: 5), serverName: nil, modified: nil, isDecoded: false)
      try write("12345", to: part)
      #expect(throws: DownloadError.self) {
        try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil)
      }
      part.settle()
      #expect(testFolder.names == ["a.bin.part", "a.bin.part.json"])
      #expect(try testFolder.text("a.bin.part") == "12345")
      #expect(part.record.flushed == 5)
    }

    // MARK: Small files

    @Test func `A small file is on the disk only under its name, and under a second one until that is stored`() throws {
      let part = try part()
      try part.learn(FileVersion(total: 5), serverName: nil, modified: nil, isDecoded: false)
      try write("12345", to: part)
      #expect(testFolder.names == [])
      let modified = Date(timeIntervalSince1970: 1_700_000_000)
      let file = try part.finish(as: name, by: job, of: owner, modified: modified, sha256: nil, replacing: nil)
      #expect(file?.size == 5)
      #expect(file?.modified == 1_700_000_000_000_000_000)
      #expect(testFolder.names == ["a.bin", mark])
      func marked(_ download: Download) throws -> DownloadedFile? {
        try PartFile.marked(mark, as: name, in: folder, download)
      }
      #expect(try marked(download) == file)
      var other = download
      other.size = 6
      #expect(try marked(other) == nil)
      other = download
      other.sha256 = String(repeating: "0", count: 64)
      #expect(try marked(other) == nil)
      other.sha256 = "5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5"
      #expect(try marked(other)?.sha256 == other.sha256)
      #expect(try PartFile.marked(mark, as: nil, in: folder, download) == file)
      #expect(rename(testFolder.path("a.bin"), testFolder.path("mine")) == 0)
      #expect(try PartFile.marked(mark, as: nil, in: folder, download) == nil, "no server has called it so")
      #expect(try marked(download) == nil)
    }

    @Test func `Where there can be no second name, what came between is not replaced`() throws {
      try testFolder.write("new", to: "a.bin.part")
      try testFolder.write("mine", to: "a.bin")
      #expect(try folder.renameToFree("a.bin.part", to: "a.bin") == false)
      #expect(try testFolder.text("a.bin") == "mine")
      #expect(try testFolder.text("a.bin.part") == "new")
      #expect(try folder.renameToFree("a.bin.part", to: "b.bin") == true)
      #expect(try testFolder.text("b.bin") == "new")
      // A folder can't have a second name anywhere.
      try FileManager.default.createDirectory(atPath: testFolder.path("c"), withIntermediateDirectories: false)
      try FileManager.default.createDirectory(atPath: testFolder.path("d"), withIntermediateDirectories: false)
      #expect(try !folder.rename("c", to: "d", replacing: false))
      #expect(try folder.rename("c", to: "e", replacing: false))
      #expect(testFolder.names == ["a.bin", "b.bin", "d", "e"])
    }

    @Test func `A name that was given before it could be told is given`() throws {
      try testFolder.write("new", to: "a.bin.part")
      #expect(try folder.link("a.bin.part", to: "a.bin") == .done)
      #expect(try folder.link("a.bin.part", to: "a.bin") == .done)
      #expect(try folder.rename("a.bin.part", to: "a.bin", replacing: false))
      #expect(testFolder.names == ["a.bin"])
      try testFolder.write("new", to: "a.bin.part")
      #expect(try folder.link("a.bin.part", to: "a.bin") == .isTaken)
    }

    @Test(.enabled(if: geteuid() == 0, "only root may give files away"))
    func `A file of another user is not known by a second name`() throws {
      try testFolder.write("12345", to: "a.bin")
      try download.note(on: "a.bin")
      #expect(link(testFolder.path("a.bin"), testFolder.path(mark)) == 0)
      #expect(try PartFile.marked(mark, as: name, in: folder, download) != nil)
      #expect(chown(testFolder.path("a.bin"), 4711, 4711) == 0)
      #expect(try PartFile.marked(mark, as: name, in: folder, download) == nil)
    }

    @Test func `A second name is of one URL and one job, and short enough`() {
      #expect(mark.wholeMatch(of: #/a\.bin~[0-9a-f]{8}\.new\.part/#) != nil)
      #expect(name.mark(for: "http://example.org/a.bin", KnownJob(JobID(rawValue: 8), nonce: "n")) != mark)
      #expect(name.mark(for: "http://example.org/b.bin", job) != mark)
      #expect(name.mark(for: "http://example.org/a.bin", KnownJob(job.id, nonce: "m")) != mark)
      let long = FileName(harmless: String(repeating: "x", count: 300))
      #expect(long.mark(for: "http://example.org/a.bin", job).utf8.count <= 255)
    }

    @Test func `A second name of a file that somebody moved away is dropped, and not written to`() throws {
      for text in ["12345", "67890"] {
        let part = try part()
        try part.learn(FileVersion(total: 5), serverName: nil, modified: nil, isDecoded: false)
        try write(text, to: part)
        #expect(
          try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil) != nil)
        if text == "12345" { #expect(rename(testFolder.path("a.bin"), testFolder.path("mine")) == 0) }
      }
      #expect(try testFolder.text("mine") == "12345")
      #expect(try testFolder.text("a.bin") == "67890")
    }

    @Test func `A small file whose name was taken meanwhile gets none, and leaves nothing`() throws {
      let part = try part()
      try part.learn(FileVersion(total: 5), serverName: nil, modified: nil, isDecoded: false)
      try write("12345", to: part)
      try testFolder.write("mine", to: "a.bin")
      #expect(try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil) == nil)
      #expect(try testFolder.text("a.bin") == "mine")
      #expect(testFolder.names == ["a.bin"])
    }

    @Test func `Where there can be no second name, a small file comes as a large one does`() throws {
      try FileManager.default.createDirectory(
        at: testFolder.url.appending(path: mark), withIntermediateDirectories: false)
      let part = try part()
      try part.learn(FileVersion(total: 5), serverName: nil, modified: nil, isDecoded: false)
      try write("12345", to: part)
      #expect(try part.finish(as: name, by: job, of: owner, modified: nil, sha256: nil, replacing: nil)?.size == 5)
      #expect(try testFolder.text("a.bin") == "12345")
      #expect(testFolder.names.contains("a.bin.part.json"))
    }

    @Test func `A second name is dropped, but not one that is being written`() throws {
      try testFolder.write("12345", to: mark)
      let writer = try #require(try folder.lock(mark))
      folder.drop(mark)
      #expect(testFolder.names == [mark])
      #expect(try folder.link(mark, to: "a.bin") == .done)
      folder.drop(mark)
      #expect(testFolder.names == ["a.bin"])
      withExtendedLifetime(writer) {}
      try testFolder.write("12345", to: mark)
      folder.drop(mark)
      #expect(testFolder.names == ["a.bin"])
    }

    @Test func `Two that begin at once: the one whose files come first has them`() throws {
      let parts = [try part(), try part()]
      for part in parts { try write("12345", to: part) }
      try parts[0].flush(5)
      #expect(throws: PartFile.Taken.self) { try parts[1].flush(5) }
      #expect(parts[1].length == 5)
      #expect(try testFolder.text("a.bin.part") == "12345")
    }

    @Test func `What is given up in memory is given up`() throws {
      let part = try part()
      try write("12345", to: part)
      part.discard()
      #expect(part.length == 0)
      #expect(testFolder.names == [])
    }
  }
#endif
