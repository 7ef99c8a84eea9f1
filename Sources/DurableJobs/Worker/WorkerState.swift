/// What a worker knows and what it does next: events go in, the next step comes out.
///
/// A value without a clock or I/O. `now` is always an uptime.
struct WorkerState: Sendable {
  /// When the run is over.
  enum Goal: Sendable {
    /// When it is stopped.
    case none
    /// When the worker has nothing left to do. See ``OutstandingWork``.
    case idle
    /// When it has run one job or found none.
    case oneJob
  }

  /// What the engine must do now. Each step is answered by an event before the next one is requested.
  enum Step: Equatable {
    /// Store results and, if `claim` is set, claim that many jobs per queue. Answered by `turnEnded` or `turnFailed`.
    case turn([ClaimSettlement], claim: [String: Int]?)
    /// Renew all claims that are held. Answered by `renewed` or `renewalFailed`.
    case renew
    /// Answered by `recovered` and `learned`.
    case recover
    /// Answered by the constraints' `woke` or `wakeFailed`.
    case wake(ConstraintState.Bite)
    /// Cancel all handlers.
    case interrupt
    /// Cancel all handlers and give back all claims without waiting for them. These results were not stored.
    case giveBack([ClaimSettlement])
    /// Ask the store whether the goal is reached. Answered by `askedIfIdle`.
    case askIfIdle
    /// Sleep until there is an event, or until this time.
    case wait(until: Duration?)
    case done
  }

  private(set) var goal: Goal
  private(set) var limits: [String: Int]
  private var isHeld = false
  private var knowsKinds: Bool
  var constraints = ConstraintState()

  /// Attempts whose handlers have not returned: each occupies a slot of its queue.
  private(set) var atWork: [ClaimToken: RunningAttempt] = [:]
  private var slotsTaken: [String: Int] = [:]
  /// Claims that were lost; their handlers may still be running.
  private var lost: Set<ClaimToken> = []
  /// The queues for whose jobs handlers wait, and how many of those can run at once.
  private var stuck: [ClaimToken: (queue: String, places: Int)] = [:]
  /// Results that have not been stored.
  private var results: [ClaimSettlement] = []
  /// Those that the store is at, which takes long, and when each is offered again by itself.
  private(set) var late: [(result: ClaimSettlement, due: Duration)] = []
  /// The slots that the turn under way asks for, and the results that joined it since it began.
  private var asked: [String: Int] = [:]
  private var joined: [ClaimSettlement] = []

  // What may be true, as far as the worker knows.
  private var workMayWait = true
  private var stopsMayBeAsked = false
  private var mayBeIdle = true
  private var hasClaimedOne = false
  /// Queues in which the limit of running jobs held jobs back at the last claim; whether other jobs have ended since
  /// that claim began; and the jobs whose end is stored with it.
  private var full: Set<String> = []
  private var othersEnded = false
  private var ending: Set<JobID> = []
  private var isIdle = false

  // Times.
  private var nextDue: Duration?
  private var nextRenewal: Duration = .zero
  /// When to tell the store all that is held: it may have made claims whose answer was lost, which then go back.
  private var listDue: Duration?
  private var mayHoldLost = false
  private var nextRecovery: Duration
  private let sweepInterval: Duration
  /// A due recovery step comes before the next turn, so that both make progress; renewals come before either.
  private var hadTurn = true
  /// Nor do requests to stop, however often somebody asks, keep back turns or recovery.
  private var mayHearStops = true
  private var progressDue: Duration?
  private var lastProgress: Duration = .zero
  private var graceEnd: Duration?
  private var isInterrupted = false
  private var mustGiveBack = false

  // Errors of the store.
  private var failures = 0
  /// Since when it is away, and fails to store a result at which it was.
  private var awaySince: Duration?
  private var lateSince: Duration?
  private var notBefore: Duration = .zero
  /// How many of the first results are offered one at a time, to find the one that the store refuses.
  private var suspects = 0

  /// `spread`: from 0 to 1. Makes workers that started at the same moment sweep at different times.
  init(goal: Goal, limits: [String: Int], knowsKinds: Bool, now: Duration, spread: Double = 0) {
    sweepInterval = Defaults.sweepInterval * (1 - spread / 5)
    (self.goal, self.limits, self.knowsKinds) = (goal, limits, knowsKinds)
    nextRecovery = now
  }

