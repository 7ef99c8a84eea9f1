import Foundation

/// A job's hot row as a database has it, with what is stored beside it.
package struct StoredRow {
  package let id: JobID
  package var route: Int64 = 0
  package var state: Int64 = 0
  package var priority: Int64 = 0
  package var links: Links = []
  package var attempt = 0
  package var claim: Int64 = 0
  package var runAt: Int64?
  package var enteredAt: Int64 = 0
  package var options: String?
  package var crashesInRow = 0
  package var crashes = 0
  package var note: String?
  package var cause: Int64?
  package var highestFraction = 0.0
  package var waits = 0

  /// The rest must be set.
  package init(id: JobID) { self.id = id }

  /// Nil if its state is unknown here. `isStanding`: whether a worker's row exists and nobody recovers its jobs.
  package func job(kind: String, isStanding: (Int64) throws -> Bool) rethrows -> JobRow? {
    guard let state = JobState(code: state) else { return nil }
    // Terms that can't be read count as the defaults: the row is damaged, and its life must go on.
    let terms = (try? StoredTerms(text: options)) ?? .defaults
    // A promotion or a plain claim leaves the time unchanged.
    let waitsForTime = JobState.withTime.contains(state)
    var course = JobCourse(
      state: state, attempt: attempt, maxAttempts: terms.attempts, crashesInRow: crashesInRow, crashes: crashes,
      runAt: waitsForTime ? runAt.map(Date.init(milliseconds:)) : nil, isDated: waitsForTime && links.contains(.dated),
      stopAsked: links.stopReason, reason: note, cause: cause.map(JobID.init(rawValue:)),
      isAfterFailure: links.contains(.afterFailure))
    course.isBackOff = waitsForTime && links.contains(.backOff)
    course.isPaced = waitsForTime && links.contains(.paced) ? true : nil
    course.heldBy = state == .suspended ? links.hold : nil
    let claim = ClaimNumber(rawValue: claim)
    return JobRow(
      id: id, route: route, kind: kind, priority: JobPriority(rawValue: Int(priority)), key: terms.key,
      unique: terms.keyHold, tags: terms.tags ?? [], timeout: terms.duration, enteredAt: enteredAt,
      highestFraction: highestFraction, claim: claim, isHeld: state == .running ? try isStanding(claim.worker) : false,
      lane: terms.jobLane,
      seat: links.contains(.seated) ? true : links.contains(.lane) && !state.isFinished ? false : nil,
      waits: waits, hasParents: links.contains(.parents), hasChildren: links.contains(.children),
      batch: terms.batch.map(BatchID.init(rawValue:)), deadline: terms.deadline,
      isTimed: links.contains(.deadline) && !state.isFinished, hasSteps: links.contains(.steps), course: course)
  }
}

extension JobSnapshot {
  /// What a job's hot row and its terms tell; what is stored in the tables beside them must be added.
  package init(_ row: JobRow, of route: Route, createdAt: Int64?, startedAt: Int64) {
    let (course, entered) = (row.course, Date(milliseconds: row.enteredAt))
    self.init(
      id: row.id, queue: route.queue, kind: route.kind, key: row.key, tags: Set(row.tags), lane: row.lane,
      requires: route.requires, state: course.state, createdAt: createdAt.map(Date.init(milliseconds:)) ?? entered,
      startedAt: row.claim == .nobody ? nil : Date(milliseconds: startedAt))
    (priority, timeout, deadline) = (row.priority, row.timeout, row.deadline)
    (uniqueKey, batch) = (row.unique?.key, row.batch)
    (attempt, maxAttempts, crashes) = (course.attempt, course.maxAttempts, course.crashes)
    (reason, cause, stopAsked) = (course.reason, course.cause, course.stopAsked)
    runAt = state == .scheduled ? course.runAt : nil
    finishedAt = state.isFinished ? entered : nil
    heldBy = state == .suspended ? course.heldBy ?? .request : nil
  }
}
