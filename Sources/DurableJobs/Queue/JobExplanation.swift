import Foundation

/// Why a job does not run now; or that it runs, or has ended.
///
///     print(try await queue.explain(id))   // Job 7 is blocked. It waits for job 5, which is suspended.
public struct JobExplanation: Hashable, Sendable {
  /// One thing that keeps a job, or what there is to say of one that nothing keeps.
  @nonexhaustive
  public enum Reason: Hashable, Sendable {
    /// Each of these jobs waits for the next, and the last for the first; it is one of them, or waits for one.
    case circle([JobID])
    /// It is ``JobState/suspended``.
    case held(by: JobHold, reason: String?)
    /// It runs after this job, or in its place, since both have the unique key. One that failed holds their lane, and can't be
    /// retried while this one waits.
    case uniqueKey(String, JobID, JobState)
    case needs(JobID, JobState, JobEdge.Condition)
    /// It needs the first job that comes with this key. None has come.
    case needsKey(String, JobEdge.Condition)
    /// This job has to leave the lane first. One that failed holds it until it is retried or removed.
    case lane(String, JobID, JobState)
    /// Its first start is ahead.
    case start(Date)
    case backOff(until: Date, after: AttemptFailure)
    /// With no attempt used: by its handler, or since a process died that ran it, if one ever did.
    case putOff(until: Date, crashes: Int)
    /// By its queue's name.
    case paused(String)
    /// So many jobs of this queue run as it may run at once.
    case limit(String, running: Int)
    /// This queue has no other job begin before that time.
    case rate(String, JobRate, next: Date)
    /// This lane has its next job begin at that time.
    case laneRate(String, JobRate, next: Date)
    /// No worker lives, whatever it serves.
    case noWorker
    case queueUnserved(String)
    /// Workers live that serve its queue, and none knows this kind.
    case kindUnknown(String)
    case constraint(JobConstraint, Lack)
    /// Those workers that could run it run so many jobs now.
    case slotsTaken(running: Int, workers: Int)
    /// Nil: of the worker, nothing is known any more.
    case running(by: StoredWorker?, since: Date?, stopAsked: StopReason?)
    case ended(JobState, reason: String?)
  }

  public enum Lack: String, Hashable, Sendable, Codable {
    /// Somebody said so for all workers.
    case setByHand
    /// The workers say so.
    case absent
    /// No worker speaks of it, and nobody has set it.
    case unprovided
  }

  public let id: JobID
  public let state: JobState
  /// What must change first is first. None for a job that the next free worker takes.
  public let reasons: [Reason]
  /// When it is given up; nil if it has no deadline, or has kept it.
  public let deadline: JobDeadline?

  /// `job`: read with ``JobQuery/Detail/waits`` and failures. `more`: what can be served by workers of which the
  /// store may not have heard, and which have room. `circle`: see ``JobStore/circle(around:)``.
  public init(_ job: JobSnapshot, and more: [WorkerReach] = [], circle: [JobID] = []) {
    (id, state, deadline) = (job.id, job.state, job.openDeadline)
    let waits = job.waits ?? JobWaits(now: .distantPast)
    switch job.state {
    case .succeeded, .failed, .cancelled, .skipped:
      reasons = [.ended(state, reason: state == .succeeded ? nil : job.failure.message)]
    case .running:
      let worker = waits.workers.first { $0.jobs.contains(job.id) }
      let isLost = worker?.standing != .alive && more.isEmpty && !waits.workers.contains { $0.standing == .alive }
      reasons =
        [.running(by: worker, since: job.startedAt, stopAsked: job.stopAsked)] + (isLost ? [.noWorker] : [])
    case .suspended, .blocked, .scheduled, .ready:
      reasons = (circle.isEmpty ? [] : [.circle(circle)]) + job.kept(by: waits) + job.unserved(waits, more)
    }
  }
}

/// What suspended a job.
public enum JobHold: String, Codable, Hashable, Sendable {
  /// A person or a program asked for it; or its row in the store is damaged.
  case request
  /// It waits to be resumed, or ended from outside.
  case handler
  /// Its payload is none of its kind, as the program is now.
  case undecodable
}

