#if HTTP
  import DurableJobs
  import Foundation

  /// Sends ``SendRequest`` jobs. One outbox serves any number of workers of a store.
  ///
  /// Without a network a request waits. It is tried again after seconds at first, later each minute, and uses no attempt up
  /// while it is younger than ``patience``. What the server answers decides the rest:
  ///
  /// - 2xx: it has arrived.
  /// - 408, 425, 429, 5xx but 501 and 505, any 4xx with `Retry-After`, and a connection that broke: again, not before
  ///   `Retry-After`; likewise 409 where an earlier sending with the same key may be at work still.
  /// - 307 and 308 are followed with method and body, but not from https to http; 301, 302 and 303 for GET and HEAD only.
  /// - Anything else: it has failed.
  ///
  /// A cause outside the request suspends it, with the reason: an unknown secret, an unreadable file of headers or
  /// passwords, an unusable proxy. Proxies come from the environment, as in curl.
  public final class Outbox: Sendable {
    /// For this long after it was enqueued, a request that reaches no server uses no attempts.
    public static let patience = Duration.seconds(7 * 24 * 3600)

    /// An event of a request that is sent here, for a screen. Reported on threads of the library: do not block them.
    @nonexhaustive
    public enum Event: Sendable {
      case began
      /// It will be tried again automatically, without using an attempt.
      case waits(String, for: Duration)
      /// It is suspended until someone has fixed the cause.
      case held(String)
      case succeeded(HTTPAnswer)
      /// The attempt failed. Another follows after that delay, unless this one was final or the last.
      case failed(RequestError, isFinal: Bool, retryAfter: Duration?)
      /// It was interrupted, and will be sent again.
      case stopped
    }

    private let store: any JobStore
    private let stallTimeout: Duration
    private let answerTimeout: Duration
    private let netrc: String?
    private let secret: @Sendable (String) async throws -> String?
    private let onEvent: @Sendable (JobContext, SendRequest, Event) -> Void
    private let clients: Clients
    private let proxies: Proxies
    private let hosts: Hosts
    private let bodies: BodyFolder
    /// What stands beside the store of attempts that have ended.
    private let left: UntilStored<Leftover>
    private let subscription: StoreSignals.Subscription
    private let nextSweep = Lock(Duration.zero)
    /// Jobs that may have arrived, and have not succeeded since.
    private let unanswered = Lock<Set<JobID>>([])

    /// `secret` is asked for the value of a secret each time a request that names it is sent. Its values are put into
    /// headers and nowhere else: they are neither stored nor told. Where it returns nil the request is suspended; where it
    /// throws, as while a keychain is locked, the request waits as without a network.
    ///
    /// `netrc` is a file of users and passwords of hosts as for a ``Downloader``, used where no header is `Authorization`.
    ///
    /// A connection has `connectTimeout` to come about, and is given up when nothing has moved for `stallTimeout`, neither
    /// of the request nor of the answer. Between these a server has `answerTimeout` for its work: a request that is given up
    /// then may have been carried out, and is sent again. Once an answer has begun it decides: its body has `answerTimeout`
    /// in all, and one that stands still or takes longer is kept as far as it came.
    public init(
      store: any JobStore, connectTimeout: Duration = .seconds(15), stallTimeout: Duration = .seconds(60),
      answerTimeout: Duration = .seconds(600), netrc: URL? = nil,
      environment: [String: String] = ProcessInfo.processInfo.environment,
      secret: @escaping @Sendable (_ name: String) async throws -> String? = { _ in nil },
      onEvent: @escaping @Sendable (JobContext, SendRequest, Event) -> Void = { _, _, _ in }
    ) {
      self.store = store
      self.stallTimeout = stallTimeout
      self.answerTimeout = answerTimeout
      self.netrc = netrc?.absolutePath
      self.secret = secret
      self.onEvent = onEvent
      clients = Clients(connectTimeout: connectTimeout)
      proxies = Proxies(environment: environment)
      hosts = Hosts(seats: nil, clock: store.clock)
      let bodies = BodyFolder(of: store)
      self.bodies = bodies
      left = UntilStored { [unanswered] leftover, state in
        // One that ended otherwise may be sent again yet, by a retry.
        if state == .succeeded {
          leftover.record.map(bodies.remove)
          _ = unanswered.withLock { $0.remove(leftover.job) }
        } else if state.isFinished {
          leftover.record.map { SendRecord.giveRoomBack($0, in: bodies) }
        }
        if state == .succeeded { leftover.copy.map(bodies.remove) }
      }
      subscription = store.signals.listen { [left] in left.hear($0) }
    }

    /// Registers the outbox with `worker`.
    public func register(with worker: JobWorker) {
      left.keep(worker)
      worker.whileRunning {
        await withTaskExecutorPreference(DiskThreads.of(folder: self.bodies.path)) { await self.sweepIfDue() }
      }
      worker.register(SendRequest.self) { request, context in
        let folder = self.bodies.path
        await withTaskExecutorPreference(DiskThreads.of(folder: folder)) { await self.sweepIfDue() }
        // Of a file that is the caller's own, nobody knows what it is on.
        let file = request.body.fileInPlace ?? request.headerFiles.first ?? folder + "/"
        return try await withTaskExecutorPreference(DiskThreads.of(file: file)) { try await self.run(request, context) }
      }
    }

    /// What it does not come to now, it comes to later.
    private func sweepIfDue() async {
      let now = store.clock.uptime
      let isDue = nextSweep.withLock { next in
        guard now >= next else { return false }
        next = now + .seconds(3600)
        return true
      }
      guard isDue else { return }
      // It comes to an end by itself, also where the worker's run ends sooner.
      await Task { [bodies, store] in try? await bodies.sweep(store, at: now) }.value
    }

    private func run(_ request: SendRequest, _ context: JobContext) async throws -> HTTPAnswer {
      let attempt = SendAttempt(request: request, context: context, onEvent: onEvent)
      attempt.tell(.began)
      var record: SendRecord?
      do {
        let url = try HTTPURL(checking: request.url)
        try hosts.checkPause(of: url)
        record = try SendRecord(of: request, by: context.id, storedAt: context.createdAt, in: bodies)
        let answer = try await answer(to: request, at: url, attempt, record)
        left.add(
          Leftover(job: context.id, record: record?.name, copy: await ownCopy(of: request)), of: context.token)
        attempt.tell(.succeeded(answer))
        return answer
      } catch {
        // The first sending may have arrived, however the second one went.
        let mayHaveArrived = attempt.wasRepeated.value || Self.mayHaveArrived(error)
        if mayHaveArrived { _ = unanswered.withLock { $0.insert(context.id) } }
        if mayHaveArrived || record?.wasSent == true {
          left.add(Leftover(job: context.id, record: record?.name), of: context.token)
        } else {
          record?.remove(from: bodies)
        }
        throw await end(error, attempt)
      }
    }

    private func answer(
      to request: SendRequest, at url: HTTPURL, _ attempt: SendAttempt, _ record: SendRecord?
    ) async throws -> HTTPAnswer {
      if let answer = record?.answer { return answer }
      let answer = try await delivery(of: request, to: url, attempt, record).answer()
      record?.note(answer)
      return answer
    }

    /// The copy of its body, if it is of this job alone.
    private func ownCopy(of request: SendRequest) async -> String? {
      guard let copy = request.body.copy, let others = try? await bodies.scheduled([copy], in: store) else {
        return nil
      }
      return others.isEmpty ? copy : nil
    }

    /// Of an attempt of a job, by names.
    private struct Leftover {
      let job: JobID
      var record: String?
      /// Of its body.
      var copy: String?
    }

    /// Whether the request may have been carried out, though no server has said so.
    private static func mayHaveArrived(_ error: any Error) -> Bool {
      switch error {
      case is Undelivered, is Delivery.Refusal, is Setback: false
      case let error as DownloadError:
        !error.isUnreached && !error.isUnsent && ![.noRoom, .invalidDownload].contains(error.code)
      case let error as RequestError: ![.unusableBody, .shortage].contains(error.code)
      default: true
      }
    }

    /// Why a request was not sent.
    private enum Undelivered: Error {
      case held(String)
      /// The copy of its body is not on this machine.
      case isElsewhere(String)
      /// Nobody could be reached, or nobody who knows a secret.
      case isOffline(RequestError)
    }

    // MARK: Before it is sent

    private func delivery(
      of request: SendRequest, to url: HTTPURL, _ attempt: SendAttempt, _ record: SendRecord?
    ) async throws -> Delivery {
      if let copy = request.body.copy, bodies.isElsewhere(copy) {
        throw Undelivered.isElsewhere(
          "its body is not on this machine, which would have it as \(bodies.path(of: copy)); a worker on the machine that has "
            + "it, and names the folder of the store there, sends it. If none has, cancel the job")
      }
      let isKnown = unanswered.withLock { $0.contains(attempt.context.id) } || record?.wasSent == true
      var headers = request.headers
      var secrets = request.url.secretFields
      do {
        for path in request.headerFiles {
          let read = try HeaderFile.headers(path)
          secrets += read.flatMap(\.secrets)
          headers += read
        }
        let values = try await self.secrets(named: Set(headers.flatMap(\.secretNames)))
        secrets += values.values.map { Data($0.utf8) }
        for index in headers.indices {
          headers[index].value = SecretNames.filled(headers[index].value, with: values)
        }
        secrets += headers.filter { SecretPlaces.isSecret(header: $0.name) }.flatMap(\.secrets)
        let isAuthorized = headers.contains { $0.name.lowercased() == "authorization" }
        let netrc = isAuthorized ? nil : try self.netrc.flatMap { try Netrc.read($0) }
        _ = try proxies.proxy(for: url)
        return Delivery(
          request: request, url: url, headers: headers, netrc: netrc,
          secrets: secrets, clients: clients, proxies: proxies, hosts: hosts,
          standstill: Standstill(after: stallTimeout, answerAfter: answerTimeout, clock: store.clock),
          bodyPath: request.body.fileInPlace ?? request.body.copy.map(bodies.path(of:)),
          onProgress: attempt.sent, onArrival: { record?.note($0) },
          wasSentBefore: { await self.wasSent(attempt, isKnown: isKnown) },
          wasRepeated: attempt.wasRepeated)
      } catch let error as DownloadError where error.code != .noRoom {
        throw Undelivered.held(error.message)
      }
    }

    /// Whether an attempt before this one may have arrived. One that was stopped is no attempt, and neither is one whose process
    /// died.
    private func wasSent(_ attempt: SendAttempt, isKnown: Bool) async -> Bool {
      if attempt.context.attempt > 1 || isKnown { return true }
      let job = try? await store.jobs(JobQuery(.id(attempt.context.id), limit: 1)).first
      return job.map { $0.crashes > 0 } ?? false
    }

    private func secrets(named names: Set<String>) async throws -> [String: String] {
      var values: [String: String] = [:]
      for name in names.sorted() {
        let value: String?
        do {
          value = try await secret(name)
        } catch {
          try Task.checkCancellation()
          // What it says may say too much.
          throw Undelivered.isOffline(
            RequestError(.invalidRequest, "the secret '\(name)' can't be had now (\(type(of: error)))"))
        }
        guard let value = value?.trimmingCharacters(in: .whitespacesAndNewlines) else {
          throw Undelivered.held("the worker knows no secret '\(name)'; tell it, and resume the job")
        }
        guard value.isHeaderValue else {
          throw Undelivered.held("the secret '\(name)' has control characters in it, and can't be sent in a header")
        }
        values[name] = value
      }
      return values
    }

    // MARK: What comes next

    /// What the job is told of an attempt that brought no answer.
    private func end(_ error: any Error, _ attempt: SendAttempt) async -> any Error {
      switch error {
      case Setback.heldUp(let reason, let time): return attempt.wait(reason, time)
      case Undelivered.held(let reason): return attempt.hold(reason)
      case Undelivered.isElsewhere(let reason): return attempt.wait(reason, .seconds(.random(in: 30...60)))
      case Undelivered.isOffline(let error): return await offline(error, attempt)
      case Delivery.Refusal.final(let error): return attempt.fail(error)
      case Delivery.Refusal.forNow(let error, let retryAfter, let origin):
        return again(error, attempt, retryAfter, by: origin)
      case let error as RequestError where error.code == .unusableBody: return attempt.fail(error)
      case let error as RequestError where error.code == .shortage: return attempt.wait(error.message, .seconds(10))
      case let error as RequestError: return again(error, attempt)
      // The proxy's, or that of the file of certificates.
      case Setback.final(let error): return attempt.hold(error.message)
      case let error as DownloadError where error.code == .noRoom: return attempt.wait(error.message, .seconds(10))
      case let error as DownloadError where error.code == .invalidDownload: return attempt.hold(error.message)
      case let error as DownloadError where error.isUnreached: return await offline(RequestError(error), attempt)
      case let error as DownloadError: return again(RequestError(error), attempt)
      default:
        attempt.tell(.stopped)
        return error
      }
    }

    /// A young request waits; what is older than ``patience`` uses an attempt up.
    private func offline(_ error: RequestError, _ attempt: SendAttempt) async -> JobExit {
      let now = store.clock.now
      let job = try? await store.jobs(JobQuery(.id(attempt.context.id), limit: 1)).first
      let age = Duration.seconds(now.timeIntervalSince(job?.createdAt ?? now))
      guard age < Self.patience else { return again(error, attempt) }
      return attempt.wait(error.message, Self.offlineWait(age: age, random: .random(in: 0...1))).asBackOff
    }

    /// A message that was written just now is tried again soon; what has waited for a day is no worse off for a minute.
    static func offlineWait(age: Duration, random: Double) -> Duration {
      min(max(age / 8, .seconds(1)), .seconds(60)) * (0.5 + random / 2)
    }

    private func again(
      _ error: RequestError, _ attempt: SendAttempt, _ retryAfter: RetryAfter? = nil, by origin: String = ""
    ) -> JobExit {
      guard let retryAfter, let told = retryAfter.wait(now: store.clock.now) else {
        return attempt.again(error, after: attempt.backOff(error)).asBackOff
      }
      if retryAfter.isForAll { hosts.pause(origin, for: told) }
      // One that asks for too little is left the time that grows with each attempt.
      return attempt.again(error, after: max(told, attempt.backOff(error)))
    }
  }
#endif
