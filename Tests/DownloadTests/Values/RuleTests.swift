#if HTTP
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import Testing

  @testable import DurableJobsHTTP

  @Suite struct RuleTests {
    // MARK: When to come again

    private let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    @Test(
      arguments: [
        ("120", .seconds(120)),
        (" 0 ", .zero),
        ("Sun, 06 Nov 1994 08:51:37 GMT", .seconds(120)),
        ("Sun, 06 Nov 1994 08:00:00 GMT", .zero),
        ("Sunday, 06-Nov-94 08:51:37 GMT", .seconds(120)),
        ("Sun Nov  6 08:51:37 1994", .seconds(120)),
        ("Wed Nov 16 08:49:37 1994", .seconds(86_400)),
        ("99999999", .seconds(86_400)),
        ("-5", nil),
        ("soon", nil),
        ("", nil),
      ] as [(String, Duration?)]) func `Retry-After is seconds or a date, and a day at most`(
        text: String, wait: Duration?
      )
    {
      #expect(RetryAfter.wait(text, now: now) == wait)
    }

    // MARK: Which way

    private func proxy(_ url: String, _ environment: [String: String]) throws -> String? {
      let proxy = try Proxies(environment: environment).proxy(for: try #require(HTTPURL(url)))
      return proxy.map { "\($0.kind) \($0.host):\($0.port)" }
    }

    @Test func `A proxy is chosen by scheme`() throws {
      let both = ["http_proxy": "http://a:1", "https_proxy": "b:2"]
      #expect(try proxy("http://example.org", both) == "http a:1")
      #expect(try proxy("https://example.org", both) == "http b:2")
      #expect(try proxy("https://example.org", ["http_proxy": "http://a:1"]) == nil)
      #expect(try proxy("https://example.org", ["all_proxy": "socks5://c"]) == "socks c:1080")
      #expect(try proxy("http://example.org", [:]) == nil)
    }

    @Test func `HTTP_PROXY in capitals is left alone: a web server sets it from a request`() throws {
      #expect(try proxy("http://example.org", ["HTTP_PROXY": "http://a:1"]) == nil)
      #expect(try proxy("https://example.org", ["HTTPS_PROXY": "http://a:1"]) == "http a:1")
    }

    @Test(arguments: [
      ("example.org", true), (".example.org", true), ("org", true), ("ample.org", false), ("*", true),
      ("other.net, example.org", true), ("example.org:8080", true), ("example.org:80", false), ("", false),
    ]) func `no_proxy names hosts and domains`(list: String, isExempt: Bool) throws {
      let environment = ["http_proxy": "http://a:1", "no_proxy": list]
      #expect(try proxy("http://www.example.org:8080/x", environment) == (isExempt ? nil : "http a:1"))
    }

    @Test func `A variable that is no proxy says so`() {
      #expect(throws: DownloadError.self) { try proxy("http://example.org", ["http_proxy": "ftp://a"]) }
    }

    // MARK: How fast

    @Test func `A speed limit lets through what it says, and saves nothing up`() async throws {
      let clock = ManualClock()
      let speed = SpeedLimit(bytesPerSecond: 1000, clock: clock)
      @Sendable func take(_ bytes: Int) async throws {
        var share = SpeedLimit.Share(of: speed)
        try await share.pass(bytes)
        try await share.settle()
      }
      for _ in 0..<2 {
        let begin = clock.uptime
        async let end: Void = take(500)
        for _ in 0..<10 {
          await clock.timerScheduled()
          clock.advance(by: .milliseconds(50))
        }
        _ = try await end
        #expect(clock.uptime - begin == .milliseconds(500))
        // Time in which nothing came.
        clock.advance(by: .seconds(60))
      }
      async let end: Void = take(49)
      await clock.timerScheduled()
      #expect(clock.timers == [.milliseconds(49)])
      clock.advance(by: .milliseconds(49))
      _ = try await end
    }

    @Test(arguments: [[50_000, 50_000], [50_000, 500], [499, 7, 50_000, 1]])
    func `All who share a speed limit get as much of it, in whatever pieces their bytes come`(pieces: [Int])
      async throws
    {
      let clock = ManualClock()
      let speed = SpeedLimit(bytesPerSecond: 10_000, clock: clock)
      let ends = Lock<[Duration]>([])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for piece in pieces {
          group.addTask {
            var share = SpeedLimit.Share(of: speed)
            for start in stride(from: 0, to: 50_000, by: piece) { try await share.pass(min(piece, 50_000 - start)) }
            try await share.settle()
            ends.withLock { $0.append(clock.uptime) }
          }
        }
        while ends.withLock({ $0.count }) < pieces.count {
          while clock.timers.count + ends.withLock({ $0.count }) < pieces.count { await Task.yield() }
          if let next = clock.timers.min() { clock.advance(by: next) }
        }
        try await group.waitForAll()
      }
      let all = Duration.seconds(5 * pieces.count)
      #expect(ends.withLock { $0 }.last == all)
      #expect(
        ends.withLock { $0 }.allSatisfy { all - $0 < .milliseconds(50 * pieces.count) }, "\(ends.withLock { $0 })")
    }

    // MARK: How slow

    private let limits = Downloader.Limits(minimumBytes: 1000, slowFor: .seconds(30))

    @Test func `A host that is waited for is too slow when the time is over`() {
      let meter = Meter()
      meter.begin(.waiting(for: "a"), at: .seconds(100))
      #expect(meter.stalled(at: .seconds(129), limits) == nil)
      #expect(meter.stalled(at: .seconds(130), limits) == "a")
      meter.begin(.atWork, at: .seconds(130))
      #expect(meter.stalled(at: .seconds(1000), limits) == nil)
    }

    @Test func `Time in which a request has no connection is not the host's, unless there is no end to it`() {
      let meter = Meter()
      meter.begin(.waiting(for: "a"), at: .zero)
      meter.isSent(false, at: .seconds(10))
      #expect(meter.stalled(at: .seconds(54), limits) == nil)
      #expect(meter.stalled(at: .seconds(55), limits) == "a", "15 s are for a connection")
      meter.isSent(true, at: .seconds(50))
      #expect(meter.stalled(at: .seconds(69), limits) == nil)
      #expect(meter.stalled(at: .seconds(70), limits) == "a", "10 s had been awaited")
    }

    @Test func `A connection is too slow if it brings too little of what is awaited of it, look by look`() {
      let meter = Meter()
      meter.begin(.receiving(from: "a", of: nil), at: .zero)
      meter.awaits(at: .zero)
      meter.came(1000, at: .seconds(20))
      meter.awaits(at: .seconds(20))
      #expect(meter.stalled(at: .seconds(29), limits) == nil)
      #expect(meter.stalled(at: .seconds(30), limits) == nil, "it brought enough")
      meter.came(999, at: .seconds(50))
      meter.awaits(at: .seconds(50))
      #expect(meter.stalled(at: .seconds(59), limits) == nil)
      #expect(meter.stalled(at: .seconds(60), limits) == "a")
    }

    @Test func `A trickle is given up at the first look`() {
      let meter = Meter()
      meter.begin(.receiving(from: "a", of: nil), at: .zero)
      meter.awaits(at: .zero)
      meter.came(500, at: .seconds(1))
      meter.awaits(at: .seconds(1))
      #expect(meter.stalled(at: .seconds(29), limits) == nil)
      #expect(meter.stalled(at: .seconds(30), limits) == "a")
    }

    @Test func `Time in which nothing is awaited is not the host's`() {
      let meter = Meter()
      meter.begin(.receiving(from: "a", of: nil), at: .zero)
      for step in 0..<10 {
        let now = Duration.seconds(step * 1000)
        meter.awaits(at: now)
        meter.came(1, at: now + .seconds(2))
        #expect(meter.stalled(at: now + .seconds(999), limits) == nil)
      }
      meter.awaits(at: .seconds(10_000))
      #expect(meter.stalled(at: .seconds(10_009), limits) == nil)
      #expect(meter.stalled(at: .seconds(10_010), limits) == "a", "it took 30 s for 10 bytes")
    }

    // MARK: What is there already

    private func isThere(
      _ size: Int64?, _ modified: TimeInterval?, wasJustModified: Bool = false, skipsExisting: Bool = false
    ) -> Bool {
      // 100 bytes, of a moment in the second 1,000 of 2026.
      ServerFile(
        FileVersion(total: size, wasJustModified: wasJustModified),
        modified: modified.map { Date(timeIntervalSince1970: 1_767_225_600 + $0) }
      ).isThere(size: 100, modified: 1_767_226_600_600_000_000, skipsExisting: skipsExisting)
    }

    @Test func `A file is the server's if size and time are told, and the same to the second`() {
      #expect(isThere(100, 1000))
      #expect(!isThere(101, 1000))
      #expect(!isThere(100, 1001))
      #expect(!isThere(100, 999))
      #expect(!isThere(nil, 1000))
      #expect(!isThere(100, nil))
      #expect(!isThere(100, 1000, wasJustModified: true))
    }

    @Test(arguments: [(1_767_225_599_999_999_999, 1_767_225_599), (-1, -1), (-1_000_000_000, -1)] as [(Int64, Double)])
    func `The last nanosecond of a second is that second's`(modified: Int64, second: TimeInterval) {
      func isThere(_ second: TimeInterval) -> Bool {
        ServerFile(FileVersion(total: 100), modified: Date(timeIntervalSince1970: second))
          .isThere(size: 100, modified: modified, skipsExisting: true)
      }
      #expect(isThere(second))
      #expect(!isThere(second + 1))
    }

    @Test(arguments: [(1, false), (315_532_800, false), (631_151_999, false), (631_152_000, true)] as [(Int64, Bool)])
    func `By a date before there was HTTP no file is the server's`(second: Int64, isThere: Bool) {
      let told = ServerFile(FileVersion(total: 100), modified: Date(timeIntervalSince1970: TimeInterval(second)))
      #expect(told.isThere(size: 100, modified: second * 1_000_000_000, skipsExisting: false) == isThere)
    }

    @Test func `Where what is there is to be skipped, it may be younger, and only what is told counts`() {
      #expect(isThere(100, 1000, skipsExisting: true))
      #expect(isThere(100, 1, skipsExisting: true))
      #expect(!isThere(100, 1001, skipsExisting: true))
      #expect(!isThere(101, 1000, skipsExisting: true))
      #expect(isThere(nil, 1000, skipsExisting: true))
      #expect(!isThere(nil, 1001, skipsExisting: true))
      #expect(isThere(100, nil, skipsExisting: true))
      #expect(isThere(100, 1000, wasJustModified: true, skipsExisting: true))
      #expect(!isThere(100, 1001, wasJustModified: true, skipsExisting: true), "later is later")
      #expect(!isThere(99, nil, skipsExisting: true))
      #expect(isThere(nil, nil, skipsExisting: true))
    }

    @Test func `A download that was stored before files could be skipped is still read`() throws {
      let stored = """
        {"url":"https://example.org/a","folder":"/tmp","headers":[],"overwrites":false,"keepsServerTime":true}
        """
      var download = try JSONDecoder().decode(Download.self, from: Data(stored.utf8))
      #expect(!download.skipsExisting)
      let same = Download(
        from: try #require(URL(string: "https://example.org/a")), to: URL(filePath: "/tmp"), keepsServerTime: true)
      #expect(download == same)
      download.skipsExisting = true
      #expect(try JSONDecoder().decode(Download.self, from: JSONEncoder().encode(download)).skipsExisting)
      #expect(download.identity == same.identity)
      download.skipsExisting = false
      #expect(download == same)
    }

    // MARK: What a record says

    @Test func `A record is read back as it was written`() {
      var record = PartRecord(url: "https://example.org/a")
      record.version = FileVersion(total: 10, entityTag: "\"a\"", lastModified: "then")
      record.name = "b"
      record.inode = 12
      record.flushed = 7
      record.tail = "abcd"
      record.whole = PartRecord.Whole(job: JobID(rawValue: 3), nonce: "n", name: "b", size: 10, modified: 5)
      #expect(PartRecord(record.lines) == record)
    }

    @Test func `The last line of a kind counts, and one without an end does not`() {
      let first = PartRecord(url: "https://example.org/a").lines
      var second = PartRecord(url: "https://example.org/a")
      second.version.total = 9
      #expect(PartRecord(first + Data("5\n8\n".utf8))?.flushed == 8)
      #expect(PartRecord(first + Data("5\n80".utf8))?.flushed == 5)
      let marked = PartRecord(first + Data("5\n8 abcd\n9 ef".utf8))
      #expect(marked?.flushed == 8 && marked?.tail == "abcd")
      #expect(PartRecord(first + Data("8 abcd\n9\n".utf8))?.tail == nil)
      #expect(PartRecord(first + Data("5\n".utf8) + second.lines)?.flushed == 0)
      #expect(PartRecord(first + second.lines.dropLast(3))?.version.total == nil)
      #expect(PartRecord(Data()) == nil)
      #expect(PartRecord(Data("something else\n".utf8)) == nil)
    }

    @Test func `Only what was flushed is trusted, and no more than the file has`() {
      var record = PartRecord(url: "https://example.org/a")
      record.version.total = 100
      record.flushed = 40
      #expect(record.trusted(60) == 40)
      #expect(record.trusted(30) == 30)
      record.flushed = 160
      #expect(record.trusted(160) == 100)
    }

    @Test func `A record that tells the start of the machine is read, and trusts what was flushed alone`() throws {
      let start = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
      let line = """
        {"boot":"\(start?.trimmingCharacters(in: .newlines) ?? "a")","highest":0,"isDecoded":false,"url":"u","version":{}}
        """
      let record = try #require(PartRecord(Data("\(line)\n40\n".utf8)))
      #expect(record.trusted(60) == 40)
    }

    // MARK: What a download is

    @Test func `Its identity is its URL and destination, without credentials, in at most 512 bytes`() throws {
      let folder = URL(filePath: "/tmp")
      let plain = Download(from: try #require(URL(string: "https://example.org/a#b")), to: folder)
      let secret = Download(from: try #require(URL(string: "https://me:pw@example.org/a")), to: folder)
      #expect(plain.identity == "download https://example.org/a -> /tmp/")
      #expect(secret.identity == plain.identity)
      #expect(Download(from: plain.url, to: folder, named: "x").identity == "download https://example.org/a -> /tmp/x")
      let long = Download(from: plain.url.appending(path: String(repeating: "x", count: 600)), to: folder)
      #expect(long.identity.utf8.count <= 512)
      #expect(long.identity.hasPrefix("download "))
    }

    @Test func `A download that was stored by an earlier version is read`() throws {
      let stored = """
        {"folder":"\\/tmp","headers":[],"keepsServerTime":false,"overwrites":true,"url":"https:\\/\\/example.org\\/a"}
        """
      let expected = Download(
        from: try #require(URL(string: "https://example.org/a")), to: URL(filePath: "/tmp"), overwrites: true)
      #expect(try JSONDecoder().decode(Download.self, from: Data(stored.utf8)) == expected)
      var other = expected
      other.acceptsUnknownLength = true
      #expect(try JSONDecoder().decode(Download.self, from: JSONEncoder().encode(other)) == other)
      #expect(other.identity == expected.identity)
    }

    @Test(arguments: [
      ("example.org/a", "write https://example.org/a"), ("ftp://example.org/a", "no http or https"),
      ("https:///a", "names no host"),
    ]) func `A URL that can't be fetched is refused`(url: String, why: String) throws {
      let download = Download(from: try #require(URL(string: url)), to: URL(filePath: "/tmp"))
      let error = #expect(throws: DownloadError.self) { try download.validate() }
      #expect(error?.code == .invalidDownload)
      #expect(error?.message.contains(why) == true)
    }

    @Test func `Only a file that may have come within a time is looked up, and clocks may differ by a minute`() throws {
      let folder = try TestFolder()
      try folder.write("a", to: "a")
      let file = try #require(FileStatus(ofFileAt: folder.path("a")))
      func mayBeYounger(_ age: Int, after seconds: Int) -> Bool {
        let time = Double(file.changed) / 1e9 + Double(seconds)
        return file.mayBeYounger(than: .seconds(age), now: Date(timeIntervalSince1970: time))
      }
      #expect(mayBeYounger(0, after: -100))
      #expect(mayBeYounger(0, after: 59))
      #expect(!mayBeYounger(0, after: 61))
      #expect(mayBeYounger(1000, after: 1059))
      #expect(!mayBeYounger(1000, after: 1061))
      // An older time of its bytes, as with those of a server, is no older name.
      #expect(utimensat(AT_FDCWD, folder.path("a"), [timespec(), timespec()], 0) == 0)
      let renamed = try #require(FileStatus(ofFileAt: folder.path("a")))
      #expect(renamed.modified == 0)
      #expect(renamed.mayBeYounger(than: .zero, now: Date()))
    }

    @Test func `Who waits for a connection to a host gets none while the host has asked for a pause`() async throws {
      let hosts = Hosts(seats: 1, clock: ManualClock())
      var seat: Hosts.Seat?
      if case .seat(let first) = try await hosts.enter("h", patience: .seconds(1)) { seat = first }
      #expect(seat != nil)
      let waits = Gate()
      let second = Task { try await hosts.enter("h", patience: .seconds(1)) { _ in waits.open() } }
      await waits.pass()
      hosts.pause("h", for: .seconds(30))
      seat = nil
      guard case .isPaused(let rest) = try await second.value else {
        Issue.record("it is admitted")
        return
      }
      #expect(rest == .seconds(30))
    }

    @Test(arguments: [true, false])
    func `A path with two dots behind a symbolic link is the one that the system means`(isAbsolute: Bool) throws {
      let folder = try TestFolder("paths")
      try FileManager.default.createDirectory(atPath: folder.path("a/b"), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "a/b")
      try folder.write("right", to: "a/x")
      try folder.write("wrong", to: "x")
      func named(_ path: String) -> URL {
        let base = URL(filePath: folder.url.path, directoryHint: .isDirectory)
        return isAbsolute ? URL(filePath: folder.path(path)) : URL(filePath: path, relativeTo: base)
      }
      let file = named("link/../x")
      let url = try #require(URL(string: "https://example.org/a"))
      let request = SendRequest(
        .post, url, headerFiles: [file], body: .file(inPlace: file), caCertificates: file)
      let copied = try SendRequest.Body.file(file, copiedBeside: InMemoryStore())
      #expect(copied.bytes == Data("right".utf8))
      let download = Download(from: url, to: named("link/.."), caCertificates: file)
      let paths: [String?] = [
        request.headerFiles.first, request.body.fileInPlace, request.caCertificates, download.caCertificates,
        download.folder + "/x",
      ]
      for path in paths {
        #expect(try String(contentsOfFile: #require(path), encoding: .utf8) == "right", "\(path ?? "")")
      }
      #expect(Download(from: url, to: URL(filePath: "/tmp/./no//such/../folder/")).folder == "/tmp/no/folder")
      let here = FileManager.default.currentDirectoryPath
      #expect(Download(from: url, to: URL(filePath: "folder")).folder == here + "/folder")
    }

    @Test func `A checksum, a name, a size or a header that is none is refused`() throws {
      let url = try #require(URL(string: "https://example.org/a"))
      let folder = URL(filePath: "/tmp")
      let digits = String(repeating: "a1", count: 32)
      #expect(throws: Never.self) { try Download(from: url, to: folder, sha256: digits.uppercased()).validate() }
      for bad in [
        Download(from: url, to: folder, sha256: String(digits.dropLast())),
        Download(from: url, to: folder, sha256: String(digits.dropLast()) + "g"),
        Download(from: url, to: folder, named: "a/b"),
        Download(from: url, to: folder, size: -1),
        Download(from: url, to: folder, headers: [Download.Header("A b", "c")]),
        Download(from: url, to: folder, headers: [Download.Header("", "c")]),
        Download(from: url, to: folder, headers: [Download.Header("range", "bytes=5-9")]),
        Download(from: url, to: folder, headers: [Download.Header("If-Range", "\"a\"")]),
        Download(from: url, to: folder, headers: [Download.Header("A", "b\r\nC: d")]),
        Download(from: url, to: folder, headers: [Download.Header("Content-Length", "5")]),
        Download(from: url, to: folder, headers: [Download.Header("connection", "close")]),
      ] {
        #expect(throws: DownloadError.self) { try bad.validate() }
      }
    }
  }
#endif
