@testable import DurableJobs

/// A `WorkerState` in a class, since `#expect` can't call what mutates a value.
final class Decider {
  private var state: WorkerState

  init(_ state: WorkerState) { self.state = state }

  /// `isFresh`: as it starts; otherwise its first recovery and its first claim are behind it and found nothing.
  static func make(goal: WorkerState.Goal = .none, limits: [String: Int], isFresh: Bool = true) -> Decider {
    let decider = Decider(WorkerState(goal: goal, limits: limits, knowsKinds: true, now: .zero))
    if !isFresh {
      _ = decider.next(.zero)
      _ = decider.next(.zero)
      decider.turnEnded(claimed: ClaimBatch(), .zero)
    }
    return decider
  }

  /// Its one slot taken by a job that it claimed at second 2.
  static func holding(job: Int64) -> Decider {
    let decider = make(limits: ["a": 1], isFresh: false)
    let attempt = RunningAttempt.make(job: job, queue: "a")
    decider.turnEnded(claimed: ClaimBatch(jobs: [attempt.claim]), .seconds(2))
    decider.began(attempt)
    return decider
  }

  func claimed(_ attempts: [RunningAttempt], hasMore: Bool = false) {
    turnEnded(claimed: ClaimBatch(jobs: attempts.map(\.claim), hasMore: hasMore), .zero)
    for attempt in attempts { began(attempt) }
  }

  var atWork: [ClaimToken: RunningAttempt] { state.atWork }
  func next(_ now: Duration) -> WorkerState.Step { state.next(now) }
  func turnEnded(claimed: ClaimBatch?, _ now: Duration) { state.turnEnded(claimed: claimed, now) }
  func turnFailed(
    _ results: [ClaimSettlement], wantedClaim: Bool, isPassing: Bool = true, late: ResultUnderWay? = nil,
    _ now: Duration
  ) -> WorkerState.Refusal {
    state.turnFailed(results, wantedClaim: wantedClaim, isPassing: isPassing, late: late, now)
  }
  func joinTurn() -> ClaimRequest.Join? { state.joinTurn() }
  func leaveTurn() -> [ClaimSettlement] {
    var joined: [ClaimSettlement] = []
    state.leaveTurn(&joined)
    return joined
  }
  func renewalFailed(hadProgress: Bool, _ now: Duration) { state.renewalFailed(hadProgress: hadProgress, now) }
  func renewed(_ standings: [ClaimToken: ClaimStanding]) { state.renewed(standings) }
  func recovered(_ report: RecoveryReport, _ now: Duration) { state.recovered(report, now) }
  func askedIfIdle(_ isIdle: Bool) { state.askedIfIdle(isIdle) }
  func began(_ attempt: RunningAttempt) { state.began(attempt) }
  func ended(_ attempt: RunningAttempt, _ result: ClaimSettlement?) { state.ended(attempt, result) }
  func progressReported(_ now: Duration) { state.progressReported(now) }
  func heard(_ signal: StoreSignal) -> Bool { state.heard(signal) }
  func told(_ constraint: JobConstraint, _ isSatisfied: Bool) { state.told(constraint, isSatisfied, .zero) }
  func hold(_ isHeld: Bool) { state.set(held: isHeld) }
  func learnedKinds() { state.learnedKinds() }
  func isStuck(_ token: ClaimToken, behind queue: String, places: Int) -> Bool {
    state.isStuck(token, behind: queue, places: places)
  }
  func stoppedWaiting(_ token: ClaimToken) { state.stoppedWaiting(token) }
  func storeCloses(_ now: Duration) { state.storeCloses(now) }
  func stop(graceEnd: Duration) { state.stop(graceEnd: graceEnd) }
}

extension RunningAttempt {
  static func make(job: Int64, queue: String) -> RunningAttempt {
    RunningAttempt(.make(job: job, queue: queue), at: .zero) { _ in }
  }
}

extension ClaimedJob {
  static func make(job: Int64, queue: String) -> ClaimedJob {
    ClaimedJob(
      token: ClaimToken(job: JobID(rawValue: job), claim: 1), queue: queue, kind: "k", payload: .init(), attempt: 1,
      maxAttempts: 10)
  }
}

extension ClaimSettlement {
  static func success(of attempt: RunningAttempt) -> ClaimSettlement {
    ClaimSettlement(token: attempt.claim.token, result: .succeeded(output: nil))
  }
}
