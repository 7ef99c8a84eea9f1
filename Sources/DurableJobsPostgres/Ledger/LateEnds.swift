#if Postgres
  import DurableJobs

  /// Jobs whose end could not be stored in the time of a call, with all that follows: very many wait for them, or somebody
  /// keeps one that does locked. Claims and sweeps, of which each would fail, leave them alone, and a worker's result is
  /// kept. Each is ended in a transaction of its own, which takes as long as it takes.
  final class LateEnds: Sendable {
    struct End {
      let id: JobID
      /// When it is tried next, by the store's clock.
      var due = Duration.zero
      /// What ended it, if that is not its deadline or a crash.
      var result: ClaimSettlement?
      /// What its worker is told until that is stored.
      var answer: JobError?
      /// Its worker has ended: nobody offers the result again.
      var isLeft = false
    }

    private struct State {
      var ends: [JobID: End] = [:]
      /// What is said of results that could not be stored, once, to who offers them again. Of those that nobody does, not
      /// all are remembered.
      var failures: [(token: ClaimToken, error: JobError)] = []
      var isAtWork = false
      var isClosed = false
      /// Who waits for the end of the work.
      var leaving: CheckedContinuation<Void, Never>?
    }

    private static let pause = Duration.seconds(300)
    private static let mostFailures = 1000
    private let state = Lock(State())

    var count: Int64 { state.withLock { Int64($0.ends.count) } }

    func contains(_ id: JobID) -> Bool { state.withLock { $0.ends[id] != nil } }

    func without(_ ids: [JobID]) -> [JobID] { state.withLock { state in ids.filter { state.ends[$0] == nil } } }

    /// They may be among those whose end was too much.
    func suspect(_ ids: [JobID]) {
      state.withLock { state in for id in ids where state.ends[id] == nil { state.ends[id] = End(id: id) } }
    }

    /// A worker's result was too much for a call.
    func keep(_ result: ClaimSettlement, answer: JobError) {
      let id = result.token.job
      state.withLock { $0.ends[id] = End(id: id, result: result, answer: answer) }
    }

    /// The worker of these rows ends. What it has offered is given back if it can't be stored.
    func leave(by rows: [Int64]) {
      state.withLock { state in
        for (id, end) in state.ends {
          if let result = end.result, rows.contains(result.token.worker) { state.ends[id]?.isLeft = true }
        }
      }
    }

    /// The claims whose results are kept. What is asked of their jobs waits for those.
    var claims: Set<ClaimToken> { state.withLock { Set($0.ends.values.compactMap { $0.result?.token }) } }

    /// What a worker is told if one of these is kept, or could not be stored.
    func answer(to results: [ClaimSettlement]) -> JobError? {
      state.withLock { state in
        guard !state.ends.isEmpty || !state.failures.isEmpty else { return nil }
        for token in results.map(\.token) {
          if let end = state.ends[token.job], end.result?.token == token { return end.answer }
          if let place = state.failures.firstIndex(where: { $0.token == token }) {
            return state.failures.remove(at: place).error
          }
        }
        return nil
      }
    }

    /// Whether the caller has to end those that are due. It asks for ``next(at:)`` until there is none, and then rests.
    func begin(at now: Duration) -> Bool {
      state.withLock { state in
        guard !state.isAtWork, !state.isClosed, state.ends.contains(where: { $0.value.due <= now }) else {
          return false
        }
        state.isAtWork = true
        return true
      }
    }

    /// Results first, whose workers wait.
    func next(at now: Duration) -> End? {
      state.withLock { state in
        guard !state.isClosed else { return nil }
        return state.ends.values.filter { $0.due <= now }
          .min { ($0.result == nil ? 1 : 0, $0.due, $0.id) < ($1.result == nil ? 1 : 0, $1.due, $1.id) }
      }
    }

    /// It was ended, or is to be tried again: a result by its worker, which offers it again and is told of the error. Once that
    /// has ended, its job is given back.
    func tried(_ id: JobID, hasEnded: Bool, _ error: JobError? = nil, at now: Duration) {
      state.withLock { state in
        // What could not be stored as its store is closed is not offered to a call, either.
        guard hasEnded || !state.isClosed else { return }
        let end = state.ends[id]
        if hasEnded || end?.result != nil {
          state.ends[id] = nil
          guard let end, let result = end.result, let error, !hasEnded else { return }
          guard !end.isLeft else {
            state.ends[id] = End(id: id, result: ClaimSettlement(token: result.token, result: .interrupted))
            return
          }
          let isPassing = error.isPassing
          state.failures.append(
            (result.token, isPassing ? JobError(error.code, error.message, cause: ResultUnderWay.failed) : error))
          if state.failures.count > Self.mostFailures { state.failures.removeFirst() }
        } else {
          state.ends[id]?.due = now + Self.pause
        }
      }
    }

    func rest() {
      let leaving = state.withLock { state in
        defer { (state.isAtWork, state.leaving) = (false, nil) }
        return state.leaving
      }
      leaving?.resume()
    }

    // MARK: Closing

    var isClosed: Bool { state.withLock(\.isClosed) }

    /// What is under way is given up.
    func close() { state.withLock { $0.isClosed = true } }

    /// Closes, and returns once nothing is under way. What is kept stays so.
    func end() async {
      await withCheckedContinuation { continuation in
        let isAtWork = state.withLock { state in
          state.isClosed = true
          if state.isAtWork { state.leaving = continuation }
          return state.isAtWork
        }
        if !isAtWork { continuation.resume() }
      }
    }
  }
#endif
