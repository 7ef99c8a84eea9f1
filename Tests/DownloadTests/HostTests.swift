#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// Many downloads at once, and ends from outside.
  @Suite struct HostTests {
    let server: LyingServer

    init() async throws { server = try await LyingServer() }

    // MARK: Together

    @Test func `to one host there are never more connections than the limit, and other hosts go on`() async throws {
      let setting = try Setting(limits: .init(perHost: 2), concurrency: 8)
      let other = try await LyingServer(on: "127.0.0.2")
      let downloads = try (0..<6).map { number in
        server.serve("/a\(number)", .file(content).holding(after: 100_000))
        return try setting.download(server.url("/a\(number)"))
      }
      other.serve("/b", .file(changed))
      let slow = try await setting.jobs.queue.enqueue(contentsOf: downloads)
      let fast = try await setting.jobs.queue.enqueue(setting.download(other.url("/b")))
      setting.jobs.worker.start()
      #expect(try await fast.value.size == changed.size, "while all that the first host allows is taken")
      await server.until { $0.count(where: \.isHeld) == 2 }
      for number in 1...6 {
        await server.until { $0.count { $0.isHeld || $0.isOver } >= min(6, number + 1) }
        let held = try #require(server.exchanges.first { $0.isHeld }).path
        server.release(held)
        await server.until { $0.contains { $0.path == held && $0.isOver } }
      }
      for (job, number) in zip(slow, 0...) {
        _ = try await job.value
        #expect(try setting.folder.holds(content, as: "a\(number)"))
        #expect(try await job.snapshot.failures.isEmpty)
      }
      await setting.jobs.worker.stop()
      #expect(server.highestRequests == 2)
      #expect(server.highestConnections <= 2)
    }

    @Test func `with no limit for a host all that run may talk to one`() async throws {
      let setting = try Setting(concurrency: 16)
      let downloads = try (0..<20).map { number in
        server.serve("/\(number)", .file(content).holding(after: 100_000))
        return try setting.download(server.url("/\(number)"))
      }
      let jobs = try await setting.jobs.queue.enqueue(contentsOf: downloads)
      setting.jobs.worker.start()
      await server.until { $0.count(where: \.isHeld) == 16 }
      for number in 0..<20 {
        await server.held("/\(number)")
        server.release("/\(number)")
      }
      for job in jobs { _ = try await job.value }
      await setting.jobs.worker.stop()
      #expect(server.highestRequests == 16)
    }

    @Test func `a host's other port is another host`() async throws {
      let setting = try Setting(limits: .init(perHost: 1), concurrency: 4)
      let second = try await LyingServer()
      server.serve("/a", .file(content).holding(after: 100_000))
      second.serve("/b", .file(changed))
      let a = try await setting.jobs.queue.enqueue(setting.download(server.url("/a")))
      setting.jobs.worker.start()
      await server.held("/a")
      let b = try await setting.jobs.queue.enqueue(setting.download(second.url("/b")))
      _ = try await b.value
      server.release()
      _ = try await a.value
      await setting.jobs.worker.stop()
    }

    @Test func `a download is enqueued once while it is unfinished: one request, one file, one handle`() async throws {
      let setting = try Setting(concurrency: 4)
      server.serve("/a.bin", .file(content).holding(after: 100_000))
      let download = try setting.download(server.url("/a.bin"))
      let queue = setting.jobs.queue
      let handles = try await withThrowingTaskGroup(of: JobHandle<DownloadedFile>.self) { group in
        for _ in 0..<20 { group.addTask { try await queue.enqueue(download) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(handles.map(\.id)).count == 1)
      #expect(handles.count(where: \.isNew) == 1)
      setting.jobs.worker.start()
      await server.held("/a.bin")
      #expect(try await queue.enqueue(download).id == handles[0].id)
      server.release()
      for handle in handles { #expect(try await handle.value.path == setting.folder.path("a.bin")) }
      await setting.jobs.worker.stop()
      #expect(server.requests.count == 1)
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test func `URLs with one last name, which the server names, come beside each other`() async throws {
      let setting = try Setting(limits: .init(perHost: 20), concurrency: 20)
      for number in 0..<20 {
        let file = Content(10_000, seed: UInt64(number))
        server.serve(
          "/\(number)/get.php", .file(file).with("Content-Disposition", "attachment; filename=f\(number)"))
      }
      try await setting.jobs.queue.enqueue(
        contentsOf: (0..<20).map { try setting.download(server.url("/\($0)/get.php")) })
      try await setting.jobs.drain()
      #expect(try await setting.jobs.queue.counts() == JobCounts([.succeeded: 20]), "\(setting.errors)")
      #expect(server.requests.count == 20)
      #expect(setting.folder.names == (0..<20).map { "f\($0)" }.sorted())
      for number in 0..<20 {
        #expect(try setting.folder.holds(Content(10_000, seed: UInt64(number)), as: "f\(number)"))
      }
    }

    @Test func `another name or folder is another download`() async throws {
      let setting = try Setting()
      let url = server.url("/a.bin")
      let first = try await setting.jobs.queue.enqueue(setting.download(url))
      let second = try await setting.jobs.queue.enqueue(setting.download(url, named: "b.bin"))
      let third = try await setting.jobs.queue.enqueue(Download(from: URL(string: url)!, to: URL(filePath: "/tmp")))
      #expect(Set([first.id, second.id, third.id]).count == 3)
    }

    @Test func `two stores that want one file: one fetches it, the other waits and finds it`() async throws {
      let first = try Setting()
      let second = try Setting(in: first.folder)
      server.serve("/a.bin", .file(content).holding(after: 300_000), .file(content))
      let url = server.url("/a.bin")
      async let job = first.fetch(first.download(url, sha256: content.sha256))
      await server.held("/a.bin")
      let waiting = try await second.attempt(second.download(url, sha256: content.sha256))
      #expect(waiting.state == .scheduled)
      #expect(waiting.failures.isEmpty)
      #expect(!second.waits.isEmpty)
      #expect(server.requests.count == 1)
      server.release()
      #expect(try await job.state == .succeeded)
      let found = try await second.fetch(second.download(url, sha256: content.sha256))
      #expect(found.id == waiting.id)
      #expect(found.state == .succeeded, "\(found.lastError)")
      #expect(found.attempt == 1)
      #expect(found.file?.wasThere == true)
      #expect(server.requests.count == 1)
      #expect(first.folder.names == ["a.bin"])
    }

    // MARK: Stopped

    @Test func `a stopped worker's download goes on where it was, with no attempt used`() async throws {
      let setting = try Setting()
      server.serve("/a.bin", .file(content).holding(after: 400_000), .file(content))
      let handle = try await setting.jobs.queue.enqueue(setting.download(server.url("/a.bin")))
      setting.jobs.worker.start()
      try await setting.received(400_000)
      await setting.jobs.worker.stop(grace: .zero)
      #expect(setting.folder.names == ["a.bin.part", "a.bin.part.json"])
      #expect(setting.events().contains { if case .stopped = $0 { true } else { false } })
      let stopped = try await handle.snapshot
      #expect(!stopped.state.isFinished)
      #expect(stopped.failures.isEmpty)
      try await setting.jobs.drain()
      let job = try await handle.snapshot
      #expect(job.state == .succeeded)
      #expect(job.attempt == 1)
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 400_000])
      #expect(server.bytesSent == content.size)
    }

    @Test func `a cancelled download ends, and what is here is kept for another`() async throws {
      let setting = try Setting()
      server.serve("/a.bin", .file(content).holding(after: 400_000), .file(content))
      let handle = try await setting.jobs.queue.enqueue(setting.download(server.url("/a.bin")))
      setting.jobs.worker.start()
      try await setting.received(400_000)
      try await handle.cancel()
      await #expect(throws: JobFailure.self) { try await handle.value }
      await setting.jobs.worker.stop()
      #expect(setting.folder.names == ["a.bin.part", "a.bin.part.json"])
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.id != handle.id)
      #expect(job.state == .succeeded)
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(server.requests.map(\.rangeStart) == [nil, 400_000])
    }

    @Test func `progress tells how much of the file is here`() async throws {
      let setting = try Setting()
      server.serve(
        "/a.bin", .file(content).holding(after: 500_000).holding(after: 600_000).cut(after: 700_000), .page(404))
      async let end = setting.fetch(setting.download(server.url("/a.bin")))
      for bytes in [500_000, 600_000] as [Int64] {
        await server.held("/a.bin")
        try await setting.received(bytes)
        setting.jobs.clock.advance(by: .milliseconds(100))
        server.release()
      }
      let job = try await end
      #expect(job.state == .failed)
      #expect(job.progress.map { (0.5...0.7).contains($0.fraction) } == true, "\(String(describing: job.progress))")
      let counts = setting.events().compactMap {
        if case .received(let count, let total) = $0 { (count, total) } else { nil }
      }
      #expect(counts.count >= 2)
      #expect(counts.allSatisfy { $0.1 == nil || $0.1 == content.size })
      #expect(zip(counts, counts.dropFirst()).allSatisfy { $0.0 <= $1.0 })
    }
  }
#endif
