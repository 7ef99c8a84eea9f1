import DurableJobs
import Foundation

extension WriteTransaction {
  func save(_ changes: Changes) throws {
    for row in changes.workers { try save(row) }
    for change in changes.jobs {
      do {
        try save(change)
      } catch let failure as SQLiteFailure where failure.concernsRow {
        try seize(change.before.id, because: failure.message)
      }
    }
    for edge in changes.neverMet {
      try run(.neverMet, edge.parent.rawValue, edge.child.rawValue, edge.condition.need)
    }
    for row in changes.removed {
      do {
        try delete(row)
      } catch let failure as SQLiteFailure where failure.concernsRow {
        if memory.untouchable.insert(row.id).inserted { unreadable.append(row.id) }
      }
    }
    for worker in changes.asked { try run(.askStop, worker) }
    for worker in changes.goneWorkers { try bury(worker) }
  }

  /// Writes the hot row if it changed, and what stands beside it.
  private func save(_ change: RowChange) throws {
    let (before, after) = (change.before, change.after)
    let (old, new, id) = (before.course, after.course, before.id.rawValue)
    if change.concernsHotRow {
      let save = try connection[.save]
      let runAt = new.runAt?.milliseconds
      save.bind(1, id)
      save.bind(2, new.state.code)
      save.bind(3, new.state == .scheduled ? runAt ?? now : after.priority.rank)
      save.bind(4, after.links.rawValue)
      save.bind(5, Int64(new.attempt))
      save.bind(6, runAt)
      save.bind(7, new.state == old.state ? before.enteredAt : now)
      save.bind(8, after.claim.rawValue)
      save.bind(9, after.priority.stored)
      try save.run()
    }
    if before.isHeld { FaultPoint.settleMarked.reach() }
    if new.reason != old.reason || new.cause != old.cause { try put(note: new.reason, cause: new.cause, of: id) }
    if after.seat != before.seat, let lane = before.lane?.name {
      if let seat = before.seat { try run(.deleteSeat, lane, of: seat ? 1 : 0, id) }
      if let seat = after.seat { try run(.insertSeat, lane, of: seat ? 1 : 0, id) }
    }
    if after.isTimed != before.isTimed, let deadline = after.deadline?.date.milliseconds {
      if after.isTimed { try set(deadline, of: id) } else { try run(.deleteDeadline, deadline, id) }
    }
    if after.waits != before.waits { try put(waits: after.waits, of: id) }
    if new.crashes != old.crashes || new.crashesInRow != old.crashesInRow { try putCrashes(of: id, new) }
    if old.state.isFinished != new.state.isFinished, let unique = before.unique {
      if new.state.isFinished { try release(unique, in: new.state, id) } else { try take(unique, id) }
    }
    if let progress = change.progress { try put(progress, of: id) }
    for (name, result) in change.steps { try put(result, of: name, of: id) }
    if before.hasSteps, !after.hasSteps { try run(.deleteSteps, id) }
    if let failure = change.failure { try append(failure, to: id) }
    if let payload = change.payload {
      let replace = try connection[.replacePayload]
      replace.bind(1, id)
      try replace.run(with: payload, at: 2)
    }
    if let output = change.output { try store(output, of: before.id) }
    if before.isHeld {
      FaultPoint.settleResult.reach()
      if new.state != .running { letGo.append(ClaimToken(job: before.id, claim: before.claim.rawValue)) }
    }
    if change.concernsClaim { FaultPoint.recoverJob.reach() }
    try news.moved(change) { try place(before.route) }
  }

  // MARK: What stands beside a job

  func put(note: String?, cause: JobID? = nil, of id: Int64) throws {
    guard let note else { return try run(.deleteNote, id) }
    let put = try connection[.putNote]
    put.bind(1, id)
    put.bind(2, note.cutToMessage)
    put.bind(3, cause?.rawValue)
    try put.run()
  }

  func put(waits: Int, of id: Int64) throws {
    if waits > 0 { try run(.putWait, id, Int64(waits)) } else { try run(.deleteWait, id) }
  }

