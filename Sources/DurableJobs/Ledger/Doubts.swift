/// The workers that a recovering process has asked for a sign of life.
///
/// An expired lease proves nothing by itself: a clock may have stepped, an app may have held a transaction for long. A
/// worker that lives is told and has time to answer, or renews untold; one that holds nothing has nothing to lose.
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

    fileprivate var isCertain: Bool { !row.stands || isDead || isIdle }

    /// Whether it is asked for a sign of life, which it has to store.
    package func isInDoubt(at now: Int64) -> Bool { !isCertain && !row.isAlive(at: now) }
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
    /// When it was asked, by a monotonic clock; nil if it must be asked anew.
    var since: Duration?
    /// Since when it shows that lease.
    let first: Duration
    /// It answered, but its lease has expired all the same: its clock differs from ours.
    var isAnswered = false
    var isUnasked = false
  }

  private var known: [Int64: Doubt] = [:]

  package init() {}

  /// These workers gave a sign of life, or could give none, since nothing could be stored.
  package mutating func answered(by workers: [Int64]) { for worker in workers { known[worker] = nil } }

  /// They had no time to answer, which is so for no longer than a lease.
  fileprivate mutating func askAnew(_ workers: [Int64], at uptime: Duration, _ interval: Duration) {
    for worker in workers where known[worker].map({ uptime - $0.first < interval + Defaults.lease }) ?? false {
      known[worker]?.since = nil
    }
  }

  /// It was not told of the doubt.
  package mutating func couldNotAsk(_ worker: Int64) { known[worker]?.isUnasked = true }

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
      let isNew = known[id]?.since == nil
      let lease = suspect.row.leaseUntil
      guard let rest = suspect.isCertain ? .zero : rest(for: id, lease, uptime, interval) else { continue }
      if rest <= .zero {
        verdict.losses.append(suspect.row)
      } else {
        verdict.comeAgain = min(verdict.comeAgain ?? rest, rest)
        if isNew { verdict.asked.append(id) }
      }
    }
    return verdict
  }

  /// How long it still has to answer; not at all once it is lost, and nil if it has answered.
  private mutating func rest(
    for worker: Int64, _ leaseUntil: Int64, _ uptime: Duration, _ interval: Duration
  ) -> Duration? {
    if let doubt = known[worker], doubt.leaseUntil != leaseUntil {
      known[worker] = Doubt(leaseUntil: leaseUntil, since: uptime, first: uptime, isAnswered: true)
      return nil
    }
    guard let doubt = known[worker], let since = doubt.since else {
      known[worker] = Doubt(leaseUntil: leaseUntil, since: uptime, first: known[worker]?.first ?? uptime)
      return interval
    }
    let silence = uptime - since
    if doubt.isAnswered {
      guard silence >= Defaults.lease else { return nil }
      known[worker] = nil
      return rest(for: worker, leaseUntil, uptime, interval)
    }
    return interval + (doubt.isUnasked ? Defaults.renewalInterval : .zero) - silence
  }
}

extension Lock<Doubts> {
  /// Has a store `write` something before it judges these, which are in doubt. While that can't be done they can't answer
  /// either: they are asked anew, as they are where it takes long, but then only for a lease.
  package func check(
    _ workers: [Int64], _ clock: any JobClock, _ interval: Duration, writing write: () async throws -> Void
  ) async throws {
    guard !workers.isEmpty else { return }
    let begun = clock.uptime
    do { try await write() } catch {
      withLock { $0.answered(by: workers) }
      throw error
    }
    let isSlow = clock.uptime - begun >= interval / 3
    if isSlow { withLock { $0.askAnew(workers, at: begun, interval) } }
  }
}
