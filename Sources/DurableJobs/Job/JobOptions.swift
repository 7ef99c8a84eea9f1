import Foundation

/// What goes first: a higher number before a lower one, and first in, first out within one.
public struct JobPriority: RawRepresentable, Hashable, Comparable, Codable, Sendable, ExpressibleByIntegerLiteral {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }
  public init(integerLiteral value: Int) { rawValue = value }

  public static let low: JobPriority = -10
  public static let normal: JobPriority = 0
  public static let high: JobPriority = 10

  public static func < (a: JobPriority, b: JobPriority) -> Bool { a.rawValue < b.rawValue }
}

/// A moment, absolute or from now. What is relative becomes a date by the store's clock, when it is stored.
public enum JobTime: Hashable, Codable, Sendable {
  case now
  case after(Duration)
  /// A date in the past means now.
  case at(Date)

  /// This time, or that long from now if it is sooner.
  func atLeast(_ wait: Duration, from now: Date) -> JobTime {
    let least = JobTime.after(wait)
    return date(at: now) ?? now < least.date(at: now) ?? now ? least : self
  }

  /// The date that this is at `now`, in whole milliseconds; nil if it is not ahead.
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

/// How a job is to be run. What is left out is taken from the payload's options, then from the kind's, then from
/// ``Defaults``; tags add up.
public struct JobOptions: Hashable, Sendable {
  public var priority: JobPriority?
  /// Not before this.
  public var start: JobTime?
  /// Attempts in all, at least 1.
  public var maxAttempts: Int?
  /// An attempt that takes longer is cancelled, and counts as failed.
  public var timeout: Duration?
  /// When the job is given up, if it has not begun, or ended, by then.
  public var deadline: JobDeadline?
  /// A name of your own, by which the job can be found. It need not be unique.
  public var key: String?
  /// The job is stored only if no unfinished one has this key; else that one stands for it.
  public var unique: UniqueKey?
  /// One at a time, in order, with the others of this lane in the whole store.
  public var lane: JobLane?
  public var tags: Set<String>

  public init(
    priority: JobPriority? = nil, start: JobTime? = nil, maxAttempts: Int? = nil, timeout: Duration? = nil,
    deadline: JobDeadline? = nil, key: String? = nil, unique: UniqueKey? = nil, lane: JobLane? = nil,
    tags: Set<String> = []
  ) {
    self.priority = priority
    self.start = start
    self.maxAttempts = maxAttempts
    self.timeout = timeout
    self.deadline = deadline
    self.key = key
    self.unique = unique
    self.lane = lane
    self.tags = tags
  }

  /// These options with `other`'s in their place where it has any.
  public func overridden(by other: JobOptions) -> JobOptions {
    JobOptions(
      priority: other.priority ?? priority, start: other.start ?? start,
      maxAttempts: other.maxAttempts ?? maxAttempts, timeout: other.timeout ?? timeout,
      deadline: other.deadline ?? deadline,
      key: other.key ?? key, unique: other.unique ?? unique, lane: other.lane ?? lane, tags: tags.union(other.tags))
  }
}
