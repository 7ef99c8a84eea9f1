import DurableJobs

/// What the store takes as now, and how it learns that the clock was set back.
final class StoreTime: Sendable {
  let clock: any JobClock
  private let seen: Lock<Seen>

  private struct Seen {
    var latest: Int64
    var setBacks = 0
  }

  init(clock: any JobClock, latest: Int64) {
    self.clock = clock
    seen = Lock(Seen(latest: latest))
  }

  /// Milliseconds since 1970.
  var now: Int64 { clock.now.milliseconds }

  /// The clock was set back, by more than it is corrected in passing, and waits have not been put right yet.
  func isSetBack(at now: Int64) -> Bool { seen.withLock { $0.latest - now > 1000 } }

  /// How many times the clock was seen to be set back: what was reckoned from a later time holds no more.
  var setBacks: Int { seen.withLock(\.setBacks) }

  /// Somebody looked at `now`, or committed a transaction that put waits right if they had to be.
  func saw(_ now: Int64) {
    seen.withLock { seen in
      let isSetBack = seen.latest - now > 1000
      if isSetBack { seen.setBacks += 1 }
      seen.latest = isSetBack ? now : max(seen.latest, now)
    }
  }
}
