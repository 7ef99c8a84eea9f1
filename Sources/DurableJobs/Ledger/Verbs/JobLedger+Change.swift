extension JobLedger {
  /// A change by a person, or a callback from outside, to all at once. There is one id more than `limit` if more match.
  package func change(_ change: JobChange, _ matching: [JobID], limit: Int) throws -> ChangeReport {
    let ids = Array(matching.prefix(limit))
    var report = ChangeReport(next: matching.count > limit ? ids.last : nil)
    var book = Book(self)
    try book.load(Needs(jobs: ids))
    let needs = book.needs(for: change, of: ids)
    try book.load(needs)
    try book.loadWants(of: needs.keys)
    let going = change == .remove ? book.goingTogether(ids) : []
    var (left, count) = (ids, 0)
    repeat {
      count = report.changed.count
      report.refused = []
      for id in left {
        do {
          try book.apply(change, to: id, removing: going)
          report.changed.append(id)
        } catch let refusal as JobError where refusal.code == .wrongState {
          let owner = change == .retry ? book[id].flatMap { book.keyOwner(besides: $0) } : nil
          report.refused.append(ChangeReport.Refusal(job: id, message: refusal.message, keyOwner: owner))
        }
      }
      // What they need may be reopened by now, with what was skipped between them.
      left = report.refused.map(\.job)
      if change == .retry, !left.isEmpty { try book.reopenDescendants() }
    } while change == .retry && !left.isEmpty && report.changed.count > count
    report.changed.sort()
    try book.conclude()
    return report
  }
}

extension Book {
  /// A reopened job takes its unique key again, and needs what it needed. A removed one may be needed.
  fileprivate func needs(for change: JobChange, of ids: [JobID]) -> Needs {
    let rows = ids.compactMap { self[$0] }
    switch change {
    case .retry:
      let ended = rows.filter(\.course.state.isFinished)
      return Needs(
        jobs: ended.compactMap(\.course.cause), parentsOf: ended.filter(\.hasParents).map(\.id),
        keys: ended.compactMap(\.unique?.key))
    case .remove: return Needs(childrenOf: rows.filter(\.hasChildren).map(\.id))
    default: return Needs()
    }
  }

  fileprivate mutating func apply(_ change: JobChange, to id: JobID, removing going: Set<JobID>) throws {
    guard let row = self[id], !isReopened(id) else { return }
    let now = date
    var course = row.course
    course.promote(now: now)  // a job that is due counts as ready, whether somebody has written that down or not
    let wasRunning = course.state == .running
    // Nobody holds it who could end it as requested.
    if change == .reset, !row.isHeld, course.stopAsked == .overdue {
      return giveBack(id, StorePolicy(), concernsClaim: true)
    }
    // It was skipped, and the cause was reopened or has since ended well; only its unique key was another's then.
    if change == .retry, course.state == .skipped, brokenEdge(of: id) == nil, keyOwner(besides: row) == nil {
      course.reopen(now: now)
    } else {
      try course.apply(
        change, now: now, random: .random(in: 0...1), keyOwner: keyOwner(besides: row),
        causeState: course.cause.flatMap { self[$0]?.course.state })
    }
    if case .setStart = change { try row.openDeadline?.check(start: course.runAt ?? now, else: .wrongState) }
    if change == .remove {
      if let child = needer(of: id, except: going) {
        throw JobError(
          .wrongState, "is needed by job \(child), which has not ended; cancel that first, or wait until it ends")
      }
      return remove(id)
    }
    if row.course.state.isFinished {
      if course == row.course { return }
      if let edge = brokenEdge(of: id) {
        throw JobError(.wrongState, "can't be retried: it needs job \(edge.parent), which \(words(for: edge))")
      }
    }

    let endsClaim = wasRunning && course.state != .running
    let asksToStop = course.stopAsked != nil && course.stopAsked != row.course.stopAsked
    self.change(id) { saved in
      saved.after.course = course
      saved.concernsClaim = endsClaim || asksToStop
      switch change {
      case .complete(let output): saved.output = output
      case .fail(let message, let code):
        saved.failure = AttemptFailure(attempt: course.attempt, at: now, message: message.cutToMessage, code: code)
      case .progress(let progress): saved.store(progress)
      case .replacePayload(let payload): saved.payload = payload
      case .setPriority(let priority): saved.after.priority = priority
      case .retry, .cancel, .suspend, .resume, .setStart, .remove, .wake, .reset: break
      }
    }
  }

  /// The jobs that nobody who stays needs. A chain goes as a whole, or up to its first job that stays.
  fileprivate func goingTogether(_ ids: [JobID]) -> Set<JobID> {
    var going = Set(ids.filter { self[$0].map { $0.course.state != .running } ?? false })
    var count = -1
    while going.count != count {
      count = going.count
      for id in ids.reversed() where going.contains(id) && needer(of: id, except: going) != nil { going.remove(id) }
    }
    return going
  }
}
