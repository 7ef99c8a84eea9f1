#if Shell
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  /// Ctrl-C and SIGTERM for a worker: once, it stops when what runs has had its grace; twice, everything ends at once,
  /// and so does this process if there are no commands to end first.
  final class Interruption: Sendable {
    private let worker: JobWorker
    private let handler: CommandHandler?
    private let grace: Duration
    private let tell: @Sendable () -> Void
    private let demands = Lock(StopDemands())
    private let watch = Lock<SignalWatch?>(nil)
    private let running = Lock<Task<Void, any Error>?>(nil)

    /// How long what was asked twice may take. Then this process ends as it is: life lines break with it.
    private static let patience = Defaults.grace

    /// Listens when this returns. Calls `tell` to say that the worker stops.
    init(
      _ worker: JobWorker, _ handler: CommandHandler? = nil, grace: Duration = Defaults.grace,
      tell: @escaping @Sendable () -> Void = Interruption.sayThatItStops
    ) async {
      self.worker = worker
      self.handler = handler
      self.grace = grace
      self.tell = tell
      let made = await SignalWatch([SIGINT, SIGTERM, SIGHUP]) { [weak self] in self?.ask($0) }
      watch.withLock { $0 = made }
    }

    var wasAsked: Bool { demands.withLock { $0.wasAsked } }

    /// Somebody asked who takes an end with work left for a good one.
    var isOrderly: Bool { demands.withLock { $0.isOrderly } }

    /// Does what runs the worker. An end that was asked for before that is one for it too.
    func interrupting(_ body: @escaping @Sendable () async throws -> Void) async throws {
      let task = Task { try await body() }  // awaited at once
      running.withLock { $0 = task }
      if wasAsked { task.cancel() }
      try await task.value
    }

    /// Stops as the first Ctrl-C does. Nothing if that was asked already.
    func stop() {
      let isFirst = demands.withLock { demands in
        if demands.wasAsked { return false }
        _ = demands.ask(SIGINT)
        return true
      }
      if isFirst { Task { await worker.stop(grace: grace) } }  // ended by the worker's own end
    }

    static let sayThatItStops: @Sendable () -> Void = {
      let hint = Screen.error.isTerminal ? " Once more ends it at once." : ""
      Talk.line("Stopping: what runs has \(Int(Defaults.grace.seconds)) s to end.\(hint)")
    }

    private func ask(_ signal: Int32) {
      switch demands.withLock({ $0.ask(signal) }) {
      case .stop:
        tell()
        running.withLock { $0?.cancel() }
        Task { await worker.stop(grace: grace) }  // ended by the worker's own end
      case .endAll where handler != nil:
        handler?.killWhatStops()
        Task { await worker.stop(grace: .zero) }  // ended by the worker's own end
        // A store or a handler that hangs keeps nobody here.
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience.seconds) {
          exit(ExitStatus.interrupted.rawValue)
        }
      case .endAll, .exit:
        exit(ExitStatus.interrupted.rawValue)
      }
    }
  }
#endif
