import DurableJobs
import Foundation

/// What the declaration of a schedule did.
public enum ScheduleDeclaration: String, Hashable, Sendable {
  /// It was stored.
  case added
  /// It was there and said something else. It says this now.
  case changed
  /// It was there and said this. Nothing was written.
  case unchanged
}

extension JobQueue {
  /// Declares a schedule: at each tick a job is stored in this queue. Its workers register `JobSchedule`.
  ///
  ///     try await queue.schedule("nightly", .cron("0 4 * * *", timeZone: "Europe/Berlin"), Cleanup())
  ///
  /// It is durable when this returns, and holds for the whole store until ``unschedule(_:)``. To declare it again, at each
  /// start and in each process, writes nothing; declared with something else, that counts from then on, and a tick that is due
  /// already keeps its job. A paused one stays paused.
  ///
  /// A tick's job has the key `NAME@TIME`, by which `JobContext.scheduledFor` knows its time, and the tag `schedule/NAME`. With a
  /// unique key of yours in `options`, ticks that would overlap are one job: `JobOptions(unique: "nightly")`. What became of
  /// ticks at which nobody worked says `catchUp`.
  ///
  /// Throws what `enqueue` throws for the job, and `JobError.Code.invalidArgument` for one that has inputs, a key, or a date
  /// to start or to be given up at.
  @discardableResult
  public func schedule<P: JobPayload>(
    _ name: String, _ recurrence: Recurrence, _ job: P, catchUp: CatchUp = .latest, options: JobOptions = JobOptions()
  ) async throws -> ScheduleDeclaration {
    try await schedule(name, recurrence, prepare(job, options: options), catchUp: catchUp) { mine, theirs in
      mine == theirs || P.isEqual(mine, theirs)
    }
  }

