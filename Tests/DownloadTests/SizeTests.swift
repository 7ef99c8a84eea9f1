#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsSQLite
  import Foundation
  import LyingServer
  import TestProcesses
  import Testing

  /// Many files, a large one, and more than the disk holds.
  @Suite(.serialized) struct SizeTests {
    let server: LyingServer
    let folder: TestFolder

    init() async throws {
      server = try await LyingServer()
      folder = try TestFolder()
    }

    @Test func `a file that the disk could not even hold alone fails for good, at once and with words`() async throws {
      let setting = try Setting(in: folder)
      server.serve("/a.bin", .file(content).framed(.lengthOff(by: 9_000_000_000_000_000_000)))
      let job = try await setting.attempt(setting.download(server.url("/a.bin")))
      #expect(job.state == .failed)
      let words = "the file has 9000000000001000000 bytes, and the whole disk of \(folder.url.path) only "
      #expect(job.lastError.contains(words), "\(job.lastError)")
      #expect(setting.errors.map(\.code) == [.noRoom] && setting.waits.isEmpty)
      #expect(server.requests.count == 1)
    }

    @Test func `a thousand small files, each right, over few connections`() async throws {
      let stores = try TestFolder("stores")
      let queue = JobQueue(store: try SQLiteStore(path: stores.path("jobs.sqlite")))
      let worker = JobWorker(queue, maxConcurrentJobs: 16)
      let limits = Downloader.Limits(perHost: 8, slowFor: .seconds(864_000), connectTimeout: .seconds(864_000))
      Downloader(store: queue.store, limits: limits, environment: [:]).register(with: worker)
      let files = (0..<1000).map { Content(Int64($0) * 7, seed: UInt64($0)) }
      let downloads = files.enumerated().map { number, file in
        server.serve("/\(number)", .file(file))
        return Download(from: URL(string: server.url("/\(number)"))!, to: folder.url)
      }
      try await queue.enqueue(contentsOf: downloads)
      try await worker.runUntilIdle()
      #expect(try await queue.counts() == JobCounts([.succeeded: 1000]))
      for (number, file) in files.enumerated() { #expect(try folder.holds(file, as: "\(number)")) }
      #expect(folder.names.filter { Int($0) == nil } == [])
      #expect(folder.names.count == 1000)
      #expect(server.requests.count == 1000)
      #expect(server.highestRequests <= 8)
      #expect(server.highestConnections <= 16)
    }

    @Test func `a file of more than 2 GB comes whole, with no more memory than a small one`() async throws {
      let stores = try TestFolder("stores")
      let large = Content(2_200_000_000)
      server.serve("/small", .file(Content(1000)))
      server.serve("/large", .file(large).cut(after: 2_150_000_000), .file(large))
      let store = stores.path("jobs.sqlite")
      let small = try await Probe(server.url("/small"), into: folder, store: store).end()
      let probe = try await Probe(server.url("/large"), into: folder, store: store).end()
      #expect(small.result == "fetched", "\(small.error)")
      #expect(probe.result == "fetched", "\(probe.error)")
      #expect(server.requests("/large").count == 2)
      #expect(server.requests("/large").last?.rangeStart ?? 0 > Int64(Int32.max), "it went on beyond 31 bits")
      #expect(try folder.holds(large, as: "large"))
      #expect(small.memory > 0)
      #expect(probe.memory - small.memory < 64 << 20, "\(small.memory) and \(probe.memory) bytes")
      print("memory: \(small.memory >> 20) MB for 1 kB, \(probe.memory >> 20) MB for 2.2 GB")
    }

    // MARK: A full disk

    @Test(
      .enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"),
      arguments: [LyingAnswer.Framing.length, .chunked])
    func `C71 a full disk is waited for, and nothing is lost`(framing: LyingAnswer.Framing) async throws {
      let disk = try SmallDisk(in: folder, megabytes: 8)
      let file = Content(8_000_000)
      let answer = LyingAnswer.file(file).framed(framing)
      // Without a length, the disk fills while it comes.
      server.serve("/a.bin", [framing == .length ? answer.cut(after: 5_000_000) : answer, answer])
      let setting = try Setting(in: folder)
      let job = try await setting.jobs.queue.enqueue(setting.download(server.url("/a.bin")))
      try await setting.jobs.drain()
      for _ in 0..<3 { try await setting.jobs.advance(by: .seconds(30)) }
      let waiting = try await job.snapshot
      #expect(waiting.state == .scheduled)
      #expect(waiting.failures.isEmpty, "waiting is no failure")
      #expect(
        waiting.progress?.message?.contains("room") == true || waiting.progress?.message?.contains("space") == true,
        "\(String(describing: waiting.progress))")
      #expect(!setting.waits.isEmpty)
      try disk.grow(to: 32)
      try await setting.jobs.advance(by: .seconds(60))
      let done = try await job.snapshot
      #expect(done.state == .succeeded, "\(done.lastError)")
      #expect(done.attempt == 1)
      #expect(try setting.folder.holds(file, as: "a.bin"))
      let fromTheStart = server.requests.count { $0["Range"] == nil }
      // Where the size is told, room for all of it is looked for before the first byte.
      #expect(framing == .length || fromTheStart == 1, "what was here stayed")
    }

    @Test(.enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"))
    func `a file that would leave nothing to others on its disk waits for room`() async throws {
      let disk = try SmallDisk(in: folder, megabytes: 8)
      let file = Content(7_500_000)
      server.serve("/a.bin", .file(file))
      let setting = try Setting(in: folder)
      let first = try await setting.attempt(setting.download(server.url("/a.bin")))
      #expect(first.state == .scheduled && first.failures.isEmpty, "\(first)")
      #expect(setting.waits.first?.contains("7500000 bytes are needed") == true, "\(setting.waits)")
      try disk.grow(to: 16)
      #expect(try await setting.fetch(setting.download(server.url("/a.bin"))).state == .succeeded)
      #expect(try folder.holds(file, as: "a.bin"))
    }

    @Test(.enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"), arguments: [1, 8])
    func `many small files fill the disk: those that came are whole, and the others wait, and say for what`(
      concurrency: Int
    ) async throws {
      let disk = try SmallDisk(in: folder, megabytes: 4)
      let file = Content(100_000)
      let names = (0..<60).map { "\($0).bin" }
      for name in names { server.serve("/\(name)", .file(file)) }
      let setting = try Setting(in: folder, concurrency: concurrency)
      for name in names { try await setting.jobs.queue.enqueue(setting.download(server.url("/\(name)"))) }
      try await setting.jobs.drain()
      let came = folder.names
      #expect(!came.isEmpty && came.count < names.count && Set(came).isSubset(of: names), "\(came)")
      for name in came { #expect(try folder.holds(file, as: name)) }
      let counts = try await setting.jobs.queue.counts()
      #expect(counts[.succeeded] == came.count)
      #expect(counts[.scheduled] == names.count - came.count)
      #expect(setting.errors.isEmpty, "\(setting.errors)")
      #expect(setting.waits.count == names.count - came.count)
      // Several that come at once may fill it to its end.
      let words = ["no room in \(folder.url.path): ", "No space left on device"]
      #expect(setting.waits.allSatisfy { wait in words.contains { wait.contains($0) } }, "\(setting.waits)")
      try disk.grow(to: 32)
      try await setting.jobs.advance(by: .seconds(30))
      #expect(try await setting.jobs.queue.counts()[.succeeded] == names.count)
      #expect(folder.names == names.sorted())
      for name in names { #expect(try folder.holds(file, as: name)) }
    }

    @Test(.enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"))
    func `of two files that fit alone one comes, and the other doesn't begin to fill the disk`() async throws {
      let disk = try SmallDisk(in: folder, megabytes: 16)
      let file = Content(9_000_000)
      let (a, b) = (LyingAnswer.file(file).holding(after: 1_000_000), LyingAnswer.file(file))
      let setting = try Setting(in: folder, concurrency: 2)
      server.serve("/a.bin", a)
      server.serve("/b.bin", b)
      let first = try await setting.jobs.queue.enqueue(setting.download(server.url("/a.bin")))
      setting.jobs.worker.start()
      await server.held("/a.bin")
      let second = try await setting.jobs.queue.enqueue(setting.download(server.url("/b.bin")))
      try await setting.soon { !setting.waits.isEmpty }
      #expect(setting.waits[0].contains(" to downloads that run"), "\(setting.waits)")
      #expect(folder.size("b.bin.part") ?? 0 == 0)
      server.release()
      _ = try await first.value
      #expect(try folder.holds(file, as: "a.bin"))
      try disk.grow(to: 64)
      setting.jobs.clock.advance(by: .seconds(30))
      _ = try await second.value
      #expect(try folder.holds(file, as: "b.bin"))
      await setting.jobs.worker.stop()
    }

    @Test(.enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"))
    func `a file that may have no end fills the disk three times, each time with more room, and fails then`()
      async throws
    {
      let disk = try SmallDisk(in: folder, megabytes: 4)
      server.serve("/a.bin", .file(Content(100_000_000), etag: nil, lastModified: nil).framed(.chunked))
      let setting = try Setting(in: folder)
      let download = try setting.download(server.url("/a.bin"))
      let job = try await setting.jobs.queue.enqueue(download)
      for (round, megabytes) in [(1, 8), (2, 16)] {
        try await setting.jobs.drain()
        #expect(try await job.snapshot.failures.isEmpty)
        #expect(folder.size("a.bin.part") == 0, "others have the room meanwhile")
        for _ in 0..<3 { try await setting.jobs.advance(by: .seconds(10)) }
        #expect(server.requests.count == round, "it would be no more than before")
        try disk.grow(to: megabytes)
        try await setting.jobs.advance(by: .seconds(10))
        #expect(server.requests.count == round + 1)
      }
      let ended = try await job.snapshot
      #expect(ended.state == .failed)
      #expect(ended.attempt == 1)
      #expect(ended.lastError.contains("3 times"), "\(ended.lastError)")
      #expect(folder.names.isEmpty)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"))
    func `where there is no room for two versions, the old one goes`() async throws {
      let disk = try SmallDisk(in: folder, megabytes: 8)
      let new = Content(6_000_000, seed: 2)
      server.serve(
        "/a.bin", .file(Content(7_000_000)).breaking(after: 5_000_000), .file(new, etag: "\"second\""))
      let setting = try Setting(in: folder)
      let job = try await setting.fetch(setting.download(server.url("/a.bin")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try folder.holds(new, as: "a.bin"))
      #expect(folder.names == ["a.bin"])
      withExtendedLifetime(disk) {}
    }
  }

  /// A file system in memory, mounted on a folder.
  final class SmallDisk {
    private let path: String

    init(in folder: TestFolder, megabytes: Int, files: Int = 0) throws {
      path = folder.url.path
      guard Self.run("mount", "-t", "tmpfs", "-o", "size=\(megabytes)m,nr_inodes=\(files)", "none", path) else {
        throw CancellationError()
      }
    }

    deinit { _ = Self.run("umount", "-l", path) }

    func grow(to megabytes: Int) throws {
      guard Self.run("mount", "-o", "remount,size=\(megabytes)m", path) else { throw CancellationError() }
    }

    static let isPossible: Bool = {
      guard let folder = try? TestFolder("mount"), let disk = try? SmallDisk(in: folder, megabytes: 1) else {
        return false
      }
      return withExtendedLifetime(disk) { true }
    }()

    private static func run(_ command: String...) -> Bool {
      let nowhere = FileHandle.nullDevice.fileDescriptor
      return (try? ChildProcess("/usr/bin/env", command, error: nowhere))?.wait() == .exited(0)
    }
  }
#endif
