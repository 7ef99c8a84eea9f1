import Foundation

/// The reasons why a job is not running; or that it is, or has ended.
///
///     print(try await queue.explain(id))   // Job 7 is blocked. It waits for job 5, which is suspended.
public struct JobExplanation: Hashable, Sendable {
  /// One thing that keeps a job from running, or its status if nothing does.
  @nonexhaustive
  public enum Reason: Hashable, Sendable {
    /// A cycle: each of these jobs waits for the next, and the last for the first. This job is in it or waits for it.
    case circle([JobID])
    /// The job is ``JobState/suspended``.
    case held(by: JobHold, reason: String?)
    /// It runs after this job, or in its place, since both have the unique key. One that failed holds their lane.
    case uniqueKey(String, JobID, JobState)
    case needs(JobID, JobState, JobEdge.Condition)
    /// The job depends on the first job with this key, and there has been none.
    case needsKey(String, JobEdge.Condition)
    /// This job must leave the lane first. A failed one holds the lane until it is retried or removed.
    case lane(String, JobID, JobState)
    /// The job's first start is in the future.
    case start(Date)
    case backOff(until: Date, after: AttemptFailure)
    /// Postponed without using an attempt: by the handler, or by the crash of a process if `crashes` is not 0.
    case putOff(until: Date, crashes: Int)
    /// The job's queue, named here, is paused.
    case paused(String)
    /// The queue's limit of running jobs, given here, is reached.
    case limit(String, running: Int)
    /// The queue's rate does not allow another start before this time.
    case rate(String, JobRate, next: Date)
    /// The lane's rate has its next job start at this time.
    case laneRate(String, JobRate, next: Date)
    /// No worker is alive for any queue.
    case noWorker
    case queueUnserved(String)
    /// Some living workers serve the queue, but none knows this kind.
    case kindUnknown(String)
    case constraint(JobConstraint, Lack)
    /// The workers that could run the job are busy with this many jobs.
    case slotsTaken(running: Int, workers: Int)
    /// The job is running. `by` is nil if nothing is known about the worker any more.
    case running(by: StoredWorker?, since: Date?, stopAsked: StopReason?)
    /// `retry`: the job whose retry opens one that was skipped again, if it can be retried.
    case ended(JobState, reason: String?, retry: JobID? = nil)
  }

  public enum Lack: String, Hashable, Sendable, Codable {
    /// It was set by hand for all workers.
    case setByHand
    /// The workers' monitors say that it does not hold.
    case absent
    /// No worker monitors it, and it was not set by hand.
    case unprovided
  }

  public let id: JobID
  public let state: JobState
  /// The reasons, what must change first in front. Empty for a job that the next free worker will claim.
  public package(set) var reasons: [Reason]
  /// When to give up on the job; nil if it has no deadline or has met it.
  public let deadline: JobDeadline?

  /// `job` must be read with ``JobQuery/Detail/waits`` and failures. `more` is what workers with free slots can serve
  /// that the store may not know yet. For `circle` see ``JobStore/circle(around:)``. `causeState`: of its cause.
  public init(_ job: JobSnapshot, and more: [WorkerReach] = [], circle: [JobID] = [], causeState: JobState? = nil) {
    (id, state, deadline) = (job.id, job.state, job.openDeadline)
    let waits = job.waits ?? JobWaits(now: .distantPast)
    switch job.state {
    case .succeeded, .failed, .cancelled, .skipped:
      let retry = state == .skipped && causeState?.isRetriable == true ? job.cause : nil
      reasons = [.ended(state, reason: state == .succeeded ? nil : job.failure.message, retry: retry)]
    case .running:
      let worker = waits.workers.first { $0.jobs.contains(job.id) }
      let isLost = worker?.standing != .alive && more.isEmpty && !waits.workers.contains { $0.standing == .alive }
      reasons = [.running(by: worker, since: job.startedAt, stopAsked: job.stopAsked)] + (isLost ? [.noWorker] : [])
    case .suspended, .blocked, .scheduled, .ready:
      let kept = job.kept(by: waits)
      reasons = (circle.isEmpty ? [] : [.circle(circle)]) + kept + job.unserved(waits, more, isKept: !kept.isEmpty)
    }
  }
}

/// What suspended a job.
public enum JobHold: String, Codable, Hashable, Sendable {
  /// A person or a program, or the store because the job's row is damaged.
  case request
  /// The handler: the job waits to be resumed, or ended from outside.
  case handler
  /// The worker: the payload does not decode as its kind in the current program.
  case undecodable
}

