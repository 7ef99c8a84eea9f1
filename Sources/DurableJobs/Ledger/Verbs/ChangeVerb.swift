import Foundation

/// A change by a person, or a callback from outside: to all of the jobs at once. The ids are those that matched, one
/// more than requested if there are more.
package struct ChangeVerb: Verb {
  private let change: JobChange
  private let ids: [JobID]
  private var book: Book
  private var isDecided = false
  /// The jobs that are removed.
  private var going: Set<JobID> = []
  package private(set) var reply = ChangeReport()

  package init(_ change: JobChange, _ ids: [JobID], limit: Int, now: Int64) {
    self.change = change
    self.ids = Array(ids.prefix(limit))
    book = Book(now: now)
    if ids.count > limit { reply.next = ids[limit - 1] }
  }

  package mutating func next(_ answer: LedgerReply) throws -> LedgerRequest? {
    book.add(answer)
    if isDecided { return book.conclude() }
    if let needs = book.lacking(Needs(jobs: ids)) ?? book.lacking(wanted) { return LedgerRequest(load: needs) }
    isDecided = true
    if change == .remove { going = goingTogether }
    for id in ids {
      do {
        try decide(id)
        reply.changed.append(id)
      } catch let refusal as JobError where refusal.code == .wrongState {
        reply.refused.append(ChangeReport.Refusal(job: id, message: refusal.message))
      }
    }
    return book.conclude()
  }

  /// A reopened job takes its unique key again, and needs what it needed. For a removed one, the jobs that need it are
  /// looked up.
  private var wanted: Needs {
    let rows = ids.compactMap { book[$0] }
    switch change {
    case .retry:
      let ended = rows.filter(\.course.state.isFinished)
      return Needs(parentsOf: ended.filter(\.hasParents).map(\.id), keys: ended.compactMap(\.unique?.key))
    case .remove: return Needs(childrenOf: rows.filter(\.hasChildren).map(\.id))
    default: return Needs()
    }
  }

  private mutating func decide(_ id: JobID) throws {
    guard let row = book[id] else { return }
    let (change, now) = (change, book.date)
    var course = row.course
    course.promote(now: now)  // a job that is due counts as ready, whether somebody has written that down or not
    let wasRunning = course.state == .running
    // Nobody holds it who could end it as requested.
    if change == .reset, !row.isHeld, [.overdue, .cancelled].contains(course.stopAsked) {
      return book.end(id, concernsClaim: true) { $0.settle(.interrupted, now: now, policy: StorePolicy(), random: 0) }
    }
    if change == .retry, mayReopen(row) {
      course.reopen(now: now)
    } else {
      try course.apply(change, now: now, random: .random(in: 0...1), keyOwner: book.keyOwner(besides: row))
    }
    if change == .remove { return try remove(row) }
    if row.course.state.isFinished {
      if course == row.course { return }
      if let edge = book.brokenEdge(of: id) {
        throw JobError(.wrongState, "can't be retried: it needs job \(edge.parent), which \(book.words(for: edge))")
      }
    }

    let endsClaim = wasRunning && JobCourse.endsClaim(change)
    let asksToStop = course.stopAsked != nil && course.stopAsked != row.course.stopAsked
    if row.isHeld, endsClaim || asksToStop { book.changes.asked.insert(row.claim.worker) }
    book.change(id) { saved in
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

  /// It was skipped, and the cause was reopened or has since ended well; only its unique key was another's then.
  private func mayReopen(_ row: JobRow) -> Bool {
    row.course.state == .skipped && book.brokenEdge(of: row.id) == nil && book.keyOwner(besides: row) == nil
  }

  /// The jobs that nobody who stays needs. A chain goes as a whole, or up to its first job that stays.
  private var goingTogether: Set<JobID> {
    var going = Set(ids.filter { book[$0].map { $0.course.state != .running } ?? false })
    var count = -1
    while going.count != count {
      count = going.count
      for id in ids.reversed() where going.contains(id) && book.needer(of: id, except: going) != nil {
        going.remove(id)
      }
    }
    return going
  }

  private mutating func remove(_ row: JobRow) throws {
    if let child = book.needer(of: row.id, except: going) {
      throw JobError(
        .wrongState, "is needed by job \(child), which has not ended; cancel that first, or wait until it ends")
    }
    book.remove(row.id)
  }
}
