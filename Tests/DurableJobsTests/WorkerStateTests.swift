import Testing

@testable import DurableJobs

/// The worker's decisions, with no clock, no store and no handler.
@Suite struct WorkerStateTests {
  @Test func `it looks after time first, and claims for its free slots next`() {
    let state = Decider.make(limits: ["a": 2])
    #expect(state.next(.zero) == .recover)
    #expect(state.next(.zero) == .turn([], claim: ["a": 2]))
  }

  @Test func `however much recovery there is, renewals come first, and results and claims between its bites`() {
    let state = Decider.make(limits: ["a": 2], isFresh: false)
    let attempts = (1...2).map { RunningAttempt.make(job: $0, queue: "a") }
    state.claimed(attempts)
    let due = Defaults.sweepInterval
    #expect(state.next(due) == .renew)
    #expect(state.next(due) == .recover)
    state.recovered(RecoveryReport(hasMore: true), due)
    state.ended(attempts[0], .success(of: attempts[0]))
    #expect(state.next(due) == .turn([.success(of: attempts[0])], claim: ["a": 1]))
    state.turnEnded(claimed: ClaimBatch(), due)
    state.ended(attempts[1], .success(of: attempts[1]))
    #expect(state.next(due) == .recover, "what there is to settle keeps no dead worker's jobs away either")
    state.recovered(RecoveryReport(hasMore: true), due)
    #expect(state.next(due) == .turn([.success(of: attempts[1])], claim: ["a": 2]))
  }

  @Test func `a condition that returned waits, as all does, until the store is asked again`() {
    let state = Decider.make(limits: ["a": 1], isFresh: false)
    state.told("c", false)
    state.told("c", true)
    #expect(state.turnFailed([], wantedClaim: true, isPassing: true, .seconds(1)) == .again)
    #expect(state.next(.seconds(1)) == .wait(until: .milliseconds(1100)))
  }

  @Test func `a worker that is held claims nothing, and its slots are what they were`() {
    let state = Decider.make(limits: ["a": 2], isFresh: false)
    let attempt = RunningAttempt.make(job: 1, queue: "a")
    state.claimed([attempt])
    state.hold(true)
    #expect(!state.isStuck(attempt.claim.token, behind: "a", places: 2))
    #expect(state.next(.zero) == .wait(until: Defaults.renewalInterval))
    state.hold(false)
    #expect(state.next(.zero) == .turn([], claim: ["a": 1]))
  }

  @Test func `a result that came while the store was away is offered again, also where only idleness is waited for`() {
    let state = Decider.make(goal: .idle, limits: ["a": 2], isFresh: false)
    let attempt = RunningAttempt.make(job: 1, queue: "a")
    state.claimed([attempt])
    // The turn that claims for the other slot meets a lock; meanwhile the handler returns.
    state.ended(attempt, .success(of: attempt))
    #expect(state.turnFailed([], wantedClaim: true, isPassing: true, .seconds(1)) == .again)
    #expect(state.next(.seconds(2)) == .turn([.success(of: attempt)], claim: ["a": 2]))
    state.turnEnded(claimed: ClaimBatch(), .seconds(2))
    #expect(state.turnFailed([], wantedClaim: true, isPassing: true, .seconds(2)) == .giveUp([]))
  }

  @Test func `after a claim whose answer may be lost it says what it holds, once the store answers, until it is heard`()
  {
    let state = Decider.make(limits: ["a": 1], isFresh: false)
    #expect(state.turnFailed([], wantedClaim: true, isPassing: true, .zero) == .again)
    #expect(state.next(.zero) == .wait(until: .milliseconds(100)))
    #expect(state.next(.milliseconds(100)) == .turn([], claim: ["a": 1]))
    state.turnEnded(claimed: ClaimBatch(), .milliseconds(100))
    #expect(state.next(.milliseconds(100)) == .renew, "with an empty list")
    state.renewalFailed(hadProgress: false, .milliseconds(100))
    #expect(state.next(.milliseconds(100)) == .wait(until: .milliseconds(1100)))
    #expect(state.next(.milliseconds(1100)) == .renew)
    state.renewed([:])
    #expect(state.next(.milliseconds(1100)) == .wait(until: Defaults.sweepInterval))
  }

  @Test func `it says what it holds after such a claim also where it may claim no more`() {
    let state = Decider.make(limits: ["a": 1], isFresh: false)
    #expect(state.turnFailed([], wantedClaim: true, isPassing: true, .zero) == .again)
    state.hold(true)
    #expect(state.next(.zero) == .wait(until: .milliseconds(100)))
    #expect(state.next(.milliseconds(100)) == .renew)
  }

