#if Shell
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  /// Ctrl-C and SIGTERM for a worker: once, it stops when what runs has had its grace; twice, everything ends at once, and
  /// this process once what ran has gone back; three times, this process ends as it is.
  final class Interruption: Sendable {
    private let worker: JobWorker
    private let handler: CommandHandler?
    private let grace: Duration
    private let tell: @Sendable () -> Void
    private let demands: Lock<StopDemands>
    private let watch = Lock<SignalWatch?>(nil)
    private let onLate = Lock<@Sendable () -> Void>({})
    /// Takes ``goodBye`` to say so; until somebody works, nobody is to be told.
    private let isAway = Lock<@Sendable () async -> Bool>({
      try? await Task.sleep(for: goodBye)
      return false
    })

    /// How long what was asked twice may take. Then this process ends as it is: life lines break with it. A store or a
    /// handler that hangs keeps nobody here.
    private var patience: Duration { handler == nil ? .seconds(3) : Defaults.grace }

    /// Listens when this returns. Calls `tell` to say that the worker stops.
    init(
      _ worker: JobWorker, _ handler: CommandHandler? = nil, grace: Duration = Defaults.grace,
      isInBackground: Bool = false,
      tell: (@Sendable () -> Void)? = nil
    ) async {
      self.worker = worker
      demands = Lock(StopDemands(isInBackground: isInBackground))
      self.handler = handler
      self.grace = grace
      self.tell = tell ?? { Self.sayThatItStops(grace) }
      let made = await SignalWatch([SIGINT, SIGTERM, SIGHUP]) { [weak self] in self?.ask($0) }
      watch.withLock { $0 = made }
    }

    /// How long a store that is away is waited for once the grace is over and nothing runs here any more.
    private static let goodBye = Duration.seconds(3)

    /// Does `work`, which ends with the worker. Nil, and that is said, if it was asked to stop and only the store keeps it
    /// or has failed it: who works next finds out what that was not told. The store is left open then. `clear` is called
    /// before that is said.
    func outlasting<R: Sendable>(
      _ store: OpenStore, clear: @Sendable () -> Void = {}, _ work: @escaping @Sendable () async throws -> R
    ) async throws -> R? {
      do {
        // What locks a file lets go of it; a server may be away for long.
        guard store.isOnServer else { return try await work() }
        if let result = try await untilLate(store, work) { return result }
        clear()
        Talk.line("The store does not answer, and is not waited for any longer")
      } catch let error as JobError where wasAsked && (error.isPassing || !isOrderly) {
        clear()
        Talk.error(error.message, code: error.code.rawValue)
      }
      OpenStore.leaveOpen()
      return nil
    }

    private func untilLate<R: Sendable>(
      _ store: OpenStore, _ work: @escaping @Sendable () async throws -> R
    ) async throws -> R? {
      let errand = Errand(work)
      isAway.withLock { $0 = { await !store.answers(within: Self.goodBye) } }
      onLate.withLock { $0 = { errand.leave() } }
      return try await errand.value()
    }

    var wasAsked: Bool { demands.withLock { $0.wasAsked } }

    /// Somebody asked who takes an end with work left for a good one.
    var isOrderly: Bool { demands.withLock { $0.isOrderly } }

    /// Stops as the first Ctrl-C does, or with another grace. Nothing if that was asked already.
    func stop(grace: Duration? = nil) {
      let isFirst = demands.withLock { demands in
        if demands.wasAsked { return false }
        _ = demands.ask(SIGHUP, SystemClock().uptime)
        return true
      }
      if isFirst { stopWorker(grace ?? self.grace) }
    }

    private static func sayThatItStops(_ grace: Duration) {
      let hint = Screen.error.isTerminal ? " Once more ends it at once." : ""
      Talk.line("Stopping: what runs \(grace > .zero ? "has \(grace.forPeople) to end.\(hint)" : "is interrupted.")")
    }

    private func stopWorker(_ grace: Duration) {
      handler?.workerIsAskedToStop()
      Task { [weak self] in  // ended by the end of this
        // One that begins only now is asked, too.
        while let self {
          await self.worker.stop(grace: grace)
          try? await Task.sleep(for: .milliseconds(50))
        }
      }
      Task { [weak self, handler] in  // ended by the end of the process, if not before
        try? await Task.sleep(for: grace, clock: .suspending)
        // What is under way may take long where the store answers.
        repeat {
          await handler?.commandsHaveEnded()
        } while await !(self?.isAway.value() ?? true) || handler?.hasCommands ?? false
        self?.onLate.value()
      }
    }

    private func ask(_ signal: Int32) {
      switch demands.withLock({ $0.ask(signal, SystemClock().uptime) }) {
      case nil: break
      case .stop:
        stopWorker(grace)
        tell()
      case .endAll:
        DispatchQueue.global().asyncAfter(deadline: .now() + patience.seconds) {
          exit(ExitStatus.interrupted.rawValue)
        }
        handler?.killWhatStops()
        Task { await worker.stop(grace: .zero) }  // ended by the worker's own end
      case .exit:
        exit(ExitStatus.interrupted.rawValue)
      }
    }
  }
#endif
