#if HTTP
  import DurableJobs

  /// A request, and what became of it.
  public struct Exchange: Sendable {
    public let request: Request
    /// What was answered; 0 for nothing.
    public let status: Int
    /// Bytes of the body that the system took: what was sent, but for what a broken connection swallowed.
    public internal(set) var bytesSent: Int64 = 0
    /// Whether the server waits for the test.
    public internal(set) var isHeld = false
    /// Whether all was sent that the script wanted, or the connection is gone.
    public internal(set) var isOver = false

    public var path: String { request.path }
    /// Up to where of the file it came, if the range was as it was asked for.
    public var end: Int64 { (status == 206 ? request.rangeStart ?? 0 : 0) + bytesSent }
  }

  /// What happened, and who waits for what to happen.
  final class Journal: Sendable {
    private struct Waiter {
      let key: Int
      let condition: @Sendable ([Exchange]) -> Bool
      let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
      var exchanges: [Exchange] = []
      var connections = 0
      var highestConnections = 0
      var highestRequests = 0
      var waiters: [Waiter] = []
      var lastKey = 0

      mutating func takeWaiters() -> [Waiter] {
        guard !waiters.isEmpty else { return [] }
        let exchanges = exchanges
        let taken = waiters.filter { $0.condition(exchanges) }
        waiters.removeAll { waiter in taken.contains { $0.key == waiter.key } }
        return taken
      }
    }

    private let state = Lock(State())

    var exchanges: [Exchange] { state.withLock { $0.exchanges } }
    var highestConnections: Int { state.withLock { $0.highestConnections } }
    var highestRequests: Int { state.withLock { $0.highestRequests } }

    func connect() {
      state.withLock {
        $0.connections += 1
        $0.highestConnections = max($0.highestConnections, $0.connections)
      }
    }

    func disconnect() { state.withLock { $0.connections -= 1 } }

    /// Returns the number of the exchange, by which it is changed.
    func begin(_ exchange: Exchange) -> Int {
      change { state in
        state.exchanges.append(exchange)
        state.highestRequests = max(state.highestRequests, state.exchanges.count { !$0.isOver })
        return state.exchanges.count - 1
      }
    }

    func update(_ number: Int, _ body: (inout Exchange) -> Void) { change { body(&$0.exchanges[number]) } }

    private func change<R>(_ body: (inout State) -> R) -> R {
      let (result, waiters) = state.withLock { (body(&$0), $0.takeWaiters()) }
      for waiter in waiters { waiter.continuation.resume() }
      return result
    }

    /// Returns when `condition` holds, or the task is cancelled.
    func wait(until condition: @escaping @Sendable ([Exchange]) -> Bool) async {
      let key = state.withLock { state in
        state.lastKey += 1
        return state.lastKey
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isDone = state.withLock { state in
            if Task.isCancelled || condition(state.exchanges) { return true }
            state.waiters.append(Waiter(key: key, condition: condition, continuation: continuation))
            return false
          }
          if isDone { continuation.resume() }
        }
      } onCancel: {
        let waiter = state.withLock { state in
          state.waiters.firstIndex { $0.key == key }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume()
      }
    }
  }
#endif