  @Test func `it never claims more than its free slots`() {
    let state = Decider.make(limits: ["a": 2, "b": 1], isFresh: false)
    state.claimed([.make(job: 1, queue: "a")], hasMore: true)
    #expect(state.next(.zero) == .turn([], claim: ["a": 1, "b": 1]))
    state.claimed([.make(job: 2, queue: "a"), .make(job: 3, queue: "b")], hasMore: true)
    #expect(state.next(.zero) == .wait(until: Defaults.renewalInterval))
  }

  @Test func `a result is offered at once, with a claim for the slot that it freed`() {
    let state = Decider.make(limits: ["a": 1], isFresh: false)
    let attempt = RunningAttempt.make(job: 1, queue: "a")
    state.claimed([attempt])
    state.ended(attempt, .success(of: attempt))
    #expect(state.next(.seconds(1)) == .turn([.success(of: attempt)], claim: ["a": 1]))
  }

  @Test func `results that come during a turn share the next`() {
    let state = Decider.make(limits: ["a": 3], isFresh: false)
    let attempts = (1...3).map { RunningAttempt.make(job: $0, queue: "a") }
    state.claimed(attempts)
    for attempt in attempts { state.ended(attempt, .success(of: attempt)) }
    #expect(state.next(.seconds(1)) == .turn(attempts.map { .success(of: $0) }, claim: ["a": 3]))
  }

  @Test func `what ends while a turn is under way may join it, with the slots that it freed and no others`() {
    let state = Decider.make(limits: ["a": 4], isFresh: false)
    let attempts = (1...4).map { RunningAttempt.make(job: $0, queue: "a") }
    state.claimed(attempts)
    #expect(state.joinTurn()?.results == nil, "there is none")
    state.ended(attempts[0], .success(of: attempts[0]))
    #expect(state.next(.seconds(1)) == .turn([.success(of: attempts[0])], claim: ["a": 1]))
    #expect(state.joinTurn()?.results == nil, "nothing ended")
    for attempt in attempts[1...2] { state.ended(attempt, .success(of: attempt)) }
    let join = state.joinTurn()
    #expect(join?.results == attempts[1...2].map { .success(of: $0) } && join?.free == ["a": 2])
    state.ended(attempts[3], .success(of: attempts[3]))
    #expect(state.joinTurn()?.free == ["a": 1])
    // The store refuses all of it.
    let all = attempts.map { ClaimSettlement.success(of: $0) }
    #expect(state.leaveTurn() == Array(all.dropFirst()) && state.joinTurn()?.results == nil)
    #expect(state.turnFailed(all, wantedClaim: true, isPassing: true, .seconds(1)) == .again)
    #expect(state.next(.seconds(2)) == .turn(all, claim: ["a": 4]))
  }

  @Test func `nothing joins a turn without a claim, such as that of a worker that stops or of a suspected result`() {
    let state = Decider.make(limits: ["a": 2], isFresh: false)
    let attempts = (1...2).map { RunningAttempt.make(job: $0, queue: "a") }
    state.claimed(attempts)
    state.ended(attempts[0], .success(of: attempts[0]))
    #expect(state.next(.zero) == .turn([.success(of: attempts[0])], claim: ["a": 1]))
    #expect(state.leaveTurn().isEmpty)
    #expect(state.turnFailed([.success(of: attempts[0])], wantedClaim: true, isPassing: false, .zero) == .again)
    #expect(state.next(.zero) == .turn([.success(of: attempts[0])], claim: nil))
    state.ended(attempts[1], .success(of: attempts[1]))
    #expect(state.joinTurn()?.results == nil)
    state.turnEnded(claimed: nil, .zero)
    state.stop(graceEnd: .seconds(1))
    #expect(state.next(.zero) == .turn([.success(of: attempts[1])], claim: nil))
    #expect(state.joinTurn()?.results == nil)
  }

  @Test func `it sleeps until the next job is due, exactly`() {
    let state = Decider.make(limits: ["a": 1])
    _ = state.next(.zero)
    _ = state.next(.zero)
    state.turnEnded(claimed: ClaimBatch(nextDue: .milliseconds(1234)), .seconds(1))
    #expect(state.next(.seconds(1)) == .wait(until: .milliseconds(2234)))
    #expect(state.next(.milliseconds(2234)) == .turn([], claim: ["a": 1]))
  }

