#if Postgres
  import CPostgres
  import DurableJobs
  import Foundation

  #if canImport(Darwin)
    /// Processes whose end the system tells.
    final class ProcessEnds: Sendable {
      private let sources = Lock<[WorkerProcess: any DispatchSourceProtocol]?>([:])
      private let queue = DispatchQueue(label: "durable-death-watch")

      /// Has `onEnd` called once when the process ends. False if it is waited for already, or that has ended.
      func add(_ process: WorkerProcess, onEnd: @escaping @Sendable () -> Void) -> Bool {
        sources.withLock { sources in
          guard sources != nil, sources?[process] == nil else { return false }
          let source = DispatchSource.makeProcessSource(identifier: process.number, eventMask: .exit, queue: queue)
          sources?[process] = source
          source.setEventHandler { [weak self] in if self?.remove(process) == true { onEnd() } }
          source.activate()
          return true
        }
      }

      /// False if it was not waited for.
      func remove(_ process: WorkerProcess) -> Bool {
        let source = sources.withLock { $0?.removeValue(forKey: process) }
        source?.cancel()
        return source != nil
      }

      func end() { for source in (sources.exchange(nil) ?? [:]).values { source.cancel() } }
    }
  #else
    /// Processes whose end the system tells, by a file of each that is readable from then on. A thread waits for these
    /// files, and not Dispatch: to cancel its source of a process that is gone, while others are made, damages what it
    /// keeps of all sources, and ends the program.
    final class ProcessEnds: Sendable {
      private struct State {
        var watched: [WorkerProcess: (file: Int32, onEnd: @Sendable () -> Void)] = [:]
        /// Of the thread, which begins with the first process.
        var waker: Waker?
        var hasEnded = false
      }

      private let state = Lock(State())

      /// Has `onEnd` called once when the process ends. False if it is waited for already, or that has ended, or if the
      /// system does not tell.
      func add(_ process: WorkerProcess, onEnd: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
          guard !state.hasEnded, state.watched[process] == nil, wakeThread(&state) else { return false }
          let file = durable_open_process(process.number)
          guard file >= 0 else { return false }
          state.watched[process] = (file, onEnd)
          return true
        }
      }

      /// False if it was not waited for.
      func remove(_ process: WorkerProcess) -> Bool {
        let watched = state.withLock { $0.watched.removeValue(forKey: process) }
        if let watched { close(watched.file) }
        return watched != nil
      }

      func end() {
        let (watched, waker) = state.withLock { state in
          state.hasEnded = true
          defer { state.watched = [:] }
          return (state.watched, state.waker)
        }
        waker?.wake()
        for (file, _) in watched.values { close(file) }
      }

      /// It looks at what is watched once the lock is free. False if there can be no thread.
      private func wakeThread(_ state: inout State) -> Bool {
        if state.waker == nil, let waker = Waker() {
          let thread: Void? = try? StoreThread.start("durable-death-watch") { [self] in wait(waker) }
          if thread != nil { state.waker = waker }
        }
        state.waker?.wake()
        return state.waker != nil
      }

      private func wait(_ waker: Waker) {
        while let watched = state.withLock({ $0.hasEnded ? nil : $0.watched }) {
          var files = [pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0)]
          files += watched.values.map { pollfd(fd: $0.file, events: Int16(POLLIN), revents: 0) }
          _ = poll(&files, nfds_t(files.count), -1)
          waker.clear()
          // A file that was closed meanwhile is of none that is still watched.
          for (process, file) in zip(watched, files.dropFirst()) where file.revents != 0 && remove(process.key) {
            process.value.onEnd()
          }
        }
      }
    }
  #endif
#endif
