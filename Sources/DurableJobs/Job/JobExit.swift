import Foundation

/// Ends an attempt other than by success or failure: `throw .snooze(for: .seconds(60))`.
///
/// Only what the handler finally throws counts: a `catch` around everything also catches its own `throw .snooze`.
public struct JobExit: LocalizedError, Sendable, CustomStringConvertible {
  package enum Way: Sendable {
    case permanent(any Error)
    case retry(JobTime, because: any Error)
    case snooze(JobTime)
    case suspend(because: String)
    case crash
  }

  /// An error that is only words.
  struct Reason: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
  }

  package let way: Way
  /// Whether the wait ends early when a condition that the job requires holds again.
  package var isBackOff = false

  public var errorDescription: String? { description }
  public var description: String {
    switch way {
    case .permanent(let error), .retry(_, let error): error.briefly
    case .snooze: "snoozed"
    case .suspend(let reason): reason
    case .crash: "crashed"
    }
  }
}

extension Error where Self == JobExit {
  /// Fails the job at once, even if attempts are left.
  public static func permanent(_ error: any Error) -> JobExit { JobExit(way: .permanent(error)) }

  /// Fails the job at once, even if attempts are left.
  public static func permanent(_ reason: String) -> JobExit { .permanent(JobExit.Reason(text: reason)) }

  @available(*, unavailable, message: "Say why: .permanent(error)")
  public static var permanent: JobExit { .permanent("") }

  /// Fails the attempt and sets when the next one starts, for instance from a server's `Retry-After`.
  public static func retry(after delay: Duration, because error: any Error) -> JobExit {
    JobExit(way: .retry(.after(delay), because: error))
  }

  @available(*, unavailable, message: "Say when and why: .retry(after: .seconds(30), because: error)")
  public static var retry: JobExit { .retry(after: .zero, because: JobExit.Reason(text: "")) }

  /// Runs the job again later without using an attempt; at least ``Defaults/leastSnooze`` from now.
  public static func snooze(for delay: Duration) -> JobExit { JobExit(way: .snooze(.after(delay))) }

  /// Runs the job again later without using an attempt; at least ``Defaults/leastSnooze`` from now, whatever the date.
  public static func snooze(until date: Date) -> JobExit { JobExit(way: .snooze(.at(date))) }

  @available(*, unavailable, message: "Say how long: .snooze(for: .seconds(30))")
  public static var snooze: JobExit { .snooze(for: .zero) }

  /// Frees the slot and suspends the job until it is resumed, or ended from outside with ``JobHandle/complete(with:)``
  /// or ``JobHandle/fail(_:)``. Uses no attempt.
  public static func suspend(because reason: String) -> JobExit { JobExit(way: .suspend(because: reason)) }

  @available(*, unavailable, message: "Say why: .suspend(because: \"it waits for a log-in\")")
  public static var suspend: JobExit { .suspend(because: "") }

  /// The process that ran the job for the handler died. Counts as a crash and uses no attempt.
  package static var crash: JobExit { JobExit(way: .crash) }
}
