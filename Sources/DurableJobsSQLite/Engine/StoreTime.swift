import DurableJobs

/// What the store takes as now, and how it learns that the clock was set back.
final class StoreTime: Sendable {
  let clock: any JobClock
  /// The latest time that was seen.
  private let latest: Lock<Int64>

  init(clock: any JobClock, latest: Int64) {
    self.clock = clock
    self.latest = Lock(latest)
  }

  /// Milliseconds since 1970.
  var now: Int64 { clock.now.milliseconds }

  /// The clock was set back, by more than it is corrected in passing, and waits have not been put right yet.
  func isSetBack(at now: Int64) -> Bool { latest.withLock { $0 - now > 1000 } }

  /// A transaction at `now` was committed, with waits put right if they had to be.
  func saw(_ now: Int64) {
    latest.withLock { latest in
      latest = latest - now > 1000 ? now : max(latest, now)
    }
  }
}
