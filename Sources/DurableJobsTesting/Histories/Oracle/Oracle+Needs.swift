import DurableJobs

/// What jobs need of each other.
extension Oracle {
  struct Need: Hashable {
    let parent: JobID
    let child: JobID
    let condition: JobEdge.Condition
    var slot: Int?
    /// The parent is gone, and had not ended so.
    var isNever = false
  }

  /// What a job needs of the first that comes with a key.
  struct OpenNeed: Hashable {
    let key: String
    let condition: JobEdge.Condition
    let slot: Int?
  }

  // MARK: Keys

  /// The newest that has the key and has not ended, else the newest that succeeded.
  func bringer(of key: String) -> JobID? {
    let all = jobs.filter { $0.job.terms.key == key }
    let living = all.filter { !state($0).isFinished }
    if wrong == .oldestBringsKey, let oldest = living.first { return oldest.id }
    if wrong == .endedBringsNoKey { return living.last?.id }
    return (living.last ?? all.last { state($0) == .succeeded })?.id
  }

  /// A job has come whose key others have waited for.
  mutating func came(with key: String, _ id: JobID) {
    guard let index = index(of: id), !state(jobs[index]).isFinished || wrong == .endedIsBound else { return }
    for (child, open) in openNeeds {
      let bound = open.filter { $0.key == key }
      guard !bound.isEmpty else { continue }
      needs[child, default: []] += bound.map {
        Need(parent: id, child: child, condition: $0.condition, slot: $0.slot)
      }
      let rest = open.filter { $0.key != key }
      openNeeds[child] = rest.isEmpty ? nil : rest
    }
  }

  /// Some wait for each other, or would if they lived again.
  var hasCircle: Bool {
    var known: [JobID: Bool] = [:]
    func isInCircle(_ id: JobID) -> Bool {
      if let isOver = known[id] { return !isOver }
      guard let index = index(of: id), jobs[index].standing != .succeeded else { return false }
      known[id] = false
      let isInCircle = (needs[id] ?? []).contains { isInCircle($0.parent) }
      known[id] = true
      return isInCircle
    }
    return needs.keys.contains { isInCircle($0) }
  }

  /// As many as its lane is wide stand there before one that waits for a seat, and wait for it: one by way of a new one.
  func isBehindItsDependents(since first: JobID) -> Bool {
    jobs.contains { job in
      guard let lane = job.job.terms.lane?.name, line[lane]?.contains(job.id) ?? false else { return false }
      let dependents = withDependents([job.id])
      let ahead = dependents.filter { id in
        guard let index = index(of: id) else { return false }
        let state = state(jobs[index])
        guard state != .running, !state.isFinished else { return false }
        return seats[lane]?.contains(id) ?? false || id < job.id && line[lane]?.contains(id) ?? false
      }
      let new = withDependents(dependents.filter { $0 >= first })
      return ahead.count >= widths[lane] ?? 1 && !ahead.isDisjoint(with: new)
    }
  }

  /// These, and all that would wait for them if it lived again: one that succeeded does not.
  private func withDependents(_ ids: Set<JobID>) -> Set<JobID> {
    var all = ids
    while true {
      let next = needs.keys.filter { child in
        guard !all.contains(child), let index = index(of: child), jobs[index].standing != .succeeded else {
          return false
        }
        return needs[child]!.contains { all.contains($0.parent) }
      }
      if next.isEmpty { return all }
      all.formUnion(next)
    }
  }

  // MARK: Definitions

  /// An unfinished parent keeps a job that has not begun from being ready.
  func waits(_ job: JobLog) -> Bool {
    if wrong != .laneIgnored, let lane = job.job.terms.lane?.name, line[lane]?.contains(job.id) ?? false { return true }
    return wrong != .waitingIsReady && waitsForOthers(job.id)
  }

  private func waitsForOthers(_ id: JobID) -> Bool {
    openNeeds[id] != nil || needs[id]?.contains { isLive($0.parent) } ?? false
  }

  private func isLive(_ id: JobID) -> Bool { index(of: id).map { !jobs[$0].state(at: now).isFinished } ?? false }