  @Test func `a queue that is full is asked again when one of its jobs ends elsewhere, and not for its own`() {
    let state = Decider.make(limits: ["a": 2, "b": 2], isFresh: false)
    let attempt = RunningAttempt.make(job: 1, queue: "a")
    var full = ClaimBatch()
    full.full = ["a"]
    func ended(_ id: Int64, _ queue: String) -> StoreSignal {
      .committed([JobTransition(id: JobID(rawValue: id), queue: queue, kind: "k", state: .succeeded)])
    }
    func isFull(after signal: StoreSignal? = nil) -> WorkerState.Step {
      _ = signal.map { state.heard($0) }
      return state.next(.seconds(1))
    }
    let rest = WorkerState.Step.wait(until: Defaults.renewalInterval)
    let claim = WorkerState.Step.turn([], claim: ["a": 1, "b": 2])
    state.turnEnded(claimed: ClaimBatch(jobs: [attempt.claim]), .zero)
    state.began(attempt)
    #expect(isFull(after: ended(7, "a")) == rest, "nothing is kept from it")
    #expect(isFull(after: .changedElsewhere(.work)) == claim)
    // Somebody's job ends while this claim is on its way.
    #expect(!state.heard(ended(8, "a")))
    state.turnEnded(claimed: full, .zero)
    #expect(isFull() == claim)
    state.turnEnded(claimed: full, .zero)
    #expect(isFull() == rest)
    #expect(isFull(after: ended(9, "b")) == rest)
    #expect(isFull(after: ended(9, "a")) == claim)
    state.turnEnded(claimed: full, .zero)
    #expect(isFull(after: .changedElsewhere(.results)) == claim)
    state.turnEnded(claimed: full, .zero)
    // Its own end is stored with the claim for the place that it frees.
    state.ended(attempt, .success(of: attempt))
    #expect(state.next(.seconds(1)) == .turn([.success(of: attempt)], claim: ["a": 2, "b": 2]))
    #expect(!state.heard(ended(1, "a")))
    state.turnEnded(claimed: full, .zero)
    #expect(state.next(.seconds(1)) == .wait(until: Defaults.sweepInterval))
  }

  @Test func `C24 without any signal it looks again each sweep`() {
    let state = Decider.make(limits: ["a": 1], isFresh: false)
    #expect(state.next(.seconds(1)) == .wait(until: Defaults.sweepInterval))
    #expect(state.next(Defaults.sweepInterval) == .recover)
    #expect(state.next(Defaults.sweepInterval) == .turn([], claim: ["a": 1]))
  }

  @Test func `C37 Workers that began at the same moment sweep at different ones, each at least every 15 seconds`() {
    let times = [0, 0.25, 0.5, 1].compactMap { spread -> Duration? in
      let state = Decider(WorkerState(goal: .none, limits: ["a": 1], knowsKinds: false, now: .zero, spread: spread))
      #expect(state.next(.zero) == .recover)
      return if case .wait(let time) = state.next(.zero) { time } else { nil }
    }
    #expect(times.first == Defaults.sweepInterval)
    #expect(times == times.sorted(by: >) && Set(times).count == 4)
    #expect(times.last ?? .zero > Defaults.sweepInterval / 2)
  }

  @Test func `C6 with no kinds it claims nothing, and the first kind wakes it`() {
    let state = Decider(WorkerState(goal: .none, limits: ["a": 1], knowsKinds: false, now: .zero))
    #expect(state.next(.zero) == .recover)
    #expect(state.next(.zero) == .wait(until: Defaults.sweepInterval))
    state.learnedKinds()
    #expect(state.next(.zero) == .turn([], claim: ["a": 1]))
  }

  @Test func `it renews each interval while it holds a claim, and not otherwise`() {
    let state = Decider.make(limits: ["a": 1], isFresh: false)
    state.turnEnded(claimed: ClaimBatch(jobs: [.make(job: 1, queue: "a")]), .seconds(2))
    let attempt = RunningAttempt.make(job: 1, queue: "a")
    state.began(attempt)
    #expect(state.next(.seconds(2)) == .wait(until: .seconds(12)))
    #expect(state.next(.seconds(12)) == .renew)
    state.ended(attempt, nil)
    _ = state.next(.seconds(12))  // a claim for the free slot
    state.turnEnded(claimed: ClaimBatch(), .seconds(12))
    #expect(state.next(.seconds(13)) == .wait(until: Defaults.sweepInterval))
  }

