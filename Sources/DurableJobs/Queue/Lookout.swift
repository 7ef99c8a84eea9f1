/// A question about a store that can be watched.
enum LookoutQuestion: Hashable, Sendable {
  case jobs(JobQuery)
  case payloads(JobQuery, ObjectIdentifier)
  case job(JobID)
  case counts(JobFilter)
  case status(BatchID)
  case end(of: BatchID)
  case endOfAll(JobFilter)
  case idleness(of: String)
}

/// A ``Lookout`` with any type of answer.
private protocol AnyLookout: AnyObject, Sendable { func mustLook() }

/// A question about a store and its latest answer, shared by all who watch it in this process.
///
/// It reads only while someone waits, after a signal that the answer may have changed, with a pause between reads. Each
/// read runs in its own task because it serves all watchers: cancelling one does not interrupt the others.
final class Lookout<Answer: Equatable & Sendable>: AnyLookout {
  /// The answer that a watcher last received.
  struct Place: Sendable { fileprivate var version = 0 }

  private struct State {
    var answer: Result<Answer, any Error>?
    /// The number of distinct answers so far.
    var version = 0
    var isStale = true
    var looksBegun = 0
    var looksEnded = 0
    var lookedAt: Duration?
    var rest: Duration = .zero
    var waiting: [ObjectIdentifier: Gate] = [:]
    var timer: (due: Duration, timer: (any JobTimer)?)?
  }

  private enum Step {
    case look
    case setTimer(Duration)
    case rest
  }

  private let store: any JobStore
  private let pause: Duration
  /// How many times as long as a read took is the pause after it, if that is longer.
  private let restFactor: Int
  private let read: @Sendable (any JobStore) async throws -> Answer
  private let state = Lock(State())
  private let subscription = Lock<StoreSignals.Subscription?>(nil)

  init(
    _ store: any JobStore, pause: Duration, restFactor: Int, concerns: @escaping @Sendable (JobTransition) -> Bool,
    _ read: @escaping @Sendable (any JobStore) async throws -> Answer
  ) {
    (self.store, self.pause, self.restFactor, self.read) = (store, pause, restFactor, read)
    // Subscribe before reading, so that a change in between is noticed.
    let heard = store.signals.listen { [weak self] signal in
      switch signal {
      case .committed(let changes): if changes.contains(where: concerns) { self?.mustLook() }
      case .changedElsewhere(let change): if !change.isDisjoint(with: .all) { self?.mustLook() }
      }
    }
    subscription.withLock { $0 = heard }
  }

  deinit { state.withLock { $0.timer?.timer?.cancel() } }

  /// The next answer that differs from the last one returned for this place. It is at least as new as the call.
  func next(_ place: inout Place) async throws -> Answer {
    let gate = Gate()
    let firstLook = state.withLock { state in
      if hasSlept(state) { state.isStale = true }
      return state.looksBegun + (state.isStale ? 1 : 0)
    }
    while true {
      let answer = state.withLock { state -> Result<Answer, any Error>? in
        guard let answer = state.answer, state.looksEnded >= firstLook, state.version > place.version else {
          state.waiting[ObjectIdentifier(gate)] = gate
          return nil
        }
        place.version = state.version
        return answer
      }
      if let answer { return try answer.get() }
      goOn()
      await gate.pass()
      if Task.isCancelled {
        state.withLock { $0.waiting[ObjectIdentifier(gate)] = nil }
        throw CancellationError()
      }
    }
  }

  func mustLook() {
    state.withLock { $0.isStale = true }
    goOn()
  }

  /// Whether the last read is so old that signals may have been lost since.
  private func hasSlept(_ state: State) -> Bool {
    state.lookedAt.map { store.clock.uptime >= $0 + Defaults.sweepInterval } ?? false
  }

  private func goOn() {
    switch state.withLock({ next(&$0) }) {
    case .look: WorkerLoop.$caller.withValue(.init()) { _ = Task { await look() } }  // ends with one read, for all
    case .setTimer(let due):
      let timer = store.clock.schedule(at: due) { [weak self] in
        self?.state.withLock { if $0.timer?.due == due { $0.timer = nil } }
        self?.goOn()
      }
      state.withLock { if $0.timer?.due == due { $0.timer?.timer = timer } }
    case .rest: break
    }
  }

