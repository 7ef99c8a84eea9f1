import Foundation

/// What people do, and what they ask.
extension JobTable {
  mutating func change(
    _ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int, now: Date
  ) -> ChangeReport {
    let ids = records.filter { filter.matches($0.snapshot()) }.map(\.id).filter { after == nil || $0 > after! }
    var report = ChangeReport()
    for id in ids.prefix(limit) {
      do {
        try self.change(change, index(of: id)!, now: now)
        report.changed.append(id)
      } catch {
        report.refused.append(ChangeReport.Refusal(job: id, message: (error as? JobError)?.message ?? "\(error)"))
      }
    }
    if ids.count > limit { report.next = ids[limit - 1] }
    return report
  }

  private mutating func change(_ change: JobChange, _ index: Int, now: Date) throws {
    var course = records[index].course
    course.promote(now: now)  // a job that is due counts as ready, whether somebody has written that down or not
    let wasRunning = course.state == .running
    try course.apply(change, now: now, keyHolder: holder(of: records[index].job.terms.unique))
    if change == .remove {
      tell(records.remove(at: index), isRemoved: true)
      return
    }
    if records[index].course.state.isFinished, course == records[index].course { return }
    // A claim ends with the state `running`.
    let endsClaim = wasRunning && JobCourse.endsClaim(change)
    let asksToStop = course.stopAsked != nil && course.stopAsked != records[index].course.stopAsked
    update(index, now: now, concernsClaim: endsClaim || asksToStop) { record in
      record.course = course
      switch change {
      case .complete(let output):
        record.output = output
      case .fail(let message):
        record.remember(AttemptFailure(attempt: course.attempt, at: now, message: message.cutToMessage))
      case .progress(let progress):
        record.store(progress)
      case .retry, .cancel, .suspend, .resume, .remove, .reset:
        break
      }
    }
  }

  mutating func configure(_ settings: [StoreSetting]) {
    for setting in settings {
      switch setting {
      case .queue(let name, isPaused: true): pausedQueues.insert(name)
      case .queue(let name, isPaused: false): pausedQueues.remove(name)
      }
    }
  }

  var settings: [StoreSetting] { pausedQueues.sorted().map { .queue($0, isPaused: true) } }

  func jobs(_ query: JobQuery) -> [JobSnapshot] {
    let isAscending = query.order == .oldestFirst
    let snapshots = (isAscending ? records : records.reversed()).lazy
      .filter { record in query.after.map { isAscending ? record.id > $0 : record.id < $0 } ?? true }
      .map { $0.snapshot(query.detail) }
      .filter { query.filter.matches($0) }
    return Array(snapshots.prefix(query.limit))
  }

  func counts(where filter: JobFilter) -> JobCounts {
    records.map { $0.snapshot() }.filter { filter.matches($0) }.reduce(into: JobCounts()) { $0[$1.state] += 1 }
  }

  func outstanding(_ scope: WorkScope, now: Date) -> OutstandingWork {
    let inScope: (Record) -> Bool
    let canBeServed: (Record) -> Bool
    switch scope {
    case .worker(let queues, let kinds):
      inScope = { queues.contains($0.job.queue) }
      canBeServed = { kinds.contains($0.job.kind) }
    case .queue(let queue):
      let living = workers.filter { $0.isAlive(now) && $0.queues.contains(queue) }
      inScope = { $0.job.queue == queue }
      canBeServed = { record in living.contains { $0.kinds.contains(record.job.kind) } }
    }
    var work = OutstandingWork(active: 0, isReturning: false, left: JobCounts())
    for var record in records where inScope(record) && !record.course.state.isFinished {
      work.left[record.course.state] += 1
      guard canBeServed(record) else { continue }
      let isPaused = pausedQueues.contains(record.job.queue)
      record.course.promote(now: now)
      switch record.course.state {
      case .running: work.active += 1
      case .ready where !isPaused: work.active += 1
      case .scheduled where !isPaused && record.startedAt != nil: work.isReturning = true
      default: break
      }
    }
    return work
  }
}

extension JobTable.Record {
  func snapshot(_ detail: JobQuery.Detail = []) -> JobSnapshot {
    JobSnapshot(
      id: id, queue: job.queue, kind: job.kind, key: job.terms.key, tags: job.terms.tags, state: course.state,
      priority: job.terms.priority, attempt: course.attempt, maxAttempts: course.maxAttempts,
      timeout: job.terms.timeout, crashes: course.crashes, createdAt: createdAt,
      runAt: course.state == .scheduled ? course.runAt : nil, startedAt: startedAt, finishedAt: finishedAt,
      progress: progress, reason: course.reason, stopAsked: course.stopAsked,
      payload: detail.contains(.payload) ? job.payload : nil, output: detail.contains(.output) ? output : nil,
      failures: detail.contains(.failures) ? failures : [])
  }
}