  private func putCrashes(of id: Int64, _ course: JobCourse) throws {
    guard course.crashes > 0 else { return try run(.deleteCrash, id) }
    let put = try connection[.putCrash]
    put.bind(1, id)
    put.bind(2, Int64(course.crashesInRow))
    put.bind(3, Int64(course.crashes))
    try put.run()
  }

  private func append(_ failure: AttemptFailure, to id: Int64) throws {
    let append = try connection[.appendFailure]
    append.bind(1, id)
    append.bind(2, Int64(failure.attempt))
    append.bind(3, now)
    append.bind(4, failure.message.cutToMessage)
    var number: Int64 = 0
    while try append.step() { number = append.int(0) }
    guard number > Limits.failuresKept else { return }
    let trim = try connection[.trimFailures]
    trim.bind(1, id)
    trim.bind(2, number - Int64(Limits.failuresKept))
    try trim.run()
  }

  private func put(_ progress: JobProgress, of id: Int64) throws {
    let put = try connection[.putProgress]
    put.bind(1, id)
    put.bind(2, progress.fraction)
    put.bind(3, progress.message)
    put.bind(4, now)
    try put.run()
  }

  func take(_ unique: KeyHold, _ id: Int64) throws {
    let take = try connection[.takeKey]
    take.bind(1, name: unique.key)
    take.bind(2, id)
    take.bind(3, unique.until)
    try take.run()
  }

  /// It has ended so.
  func release(_ unique: KeyHold, in state: JobState, _ id: Int64) throws {
    if !unique.isHeld(in: state, at: now) { try run(.releaseKey, unique.key, of: id) }
  }

  private func put(_ result: Data, of step: String, of id: Int64) throws {
    let put = try connection[.putStep]
    put.bind(1, id)
    put.bind(2, name: step)
    try put.run(with: result, at: 3)
  }

  // MARK: Deleting

  /// Deletes a job and all that is known of it. Its own row first: where that can't be deleted, nothing is.
  private func delete(_ row: JobRow) throws {
    let id = row.id.rawValue
    if try number(.highestID) == id { try leaveStub(id) } else { try run(.deleteJob, id) }
    try moved(row.id, route: row.route, from: row.course.state, to: nil)
    news.moved(in: row.batch, from: row.course.state, to: nil)
    for table in [WriterStatement.deleteSpec, .deleteOutput, .deleteFailures, .deleteProgress] { try run(table, id) }
    if row.course.crashes > 0 { try run(.deleteCrash, id) }
    if row.course.reason != nil { try run(.deleteNote, id) }
    if row.hasSteps { try run(.deleteSteps, id) }
    if let batch = row.batch { try run(.deleteMember, batch.rawValue, id) }
    if row.isTimed, let deadline = row.deadline { try run(.deleteDeadline, deadline.date.milliseconds, id) }
    if let unique = row.unique?.key { try run(.releaseKey, unique, of: id) }
    if let key = row.key { try run(.deleteKey, key, of: id) }
    for tag in row.tags { try run(.deleteTag, tag, of: id) }
    if let lane = row.lane?.name, let seat = row.seat { try run(.deleteSeat, lane, of: seat ? 1 : 0, id) }
    if row.hasParents || row.lane != nil { try run(.deleteWait, id) }
    if row.hasParents { for table in [WriterStatement.deleteParents, .deleteKeyEdges] { try run(table, id) } }
    if row.hasChildren { try run(.deleteChildren, id) }
  }

  /// The highest id of all would be given out again if its row went. It goes when the next stub takes its place.
  private func leaveStub(_ id: Int64) throws {
    let old = try number(.stub)
    if old != 0 { try run(.deleteStub, old) }
    try run(.makeStub, id)
    try run(.setStub, id)
  }

  private func number(_ name: WriterStatement) throws -> Int64 {
    let statement = try connection[name]
    var number: Int64 = 0
    while try statement.step() { number = statement.int(0) }
    return number
  }
}
