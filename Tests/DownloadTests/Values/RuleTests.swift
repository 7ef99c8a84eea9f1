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

    @Test func `A speed limit lets through what it says, for all who share it`() async throws {
      let clock = ManualClock()
      let speed = SpeedLimit(bytesPerSecond: 1000, clock: clock)
      async let first = speed.pass(500)
      await clock.timerScheduled()
      #expect(clock.timers == [.milliseconds(500)])
      clock.advance(by: .milliseconds(200))
      async let second = speed.pass(1500)
      while clock.timers.count < 2 { await Task.yield() }
      #expect(clock.timers == [.milliseconds(300), .milliseconds(1800)])
      clock.advance(by: .milliseconds(1800))
      _ = try await (first, second)
      // Time in which nothing came is not saved up.
      clock.advance(by: .seconds(60))
      async let third = speed.pass(1000)
      await clock.timerScheduled()
      #expect(clock.timers == [.seconds(1)])
      clock.advance(by: .seconds(1))
      #expect(try await third == .seconds(1))
    }

    // MARK: What a record says

    @Test func `A record is read back as it was written`() {
      var record = PartRecord(url: "https://example.org/a")
      record.version = FileVersion(total: 10, entityTag: "\"a\"", lastModified: "then")
      record.name = "b"
      record.boot = "c"
      record.flushed = 7
      record.whole = PartRecord.Whole(job: JobID(rawValue: 3), name: "b", size: 10, modified: 5, sha256: "ff")
      #expect(PartRecord(record.lines) == record)
    }

    @Test func `The last line of a kind counts, and one without an end does not`() {
      let first = PartRecord(url: "https://example.org/a").lines
      var second = PartRecord(url: "https://example.org/a")
      second.version.total = 9
      #expect(PartRecord(first + Data("5\n8\n".utf8))?.flushed == 8)
      #expect(PartRecord(first + Data("5\n80".utf8))?.flushed == 5)
      #expect(PartRecord(first + Data("5\n".utf8) + second.lines)?.flushed == 0)
      #expect(PartRecord(first + second.lines.dropLast(3))?.version.total == nil)
      #expect(PartRecord(Data()) == nil)
      #expect(PartRecord(Data("something else\n".utf8)) == nil)
    }

    @Test func `After a restart of the machine only what was flushed is trusted`() {
      var record = PartRecord(url: "https://example.org/a")
      record.version.total = 100
      record.flushed = 40
      record.boot = PartRecord.currentBoot
      #expect(PartRecord.currentBoot != nil)
      #expect(record.trusted(60) == 60)
      #expect(record.trusted(160) == 100)
      record.boot = "another"
      #expect(record.trusted(60) == 40)
      #expect(record.trusted(30) == 30)
      record.boot = nil
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

    @Test(arguments: [
      ("example.org/a", "write https://example.org/a"), ("ftp://example.org/a", "no http or https"),
      ("https:///a", "names no host"),
    ]) func `A URL that can't be fetched is refused`(url: String, why: String) throws {
      let download = Download(from: try #require(URL(string: url)), to: URL(filePath: "/tmp"))
      let error = #expect(throws: DownloadError.self) { try download.validate() }
      #expect(error?.code == .invalidDownload)
      #expect(error?.message.contains(why) == true)
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
        Download(from: url, to: folder, headers: [Download.Header("A", "b\r\nC: d")]),
      ] {
        #expect(throws: DownloadError.self) { try bad.validate() }
      }
    }
  }
#endif
