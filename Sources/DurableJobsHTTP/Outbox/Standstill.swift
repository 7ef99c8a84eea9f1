#if HTTP
  import DurableJobs

  /// Notices a connection over which nothing moves any more.
  struct Standstill: Sendable {
    private let limit: Duration
    private let answerLimit: Duration
    private let clock: any JobClock
    /// When it has taken too long in all, whatever moves.
    private let end: Duration?
    /// When something moved last, and how long nothing may move from then on; nil once there is nothing to watch.
    private let state: Lock<(last: Duration, limit: Duration)?>
    private let gate = Gate()

    /// `answerLimit` holds while the server has all that is sent, and has not begun to answer.
    init(after limit: Duration, answerAfter answerLimit: Duration, clock: any JobClock, until end: Duration? = nil) {
      self.limit = limit
      self.answerLimit = answerLimit
      self.clock = clock
      self.end = end
      state = Lock((clock.uptime, limit))
    }

    /// Something moves.
    func moved() { moved(limit) }

    /// The last of the request has gone.
    func awaitsAnswer() { moved(answerLimit) }

    /// The server has decided, and no standstill changes that: this watches no more. What is returned watches the rest of
    /// its answer, which is given up after `answerLimit` in all.
    func decided() -> Standstill {
      stop()
      return Standstill(after: limit, answerAfter: answerLimit, clock: clock, until: clock.uptime + answerLimit)
    }

    private func stop() {
      state.withLock { $0 = nil }
      gate.open()
    }

    private func moved(_ limit: Duration) {
      let isOther = state.withLock { state in
        guard let old = state else { return false }
        state = (clock.uptime, limit)
        return old.limit != limit
      }
      if isOther { gate.open() }
    }

    /// Runs `body`; ends it, and throws ``RequestError/Code/stalled``, when nothing has moved for too long.
    ///
    /// `taken` is how much the other end has taken of what is sent, where that is known. The system takes more of a body at
    /// once than a slow line moves within a limit. It is asked when time is up, and counts as movement where it differs from the
    /// last time: so what stands still is given up after two limits at most.
    func watching<R: Sendable>(
      _ host: String, taken: @escaping @Sendable () async -> UInt64? = { nil },
      _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
      try await withThrowingTaskGroup { group in
        group.addTask {
          defer { stop() }
          return try await body()
        }
        var known: UInt64?
        while !Task.isCancelled {
          guard let (last, limit) = state.withLock({ $0 }) else { break }
          let now = clock.uptime
          if limit == self.limit, now - last >= limit, let taken = await taken(), taken != known {
            known = taken
            moved()
            continue
          }
          if let end, now >= end {
            throw RequestError(.stalled, "the answer of \(host) did not end in \(answerLimit.seconds.formatted()) s")
          }
          guard now - last < limit else {
            throw RequestError(.stalled, "\(host) took nothing and said nothing for \(limit.seconds.formatted()) s")
          }
          let timer = clock.schedule(after: min(last + limit, end ?? last + limit) - now) { gate.open() }
          await gate.pass()
          timer.cancel()
        }
        return try await group.next()!
      }
    }
  }
#endif
