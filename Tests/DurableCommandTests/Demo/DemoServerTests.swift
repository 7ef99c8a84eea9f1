#if Shell
  import DurableJobs
  import Foundation
  import Testing

  @testable import durable_demo

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  @Suite("The demo's server")
  struct DemoServerTests {
    @Test("a file goes out in the article's steps, and a resumed one goes on in its step")
    func steps() {
      let pace = ServingPace(step: .seconds(1), isRandom: false)
      var ends: [Int] = []
      var offset = 0
      while offset < 1000 {
        offset = pace.end(from: offset, size: 1000)
        ends.append(offset)
      }
      #expect(ends == [50, 200, 400, 600, 800, 1000])
      #expect(pace.end(from: 399, size: 1000) == 400)
      #expect(pace.end(from: 450, size: 1000) == 600)
      #expect(pace.end(from: 3, size: 3) == 3)
      #expect(pace.pause(random: 0.9) == .seconds(1))
      #expect(ServingPace(step: .seconds(1), isRandom: true).pause(random: 0) == .seconds(1))
      #expect(ServingPace(step: .seconds(1), isRandom: true).pause(random: 1) == .seconds(3))
    }

    @Test("any part of a file is the same bytes as in the whole")
    func content() {
      let files = DemoFiles(count: 2, size: 1003)
      let whole = files.bytes(of: 1, in: 0..<1003)
      #expect(whole.count == 1003)
      for range in [0..<0, 0..<1, 7..<9, 8..<16, 13..<1003, 1000..<1003] {
        #expect(files.bytes(of: 1, in: range) == Array(whole[range]))
      }
      #expect(files.bytes(of: 2, in: 0..<1003) != whole)
      #expect(Set(whole).count > 200)
      #expect(DemoFiles.sha256("abc".utf8.map { $0 }).hasPrefix("ba7816bf8f01cfea"))
    }

    @Test(
      "many files are small, and all together are no more than fits a temporary folder", arguments: [1, 50, 51, 500])
    func sizes(count: Int) {
      let files = DemoFiles(count: count)
      #expect(files.totalSize <= 50_000_000)
      #expect(files.size == (count <= 50 ? 1_000_000 : 50_000 / count * 1000))
    }

    @Test("names lead to files and back; other names to none")
    func names() {
      let files = DemoFiles(count: 12)
      #expect(files.numbers.map { DemoFiles.name($0) }.compactMap { files.number(named: $0) } == Array(1...12))
      for name in ["file-013", "file-1", "file-000", "file-0012", "file-", "", "../etc"] {
        #expect(files.number(named: name) == nil)
      }
    }

    @Test("what a Range header asks for")
    func ranges() {
      #expect(RequestedRange(nil, size: 100) == .whole)
      #expect(RequestedRange("bytes=0-", size: 100) == .part(0..<100))
      #expect(RequestedRange("bytes=40-", size: 100) == .part(40..<100))
      #expect(RequestedRange("bytes=40-49", size: 100) == .part(40..<50))
      #expect(RequestedRange("bytes=40-900", size: 100) == .part(40..<100))
      #expect(RequestedRange("bytes=100-", size: 100) == .none)
      #expect(RequestedRange("bytes=50-40", size: 100) == .none)
      #expect(RequestedRange("bytes=-5", size: 100) == .whole)
      #expect(RequestedRange("bytes=99999999999999999999-", size: 100) == .whole)
    }

    @Test("it answers with the whole, with a part, or with a reason, and counts what went out")
    func answers() async throws {
      let files = DemoFiles(count: 1, size: 1000)
      let server = try await FileServer(files, pace: ServingPace(step: .milliseconds(1), isRandom: false))
      func get(_ path: String, _ headers: [String: String] = [:]) async throws -> (Int, Data, HTTPURLResponse) {
        var request = URLRequest(url: URL(string: "http://127.0.0.1:\(server.port)/\(path)")!)
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await URLSession(configuration: .ephemeral).data(for: request)
        let answer = try #require(response as? HTTPURLResponse)
        return (answer.statusCode, data, answer)
      }
      do {
        let whole = try await get("file-001")
        #expect(whole.0 == 200)
        #expect(whole.1 == Data(files.bytes(of: 1, in: 0..<1000)))
        let tag = try #require(whole.2.value(forHTTPHeaderField: "ETag"))
        let part = try await get("file-001", ["Range": "bytes=450-", "If-Range": tag])
        #expect(part.0 == 206)
        #expect(part.1 == whole.1[450...])
        #expect(part.2.value(forHTTPHeaderField: "Content-Range") == "bytes 450-999/1000")
        #expect(try await get("file-001", ["Range": "bytes=450-", "If-Range": "\"other\""]).1 == whole.1)
        #expect(try await get("file-001", ["Range": "bytes=1000-"]).0 == 416)
        #expect(try await get("file-002").0 == 404)
        #expect(server.ledger.served == 1000 + 550 + 1000)
      } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }

    @Test("the ledger tells half-time once, and what the crash cost")
    func ledger() {
      let ledger = ServingLedger(total: 100)
      let calls = Lock(0)
      ledger.atHalf { calls.withLock { $0 += 1 } }
      let start = ContinuousClock.now
      ledger.sent(50, to: 1, now: start)
      #expect(calls.withLock { $0 } == 0)
      ledger.sent(1, to: 1, now: start)
      #expect(calls.withLock { $0 } == 1)
      ledger.killed(now: start + .seconds(1))
      ledger.nextWorker()
      // What still went to the dead one.
      ledger.sent(10, to: 1, now: start + .seconds(2))
      #expect(ledger.gap == nil)
      ledger.sent(20, to: 2, now: start + .seconds(4))
      ledger.sent(29, to: 2, now: start + .seconds(5))
      #expect(ledger.gap == .seconds(3))
      #expect(calls.withLock { $0 } == 1)
      #expect(ledger.served == 110)
    }

    @Test("a checksum is the one that cksum prints")
    func checksum() {
      var sum = Checksum()
      Array("123456789".utf8).withUnsafeBytes { sum.add($0) }
      #expect(sum.asPrinted == "930766865 9")
      #expect(Checksum().asPrinted == "4294967295 0")
    }
  }
#endif