  /// It failed, or was skipped since one did that it needed, or one that that needed.
  private func hasFailed(_ id: JobID) -> Bool {
    guard let index = index(of: id) else { return false }
    return jobs[index].skip?.afterFailure ?? (jobs[index].standing == .failed)
  }

  private func isMet(_ need: Need, by end: JobState) -> Bool {
    switch need.condition {
    case .succeeded: end == .succeeded || wrong == .anyEndIsSuccess
    case .ended: true
    case .failed: hasFailed(need.parent) || wrong == .anySkipIsFailure && end == .skipped
    }
  }

  /// Of the needs that can't be met any more, that of the oldest job.
  func brokenNeed(of job: JobLog) -> Need? { brokenNeeds(of: job).min { $0.parent < $1.parent } }

  private func brokenNeeds(of job: JobLog) -> [Need] {
    (needs[job.id] ?? []).filter { need in
      guard !need.isNever, let parent = index(of: need.parent) else { return true }
      let state = jobs[parent].state(at: now)
      return state.isFinished && !isMet(need, by: state)
    }
  }

  /// It was skipped, and can't be run before that job has ended otherwise, or what that skipped has.
  func isSkipped(_ id: JobID, forWantOf other: JobID) -> Bool {
    guard let index = index(of: id), state(jobs[index]) == .skipped else { return false }
    return brokenNeeds(of: jobs[index]).contains { $0.parent == other || isSkipped($0.parent, forWantOf: other) }
  }

  /// An unfinished job needs it that does not go with it.
  func needer(of id: JobID, except going: Set<JobID> = []) -> JobID? {
    needs.filter { child, needs in
      guard needs.contains(where: { $0.parent == id }), let index = index(of: child) else { return false }
      let state = jobs[index].standing
      return state == .running || !state.isFinished && !going.contains(child)
    }.keys.min()
  }

  /// Somebody needs it, or would need what it brought if it were retried.
  func isKept(_ id: JobID) -> Bool {
    needer(of: id) != nil
      || needs.contains { child, needs in
        needs.contains { $0.parent == id && $0.slot != nil }
          && index(of: child).map { jobs[$0].standing != .succeeded } ?? false
      }
  }

  /// What those brought that it waited for.
  func inputs(of id: JobID) -> [Int: JobEnd] {
    var inputs: [Int: JobEnd] = [:]
    for need in needs[id] ?? [] {
      guard let slot = need.slot, let index = index(of: need.parent) else { continue }
      let parent = snapshot(jobs[index])
      let cause = parent.cause.flatMap { self.index(of: $0) }.map { snapshot(jobs[$0]) }
      let failure = cause?.state == .failed ? cause!.failure : parent.failure
      inputs[slot] = parent.state == .succeeded ? .succeeded(output: parent.output) : .failed(failure)
    }
    return inputs
  }

  // MARK: What follows

  /// Who can't be run any more is skipped, round by round; first those who come back to it from running.
  mutating func followEnds(new: [JobID] = []) {
    let returned = ran
    var round = jobs.filter { returned.contains($0.id) }
    repeat {
      let broken = round.filter { job in
        let state = state(job)
        // Who is suspended hears of it when it goes on.
        return !state.isFinished && state != .running && (state != .suspended || wrong == .suspendedIsSkipped)
      }.compactMap { job in brokenNeed(of: job).map { (job.id, $0) } }
      let skipped = broken.filter { wrong != .returnedGoesOn || !returned.contains($0.0) }
      for (id, need) in skipped { skip(id, need) }
      if skipped.isEmpty, round.count == jobs.count || wrong == .skipsStop { break }
      round = jobs
    } while true
    for id in returned { yieldSeat(id) }
    ran = Set(jobs.filter { state($0) == .running }.map(\.id))
    countStarts(of: returned.subtracting(ran).sorted())
    leaveLanes()
    for id in new.sorted() { enterLane(id) }
    passSeatsOn()
    fillSeats()
    bindWaiting()
    paceLanes()
  }