  /// The queues that the worker serves, whether or not they have free slots.
  var queues: Set<String> { Set(limits.keys) }

  func hasRoom(in queue: String) -> Bool { !isHeld && (limits[queue].map { $0 > slotsTaken[queue] ?? 0 } ?? false) }

  /// Claims whose results have not been stored.
  var tokensInHand: [ClaimToken] { results.map(\.token) + late.map(\.result.token) }
  private var areAllStored: Bool { results.isEmpty && late.isEmpty }

  // MARK: The next step

  mutating func next(_ now: Duration) -> Step {
    if let graceEnd, now >= graceEnd, !isInterrupted {
      isInterrupted = true
      if !atWork.isEmpty { return .interrupt }
    }
    if let nextDue, now >= nextDue {
      self.nextDue = nil
      workMayWait = true
    }
    if mustRenew(now) || mustHearStops && mayHearStops { return renewal(now) }
    let recoveryIsDue = now >= nextRecovery && !isStopping
    if !(recoveryIsDue && hadTurn), now >= notBefore, let turn = nextTurn(now) {
      (hadTurn, mayHearStops) = (true, true)
      return turn
    }
    if let listDue, now >= listDue { return renewal(now) }
    if mustGiveBack, results.isEmpty || failures > 0 {
      mustGiveBack = false
      return .giveBack(dropAll())
    }
    hadTurn = false
    if recoveryIsDue {
      nextRecovery = now + sweepInterval
      workMayWait = true
      return .recover
    }
    if mustHearStops { return renewal(now) }
    if !isStopping, now >= notBefore, let bite = constraints.nextBite(now) { return .wake(bite) }
    if isOver { return .done }
    if mayAskIfIdle {
      mayBeIdle = false
      return .askIfIdle
    }
    return .wait(until: nextTime(now))
  }

  private mutating func nextTurn(_ now: Duration) -> Step? {
    if let first = late.first, first.due <= now { return .turn([late.removeFirst().result], claim: nil) }
    if suspects > 0 {
      suspects -= 1
      return .turn([results.removeFirst()], claim: nil)
    }
    let free = workMayWait ? freeSlots : nil
    guard !results.isEmpty || free != nil else { return nil }
    if free != nil {
      workMayWait = false
      othersEnded = false
      ending = full.isEmpty ? [] : Set(results.map(\.token.job))
    }
    asked = free ?? [:]
    defer { results.removeAll(keepingCapacity: true) }
    return .turn(results, claim: free)
  }

  /// Results that came since the turn under way began, and the slots that they freed: they need no commit of their own.
  mutating func joinTurn() -> ClaimRequest.Join? {
    guard !asked.isEmpty, !results.isEmpty, suspects == 0, var free = freeSlots else { return nil }
    for (queue, slots) in asked { free[queue]? -= slots }
    free = free.filter { $0.value > 0 }
    asked.merge(free, uniquingKeysWith: +)
    if !full.isEmpty { ending.formUnion(results.map(\.token.job)) }
    defer { results.removeAll(keepingCapacity: true) }
    joined += results
    return (results, free)
  }

  /// The turn was carried out or refused. What had joined it is added to its results.
  mutating func leaveTurn(_ results: inout [ClaimSettlement]) {
    if !joined.isEmpty { results += joined }  // none would still be a copy of all that are there
    (asked, joined) = ([:], [])
  }

  /// Free slots by queue; nil if there are none or no job is to be claimed.
  private var freeSlots: [String: Int]? {
    guard !isStopping, !isHeld, knowsKinds, !(goal == .oneJob && hasClaimedOne) else { return nil }
    var free: [String: Int] = [:]
    for (queue, limit) in limits {
      let slots = limit - (slotsTaken[queue] ?? 0)
      if slots > 0 { free[queue] = slots }
    }
    return free.isEmpty ? nil : free
  }

  private func mustRenew(_ now: Duration) -> Bool {
    holdsClaims && (now >= nextRenewal || progressDue.map { now >= $0 } ?? false)
  }

