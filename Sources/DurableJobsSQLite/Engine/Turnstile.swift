import DurableJobs

/// Admits and counts callers, and can be closed, which makes new ones wait.
final class Turnstile: Sendable {
  private struct State {
    var inside = 0
    var isClosed = false
    var waiting: [CheckedContinuation<Void, Never>] = []

    mutating func enter() -> Bool {
      if !isClosed { inside += 1 }
      return !isClosed
    }
  }

  /// Whether the current task is inside and may enter again, however closed it is meanwhile.
  @TaskLocal static var isInside = false

  private let state = Lock(State())

  /// Runs `body` inside, once open. Waiting to enter can't be cancelled, but a worker that is stopped is sent away.
  func pass<R>(_ body: () async throws -> R) async throws -> R {
    if Self.isInside { return try await body() }
    if !state.withLock({ $0.enter() }) {
      let stop = WorkerLoop.stop
      stop?.listen { [weak self] in self?.change { _ in } }
      var isIn = false
      await wait { state in
        isIn = state.enter()
        return isIn || stop?.isRung ?? false
      }
      guard isIn else { throw JobError(.locked, "the store is suspended until resumeFromBackground()") }
    }
    defer { change { $0.inside -= 1 } }
    return try await body()
  }

  /// Returns once everyone has left, or it was opened again.
  func close() async {
    change { $0.isClosed = true }
    await wait { $0.inside == 0 || !$0.isClosed }
  }

  func open() { change { $0.isClosed = false } }

  private func change(_ body: (inout State) -> Void) {
    let waiting = state.withLock { state in
      body(&state)
      return exchange(&state.waiting, with: [])
    }
    for one in waiting { one.resume() }
  }

  private func wait(until holds: (inout State) -> Bool) async {
    var isOver = false
    while !isOver {
      await withCheckedContinuation { one in
        isOver = state.withLock { state in
          let isOver = holds(&state)
          if !isOver { state.waiting.append(one) }
          return isOver
        }
        if isOver { one.resume() }
      }
    }
  }
}
