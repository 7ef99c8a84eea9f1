import DurableJobs
import Foundation

/// The result of declaring a schedule.
public enum ScheduleDeclaration: String, Hashable, Sendable {
  /// The schedule was stored.
  case added
  /// The schedule existed with other values, and was updated.
  case changed
  /// The schedule existed with the same values. Nothing was written.
  case unchanged
}

extension JobQueue {
  /// Declares a schedule: at each tick, a job is stored in this queue. Its workers must register `JobSchedule`.
  ///
  ///     try await queue.schedule("nightly", .cron("0 4 * * *", timeZone: "Europe/Berlin"), Cleanup())
  ///
  /// The schedule is durable when this returns, and is in effect for the whole store until ``unschedule(_:)``.
  /// Declaring it again, at each start and in each process, writes nothing; with other values, they take effect from
  /// then on, and a tick that is already due keeps its job. A paused schedule stays paused.
  ///
  /// A tick's job has the key `NAME@TIME`, from which `JobContext.scheduledFor` gets its time, and the tag
  /// `schedule/NAME`. With a unique key of your own in `options`, overlapping ticks share one job: `JobOptions(unique:
  /// "nightly")`. `catchUp` says what happens to ticks that were missed.
  ///
  /// Throws what `enqueue` throws for the job, and `JobError.Code.invalidArgument` for one that has inputs, a key, or
  /// an absolute start or deadline.
  @discardableResult
  public func schedule<P: JobPayload>(
    _ name: String, _ recurrence: Recurrence, _ job: P, catchUp: CatchUp = .latest, options: JobOptions = JobOptions()
  ) async throws -> ScheduleDeclaration {
    try await schedule(name, recurrence, prepare(job, options: options), catchUp: catchUp) { mine, theirs in
      mine == theirs || P.isEqual(mine, theirs)
    }
  }

  /// The same for a job that is already prepared.
  package func schedule(
    _ name: String, _ recurrence: Recurrence, _ job: NewJob, catchUp: CatchUp,
    equal: (Data, Data) -> Bool = (==)
  ) async throws -> ScheduleDeclaration {
    try Self.check(name, job)
    // Whatever comes in between, a tick or another declaration, has made progress, so this ends.
    while true {
      let now = store.clock.now
      guard let found = try await store.scheduleJob(where: .schedule(name)) else {
        let recurrence = recurrence.anchored(at: now)
        guard let next = recurrence.next(after: now) else { throw Self.neverComes(recurrence) }
        let schedule = JobSchedule(name: name, recurrence: recurrence, catchUp: catchUp, job: job, next: next)
        let stored = try await store.insert(JobInsertion([schedule.stored()])).jobs[0]
        if stored.disposition.isNew { return .added }
        let others = try await store.jobs(JobQuery(.id(stored.id) && !.kind(JobSchedule.self), limit: 1))
        guard others.isEmpty else { throw Self.hasKey(stored.id, name) }
        continue
      }
      let old = try? found.payload(as: JobSchedule.self)
      let recurrence = (old.map { recurrence.anchored(as: $0.recurrence) } ?? recurrence).anchored(at: now)
      guard let next = recurrence.next(after: now) else { throw Self.neverComes(recurrence) }
      var new = JobSchedule(name: name, recurrence: recurrence, catchUp: catchUp, job: job, next: next, last: old?.last)
      if let old, old.next <= now || old.recurrence == recurrence && !old.isAhead(of: next) { new.next = old.next }
      if let old, new.next == old.next, undone(new).declares(undone(old), equal: equal), old.job.queue == job.queue {
        try await store.setTick(new.next, of: found)
        return .unchanged
      }
      if let old, old.job.queue != job.queue {
        throw JobError(
          .invalidArgument, "the schedule '\(name)' is in the queue '\(old.job.queue)'; unschedule it there first")
      }
      guard try await store.replace(found, with: new) else { continue }
      return .changed
    }
  }

