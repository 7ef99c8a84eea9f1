import DurableJobs
import Foundation

/// What a store must say, by definition: from what happened to each job, by looking at all of them.
///
/// It shares nothing with the rules that stores decide by, so that an error there shows as a difference. What only a store
/// can choose, ids, tokens and random waits, it takes from the store's answers, within the bounds that are set.
struct Oracle {
  let policy: StorePolicy
  /// The definition that is wrong here, if one is.
  let wrong: WrongRule?
  /// By id.
  var jobs: [JobLog] = []
  var workers: [WorkerLog] = []
  var pausedQueues: Set<String> = []
  var limits: [String: JobLimits] = [:]
  /// By queue: how far its rate was used up when a job of it began last.
  var debts: [String: Debt] = [:]
  /// What people set of conditions, for all workers.
  var setByHand: [JobConstraint: Bool] = [:]
  /// By child.
  var needs: [JobID: [Need]] = [:]
  /// By child: needs of the first that comes with a key.
  var openNeeds: [JobID: [OpenNeed]] = [:]
  var batches: [BatchID: BatchLog] = [:]
  /// By payload: the jobs that followed batches.
  var followers: [Data: JobID] = [:]
  /// Those that ran after the last verb.
  var ran: Set<JobID> = []
  /// By lane: who has a seat, and who waits for one.
  var seats: [String: Set<JobID>] = [:]
  var line: [String: Set<JobID>] = [:]
  var widths: [String: Int] = [:]
  /// By lane.
  var paces: [String: Pace] = [:]
  /// Their time was over when they were needed.
  var mayLinger: Set<JobID> = []
  private(set) var now = Date.distantPast
  private(set) var uptime = Duration.zero
  /// By how much the calendar's clock is ahead of the one that never steps.
  private var lead: Int64?

  init(policy: StorePolicy, wrong: WrongRule? = nil) {
    self.policy = policy
    self.wrong = wrong
  }

  /// Looks at the clock. A step back of a second or less is a correction in passing.
  mutating func look(at clock: ManualClock) {
    (now, uptime) = (Date(milliseconds: clock.now.milliseconds), clock.uptime)
    let lead = now.milliseconds - Int64(uptime / .milliseconds(1))
    if let before = self.lead, before - lead > 1000 {
      for index in jobs.indices { note(.clockSetBack(by: before - lead), index) }
      paces = paces.mapValues { Pace(rate: $0.rate, emptyAt: $0.emptyAt - (before - lead) * 1000) }
    }
    self.lead = lead
  }

  mutating func note(_ event: JobLog.Event, _ index: Int) { jobs[index].note(event, at: now) }

  func index(of id: JobID) -> Int? {
    var range = jobs.indices
    while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
      if jobs[middle].id == id { return middle }
      range = jobs[middle].id < id ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }

  func state(_ job: JobLog) -> JobState {
    let state = job.state(at: now)
    return (state == .ready || state == .scheduled) && waits(job) ? .blocked : state
  }

  func snapshot(_ job: JobLog) -> JobSnapshot {
    var snapshot = job.snapshot(in: state(job))
    let known = (needs[job.id] ?? []).map { JobEdge(.job($0.parent), $0.condition, slot: $0.slot) }
    let open = (openNeeds[job.id] ?? []).map { JobEdge(.key($0.key), $0.condition, slot: $0.slot) }
    snapshot.edges = Set(known + open).sorted(by: JobEdge.isBefore)
    return snapshot
  }

  // MARK: New jobs

  /// The jobs that have the key, the oldest first.
  func owners(of key: UniqueKey?) -> [JobID] { jobs.filter { key != nil && has($0, key?.key) }.map(\.id) }

  func unfinishedOwners(of key: UniqueKey?) -> [JobID] {
    owners(of: key).filter { id in index(of: id).map { !state(jobs[$0]).isFinished } ?? false }
  }

  private func has(_ job: JobLog, _ key: String?) -> Bool {
    guard let unique = job.job.terms.unique, unique.key == key else { return false }
    let state = state(job)
    if wrong == .cancelledKeepsKey, state == .cancelled { return true }
    if wrong == .suspendedLosesKey, state == .suspended { return false }
    if wrong == .skippedKeepsKey, state == .skipped { return true }
    return !state.isFinished || unique.scope == .whileStored || isWithinWindow(job)
  }

  /// It succeeded, and others of its key are still to be led to it.
  func isWithinWindow(_ job: JobLog) -> Bool {
    guard case .within(let length) = job.job.terms.unique?.scope, state(job) == .succeeded else { return false }
    return wrong != .windowEndsWithJob && now < job.entries[job.entries.startIndex].at.later(by: length.milliseconds)
  }

  /// Who is in the way of a job that wants its key again: the newest that has it, or where that was skipped for want of
  /// the job, the newest that has not ended. Nobody, if the job waits for that itself.
  func rival(of job: JobLog) -> JobID? {
    var owner = owners(of: job.job.terms.unique).last
    if let newest = owner, wrong != .successorKeepsKey, isSkipped(newest, forWantOf: job.id) {
      owner = unfinishedOwners(of: job.job.terms.unique).last
    }
    guard let owner, owner != job.id else { return nil }
    return (needs[job.id] ?? []).contains { $0.parent == owner } ? nil : owner
  }