  private var mustHearStops: Bool { stopsMayBeAsked && holdsClaims }

  private mutating func renewal(_ now: Duration) -> Step {
    nextRenewal = now + Defaults.renewalInterval
    stopsMayBeAsked = false
    mayHearStops = false
    if progressDue != nil { (progressDue, lastProgress) = (nil, now) }
    return .renew
  }

  /// Whether it has jobs, or has not asked for some since there may be.
  var mayHaveWork: Bool { workMayWait || holdsClaims }

  private var holdsClaims: Bool { atWork.count > lost.count || !areAllStored }

  var isStopping: Bool { graceEnd != nil }

  private var isOver: Bool {
    guard atWork.isEmpty, areAllStored else { return false }
    switch goal {
    case .none: return isStopping
    case .idle: return isStopping || isIdle
    case .oneJob: return isStopping || hasClaimedOne || !workMayWait && constraints.isKnown || !knowsKinds
    }
  }

  private var mayAskIfIdle: Bool {
    goal == .idle && mayBeIdle && !isStopping && atWork.isEmpty && areAllStored && !mayClaim && constraints.isKnown
  }

  private var mayClaim: Bool { workMayWait && knowsKinds }

  private func nextTime(_ now: Duration) -> Duration? {
    var times: [Duration?] = [graceEnd.flatMap { isInterrupted ? nil : $0 }, listDue]
    if !isStopping { times += [nextRecovery, nextDue, constraints.nextTime.map { max($0, notBefore) }] }
    if holdsClaims { times += [nextRenewal, progressDue] }
    if notBefore > now { times.append(notBefore) }
    times.append(late.first.map { max($0.due, notBefore) })
    return times.compactMap(\.self).min()
  }

  // MARK: Events from the store

  mutating func turnEnded(claimed: ClaimBatch?, _ now: Duration) {
    failures = 0
    awaySince = nil
    if late.isEmpty { lateSince = nil }
    notBefore = .zero
    guard let claimed else { return }
    full = claimed.full
    if claimed.hasMore || othersEnded && !full.isEmpty { workMayWait = true }
    nextDue = claimed.nextDue.map { now + $0 }
    if !claimed.jobs.isEmpty { (hasClaimedOne, isIdle) = (true, false) }
    mayBeIdle = true
    if atWork.count == lost.count, !claimed.jobs.isEmpty { nextRenewal = now + Defaults.renewalInterval }
  }

  /// What to do after the store refused a turn.
  enum Refusal: Equatable {
    /// The results are offered again, and the claim is requested again.
    case again
    /// The store refuses this particular result, which is not offered again.
    case refused(ClaimSettlement)
    /// The run ends with the error, since nothing is pending or the worker has waited long enough. These are not stored.
    case giveUp([ClaimSettlement])
  }

  /// `isPassing`: the store may come back. Otherwise results are offered one at a time to find the one it refuses.
  /// `late`: it is at the only result, however long that takes.
  mutating func turnFailed(
    _ settlements: [ClaimSettlement], wantedClaim: Bool, isPassing: Bool, late: ResultUnderWay? = nil, _ now: Duration
  ) -> Refusal {
    if wantedClaim { workMayWait = true }
    if !isPassing, settlements.count == 1, !wantedClaim { return .refused(settlements[0]) }
    if let late {
      let isLast = atWork.isEmpty && results.isEmpty && !self.late.contains { $0.due <= now } && !mustGiveBack
      if late == .failed { lateSince = lateSince ?? now }
      let since = late == .failed ? lateSince : nil
      if isLast, hasWaitedEnough(now, since: since) { return .giveUp(settlements + dropAll()) }
      let due = now + .seconds(1)
      self.late += settlements.map { ($0, graceEnd.map { now < $0 ? min($0, due) : due } ?? due) }
      if wantedClaim { listDue = now }
      return .again
    }
    results.insert(contentsOf: settlements, at: isPassing ? suspects : 0)
    if atWork.isEmpty, areAllStored, goal != .none || !isPassing { return .giveUp([]) }
    if isPassing {
      awaySince = awaySince ?? now
      if hasWaitedEnough(now, since: awaySince), atWork.isEmpty, !mustGiveBack { return .giveUp(dropAll()) }
      failures += 1
      // One of them may be what takes too long: each is offered by itself then, in turn.
      suspects = suspects > 0 ? suspects + settlements.count : failures > 2 && results.count > 1 ? results.count : 0
      let wait = BackOff(base: .milliseconds(100), factor: 2, cap: .seconds(5)).delay(number: failures, random: 1)
      notBefore = now + wait
    } else if !settlements.isEmpty {
      suspects = settlements.count
    } else {
      failures += 1
      notBefore = now + .seconds(5)
    }
    // The last try of a stop is when its grace is over, and no back-off later.
    if let graceEnd, now < graceEnd { notBefore = min(notBefore, graceEnd) }
    if wantedClaim { listDue = notBefore }
    return .again
  }