  /// Ends a schedule of this queue: no tick stores a job once this has returned. Existing jobs stay. Returns false if
  /// the queue has no schedule with that name.
  @discardableResult
  public func unschedule(_ name: String) async throws -> Bool {
    var ended: Set<JobID> = []
    // A tick in progress may have ended it and stored its successor.
    var turns = 0
    while try await scheduleJob(name) != nil {
      try Self.take(&turns, name)
      ended.formUnion(
        try await store.change(.complete(output: nil), where: own(name), after: nil, limit: 1).changed)
    }
    if !ended.isEmpty { _ = try await store.change(.remove, where: .ids(ended), after: nil, limit: ended.count) }
    return !ended.isEmpty
  }

  /// Pauses a schedule of this queue in every process until it is resumed, even if it is declared again. Throws
  /// `JobError.Code.notFound` if there is none.
  public func pauseSchedule(_ name: String) async throws {
    var turns = 0
    // A tick in progress is taken back first: otherwise it would succeed, and its successor would continue.
    while true {
      try Self.take(&turns, name)
      _ = try await store.change(
        .reset, where: own(name) && .state(.running), after: nil, limit: 1)
      _ = try await store.change(
        .suspend(reason: "the schedule is paused"), where: own(name) && !.state(.running), after: nil, limit: 1)
      guard let job = try await scheduleJob(name) else { throw Self.notFound(name) }
      if job.state == .suspended { return }
    }
  }

  /// Resumes a paused schedule of this queue with its next tick, and moves one to it that waits for a day far off, since a clock was
  /// far ahead. Ticks during the pause are skipped. Throws `JobError.Code.notFound` if there is none.
  public func resumeSchedule(_ name: String) async throws {
    guard let job = try await scheduleJob(name) else { throw Self.notFound(name) }
    var schedule = try job.payload(as: JobSchedule.self)
    let next = schedule.recurrence.next(after: store.clock.now)
    guard job.state == .suspended || next.map(schedule.isAhead) ?? false else { return }
    if let next { schedule.next = next }
    guard try await store.replace(job, with: schedule) else { return }
    _ = try await store.change(.resume, where: .id(job.id) && .state(.suspended), after: nil, limit: 1)
    try await store.setTick(schedule.next, of: try await store.job(job.id))
  }

  /// The schedules of this queue, by name.
  public func schedules() async throws -> [ScheduleSnapshot] { try await store.schedules(where: .queue(name)) }

  /// Names are the store's, and a schedule is its queue's.
  private func own(_ schedule: String) -> JobFilter { .schedule(schedule) && .queue(name) }

  private func scheduleJob(_ name: String) async throws -> JobSnapshot? {
    try await store.scheduleJob(where: own(name))
  }

  /// As it was before middleware.
  private func undone(_ schedule: JobSchedule) -> JobSchedule {
    var schedule = schedule
    for middleware in middleware.reversed() { middleware.undo(&schedule.job) }
    return schedule
  }

  private static func check(_ name: String, _ job: NewJob) throws {
    // The longest string that is derived from it.
    guard !name.isEmpty, name.utf8.count <= Limits.nameBytes - 32 else {
      throw JobError(.invalidArgument, "the name of a schedule must have 1 to \(Limits.nameBytes - 32) bytes")
    }
    func refuse(_ why: String) -> JobError { JobError(.invalidArgument, "the schedule '\(name)': \(why)") }
    guard job.terms.unique?.key != JobSchedule.key(of: name) else {
      throw refuse("'\(JobSchedule.key(of: name))' is the unique key of the schedule itself; give its jobs another one")
    }
    guard job.edges.isEmpty else { throw refuse("a job of each tick can't wait for other jobs") }
    guard job.kind != JobSchedule.kind else { throw refuse("a schedule can't be scheduled") }
    guard job.terms.key == nil else {
      throw refuse(
        "the jobs of its ticks have keys of their own, as '\(name)@2027-01-01T00:00:00Z'; give them a tag. What "
          + "brings a key of its own, as a download, is enqueued by a job that is scheduled in its place")
    }
    if case .at = job.terms.start { throw refuse("each job starts at its tick, or after it, and not at a date") }
    switch job.terms.deadline {
    case .start(.at), .end(.at): throw refuse("the deadline of its jobs is a time after each tick, and not a date")
    default: break
    }
  }

