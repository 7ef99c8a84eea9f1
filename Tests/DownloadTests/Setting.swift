#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsTesting
  import Foundation
  import LyingServer
  import Testing

  /// A folder that goes with its test.
  final class TestFolder: Sendable {
    let url: URL

    init(_ name: String = "downloads") throws {
      url = URL(filePath: "/tmp/durable-\(name)-\(UUID().uuidString.prefix(8))")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Whether two names may differ in the form of their letters alone.
    static let keepsForms: Bool = {
      #if os(Linux)
        true
      #else
        false
      #endif
    }()

    func path(_ name: String) -> String { url.path + "/" + name }
    /// In order.
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? [] }

    func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }
    func write(_ text: String, to name: String) throws {
      try Data(text.utf8).write(to: URL(filePath: path(name)))
    }

    /// In bytes; nil if there is no such file.
    func size(_ name: String) -> Int64? {
      let status = try? FileManager.default.attributesOfItem(atPath: path(name))
      return (status?[.size] as? NSNumber)?.int64Value
    }

    /// Whether a file is there, and is `content` byte for byte.
    func holds(_ content: Content, as name: String) throws -> Bool {
      try content.firstDifference(inFileAt: path(name)) == nil
    }
  }

  /// A queue in memory whose clock stands still, and a downloader that runs its jobs: waits between attempts take no time.
  final class Setting: Sendable {
    let folder: TestFolder
    let jobs: TestJobs
    private let news = Lock<[(url: String, event: Downloader.Event)]>([])

    /// Several of them in one folder are like several processes.
    init(
      in folder: TestFolder? = nil, limits: Downloader.Limits = Downloader.Limits(),
      environment: [String: String] = [:], netrc: URL? = nil, concurrency: Int = 1,
      middleware: [any JobMiddleware] = []
    ) throws {
      jobs = TestJobs(middleware: middleware)
      self.folder = try folder ?? TestFolder()
      try jobs.worker.setMaxConcurrentJobs(concurrency)
      var limits = limits
      limits.connectTimeout = .seconds(864_000)  // by the machine's clock, and no machine is too slow
      Downloader(store: jobs.queue.store, limits: limits, netrc: netrc, environment: environment) {
        [news] _, download, event in
        news.withLock { $0.append((download.url.absoluteString, event)) }
      }.register(with: jobs.worker)
    }

    /// A download into the folder.
    func download(
      _ url: String, named name: String? = nil, sha256: String? = nil, size: Int64? = nil,
      acceptsUnknownLength: Bool = false, headers: [Download.Header] = [], overwrites: Bool = false,
      skipsExisting: Bool = false, keepsServerTime: Bool = false, caCertificates: URL? = nil
    ) throws -> Download {
      Download(
        from: try #require(URL(string: url)), to: folder.url, named: name, sha256: sha256, size: size,
        acceptsUnknownLength: acceptsUnknownLength, headers: headers, overwrites: overwrites,
        skipsExisting: skipsExisting, keepsServerTime: keepsServerTime, caCertificates: caCertificates)
    }

    /// Enqueues it and lets time pass until it has ended, through as many attempts as that takes.
    @discardableResult
    func fetch(_ download: Download) async throws -> JobSnapshot {
      var job = try await attempt(download)
      for _ in 0..<100 where !job.state.isFinished {
        try await passTime(for: job)
        job = try await jobs.queue.job(job.id)
      }
      #expect(job.state.isFinished, "it comes to no end: \(job)")
      return job
    }

    /// The same from a server whose answers hold: each goes on once all that it sent is here.
    @discardableResult
    func fetch(_ download: Download, from server: LyingServer) async throws -> JobSnapshot {
      async let _: Void = {
        while !Task.isCancelled {
          await server.until { $0.contains { $0.isHeld } }
          guard let held = server.exchanges.first(where: { $0.isHeld }) else { continue }
          try await arrived(held.end)
          server.release()
        }
      }()
      return try await fetch(download)  // what goes out of scope is cancelled
    }

    /// Enqueues it and runs what may run now: mostly one attempt.
    func attempt(_ download: Download) async throws -> JobSnapshot {
      let id = try await jobs.queue.enqueue(download).id
      try await inTime { _ = try await jobs.drain() }
      return try await jobs.queue.job(id)
    }

    private func passTime(for job: JobSnapshot) async throws {
      let runAt = try #require(job.runAt, "it waits for nothing: \(job)")
      let wait = Duration.milliseconds(runAt.milliseconds - jobs.clock.now.milliseconds)
      try await inTime { _ = try await jobs.advance(by: wait) }
    }

    /// When a test has failed and waits no more, the worker has no grace: its clock stands still.
    private func inTime(_ body: @Sendable () async throws -> Void) async throws {
      try await withTaskCancellationHandler {
        try await body()
      } onCancel: {
        Task { [worker = jobs.worker] in await worker.stop(grace: .zero) }  // ends with the worker's run
      }
    }

    // MARK: What was told

    func events(of url: String? = nil) -> [Downloader.Event] {
      news.withLock { $0 }.filter { url == nil || $0.url == url }.map(\.event)
    }

    var errors: [DownloadError] {
      events().compactMap { if case .failed(let error, _, _) = $0 { error } else { nil } }
    }

    /// What downloads said that they wait for.
    var waits: [String] { events().compactMap { if case .waits(let reason, _) = $0 { reason } else { nil } } }

    /// Waits until so many bytes are in the only part. Told of are they at most ten times a second, by a clock that
    /// stands still here.
    func received(_ bytes: Int64) async throws {
      try await soon {
        folder.names.first { $0.hasSuffix(".part") }.flatMap { folder.size($0) } ?? 0 >= bytes
      }
    }

    /// Waits until a part ends just there, where there may be two.
    func arrived(_ end: Int64) async throws {
      try await soon {
        end == 0 || folder.names.contains { $0.hasSuffix(".part") && folder.size($0) == end }
      }
    }

    /// Waits until a timer is set that is due exactly so long from now, as a download sets them, and lets time pass. One
    /// that was set while time passed may be due sooner: it comes first.
    func pass(
      _ wait: Duration, onTimerOf timers: Set<Duration>, unless isOver: () -> Bool = { false }
    ) async throws {
      try await soon {
        let set = jobs.clock.timers
        if isOver() || !timers.isDisjoint(with: set) { return true }
        if let first = set.first, let least = timers.min(), first < least { jobs.clock.advance(by: first) }
        return false
      }
      if !isOver() { jobs.clock.advance(by: wait) }
    }

    /// Waits for what other threads are about to do, and what no signal tells of.
    func soon(_ condition: () -> Bool) async throws {
      while !condition() {
        try Task.checkCancellation()
        await Task.yield()
      }
    }
  }

  extension JobSnapshot {
    /// What a person reads who asks why.
    var lastError: String { failures.last?.message ?? "" }

    var file: DownloadedFile? { output.flatMap { try? JSONDecoder().decode(DownloadedFile.self, from: $0) } }
  }

  extension Content {
    var sha256: String {
      var hash = SHA256()
      forEachPiece { hash.update(bufferPointer: $0) }
      return hash.finalize().map { String(format: "%02x", $0) }.joined()
    }
  }

  /// Two versions of a file, both of 1,000,000 bytes.
  let content = Content(1_000_000)
  let changed = Content(1_000_000, seed: 2)
#endif
