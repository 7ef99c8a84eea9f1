#if Postgres
  import DurableJobs

  /// Jobs whose end could not be stored in the time of a call, with all that follows: very many wait for them, or somebody
  /// keeps one that does locked. Claims and sweeps, of which each would fail, leave them alone. Each is ended in a
  /// transaction of its own, which is tried again after a while.
  final class LateEnds: Sendable {
    private struct State {
      /// When each is tried next, by the store's clock.
      var jobs: [JobID: Duration] = [:]
      var isAtWork = false
    }

    private static let pause = Duration.seconds(300)
    private let state = Lock(State())

    var count: Int64 { state.withLock { Int64($0.jobs.count) } }

    func contains(_ id: JobID) -> Bool { state.withLock { $0.jobs[id] != nil } }

    func without(_ ids: [JobID]) -> [JobID] { state.withLock { state in ids.filter { state.jobs[$0] == nil } } }

    /// They may be among those whose end was too much.
    func suspect(_ ids: [JobID]) {
      state.withLock { state in for id in ids where state.jobs[id] == nil { state.jobs[id] = .zero } }
    }

    /// Whether the caller has to end those that are due. It asks for ``next(at:)`` until there is none.
    func begin(at now: Duration) -> Bool {
      state.withLock { state in
        guard !state.isAtWork, state.jobs.contains(where: { $0.value <= now }) else { return false }
        state.isAtWork = true
        return true
      }
    }

    func next(at now: Duration) -> JobID? {
      state.withLock { state in
        let next = state.jobs.first { $0.value <= now }?.key
        if next == nil { state.isAtWork = false }
        return next
      }
    }

    /// It was ended, or is to be tried again.
    func tried(_ id: JobID, hasEnded: Bool, at now: Duration) {
      state.withLock { $0.jobs[id] = hasEnded ? nil : now + Self.pause }
    }
  }
#endif
