import Foundation

extension JobQueue {
  /// A handle to the job with this id, which an earlier process may have enqueued. Does not access the store.
  public func handle<P: JobPayload>(_ id: JobID, as type: P.Type) -> JobHandle<P.Output> {
    handle(InsertedJob(id: id, disposition: .kept), as: type)
  }

  package func handle<P: JobPayload>(_ job: InsertedJob, as type: P.Type) -> JobHandle<P.Output> {
    JobHandle(
      id: job.id, isNew: job.disposition.isNew, store: store, kinds: [P.kind] + P.formerKinds, coding: P.outputCoding)
  }

  func handles<P: JobPayload>(_ jobs: [InsertedJob], as type: P.Type) -> [JobHandle<P.Output>] {
    let (kinds, coding) = ([P.kind] + P.formerKinds, P.outputCoding)
    return jobs.map { job in
      JobHandle(id: job.id, isNew: job.disposition.isNew, store: store, kinds: kinds, coding: coding)
    }
  }

  /// The job with this id. Throws ``JobError/Code/notFound`` if the store has none.
  public func job(_ id: JobID, detail: JobQuery.Detail = .all) async throws -> JobSnapshot {
    try await store.job(id, detail: detail)
  }

  /// A page of this queue's jobs, at most `limit`. For the next page, pass the last id of this one as `after`.
  public func jobs(
    where filter: JobFilter = .all, detail: JobQuery.Detail = [], order: JobQuery.Order = .oldestFirst,
    after: JobID? = nil, limit: Int = 100
  ) async throws -> [JobSnapshot] {
    try await store.jobs(JobQuery(.queue(name) && filter, detail: detail, order: order, after: after, limit: limit))
  }

  /// A page of jobs of one kind, with payloads and outputs, and the `detail` that is named besides, as `.failures`. For
  /// the next page, pass the last id of this one as `after`. Jobs whose payload does not decode are left out; a worker
  /// that claims one suspends it with the reason.
  public func jobs<P: JobPayload>(
    of type: P.Type, where filter: JobFilter = .all, detail: JobQuery.Detail = [],
    order: JobQuery.Order = .oldestFirst, after: JobID? = nil, limit: Int = 100
  ) async throws -> [TypedJobSnapshot<P>] {
    try await jobs(
      where: .kind(type) && filter, detail: detail.union([.payload, .output]), order: order, after: after, limit: limit
    ).typed()
  }

  /// The number of this queue's jobs in each state.
  public func counts(where filter: JobFilter = .all) async throws -> JobCounts {
    try await store.counts(where: .queue(name) && filter)
  }

  /// Waits until all matching jobs of this queue have ended, in any process and in any way, and returns how many ended
  /// in each state. Returns at once if there are none. Also waits for suspended jobs and for those that no worker runs,
  /// but for no schedule unless the filter names it. Throws ``JobError/Code/wrongState`` in a handler of such a job.
  @discardableResult
  public func waitUntilFinished(where filter: JobFilter = .all) async throws -> JobCounts {
    let filter = .queue(name) && filter.sparingSchedules
    try await refuseToAwait(filter)
    return try await store.wait(
      for: .endOfAll(filter), concerning: { filter.mayConcern($0) }, until: { $0.unfinished == 0 }
    ) { try await $0.counts(where: filter) }
  }

  /// When there is something to do next: now, by the store's clock, if jobs are ready, else when the next scheduled one
  /// is due. Nil if no job waits for a time, or the queue is paused. Use it to ask the system for background time.
  public var nextRun: Date? {
    get async throws {
      guard try await !isPaused else { return nil }
      return try await counts()[.ready] > 0 ? store.clock.now : store.nextDue(in: name)
    }
  }

  /// Whether no living worker has anything to do in this queue now. See ``OutstandingWork`` for what does not count.
  ///
  /// A worker of this process is included once it is told to run, one of another process from its first access.
  public var isIdle: Bool { get async throws { try await store.outstanding(store.scope(of: name)).isIdle } }

  /// Waits until ``isIdle``, and returns how many jobs of this queue are in each state then. ``JobCounts/unfinished``
  /// ones wait for a later start, are suspended or paused, or are of a kind that no living worker knows. Throws
  /// ``JobError/Code/wrongState`` in a handler of this queue, which is not idle before that returns.
  @discardableResult
  public func waitUntilIdle() async throws -> JobCounts {
    try await refuseToAwait(.queue(name))
    _ = try await store.wait(
      for: .idleness(of: name),
      concerning: { [name] in $0.queue == name && ($0.state != .running || $0.isRemoved) }, until: { $0 }
    ) { [name] in try await $0.outstanding($0.scope(of: name)).isIdle }
    return try await counts()
  }

  /// Refuses to wait for jobs among which is the one whose handler this is.
  func refuseToAwait(_ filter: JobFilter) async throws {
    guard let own = WorkerEngine.handler(on: store)?.token.job else { return }
    if try await store.counts(where: filter && .id(own)).unfinished > 0 { throw JobError(ofOwnEnd: own) }
  }
}

extension JobError {
  /// For a handler that waits for what only comes with its own end.
  init(ofOwnEnd job: JobID) {
    self.init(
      .wrongState,
      "job \(job) would wait for its own end, which comes when its handler has returned. Let a job of another queue wait, "
        + "or one that depends on these")
  }
}

extension JobStore {
  package func job(_ id: JobID, detail: JobQuery.Detail = .all) async throws -> JobSnapshot {
    guard let job = try await jobs(JobQuery(.id(id), detail: detail, limit: 1)).first else {
      throw JobError(.notFound, "there is no job \(id)")
    }
    return job
  }
}
