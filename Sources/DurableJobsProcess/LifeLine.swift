#if Process
  import DurableJobs
  import Foundation

  /// The worker's end of a supervisor's life line. Cutting it ends the command; so does the death of the worker.
  final class LifeLine: Sendable {
    private struct State {
      var end: Int32?
      /// The same end, by a number that stays valid even after a cut: for the order.
      var sender: Int32?
      /// The supervisor, which leads a session.
      var supervisor: pid_t?
      /// The lock that its command holds.
      var lock: CommandLock?
    }

    private let state: Lock<State>

    /// Takes ownership of `end`, even if it throws.
    init(_ end: Int32) throws {
      let sender = fcntl(end, F_DUPFD_CLOEXEC, 0)
      guard sender >= 0 else {
        defer { close(end) }
        throw Refusal("can't make a life line")
      }
      state = Lock(State(end: end, sender: sender))
    }

    deinit {
      cut()
      state.withLock { if let sender = $0.sender { close(sender) } }
    }

    var isCut: Bool { state.withLock { $0.end == nil } }

    /// The supervisor has started: sends its order. That may take long, and is not waited for: a stopped supervisor
    /// reads nothing.
    func begin(with order: Data, supervisor: pid_t, lock: CommandLock? = nil) {
      let sender = state.withLock { state in
        defer { state.sender = nil }
        state.supervisor = supervisor
        state.lock = lock
        return state.sender
      }
      guard let sender else { return }
      DispatchQueue.global().async {
        // A supervisor that has already died is noticed by its missing report.
        _ = Descriptors.send(order, to: sender)
        close(sender)
      }
    }

    func cut() {
      state.withLock { state in
        // Not only closed: the order may still be on its way.
        if let end = state.end {
          shutdown(end, Int32(SHUT_RDWR))
          close(end)
        }
        state.end = nil
      }
    }

    /// Ends the supervisor's whole session and its strays at once: nobody is left to do that later.
    func kill() {
      state.withLock {
        guard let supervisor = $0.supervisor else { return }
        var strays = CommandStrays()
        strays.find(session: supervisor)
        $0.lock?.note(strays) { $0.session.number == supervisor }
        _ = Foundation.kill(-supervisor, SIGKILL)
        ProcessEntry.send(SIGKILL, toSession: supervisor)
        strays.send(SIGKILL)
      }
    }

    /// Lets the supervisor continue if its command has stopped it.
    func letGoOn() { state.withLock { if let number = $0.supervisor { _ = Foundation.kill(number, SIGCONT) } } }

    /// The supervisor has ended: its number may soon be reused.
    func end() { state.withLock { $0.supervisor = nil } }
  }
#endif
