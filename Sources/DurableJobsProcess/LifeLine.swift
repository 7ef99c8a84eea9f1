#if Process
  import DurableJobs
  import Foundation

  /// The worker's end of a supervisor's life line. Cutting it ends the command; so does the death of the worker.
  final class LifeLine: Sendable {
    private struct State {
      var end: Int32?
      var group: pid_t?
    }

    private let state: Lock<State>

    init(_ end: Int32) { state = Lock(State(end: end)) }

    deinit { cut() }

    var isCut: Bool { state.withLock { $0.end == nil } }

    /// The supervisor is there: it gets its order.
    func begin(with order: Data, group: pid_t) {
      state.withLock { state in
        state.group = group
        // A supervisor that has died already is noticed by its missing report.
        if let end = state.end { _ = Descriptors.send(order, to: end) }
      }
    }

    func cut() {
      state.withLock { state in
        if let end = state.end { close(end) }
        state.end = nil
      }
    }

    /// Ends the supervisor's whole group at once.
    func kill() { state.withLock { if let group = $0.group { _ = Foundation.kill(-group, SIGKILL) } } }

    /// Lets the supervisor go on if its command has stopped it.
    func letGoOn() { state.withLock { if let group = $0.group { _ = Foundation.kill(group, SIGCONT) } } }

    /// The supervisor has ended: its number may soon be another's.
    func end() { state.withLock { $0.group = nil } }
  }
#endif
