/// Everyone in this process who waits for jobs of one store to end. They share one listener, one timer and one read,
/// which only covers jobs that may have changed.
///
/// Reads run in a separate task that ends when there is nothing to read, so a cancelled waiter interrupts nobody's
/// read. The store is only retained while someone waits.
package final class StoreWatch: Sendable {
  /// The result of a read; nil if there is no such job.
  fileprivate typealias Sight = Result<JobSnapshot?, any Error>

  fileprivate final class Waiter: Sendable {
    let job: JobID
    let gate = Gate()
    let answer = Lock<Result<JobSnapshot, any Error>?>(nil)
    private let refusal: @Sendable (JobSnapshot) -> (any Error)?

    init(_ job: JobID, refusal: @escaping @Sendable (JobSnapshot) -> (any Error)?) {
      (self.job, self.refusal) = (job, refusal)
    }

    /// Nil if it goes on waiting.
    func answer(to sight: Sight) -> Result<JobSnapshot, any Error>? {
      switch sight {
      case .success(let job?): job.state.isFinished ? .success(job) : refusal(job).map { .failure($0) }
      case .success(nil): .failure(JobError(.notFound, "there is no job \(job)"))
      case .failure(let error): .failure(error)
      }
    }
  }

  fileprivate struct State {
    var list = Watchlist()
    var waiters: [JobID: [Waiter]] = [:]
    var isLooking = false
    var isTimed = false
    var means = Means()
  }

  /// The resources that it holds while someone waits.
  fileprivate struct Means {
    var store: (any JobStore)?
    var subscription: StoreSignals.Subscription?
    var timer: (any JobTimer)?
  }

  fileprivate enum Step {
    case listen(any JobStore)
    case look([JobID], any JobStore)
    case setTimer(any JobStore)
    case rest
    case letGo(Means)
  }

  private let state = Lock(State())

  package var count: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

  /// Returns once there is nothing to read. For tests.
  package func rest() async { while state.withLock({ $0.isLooking }) { await Task.yield() } }

  // MARK: Waiting

  /// Waits until the job has ended. Throws ``JobError/Code/notFound`` if it is removed, and the error that `refusal`
  /// returns for an unfinished job.
  func end(
    of id: JobID, in store: any JobStore, refusal: @escaping @Sendable (JobSnapshot) -> (any Error)? = { _ in nil }
  ) async throws -> JobSnapshot {
    let waiter = Waiter(id, refusal: refusal)
    look { state in
      state.waiters[id, default: []].append(waiter)
      state.list.add(id)
      state.means.store = state.means.store ?? store
    }
    await waiter.gate.pass()
    if let answer = waiter.answer.withLock({ $0 }) { return try answer.get() }
    look { _ = $0.remove(waiter) }  // lets go of the store if this was the last
    throw CancellationError()
  }

  // MARK: Looking

  /// Changes the state, and starts reading unless that is under way.
  private func look(_ change: (inout State) -> Void) {
    let mustBegin = state.withLock { state in
      change(&state)
      guard !state.isLooking, state.waiters.isEmpty || state.list.hasNews else { return false }
      state.isLooking = true
      return true
    }
    // Unstructured: it serves all waiters, not one that a worker stops. It ends when there is nothing to read.
    if mustBegin { WorkerLoop.$caller.withValue(.init()) { _ = Task { await look() } } }
  }

  private func look() async {
    while true {
      switch state.withLock({ $0.next() }) {
      case .listen(let store):
        // Subscribe before reading, so that a change in between is noticed.
        let subscription = store.signals.listen { [weak self] signal in self?.look { $0.list.heard(signal) } }
        state.withLock { $0.means.subscription = subscription }
      case .look(let ids, let store):
        let query = JobQuery(.ids(ids), detail: [.output, .failures], limit: ids.count)
        do {
          let jobs = Dictionary(uniqueKeysWithValues: try await store.jobs(query).map { ($0.id, $0) })
          for id in ids { tell(id, .success(jobs[id])) }
        } catch {
          for id in ids { tell(id, .failure(error)) }
        }
      case .setTimer(let store):
        // In case a signal is lost.
        let timer = store.clock.schedule(after: Defaults.sweepInterval) { [weak self] in
          self?.look { state in
            state.isTimed = false
            state.list.mustSeeEverything()
          }
        }
        state.withLock { $0.means.timer = timer }
      case .rest: return
      case .letGo(let means):
        means.timer?.cancel()
        return
      }
    }
  }

  private func tell(_ job: JobID, _ sight: Sight) {
    for waiter in state.withLock({ $0.waiters[job] ?? [] }) {
      guard let answer = waiter.answer(to: sight), state.withLock({ $0.remove(waiter) }) else { continue }
      waiter.answer.withLock { $0 = answer }
      waiter.gate.open()
    }
  }
}

extension StoreWatch.State {
  /// False if it was removed before.
  fileprivate mutating func remove(_ waiter: StoreWatch.Waiter) -> Bool {
    guard let index = waiters[waiter.job]?.firstIndex(where: { $0 === waiter }) else { return false }
    waiters[waiter.job]?.remove(at: index)
    if waiters[waiter.job]?.isEmpty == true {
      waiters[waiter.job] = nil
      list.remove(waiter.job)
    }
    return true
  }

  fileprivate mutating func next() -> StoreWatch.Step {
    guard let store = means.store, !waiters.isEmpty else {
      defer { means = StoreWatch.Means() }
      (isLooking, isTimed) = (false, false)
      return .letGo(means)
    }
    if means.subscription == nil { return .listen(store) }
    if let ids = list.nextLook() { return .look(ids, store) }
    if !isTimed {
      isTimed = true
      return .setTimer(store)
    }
    isLooking = false
    return .rest
  }
}

extension JobStore {
  /// Returns the job once it has ended. Throws ``JobError/Code/wrongState`` to a handler that keeps it from running.
  package func whenFinished(_ id: JobID) async throws -> JobSnapshot {
    guard let (engine, token) = WorkerEngine.handler(on: self) else {
      return try await signals.watch.end(of: id, in: self)
    }
    let limit = try await engine.check(id, isAwaitedBy: token)
    defer { engine.stoppedWaiting(token) }
    return try await signals.watch.end(of: id, in: self) { engine.refusal(of: $0, to: token, limit: limit) }
  }

  /// What any living worker can serve of a queue, including workers of this process that the store does not know yet.
  package func scope(of queue: String) -> WorkScope { .queue(queue, and: signals.localWorkers.reaches(in: queue)) }
}
