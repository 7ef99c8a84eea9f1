import Foundation

/// A way for a handler to end an attempt other than by success or failure: `throw .snooze(for: .seconds(60))`.
///
/// What a handler finally throws counts: one that catches everything around its own `throw .snooze` has caught it.
public struct JobExit: Error, Sendable {
  package enum Way: Sendable {
    case permanent(any Error)
    case retry(JobTime, because: any Error)
    case snooze(JobTime)
    case suspend(because: String)
    case crash
  }

  package let way: Way
  /// Its wait ends sooner when what the job requires returns.
  package private(set) var isBackOff = false

  package var asBackOff: JobExit {
    var exit = self
    exit.isBackOff = true
    return exit
  }
}

extension Error where Self == JobExit {
  /// Fails the job at once, whatever attempts are left.
  public static func permanent(_ error: any Error) -> JobExit { JobExit(way: .permanent(error)) }

  /// Fails the attempt, and says itself when the next one begins. For a server's `Retry-After`.
  public static func retry(after delay: Duration, because error: any Error) -> JobExit {
    JobExit(way: .retry(.after(delay), because: error))
  }

  /// Later, with no attempt used. At least ``Defaults/leastSnooze`` from now.
  public static func snooze(for delay: Duration) -> JobExit { JobExit(way: .snooze(.after(delay))) }

  /// Later, with no attempt used. At least ``Defaults/leastSnooze`` from now, also if the date is past.
  public static func snooze(until date: Date) -> JobExit { JobExit(way: .snooze(.at(date))) }

  /// Frees the slot and keeps the job until it is resumed, or ended from outside with ``JobHandle/complete(with:)`` or
  /// ``JobHandle/fail(_:)``. No attempt is used.
  public static func suspend(because reason: String) -> JobExit { JobExit(way: .suspend(because: reason)) }

  /// What ran the job for the handler died. Counted as the death of a process; no attempt is used.
  package static var crash: JobExit { JobExit(way: .crash) }
}

extension JobExit: CustomStringConvertible {
  public var description: String {
    switch way {
    case .permanent(let error), .retry(_, let error): error.briefly
    case .snooze: "snoozed"
    case .suspend(let reason): reason
    case .crash: "crashed"
    }
  }
}