  @Test func `somebody's doubt makes it renew at once`() {
    let state = Decider.holding(job: 1)
    #expect(state.heard(.changedElsewhere(.doubt)))
    #expect(state.next(.seconds(2)) == .renew)
  }

  @Test func `a stop that was asked for elsewhere makes it renew at once`() {
    let state = Decider.holding(job: 1)
    #expect(state.heard(.changedElsewhere(.stops)))
    #expect(state.next(.seconds(2)) == .renew)
    let change = JobTransition(id: JobID(rawValue: 1), queue: "a", kind: "k", state: .running, concernsClaim: true)
    #expect(state.heard(.committed([change])))
    #expect(state.next(.seconds(2)) == .renew)
  }

  @Test func `progress is stored at most once each interval`() {
    let state = Decider.holding(job: 1)
    state.progressReported(.seconds(2))
    #expect(state.next(.seconds(2)) == .renew)
    state.progressReported(.seconds(2) + .milliseconds(1))
    #expect(state.next(.seconds(2) + .milliseconds(1)) == .wait(until: .milliseconds(2500)))
    #expect(state.next(.milliseconds(2500)) == .renew)
  }

  @Test func `its own successes and other queues' jobs don't wake it`() {
    let state = Decider.make(limits: ["a": 1], isFresh: false)
    let done = JobTransition(id: JobID(rawValue: 1), queue: "a", kind: "k", state: .succeeded)
    let other = JobTransition(id: JobID(rawValue: 2), queue: "b", kind: "k", state: .ready)
    #expect(!state.heard(.committed([done, other])))
    #expect(state.heard(.committed([JobTransition(id: JobID(rawValue: 3), queue: "a", kind: "k", state: .ready)])))
  }

  @Test func `C29 a handler that goes on after its claim was lost keeps its slot`() {
    let state = Decider.holding(job: 1)
    let attempt = state.atWork.values.first!
    state.renewed([attempt.claim.token: .lost])
    state.stop(graceEnd: .seconds(2))
    _ = state.next(.seconds(2))
    #expect(state.next(.seconds(60)) == .wait(until: nil))
    state.ended(attempt, .success(of: attempt))
    #expect(state.next(.seconds(60)) == .done, "the result of a lost claim is dropped")
  }

  @Test func `C8 results that a store could not take are offered again, later and later`() {
    let state = Decider.holding(job: 1)
    let attempt = state.atWork.values.first!
    state.ended(attempt, .success(of: attempt))
    let results = [ClaimSettlement.success(of: attempt)]
    #expect(state.next(.seconds(2)) == .turn(results, claim: ["a": 1]))
    #expect(state.turnFailed(results, wantedClaim: true, isPassing: true, .seconds(2)) == .again)
    #expect(state.next(.seconds(2)) == .wait(until: .milliseconds(2100)))
    #expect(state.next(.milliseconds(2100)) == .turn(results, claim: ["a": 1]))
    _ = state.turnFailed(results, wantedClaim: true, isPassing: true, .milliseconds(2100))
    #expect(state.next(.milliseconds(2100)) == .wait(until: .milliseconds(2300)))
  }

  @Test func `C28 of results of which one is refused by itself, the others stand`() {
    let state = Decider.make(limits: ["a": 2], isFresh: false)
    let attempts = (1...2).map { RunningAttempt.make(job: $0, queue: "a") }
    state.claimed(attempts)
    for attempt in attempts { state.ended(attempt, .success(of: attempt)) }
    let results = attempts.map { ClaimSettlement.success(of: $0) }
    #expect(state.next(.seconds(1)) == .turn(results, claim: ["a": 2]))
    #expect(state.turnFailed(results, wantedClaim: true, isPassing: false, .seconds(1)) == .again)
    #expect(state.next(.seconds(1)) == .turn([results[0]], claim: nil))
    #expect(state.turnFailed([results[0]], wantedClaim: false, isPassing: false, .seconds(1)) == .refused(results[0]))
    #expect(state.next(.seconds(1)) == .turn([results[1]], claim: nil))
    state.turnEnded(claimed: nil, .seconds(1))
    #expect(state.next(.seconds(1)) == .turn([], claim: ["a": 2]))
  }

