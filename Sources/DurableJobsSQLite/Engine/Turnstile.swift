import DurableJobs

/// Lets callers through, counts those who are inside, and can be closed: then they wait outside.
final class Turnstile: Sendable {
  private typealias Line = [CheckedContinuation<Void, Never>]

  private struct State {
    var inside = 0
    var isClosed = false
    var outside: Line = []
    var closers: Line = []
  }

  private let state = Lock(State())

  /// Runs `body` inside, once it is open. Who waits outside can't be cancelled there.
  func pass<R>(_ body: () async throws -> R) async rethrows -> R {
    while !enter() { await wait(in: \.outside) { $0.isClosed } }
    defer { leave() }
    return try await body()
  }

  /// Returns once nobody is inside any more, or it is open again.
  func close() async {
    state.withLock { $0.isClosed = true }
    await wait(in: \.closers) { $0.isClosed && $0.inside > 0 }
  }

  func open() {
    let all = state.withLock { state in
      defer { state = State(inside: state.inside) }
      return state.outside + state.closers
    }
    for one in all { one.resume() }
  }

  private func enter() -> Bool {
    state.withLock { state in
      if !state.isClosed { state.inside += 1 }
      return !state.isClosed
    }
  }

  private func leave() {
    let closers = state.withLock { state -> Line in
      state.inside -= 1
      guard state.inside == 0 else { return [] }
      defer { state.closers = [] }
      return state.closers
    }
    for one in closers { one.resume() }
  }

  private func wait(in line: WritableKeyPath<State, Line>, while mustWait: (State) -> Bool) async {
    await withCheckedContinuation { one in
      let waits = state.withLock { state in
        if mustWait(state) { state[keyPath: line].append(one) }
        return mustWait(state)
      }
      if !waits { one.resume() }
    }
  }
}
