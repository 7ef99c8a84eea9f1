import DurableJobs
import Foundation

/// Limits by definition: running jobs are counted, and a rate is a leaky bucket that each start fills and time empties.
extension Oracle {
  /// So many microseconds had to pass then until no start was to be seen in the bucket any more.
  struct Debt {
    var at: Int64
    var size: Int64
  }

  private var microseconds: Int64 { now.milliseconds * 1000 }

  /// Each start adds so much.
  private func cost(_ rate: JobRate) -> Int64 {
    Int64((Double(rate.period.milliseconds) * 1000 / Double(rate.count)).rounded(.up))
  }

  private func debt(of queue: String) -> Int64 {
    guard let debt = debts[queue] else { return 0 }
    let left = debt.size - (microseconds - debt.at)
    return wrong == .restIsSaved ? left : max(left, 0)
  }

  /// A bucket that is more than full is of a clock that was set back, or of a slower rate, and is full. Some seconds more may
  /// be of a transaction that began before another and comes after it.
  private func fill(of queue: String, _ rate: JobRate) -> Int64 {
    let (debt, depth) = (debt(of: queue), cost(rate) * Int64(rate.burst))
    return debt > depth + 10_000_000 ? depth : debt
  }

  /// How many more may run at once.
  func slots(in queue: String) -> Int {
    guard let most = limits[queue]?.running else { return .max }
    let running = jobs.count { $0.job.queue == queue && state($0) == .running }
    return max((wrong == .limitIsOneMore ? most + 1 : most) - running, 0)
  }

  /// How many may begin now.
  func places(in queue: String) -> Int {
    guard let rate = limits[queue]?.rate else { return slots(in: queue) }
    let room = cost(rate) * Int64(rate.burst) - fill(of: queue, rate)
    return min(slots(in: queue), Int(max(room, 0) / cost(rate)))
  }

  /// Until another may begin, once these have; nil where no time helps.
  func wait(in queue: String, after begun: [JobLog]) -> Duration? {
    guard let rate = limits[queue]?.rate else { return nil }
    let depth = cost(rate) * Int64(rate.burst)
    let full = fill(of: queue, rate) + Int64(begun.count { isCounted($0) }) * cost(rate)
    return .milliseconds(max((full - depth + cost(rate) + 999) / 1000, 0))
  }

  private func isCounted(_ job: JobLog) -> Bool { wrong != .retriesAreFree || job.attempt == 0 }

  /// Who claims from a queue puts its bucket right.
  mutating func putBucketsRight(for request: ClaimRequest) {
    for (queue, free) in request.free where free > 0 {
      guard let rate = limits[queue]?.rate else { continue }
      let fill = fill(of: queue, rate)
      if fill < debt(of: queue) { debts[queue] = Debt(at: microseconds, size: fill) }
    }
  }

  mutating func begin(_ job: JobLog) {
    let queue = job.job.queue
    guard let rate = limits[queue]?.rate, isCounted(job) else { return }
    debts[queue] = Debt(at: microseconds, size: debt(of: queue) + cost(rate))
  }
}
