import DurableJobs
import Foundation

/// When something is due, again and again: by a cron expression in a time zone, or each so many seconds.
public struct Recurrence: Hashable, Sendable {
  enum Rule: Hashable, Sendable {
    case cron(CronExpression, timeZone: String)
    /// From `anchor` on, and before it; nil if that is to be when it is declared.
    case every(seconds: Int, anchor: Date?)
  }

  private(set) var rule: Rule

  /// By the clocks on the wall of a time zone, named as in "Europe/Berlin" or "UTC". See ``CronExpression``.
  ///
  /// Where clocks are changed: what is due at given hours is due once, at the change if its time is passed over, and the first
  /// time if it comes twice. What has `*` for hours goes on as time passes.
  ///
  /// Throws ``CronError``, or `JobError.Code.invalidArgument` for a time zone that is not known here.
  public static func cron(_ text: String, timeZone: String, withSeconds: Bool = false) throws -> Recurrence {
    let expression = try CronExpression(text, withSeconds: withSeconds)
    guard TimeZone(identifier: timeZone) != nil else {
      throw JobError(.invalidArgument, "there is no time zone '\(timeZone)'\(TimeZone.meant(by: timeZone))")
    }
    return Recurrence(rule: .cron(expression, timeZone: timeZone))
  }

  /// Each so many seconds, whatever clocks show: at `anchor`, and as often as that is from there. Without one it is counted
  /// from when it is first declared.
  ///
  /// Throws `JobError.Code.invalidArgument` for less than a second, or a part of one.
  public static func every(_ interval: Duration, from anchor: Date? = nil) throws -> Recurrence {
    let (seconds, rest) = interval.components
    guard seconds >= 1, rest == 0, seconds <= 3_200_000_000 else {
      throw JobError(.invalidArgument, "an interval of \(interval): it must be whole seconds, from 1 s to 100 years")
    }
    return Recurrence(rule: .every(seconds: Int(seconds), anchor: anchor.map(\.wholeSecond)))
  }

  /// The time zone that it goes by; nil for an interval.
  public var timeZone: TimeZone? {
    if case .cron(_, let zone) = rule { TimeZone(identifier: zone) } else { nil }
  }

  /// What passes from one time to the next; nil for one that goes by a clock on the wall.
  public var interval: Duration? {
    if case .every(let seconds, _) = rule { .seconds(seconds) } else { nil }
  }

  /// The first moment after `date`; nil if there is none in some forty years.
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

  /// The next moments after `date`, as many as there are.
  public func next(_ count: Int, after date: Date) -> [Date] {
    Array(sequence(first: date, next: next(after:)).prefix(count + 1).dropFirst())
  }

  /// The last moment that is not after `date`, if there is one after `earlier`.
  func last(notAfter date: Date, butAfter earlier: Date) -> Date? {
    guard var last = next(after: earlier), last <= date else { return nil }
    // There is none between here and `date`.
    var end = date.wholeSecond
    while last < end {
      let middle = last.addingTimeInterval((end.timeIntervalSince(last) / 2).rounded(.down))
      if let later = next(after: middle), later <= end { last = later } else { end = middle }
    }
    return last
  }

  /// With the moment of its declaration, where it has no other to count from.
  func anchored(at date: Date) -> Recurrence {
    guard case .every(let seconds, nil) = rule else { return self }
    return Recurrence(rule: .every(seconds: seconds, anchor: date.wholeSecond))
  }

  /// As `stored` is, if that says the same and only knows what it is counted from.
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
  /// A hint at the one that was probably meant: the same letters, or a place of that name.
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

  /// As in "2027-03-28T02:00:00Z": ticks are whole seconds.
  var tickText: String { formatted(.iso8601) }

  init(tickText: String) throws { self = try Date(tickText, strategy: .iso8601) }
}
