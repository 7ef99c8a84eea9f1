/// What a limited queue has room for, as seen by one transaction.
///
/// Its rate follows the generic cell rate algorithm, in the form of a virtual schedule: ITU-T I.371, annex A. Only one
/// time is stored for it: when the bucket will be full again.
package struct QueueLimit: Sendable {
  package let queue: String
  package let limits: JobLimits
  /// Its running jobs; above the limit they need not be counted.
  package private(set) var running: Int
  /// In microseconds since 1970: the "theoretical arrival time".
  package private(set) var tat: Int64
  /// It differs from the stored one.
  private(set) var isNews = false
  private let now: Int64
  /// Nobody else claims from the queue until this transaction ends. If that is not so, it has no room.
  private let isOwn: Bool

  /// `now` is in milliseconds since 1970.
  package init(queue: String, limits: JobLimits, running: Int, tat: Int64, at now: Int64, isOwn: Bool = true) {
    (self.queue, self.limits, self.running, self.tat) = (queue, limits, running, max(tat, 0))
    (self.now, self.isOwn) = (now * 1000, isOwn)
    // A time beyond any burst is from a clock that was set back since, or a slower rate: the bucket is empty.
    guard let depth = limits.rate?.depth, tat > self.now + depth + Self.slack else { return }
    self.tat = self.now + depth
    isNews = isOwn
  }

  /// How many microseconds apart transactions that wait for each other may have begun.
  package static let slack: Int64 = 10_000_000

  /// Whether the limit of running jobs lets one more begin.
  var hasSlot: Bool { limits.running.map { running < $0 } ?? true }

  /// How many jobs may begin now.
  var places: Int { isOwn ? room : 0 }
  /// There is room, but somebody else has the queue.
  var isTaken: Bool { !isOwn && room > 0 }

  private var room: Int {
    let slots = limits.running.map { max($0 - running, 0) } ?? .max
    guard let rate = limits.rate else { return slots }
    return min(slots, Int(max(now + rate.depth - max(tat, now), 0) / rate.interval))
  }

  /// `start` is in milliseconds; nil for now. A schedule's job takes nothing of the rate, which is for the job of its
  /// tick: with one tick in the time of one start, its own jobs would take all.
  mutating func take(_ count: Int, ofSchedules own: Int = 0, from start: Int64? = nil) {
    running += count
    guard let rate = limits.rate, count > own else { return }
    tat = max(tat, start.map { $0 * 1000 } ?? now) + Int64(count - own) * rate.interval
    isNews = true
  }

  /// When the rate lets the next one begin, in milliseconds since 1970; nil without a rate.
  package var next: Int64? { limits.rate.map { (max(tat - $0.depth + $0.interval, now) + 999) / 1000 } }
}
