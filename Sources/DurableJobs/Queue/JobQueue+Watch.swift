import Foundation

extension JobQueue {
  /// The job with that id, also one that was enqueued by an earlier process. Nothing is read yet.
  public func handle<P: JobPayload>(_ id: JobID, as type: P.Type) -> JobHandle<P.Output> {
    handle(InsertedJob(id: id, disposition: .kept), as: type)
  }

  func handle<P: JobPayload>(_ job: InsertedJob, as type: P.Type) -> JobHandle<P.Output> {
    JobHandle(
      id: job.id, isNew: job.disposition == .inserted, store: store, kinds: [P.kind] + P.formerKinds,
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

  /// A page of jobs of one kind, with their payloads. One whose payload does not decode is left out: the worker that
  /// meets it suspends it with the reason.
  public func jobs<P: JobPayload>(
    of type: P.Type, where filter: JobFilter = .all, order: JobQuery.Order = .oldestFirst, after: JobID? = nil,
    limit: Int = 100
  ) async throws -> [TypedJobSnapshot<P>] {
    let page = try await jobs(
      where: .kind(type) && filter, detail: .payload, order: order, after: after, limit: limit)
    return page.compactMap { job in
      (try? JobCoding.decode(P.self, from: job.payload ?? Data())).map { TypedJobSnapshot(job: job, payload: $0) }
    }
  }

  /// How many jobs of this queue are in each state.
  public func counts(where filter: JobFilter = .all) async throws -> JobCounts {
    try await store.counts(where: .queue(name) && filter)
  }

  /// Nothing of this queue is to be done now by any living worker. See ``OutstandingWork`` for what that leaves out.
  public var isIdle: Bool {
    get async throws { try await store.outstanding(.queue(name)).isIdle }
  }

  /// Waits until ``isIdle``, and returns what is left: jobs that wait for a later start, are suspended, paused, or of a
  /// kind that no living worker knows.
  ///
  /// A worker counts from its first look at the store on, which ``JobWorker/start()`` does not wait for: to wait for a job
  /// that was just enqueued for a worker that was just started, wait for the job's ``JobHandle/value``.
  @discardableResult
  public func waitUntilIdle() async throws -> JobCounts {
    let work = try await store.firstAfterEachSignal {
      let work = try await store.outstanding(.queue(name))
      return work.isIdle ? work : nil
    }
    return work.left
  }
}

extension JobStore {
  package func job(_ id: JobID, detail: JobQuery.Detail = .all) async throws -> JobSnapshot {
    guard let job = try await jobs(JobQuery(.id(id), detail: detail, limit: 1)).first else {
      throw JobError(.notFound, "there is no job \(id)")
    }
    return job
  }

  /// Waits until the job has ended, and returns it as it is then.
  package func whenFinished(_ id: JobID) async throws -> JobSnapshot {
    try await firstAfterEachSignal(matching: { $0.concerns(id) }) {
      let job = try await self.job(id, detail: [])
      return job.state.isFinished ? try await self.job(id, detail: [.output, .failures]) : nil
    }
  }

  /// Asks `look` now and after each signal, until it answers; each sweep interval too, should a signal be lost.
  package func firstAfterEachSignal<R: Sendable>(
    matching isNews: @escaping @Sendable (StoreSignal) -> Bool = { _ in true },
    _ look: @Sendable () async throws -> R?
  ) async throws -> R {
    let gate = Gate()
    // Listen first and look then: what changes in between is heard.
    let subscription = signals.listen { if isNews($0) { gate.open() } }
    defer { withExtendedLifetime(subscription) {} }
    while true {
      if let answer = try await look() { return answer }
      let timer = clock.schedule(after: Defaults.sweepInterval) { gate.open() }
      await gate.pass()
      timer.cancel()
      try Task.checkCancellation()
    }
  }
}

extension StoreSignal {
  fileprivate func concerns(_ id: JobID) -> Bool {
    switch self {
    case .committed(let changes): changes.contains { $0.id == id }
    case .changedElsewhere: true
    }
  }
}