  /// An unavailable store is waited for until a stop's grace is over; with a goal, until the leases would have lapsed.
  private func hasWaitedEnough(_ now: Duration, since: Duration?) -> Bool {
    if let graceEnd, now >= graceEnd { return true }
    return goal != .none && since.map { now - $0 >= Defaults.lease } ?? false
  }

  /// The store was closed in this process: unsaved results, which it returns, are lost, and the claims lapse.
  mutating func storeClosed(_ now: Duration) -> [ClaimSettlement] {
    stop(graceEnd: now)
    return dropAll()
  }

  /// The store is about to close: pending results are stored, and all else is given back.
  mutating func storeCloses(_ now: Duration) {
    stop(graceEnd: now)
    (mustGiveBack, isInterrupted) = (true, true)
  }

  private mutating func dropAll() -> [ClaimSettlement] {
    let unstored = results + late.map(\.result)
    results = []
    late = []
    suspects = 0
    listDue = nil
    lost.formUnion(atWork.keys)
    return unstored
  }

  mutating func renewed(_ standings: [ClaimToken: ClaimStanding]) {
    listDue = nil
    for case (let token, .lost) in standings where atWork[token] != nil { lost.insert(token) }
  }

  /// Nothing tells any more that these are held. Should they be so after all, they are given back once their handlers end.
  mutating func gaveUp(_ tokens: [ClaimToken]) {
    lost.formUnion(tokens.filter { atWork[$0] != nil })
    mayHoldLost = true
  }

  mutating func renewalFailed(hadProgress: Bool, _ now: Duration) {
    nextRenewal = now + .seconds(1)
    if listDue != nil { listDue = nextRenewal }
    if hadProgress { progressDue = now + .seconds(1) }
  }

  mutating func recovered(_ report: RecoveryReport, _ now: Duration) {
    if report.recovered > 0 { workMayWait = true }
    if report.hasMore {
      nextRecovery = now
    } else if let wait = report.comeAgain {
      nextRecovery = min(nextRecovery, now + wait)
    }
  }

  // MARK: Conditions

  mutating func told(_ constraint: JobConstraint, _ isSatisfied: Bool, _ now: Duration) {
    if constraints.told(constraint, isSatisfied, now) { conditionsChanged() }
  }

  /// The settings made by hand, as they were read.
  mutating func learned(_ settings: [JobConstraint: Bool], _ now: Duration) {
    if constraints.set(settings, now) { conditionsChanged() }
  }

  mutating func monitorEnded(_ constraint: JobConstraint) {
    constraints.ended(constraint)
    conditionsChanged()
  }

  /// The next claim reports the change, also to those who wait for idleness.
  private mutating func conditionsChanged() { (workMayWait, mayBeIdle) = (true, true) }

  /// Attempts to interrupt because one of these conditions, or any if nil, no longer holds.
  func interrupted(without lost: Set<JobConstraint>? = nil) -> [RunningAttempt] {
    atWork.values.filter { attempt in
      attempt.claim.whenLost == .interrupts
        && attempt.claim.requires.contains { !constraints.holds($0) && lost?.contains($0) ?? true }
    }
  }

  mutating func askedIfIdle(_ isIdle: Bool) { self.isIdle = isIdle && !mayClaim }

  // MARK: Events from handlers

  mutating func began(_ attempt: RunningAttempt) {
    atWork[attempt.claim.token] = attempt
    slotsTaken[attempt.claim.queue, default: 0] += 1
  }