  private func next(_ state: inout State) -> Step {
    guard !state.waiting.isEmpty, state.looksBegun == state.looksEnded else { return .rest }
    if hasSlept(state) { state.isStale = true }
    let due = state.lookedAt.map { $0 + (state.isStale ? max(pause, state.rest) : Defaults.sweepInterval) } ?? .zero
    if state.isStale, state.lookedAt == nil || store.clock.uptime >= due {
      state.isStale = false
      state.looksBegun += 1
      return .look
    }
    if let timer = state.timer, timer.due <= due { return .rest }
    state.timer?.timer?.cancel()
    state.timer = (due, nil)
    return .setTimer(due)
  }

  private func look() async {
    let (answer, begun): (Result<Answer, any Error>, Duration)
    begun = store.clock.uptime
    do { answer = .success(try await read(store)) } catch { answer = .failure(error) }
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      state.looksEnded += 1
      let now = store.clock.uptime
      (state.lookedAt, state.rest) = (now, min((now - begun) * restFactor, Defaults.sweepInterval))
      if case .failure = answer { state.isStale = true }
      if case .success(let new) = answer, case .success(new)? = state.answer { return state.waiting.values }
      state.answer = answer
      state.version += 1
      return state.waiting.values
    }
    for gate in waiting { gate.open() }
  }
}

extension JobStore {
  /// The answer to a question, now and after changes, at last the one that `isLast`.
  func watch<Answer: Equatable & Sendable>(
    _ question: LookoutQuestion, concerning concerns: @escaping @Sendable (JobTransition) -> Bool,
    until isLast: @escaping @Sendable (Answer) -> Bool = { _ in false },
    _ read: @escaping @Sendable (any JobStore) async throws -> Answer
  ) -> JobSnapshots<Answer> {
    JobSnapshots(lookout: { self.signals.lookouts.lookout(question, self, concerns: concerns, read) }, isLast: isLast)
  }

  /// Waits until the answer to a question is such. It is read without pauses, unless it reads many jobs.
  func wait<Answer: Equatable & Sendable>(
    for question: LookoutQuestion, concerning concerns: @escaping @Sendable (JobTransition) -> Bool,
    until isEnd: (Answer) -> Bool, _ read: @escaping @Sendable (any JobStore) async throws -> Answer
  ) async throws -> Answer {
    let lookout = signals.lookouts.lookout(question, self, pause: .zero, concerns: concerns, read)
    var place = Lookout<Answer>.Place()
    while true {
      let answer = try await lookout.next(&place)
      if isEnd(answer) { return answer }
    }
  }
}

/// The lookouts of a store, each kept as long as someone watches.
final class Lookouts: Sendable {
  private let known = Lock<[LookoutQuestion: @Sendable () -> (any AnyLookout)?]>([:])

  /// The lookout for a question, created if there is none.
  func lookout<Answer>(
    _ question: LookoutQuestion, _ store: any JobStore, pause: Duration = .milliseconds(100),
    concerns: @escaping @Sendable (JobTransition) -> Bool,
    _ read: @escaping @Sendable (any JobStore) async throws -> Answer
  ) -> Lookout<Answer> {
    known.withLock { known in
      if let lookout = known[question]?() as? Lookout<Answer> { return lookout }
      let readsMany = if case .endOfAll = question { true } else if case .idleness = question { true } else { false }
      let lookout = Lookout(store, pause: pause, restFactor: readsMany ? 10 : 0, concerns: concerns, read)
      known = known.filter { $0.value() != nil }
      known[question] = { [weak lookout] in lookout }
      return lookout
    }
  }

  /// Called when other workers serve queues than before, for which there is no signal.
  func workersChanged() {
    for (question, lookout) in known.withLock({ $0 }) { if case .idleness = question { lookout()?.mustLook() } }
  }
}