  /// Who waits for a key waits for the oldest that has it and waits for nothing itself: it was retried.
  mutating func bindWaiting() {
    guard wrong != .retriedBringsNoKey, !openNeeds.isEmpty else { return }
    for job in jobs where !state(job).isFinished && !waits(job) {
      if let key = job.job.terms.key { came(with: key, job.id) }
    }
  }

  // MARK: Lanes

  /// Who has ended has no place any more, but for a failed head that holds its lane.
  private mutating func leaveLanes() {
    for (lane, inside) in seats {
      seats[lane] = inside.filter { id in
        guard let index = index(of: id) else { return false }
        let job = jobs[index]
        let holds = job.standing == .failed && job.job.terms.lane?.failedHead == .holds && wrong != .failedHeadLetsGo
        return !job.standing.isFinished || holds
      }
    }
    for (lane, waiting) in line {
      line[lane] = waiting.filter { id in index(of: id).map { !jobs[$0].standing.isFinished } ?? false }
    }
  }

  /// A new job, or one that lives again, has a seat if there is one; else it waits.
  private mutating func enterLane(_ id: JobID) {
    guard let index = index(of: id), let lane = jobs[index].job.terms.lane?.name, !jobs[index].standing.isFinished,
      !(seats[lane]?.contains(id) ?? false), !(line[lane]?.contains(id) ?? false)
    else { return }
    if seats[lane]?.count ?? 0 < widths[lane] ?? 1 {
      seats[lane, default: []].insert(id)
    } else {
      line[lane, default: []].insert(id)
    }
  }

  /// Who has a seat and waits for one that lives again goes back among those that wait.
  private mutating func yieldSeat(_ id: JobID) {
    guard let index = index(of: id), let lane = jobs[index].job.terms.lane?.name, seats[lane]?.contains(id) ?? false,
      !jobs[index].standing.isFinished, jobs[index].standing != .running, waitsForOthers(id)
    else { return }
    seats[lane]?.remove(id)
    line[lane, default: []].insert(id)
  }

  private func isSkipped(_ id: JobID, because head: JobID) -> Bool {
    index(of: id).map { jobs[$0].standing == .skipped && snapshot(jobs[$0]).cause == head } ?? false
  }

  /// A failed head does not keep out what was to run after its end, also by way of those that were skipped because of it, once
  /// that waits for nothing else.
  private mutating func passSeatsOn() {
    for (lane, inside) in seats where wrong != .failedHeadKeepsItsCatchOut {
      for head in inside.sorted() where index(of: head).map({ jobs[$0].standing == .failed }) ?? false {
        let next = line[lane]?.sorted().first { id in
          !waitsForOthers(id) && index(of: id).map { brokenNeed(of: jobs[$0]) == nil } ?? false
            && needs[id]?.contains { $0.parent == head || isSkipped($0.parent, because: head) } ?? false
        }
        guard let next else { continue }
        seats[lane]?.remove(head)
        line[lane]?.remove(next)
        seats[lane]?.insert(next)
      }
    }
  }

  /// The oldest first.
  mutating func fillSeats() {
    for lane in line.keys {
      while seats[lane]?.count ?? 0 < widths[lane] ?? 1,
        let next = wrong == .laneIsAStack ? line[lane]?.max() : line[lane]?.min()
      {
        line[lane]?.remove(next)
        seats[lane, default: []].insert(next)
      }
    }
  }

  mutating func setWidth(_ width: Int, of lane: String) {
    widths[lane] = width
    fillSeats()
    bindWaiting()
    paceLanes()
  }

  private mutating func skip(_ id: JobID, _ need: Need) {
    let (cause, reason, afterFailure) = blame(need)
    note(.skipped(by: cause, reason: reason, afterFailure: afterFailure), index(of: id)!)
  }

  private func blame(_ need: Need) -> (by: JobID, reason: String, afterFailure: Bool) {
    guard let parent = index(of: need.parent) else { return (need.parent, "job \(need.parent) was removed", false) }
    let seen = snapshot(jobs[parent])
    let name = "job \(seen.id) (\(seen.kind))"
    let words = seen.state == .cancelled ? "\(name) was cancelled" : "\(name) \(seen.state)"
    return (seen.cause ?? seen.id, seen.state == .skipped ? seen.reason ?? "" : words, hasFailed(seen.id))
  }

