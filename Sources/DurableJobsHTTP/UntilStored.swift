#if HTTP
  import Dispatch
  import DurableJobs

  /// What goes when a job's end is stored, and not before: an attempt that comes after a crash needs it. It goes on a
  /// queue of its own, which may block: who tells of an end is the store, and others wait for that.
  final class UntilStored<Thing: Sendable>: Sendable {
    private struct State {
      var things: [JobID: [ClaimToken: Thing]] = [:]
      /// Of attempts that have ended. The last reference is dropped where that may take long.
      var ended: [(thing: Thing, state: JobState)] = []
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "DurableJobs.UntilStored")
    private let remove: @Sendable (Thing, JobState) -> Void

    /// `remove` is given what state the job is in.
    init(remove: @escaping @Sendable (Thing, JobState) -> Void) { self.remove = remove }

    func add(_ thing: Thing, of claim: ClaimToken) {
      _ = state.withLock { $0.things[claim.job, default: [:]].updateValue(thing, forKey: claim) }
    }

    /// Told of a claim, or of progress, after the end of the attempt was added here, it waits on.
    func hear(_ signal: StoreSignal) {
      guard case .committed(let changes) = signal else { return }
      letGo { state in
        guard !state.things.isEmpty else { return }
        for job in changes where job.state != .running {
          for thing in state.things.removeValue(forKey: job.id) ?? [:] { state.ended.append((thing.value, job.state)) }
        }
      }
    }

    /// The result is not stored: another worker runs the job, has brought it to its end, or will run it. What another attempt
    /// of the same job has added waits on.
    func lose(_ claim: ClaimToken, _ jobState: JobState) {
      letGo { state in
        guard let thing = state.things[claim.job]?.removeValue(forKey: claim) else { return }
        state.ended.append((thing, jobState))
        if state.things[claim.job]?.isEmpty == true { state.things[claim.job] = nil }
      }
    }

    private func letGo(_ body: (inout State) -> Void) {
      let hasEnded = state.withLock { state in
        body(&state)
        return !state.ended.isEmpty
      }
      if hasEnded { queue.async { self.removeEnded() } }
    }

    private func removeEnded() {
      let ended = state.withLock { state in
        defer { state.ended = [] }
        return state.ended
      }
      for (thing, state) in ended { remove(thing, state) }
    }

    /// Has each run of `worker` wait at its end until nothing is left of what its jobs' ends let go.
    func keep(_ worker: JobWorker) {
      worker.onLoss { [weak self] in self?.lose($0, $1) }
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
