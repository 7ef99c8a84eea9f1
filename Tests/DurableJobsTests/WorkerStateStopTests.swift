import Testing

@testable import DurableJobs

/// How a worker decides to end.
@Suite struct WorkerStateStopTests {
  @Test func `C54 a stop ends claiming, gives grace, interrupts, and is over when the last handler has returned`() {
    let state = Decider.holding(job: 1)
    state.stop(graceEnd: .seconds(15))
    #expect(state.next(.seconds(6)) == .wait(until: .seconds(12)))
    #expect(state.next(.seconds(12)) == .renew)
    #expect(state.next(.seconds(15)) == .interrupt)
    let attempt = state.atWork.values.first!
    let back = ClaimSettlement(token: attempt.claim.token, result: .interrupted)
    state.ended(attempt, back)
    #expect(state.next(.seconds(15)) == .turn([back], claim: nil))
    state.turnEnded(claimed: nil, .seconds(15))
    #expect(state.next(.seconds(15)) == .done)
  }

  /// A worker with one result that the store, which is away, has just refused.
  private func refused(goal: WorkerState.Goal, at now: Duration) -> (Decider, [ClaimSettlement]) {
    let state = Decider.make(goal: goal, limits: ["a": 1], isFresh: false)
    let attempt = RunningAttempt.make(job: 1, queue: "a")
    state.claimed([attempt])
    state.ended(attempt, .success(of: attempt))
    let results = [ClaimSettlement.success(of: attempt)]
    #expect(state.next(now) == .turn(results, claim: ["a": 1]))
    #expect(state.turnFailed(results, wantedClaim: true, isPassing: true, now) == .again)
    return (state, results)
  }

  @Test func `a stop waits for a store that is away until its grace is over, tries once more, and gives up`() {
    let (state, results) = refused(goal: .none, at: .seconds(1))
    state.stop(graceEnd: .seconds(3))
    #expect(state.next(.milliseconds(1100)) == .turn(results, claim: nil))
    #expect(state.turnFailed(results, wantedClaim: false, isPassing: true, .milliseconds(2900)) == .again)
    state.stop(graceEnd: .milliseconds(2950))
    #expect(state.next(.milliseconds(2950)) == .turn(results, claim: nil))
    #expect(state.turnFailed(results, wantedClaim: false, isPassing: true, .milliseconds(2950)) == .giveUp(results))
  }

  @Test func `A stop on a full store needs no more time than its grace, whatever back-off began during that`() {
    let (state, results) = refused(goal: .none, at: .seconds(1))
    state.stop(graceEnd: .seconds(3))
    for time in [1100, 1300, 1700, 2500].map({ Duration.milliseconds($0) }) {
      #expect(state.next(time) == .turn(results, claim: nil))
      #expect(state.turnFailed(results, wantedClaim: false, isPassing: true, time) == .again)
    }
    #expect(state.next(.milliseconds(2500)) == .renew, "what it holds, after the claim that was not answered")
    state.renewed([:])
    #expect(state.next(.milliseconds(2500)) == .wait(until: .seconds(3)))
    #expect(state.next(.seconds(3)) == .turn(results, claim: nil))
    #expect(state.turnFailed(results, wantedClaim: false, isPassing: true, .seconds(3)) == .giveUp(results))
  }

  @Test func `a goal waits for a store that is away as long as a lease, and without one for ever`() {
    let (drain, results) = refused(goal: .idle, at: .seconds(1))
    let end = Duration.seconds(1) + Defaults.lease
    #expect(drain.turnFailed([], wantedClaim: true, isPassing: true, end - .milliseconds(1)) == .again)
    #expect(drain.turnFailed([], wantedClaim: true, isPassing: true, end) == .giveUp(results))
    let (service, other) = refused(goal: .none, at: .seconds(1))
    #expect(service.turnFailed(other, wantedClaim: true, isPassing: true, .seconds(100_000)) == .again)
  }

  @Test func `a store that came back is waited for anew`() {
    let (state, results) = refused(goal: .idle, at: .seconds(1))
    state.turnEnded(claimed: nil, .seconds(20))
    let end = Duration.seconds(1) + Defaults.lease
    #expect(state.turnFailed(results, wantedClaim: true, isPassing: true, end) == .again)
  }

  @Test func `a second stop shortens the grace and never lengthens it`() {
    let state = Decider.holding(job: 1)
    state.stop(graceEnd: .seconds(15))
    state.stop(graceEnd: .seconds(3))
    state.stop(graceEnd: .seconds(60))
    #expect(state.next(.seconds(3)) == .interrupt)
  }

  @Test func `before its store closes it stores what is in hand, gives back the rest, and waits for its handlers`() {
    let state = Decider.make(limits: ["a": 2], isFresh: false)
    let attempts = (1...2).map { RunningAttempt.make(job: $0, queue: "a") }
    state.claimed(attempts)
    state.ended(attempts[0], .success(of: attempts[0]))
    state.storeCloses(.seconds(1))
    #expect(state.next(.seconds(1)) == .turn([.success(of: attempts[0])], claim: nil))
    state.turnEnded(claimed: nil, .seconds(1))
    #expect(state.next(.seconds(1)) == .giveBack([]))
    #expect(state.next(.seconds(1)) == .wait(until: nil))
    state.ended(attempts[1], .success(of: attempts[1]))
    #expect(state.next(.seconds(1)) == .done, "what comes later counts for nothing")
  }