  /// Jobs that are to be stored take the place of those that have their keys. Returns whose place is taken, by key.
  mutating func replaced(by new: [NewJob]) -> [String: [JobID]] {
    var gone: [String: [JobID]] = [:]
    for case let unique? in new.map(\.terms.unique) where unique.policy == .replace && gone[unique.key] == nil {
      let owners = wrong == .replaceSparesWaiting ? [] : unfinishedOwners(of: unique)
      gone[unique.key] = owners
      let cancel = JobChange.cancel(reason: "replaced by another of its unique key, '\(unique.key)'")
      for id in owners {
        guard case .happens(let event) = effect(of: cancel, on: jobs[index(of: id)!], []) else { continue }
        note(event, index(of: id)!)
      }
    }
    followEnds()
    return gone
  }

  /// New jobs of one call, and who stands for each. The store gave `ids` to those that it stored.
  mutating func insert(_ new: [NewJob], in batch: BatchID? = nil, _ ids: inout ArraySlice<JobID>) -> [InsertedJob] {
    let gone = replaced(by: new)
    var stands: [InsertedJob] = []
    for var job in new {
      let unique = job.terms.unique
      let (owner, unfinished) = (owners(of: unique).last, unfinishedOwners(of: unique))
      var disposition = InsertedJob.Disposition.inserted
      switch unique?.policy {
      case .append where !unfinished.isEmpty && wrong != .appendsToNobody:
        job.edges.append(JobEdge(.job(unfinished[unfinished.count - 1])))
        disposition = .appended
      case .replace:
        job.edges += unfinished.map { JobEdge(.job($0), .ended) }
        if gone[unique?.key ?? ""]?.isEmpty == false { disposition = .replaced }
      case .keep where owner != nil: disposition = .kept
      default: break
      }
      if let batch, disposition != .kept || wrong == .keptJoinsBatch { batches[batch]?.total += 1 }
      if disposition == .kept, let owner {
        stands.append(InsertedJob(id: owner, disposition: .kept))
      } else if let id = ids.popFirst() {
        inserted(job, as: id, stands.map(\.id), batch)
        stands.append(InsertedJob(id: id, disposition: disposition))
      }
    }
    return stands
  }

  /// `siblings` stand for the jobs before it in its call.
  private mutating func inserted(_ job: NewJob, as id: JobID, _ siblings: [JobID], _ batch: BatchID?) {
    let targets = job.edges.map { edge in
      switch edge.target {
      case .sibling(let place): (siblings[place], edge)
      case .job(let id): (id, edge)
      case .key(let key): (bringer(of: key), edge)
      }
    }
    jobs.append(JobLog(id: id, job: job, batch: batch, policy: policy, wrong: wrong))
    note(.inserted, jobs.count - 1)
    for case let (parent?, edge) in targets {
      needs[id, default: []].append(Need(parent: parent, child: id, condition: edge.condition, slot: edge.slot))
    }
    for case (nil, let edge) in targets {
      guard case .key(let key) = edge.target else { continue }
      openNeeds[id, default: []].append(OpenNeed(key: key, condition: edge.condition, slot: edge.slot))
    }
    followEnds(new: [id])
    if let key = job.terms.key { came(with: key, id) }
  }

  // MARK: Claims

  struct Choice {
    var jobs: [JobLog] = []
    /// To be given up instead.
    var overdue: [JobID] = []
    var hasMore = false
    var nextDue: Duration?
    var full: Set<String> = []
  }

  /// What a worker is to be given.
  func choice(for request: ClaimRequest) -> Choice {
    let room = limits.keys.reduce(into: request.free) { room, queue in
      room[queue] = room[queue].map { min($0, places(in: queue)) }
    }
    let served = jobs.filter { job in
      request.kinds.contains(job.job.kind) && request.queues.contains(job.job.queue)
        && room[job.job.queue] ?? 0 > 0 && hasAll(job, request.satisfied, at: .absentIsClaimed)
        && (wrong == .pausedIsClaimed || !pausedQueues.contains(job.job.queue))
    }
    let ready = served.filter { state($0) == .ready }.sorted { a, b in
      let (first, second) = (a.priority, b.priority)
      if first != second, wrong != .priorityIgnored { return first > second }
      return wrong == .newestFirst ? a.id > b.id : a.id < b.id
    }
    var choice = Choice()
    var kept = Set(room.keys.filter { room[$0] == 0 && request.free[$0]! > 0 })
    for job in ready {
      let queue = job.job.queue
      if choice.jobs.count(where: { $0.job.queue == queue }) >= room[queue]! {
        if room[queue]! < request.free[queue]! { kept.insert(queue) } else { choice.hasMore = true }
      } else if job.isOverdue(at: now), wrong != .overdueIsClaimed {
        choice.overdue.append(job.id)
      } else {
        choice.jobs.append(job)
      }
    }
    choice.nextDue = served.compactMap { state($0) == .scheduled ? $0.due.date : nil }.min()
      .map { .milliseconds($0.milliseconds - now.milliseconds) }
    for queue in kept {
      let begun = choice.jobs.filter { $0.job.queue == queue }
      guard slots(in: queue) > begun.count, let wait = wait(in: queue, after: begun) else {
        choice.full.insert(queue)
        continue
      }
      choice.nextDue = min(choice.nextDue ?? wait, wait)
    }
    return choice
  }

