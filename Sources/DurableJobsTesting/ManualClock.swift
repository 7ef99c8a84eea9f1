import DurableJobs
import Foundation

/// A clock that stands still until a test advances it. No real time passes on it.
public final class ManualClock: JobClock {
  fileprivate struct State {
    /// Since 1970.
    var wall: Duration
    var uptime = Duration.zero
    var asleep = Duration.zero
    var timers: [Timer] = []  // the earliest first; of two at one moment, the one that was scheduled first
    var lastKey = 0
    var waiters: [Waiter] = []
  }

  fileprivate struct Timer {
    let key: Int
    let due: Duration
    let action: @Sendable () -> Void
  }

  fileprivate struct Waiter {
    let key: Int
    let limit: Duration?
    let continuation: CheckedContinuation<Void, Never>
  }

  private let state: Lock<State>

  /// A clock that stands at `now`, by default a moment in 2027.
  public init(now: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
    state = Lock(State(wall: .milliseconds(Int64(now.timeIntervalSince1970 * 1000))))
  }

  public var now: Date { Date(timeIntervalSince1970: state.withLock(\.wall).seconds) }
  public var uptime: Duration { state.withLock(\.uptime) }
  public var continuous: Duration { state.withLock { $0.uptime + $0.asleep } }

  /// The time left until each timer that is set, earliest first.
  public var timers: [Duration] { state.withLock { state in state.timers.map { $0.due - state.uptime } } }

  public func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> any JobTimer {
    let (key, waiters) = state.withLock { state -> (Int, [Waiter]) in
      guard due > state.uptime else { return (0, []) }
      state.lastKey += 1
      let timer = Timer(key: state.lastKey, due: due, action: action)
      let index = state.timers.firstIndex { $0.due > due } ?? state.timers.endIndex
      state.timers.insert(timer, at: index)
      let delay = due - state.uptime
      return (timer.key, state.takeWaiters { $0.limit == nil || delay <= $0.limit! })
    }
    if key == 0 { action() }
    for waiter in waiters { waiter.continuation.resume() }
    return Cancellation { [state] in state.withLock { $0.timers.removeAll { $0.key == key } } }
  }

  /// Lets time pass, for both the calendar and the monotonic clock, and makes the calls that come due on the way, in
  /// order and before it returns. Each call sees the time at which it was due.
  public func advance(by duration: Duration) {
    let end = state.withLock { $0.uptime + duration }
    while let timer = state.withLock({ $0.takeTimer(until: end) }) { timer.action() }
  }

  /// Sets the calendar forward or back, as a person or a time server does. Timers are not affected.
  public func stepWallClock(by duration: Duration) { state.withLock { $0.wall += duration } }

  /// Lets time pass while the machine sleeps: no timer fires, and ``uptime`` stands still.
  public func sleep(for duration: Duration) {
    state.withLock { state in
      state.wall += duration
      state.asleep += duration
    }
  }

  /// Waits until a timer is due within `limit`, or any if there is no limit. Returns at once if there is one.
  public func timerScheduled(within limit: Duration? = nil) async {
    let key = state.withLock { state in
      state.lastKey += 1
      return state.lastKey
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          let isSet = state.timers.contains { limit == nil || $0.due - state.uptime <= limit! }
          if isSet || Task.isCancelled { return true }
          state.waiters.append(Waiter(key: key, limit: limit, continuation: continuation))
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      for waiter in state.withLock({ $0.takeWaiters { $0.key == key } }) { waiter.continuation.resume() }
    }
  }

  private struct Cancellation: JobTimer {
    let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    func cancel() { end() }
  }
}

extension ManualClock.State {
  fileprivate mutating func move(to moment: Duration) {
    guard moment > uptime else { return }
    wall += moment - uptime
    uptime = moment
  }

  /// The next timer that is due by `end`. If there is none, the time becomes `end` in the same step, so that no timer
  /// that is set meanwhile is missed.
  fileprivate mutating func takeTimer(until end: Duration) -> ManualClock.Timer? {
    guard let first = timers.first, first.due <= end else {
      move(to: end)
      return nil
    }
    move(to: first.due)
    return timers.removeFirst()
  }

  fileprivate mutating func takeWaiters(where isMeant: (ManualClock.Waiter) -> Bool) -> [ManualClock.Waiter] {
    let taken = waiters.filter(isMeant)
    waiters.removeAll(where: isMeant)
    return taken
  }
}