  /// A handler has returned. The result is nil if this worker no longer holds the claim. Returns whether that was lost.
  @discardableResult
  mutating func ended(_ attempt: RunningAttempt, _ settlement: ClaimSettlement?) -> Bool {
    let token = attempt.claim.token
    atWork[token] = nil
    if !stuck.isEmpty { stuck[token] = nil }
    slotsTaken[attempt.claim.queue]! -= 1
    let isLost = !lost.isEmpty && lost.remove(token) != nil
    if !isLost, let settlement { results.append(settlement) }
    if isLost, mayHoldLost { listDue = .zero }
    (workMayWait, mayBeIdle) = (true, true)
    return isLost
  }

  mutating func replace(with settlement: ClaimSettlement) { results.append(settlement) }

  mutating func progressReported(_ now: Duration) {
    if progressDue == nil { progressDue = max(now, lastProgress + Defaults.progressInterval) }
  }

  /// A handler asks whether its claim still holds.
  mutating func mustAsk() { stopsMayBeAsked = true }

  /// Whether its handler runs now: a task that the handler has started may outlive it.
  func isAtWork(_ token: ClaimToken) -> Bool { atWork[token] != nil }

  /// The handler of `token` waits for a job of `queue` that is not running, of which so many can run at once. Returns whether
  /// it never will, because all those places are held by handlers that wait in this way.
  mutating func isStuck(_ token: ClaimToken, behind queue: String, places: Int) -> Bool {
    guard isAtWork(token) else { return false }
    stuck[token] = (queue, places)
    var full = Dictionary(stuck.values.map { ($0.queue, $0.places) }, uniquingKeysWith: min)
    // A place is lost whose holder waits for one that is.
    func isOpen(_ queue: String, _ places: Int) -> Bool {
      stuck.count { atWork[$0.key]?.claim.queue == queue && full[$0.value.queue] != nil } < places
    }
    while let open = full.first(where: { isOpen($0, $1) }) { full[open.key] = nil }
    return full[queue] != nil
  }

  mutating func stoppedWaiting(_ token: ClaimToken) { stuck[token] = nil }

  // MARK: Events from outside

  /// Returns whether the signal must wake the worker.
  mutating func heard(_ signal: StoreSignal) -> Bool {
    switch signal {
    case .committed(let transitions):
      var isNews = false
      for transition in transitions {
        switch transition.state {
        case .ready, .scheduled:
          guard limits[transition.queue] != nil else { continue }
          (workMayWait, isNews) = (true, true)
        case .running: break
        default:
          if goal == .idle { (mayBeIdle, isNews) = (true, true) }
          guard !ending.contains(transition.id) else { break }
          othersEnded = true
          if full.contains(transition.queue) { (workMayWait, isNews) = (true, true) }
        }
        if transition.concernsClaim { (stopsMayBeAsked, isNews) = (true, true) }
      }
      return isNews
    case .changedElsewhere(let change):
      if change.contains(.work) || change.contains(.results) && !full.isEmpty { workMayWait = true }
      othersEnded = true
      if change.contains(.stops) { stopsMayBeAsked = true }
      if change.contains(.doubt) { nextRenewal = .zero }
      if change.contains(.deadlines) { nextRecovery = .zero }
      if change.contains(.settings) { nextRecovery = .zero }  // which reads them
      mayBeIdle = true
      return true
    }
  }

  mutating func set(limits: [String: Int]) { (self.limits, workMayWait) = (limits, true) }

  mutating func set(held isHeld: Bool) { (self.isHeld, workMayWait) = (isHeld, true) }

  mutating func learnedKinds() { (knowsKinds, workMayWait, mayBeIdle) = (true, true, true) }

  /// Stops claiming. On a repeated call, the earlier end of the grace counts. Returns whether that is this one.
  @discardableResult
  mutating func stop(graceEnd: Duration) -> Bool {
    defer { (notBefore, late) = (min(notBefore, graceEnd), late.map { ($0, min($1, graceEnd)) }) }
    if let former = self.graceEnd, former <= graceEnd { return false }
    self.graceEnd = graceEnd
    return true
  }
}
