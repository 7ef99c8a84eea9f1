import Foundation

extension JobQueue {
  /// Runs a job again: from the first attempt if it failed or was cancelled, at once if it waits for a time or is
  /// suspended. Throws ``JobError/Code/wrongState`` if it is running, has succeeded, or has ended and another job now
  /// holds its unique key; the message names that job.
  public func retry(_ id: JobID) async throws { try await store.change(.retry, id) }

  /// Cancels a job. A running one is asked to stop, and ends when its handler does; if that succeeds, so does the job.
  public func cancel(_ id: JobID, reason: String? = nil) async throws {
    try await store.change(.cancel(reason: reason), id)
  }

  /// Suspends a job until it is resumed. A running one is asked to stop, and is suspended when its handler ends.
  public func suspend(_ id: JobID, reason: String? = nil) async throws {
    try await store.change(.suspend(reason: reason), id)
  }

  public func resume(_ id: JobID) async throws { try await store.change(.resume, id) }

  /// Sets a job's priority: at once if it waits, from its next attempt on if it is running. Throws
  /// ``JobError/Code/wrongState`` if it has ended.
  public func setPriority(_ priority: JobPriority, of id: JobID) async throws {
    try await store.change(.setPriority(priority), id)
  }

  /// Sets when a waiting job may start, sooner or later, replacing a back-off or a snooze too. Throws
  /// ``JobError/Code/wrongState`` if it is running, is suspended or has ended.
  public func setStart(_ start: JobTime, of id: JobID) async throws { try await store.change(.setStart(start), id) }

  /// Deletes a job. Throws ``JobError/Code/wrongState`` while it is running.
  public func remove(_ id: JobID) async throws { try await store.change(.remove, id) }

  /// Ends an unfinished job with success, whatever its handler does. `output` must be what the kind decodes: nil fits
  /// only `Void` and optional outputs; for others, reading the value then throws ``JobError/Code/notDecodable``. Throws
  /// ``JobError/Code/notEncodable`` if `output` is larger than ``Limits/payloadBytes``.
  public func complete(_ id: JobID, output: Data? = nil) async throws { try await store.complete(id, output) }

  /// Ends an unfinished job with failure, whatever its handler does. For `code` see ``AttemptFailure/code``.
  public func fail(_ id: JobID, message: String, code: String? = nil) async throws {
    try await store.change(.fail(message: message.cutToMessage, code: code), id)
  }

  /// Stores the progress of an unfinished job from outside its handler.
  public func report(_ id: JobID, progress fraction: Double, _ message: String? = nil) async throws {
    try await store.change(.progress(JobProgress(fraction: fraction, message: message)), id)
  }

  /// Retries all matching jobs of this queue, by default all that failed, and returns how many. Jobs that can't be
  /// retried in their state, or whose unique key another job holds, are left alone. So are jobs, here and below,
  /// that are enqueued or begin to match once this has begun.
  @discardableResult
  public func retryAll(where filter: JobFilter = .state(.failed)) async throws -> Int {
    try await changeAll(.retry, where: filter)
  }

  /// Cancels all matching unfinished jobs of this queue. Here and below, schedules are left out unless the filter names
  /// ids, kinds or keys.
  @discardableResult
  public func cancelAll(where filter: JobFilter, reason: String? = nil) async throws -> Int {
    try await changeAll(.cancel(reason: reason), where: filter && .unfinished)
  }

  /// Suspends all matching unfinished jobs of this queue.
  @discardableResult
  public func suspendAll(where filter: JobFilter, reason: String? = nil) async throws -> Int {
    try await changeAll(.suspend(reason: reason), where: filter && .unfinished)
  }

  /// Resumes all matching suspended jobs of this queue.
  @discardableResult
  public func resumeAll(where filter: JobFilter = .state(.suspended)) async throws -> Int {
    try await changeAll(.resume, where: filter)
  }

  /// Like ``setPriority(_:of:)`` for all matching unfinished jobs of this queue.
  @discardableResult
  public func setPriority(_ priority: JobPriority, where filter: JobFilter) async throws -> Int {
    try await changeAll(.setPriority(priority), where: filter && .unfinished)
  }

  /// Like ``setStart(_:of:)`` for all matching waiting jobs of this queue.
  @discardableResult
  public func setStart(_ start: JobTime, where filter: JobFilter) async throws -> Int {
    try await changeAll(.setStart(start), where: filter && .unfinished)
  }

  /// Like ``complete(_:output:)`` for all matching unfinished jobs of this queue.
  @discardableResult
  public func completeAll(where filter: JobFilter, output: Data? = nil) async throws -> Int {
    try output?.check(asOutputOf: "each of them")
    return try await changeAll(.complete(output: output), where: filter && .unfinished)
  }

  /// Like ``fail(_:message:code:)`` for all matching unfinished jobs of this queue.
  @discardableResult
  public func failAll(where filter: JobFilter, message: String) async throws -> Int {
    try await changeAll(.fail(message: message.cutToMessage), where: filter && .unfinished)
  }

  /// Deletes all matching jobs of this queue that are not running.
  @discardableResult
  public func removeAll(where filter: JobFilter) async throws -> Int { try await changeAll(.remove, where: filter) }

