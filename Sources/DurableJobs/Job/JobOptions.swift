import Foundation

/// A job's priority: higher numbers run first, and equal ones run first in, first out.
public struct JobPriority: RawRepresentable, Hashable, Comparable, Codable, Sendable, ExpressibleByIntegerLiteral {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }
  public init(integerLiteral value: Int) { rawValue = value }

  public static let low: JobPriority = -10
  public static let normal: JobPriority = 0
  public static let high: JobPriority = 10

  public static func < (a: JobPriority, b: JobPriority) -> Bool { a.rawValue < b.rawValue }
}

/// A time, absolute or relative. A relative time becomes a date by the store's clock when it is stored.
public enum JobTime: Hashable, Codable, Sendable {
  case now
  case after(Duration)
  /// At this date; a date in the past means now.
  case at(Date)

  /// This time, or `wait` from now if that is later.
  func atLeast(_ wait: Duration, from now: Date) -> JobTime {
    let least = JobTime.after(wait)
    return date(at: now) ?? now < least.date(at: now) ?? now ? least : self
  }

  /// The date that this means at `now`, in whole milliseconds; nil if it is not in the future.
  package func date(at now: Date) -> Date? {
    let date: Int64
    switch self {
    case .now: return nil
    case .after(let delay):
      let (sum, overflow) = now.milliseconds.addingReportingOverflow(delay.milliseconds)
      date = overflow ? (delay < .zero ? .min : .max) : sum
    case .at(let moment): date = moment.milliseconds
    }
    return date > now.milliseconds ? Date(milliseconds: min(date, Date.latest)) : nil
  }
}

/// How to run a job. Options that are nil are taken from the payload's options, then from the kind's, then from
/// ``Defaults``; tags and required conditions add up.
public struct JobOptions: Hashable, Sendable {
  public var priority: JobPriority?
  /// The earliest time at which the job may start.
  public var start: JobTime?
  /// The most attempts that the job gets, at least 1.
  public var maxAttempts: Int?
  /// The longest that an attempt may take. One that takes longer is cancelled and counts as failed.
  public var timeout: Duration?
  /// When to give up on the job if it has not started, or ended, by then.
  public var deadline: JobDeadline?
  /// A name of your own for finding the job. It need not be unique.
  public var key: String?
  /// A key that only one unfinished job can hold. By default, if another job holds it, this one is not stored.
  public var unique: UniqueKey?
  /// The lane in which the job runs: one at a time, in order, across the whole store.
  public var lane: JobLane?
  /// Conditions that must all hold where the job runs. Those of the kind, the payload and the call add up.
  public var requires: Set<JobConstraint>
  /// What happens when one of them stops holding while the job runs. By default the job continues.
  public var whenLost: JobConstraint.Loss?
  public var tags: Set<String>
}

extension JobOptions {
  // Assigned one by one, so many properties would be copied once more.
  public init(
    priority: JobPriority? = nil, start: JobTime? = nil, maxAttempts: Int? = nil, timeout: Duration? = nil,
    deadline: JobDeadline? = nil, key: String? = nil, unique: UniqueKey? = nil, lane: JobLane? = nil,
    tags: Set<String> = [], requires: Set<JobConstraint> = [], whenLost: JobConstraint.Loss? = nil
  ) {
    self.init(
      priority: priority, start: start, maxAttempts: maxAttempts, timeout: timeout, deadline: deadline, key: key,
      unique: unique, lane: lane, requires: requires, whenLost: whenLost, tags: tags)
  }

  /// These options, with those that `other` sets taking precedence.
  public func overridden(by other: consuming JobOptions) -> JobOptions {
    guard other.setsAny else { return self }
    guard setsAny else { return other }
    return JobOptions(
      priority: other.priority ?? priority, start: other.start ?? start,
      maxAttempts: other.maxAttempts ?? maxAttempts, timeout: other.timeout ?? timeout,
      deadline: other.deadline ?? deadline, key: other.key ?? key, unique: other.unique ?? unique,
      lane: other.lane ?? lane, tags: tags.union(other.tags), requires: requires.union(other.requires),
      whenLost: other.whenLost ?? whenLost)
  }

  var setsAny: Bool {
    priority != nil || start != nil || maxAttempts != nil || timeout != nil || deadline != nil || key != nil
      || unique != nil || lane != nil || whenLost != nil || !tags.isEmpty || !requires.isEmpty
  }
}