  /// Throws if ticks or others came in between too often to be chance.
  private static func take(_ turns: inout Int, _ name: String) throws {
    turns += 1
    guard turns > 100 else { return }
    throw JobError(
      .wrongState,
      "the schedule '\(name)' was changed by others a hundred times in between: stop who does that, and try again")
  }

  private static func hasKey(_ job: JobID, _ name: String) -> JobError {
    JobError(
      .wrongState,
      "job \(job) has '\(JobSchedule.key(of: name))', the unique key of the schedule '\(name)': end or remove that job")
  }

  private static func notFound(_ name: String) -> JobError { JobError(.notFound, "there is no schedule '\(name)'") }

  private static func neverComes(_ recurrence: Recurrence) -> JobError {
    JobError(.invalidArgument, "\(recurrence) has no time within forty years")
  }
}

extension JobFilter {
  /// The job that represents a schedule.
  fileprivate static func schedule(_ name: String) -> JobFilter {
    .key(JobSchedule.key(of: name)) && .kind(JobSchedule.self) && .unfinished
  }
}

extension JobStore {
  fileprivate func scheduleJob(where filter: JobFilter) async throws -> JobSnapshot? {
    try await jobs(JobQuery(filter, detail: .payload, order: .newestFirst, limit: 1)).first
  }

  /// Returns false if it no longer exists.
  fileprivate func replace(_ found: JobSnapshot, with new: JobSchedule) async throws -> Bool {
    // A tick in progress is taken back, and repeated with the new values.
    _ = try await change(.reset, where: .id(found.id) && .state(.running), after: nil, limit: 1)
    let report = try await change(
      .replacePayload(try new.payload), where: .id(found.id) && .unfinished, after: nil, limit: 1)
    guard !report.changed.isEmpty else { return false }
    if found.heldBy == .undecodable {
      _ = try await change(.resume, where: .id(found.id) && .state(.suspended), after: nil, limit: 1)
    }
    try await setTick(new.next, of: try await job(found.id))
    return true
  }

  /// Sets the start of a schedule's job to its tick if it waits for another time, or for none. If the process stops before
  /// this, whoever comes next does it.
  fileprivate func setTick(_ tick: Date, of job: JobSnapshot) async throws {
    let waiting: Set<JobState> = [.scheduled, .ready]
    // One that is resumed after its time, or taken back, has none.
    let start = job.runAt ?? min(tick, clock.now)
    guard waiting.contains(job.state), abs(start.timeIntervalSince(tick)) >= 1 else { return }
    _ = try await change(.setStart(.at(tick)), where: .id(job.id) && .states(waiting), after: nil, limit: 1)
  }

  /// The schedules among the matching jobs, by name.
  package func schedules(where filter: JobFilter) async throws -> [ScheduleSnapshot] {
    let filter = filter && .kind(JobSchedule.self) && (.unfinished || .state(.failed))
    var (byName, page): ([String: ScheduleSnapshot], JobID?) = ([:], nil)
    while true {
      let jobs = try await jobs(JobQuery(filter, detail: [.payload, .failures], after: page, limit: 1000))
      for job in jobs {
        guard let schedule = try? job.payload(as: JobSchedule.self) else { continue }
        // If a schedule failed and was declared again, the newer one counts.
        byName[schedule.name] = ScheduleSnapshot(job: job, schedule: schedule)
      }
      guard jobs.count == 1000 else { break }
      page = jobs.last?.id
    }
    return byName.values.sorted { $0.name < $1.name }
  }
}

extension JobPayload {
  /// For kinds whose payload encodes differently each time.
  fileprivate static func isEqual(_ a: Data, _ b: Data) -> Bool {
    func decoded(_ data: Data) -> Self? { try? JSONDecoder().decode(Self.self, from: data) }
    func equal<E: Equatable>(_ a: E, _ b: Any) -> Bool { b as? E == a }
    guard let a = decoded(a) as? any Equatable, let b = decoded(b) else { return false }
    return equal(a, b)
  }
}
