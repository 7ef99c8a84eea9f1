#if HTTP
  import DurableJobs
  import NIOCore

  /// What the server will answer, and the answers that wait for the test.
  final class Script: Sendable {
    /// An answer that waits for the test.
    struct Held {
      let path: String
      /// Its exchange's, in the journal.
      let number: Int
      let promise: EventLoopPromise<Void>
    }

    private struct State {
      var answers: [String: ArraySlice<LyingAnswer>] = [:]
      var held: [Held] = []
    }

    private let state = Lock(State())

    func set(_ answers: [LyingAnswer], for path: String) { state.withLock { $0.answers[path] = answers[...] } }

    /// The next answer of that path; the last one stays.
    func take(for path: String) -> LyingAnswer {
      state.withLock { state in
        guard let answers = state.answers[path], let next = answers.first else { return .page(404) }
        if answers.count > 1 { state.answers[path]!.removeFirst() }
        return next
      }
    }

    /// `tell`s of it in the same step: who heard of it can release it, and is told of that after.
    func hold(_ held: Held, _ tell: () -> Void) {
      state.withLock {
        $0.held.append(held)
        tell()
      }
    }

    /// Those that are held now, which the caller lets go on.
    func takeHeld(_ path: String?) -> [Held] {
      state.withLock { state in
        let taken = state.held.filter { path == nil || $0.path == path }
        state.held.removeAll { path == nil || $0.path == path }
        return taken
      }
    }
  }
#endif
