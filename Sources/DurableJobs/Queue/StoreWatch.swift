/// All who wait in this process for ends of one store's jobs: one listener, one timer and one look serve them all, and a look
/// costs what may have changed.
///
/// It looks in a task of its own, which ends when there is nothing to look at: so a waiter that is cancelled interrupts
/// nobody's look. It refers to the store only while somebody waits.
package final class StoreWatch: Sendable {
  /// What a look brought: nil if there is no such job.
  fileprivate typealias Sight = Result<JobSnapshot?, any Error>

  fileprivate struct Waiter: Sendable {
    let job: JobID
    /// What lets it go on, if this is what it waits for.
    let answer: @Sendable (Sight) -> (@Sendable () -> Void)?
  }

  fileprivate struct State {
    var list = Watchlist()
    var waiters: [Int: Waiter] = [:]
    var tickets: [JobID: Set<Int>] = [:]
    var lastTicket = 0
    var isLooking = false
    var isTimed = false
    var means = Means()
  }

  /// What it watches by.
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

  /// How many wait.
  package var count: Int { state.withLock { $0.waiters.count } }

  /// Returns once there is nothing to look at. For tests.
  package func rest() async { while state.withLock({ $0.isLooking }) { await Task.yield() } }

  // MARK: Waiting

  /// The job once it has ended. Throws ``JobError/Code/notFound`` if it is removed, and what `refusal` says of an
  /// unfinished one.
  func end(
    of id: JobID, in store: any JobStore, refusal: @escaping @Sendable (JobSnapshot) -> (any Error)? = { _ in nil }
  ) async throws -> JobSnapshot {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<JobSnapshot, any Error>) in
        let waiter = Waiter(job: id) { sight in
          let result: Result<JobSnapshot, any Error>? =
            switch sight {
            case .success(let job?): job.state.isFinished ? .success(job) : refusal(job).map { .failure($0) }
            case .success(nil): .failure(JobError(.notFound, "there is no job \(id)"))
            case .failure(let error): .failure(error)
            }
          guard let result else { return nil }
          return { continuation.resume(with: result) }
        }
        look { state in
          state.add(waiter, ticket)
          state.means.store = state.means.store ?? store
        }
        if Task.isCancelled { cancel(ticket) }
      }
    } onCancel: {
      cancel(ticket)
    }
  }

  private func cancel(_ ticket: Int) {
    guard let waiter = state.withLock({ $0.take(ticket) }) else { return }
    waiter.answer(.failure(CancellationError()))?()
    look { _ in }  // lets go of the store if this was the last
  }

  // MARK: Looking

  /// Changes what there is to see, and looks unless that goes on already.
  private func look(_ change: (inout State) -> Void) {
    let mustBegin = state.withLock { state in
      change(&state)
      guard !state.isLooking, state.waiters.isEmpty || state.list.hasNews else { return false }
      state.isLooking = true
      return true
    }
    // Unstructured, since it serves all that wait, and who signals can't wait for it. It ends with what there is to see.
    if mustBegin { Task { await look() } }
  }

  private func look() async {
    while true {
      switch state.withLock({ $0.next() }) {
      case .listen(let store):
        // Listen first and look then: what changes in between is heard.
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
        // Should a signal be lost.
        let timer = store.clock.schedule(after: Defaults.sweepInterval) { [weak self] in
          self?.look { state in
            state.isTimed = false
            state.list.mustSeeEverything()
          }
        }
        state.withLock { $0.means.timer = timer }
      case .rest:
        return
      case .letGo(let means):
        means.timer?.cancel()
        return
      }
    }
  }

  /// Lets those go on who waited for this.
  private func tell(_ job: JobID, _ sight: Sight) {
    for (ticket, waiter) in state.withLock({ $0.waiting(for: job) }) {
      guard let goOn = waiter.answer(sight), state.withLock({ $0.take(ticket) }) != nil else { continue }
      goOn()
    }
  }
}

extension StoreWatch.State {
  fileprivate mutating func add(_ waiter: StoreWatch.Waiter, _ ticket: Int) {
    waiters[ticket] = waiter
    tickets[waiter.job, default: []].insert(ticket)
    list.add(waiter.job)
  }

  fileprivate func waiting(for job: JobID) -> [(Int, StoreWatch.Waiter)] {
    (tickets[job] ?? []).compactMap { ticket in waiters[ticket].map { (ticket, $0) } }
  }

  fileprivate mutating func take(_ ticket: Int) -> StoreWatch.Waiter? {
    guard let waiter = waiters.removeValue(forKey: ticket) else { return nil }
    tickets[waiter.job]?.remove(ticket)
    if tickets[waiter.job]?.isEmpty == true {
      tickets[waiter.job] = nil
      list.remove(waiter.job)
    }
    return waiter
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
  /// Waits until the job has ended, and returns it as it is then. Throws ``JobError/Code/wrongState`` to a handler that
  /// keeps it from being run.
  package func whenFinished(_ id: JobID) async throws -> JobSnapshot {
    guard let (engine, token) = WorkerEngine.handler, engine.worksOn(self) else {
      return try await signals.watch.end(of: id, in: self)
    }
    defer { engine.stoppedWaiting(token) }
    return try await signals.watch.end(of: id, in: self) { engine.refusal(of: $0, to: token) }
  }

  /// What any living worker can serve of a queue, those of this process too that the store has not heard of yet.
  package func scope(of queue: String) -> WorkScope { .queue(queue, and: signals.localWorkers.reaches(in: queue)) }
}
