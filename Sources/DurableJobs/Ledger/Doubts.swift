/// The workers that somebody who recovers has asked for a sign of life.
///
/// A lease that lapsed proves nothing by itself: a clock may have stepped, an app may have held a transaction for long. A
/// worker that lives is told, and has an interval to answer; one that holds nothing has nothing to lose.
package struct Doubts {
  /// A worker that is not who recovers.
  package struct Suspect {
    package let row: WorkerRow
    package let isIdle: Bool
    /// Its process is known to have ended.
    package let isDead: Bool

    package init(row: WorkerRow, isIdle: Bool, isDead: Bool) {
      self.row = row
      self.isIdle = isIdle
      self.isDead = isDead
    }
  }

  package struct Verdict {
    package var losses: [WorkerRow] = []
    /// Rows of workers that are to be asked for a sign of life.
    package var asked: [Int64] = []
    /// Until the next that was asked must have answered.
    package var comeAgain: Duration?
  }

  private struct Doubt {
    let leaseUntil: Int64
    /// By a clock that never steps.
    let since: Duration
    /// It answered, with a lease that lapsed all the same: its clock is not ours.
    var isAnswered = false
  }

  private enum Judgement {
    case alive
    case lost
    case inDoubt(rest: Duration)
  }

  private var known: [Int64: Doubt] = [:]

  package init() {}

  /// They gave a sign of life.
  package mutating func answered(by workers: [Int64]) { for worker in workers { known[worker] = nil } }

  /// Who is lost of these, which are all `workers` but the one who asks.
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