  @Test func `handlers that wait for jobs are stuck when they hold every slot that those could have`() {
    let state = Decider.make(limits: ["a": 2, "b": 1], isFresh: false)
    let attempts = (1...2).map { RunningAttempt.make(job: $0, queue: "a") }
    state.claimed(attempts)
    let (first, second) = (attempts[0].claim.token, attempts[1].claim.token)
    #expect(!state.isStuck(first, behind: "a", places: 2))
    #expect(!state.isStuck(first, behind: "a", places: 2), "it waits for two")
    #expect(!state.isStuck(second, behind: "b", places: 1), "that queue has a slot")
    #expect(!state.isStuck(first, behind: "a", places: 2), "the other's job runs, and then this one's")
    #expect(!state.isStuck(second, behind: "c", places: .max), "others serve that queue")
    #expect(state.isStuck(second, behind: "a", places: 2))
    state.stoppedWaiting(first)
    #expect(!state.isStuck(second, behind: "a", places: 2))
  }

  @Test func `handlers of two queues that wait for jobs of each other's are stuck`() {
    let state = Decider.make(limits: ["a": 1, "b": 1], isFresh: false)
    let attempts = [RunningAttempt.make(job: 1, queue: "a"), .make(job: 2, queue: "b")]
    state.claimed(attempts)
    #expect(!state.isStuck(attempts[0].claim.token, behind: "b", places: 1))
    #expect(state.isStuck(attempts[1].claim.token, behind: "a", places: 1))
  }

  @Test func `requests to stop, however often somebody asks, keep back neither results nor claims nor recovery`() {
    let state = Decider.make(limits: ["a": 2], isFresh: false)
    let attempts = (1...2).map { RunningAttempt.make(job: $0, queue: "a") }
    state.claimed(attempts)
    let now = Defaults.sweepInterval
    var steps: [WorkerState.Step] = []
    state.ended(attempts[0], .success(of: attempts[0]))
    // Each time while the step before is under way.
    for _ in 0..<5 {
      #expect(state.heard(.changedElsewhere(.stops)))
      steps.append(state.next(now))
      switch steps.last {
      case .turn(_, let claim): state.turnEnded(claimed: claim.map { _ in ClaimBatch() }, now)
      case .renew: state.renewed([:])
      default: state.recovered(RecoveryReport(), now)
      }
    }
    #expect(steps.contains(.turn([.success(of: attempts[0])], claim: ["a": 1])))
    #expect(steps.contains(.recover))
    #expect(steps.contains(.renew))
  }

  @Test func `a result that takes the store too long keeps none of the others back`() {
    let state = Decider.make(limits: ["a": 2], isFresh: false)
    let attempts = (1...2).map { RunningAttempt.make(job: $0, queue: "a") }
    state.claimed(attempts)
    for attempt in attempts { state.ended(attempt, .success(of: attempt)) }
    let results = attempts.map { ClaimSettlement.success(of: $0) }
    var now = Duration.seconds(1)
    func fails(_ turn: [ClaimSettlement], claim: [String: Int]?) {
      #expect(state.next(now) == .turn(turn, claim: claim))
      #expect(state.turnFailed(turn, wantedClaim: claim != nil, isPassing: true, now) == .again)
      now += .milliseconds(1500)
    }
    for _ in 1...3 { fails(results, claim: ["a": 2]) }
    fails([results[0]], claim: nil)
    now += .milliseconds(500)
    #expect(state.next(now) == .turn([results[1]], claim: nil))
    state.turnEnded(claimed: nil, now)
    fails([results[0]], claim: nil)
    #expect(state.next(now) == .turn([results[0]], claim: ["a": 2]))
  }

  /// The next step that is neither a renewal nor a recovery, which find nothing.
  private func turn(_ state: Decider, _ now: Duration) -> WorkerState.Step {
    while true {
      switch state.next(now) {
      case .renew: state.renewed([:])
      case .recover: state.recovered(RecoveryReport(), now)
      case let step: return step
      }
    }
  }

