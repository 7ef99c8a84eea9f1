import DurableJobs

/// A condition that you set: `worker.provide(.network, network)`, and then `network.isSatisfied = false`.
public final class ManualConstraint: ConstraintMonitor {
  private struct State {
    var isSatisfied: Bool
    var listeners: [Int: AsyncStream<Bool>.Continuation] = [:]
    var lastKey = 0
  }

  private let state: Lock<State>

  public init(_ isSatisfied: Bool) { state = Lock(State(isSatisfied: isSatisfied)) }

  public var isSatisfied: Bool {
    get { state.withLock { $0.isSatisfied } }
    set {
      state.withLock { state in
        state.isSatisfied = newValue
        for listener in state.listeners.values { listener.yield(newValue) }
      }
    }
  }

  public func changes() -> some AsyncSequence<Bool, Never> {
    let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
    let key = state.withLock { state in
      state.lastKey += 1
      state.listeners[state.lastKey] = continuation
      continuation.yield(state.isSatisfied)
      return state.lastKey
    }
    continuation.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.listeners.removeValue(forKey: key) } }
    return stream
  }
}