extension JobQueue {
  /// Explains why a job is not running: all reasons, what must change first in front, or ``JobError/Code/notFound``.
  public func explain(_ id: JobID) async throws -> JobExplanation {
    let job = try await store.job(id, detail: [.failures, .waits])
    return try await store.explain(job, and: store.signals.localWorkers.reaches(withRoomIn: job.queue))
  }
}

extension JobStore {
  /// Why `job`, read with its waits and failures, does not run.
  package func explain(_ job: JobSnapshot, and more: [WorkerReach]) async throws -> JobExplanation {
    var job = job
    if let head = job.waits?.laneHead, head.state == .failed, let key = job.uniqueKey {
      job.waits?.laneHead?.hasUniqueKey = try await jobs(JobQuery(.id(head.job), limit: 1)).first?.uniqueKey == key
    }
    var causeState: JobState?
    if let cause = job.cause { causeState = try await jobs(JobQuery(.id(cause), limit: 1)).first?.state }
    return JobExplanation(job, and: more, circle: try await circle(around: job), causeState: causeState)
  }

  /// Jobs of which each waits for the next, and the last for the first, where `job`, read with its waits, is one of them
  /// or waits for one: among the nearest thousand. A wide lane counts if all its seats are taken so, by some of its oldest
  /// hundred jobs.
  public func circle(around job: JobSnapshot) async throws -> [JobID] {
    guard let around = job.waits, around.laneHead != nil || !around.needs.isEmpty else { return [] }
    var widths: [String: Int] = [:]
    for case .lane(let name, let width) in try await settings() { widths[name] = width }
    /// By job: what it waits for, each time one of several.
    var waits: [JobID: [[JobID]]] = [:]
    var seated: [String: [JobID]] = [:]
    var level = [job]
    for _ in 1...100 where !level.isEmpty && waits.count < 1000 {
      var bringers: [JobSnapshot] = []
      for key in Set(level.flatMap(\.awaitedKeys)).sorted().prefix(100) {
        bringers += try await jobs(JobQuery(.key(key) && .unfinished, limit: 100))
      }
      for (lane, width) in widths where seated[lane] == nil && level.contains(where: { $0.waits(in: lane) }) {
        let oldest = try await jobs(JobQuery(.lane(lane) && .unfinished, detail: .waits, limit: 100))
        let inside = oldest.filter { !$0.waits(in: lane) }.map(\.id)
        seated[lane] = inside.count < width ? [] : inside
      }
      for job in level {
        let byKey = bringers.filter { job.awaitedKeys.contains($0.key ?? "") }.map(\.id)
        waits[job.id] = (job.awaited(besides: Set(widths.keys)) + byKey).map { [$0] }
        if let lane = job.lane?.name, job.waits(in: lane), let any = seated[lane] { waits[job.id]?.append(any) }
      }
      let next = Set(level.compactMap { waits[$0.id] }.joined().joined()).subtracting(waits.keys).sorted().prefix(1000)
      level = next.isEmpty ? [] : try await jobs(JobQuery(.ids(next), detail: .waits, limit: next.count))
    }
    // Remove jobs that wait for none of the others until only cycles, and jobs that wait for one, are left.
    var count = -1
    while count != waits.count {
      count = waits.count
      waits = waits.mapValues { $0.filter { any in !any.isEmpty && any.allSatisfy { waits[$0] != nil } } }
        .filter { !$0.value.isEmpty }
    }
    var (path, next): ([JobID], JobID?) = ([], waits.keys.min())
    while let id = next, !path.contains(id) {
      path.append(id)
      next = waits[id]?.first?.first
    }
    return Array(path.drop { $0 != next })
  }
}

extension JobSnapshot {
  fileprivate var openDeadline: JobDeadline? {
    if case .start = deadline, startedAt != nil { nil } else { state.isFinished ? nil : deadline }
  }

  /// Jobs that must end before this one can run, except in the lanes `wide`.
  package func awaited(besides wide: Set<String>) -> [JobID] {
    guard let waits, state != .running else { return [] }
    let head = lane.flatMap { wide.contains($0.name) ? nil : waits.laneHead?.job }
    return waits.needs.compactMap(\.edge.job) + (head.map { [$0] } ?? [])
  }

  /// It waits for a seat there.
  fileprivate func waits(in lane: String) -> Bool { self.lane?.name == lane && waits?.laneHead != nil }

