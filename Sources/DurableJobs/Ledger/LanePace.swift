/// How often an attempt begins in a lane at most, and how far that is used up.
///
/// One job of such a lane has a seat, so the next begins after that has ended: each start is counted then, from when it was,
/// and who comes next is told its time. A claim has nothing to count.
package struct LanePace: Codable, Equatable, Sendable {
  package let rate: JobRate
  /// ``QueueLimit/tat``.
  package private(set) var tat: Int64

  package init(_ rate: JobRate, tat: Int64 = 0) { (self.rate, self.tat) = (rate, tat) }

  /// As it is stored: what no store wrote is no rate.
  package init?(count: Int64?, period: Int64?, burst: Int64?, tat: Int64) {
    guard let rate = JobLimits(running: nil, count: count, period: period, burst: burst)?.rate else { return nil }
    self.init(rate, tat: tat)
  }

  /// Times are in milliseconds since 1970.
  package func limit(of lane: String, at now: Int64) -> QueueLimit {
    QueueLimit(queue: lane, limits: JobLimits(rate: rate), running: 0, tat: tat, at: now)
  }

  /// An attempt has ended that began then.
  mutating func count(from start: Int64, at now: Int64) {
    var limit = limit(of: "", at: now)
    limit.take(1, from: min(start, now))
    tat = limit.tat
  }

  /// The next begins when it was to, or sooner if this lets it.
  func replaced(by new: JobRate, at now: Int64) -> LanePace {
    guard tat > now * 1000, let next = limit(of: "", at: now).next else { return LanePace(new, tat: tat) }
    return LanePace(new, tat: min(next * 1000 - new.interval, now * 1000) + new.depth)
  }

  /// The clock was set back by so many milliseconds.
  package mutating func rebase(by milliseconds: Int64) { tat -= milliseconds * 1000 }
}
