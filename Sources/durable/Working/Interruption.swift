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
    private let count = Lock(0)
    private let sources = Lock<[any DispatchSourceSignal]>([])

    /// Calls `tell` to say that it stops.
    init(
      _ worker: JobWorker, _ handler: CommandHandler? = nil, grace: Duration = Defaults.grace,
      tell: @escaping @Sendable () -> Void = Interruption.sayThatItStops
    ) {
      self.worker = worker
      self.handler = handler
      self.grace = grace
      self.tell = tell
      let made = [SIGINT, SIGTERM, SIGHUP].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { [weak self] in self?.ask() }
        source.activate()
        return source
      }
      sources.withLock { $0 = made }
    }

    var wasAsked: Bool { count.withLock { $0 > 0 } }

    /// Stops as the first Ctrl-C does.
    func stop() {
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      if isFirst { Task { await worker.stop(grace: grace) } }  // ended by the worker's own end
    }

    static let sayThatItStops: @Sendable () -> Void = {
      let hint = Screen.error.isTerminal ? " Once more ends it at once." : ""
      Talk.line("Stopping: what runs has \(Int(Defaults.grace.seconds)) s to end.\(hint)")
    }

    private func ask() {
      switch count.withLock({ count in
        count += 1
        return count
      }) {
      case 1:
        tell()
        Task { await worker.stop(grace: grace) }  // ended by the worker's own end
      case 2 where handler != nil:
        handler?.killWhatStops()
        Task { await worker.stop(grace: .zero) }  // ended by the worker's own end
      default:
        // Life lines break with this process.
        exit(ExitStatus.interrupted.rawValue)
      }
    }
  }
#endif
