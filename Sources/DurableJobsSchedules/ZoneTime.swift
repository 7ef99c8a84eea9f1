import Foundation

/// The local clock of a time zone, in seconds as if it showed UTC.
struct ZoneTime {
  let zone: TimeZone

  func offset(at instant: Int) -> Int { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(instant))) }

  /// When the clock first shows `wall`, or the moment at which it skips that time.
  func first(_ wall: Int) -> Int {
    let (before, after) = (offset(at: wall - 86_400), offset(at: wall + 86_400))
    for offset in [max(before, after), min(before, after)] where self.offset(at: wall - offset) == offset {
      return wall - offset
    }
    return change(from: wall - max(before, after), to: wall - min(before, after))
  }

  /// The first second whose offset differs from that at `from`, given that the one at `to` does.
  func change(from: Int, to: Int) -> Int {
    let old = offset(at: from)
    var (low, high) = (from, to)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if offset(at: middle) == old { low = middle } else { high = middle }
    }
    return high
  }
}

extension CronExpression {
  /// The first moment after `instant`, both in seconds since 1970; nil if there is none within about forty years.
  ///
  /// Handles clock changes as cron(8) does. A time with given hours occurs once: right after the change if the local
  /// time is skipped, and the first time if it occurs twice. One with `*` for hours follows elapsed time.
  func next(after instant: Int, in zone: ZoneTime) -> Int? {
    isByRealTime ? nextByRealTime(after: instant, zone) : nextOnce(after: instant, zone)
  }

  private func nextOnce(after instant: Int, _ zone: ZoneTime) -> Int? {
    var wall = instant + zone.offset(at: instant)
    while let next = nextOnTheWall(after: wall) {
      let first = zone.first(next)
      if first > instant { return first }
      wall = next
    }
    return nil
  }

  /// Goes through periods with the same offset.
  private func nextByRealTime(after instant: Int, _ zone: ZoneTime) -> Int? {
    let twoDays = 172_800
    var start = instant + 1
    while true {
      let offset = zone.offset(at: start)
      guard let wall = nextOnTheWall(after: start + offset - 1) else { return nil }
      var end = start + twoDays
      let changes = zone.offset(at: end) != offset
      if changes { end = zone.change(from: start, to: end) }
      if wall - offset < end { return wall - offset }
      // No clock is ever changed by more than a day and two hours, so nothing before this can match.
      start = changes ? end : max(end, wall - offset - 108_000)
    }
  }
}
