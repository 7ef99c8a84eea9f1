import Foundation

/// The last time that a process saw, by which it knows how far the clock has been set back since.
package struct SeenTime: Sendable {
  /// In milliseconds, a year: longer waits, and times that are farther from each other, are those of damaged rows.
  package static let mostApart: Int64 = 31_536_000_000
  /// Whether the time that a store keeps for those who open it next is to be noted anew: once a minute.
  package static func isOutdated(_ noted: Int64, at now: Int64) -> Bool { !(0..<60_000).contains(now &- noted) }
  private var latest: Int64
  /// Unknown for a time that was read from a file.
  private var uptime: Duration?
  /// How often the clock was seen set back: what was computed from a later time no longer holds.
  package private(set) var setBacks = 0

  package init(latest: Int64) { self.latest = (0...Date.latest).contains(latest) ? latest : 0 }

  /// How many milliseconds are missing at `now`; 0 if it is no more than a usual clock correction, or than two clocks drift
  /// apart: none is slewed by more than 500 ppm, and few that are not go wrong by as much.
  package func setBack(at now: Int64, _ uptime: Duration) -> Int64 {
    let passed = self.uptime.map { max(uptime - $0, .zero).milliseconds } ?? 0
    let missing = latest + passed - now
    return missing > 1000 + passed / 2000 ? missing : 0
  }

  /// A time that was taken before the newest one is ignored: the clock may have been set back in between.
  package mutating func saw(_ now: Int64, _ uptime: Duration) {
    if let newest = self.uptime, uptime < newest { return }
    if setBack(at: now, uptime) > 0 { setBacks += 1 }
    (latest, self.uptime) = (now, uptime)
  }
}
