#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  /// A length of time as one types it: `90`, `90s`, `5m`, `1h30m`, `1d`.
  struct DurationArgument: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
      let units: [String: Double] = ["ms": 0.001, "": 1, "s": 1, "m": 60, "h": 3600, "d": 86400]
      var rest = argument[...]
      var seconds = 0.0
      repeat {
        let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        rest = rest.dropFirst(number.count)
        let unit = rest.prefix { $0.isLetter }
        rest = rest.dropFirst(unit.count)
        guard let value = Double(number), let factor = units[String(unit)] else { return nil }
        seconds += value * factor
      } while !rest.isEmpty
      // A hundred years: more is a slip of the finger.
      guard seconds <= 100 * 366 * 86400 else { return nil }
      duration = .milliseconds(Int64((seconds * 1000).rounded()))
    }

    static func parse(_ text: String) throws -> DurationArgument {
      guard let value = DurationArgument(argument: text) else {
        throw ValidationError("'\(text)' is no length of time. Write seconds, or as in 90s, 5m, 1h30m, 2d")
      }
      return value
    }
  }

  /// When a job starts, of the options --delay and --at.
  enum StartArgument {
    static func parse(delay: String?, at: String?) throws -> JobTime? {
      if delay != nil, at != nil { throw ValidationError("--delay and --at exclude each other") }
      if let delay { return .after(try DurationArgument.parse(delay).duration) }
      return try at.map { .at(try moment($0)) }
    }

    /// Throws for what is past, as `at` does: a job that was to run at another time might do harm now. The minute that has
    /// just passed was still to come when it was typed.
    private static func moment(_ text: String) throws -> Date {
      let date = try DateArgument.parse(text).date
      let age = Duration.seconds(Date().timeIntervalSince(date))
      guard age < .seconds(60) else {
        throw ValidationError("--at \(text) was \(age.forPeople) ago; for at once, leave it out, or write --delay 0")
      }
      return date
    }
  }

  /// A moment, or how long it is until then.
  enum DeadlineArgument {
    /// Throws for what is past: the job would be given up at once.
    static func parse(_ text: String, _ option: String) throws -> JobTime {
      if let wait = DurationArgument(argument: text) {
        guard wait.duration > .zero else { throw ValidationError("\(option) is \(text); it must be more than 0") }
        return .after(wait.duration)
      }
      guard let date = try DateArgument.moment(text) else {
        throw ValidationError(
          "'\(text)' is no moment and no length of time. Write 2026-11-21T18:30, 18:30, or as in 90s, 5m, 1h30m, 2d")
      }
      guard date > Date() else {
        throw ValidationError("\(option) \(text) has passed already, so the job would be given up at once")
      }
      return .at(date)
    }
  }

  /// A moment as one types it: ISO 8601, in local time unless it says otherwise, or the next `HH:MM`.
  struct DateArgument {
    let date: Date

    static func parse(_ text: String) throws -> DateArgument {
      guard let date = try moment(text) else {
        throw ValidationError(
          "'\(text)' is no moment. Write 2026-11-21T18:30, with Z or an offset if it is no local time, or 18:30")
      }
      return DateArgument(date: date)
    }

    /// The moment that is meant here and now; nil if the text is none.
    static func moment(_ text: String) throws -> Date? {
      guard let date = date(text, now: Date(), calendar: .current) else { return nil }
      if !text.contains(/T.*(Z|[+-][0-9]{2}:?[0-9]{2})$/) { try checkZone(at: date) }
      return date
    }

    /// Throws if a local time would be another one than for the C library: Foundation takes values of TZ such as GMT-14, or
    /// with rules for summer time, for others, without a word.
    static func checkZone(at date: Date) throws {
      var (seconds, parts) = (time_t(date.timeIntervalSince1970), tm())
      localtime_r(&seconds, &parts)
      guard parts.tm_gmtoff != TimeZone.current.secondsFromGMT(for: date) else { return }
      let zone = ProcessInfo.processInfo.environment["TZ"] ?? TimeZone.current.identifier
      throw ValidationError(
        "this program can't tell what time it is in the zone '\(zone)', which TZ names. Set it to a name such as "
          + "Europe/Berlin, or write the time with its offset, as in 2026-11-21T18:30+02:00")
    }

    static func date(_ text: String, now: Date, calendar: Calendar) -> Date? {
      let full =
        /([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,3})[0-9]*)?)?\s*(Z|[+-][0-9]{2}:?[0-9]{2})?)?/
      if let match = text.wholeMatch(of: full)?.output {
        var parts = DateComponents(year: Int(match.1), month: Int(match.2), day: Int(match.3))
        parts.hour = match.4.flatMap { Int($0) } ?? 0
        parts.minute = match.5.flatMap { Int($0) } ?? 0
        parts.second = match.6.flatMap { Int($0) } ?? 0
        var calendar = Calendar(identifier: .gregorian).inZone(of: calendar)
        if let zone = match.8 {
          guard let offset = offset(zone), let zone = TimeZone(secondsFromGMT: offset) else { return nil }
          calendar.timeZone = zone
        }
        guard parts.isInRange, parts.isValidDate(in: calendar) else { return nil }
        let milliseconds = match.7.flatMap { Double("0.\($0)") } ?? 0
        return calendar.date(from: parts)?.addingTimeInterval(milliseconds)
      }
      if let match = text.wholeMatch(of: /([0-9]{1,2}):([0-9]{2})/)?.output,
        let hour = Int(match.1), let minute = Int(match.2), hour < 24, minute < 60
      {
        return calendar.nextDate(
          after: now, matching: DateComponents(hour: hour, minute: minute, second: 0), matchingPolicy: .nextTime)
      }
      return nil
    }

    private static func offset(_ zone: Substring) -> Int? {
      if zone == "Z" { return 0 }
      let digits = zone.dropFirst().filter(\.isNumber)
      guard let hours = Int(digits.prefix(2)), let minutes = Int(digits.suffix(2)), hours < 15, minutes < 60 else {
        return nil
      }
      return (zone.first == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
    }
  }

  extension Calendar {
    fileprivate func inZone(of other: Calendar) -> Calendar {
      var copy = self
      copy.timeZone = other.timeZone
      return copy
    }
  }

  extension DateComponents {
    fileprivate var isInRange: Bool {
      (1...12).contains(month ?? 0) && (1...31).contains(day ?? 0) && (0...23).contains(hour ?? 0)
        && (0...59).contains(minute ?? 0) && (0...59).contains(second ?? 0)
    }
  }
#endif
