#if HTTP
  import DurableJobs

  /// Notices a connection over which nothing moves any more.
  struct Standstill: Sendable {
    private let limit: Duration
    private let clock: any JobClock
    /// When something moved last; nil once there is nothing to watch.
    private let last: Lock<Duration?>
    private let gate = Gate()

    init(after limit: Duration, clock: any JobClock) {
      self.limit = limit
      self.clock = clock
      last = Lock(clock.uptime)
    }

    /// Something moves.
    func moved() { last.withLock { if $0 != nil { $0 = clock.uptime } } }

    /// Runs `body`; ends it, and throws ``RequestError/Code/stalled``, when nothing has moved for too long.
    func watching<R: Sendable>(_ host: String, _ body: @escaping @Sendable () async throws -> R) async throws -> R {
      try await withThrowingTaskGroup { group in
        group.addTask {
          defer {
            last.withLock { $0 = nil }
            gate.open()
          }
          return try await body()
        }
        while let last = last.withLock({ $0 }), !Task.isCancelled {
          let left = limit - (clock.uptime - last)
          guard left > .zero else {
            throw RequestError(.stalled, "\(host) took nothing and said nothing for \(limit.seconds.formatted()) s")
          }
          let timer = clock.schedule(after: left) { gate.open() }
          await gate.pass()
          timer.cancel()
        }
        return try await group.next()!
      }
    }
  }
#endif
