#if HTTP
  import DurableJobs
  import Foundation

  /// Runs ``Download`` jobs. One downloader serves any number of workers of a store, which share its limits.
  ///
  /// Proxies come from the environment: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as in curl.
  ///
  /// If a `JobMiddleware` encrypts payloads, those of other downloads can't be read: downloading a file again under its
  /// server's name, or finding a file that may be another download's, is an error that says so and replaces nothing.
  public final class Downloader: Sendable {
    /// Limits for all downloads of a ``Downloader`` together. The worker limits how many run at once.
    public struct Limits: Hashable, Sendable {
      /// The most downloads from one host and port at once; nil for no limit. If that is less than the worker runs, a
      /// download whose host is busy waits a second in its slot, and then leaves it to others for a few seconds: a
      /// worker whose jobs are mostly of one host runs fewer at once than it may.
      public var perHost: Int?
      /// The total speed of all downloads; nil for no limit.
      public var bytesPerSecond: Int64?
      /// The fewest bytes that a connection must bring within ``slowFor``; with less, the attempt fails.
      public var minimumBytes: Int64
      /// Also how long an answer may take to start.
      public var slowFor: Duration
      /// How long connecting may take.
      public var connectTimeout: Duration

      public init(
        perHost: Int? = nil, bytesPerSecond: Int64? = nil, minimumBytes: Int64 = 1000,
        slowFor: Duration = .seconds(30), connectTimeout: Duration = .seconds(15)
      ) {
        self.perHost = perHost
        self.bytesPerSecond = bytesPerSecond
        self.minimumBytes = minimumBytes
        self.slowFor = slowFor
        self.connectTimeout = connectTimeout
      }
    }

    /// An event of a download that runs here, for a screen. Reported on threads of the library: do not block them.
    @nonexhaustive
    public enum Event: Sendable {
      /// As many files of its host come as may at once, and the download waits for its turn: for a second in its slot, and
      /// then outside of it.
      case hasNoTurn(perHost: Int)
      /// The download has its turn at its host.
      case began
      /// The file lacks something that was requested, or is accepted without asking its server.
      case remarked(String)
      /// The download resumes after this many bytes.
      case goesOn(from: Int64)
      /// How many bytes of the file are here, and its size if known. At most ten times a second.
      case received(Int64, of: Int64?)
      /// The download will continue automatically, without using an attempt: its host asked to wait, the disk is full,
      /// the connection broke, or there is no network.
      case waits(String, for: Duration)
      case succeeded(DownloadedFile)
      /// The attempt failed. Another follows after that delay, unless this one was final or the last.
      case failed(DownloadError, isFinal: Bool, retryAfter: Duration?)
      /// The download was interrupted, and will resume where it is.
      case stopped
    }

    private let store: any JobStore
    private let limits: Limits
    private let hosts: Hosts
    private let promises = RoomPromises()
    private let secondNames = SecondNames()
    private let speed: SpeedLimit?
    private let clients: Clients
    private let proxies: Proxies
    private let permissions: Int?
    private let netrc: String?
    private let onEvent: @Sendable (JobContext, Download, Event) -> Void
    /// That files in their place were brought by their jobs.
    private let proofs = UntilStored<Transfer.NamingProof> { if $1 == .succeeded { $0.remove() } }
    private let subscription: StoreSignals.Subscription

    /// `permissions` are those of the files, such as `0o644`; by default `0o666` less the umask of the process.
    ///
    /// `netrc` is a file of users and passwords of hosts in the format of curl's `~/.netrc`, with any permissions. It
    /// is used for a download with neither a user in its URL nor an `Authorization` header; for a host that it
    /// redirects to only if the file names that, and not from https down to http. It is read for each attempt, and
    /// nothing of it is stored; a download that needs it fails if it can't be read. `~/.netrc` itself need not exist.
    public init(
      store: any JobStore, limits: Limits = Limits(), permissions: Int? = nil, netrc: URL? = nil,
      environment: [String: String] = ProcessInfo.processInfo.environment,
      onEvent: @escaping @Sendable (JobContext, Download, Event) -> Void = { _, _, _ in }
    ) {
      self.store = store
      self.limits = limits
      self.permissions = permissions
      self.netrc = netrc?.absolutePath
      self.onEvent = onEvent
      hosts = Hosts(seats: limits.perHost, clock: store.clock)
      speed = limits.bytesPerSecond.map { SpeedLimit(bytesPerSecond: $0, clock: store.clock) }
      clients = Clients(connectTimeout: limits.connectTimeout)
      proxies = Proxies(environment: environment)
      subscription = store.signals.listen { [proofs] in proofs.hear($0) }
    }

    /// Registers the downloader with `worker`.
    public func register(with worker: JobWorker) {
      proofs.keep(worker)
      worker.register(Download.self) { download, context in
        try await withTaskExecutorPreference(DiskThreads.of(folder: download.folder)) {
          try await self.run(download, context)
        }
      }
    }

    private func run(_ download: Download, _ context: JobContext) async throws -> DownloadedFile {
      let attempt = DownloadAttempt(download: download, context: context, clock: store.clock, onEvent: onEvent)
      do {
        let seat = try await seat(attempt)
        defer { withExtendedLifetime(seat) {} }
        attempt.tell(.began)
        Clients.prepare()
        let transfer = try transfer(attempt)
        var result = try await transfer.run()
        if download.keepsServerTime, !result.file.wasThere { result.file.hasServerTime = true }
        // Of a claim that is lost no end is told of here, and a proof that is kept locks a record that others want.
        _ = await context.isHeld()
        if let proof = result.proof, context.stopReason != .claimLost { proofs.add(proof, of: context.token) }
        attempt.tell(.succeeded(result.file))
        return result.file
      } catch {
        throw await end(error, attempt)
      }
    }

    private func transfer(_ attempt: DownloadAttempt) throws -> Transfer {
      let download = attempt.download
      let request = try FileRequest(download, clients: clients, proxies: proxies, hosts: hosts, netrc: netrc)
      return try Transfer(
        job: KnownJob(attempt.job, of: download), download: download, request: request,
        reception: Reception(
          limits: limits, speed: speed, clock: store.clock,
          goesOn: { attempt.tell(.goesOn(from: $0)) }, report: attempt.received),
        permissions: permissions,
        recorded: { [store] in
          try await Self.recorded(download, by: request.asker, path: $0, store)
        },
        ended: { [store] in
          let query = JobQuery(
            .kind(Download.self) && .key(download.identity) && (.state(.cancelled) || .state(.failed)),
            detail: .payload, order: .newestFirst, limit: 10)
          return try await store.jobs(query).map { job in
            let other = Download(of: job)
            return (KnownJob(job.id, of: other), other?.serves(download) == true)
          }
        },
        cameSince: { [store] in
          let others = OtherDownloads(store: store, users: $3)
          return try await others.brought($0, $1, in: $2, since: attempt.job, besides: download)
        },
        cameEver: { [store] in
          try await OtherDownloads(store: store, users: $3).broughtEver($0, $1, in: $2, besides: download)
        }, stoodAtFirst: attempt.first, remark: { attempt.tell(.remarked($0)) }, promises: promises,
        secondNames: secondNames, store: store.path)
    }

    private func seat(_ attempt: DownloadAttempt) async throws -> Hosts.Seat {
      let url = try attempt.download.address
      let admission = try await hosts.enter(url.origin, patience: .seconds(1)) {
        attempt.tell(.hasNoTurn(perHost: $0))
      }
      switch admission {
      case .seat(let seat): return seat
      case .isBusy: throw Setback.hasNoTurn(.seconds(.random(in: 1...3)))
      case .isPaused(let rest): throw Hosts.isPaused(url, rest)
      }
    }

    /// The error to report to the job for an attempt without a file.
    private func end(_ error: any Error, _ attempt: DownloadAttempt) async -> any Error {
      if let error = error as? DownloadError, error.isUnreached, await isSpared(attempt) {
        return attempt.wait(error.message, attempt.backOff(error)).asBackOff
      }
      switch error {
      case Setback.final(let error): return attempt.fail(error, isFinal: true)
      case Setback.forNow(let error): return attempt.fail(error, isFinal: false)
      case let error as DownloadError where error.code == .noRoom: return attempt.wait(error.message, .seconds(10))
      // The store's.
      case let error as JobError where error.isPassing: return attempt.wait(error.message, .seconds(10))
      case let error as DownloadError: return attempt.fail(error, isFinal: error.isFinal)
      case Setback.wentFurther(let error): return attempt.wait(error.message, .seconds(1))
      case Setback.hasNoTurn(let time): return JobExit.snooze(for: time)
      case Setback.heldUp(let reason, let time): return attempt.wait(reason, time)
      case Setback.busy(let error, let retryAfter, let origin):
        guard let retryAfter, let told = retryAfter.wait(now: store.clock.now) else {
          return attempt.fail(error, isFinal: false)
        }
        if retryAfter.isForAll { hosts.pause(origin, for: told) }
        // If it asks for less time than the back-off, the back-off applies.
        return attempt.again(error, after: max(told, attempt.backOff(error)))
      default:
        attempt.tell(.stopped)
        return error
      }
    }

    /// Whether an attempt that reached no server uses no attempt. A network may be away for a day, so after the first
    /// few only one within two hours counts.
    private func isSpared(_ attempt: DownloadAttempt) async -> Bool {
      guard attempt.number > 8,
        let job = try? await store.jobs(JobQuery(.id(attempt.job), detail: .failures, limit: 1)).first,
        let last = job.failures.last?.at
      else { return false }
      return (0..<7200).contains(store.clock.now.timeIntervalSince(last))
    }

    /// The file at `path` if the last download of the same URL to the same place left it, named by itself or not, and
    /// made the same request as this one.
    private static func recorded(
      _ download: Download, by asker: Asker, path: String, _ store: any JobStore
    ) async throws -> (DownloadedFile, KnownJob)? {
      var named = download
      var last: (job: JobSnapshot, file: DownloadedFile)?
      for name in [nil, (path as NSString).lastPathComponent] {
        named.name = name
        let query = JobQuery(
          .kind(Download.self) && .key(named.identity) && .state(.succeeded), detail: [.payload, .output],
          order: .newestFirst, limit: 20)
        for job in try await store.jobs(query) where job.id > last?.job.id ?? JobID(rawValue: 0) {
          // One that was found there may have been accepted for less than this one asks for.
          guard let output = job.output, let file = try? JSONDecoder().decode(DownloadedFile.self, from: output),
            file.path == path, !file.wasThere
          else { continue }
          last = (job, file)
          break
        }
      }
      // Whoever asked for it: what an earlier one brought is there no more.
      guard let (job, file) = last, let other = Download(of: job), other.serves(download), asker.mayAsk(as: file.user)
      else {
        return nil
      }
      return (file, KnownJob(job.id, of: other))
    }
  }

  extension Download {
    /// Nil if the job's payload is not a download.
    init?(of job: JobSnapshot) {
      guard let payload = job.payload, let download = try? JSONDecoder().decode(Download.self, from: payload) else {
        return nil
      }
      self = download
    }

    /// Whether both make the same request, which a user of the file of passwords is no part of; otherwise the answer may be
    /// for someone else.
    func asks(as other: Download) -> Bool { url == other.url && headers == other.headers }

    /// Whether what this one brought is what the other one asks for: with no less than that asks for.
    func serves(_ other: Download) -> Bool {
      asks(as: other) && (!acceptsUnknownLength || other.acceptsUnknownLength)
    }
  }
#endif
