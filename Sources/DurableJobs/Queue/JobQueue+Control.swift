import Foundation

extension JobQueue {
  /// Runs a job again: from its first attempt if it failed or was cancelled, at once if it waits for a time or is
  /// suspended. Throws ``JobError/Code/wrongState`` if it is running, has succeeded, or has ended and another job has its
  /// unique key by now: the message names that.
  public func retry(_ id: JobID) async throws { try await store.change(.retry, id) }

  /// Ends a job. One that runs is asked to stop, and ends when its handler does; if that succeeds, the job has succeeded.
  public func cancel(_ id: JobID, reason: String? = nil) async throws {
    try await store.change(.cancel(reason: reason), id)
  }

  /// Suspends a job until it is resumed. One that runs is asked to stop, and is suspended when its handler ends.
  public func suspend(_ id: JobID, reason: String? = nil) async throws {
    try await store.change(.suspend(reason: reason), id)
  }

  public func resume(_ id: JobID) async throws { try await store.change(.resume, id) }

  /// What goes first from now on: at once for a job that waits, from its next attempt on for one that runs. Throws
  /// ``JobError/Code/wrongState`` if it has ended.
  public func setPriority(_ priority: JobPriority, of id: JobID) async throws {
    try await store.change(.setPriority(priority), id)
  }

  /// Gives a job that waits another start, sooner or later, also in place of a back-off or a snooze. Throws
  /// ``JobError/Code/wrongState`` if it runs, is suspended or has ended.
  public func setStart(_ start: JobTime, of id: JobID) async throws { try await store.change(.setStart(start), id) }

  /// Deletes a job. Refused while it runs.
  public func remove(_ id: JobID) async throws { try await store.change(.remove, id) }

  /// Ends an unfinished job with success, whatever its handler does. `output` is what its kind decodes: nil is right where
  /// that is `Void` or an optional, and elsewhere leaves who asks for the value with ``JobError/Code/notDecodable``.
  /// Throws ``JobError/Code/notEncodable`` if it is larger than ``Limits/payloadBytes``.
  public func complete(_ id: JobID, output: Data? = nil) async throws {
    try await store.complete(id, output)
  }

  /// Ends an unfinished job with failure, whatever its handler does. `code`: see ``AttemptFailure/code``.
  public func fail(_ id: JobID, message: String, code: String? = nil) async throws {
    try await store.change(.fail(message: message.cutToMessage, code: code), id)
  }

  /// Tells how far an unfinished job is, from outside its handler.
  public func report(_ id: JobID, progress fraction: Double, _ message: String? = nil) async throws {
    try await store.change(.progress(JobProgress(fraction: fraction, message: message)), id)
  }

  /// Retries all jobs of this queue that match, by default all that failed. Returns how many there were; jobs in a state
  /// that can't be retried, or whose unique key another has, are left alone.
  @discardableResult
  public func retryAll(where filter: JobFilter = .state(.failed)) async throws -> Int {
    try await changeAll(.retry, where: filter)
  }

  /// Cancels all jobs of this queue that match and have not ended. Schedules are no part of these, here and below, unless
  /// the filter names ids, kinds or keys.
  @discardableResult
  public func cancelAll(where filter: JobFilter, reason: String? = nil) async throws -> Int {
    try await changeAll(.cancel(reason: reason), where: filter)
  }

  /// Suspends all jobs of this queue that match and have not ended.
  @discardableResult
  public func suspendAll(where filter: JobFilter, reason: String? = nil) async throws -> Int {
    try await changeAll(.suspend(reason: reason), where: filter)
  }

  /// Resumes the suspended ones among the jobs of this queue that match.
  @discardableResult
  public func resumeAll(where filter: JobFilter = .state(.suspended)) async throws -> Int {
    try await changeAll(.resume, where: filter)
  }

  /// The same as ``setPriority(_:of:)`` for all jobs of this queue that match and have not ended.
  @discardableResult
  public func setPriority(_ priority: JobPriority, where filter: JobFilter) async throws -> Int {
    try await changeAll(.setPriority(priority), where: filter)
  }

  /// The same as ``setStart(_:of:)`` for all jobs of this queue that match and wait.
  @discardableResult
  public func setStart(_ start: JobTime, where filter: JobFilter) async throws -> Int {
    try await changeAll(.setStart(start), where: filter)
  }

  /// The same as ``complete(_:output:)`` for all jobs of this queue that match and have not ended.
  @discardableResult
  public func completeAll(where filter: JobFilter, output: Data? = nil) async throws -> Int {
    try output?.check(asOutputOf: "each of them")
    return try await changeAll(.complete(output: output), where: filter && .unfinished)
  }

  /// The same as ``fail(_:message:code:)`` for all jobs of this queue that match and have not ended.
  @discardableResult
  public func failAll(where filter: JobFilter, message: String) async throws -> Int {
    try await changeAll(.fail(message: message.cutToMessage), where: filter && .unfinished)
  }

