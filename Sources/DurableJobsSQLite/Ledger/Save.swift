import DurableJobs

extension WriteTransaction {
  func save(_ changes: Changes) throws {
    for row in changes.workers { try save(row) }
    for change in changes.jobs {
      do { try save(change) } catch let failure as SQLiteFailure where failure.concernsRow {
        try seize(change.before.id, because: failure.message)
      }
    }
    for edge in changes.neverMet { try run(.neverMet, edge.parent, edge.child, edge.condition.need) }
    for row in changes.removed {
      do { try delete(row) } catch let failure as SQLiteFailure where failure.concernsRow {
        if memory.untouchable.insert(row.id).inserted { unreadable.append(row.id) }
      }
    }
    for worker in changes.goneWorkers { try bury(worker) }
    for (queue, tat) in changes.tats { try run(.putTat, queue.composed, tat) }
    for (lane, pace) in changes.paces {
      let rate = pace?.rate
      try run(.putPace, lane.composed, rate?.count, rate?.period.milliseconds, rate?.burst, pace?.tat ?? 0)
      if pace == nil { try run(.dropLane, lane.composed) }
    }
  }

  private func save(_ change: RowChange) throws {
    let (before, after) = (change.before, change.after)
    let (old, new, id) = (before.course, after.course, before.id)
    if change.concernsHotRow {
      let runAt = new.runAt?.milliseconds
      try run(
        .save, id, new.state.code, new.state == .scheduled ? runAt ?? now : after.priority.rank, after.links.rawValue,
        new.attempt, runAt, new.state == old.state ? before.enteredAt : now, after.claim.rawValue, after.priority.stored
      )
    }
    if before.isHeld { FaultPoint.settleMarked.reach() }
    if new.reason != old.reason || new.cause != old.cause { try put(note: new.reason, cause: new.cause, of: id) }
    if after.seat != before.seat, let lane = before.lane?.name {
      if let seat = before.seat { try run(.deleteSeat, lane.composed, seat, id) }
      if let seat = after.seat { try run(.insertSeat, lane.composed, seat, id) }
    }
    if after.isTimed != before.isTimed, let deadline = after.deadline?.date.milliseconds {
      if after.isTimed { try set(deadline, of: id) } else { try run(.deleteDeadline, deadline, id) }
    }
    if after.waits != before.waits { try put(waits: after.waits, of: id) }
    if new.crashes != old.crashes || new.crashesInRow != old.crashesInRow {
      if new.crashes > 0 { try run(.putCrash, id, new.crashesInRow, new.crashes) } else { try run(.deleteCrash, id) }
    }
    if old.state.isFinished != new.state.isFinished, let unique = before.unique {
      if new.state.isFinished { try release(unique, in: new.state, id) } else { try take(unique, id) }
    }
    if let news = change.progress { try run(.putProgress, id, news.fraction, news.message, now) }
    for (name, result) in change.steps { try connection[.putStep].with(id, name.composed).run(with: result, at: 3) }
    if before.hasSteps, !after.hasSteps { try run(.deleteSteps, id) }
    if let failure = change.failure { try append(failure, to: id) }
    if let payload = change.payload { try connection[.replacePayload].with(id).run(with: payload, at: 2) }
    if let output = change.output { try store(output, of: before.id) }
    if before.isHeld {
      FaultPoint.settleResult.reach()
      if new.state != .running { letGo.append(ClaimToken(job: before.id, claim: before.claim.rawValue)) }
    }
    if let key = change.broughtKey { try bind(key, id) }
    if change.concernsClaim { FaultPoint.recoverJob.reach() }
    try news.moved(change) { try place(before.route) }
  }

  func put(note: String?, cause: JobID? = nil, of id: JobID) throws {
    if let note { try run(.putNote, id, note.cutToMessage, cause) } else { try run(.deleteNote, id) }
  }

  func put(waits: Int, of id: JobID) throws {
    if waits > 0 { try run(.putWait, id, waits) } else { try run(.deleteWait, id) }
  }

  private func append(_ failure: AttemptFailure, to id: JobID) throws {
    let append = try connection[.appendFailure]
      .with(id, failure.attempt, now, failure.message.cutToMessage, failure.code)
    let number = try append.map { $0.int(0) }.last ?? 0
    if number > Limits.failuresKept { try run(.trimFailures, id, number - Int64(Limits.failuresKept)) }
  }

  func take(_ unique: KeyHold, _ id: JobID) throws { try run(.takeKey, unique.key.composed, id, unique.until) }

  func release(_ unique: KeyHold, in state: JobState, _ id: JobID) throws {
    if !unique.isHeld(in: state, at: now) { try run(.releaseKey, unique.key.composed, id) }
  }

  /// Deletes a job and all its rows. Its own row goes first: if that can't be deleted, nothing is.
  private func delete(_ row: JobRow) throws {
    let id = row.id
    if try number(.highestID) == id.rawValue { try leaveStub(id) } else { try run(.deleteJob, id) }
    try moved(id, route: row.route, in: row.batch, from: row.course.state, to: nil)
    for table in [WriterStatement.deleteSpec, .deleteOutput, .deleteFailures, .deleteProgress] { try run(table, id) }
    if row.course.crashes > 0 { try run(.deleteCrash, id) }
    if row.course.reason != nil { try run(.deleteNote, id) }
    if row.hasSteps { try run(.deleteSteps, id) }
    if let batch = row.batch { try run(.deleteMember, batch.rawValue, id) }
    if row.isTimed, let deadline = row.deadline { try run(.deleteDeadline, deadline.date.milliseconds, id) }
    if let unique = row.unique?.key { try run(.releaseKey, unique.composed, id) }
    if let key = row.key { try run(.deleteKey, key.composed, id) }
    for tag in row.tags { try run(.deleteTag, tag.composed, id) }
    if let lane = row.lane?.name, let seat = row.seat { try run(.deleteSeat, lane.composed, seat, id) }
    if row.hasParents || row.lane != nil { try run(.deleteWait, id) }
    if row.hasParents { for table in [WriterStatement.deleteParents, .deleteKeyEdges] { try run(table, id) } }
    if row.hasChildren { try run(.deleteChildren, id) }
  }

  /// Keeps a stub, since SQLite would reuse the highest id if its row were deleted. The next stub replaces it.
  private func leaveStub(_ id: JobID) throws {
    let old = try number(.stub)
    if old != 0 { try run(.deleteStub, old) }
    try run(.makeStub, id)
    try run(.setStub, id)
  }

  private func number(_ name: WriterStatement) throws -> Int64 { try connection[name].first { $0.int(0) } ?? 0 }
}
