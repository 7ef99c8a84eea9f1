/// The workers that a recovering process has asked for a sign of life.
///
/// An expired lease proves nothing by itself: a clock may have stepped, an app may have held a transaction for long. A
/// worker that lives is told, and has an interval to answer; one that holds nothing has nothing to lose.
package struct Doubts {
  /// A worker other than the one that recovers.
  package struct Suspect {
    package let row: WorkerRow
    package let isIdle: Bool
    /// Its process is known to have ended.
    package let isDead: Bool

    package init(row: WorkerRow, isIdle: Bool, isDead: Bool) {
      (self.row, self.isIdle, self.isDead) = (row, isIdle, isDead)
    }
  }

  package struct Verdict {
    package var losses: [WorkerRow] = []
    /// Rows of the workers to be asked for a sign of life.
    package var asked: [Int64] = []
    /// The time until the next of those that were asked must have answered.
    package var comeAgain: Duration?
  }

  private struct Doubt {
    let leaseUntil: Int64
    /// By a monotonic clock.
    let since: Duration
    /// It answered, but its lease has expired all the same: its clock differs from ours.
    var isAnswered = false
  }

  private enum Judgement {
    case alive
    case lost
    case inDoubt(rest: Duration)
  }

  private var known: [Int64: Doubt] = [:]

  package init() {}

  /// These workers gave a sign of life.
  package mutating func answered(by workers: [Int64]) { for worker in workers { known[worker] = nil } }

  /// Determines which of these workers are lost. They are all `workers` except the one that asks.
  package mutating func judge(
    _ suspects: [Suspect], of workers: [WorkerRow], now: Int64, uptime: Duration, interval: Duration
  ) -> Verdict {
    var verdict = Verdict()
    let rows = Set(workers.compactMap(\.id))
    known = known.filter { rows.contains($0.key) }
    for suspect in suspects {
      guard let id = suspect.row.id else { continue }
      if !suspect.isDead, suspect.row.isAlive(at: now) {
        known[id] = nil
        continue
      }
      let isNew = known[id] == nil
      let isCertain = !suspect.row.stands || suspect.isDead || suspect.isIdle
      switch isCertain ? .lost : judge(id, suspect.row.leaseUntil, uptime, interval) {
      case .alive: break
      case .lost: verdict.losses.append(suspect.row)
      case .inDoubt(let rest):
        verdict.comeAgain = min(verdict.comeAgain ?? rest, rest)
        if isNew { verdict.asked.append(id) }
      }
    }
    return verdict
  }

  private mutating func judge(
    _ worker: Int64, _ leaseUntil: Int64, _ uptime: Duration, _ interval: Duration
  ) -> Judgement {
    guard let doubt = known[worker] else {
      known[worker] = Doubt(leaseUntil: leaseUntil, since: uptime)
      return interval <= .zero ? .lost : .inDoubt(rest: interval)
    }
    let silence = uptime - doubt.since
    if doubt.leaseUntil != leaseUntil {
      known[worker] = Doubt(leaseUntil: leaseUntil, since: uptime, isAnswered: true)
      return .alive
    }
    if doubt.isAnswered {
      guard silence >= Defaults.lease else { return .alive }
      known[worker] = nil
      return judge(worker, leaseUntil, uptime, interval)
    }
    return silence >= interval ? .lost : .inDoubt(rest: interval - silence)
  }
}
