#if HTTP
  import DurableJobs
  import NIOCore

  /// What the server will answer, and the answers that wait for the test.
  final class Script: Sendable {
    private struct State {
      var answers: [String: ArraySlice<Answer>] = [:]
      var held: [(path: String, promise: EventLoopPromise<Void>)] = []
    }

    private let state = Lock(State())

    func set(_ answers: [Answer], for path: String) { state.withLock { $0.answers[path] = answers[...] } }

    /// The next answer of that path; the last one stays.
    func take(for path: String) -> Answer {
      state.withLock { state in
        guard let answers = state.answers[path], let next = answers.first else { return .page(404) }
        if answers.count > 1 { state.answers[path]!.removeFirst() }
        return next
      }
    }

    func hold(_ promise: EventLoopPromise<Void>, for path: String) {
      state.withLock { $0.held.append((path, promise)) }
    }

    /// Lets those go on that are held now.
    func release(_ path: String?) {
      let released = state.withLock { state in
        let released = state.held.filter { path == nil || $0.path == path }
        state.held.removeAll { path == nil || $0.path == path }
        return released
      }
      for held in released { held.promise.succeed() }
    }
  }
#endif
