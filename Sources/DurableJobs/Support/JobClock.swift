import Foundation

/// The source of time for stores and workers, so that tests can control it.
public protocol JobClock: Sendable {
  /// The calendar time. It may step forwards and back.
  var now: Date { get }
  /// The time since some fixed moment. It never steps.
  var uptime: Duration { get }
  /// Like ``uptime``, but it goes on while the machine sleeps. By default the same.
  var continuous: Duration { get }
  /// Calls `action` once when ``uptime`` reaches `due`, or at once if it has, unless the timer is cancelled first.
  /// `action` must not block.
  func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> any JobTimer
}

extension JobClock {
  public var continuous: Duration { uptime }

  /// Calls `action` once after a delay.
  public func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any JobTimer {
    schedule(at: uptime + max(delay, .zero), action)
  }

  /// Waits for this long, or until the task is cancelled.
  package func wait(for duration: Duration) async {
    let gate = Gate()
    let timer = schedule(after: duration) { gate.open() }
    await gate.pass()
    timer.cancel()
  }
}

/// A pending call of a ``JobClock``.
public protocol JobTimer: Sendable { func cancel() }

/// The machine's clock. Its timers fire on a thread of the library that no job can block.
public struct SystemClock: JobClock {
  public init() {}
  public var now: Date { Date() }
  public var uptime: Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }
  public var continuous: Duration { Self.start.duration(to: .now) }
  private static let start = ContinuousClock.now
  public func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> any JobTimer {
    EngineThread.shared.schedule(at: due, action)
  }
}

extension Duration {
  package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }

  /// Whole milliseconds, rounded up so that a wait is never cut short.
  package var milliseconds: Int64 {
    // Limited to what can be added to a time without overflow. A longer one, once decoded, may not even have components.
    let longest = Duration.seconds(Int64.max / 4000)
    guard self > .zero - longest, self < longest else { return self < .zero ? .min / 4 : .max / 4 }
    let (seconds, attoseconds) = components
    return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
  }
}

extension Date {
  /// The latest time that stores accept, in milliseconds since 1970.
  package static let latest: Int64 = 9_000_000_000_000_000

  /// Milliseconds since 1970, the unit in which stores keep time.
  package var milliseconds: Int64 {
    let value = (timeIntervalSince1970 * 1000).rounded()
    if value.isNaN { return 0 }
    return Int64(min(max(value, -Double(Self.latest)), Double(Self.latest)))
  }

  package init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