  /// All that the job requires holds for a worker that says `satisfied`.
  func hasAll(_ job: JobLog, _ satisfied: Set<JobConstraint>, at rule: WrongRule) -> Bool {
    job.job.terms.requires.allSatisfy { constraint in
      let own = satisfied.contains(constraint)
      return wrong == rule || (wrong == .workersWordGoesFirst && own ? own : setByHand[constraint] ?? own)
    }
  }

  /// The worker's claim gives it its lease, and it has these jobs now.
  mutating func claimed(_ tokens: [ClaimToken], by request: ClaimRequest, overdue: [JobID]) -> [JobLog] {
    let number = standing(of: request.worker) ?? workers.count
    workers[number..<min(number + 1, workers.count)] = [WorkerLog(request, at: now)]
    putBucketsRight(for: request)
    let claimed = tokens.map { token in
      let index = index(of: token.job)!
      begin(jobs[index])
      note(.claimed(token, by: number), index)
      ran.insert(token.job)
      return jobs[index]
    }
    for id in overdue { _ = passDeadline(index(of: id)!) }
    if !overdue.isEmpty { followEnds() }
    return claimed
  }

  /// The worker of that name, if it was not given up.
  func standing(of worker: WorkerID?) -> Int? { workers.firstIndex { $0.id == worker && !$0.isOver } }

  /// The job that runs under the token.
  private func holder(of token: ClaimToken) -> Int? {
    guard let index = index(of: token.job) else { return nil }
    guard let claim = jobs[index].claim, !workers[claim.worker].isOver else { return nil }
    return claim.token == token || wrong == .lostClaimHolds ? index : nil
  }

  /// Its worker reported the end of the job under that token.
  private func wasEnded(under token: ClaimToken) -> Bool {
    guard let index = index(of: token.job) else { return false }
    return state(jobs[index]).isFinished && jobs[index].lastAnswer == token
  }

  mutating func renew(_ request: RenewalRequest) -> [ClaimStanding] {
    guard let worker = standing(of: request.worker) else { return request.renewals.map { _ in .lost } }
    workers[worker].leaseUntil = now.later(by: request.lease.milliseconds)
    if wrong != .renewalEndsNoDoubt { workers[worker].doubts = [] }
    let standings = request.renewals.map { renewal -> ClaimStanding in
      guard let index = holder(of: renewal.token) else { return wasEnded(under: renewal.token) ? .held : .lost }
      if let progress = renewal.progress { note(.progressed(progress), index) }
      if !renewal.steps.isEmpty { note(.stepped(renewal.steps), index) }
      return jobs[index].asked.map { .stopRequested($0.stop) } ?? .held
    }
    // All that it holds: what is not on the list goes back.
    let listed = Set(request.renewals.map(\.token))
    for index in jobs.indices where wrong != .unlistedStays && !request.isPartial {
      guard let claim = jobs[index].claim, claim.worker == worker, !listed.contains(claim.token) else { continue }
      note(.reported(.interrupted), index)
    }
    followEnds()
    return standings
  }

  /// Each is accepted or not, and answered with the job's state after all of them. Then those are stored that follow, to
  /// which the store gave `ids`.
  mutating func settle(_ settlements: [ClaimSettlement], _ ids: [JobID]) -> [SettlementReply] {
    var followed: [[NewJob]] = []
    let accepted = settlements.map { settlement in
      let isFirst = holder(of: settlement.token) != nil || wrong == .lostClaimIsFollowed
      if isFirst, case .succeeded = settlement.result { followed.append(settlement.followUps) }
      return settle(settlement)
    }
    followEnds()
    let replies = zip(settlements, accepted).map { settlement, isAccepted in
      SettlementReply(isAccepted: isAccepted, state: index(of: settlement.token.job).map { state(jobs[$0]) })
    }
    var ids = ids[...]
    for jobs in followed where wrong != .nothingFollows { _ = insert(jobs, &ids) }
    return replies
  }

  private mutating func settle(_ settlement: ClaimSettlement) -> Bool {
    guard let index = holder(of: settlement.token) else {
      // What its worker ended it may report again.
      return wrong != .repetitionIsRefused && wasEnded(under: settlement.token)
    }
    if let progress = settlement.progress { note(.progressed(progress), index) }
    if case .crashed = settlement.result { note(.died, index) } else { note(.reported(settlement.result), index) }
    note(.answered(settlement.token), index)
    return true
  }
}