  fileprivate var awaitedKeys: [String] {
    waits?.needs.compactMap { if case .key(let key) = $0.target { key } else { nil } } ?? []
  }

  /// The reasons that do not depend on the workers.
  fileprivate func kept(by waits: JobWaits) -> [JobExplanation.Reason] {
    var all: [JobExplanation.Reason] = []
    if state == .suspended { all.append(.held(by: heldBy ?? .request, reason: reason)) }
    for need in waits.needs {
      let reason: JobExplanation.Reason? =
        switch (need.target, need.state, waits.uniqueKey) {
        case (.job(let id), let state?, let key?) where need.hasUniqueKey: .uniqueKey(key, id, state)
        case (.job(let id), let state?, _): .needs(id, state, need.condition)
        case (.key(let key), _, _): .needsKey(key, need.condition)
        default: nil
        }
      if let reason, !all.contains(reason) { all.append(reason) }
    }
    if let lane, let head = waits.laneHead {
      let key = head.hasUniqueKey ? uniqueKey : nil
      all.append(key.map { .uniqueKey($0, head.job, head.state) } ?? .lane(lane.name, head.job, head.state))
    }
    if state == .scheduled, let time = runAt, time > waits.now {
      if let lane, let limit = waits.laneLimit, let rate = limit.limits.rate, limit.next == time {
        all.append(.laneRate(lane.name, rate, next: time))
      } else if startedAt == nil {
        all.append(.start(time))
      } else if let last = failures.last, last.attempt == attempt {
        all.append(.backOff(until: time, after: last))
      } else {
        all.append(.putOff(until: time, crashes: crashes))
      }
    }
    return all + (waits.isPaused ? [.paused(queue)] : []) + limited(by: waits)
  }

  private func limited(by waits: JobWaits) -> [JobExplanation.Reason] {
    guard let limit = waits.limit, state == .ready || state == .scheduled && runAt ?? waits.now <= waits.now else {
      return []
    }
    var all: [JobExplanation.Reason] = []
    if let most = limit.limits.running, limit.running >= most { all.append(.limit(queue, running: most)) }
    if let rate = limit.limits.rate, let next = limit.next, next > waits.now {
      all.append(.rate(queue, rate, next: next))
    }
    return all
  }

  /// The reasons why no worker would claim the job if nothing else kept it.
  fileprivate func unserved(_ waits: JobWaits, _ more: [WorkerReach], isKept: Bool) -> [JobExplanation.Reason] {
    let alive = waits.workers.filter { $0.standing == .alive }
    let near = more.filter { $0.kinds.contains(kind) }
    let serving = alive.filter { $0.queues.contains(queue) && $0.kinds.contains(kind) }
    // The conditions that the closest worker lacks.
    let lacking = (serving.map(\.satisfied) + near.map(\.satisfied))
      .map { requires.subtracting(waits.setByHand.holding($0)) }.min { $0.count < $1.count }
    guard let lacking else {
      let worker: JobExplanation.Reason =
        alive.isEmpty && more.isEmpty
        ? .noWorker
        : alive.contains { $0.queues.contains(queue) } || !more.isEmpty ? .kindUnknown(kind) : .queueUnserved(queue)
      // With no such worker, conditions that a new one would likely provide are not reported as missing.
      let missing = requires.subtracting(waits.setByHand.holding([.network, .externalPower, .diskSpace]))
      return [worker] + missing.sorted().map { .constraint($0, waits.setByHand[$0] == nil ? .unprovided : .setByHand) }
    }
    guard lacking.isEmpty else {
      let spokenOf = Set(serving.flatMap { $0.satisfied.union($0.absent) } + near.flatMap(\.satisfied))
      return lacking.sorted().map { constraint in
        let lack: JobExplanation.Lack =
          waits.setByHand[constraint] == false
          ? .setByHand : spokenOf.contains(constraint) ? .absent : .unprovided
        return .constraint(constraint, lack)
      }
    }
    func isAble(_ satisfied: Set<JobConstraint>) -> Bool { requires.isSubset(of: waits.setByHand.holding(satisfied)) }
    let able = serving.filter { isAble($0.satisfied) }
    let running = able.reduce(0) { $0 + $1.jobs.count }
    // Whether slots are free nobody knows: only what nothing else keeps seems to wait for one.
    if isKept || running == 0 || near.contains(where: { isAble($0.satisfied) }) { return [] }
    return [.slotsTaken(running: running, workers: able.count)]
  }
}