  /// Who was skipped, and can't be run for another reason now. False if it is the same.
  private mutating func skipAnew(_ index: Int, _ need: Need) -> Bool {
    let new = blame(need)
    if let old = jobs[index].skip, old == new || wrong == .causeStays { return false }
    note(.skippedAnew(by: new.by, reason: new.reason, afterFailure: new.afterFailure), index)
    return true
  }

  /// Those that live again take along who was skipped because of them, generation by generation; who can't be run yet
  /// has another reason for it then. Returns who lives again.
  mutating func followRetries(of ids: [JobID]) -> [JobID] {
    guard wrong != .retryLeavesSkipped else { return ids }
    var reopened = Set(ids)
    var anew: Set<JobID> = []
    while true {
      let heard = reopened.union(anew)
      let children = needs.filter { _, needs in needs.contains { heard.contains($0.parent) } }.keys.sorted()
      let skipped = children.filter { id in index(of: id).map { state(jobs[$0]) == .skipped } ?? false }
      let broken = skipped.compactMap { id in brokenNeed(of: jobs[index(of: id)!]).map { (id, $0) } }
      let generation = Set(skipped).subtracting(broken.map(\.0)).sorted()
      let count = reopened.count
      let others = broken.filter { skipAnew(index(of: $0)!, $1) }.map(\.0)
      anew.formUnion(others)
      for id in generation {
        let index = index(of: id)!
        guard rival(of: jobs[index]) == nil else { continue }
        note(.reopened, index)
        reopened.insert(id)
      }
      if reopened.count == count, others.isEmpty { break }
    }
    for child in needs.keys where needs[child]!.contains(where: { reopened.contains($0.parent) }) { yieldSeat(child) }
    for id in reopened {
      guard let lane = index(of: id).flatMap({ jobs[$0].job.terms.lane?.name }), seats[lane]?.contains(id) != true
      else {
        continue
      }
      for other in dependents(of: id) where seats[lane]?.contains(other) ?? false { yieldSeat(other) }
    }
    return reopened.sorted()
  }

  /// Those that wait for it: directly, by way of others, or for a key of theirs.
  private func dependents(of id: JobID) -> Set<JobID> {
    var (all, level): (Set<JobID>, [JobID]) = ([], [id])
    while let next = level.popLast() {
      let key = index(of: next).flatMap { jobs[$0].job.terms.key }
      for job in jobs where !job.standing.isFinished && !all.contains(job.id) {
        let waits = needs[job.id]?.contains { $0.parent == next } ?? false
        guard waits || openNeeds[job.id]?.contains(where: { $0.key == key }) ?? false else { continue }
        all.insert(job.id)
        level.append(job.id)
      }
    }
    return all
  }

  mutating func remove(_ id: JobID) {
    let index = index(of: id)!
    let end = state(jobs[index])
    needs[id] = nil
    openNeeds[id] = nil
    if let batch = jobs[index].batch {
      if end == .succeeded { batches[batch]?.succeededAndGone += 1 }
      if wrong == .removedIsNotCounted { batches[batch]?.total -= 1 }
      let isLast = !jobs.contains { $0.batch == batch && $0.id != id }
      // One that is to be followed is done first.
      if isLast, let log = batches[batch], log.isDone || !log.isOpen && log.whenDone == nil {
        batches[batch]?.isGone = true
      }
    }
    for (child, all) in needs {
      needs[child] = all.compactMap { need in
        guard need.parent == id else { return need }
        guard let child = self.index(of: child), jobs[child].standing.isFinished, jobs[child].standing != .succeeded
        else {
          return nil
        }
        guard !(end.isFinished && isMet(need, by: end)), wrong != .removalFrees else { return nil }
        var need = need
        need.isNever = true
        return need
      }
    }
    jobs.remove(at: index)
  }
}