  /// Makes all running and suspended jobs of this queue ready, whoever holds them, as a queue without leases does at
  /// launch; those that were asked to cancel are cancelled. Includes jobs of living workers: their reports are refused
  /// from then on, their handlers are cancelled, and the jobs run twice. Recovery does this by itself for jobs whose
  /// process died, and leaves suspended jobs alone.
  @discardableResult
  public func resetAll() async throws -> Int {
    try await changeAll(.reset, where: .state(.running) || .state(.suspended))
  }

  /// Stops claims of this queue's jobs in every process until it is unpaused. Running jobs continue.
  public func pause() async throws { try await store.configure([.queue(name, isPaused: true)]) }

  /// Whether the queue is paused, for every process.
  public var isPaused: Bool { get async throws { try await store.settings().contains(.queue(name, isPaused: true)) } }

  public func unpause() async throws { try await store.configure([.queue(name, isPaused: false)]) }

  /// Limits how many jobs of this queue run or start, over all processes and in addition to the workers' own limits;
  /// nil removes the limits. Running jobs continue. Every attempt counts, retries included. Throws
  /// ``JobError/Code/invalidArgument`` for numbers below 1.
  public func setLimits(_ limits: JobLimits?) async throws { try await store.configure([.limits(queue: name, limits)]) }

  /// The limits that are set for every process; nil if there are none.
  public var limits: JobLimits? {
    get async throws {
      for case .limits(queue: name, let limits) in try await store.settings() { return limits }
      return nil
    }
  }

  /// Sets how many jobs of a lane run at once, in every process: at least 1, the default. Running jobs continue.
  /// Throws ``JobError/Code/invalidArgument`` for less than 1.
  public func setWidth(of lane: String, to width: Int) async throws {
    try await store.configure([.lane(lane, width: width)])
  }

  /// Limits how often attempts of a lane start, over all processes; nil removes the limit. A job that already waits for
  /// its turn keeps its time. Throws ``JobError/Code/invalidArgument`` for numbers below 1, and
  /// ``JobError/Code/wrongState`` if the lane is wider than 1, or was and several of its jobs still have seats.
  public func setRate(of lane: String, to rate: JobRate?) async throws {
    try await store.configure([.laneRate(lane, rate)])
  }

  /// Sets whether a condition holds for all workers on the store in all processes, whatever they say; nil leaves it to
  /// them again. If it holds, jobs that wait for it start at once, and back-offs end as when it returns by itself.
  public func setConstraint(_ constraint: JobConstraint, satisfied: Bool?) async throws {
    try await store.configure([.constraint(constraint, satisfied: satisfied)])
  }

  private func changeAll(_ change: JobChange, where filter: JobFilter) async throws -> Int {
    try await store.changeAll(change, where: .queue(name) && filter.sparingSchedules).count
  }
}

extension JobStore {
  /// Changes all jobs that match when this begins, and still do in their turn, in bites of a transaction each. Returns
  /// the ids of those that allow it. What is enqueued meanwhile is left as it is: this ends, whoever enqueues more.
  package func changeAll(_ change: JobChange, where filter: JobFilter, bite: Int = 500) async throws -> [JobID] {
    let filter = change == .retry ? filter && !.state(.succeeded) : filter
    var (ids, hasMore): ([JobID], Bool) = ([], true)
    while hasMore {
      let page = try await jobs(JobQuery(filter, order: .newestFirst, after: ids.last, limit: bite)).map(\.id)
      ids += page
      hasMore = page.count == bite
    }
    return try await change.make(of: ids, bite: bite) { try await self.change(change, $0, where: filter) }.changed
  }

  /// Changes those of these jobs that match, at once.
  package func change(_ change: JobChange, _ ids: [JobID], where filter: JobFilter) async throws -> ChangeReport {
    guard !ids.isEmpty else { return ChangeReport() }
    return try await self.change(change, where: filter && .ids(ids), after: nil, limit: ids.count)
  }

  package func complete(_ id: JobID, _ output: Data?, kinds: [String] = []) async throws {
    try output?.check(asOutputOf: "job \(id)")
    try await change(.complete(output: output), id, kinds: kinds)
  }

  /// `kinds`: the kinds that the job may be of; any if empty.
  package func change(_ change: JobChange, _ id: JobID, kinds: [String] = []) async throws {
    let filter = kinds.isEmpty ? .id(id) : .id(id) && .kinds(kinds)
    let report = try await self.change(change, where: filter, after: nil, limit: 1)
    if let refusal = report.refused.first { throw JobError(refusal) }
    if report.changed.isEmpty {
      try await job(id, detail: []).check(kinds: kinds)  // throws, too, if there is none
    }
  }
}

extension Data {
  func check(asOutputOf job: String) throws {
    guard let excess = excess(of: "the output of \(job)") else { return }
    throw JobError(.notEncodable, "\(excess). Keep large data in a file and its path in the output")
  }

  /// Why it can't be stored, if it is too large.
  func excess(of what: @autoclosure () -> String) -> String? {
    guard count > Limits.payloadBytes else { return nil }
    return "\(what()) has \(count) bytes; at most \(Limits.payloadBytes) can be stored"
  }
}