  /// The same for a job that is prepared already.
  package func schedule(
    _ name: String, _ recurrence: Recurrence, _ job: NewJob, catchUp: CatchUp,
    equal: (Data, Data) -> Bool = (==)
  ) async throws -> ScheduleDeclaration {
    try Self.check(name, job)
    // Whoever comes in between, a tick or another declaration, has got further by that: this ends.
    while true {
      let now = store.clock.now
      guard let found = try await store.scheduleJob(name) else {
        let recurrence = recurrence.anchored(at: now)
        guard let next = recurrence.next(after: now) else { throw Self.neverComes(recurrence) }
        let schedule = JobSchedule(name: name, recurrence: recurrence, catchUp: catchUp, job: job, next: next)
        if try await store.insert(JobInsertion([schedule.stored()])).jobs[0].disposition.isNew { return .added }
        continue
      }
      let old = try? found.payload(as: JobSchedule.self)
      let recurrence = (old.map { recurrence.anchored(as: $0.recurrence) } ?? recurrence).anchored(at: now)
      guard let next = recurrence.next(after: now) else { throw Self.neverComes(recurrence) }
      var new = JobSchedule(name: name, recurrence: recurrence, catchUp: catchUp, job: job, next: next, last: old?.last)
      if let old, old.next <= now || old.recurrence == recurrence && !old.isAhead(of: next) { new.next = old.next }
      if let old, new.next == old.next, new.declares(old, equal: equal), old.job.queue == job.queue {
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

  /// Ends a schedule: no tick stores a job once this has returned. Those that are there stay. False if there is none of that
  /// name.
  @discardableResult
  public func unschedule(_ name: String) async throws -> Bool {
    var ended: Set<JobID> = []
    // A tick that is under way may have ended it, and have stored its successor.
    var turns = 0
    while try await store.scheduleJob(name) != nil {
      try Self.take(&turns, name)
      ended.formUnion(
        try await store.change(.complete(output: nil), where: .schedule(name), after: nil, limit: 1).changed)
    }
    if !ended.isEmpty { _ = try await store.change(.remove, where: .ids(ended), after: nil, limit: ended.count) }
    return !ended.isEmpty
  }

  /// Has a schedule store nothing until it is resumed, in every process, also if it is declared anew. Throws
  /// `JobError.Code.notFound` if there is none.
  public func pauseSchedule(_ name: String) async throws {
    var turns = 0
    // A tick that is under way is taken back first: it would succeed, and its successor go on.
    while true {
      try Self.take(&turns, name)
      _ = try await store.change(
        .reset, where: .schedule(name) && .state(.running), after: nil, limit: 1)
      _ = try await store.change(
        .suspend(reason: "the schedule is paused"), where: .schedule(name) && !.state(.running), after: nil, limit: 1)
      guard let job = try await store.scheduleJob(name) else { throw Self.notFound(name) }
      if job.state == .suspended { return }
    }
  }

  /// Has a paused schedule go on with its next tick. What was due in the meantime is left out. Throws
  /// `JobError.Code.notFound` if there is none.
  public func resumeSchedule(_ name: String) async throws {
    guard let job = try await store.scheduleJob(name) else { throw Self.notFound(name) }
    guard job.state == .suspended else { return }
    var schedule = try job.payload(as: JobSchedule.self)
    let now = store.clock.now
    if let next = schedule.recurrence.next(after: now) { schedule.next = next }
    guard try await store.replace(job, with: schedule) else { return }
    _ = try await store.change(.resume, where: .id(job.id) && .state(.suspended), after: nil, limit: 1)
    try await store.setTick(schedule.next, of: try await store.job(job.id))
  }

  /// The schedules of this queue, by name.
  public func schedules() async throws -> [ScheduleSnapshot] { try await store.schedules(where: .queue(name)) }

  private static func check(_ name: String, _ job: NewJob) throws {
    // The longest of what is made of it.
    guard !name.isEmpty, name.utf8.count <= Limits.nameBytes - 32 else {
      throw JobError(.invalidArgument, "the name of a schedule must have 1 to \(Limits.nameBytes - 32) bytes")
    }
    func refuse(_ why: String) -> JobError { JobError(.invalidArgument, "the schedule '\(name)': \(why)") }
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

  /// A tick may come in between, but not each time.
  private static func take(_ turns: inout Int, _ name: String) throws {
    turns += 1
    guard turns > 100 else { return }
    throw JobError(
      .wrongState,
      "the schedule '\(name)' was changed by others a hundred times in between: stop who does that, and try again")
  }

  private static func notFound(_ name: String) -> JobError { JobError(.notFound, "there is no schedule '\(name)'") }

  private static func neverComes(_ recurrence: Recurrence) -> JobError {
    JobError(.invalidArgument, "\(recurrence) has no time within forty years")
  }
}

extension JobFilter {
  /// The job that a schedule is.
  fileprivate static func schedule(_ name: String) -> JobFilter {
    .key(JobSchedule.key(of: name)) && .kind(JobSchedule.self) && .unfinished
  }
}

extension JobStore {
  fileprivate func scheduleJob(_ name: String) async throws -> JobSnapshot? {
    try await jobs(JobQuery(.schedule(name), detail: .payload, order: .newestFirst, limit: 1)).first
  }

  /// False if it is not there any more.
  fileprivate func replace(_ found: JobSnapshot, with new: JobSchedule) async throws -> Bool {
    // A tick that is under way is taken back, and done as it is said now.
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

  /// Puts a schedule's job to its tick, if it waits for another time. Who was stopped between the two leaves that to who comes
  /// next.
  fileprivate func setTick(_ tick: Date, of job: JobSnapshot) async throws {
    guard job.state == .scheduled, let runAt = job.runAt, abs(runAt.timeIntervalSince(tick)) >= 1 else { return }
    _ = try await change(.setStart(.at(tick)), where: .id(job.id) && .state(.scheduled), after: nil, limit: 1)
  }

  /// The schedules among these jobs, by name.
  package func schedules(where filter: JobFilter) async throws -> [ScheduleSnapshot] {
    let filter = filter && .kind(JobSchedule.self) && (.unfinished || .state(.failed))
    var (byName, page): ([String: ScheduleSnapshot], JobID?) = ([:], nil)
    while true {
      let jobs = try await jobs(JobQuery(filter, detail: [.payload, .failures], after: page, limit: 1000))
      for job in jobs {
        guard let schedule = try? job.payload(as: JobSchedule.self) else { continue }
        // Of one that failed and was declared anew the newer counts.
        byName[schedule.name] = ScheduleSnapshot(job: job, schedule: schedule)
      }
      guard jobs.count == 1000 else { break }
      page = jobs.last?.id
    }
    return byName.values.sorted { $0.name < $1.name }
  }
}

extension JobPayload {
  /// For kinds whose payload has something that is made anew each time it is encoded.
  fileprivate static func isEqual(_ a: Data, _ b: Data) -> Bool {
    func decoded(_ data: Data) -> Self? { try? JSONDecoder().decode(Self.self, from: data) }
    func equal<E: Equatable>(_ a: E, _ b: Any) -> Bool { b as? E == a }
    guard let a = decoded(a) as? any Equatable, let b = decoded(b) else { return false }
    return equal(a, b)
  }
}