  @Test func `while the store is at a result, all else goes on, and no run gives it up`() {
    let state = Decider.make(goal: .idle, limits: ["a": 1], isFresh: false)
    let attempts = (1...2).map { RunningAttempt.make(job: $0, queue: "a") }
    let results = attempts.map { ClaimSettlement.success(of: $0) }
    state.claimed([attempts[0]])
    state.ended(attempts[0], results[0])
    #expect(turn(state, .zero) == .turn([results[0]], claim: ["a": 1]))
    #expect(state.turnFailed([results[0]], wantedClaim: true, late: .goesOn, .zero) == .again)
    for second in 0..<100 {
      let now = Duration.seconds(second)
      state.learnedKinds()
      #expect(turn(state, now) == .turn([], claim: ["a": 1]))
      state.turnEnded(claimed: ClaimBatch(jobs: [attempts[1].claim]), now)
      state.began(attempts[1])
      state.ended(attempts[1], results[1])
      #expect(turn(state, now) == .turn([results[1]], claim: ["a": 1]))
      state.turnEnded(claimed: ClaimBatch(), now)
      #expect(turn(state, now) == .wait(until: now + .seconds(1)))
      #expect(turn(state, now + .seconds(1)) == .turn([results[0]], claim: nil))
      #expect(state.turnFailed([results[0]], wantedClaim: false, late: .goesOn, now + .seconds(1)) == .again)
    }
    #expect(turn(state, .seconds(101)) == .turn([results[0]], claim: nil))
    state.turnEnded(claimed: nil, .seconds(101))
    #expect(turn(state, .seconds(101)) == .askIfIdle)
  }

  @Test func `a run until idle gives up a result that the store is at again and again, and fails to store`() {
    let state = Decider.make(goal: .idle, limits: ["a": 1], isFresh: false)
    let attempt = RunningAttempt.make(job: 1, queue: "a")
    let result = ClaimSettlement.success(of: attempt)
    state.claimed([attempt])
    state.ended(attempt, result)
    #expect(turn(state, .zero) == .turn([result], claim: ["a": 1]))
    #expect(state.turnFailed([result], wantedClaim: true, late: .goesOn, .zero) == .again)
    var (now, refusal) = (Duration.zero, WorkerState.Refusal.again)
    while refusal == .again, now < Defaults.lease * 2 {
      state.learnedKinds()
      #expect(turn(state, now) == .turn([], claim: ["a": 1]))
      state.turnEnded(claimed: ClaimBatch(), now)
      now += .seconds(1)
      #expect(turn(state, now) == .turn([result], claim: nil))
      refusal = state.turnFailed([result], wantedClaim: false, late: now > .seconds(5) ? .failed : .goesOn, now)
    }
    #expect(refusal == .giveUp([result]) && now == .seconds(6) + Defaults.lease)
  }

  @Test func `a run until idle that has claimed once more asks again before it ends`() {
    let state = Decider.make(goal: .idle, limits: ["a": 1], isFresh: false)
    #expect(state.next(.zero) == .askIfIdle)
    state.askedIfIdle(true)
    // What came while it asked.
    let ready = JobTransition(id: JobID(rawValue: 1), queue: "a", kind: "k", state: .ready)
    #expect(state.heard(.committed([ready])))
    #expect(state.next(.zero) == .turn([], claim: ["a": 1]))
    let attempt = RunningAttempt.make(job: 1, queue: "a")
    state.claimed([attempt])
    let retry = ClaimSettlement(token: attempt.claim.token, result: .retry(.after(.seconds(5)), message: "no"))
    state.ended(attempt, retry)
    #expect(state.next(.zero) == .turn([retry], claim: ["a": 1]))
    state.turnEnded(claimed: ClaimBatch(nextDue: .seconds(5)), .zero)
    #expect(state.next(.zero) == .askIfIdle)
  }

  @Test func `to be idle is asked only when nothing is under way, and again after each news`() {
    let state = Decider.make(goal: .idle, limits: ["a": 1])
    #expect(state.next(.zero) == .recover)
    #expect(state.next(.zero) == .turn([], claim: ["a": 1]))
    state.turnEnded(claimed: ClaimBatch(), .zero)
    #expect(state.next(.seconds(1)) == .askIfIdle)
    state.askedIfIdle(false)
    #expect(state.next(.seconds(1)) == .wait(until: Defaults.sweepInterval))
    #expect(state.heard(.changedElsewhere(.results)))
    #expect(state.next(.seconds(1)) == .askIfIdle)
    state.askedIfIdle(true)
    #expect(state.next(.seconds(1)) == .done)
  }

  @Test func `one job is one job`() {
    let state = Decider.make(goal: .oneJob, limits: ["a": 1])
    _ = state.next(.zero)
    #expect(state.next(.zero) == .turn([], claim: ["a": 1]))
    let attempt = RunningAttempt.make(job: 1, queue: "a")
    state.turnEnded(claimed: ClaimBatch(jobs: [attempt.claim], hasMore: true), .zero)
    state.began(attempt)
    state.ended(attempt, .success(of: attempt))
    #expect(state.next(.zero) == .turn([.success(of: attempt)], claim: nil))
    state.turnEnded(claimed: nil, .zero)
    #expect(state.next(.zero) == .done)
  }
}
