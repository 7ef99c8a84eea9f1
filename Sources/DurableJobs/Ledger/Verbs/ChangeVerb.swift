import Foundation

/// What a person does to jobs, or a callback from outside. The ids are those that matched, one more than asked for if
/// there are more.
package struct ChangeVerb: Verb {
  private enum Phase { case begin, loaded, decide, done }

  private let change: JobChange
  private let ids: [JobID]
  private var book: Book
  private var phase = Phase.begin
  package private(set) var reply = ChangeReport()

  package init(_ change: JobChange, _ ids: [JobID], limit: Int, now: Int64) {
    self.change = change
    self.ids = Array(ids.prefix(limit))
    book = Book(now: now)
    if ids.count > limit { reply.next = ids[limit - 1] }
  }

  package mutating func next(_ answer: LedgerReply) throws -> LedgerRequest? {
    switch phase {
    case .begin:
      phase = .loaded
      return ids.isEmpty ? nil : LedgerRequest(load: Needs(jobs: ids))
    case .loaded:
      phase = .decide
      book.add(answer)
      guard change == .retry else { return try decide() }
      // A job that has ended let its unique key go, and takes it again.
      var needs = Needs()
      needs.keys = ids.compactMap { id in book[id].flatMap { $0.course.state.isFinished ? $0.unique : nil } }
      return needs.isEmpty ? try decide() : LedgerRequest(load: needs)
    case .decide:
      book.add(answer)
      return try decide()
    case .done:
      return nil
    }
  }

  private mutating func decide() throws -> LedgerRequest? {
    phase = .done
    for id in ids {
      do {
        try decide(id)
        reply.changed.append(id)
      } catch let refusal as JobError where refusal.code == .wrongState {
        reply.refused.append(ChangeReport.Refusal(job: id, message: refusal.message))
      }
    }
    let changes = book.close()
    return changes.isEmpty ? nil : LedgerRequest(save: changes)
  }

  private mutating func decide(_ id: JobID) throws {
    guard let row = book[id] else { return }
    let (change, now) = (change, book.date)
    var course = row.course
    course.promote(now: now)  // a job that is due counts as ready, whether somebody has written that down or not
    let wasRunning = course.state == .running
    try course.apply(change, now: now, keyOwner: row.unique.flatMap { book.owner(of: $0) })
    if change == .remove { return book.remove(id) }
    if row.course.state.isFinished, course == row.course { return }

    let endsClaim = wasRunning && JobCourse.endsClaim(change)
    let asksToStop = course.stopAsked != nil && course.stopAsked != row.course.stopAsked
    if row.isHeld, endsClaim || asksToStop { book.changes.asked.insert(row.claim.worker) }
    book.change(id) { saved in
      saved.after.course = course
      saved.concernsClaim = endsClaim || asksToStop
      switch change {
      case .complete(let output):
        saved.output = output
      case .fail(let message):
        saved.failure = AttemptFailure(attempt: course.attempt, at: now, message: message.cutToMessage)
      case .progress(let progress):
        saved.store(progress)
      case .retry, .cancel, .suspend, .resume, .remove, .reset:
        break
      }
    }
  }
}
