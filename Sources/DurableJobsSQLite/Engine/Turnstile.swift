import DurableJobs

/// Lets callers through, counts those who are inside, and can be closed: then they wait outside.
final class Turnstile: Sendable {
  fileprivate struct State {
    var inside = 0
    var isClosed = false
    var outside: [CheckedContinuation<Void, Never>] = []
    var closer: CheckedContinuation<Void, Never>?
  }

  private let state = Lock(State())

  /// Runs `body` inside, once it is open. Who waits outside can't be cancelled there.
  func pass<R>(_ body: () async throws -> R) async rethrows -> R {
    while !enter() { await withCheckedContinuation { wait($0) } }
    defer { leave() }
    return try await body()
  }

  private func enter() -> Bool {
    state.withLock { state in
      if !state.isClosed { state.inside += 1 }
      return !state.isClosed
    }
  }

  private func wait(_ caller: CheckedContinuation<Void, Never>) {
    let isOpen = state.withLock { state in
      if state.isClosed { state.outside.append(caller) }
      return !state.isClosed
    }
    if isOpen { caller.resume() }
  }

  private func leave() {
    let closer = state.withLock { state in
      state.inside -= 1
      return state.inside == 0 ? state.takeCloser() : nil
    }
    closer?.resume()
  }

  /// Returns once nobody is inside any more.
  func close() async {
    await withCheckedContinuation { closer in
      let (before, isEmpty) = state.withLock { state in
        let before = state.takeCloser()
        state.isClosed = true
        if state.inside > 0 { state.closer = closer }
        return (before, state.inside == 0)
      }
      before?.resume()
      if isEmpty { closer.resume() }
    }
  }

  func open() {
    let (closer, outside) = state.withLock { state in
      defer { state.outside = [] }
      state.isClosed = false
      return (state.takeCloser(), state.outside)
    }
    closer?.resume()
    for caller in outside { caller.resume() }
  }
}

extension Turnstile.State {
  fileprivate mutating func takeCloser() -> CheckedContinuation<Void, Never>? {
    defer { closer = nil }
    return closer
  }
}