extension JobQueue {
  /// Why a job of this store does not run: all reasons, what must change first in front. Throws
  /// ``JobError/Code/notFound`` if there is no such job.
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
    return JobExplanation(job, and: more, circle: try await circle(around: job))
  }

  /// Jobs of which each waits for the next, and the last for the first, where `job`, read with its waits, is one of them or
  /// waits for one. It is looked for among the nearest thousand that it waits for, and through lanes with one seat: in a wider
  /// one another may come free.
  public func circle(around job: JobSnapshot) async throws -> [JobID] {
    guard let around = job.waits, around.laneHead != nil || !around.needs.isEmpty else { return [] }
    let wide = Set(try await settings().compactMap { if case .lane(let name, _) = $0 { name } else { nil } })
    var waits: [JobID: [JobID]] = [:]
    var level = [job]
    for _ in 1...100 where !level.isEmpty && waits.count < 1000 {
      var bringers: [JobSnapshot] = []
      for key in Set(level.flatMap(\.awaitedKeys)).sorted().prefix(100) {
        bringers += try await jobs(JobQuery(.key(key) && .unfinished, limit: 100))
      }
      for job in level {
        let byKey = bringers.filter { job.awaitedKeys.contains($0.key ?? "") }.map(\.id)
        waits[job.id] = job.awaited(besides: wide) + byKey
      }
      let next = Set(level.compactMap { waits[$0.id] }.joined()).subtracting(waits.keys).sorted().prefix(1000)
      level = next.isEmpty ? [] : try await jobs(JobQuery(.ids(next), detail: .waits, limit: next.count))
    }
    // Who waits for nobody that waits goes, until those are left that are in a circle or wait for one.
    var count = -1
    while count != waits.count {
      count = waits.count
      waits = waits.mapValues { $0.filter { waits[$0] != nil } }.filter { !$0.value.isEmpty }
    }
    var (path, next): ([JobID], JobID?) = ([], waits.keys.min())
    while let id = next, !path.contains(id) {
      path.append(id)
      next = waits[id]?.first
    }
    return Array(path.drop { $0 != next })
  }
}

extension JobSnapshot {
  fileprivate var openDeadline: JobDeadline? {
    if case .start = deadline, startedAt != nil { nil } else { state.isFinished ? nil : deadline }
  }

  /// Jobs that must end before it can run, other than in these lanes.
  fileprivate func awaited(besides wide: Set<String>) -> [JobID] {
    guard let waits, state != .running else { return [] }
    let head = lane.flatMap { wide.contains($0.name) ? nil : waits.laneHead?.job }
    return waits.needs.compactMap(\.edge.job) + (head.map { [$0] } ?? [])
  }

  fileprivate var awaitedKeys: [String] {
    waits?.needs.compactMap { if case .key(let key) = $0.target { key } else { nil } } ?? []
  }

  /// What it waits for by itself, whoever works.
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

  /// Why nobody would take it if nothing else kept it.
  fileprivate func unserved(_ waits: JobWaits, _ more: [WorkerReach]) -> [JobExplanation.Reason] {
    let alive = waits.workers.filter { $0.standing == .alive }
    let near = more.filter { $0.kinds.contains(kind) }
    let serving = alive.filter { $0.queues.contains(queue) && $0.kinds.contains(kind) }
    // Of what the one lacks that lacks least.
    let lacking = (serving.map(\.satisfied) + near.map(\.satisfied))
      .map { requires.subtracting(waits.setByHand.holding($0)) }.min { $0.count < $1.count }
    guard let lacking else {
      let worker: JobExplanation.Reason =
        alive.isEmpty && more.isEmpty
        ? .noWorker
        : alive.contains { $0.queues.contains(queue) } || !more.isEmpty ? .kindUnknown(kind) : .queueUnserved(queue)
      // What a worker that comes may well bring is not held against it.
      return [worker]
        + requires.subtracting(waits.setByHand.holding(JobConstraint.ofSystem)).sorted().map {
          .constraint($0, waits.setByHand[$0] == nil ? .unprovided : .setByHand)
        }
    }
    guard lacking.isEmpty else {
      let spokenOf = serving.reduce(into: near.reduce(into: Set<JobConstraint>()) { $0.formUnion($1.satisfied) }) {
        $0.formUnion($1.satisfied.union($1.absent))
      }
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
    if running == 0 || near.contains(where: { isAble($0.satisfied) }) || !limited(by: waits).isEmpty { return [] }
    return [.slotsTaken(running: running, workers: able.count)]
  }
}

extension JobConstraint {
  /// What workers bring that nobody told anything.
  static let ofSystem: Set<JobConstraint> = [.network, .externalPower, .diskSpace]
}
