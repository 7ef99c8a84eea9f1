/// The store's current time, and how it learns that the clock was set back.
package final class StoreTime: Sendable {
  private let clock: any JobClock
  private let seen: Lock<SeenTime>

  /// `latest`: a time that some process saw, according to the file.
  package init(clock: any JobClock, latest: Int64) {
    self.clock = clock
    seen = Lock(SeenTime(latest: latest))
  }

  /// Milliseconds since 1970.
  package var now: Int64 { clock.now.milliseconds }

  /// The time by both clocks.
  package var moment: (now: Int64, uptime: Duration) { (now, clock.uptime) }

  /// How many milliseconds the clock was set back, until waits have been adjusted for it.
  package func setBack(at moment: (now: Int64, uptime: Duration)) -> Int64 {
    seen.withLock { $0.setBack(at: moment.now, moment.uptime) }
  }

  package var setBacks: Int { seen.withLock(\.setBacks) }

  /// Someone looked then, or committed a transaction that began then and adjusted waits if needed.
  package func saw(_ moment: (now: Int64, uptime: Duration)) { seen.withLock { $0.saw(moment.now, moment.uptime) } }
}