  /// Deletes all jobs of this queue that match and do not run.
  @discardableResult
  public func removeAll(where filter: JobFilter) async throws -> Int {
    try await changeAll(.remove, where: filter)
  }

  /// Makes all running and suspended jobs of this queue ready, whoever holds them: what a queue without leases does at
  /// launch. Also those of living workers: what such a worker reports afterwards is refused, its handler is cancelled, and
  /// the job runs a second time. Recovery does it by itself for jobs whose process died, and leaves suspended ones so.
  @discardableResult
  public func resetAll() async throws -> Int {
    try await changeAll(.reset, where: .state(.running) || .state(.suspended))
  }

  /// No job of this queue is claimed from now on, in any process, until it is unpaused. Those that run go on.
  public func pause() async throws { try await store.configure([.queue(name, isPaused: true)]) }

  /// Whether it is, for every process.
  public var isPaused: Bool {
    get async throws { try await store.settings().contains(.queue(name, isPaused: true)) }
  }

  public func unpause() async throws { try await store.configure([.queue(name, isPaused: false)]) }

  /// No more jobs of this queue run, or begin, from now on than these limits allow, over all processes and whatever workers
  /// have room for; nil lifts them. Those that run go on. Each attempt counts, the first as any later one.
  /// Throws ``JobError/Code/invalidArgument`` for numbers below 1.
  public func setLimits(_ limits: JobLimits?) async throws {
    try await store.configure([.limits(queue: name, limits)])
  }

  /// Those that are set, for every process; nil where there are none.
  public var limits: JobLimits? {
    get async throws {
      for case .limits(queue: name, let limits) in try await store.settings() { return limits }
      return nil
    }
  }

  /// So many jobs of a lane run at once from now on, in every process: at least 1, which is the default. Those that run go
  /// on. Throws ``JobError/Code/invalidArgument`` for less.
  public func setWidth(of lane: String, to width: Int) async throws {
    try await store.configure([.lane(lane, width: width)])
  }

  /// Attempts of a lane begin no more often from now on than this allows, over all processes; nil lifts it. One that waits for
  /// its time already keeps that. Throws ``JobError/Code/invalidArgument`` for numbers below 1, and
  /// ``JobError/Code/wrongState`` if the lane is wider than 1.
  public func setRate(of lane: String, to rate: JobRate?) async throws {
    try await store.configure([.laneRate(lane, rate)])
  }

  /// Says of a condition whether it holds, for every worker on the store in every process, whatever they say themselves; nil
  /// leaves it to them again. Those that wait for it begin at once, and back-offs end as when it returns by itself.
  public func setConstraint(_ constraint: JobConstraint, satisfied: Bool?) async throws {
    try await store.configure([.constraint(constraint, satisfied: satisfied)])
  }

  private func changeAll(_ change: JobChange, where filter: JobFilter) async throws -> Int {
    try await store.changeAll(change, where: .queue(name) && filter.sparingSchedules).count
  }
}

extension JobStore {
  /// Changes all jobs that match and can be changed so, a page after the other. Returns which.
  package func changeAll(_ change: JobChange, where filter: JobFilter, bite: Int = 500) async throws -> [JobID] {
    var changed: [JobID] = []
    var after: JobID?
    var (filter, refused, count) = (filter, Set<JobID>(), 0)
    repeat {
      let report = try await self.change(change, where: filter, after: after, limit: bite)
      changed += report.changed
      refused.formUnion(report.refused.map(\.job))
      after = report.next
      // Those that needed what was not removed may have gone since. Each time there are less of them.
      if after == nil, change == .remove, !refused.isEmpty, changed.count > count {
        (filter, refused, count, after) = (filter && .ids(refused), [], changed.count, JobID(rawValue: 0))
      }
    } while after != nil
    return changed
  }

  package func complete(_ id: JobID, _ output: Data?, kinds: [String] = []) async throws {
    try output?.check(asOutputOf: "job \(id)")
    try await change(.complete(output: output), id, kinds: kinds)
  }

  /// `kinds`: only if the job is of one of these, or whatever it is if there are none.
  package func change(_ change: JobChange, _ id: JobID, kinds: [String] = []) async throws {
    let filter = kinds.isEmpty ? .id(id) : .id(id) && .kinds(kinds)
    let report = try await self.change(change, where: filter, after: nil, limit: 1)
    if let refusal = report.refused.first {
      throw JobError(.wrongState, "job \(id) \(refusal.message)")
    }
    if report.changed.isEmpty {
      let other = try await job(id, detail: []).kind  // throws if there is none
      throw JobError(.invalidArgument, "job \(id) is of the kind '\(other)', not '\(kinds.first ?? "")'")
    }
  }
}

extension Data {
  /// Throws ``JobError/Code/notEncodable`` if it is too large.
  func check(asOutputOf job: String) throws {
    guard count > Limits.payloadBytes else { return }
    throw JobError(
      .notEncodable,
      "the output of \(job) has \(count) bytes; at most \(Limits.payloadBytes) can be stored. "
        + "Keep large data in a file and its path in the output")
  }
}
