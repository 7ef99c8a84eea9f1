#if HTTP
  import DurableJobs
  import NIOCore

  /// Whether a request has gone out whole: a server may answer before it has.
  final class Upload: Sendable {
    private enum State: Equatable {
      /// Over that connection, once there is one.
      case going(ObjectIdentifier?)
      case whole
      case broken
    }

    private let state = Lock(State.going(nil))
    /// Of each that waits for its end.
    private let gates = Lock<[Gate]>([])
    private let onWhole: @Sendable () -> Void

    /// `onWhole` is called when the system has taken its last byte.
    init(onWhole: @escaping @Sendable () -> Void) { self.onWhole = onWhole }

    var isWhole: Bool { state.value == .whole }
    var isOver: Bool { if case .going = state.value { false } else { true } }

    /// Waits until it is over, or the task is cancelled.
    func end() async {
      let gate = Gate()
      gates.withLock { $0.append(gate) }
      while !isOver, !Task.isCancelled { await gate.pass() }
    }

    // MARK: Told by the connection

    /// Its head goes out; again, if it is sent once more.
    func begins(over connection: any Channel) { state.withLock { $0 = .going(ObjectIdentifier(connection)) } }

    func isSent() {
      state.withLock { $0 = .whole }
      onWhole()
      openGates()
    }

    /// The connection ended before it was sent.
    func breaks(with connection: any Channel) {
      state.withLock { if $0 == .going(ObjectIdentifier(connection)) { $0 = .broken } }
      openGates()
    }

    private func openGates() { for gate in gates.value { gate.open() } }
  }
#endif
