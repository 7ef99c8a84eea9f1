import Foundation

extension JobQueue {
  /// The job with that id, also one that was enqueued by an earlier process. Nothing is read yet.
  public func handle<P: JobPayload>(_ id: JobID, as type: P.Type) -> JobHandle<P.Output> {
    handle(InsertedJob(id: id, disposition: .kept), as: type)
  }

  package func handle<P: JobPayload>(_ job: InsertedJob, as type: P.Type) -> JobHandle<P.Output> {
    JobHandle(
      id: job.id, isNew: job.disposition.isNew, store: store, kinds: [P.kind] + P.formerKinds,
      coding: P.outputCoding)
  }

  /// The job with that id. Throws ``JobError/Code/notFound`` if there is none in the store.
  public func job(_ id: JobID, detail: JobQuery.Detail = .all) async throws -> JobSnapshot {
    try await store.job(id, detail: detail)
  }

  /// A page of this queue's jobs, at most `limit`; the next page is the one `after` the last id of this one.
  public func jobs(
    where filter: JobFilter = .all, detail: JobQuery.Detail = [], order: JobQuery.Order = .oldestFirst,
    after: JobID? = nil, limit: Int = 100
  ) async throws -> [JobSnapshot] {
    try await store.jobs(
      JobQuery(.queue(name) && filter, detail: detail, order: order, after: after, limit: limit))
  }

  /// A page of jobs of one kind, with their payloads and outputs; the next page is `after` the last id of this one. One whose
  /// payload does not decode is left out: the worker that meets it suspends it with the reason.
  public func jobs<P: JobPayload>(
    of type: P.Type, where filter: JobFilter = .all, order: JobQuery.Order = .oldestFirst, after: JobID? = nil,
    limit: Int = 100
  ) async throws -> [TypedJobSnapshot<P>] {
    try await jobs(
      where: .kind(type) && filter, detail: [.payload, .output], order: order, after: after, limit: limit
    ).typed()
  }

  /// How many jobs of this queue are in each state.
  public func counts(where filter: JobFilter = .all) async throws -> JobCounts {
    try await store.counts(where: .queue(name) && filter)
  }

  /// Waits until all jobs of this queue that match have ended, in whatever process and however they end, and returns how
  /// many did so in each way. Of no jobs, it returns at once. One that is suspended or that nobody runs is waited for.
  @discardableResult
  public func waitUntilFinished(where filter: JobFilter = .all) async throws -> JobCounts {
    let filter = .queue(name) && filter
    let lookout = store.signals.lookouts.lookout(
      .end(ofAll: filter), store, pause: .zero, concerns: { filter.mayConcern($0) }
    ) { try await $0.counts(where: filter) }
    var place = Lookout<JobCounts>.Place()
    while true {
      let counts = try await lookout.next(&place)
      if counts.unfinished == 0 { return counts }
    }
  }

  /// When there is something to do next: now, by the store's clock, while jobs are ready, else when the earliest scheduled
  /// one is due. Nil if nothing of this queue waits for time, or it is paused. For who asks the system for background time.
  public var nextRun: Date? {
    get async throws {
      guard try await !isPaused else { return nil }
      return try await counts()[.ready] > 0 ? store.clock.now : store.nextDue(in: name)
    }
  }

  /// Nothing of this queue is to be done now by any living worker. See ``OutstandingWork`` for what that leaves out.
  ///
  /// A worker of this process counts from the moment at which it is told to run, one of another from its first look at the
  /// store.
  public var isIdle: Bool {
    get async throws { try await store.outstanding(store.scope(of: name)).isIdle }
  }

  /// Waits until ``isIdle``, and returns how many jobs of this queue are in each state then. ``JobCounts/unfinished`` ones
  /// wait for a later start, are suspended, paused, or of a kind that no living worker knows.
  @discardableResult
  public func waitUntilIdle() async throws -> JobCounts {
    let lookout = store.signals.lookouts.lookout(
      .idleness(of: name), store, pause: .zero,
      concerns: { [name] in $0.queue == name && ($0.state != .running || $0.isRemoved) }
    ) { [name] in try await $0.outstanding($0.scope(of: name)).isIdle }
    var place = Lookout<Bool>.Place()
    while try await !lookout.next(&place) {}
    return try await counts()
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
