#if Postgres
  import CPostgres
  import DurableJobs
  import Foundation

  /// Waits for the end of other processes of this machine: one system thread for all of them.
  final class DeathWatch: Sendable {
    private struct State {
      var sources: [WorkerProcess: any DispatchSourceProtocol] = [:]
      var onDeath: @Sendable () -> Void = {}
      var hasEnded = false
    }

    private let own: WorkerProcess?
    private let state = Lock(State())
    private let queue = DispatchQueue(label: "durable-death-watch")

    /// `own`: this process; without it nothing is watched.
    init(own: WorkerProcess?) { self.own = own }

    func begin(onDeath: @escaping @Sendable () -> Void) { state.withLock { $0.onDeath = onDeath } }

    /// Also watches this one, as long as it lives, with workers or not. One that has already ended is noticed too.
    func watch(_ process: WorkerProcess) {
      guard let own, process.machine == own.machine, process != own else { return }
      let isNew = state.withLock { state in
        guard !state.hasEnded, state.sources[process] == nil, let source = Self.source(process, queue) else {
          return false
        }
        state.sources[process] = source
        source.setEventHandler { [weak self] in self?.ended(process) }
        source.activate()
        return true
      }
      // It may have ended before there was anything to watch, and its number been reused.
      guard process.hasEnded else { return }
      isNew ? ended(process) : state.withLock(\.onDeath)()
    }

    func end() {
      let sources = state.withLock { state in
        state.hasEnded = true
        state.onDeath = {}
        defer { state.sources = [:] }
        return state.sources
      }
      for source in sources.values { source.cancel() }
    }

    private func ended(_ process: WorkerProcess) {
      guard let source = state.withLock({ $0.sources.removeValue(forKey: process) }) else { return }
      source.cancel()
      state.withLock(\.onDeath)()
    }

    /// Nil if the system has no such thing, or the process is gone.
    private static func source(_ process: WorkerProcess, _ queue: DispatchQueue) -> (any DispatchSourceProtocol)? {
      #if canImport(Darwin)
        return DispatchSource.makeProcessSource(identifier: process.number, eventMask: .exit, queue: queue)
      #else
        let file = durable_open_process(process.number)
        guard file >= 0 else { return nil }
        let source = DispatchSource.makeReadSource(fileDescriptor: file, queue: queue)
        source.setCancelHandler { close(file) }
        return source
      #endif
    }
  }
#endif
