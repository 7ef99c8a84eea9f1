#if HTTP
  import Dispatch
  import DurableJobs

  /// What goes when a job's success is stored, and not before: an attempt that comes after a crash needs it. It goes on a
  /// queue of its own, which may block: who tells of a success is the store, and others wait for that.
  final class UntilStored<Thing: Sendable>: Sendable {
    private struct State {
      var things: [JobID: Thing] = [:]
      /// Of jobs that have ended, and whether to remove them. The last reference is dropped where that may take long.
      var ended: [(thing: Thing, succeeded: Bool)] = []
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "DurableJobs.UntilStored")
    private let remove: @Sendable (Thing) -> Void

    init(remove: @escaping @Sendable (Thing) -> Void) { self.remove = remove }

    func add(_ thing: Thing, of id: JobID) { _ = state.withLock { $0.things.updateValue(thing, forKey: id) } }

    /// Told of a claim, or of progress, after the end of the attempt was added here, it waits on.
    func hear(_ signal: StoreSignal) {
      guard case .committed(let changes) = signal else { return }
      let hasEnded = state.withLock { state in
        guard !state.things.isEmpty else { return false }
        for change in changes where change.state != .running {
          guard let thing = state.things.removeValue(forKey: change.id) else { continue }
          state.ended.append((thing, change.state == .succeeded))
        }
        return !state.ended.isEmpty
      }
      if hasEnded { queue.async { self.removeEnded() } }
    }

    private func removeEnded() {
      let ended = state.withLock { state in
        defer { state.ended = [] }
        return state.ended
      }
      for (thing, succeeded) in ended where succeeded { remove(thing) }
    }

    /// Has each run of `worker` wait at its end until nothing is left of what its jobs' successes let go.
    func keep(_ worker: JobWorker) {
      worker.whileRunning {
        let isOver = Gate()
        while !Task.isCancelled { await isOver.pass() }
        await self.settle()
      }
    }

    /// Returns when what was told of is gone. Also in a task that is cancelled.
    func settle() async {
      await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
  }
#endif
