#if HTTP
  import DurableJobs

  /// How many downloads talk to each host, and which hosts asked for a pause.
  final class Hosts: Sendable {
    /// A connection to a host, for as long as it is kept.
    final class Seat: Sendable {
      private let leave: @Sendable () -> Void
      fileprivate init(_ leave: @escaping @Sendable () -> Void) { self.leave = leave }
      deinit { leave() }
    }

    enum Admission {
      case seat(Seat)
      /// All its seats were taken for as long as one may wait here.
      case isBusy
      /// The host asked for a pause this long.
      case isPaused(Duration)
    }

    private final class Waiter: Sendable {
      let gate = Gate()
      let isSeated = Lock(false)
    }

    private struct Host {
      var taken = 0
      var waiting: [Waiter] = []
      var pausedUntil = Duration.zero
    }

    /// Nil for no limit.
    private let seats: Int?
    private let clock: any JobClock
    private let hosts = Lock<[String: Host]>([:])

    init(seats: Int?, clock: any JobClock) {
      self.seats = seats.map { max($0, 1) }
      self.clock = clock
    }

    /// Waits for a seat, first come, first served, but no longer than `patience`. If it has to, it calls `tell` with how many
    /// seats there are.
    func enter(_ name: String, patience: Duration, tell: (Int) -> Void = { _ in }) async throws -> Admission {
      let waiter = Waiter()
      let now = clock.uptime
      let pause = hosts.withLock { hosts -> Duration in
        var host = hosts[name, default: Host()]
        defer { hosts[name] = host }
        guard host.pausedUntil <= now else { return host.pausedUntil - now }
        if host.taken < seats ?? .max {
          host.taken += 1
          waiter.isSeated.withLock { $0 = true }
        } else {
          host.waiting.append(waiter)
        }
        return .zero
      }
      if pause > .zero { return .isPaused(pause) }
      if !waiter.isSeated.withLock({ $0 }) {
        tell(seats ?? 0)
        let timer = clock.schedule(after: patience) { waiter.gate.open() }
        await waiter.gate.pass()
        timer.cancel()
      }
      let isSeated = hosts.withLock { hosts in
        if waiter.isSeated.withLock({ $0 }) { return true }
        hosts[name]?.waiting.removeAll { $0 === waiter }
        return false
      }
      let seat = isSeated ? Seat { [weak self] in self?.leave(name) } : nil
      try Task.checkCancellation()
      guard let seat else { return .isBusy }
      // Who was here before may have been told to wait, and all others with it.
      let rest = rest(ofPauseOf: name)
      return rest > .zero ? .isPaused(rest) : .seat(seat)
    }

    private func rest(ofPauseOf name: String) -> Duration {
      hosts.withLock { $0[name]?.pausedUntil ?? .zero } - clock.uptime
    }

    /// Throws ``Setback/heldUp(by:for:)`` during a pause that the host asked for.
    func checkPause(of url: HTTPURL) throws {
      let rest = rest(ofPauseOf: url.origin)
      if rest > .zero { throw Self.isPaused(url, rest) }
    }

    static func isPaused(_ url: HTTPURL, _ rest: Duration) -> Setback {
      .heldUp(by: "\(url.hostAndPort) asked to wait", for: rest + .seconds(.random(in: 0...0.5)))
    }

    /// A longer wait that one download is told may be meant for its file alone.
    static let longestPause = Duration.seconds(60)

    /// Admits no one to the host for a while. Those that are talking to it continue.
    func pause(_ name: String, for duration: Duration) {
      let until = clock.uptime + min(duration, Self.longestPause)
      hosts.withLock { hosts in
        hosts[name, default: Host()].pausedUntil = max(hosts[name]?.pausedUntil ?? .zero, until)
      }
    }

    private func leave(_ name: String) {
      let next = hosts.withLock { hosts -> Waiter? in
        guard var host = hosts[name] else { return nil }
        defer { hosts[name] = host.taken > 0 || host.pausedUntil > clock.uptime ? host : nil }
        guard host.waiting.isEmpty else {
          let next = host.waiting.removeFirst()
          next.isSeated.withLock { $0 = true }
          return next
        }
        host.taken -= 1
        return nil
      }
      next?.gate.open()
    }
  }
#endif
