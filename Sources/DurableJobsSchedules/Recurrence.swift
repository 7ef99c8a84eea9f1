import DurableJobs
import Foundation

/// A recurring time: a cron expression in a time zone, or a fixed number of seconds.
public struct Recurrence: Hashable, Sendable {
  enum Rule: Hashable, Sendable {
    case cron(CronExpression, timeZone: String)
    /// Counts from `anchor` in both directions; nil until it is declared.
    case every(seconds: Int, anchor: Date?)
  }

  private(set) var rule: Rule

  /// Follows the local clock of a time zone, given by a name such as "Europe/Berlin" or "UTC". See ``CronExpression``.
  ///
  /// When clocks change, a time with given hours occurs once: at the change if the local time is skipped, and the first
  /// time if it occurs twice. One with `*` for hours follows elapsed time.
  ///
  /// Throws ``CronError``, or `JobError.Code.invalidArgument` for an unknown time zone.
  public static func cron(_ text: String, timeZone: String, withSeconds: Bool = false) throws -> Recurrence {
    let expression = try CronExpression(text, withSeconds: withSeconds)
    guard TimeZone(identifier: timeZone) != nil else {
      throw JobError(.invalidArgument, "there is no time zone '\(timeZone)'\(TimeZone.meant(by: timeZone))")
    }
    return Recurrence(rule: .cron(expression, timeZone: timeZone))
  }

  /// A fixed interval that does not depend on local clocks, counted from `anchor` in both directions. Without an
  /// anchor, it is counted from when it is first declared.
  ///
  /// Throws `JobError.Code.invalidArgument` unless the interval is a whole number of seconds, at least one.
  public static func every(_ interval: Duration, from anchor: Date? = nil) throws -> Recurrence {
    let (seconds, rest) = interval.components
    guard seconds >= 1, rest == 0, seconds <= 3_200_000_000 else {
      throw JobError(.invalidArgument, "an interval of \(interval): it must be whole seconds, from 1 s to 100 years")
    }
    return Recurrence(rule: .every(seconds: Int(seconds), anchor: anchor.map(\.wholeSecond)))
  }

  /// The time zone it follows; nil for an interval.
  public var timeZone: TimeZone? {
    if case .cron(_, let zone) = rule { TimeZone(identifier: zone) } else { nil }
  }

  /// The fixed interval; nil if it follows a local clock.
  public var interval: Duration? {
    if case .every(let seconds, _) = rule { .seconds(seconds) } else { nil }
  }

  /// The first time after `date`; nil if there is none within about forty years.
  public func next(after date: Date) -> Date? {
    let instant = Int(date.wholeSecond.timeIntervalSince1970)
    switch rule {
    case .cron(let expression, let zone):
      guard let zone = TimeZone(identifier: zone) else { return nil }
      return expression.next(after: instant, in: ZoneTime(zone: zone)).map { Date(timeIntervalSince1970: Double($0)) }
    case .every(let seconds, let anchor):
      let anchor = Int((anchor ?? date.wholeSecond).timeIntervalSince1970)
      let passed = (instant - anchor).quotientAndRemainder(flooringBy: seconds).quotient
      return Date(timeIntervalSince1970: Double(anchor + (passed + 1) * seconds))
    }
  }

  /// The next `count` times after `date`, or as many as there are.
  public func next(_ count: Int, after date: Date) -> [Date] {
    Array(sequence(first: date, next: next(after:)).dropFirst().prefix(max(count, 0)))
  }

  /// The last time that is not after `date`; nil if there is none after `earlier`.
  func last(notAfter date: Date, butAfter earlier: Date) -> Date? {
    guard var last = next(after: earlier), last <= date else { return nil }
    // There is none between `end` and `date`.
    var end = date.wholeSecond
    while last < end {
      let middle = last.addingTimeInterval((end.timeIntervalSince(last) / 2).rounded(.down))
      if let later = next(after: middle), later <= end { last = later } else { end = middle }
    }
    return last
  }

  /// Anchored at its declaration, if it has no anchor.
  func anchored(at date: Date) -> Recurrence {
    guard case .every(let seconds, nil) = rule else { return self }
    return Recurrence(rule: .every(seconds: seconds, anchor: date.wholeSecond))
  }

  /// Takes the anchor of `stored`, if the two are otherwise the same.
  func anchored(as stored: Recurrence) -> Recurrence {
    guard case (.every(let mine, nil), .every(let theirs, _)) = (rule, stored.rule), mine == theirs else { return self }
    return stored
  }
}

extension Recurrence: Codable {
  private enum Key: String, CodingKey { case cron, timeZone, seconds, every, from }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    switch rule {
    case .cron(let expression, let timeZone):
      try container.encode(expression.description, forKey: .cron)
      try container.encode(timeZone, forKey: .timeZone)
      if expression.hasSeconds { try container.encode(true, forKey: .seconds) }
    case .every(let seconds, let anchor):
      try container.encode(seconds, forKey: .every)
      try container.encodeIfPresent(anchor?.tickText, forKey: .from)
    }
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    guard let text = try container.decodeIfPresent(String.self, forKey: .cron) else {
      let anchor = try container.decodeIfPresent(String.self, forKey: .from).map { try Date(tickText: $0) }
      self = try .every(.seconds(container.decode(Int.self, forKey: .every)), from: anchor)
      return
    }
    self = try .cron(
      text, timeZone: container.decode(String.self, forKey: .timeZone),
      withSeconds: container.decodeIfPresent(Bool.self, forKey: .seconds) ?? false)
  }
}

extension TimeZone {
  /// A suggestion of what was probably meant: the same letters, or a place of that name.
  fileprivate static func meant(by name: String) -> String {
    let place = name.lowercased().replacing(" ", with: "_")
    let near = knownTimeZoneIdentifiers.first {
      $0.lowercased() == place || $0.lowercased().split(separator: "/").last.map(String.init) == place
    }
    return near.map { "; did you mean '\($0)'?" } ?? "; it is named as in 'Europe/Berlin' or 'UTC'"
  }
}

extension Date {
  var wholeSecond: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)) }

  /// For example "2027-03-28T02:00:00Z": ticks are whole seconds.
  var tickText: String { formatted(.iso8601) }

  init(tickText: String) throws { self = try Date(tickText, strategy: .iso8601) }
}
