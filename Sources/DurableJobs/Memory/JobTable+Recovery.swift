import Foundation

/// What time demands.
extension JobTable {
  mutating func recover(_ request: RecoveryRequest, now: Date, uptime: Duration) -> RecoveryReport {
    var report = RecoveryReport()
    if request.isRetiring { retire(request.worker, now: now) }
    report.comeAgain = dispossess(except: request.worker, now: now, uptime: uptime)

    let living = Set(workers.map(\.number))
    let orphans = records.indices.filter { records[$0].claim.map { !living.contains($0.worker) } ?? false }
    for index in orphans.prefix(request.limit) { crash(index, now: now) }
    report.recovered = min(orphans.count, request.limit)

    let due = records.indices.filter { records[$0].course.state == .scheduled && records[$0].course.runAt! <= now }
    for index in due.prefix(request.limit) { promote(index, now: now) }

    let expired = records.filter { isExpired($0, now: now) }.map(\.id)
    let pruned = Set(expired.prefix(request.limit))
    for record in records where pruned.contains(record.id) { tell(record, isRemoved: true) }
    records.removeAll { pruned.contains($0.id) }
    report.pruned = pruned.count

    report.hasMore = max(orphans.count, due.count, expired.count) > request.limit
    return report
  }

  /// Takes lapsed leases away. In one process there is no lock to ask whether a worker lives: it is given an interval to
  /// answer, measured by a clock that never steps. Returns when to come again for the ones that are in doubt.
  private mutating func dispossess(except asking: WorkerID?, now: Date, uptime: Duration) -> Duration? {
    var comeAgain: Duration?
    for worker in workers where worker.id != asking && !worker.isAlive(now) {
      let index = workers.firstIndex { $0.number == worker.number }!
      let isIdle = !records.contains { $0.claim?.worker == worker.number }
      let silence = worker.doubtedAt.map { uptime - $0 }
      if isIdle || silence.map({ $0 >= policy.doubtInterval }) ?? false {
        workers.remove(at: index)
        continue
      }
      if silence == nil {
        workers[index].doubtedAt = uptime
        tellDoubt()
      }
      let rest = policy.doubtInterval - (silence ?? .zero)
      comeAgain = min(comeAgain ?? rest, rest)
    }
    return comeAgain
  }

  private mutating func retire(_ worker: WorkerID?, now: Date) {
    guard let retiring = workers.first(where: { $0.id == worker }) else { return }
    for index in records.indices where records[index].claim?.worker == retiring.number {
      let policy = policy
      update(index, now: now) { _ = $0.course.settle(.interrupted, now: now, policy: policy, random: 0) }
    }
    workers.removeAll { $0.number == retiring.number }
  }

  private mutating func crash(_ index: Int, now: Date) {
    let policy = policy
    update(index, now: now, concernsClaim: true) { record in
      let attempt = record.course.attempt
      if let message = record.course.crash(now: now, policy: policy, random: .random(in: 0...1)) {
        record.remember(AttemptFailure(attempt: attempt, at: now, message: message))
      }
    }
  }

  private func isExpired(_ record: Record, now: Date) -> Bool {
    guard let finishedAt = record.finishedAt else { return false }
    let retention = record.course.state == .failed ? policy.failedRetention : policy.retention
    return finishedAt.adding(retention) <= now
  }
}
