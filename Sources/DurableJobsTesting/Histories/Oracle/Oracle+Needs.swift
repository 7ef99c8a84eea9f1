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

  // MARK: Definitions

  /// An unfinished parent keeps a job that has not begun from being ready.
  func waits(_ job: JobLog) -> Bool {
    wrong != .waitingIsReady && needs.contains { need in need.child == job.id && isLive(need.parent) }
  }

  private func isLive(_ id: JobID) -> Bool { index(of: id).map { !state(jobs[$0]).isFinished } ?? false }

  private func isMet(_ need: Need, by end: JobState) -> Bool {
    switch need.condition {
    case .succeeded: end == .succeeded || wrong == .anyEndIsSuccess
    case .ended: true
    case .failed: end == .failed || end == .skipped
    }
  }

  /// Of the needs that can't be met any more, that of the oldest job.
  func brokenNeed(of job: JobLog) -> Need? {
    needs.filter { need in
      guard need.child == job.id else { return false }
      guard !need.isNever, let parent = index(of: need.parent) else { return true }
      let state = state(jobs[parent])
      return state.isFinished && !isMet(need, by: state)
    }.min { $0.parent < $1.parent }
  }

  /// An unfinished job needs it.
  func needer(of id: JobID) -> JobID? {
    needs.filter { $0.parent == id && isLive($0.child) }.map(\.child).min()
  }

  /// What those brought that it waited for.
  func inputs(of id: JobID) -> [Int: JobEnd] {
    var inputs: [Int: JobEnd] = [:]
    for need in needs where need.child == id {
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
  mutating func followEnds() {
    var round = jobs.filter { ran.contains($0.id) }
    ran = []
    repeat {
      let broken = round.filter { job in
        let state = state(job)
        return !state.isFinished && state != .running
      }.compactMap { job in brokenNeed(of: job).map { (job.id, $0) } }
      for (id, need) in broken where wrong != .returnedGoesOn || round.count == jobs.count { skip(id, need) }
      if broken.isEmpty, round.count == jobs.count || wrong == .skipsStop { break }
      round = jobs
    } while true
    ran = Set(jobs.filter { state($0) == .running }.map(\.id))
  }

  private mutating func skip(_ id: JobID, _ need: Need) {
    guard let parent = index(of: need.parent) else {
      return note(.skipped(by: need.parent, reason: "job \(need.parent) was removed"), index(of: id)!)
    }
    let seen = snapshot(jobs[parent])
    let name = "job \(seen.id) (\(seen.kind))"
    let words = seen.state == .cancelled ? "\(name) was cancelled" : "\(name) \(seen.state)"
    note(
      .skipped(by: seen.cause ?? seen.id, reason: seen.state == .skipped ? seen.reason ?? "" : words), index(of: id)!)
  }

  /// Those that live again take along who was skipped because of them, generation by generation.
  mutating func followRetries(of ids: [JobID]) {
    guard wrong != .retryLeavesSkipped else { return }
    var reopened = Set(ids)
    while true {
      let children = Set(needs.filter { reopened.contains($0.parent) }.map(\.child)).sorted()
      let generation = children.filter { id in
        guard let index = index(of: id), state(jobs[index]) == .skipped else { return false }
        return brokenNeed(of: jobs[index]) == nil
      }
      let count = reopened.count
      for id in generation {
        let index = index(of: id)!
        guard owner(of: jobs[index].job.terms.unique) == nil else { continue }
        note(.startedAnew, index)
        reopened.insert(id)
      }
      if reopened.count == count { return }
    }
  }

  mutating func remove(_ id: JobID) {
    let index = index(of: id)!
    let end = state(jobs[index])
    needs = needs.compactMap { need in
      guard need.parent == id || need.child == id else { return need }
      guard need.parent == id, let child = self.index(of: need.child), state(jobs[child]) == .skipped else {
        return nil
      }
      guard !(end.isFinished && isMet(need, by: end)), wrong != .removalFrees else { return nil }
      var need = need
      need.isNever = true
      return need
    }
    jobs.remove(at: index)
  }
}
