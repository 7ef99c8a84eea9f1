#if HTTP
  import DurableJobs

  /// Notices a connection over which nothing moves any more.
  struct Standstill: Sendable {
    private struct State {
      /// When something moved last, and how long nothing may move from then on.
      var last: Duration
      var limit: Duration
      /// When it has taken too long in all, whatever moves.
      var end: Duration?
      /// There is nothing to watch any more.
      var isOver = false
    }

    private let limit: Duration
    private let answerLimit: Duration
    private let clock: any JobClock
    private let state: Lock<State>
    /// What watches once the server has decided.
    private let rest = Lock<Standstill?>(nil)
    private let gate = Gate()

    /// `answerLimit` holds while the server has all that is sent, and has not begun to answer.
    init(after limit: Duration, answerAfter answerLimit: Duration, clock: any JobClock) {
      self.limit = limit
      self.answerLimit = answerLimit
      self.clock = clock
      state = Lock(State(last: clock.uptime, limit: limit))
    }

    /// Something moves.
    func moved() { moved(limit) }

    /// The last of the request is on its way.
    func awaitsAnswer() { moved(answerLimit) }

    /// The server has decided, and no standstill changes that: this watches no more. What is returned watches what is left of
    /// the request, and the rest of its answer, which is given up `answerLimit` after all was sent.
    func decided(hasSent: Bool = true) -> Standstill {
      let rest = Standstill(after: limit, answerAfter: answerLimit, clock: clock)
      self.rest.withLock { $0 = rest }
      if hasSent { sentAll() }
      stop()
      return rest
    }

    /// All of the request has gone.
    func sentAll() {
      guard let rest = rest.value else { return }
      rest.state.withLock { ($0.last, $0.limit, $0.end) = (clock.uptime, limit, clock.uptime + answerLimit) }
      rest.gate.open()
    }

    private func stop() {
      state.withLock { $0.isOver = true }
      gate.open()
    }

    private func moved(_ limit: Duration) {
      if let rest = rest.value { return rest.moved(limit) }
      let isOther = state.withLock { state in
        defer { (state.last, state.limit) = (clock.uptime, limit) }
        return state.limit != limit
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
          let state = state.value
          if state.isOver { break }
          let (now, last, limit, end) = (clock.uptime, state.last, state.limit, state.end)
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
