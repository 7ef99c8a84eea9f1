#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsTesting
  import Foundation
  import LyingServer
  import Testing

  /// A queue in memory whose clock stands still, and an outbox that sends its jobs.
  final class OutboxSetting: Sendable {
    let jobs = TestJobs()
    let secrets: Lock<[String: String]>
    private let news = Lock<[Outbox.Event]>([])

    struct Locked: Error {
      var hint = "s3cret"
    }

    /// A secret whose value is "locked" can't be had.
    init(secrets: [String: String] = [:], environment: [String: String] = [:], netrc: URL? = nil) {
      let values = Lock(secrets)
      self.secrets = values
      Outbox(
        store: jobs.queue.store, connectTimeout: .seconds(864_000), netrc: netrc, environment: environment,
        secret: { name in
          let value = values.withLock { $0[name] }
          if value == "locked" { throw Locked() }
          return value
        },
        onEvent: { [news] _, _, event in news.withLock { $0.append(event) } }
      ).register(with: jobs.worker)
    }

    var events: [Outbox.Event] { news.withLock { $0 } }

    /// What requests said that they wait for.
    var waits: [String] { events.compactMap { if case .waits(let reason, _) = $0 { reason } else { nil } } }

    var errors: [RequestError] { events.compactMap { if case .failed(let error, _, _) = $0 { error } else { nil } } }

    /// Enqueues it and runs what may run now: mostly one attempt.
    func attempt(_ request: SendRequest) async throws -> JobSnapshot {
      let id = try await jobs.queue.enqueue(request).id
      try await jobs.drain()
      return try await job(id)
    }

    /// Enqueues it and lets time pass until it has ended or is suspended.
    func send(_ request: SendRequest) async throws -> JobSnapshot {
      var job = try await attempt(request)
      for _ in 0..<100 where !job.state.isFinished && job.state != .suspended {
        job = try await passTime(for: job)
      }
      #expect(job.state.isFinished || job.state == .suspended, "it comes to no end: \(job)")
      return job
    }

    /// Lets time pass until it is due, and runs what may run then.
    func passTime(for job: JobSnapshot) async throws -> JobSnapshot {
      try await jobs.advance(by: try wait(of: job))
      return try await self.job(job.id)
    }

    /// How long from now it is due.
    func wait(of job: JobSnapshot) throws -> Duration {
      let runAt = try #require(job.runAt, "it waits for nothing: \(job)")
      return .milliseconds(runAt.milliseconds - jobs.clock.now.milliseconds)
    }

    func job(_ id: JobID) async throws -> JobSnapshot {
      try #require(try await jobs.queue.jobs(where: .id(id), detail: .all).first)
    }
  }

  extension JobSnapshot {
    var answer: HTTPAnswer? { output.flatMap { try? JSONDecoder().decode(HTTPAnswer.self, from: $0) } }
  }

  extension LyingServer {
    func at(_ path: String, by name: String? = nil) throws -> URL { try #require(URL(string: url(path, by: name))) }

    /// The bodies that came, as text.
    func bodies(_ path: String) -> [String] { requests(path).map { String(decoding: $0.body, as: UTF8.self) } }
    func keys(_ path: String) -> [String?] { requests(path).map { $0["Idempotency-Key"] } }
  }
#endif
