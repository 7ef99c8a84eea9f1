#if HTTP
  import DurableJobs
  import DurableJobsSQLite
  import DurableJobsTesting
  import Foundation
  import LyingServer
  import TestProcesses
  import Testing

  /// Downloads by real processes that are really killed.
  @Suite(.serialized) struct DownloadKillTests {
    /// 25, or what `DURABLE_KILLS` says.
    static let kills = ProcessInfo.processInfo.environment["DURABLE_KILLS"].flatMap(Int.init) ?? 25
    /// What is on the way at most when a life is over, in bytes, and less than most lives bring.
    static let onTheWay: Int64 = 1_500_000

    let folder: TestFolder
    let stores: TestFolder
    let server: LyingServer

    init() async throws {
      folder = try TestFolder()
      stores = try TestFolder("stores")
      server = try await LyingServer()
    }

    private func probe(_ path: String, store: String = "jobs.sqlite", sha256: String? = nil, fault: String? = nil)
      throws -> Probe
    {
      let sum = sha256.map { "sha256=\($0)" }
      return try Probe(
        server.url(path), into: folder, store: stores.path(store), sum ?? "name=\(path.dropFirst())", fault: fault)
    }

    /// How much of `a.bin` its record says is on the disk.
    private var flushed: Int64 {
      let lines = (try? folder.text("a.bin.part.json"))?.split(separator: "\n", omittingEmptySubsequences: false) ?? []
      var flushed: Int64 = 0
      // The last one may have no end.
      for line in lines.dropLast() {
        flushed = line.hasPrefix("{") ? 0 : line.split(separator: " ").first.flatMap { Int64($0) } ?? flushed
      }
      return flushed
    }

    @Test(arguments: [false, true])
    func
      `C1 C9 a download whose process is killed again and again is right, and a kill costs what came since the last flush`(
        hasChecksum: Bool
      ) async throws
    {
      let kills = hasChecksum ? Self.kills / 4 : Self.kills
      // How far each life gets, after which the server waits for its death; some die before the first byte.
      let lives = (1...kills).map { _ in Int.random(in: 0..<8) == 0 ? 0 : Int64.random(in: 1...5_000_000) }
      let content = Content(lives.reduce(1_000_000, +))
      let whole = LyingAnswer.file(content)
      server.serve("/a.bin", lives.map { whole.holding(after: $0) } + [whole])
      var kept: [Int64] = [0]
      for number in 1...kills {
        let life = try probe("/a.bin", sha256: hasChecksum ? content.sha256 : nil)
        await server.until { $0.count >= number && $0.last!.isHeld }
        // However slow it is, most of what was sent has been written when it dies.
        let end = server.exchanges.last!.end
        let isFlushed = number % 4 == 0
        await until { isFlushed ? flushed == end : folder.size("a.bin.part") ?? 0 >= end - Self.onTheWay }
        life.kill()
        kept.append(flushed)
      }
      let last = try await probe("/a.bin", sha256: hasChecksum ? content.sha256 : nil).end()
      #expect(last.result == "fetched", "\(last.error)")
      #expect(try folder.holds(content, as: "a.bin"))
      #expect(folder.names == ["a.bin"])
      #expect(server.requests.map { $0.rangeStart ?? 0 } == kept)
      // A checksum decides at the end: it goes on with any server's bytes.
      #expect(
        server.requests.allSatisfy { $0.rangeStart == nil || $0["If-Range"] == (hasChecksum ? nil : LyingAnswer.etag) })
      let waste = server.bytesSent - content.size
      print("kills \(kills), bytes \(content.size), sent twice \(waste), a kill \(waste / Int64(kills))")
    }

    @Test func `C9 a kill at a moment of nobody's choosing costs what came since the last flush`() async throws {
      let content = Content(30_000_000)
      // Slow enough to be met at all moments, of which there are many more before the request and after the last byte.
      server.serve("/a.bin", .file(content).paced(bytesPerSecond: 200_000_000))
      var kept: [(requests: Int, bytes: Int64)] = []
      for _ in 0..<200 {
        let before = server.bytesSent
        let life = try probe("/a.bin")
        let goal = before + Int64.random(in: 0...12_000_000)
        let server = server
        let folder = folder
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await server.until { $0.reduce(0) { $0 + $1.bytesSent } > goal } }
          group.addTask { await until { folder.names.contains("a.bin") || Task.isCancelled } }
          await group.next()
          group.cancelAll()
        }
        life.kill()
        kept.append((server.requests.count, flushed))
        if folder.names.contains("a.bin") { break }
      }
      let last = try await probe("/a.bin").end()
      #expect(last.result != nil, "\(last.error)")
      #expect(try folder.holds(content, as: "a.bin"))
      #expect(folder.names == ["a.bin"])
      let requests = server.requests
      for (count, bytes) in kept where count < requests.count {
        // Of a part that is whole the last byte is asked for again.
        #expect(requests[count].rangeStart ?? 0 == min(bytes, content.size - 1))
      }
    }

    @Test func `C9 a file that changes again and again while its process is killed comes whole, of one version`()
      async throws
    {
      let contents = [Content(3_000_000), Content(2_500_000, seed: 2)]
      let versions = contents.enumerated().map { LyingAnswer.file($1, etag: "\"\($0)\"") }
      for _ in 0..<30 {
        server.serve("/a.bin", versions.randomElement()!.holding(after: .random(in: 0..<80_000)))
        let before = server.exchanges.count
        let life = try probe("/a.bin")
        await server.until { $0.dropFirst(before).contains { $0.isHeld } }
        life.kill()
      }
      server.serve("/a.bin", versions[1])
      let last = try await probe("/a.bin").end()
      #expect(last.result == "fetched", "\(last.error)")
      #expect(try folder.holds(contents[1], as: "a.bin"))
      #expect(folder.names == ["a.bin"])
    }

    @Test(
      .enabled(if: hasFaultPoints, "needs the trait FaultPoints"), arguments: [false, true], [10_000, 1_000_000])
    func `C1 a process that dies between naming the file and storing the success loses neither`(
      hasChecksum: Bool, size: Int64
    ) async throws {
      let content = Content(size)
      server.serve("/a.bin", .file(content))
      let sum = hasChecksum ? content.sha256 : nil
      let first = try await probe("/a.bin", sha256: sum, fault: "settleBegun:1").end()
      #expect(first.wasKilled)
      #expect(try folder.holds(content, as: "a.bin"))
      #expect(folder.names.count == 2, "what knows it is beside it: \(folder.names)")
      let second = try await probe("/a.bin", sha256: sum).end()
      #expect(second.result == "fetched", "\(second.error)")
      #expect(second.job == first.job)
      #expect(try folder.holds(content, as: "a.bin"))
      #expect(folder.names == ["a.bin"])
      #expect(server.requests.count == 1)
    }

    @Test(.enabled(if: hasFaultPoints, "needs the trait FaultPoints"), arguments: [10_000, 1_000_000])
    func `C1 a file that has its server's name is known again by a new process, though nothing else tells whose it is`(
      size: Int64
    ) async throws {
      let content = Content(size)
      server.serve(
        "/get",
        .file(content, etag: nil, lastModified: nil).with("Content-Disposition", "attachment; filename=b.bin"))
      func probe(fault: String? = nil) throws -> Probe {
        try Probe(server.url("/get"), into: folder, store: stores.path("jobs.sqlite"), fault: fault)
      }
      let first = try await probe(fault: "settleBegun:1").end()
      #expect(first.wasKilled)
      #expect(folder.names.count == 2, "what knows it is beside it: \(folder.names)")
      let second = try await probe().end()
      #expect(second.result == "fetched", "\(second.error)")
      #expect(second.job == first.job)
      #expect(try folder.holds(content, as: "b.bin"))
      #expect(folder.names == ["b.bin"])
      #expect(server.requests.count == 1)
    }

    // MARK: Several processes

    @Test func `two processes with one store: one job, one request, one file`() async throws {
      server.serve("/a.bin", .file(content).holding(after: 300_000), .file(content))
      let first = try probe("/a.bin")
      await server.held("/a.bin")
      let second = try probe("/a.bin")
      await until { second.job != nil }
      #expect(second.job == first.job)
      server.release()
      #expect(await first.end().result == "fetched", "\(first.error)")
      #expect(await second.end().result == "fetched", "\(second.error)")
      #expect(server.requests.count == 1)
      #expect(try folder.holds(content, as: "a.bin"))
      #expect(folder.names == ["a.bin"])
    }

    @Test func `two processes with a store each: one writes at a time, and the other finds the file`() async throws {
      server.serve("/a.bin", .file(content).holding(after: 300_000), .file(content))
      let first = try probe("/a.bin", store: "one.sqlite", sha256: content.sha256)
      await server.held("/a.bin")
      let second = try probe("/a.bin", store: "two.sqlite", sha256: content.sha256)
      await until { second.job != nil }
      // It has looked once when it snoozes.
      let queue = JobQueue(store: try SQLiteStore(path: stores.path("two.sqlite")))
      _ = try await queue.store.firstAfterEachSignal {
        try await queue.counts()[.scheduled] == 1 ? true : nil
      }
      #expect(server.requests.count == 1)
      server.release()
      #expect(await first.end().result == "fetched", "\(first.error)")
      #expect(await second.end().result == "there", "\(second.error)")
      #expect(server.requests.count == 1)
      #expect(try folder.holds(content, as: "a.bin"))
      #expect(folder.names == ["a.bin"])
    }

    @Test(arguments: [false, true])
    func `two processes with a store each and one small file: both have it, and nothing is left beside it`(
      hasChecksum: Bool
    ) async throws {
      let small = Content(10_000)
      server.serve("/a.bin", .file(small).holding(after: 0))
      let sum = hasChecksum ? small.sha256 : nil
      let first = try probe("/a.bin", store: "one.sqlite", sha256: sum)
      let second = try probe("/a.bin", store: "two.sqlite", sha256: sum)
      await server.held("/a.bin", times: 2)
      server.release()
      let results = [await first.end(), await second.end()]
      #expect(try folder.holds(small, as: "a.bin"))
      #expect(results.contains { $0.result == "fetched" })
      #expect(folder.names == ["a.bin"])
      if hasChecksum {
        #expect(results.allSatisfy { $0.result != nil }, "\(results.map(\.error))")
      } else {
        // The other can't know that it is the same, unless it looks before the first has stored its success.
        #expect(results.allSatisfy { $0.result != nil || $0.error.contains("--overwrite") }, "\(results.map(\.error))")
      }
    }

    @Test func `a process that goes on with what another one left behind, from another store`() async throws {
      server.serve("/a.bin", .file(content).holding(after: 700_000), .file(content))
      let first = try probe("/a.bin", store: "one.sqlite")
      await server.held("/a.bin")
      await until { flushed > 0 }
      first.kill()
      let kept = flushed
      let second = try await probe("/a.bin", store: "two.sqlite").end()
      #expect(second.result == "fetched", "\(second.error)")
      #expect(try folder.holds(content, as: "a.bin"))
      #expect(server.requests.count == 2)
      #expect(server.requests[1].rangeStart == kept)
    }
  }
#endif
