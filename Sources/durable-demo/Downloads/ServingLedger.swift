#if Shell
  import DurableJobs

  /// What the demo's server gave away, and to which worker.
  final class ServingLedger: Sendable {
    private struct State {
      var served = 0
      var onHalf: (@Sendable () -> Void)?
      var worker = 1
      var killedAt: ContinuousClock.Instant?
      var wentOnAt: ContinuousClock.Instant?
    }

    /// The size of all files.
    let total: Int
    private let state = Lock(State())

    init(total: Int) { self.total = total }

    /// Bytes that went out, those that were fetched twice counted twice.
    var served: Int { state.withLock { $0.served } }

    /// The number of the worker that opens connections now, from 1.
    var worker: Int { state.withLock { $0.worker } }

    /// From the kill to the first byte that went to another worker; nil if either did not happen.
    var gap: Duration? {
      state.withLock { state in
        guard let killedAt = state.killedAt, let wentOnAt = state.wentOnAt else { return nil }
        return killedAt.duration(to: wentOnAt)
      }
    }

    /// Calls `body` once, on the server's thread, when more than half of all bytes went out. Before the first byte.
    func atHalf(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onHalf = body } }

    /// Bytes went out on a connection of that worker.
    func sent(_ count: Int, to worker: Int, now: ContinuousClock.Instant = .now) {
      let onHalf = state.withLock { state -> (@Sendable () -> Void)? in
        state.served += count
        if worker > 1, state.wentOnAt == nil { state.wentOnAt = now }
        guard state.served > total / 2 else { return nil }
        defer { state.onHalf = nil }
        return state.onHalf
      }
      onHalf?()
    }

    func killed(now: ContinuousClock.Instant = .now) { state.withLock { $0.killedAt = now } }

    /// Who connects from now on is the next worker.
    func nextWorker() { state.withLock { $0.worker += 1 } }
  }
#endif
