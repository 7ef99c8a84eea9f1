import DurableJobs
import Foundation

/// What time demands, and what stores draw.
extension Oracle {
  /// What one recovery comes to, in as many bites as it takes.
  /// `left` are the jobs that the store has still: of one that was needed when its time came, it need not notice at once
  /// that it is not any more.
  mutating func recover(_ request: RecoveryRequest, _ left: Set<JobID>) -> RecoveryReport {
    for job in jobs where isExpired(job) && (isKept(job.id) || isWithinWindow(job)) { mayLinger.insert(job.id) }

    var report = RecoveryReport()
    // Those of a bite fail together; what needs them is skipped, and not overdue in the next.
    while case let overdue = overdue.prefix(request.limit), !overdue.isEmpty {
      for id in overdue where passDeadline(index(of: id)!) { report.overdue += 1 }
      if self.overdue.isEmpty { break }
      followEnds()
    }
    if request.isRetiring, let worker = standing(of: request.worker) {
      for index in jobs.indices where jobs[index].claim?.worker == worker {
        note(wrong == .retirementIsDeath ? .died : .reported(.interrupted), index)
      }
      workers[worker].isOver = true
    }
    for index in workers.indices where !workers[index].isOver && workers[index].id != request.worker {
      guard !workers[index].isLiving(at: now) else {
        workers[index].doubts = []  // a lease that holds again, since the clock was set back, is a sign of life
        continue
      }
      workers[index].doubts.append(uptime)
      let rest = policy.doubtInterval - (uptime - workers[index].doubts[0])
      if !holdsJobs(index) || rest <= .zero || wrong == .doubtIsLoss {
        workers[index].isOver = true
      } else {
        report.comeAgain = min(report.comeAgain ?? rest, rest)
      }
    }
    for index in jobs.indices where isLost(jobs[index]) {
      note(.died, index)
      report.recovered += 1
    }
    for index in jobs.indices where jobs[index].hasWaited(until: now) && !waits(jobs[index]) { note(.cameDue, index) }
    followEnds()
    // Who was kept by one that goes may go with it, in a later bite.
    while case let expired = jobs.filter({ isToGo($0, left) }), !expired.isEmpty {
      for job in expired { remove(job.id) }
      report.pruned += expired.count
    }
    followEnds()
    let emptied = wrong == .emptyBatchStays ? [:] : batches.filter { isExpired($0.value) }
    for id in emptied.keys { batches[id] = nil }
    let next = jobs.compactMap(\.openDeadline).min().map { Duration.milliseconds($0.milliseconds - now.milliseconds) }
    report.comeAgain = [report.comeAgain, next].compactMap(\.self).min()
    return report
  }

  private func isToGo(_ job: JobLog, _ left: Set<JobID>) -> Bool {
    guard isExpired(job), !isWithinWindow(job) else { return false }
    if isKept(job.id) { return wrong == .neededExpires }
    return !(mayLinger.contains(job.id) && left.contains(job.id))
  }

  /// The earliest deadlines first.
  private var overdue: [JobID] {
    jobs.filter { $0.isOverdue(at: now) }.sorted { ($0.openDeadline!, $0.id) < ($1.openDeadline!, $1.id) }.map(\.id)
  }

  private func holdsJobs(_ worker: Int) -> Bool { jobs.contains { $0.claim?.worker == worker } }

  private func isLost(_ job: JobLog) -> Bool { job.claim.map { workers[$0.worker].isOver } ?? false }

  private func isExpired(_ job: JobLog) -> Bool {
    let state = state(job)
    guard state.isFinished, !(wrong == .cancelledNeverExpire && state == .cancelled) else { return false }
    let isKeptLonger = (state == .failed || state == .skipped) && wrong != .failedExpireEarly
    let ofKind = wrong == .kindIsKeptAsAny ? nil : policy.retentionOfKind[job.job.kind]
    let kept =
      isKeptLonger ? ofKind?.failed ?? policy.failedRetention : ofKind?.ended ?? policy.retention
    return job.entries[job.turn].at.later(by: kept.milliseconds) <= now
  }

  private func isExpired(_ batch: BatchLog) -> Bool {
    batch.emptyAt.map { $0.later(by: policy.retention.milliseconds) <= now } ?? false
  }

  /// Jobs that wait for a time that the store drew and has not shown yet. Of one that waits for others too it shows none.
  var undrawn: [JobID] {
    jobs.filter { if $0.standing == .ready, case .within = $0.due { !waits($0) } else { false } }.map(\.id)
  }

  /// The store shows the time that it drew, or, with nil, that it is over.
  mutating func drawn(_ date: Date?, for id: JobID) throws {
    let index = index(of: id)!
    guard case .within(let range) = jobs[index].due else { return }
    try holds(
      date.map(range.contains) ?? (range.lowerBound <= now),
      "job \(id), which waits until \(date?.description ?? "now"), waits for a time in \(range)")
    note(.drew(date), index)
  }
}
