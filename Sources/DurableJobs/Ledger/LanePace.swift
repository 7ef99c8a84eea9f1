/// How often an attempt may begin in a lane, and how much of that is used up.
///
/// Only one job of such a lane has a seat, so the next begins after that one has ended: each start is counted then,
/// from its own time, and the next job is given its time. A claim has nothing to count.
package struct LanePace: Codable, Equatable, Sendable {
  package let rate: JobRate
  /// ``QueueLimit/tat``.
  package private(set) var tat: Int64

  package init(_ rate: JobRate, tat: Int64 = 0) { (self.rate, self.tat) = (rate, tat) }

  /// As it is stored: values that no store wrote are not a rate.
  package init?(count: Int64?, period: Int64?, burst: Int64?, tat: Int64) {
    guard let rate = JobLimits(running: nil, count: count, period: period, burst: burst)?.rate else { return nil }
    self.init(rate, tat: tat)
  }

  /// Times are in milliseconds since 1970.
  package func limit(of lane: String, at now: Int64) -> QueueLimit {
    QueueLimit(queue: lane, limits: JobLimits(rate: rate), running: 0, tat: tat, at: now)
  }

  /// Counts an attempt that has ended and began at `start`.
  mutating func count(from start: Int64, at now: Int64) {
    var limit = limit(of: "", at: now)
    limit.take(1, from: max(min(start, now), 0))
    tat = limit.tat
  }

  /// The next attempt begins when it was going to, or sooner if the new rate allows that.
  func replaced(by new: JobRate, at now: Int64) -> LanePace {
    guard tat > now * 1000, let next = limit(of: "", at: now).next else { return LanePace(new, tat: tat) }
    return LanePace(new, tat: min(next * 1000 - new.interval, now * 1000) + new.depth)
  }

  /// The clock was set back by this many milliseconds.
  package mutating func rebase(by milliseconds: Int64) { tat -= milliseconds * 1000 }
}