  @Test func `before its store closes it tries once to store what is in hand, and says what it could not`() {
    let state = Decider.make(limits: ["a": 2], isFresh: false)
    let attempts = (1...2).map { RunningAttempt.make(job: $0, queue: "a") }
    state.claimed(attempts)
    state.ended(attempts[0], .success(of: attempts[0]))
    state.storeCloses(.seconds(1))
    let results = [ClaimSettlement.success(of: attempts[0])]
    #expect(state.next(.seconds(1)) == .turn(results, claim: nil))
    #expect(state.turnFailed(results, wantedClaim: false, isPassing: true, .seconds(1)) == .again)
    #expect(state.next(.seconds(1)) == .giveBack(results))
    #expect(state.next(.seconds(9)) == .wait(until: nil))
  }

  @Test func `before its store closes it gives back also the only job it has, whose result it could not store`() {
    let state = Decider.holding(job: 1)
    let attempt = RunningAttempt.make(job: 1, queue: "a")
    state.ended(attempt, .success(of: attempt))
    let results = [ClaimSettlement.success(of: attempt)]
    state.storeCloses(.seconds(3))
    #expect(state.next(.seconds(3)) == .turn(results, claim: nil))
    #expect(state.turnFailed(results, wantedClaim: false, isPassing: true, .seconds(3)) == .again)
    #expect(state.next(.seconds(3)) == .giveBack(results))
    #expect(state.next(.seconds(3)) == .done)
  }

  @Test func `before its store closes it stores what it can, and says what the store was at`() {
    let state = Decider.make(limits: ["a": 2], isFresh: false)
    let attempts = (1...2).map { RunningAttempt.make(job: $0, queue: "a") }
    let results = attempts.map { ClaimSettlement.success(of: $0) }
    state.claimed(attempts)
    state.ended(attempts[0], results[0])
    #expect(state.next(.seconds(1)) == .turn([results[0]], claim: ["a": 1]))
    #expect(state.turnFailed([results[0]], wantedClaim: true, late: .goesOn, .seconds(1)) == .again)
    state.ended(attempts[1], results[1])
    state.storeCloses(.seconds(1))
    #expect(state.next(.seconds(1)) == .turn([results[0]], claim: nil))
    #expect(state.turnFailed([results[0]], wantedClaim: false, late: .goesOn, .seconds(1)) == .again)
    #expect(state.next(.seconds(1)) == .turn([results[1]], claim: nil))
    state.turnEnded(claimed: nil, .seconds(1))
    // What the claim beside it may have taken is not held.
    #expect(state.next(.seconds(1)) == .renew)
    state.renewed([:])
    #expect(state.next(.seconds(1)) == .giveBack([results[0]]))
    #expect(state.next(.seconds(1)) == .done)
  }

  @Test func `when the grace of a stop is over, what the store was at is offered once more, after all else`() {
    let state = Decider.make(limits: ["a": 3], isFresh: false)
    let attempts = (1...3).map { RunningAttempt.make(job: $0, queue: "a") }
    let results = attempts.map { ClaimSettlement.success(of: $0) }
    state.claimed(attempts)
    for index in 0...1 {
      state.ended(attempts[index], results[index])
      state.learnedKinds()
      #expect(state.next(.seconds(1)) == .turn([results[index]], claim: ["a": index + 1]))
      #expect(state.turnFailed([results[index]], wantedClaim: true, late: .goesOn, .seconds(1)) == .again)
    }
    state.ended(attempts[2], results[2])
    state.stop(graceEnd: .seconds(1))
    for index in 0...1 {
      #expect(state.next(.seconds(1)) == .turn([results[index]], claim: nil))
      #expect(state.turnFailed([results[index]], wantedClaim: false, late: .goesOn, .seconds(1)) == .again)
    }
    #expect(state.next(.seconds(1)) == .turn([results[2]], claim: nil))
    state.turnEnded(claimed: nil, .seconds(1))
    #expect(state.next(.seconds(2)) == .turn([results[0]], claim: nil))
    state.turnEnded(claimed: nil, .seconds(2))
    #expect(state.next(.seconds(2)) == .turn([results[1]], claim: nil))
    #expect(state.turnFailed([results[1]], wantedClaim: false, late: .goesOn, .seconds(2)) == .giveUp([results[1]]))
  }

  @Test func `who gives up says all that is not stored, also what was not offered with the last`() {
    let state = Decider.make(limits: ["a": 2], isFresh: false)
    let attempts = (1...2).map { RunningAttempt.make(job: $0, queue: "a") }
    let results = attempts.map { ClaimSettlement.success(of: $0) }
    state.claimed(attempts)
    for (attempt, result) in zip(attempts, results) { state.ended(attempt, result) }
    for time in [1000, 1200, 1500] {
      #expect(state.next(.milliseconds(time)) == .turn(results, claim: time == 1000 ? ["a": 2] : nil))
      #expect(state.turnFailed(results, wantedClaim: false, .milliseconds(time)) == .again)
    }
    state.stop(graceEnd: .seconds(2))
    #expect(state.next(.seconds(2)) == .turn([results[0]], claim: nil), "each is offered by itself by now")
    #expect(state.turnFailed([results[0]], wantedClaim: false, .seconds(2)) == .giveUp(results.reversed()))
  }
}
