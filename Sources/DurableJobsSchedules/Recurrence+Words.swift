import Foundation

extension Recurrence: CustomStringConvertible {
  /// A phrase such as "at 04:00 from Monday to Friday, Europe/Berlin".
  public var description: String {
    switch rule {
    case .cron(let expression, let zone): "\(expression.words), \(zone)"
    case .every(let seconds, _): "every \(Self.words(seconds))"
    }
  }

  /// The name of the time zone as it was given; nil for an interval.
  package var zoneName: String? {
    if case .cron(_, let zone) = rule { zone } else { nil }
  }

  /// The form used in a shell: `0 4 * * *` or `15m`.
  package var text: String {
    switch rule {
    case .cron(let expression, _): expression.description
    case .every(let seconds, _):
      Self.units.first { seconds % $0.0 == 0 }.map { "\(seconds / $0.0)\($0.2)" } ?? "\(seconds)s"
    }
  }

  private static let units = [(86_400, "day", "d"), (3600, "hour", "h"), (60, "minute", "m"), (1, "second", "s")]

  private static func words(_ seconds: Int) -> String {
    var (rest, words) = (seconds, [String]())
    for (length, name, _) in units where rest >= length {
      let count = rest / length
      words.append(count == 1 && seconds == length ? name : "\(count) \(name)\(count == 1 ? "" : "s")")
      rest %= length
    }
    return words.joined(separator: " ")
  }
}

extension CronExpression {
  /// A phrase such as "every 15 minutes on Saturday and Sunday".
  var words: String {
    let (days, months) = (
      dayWords, self.months.count == 12 ? nil : "in \(Self.list(self.months.numbers.map { Self.months[$0 - 1] }))"
    )
    let isAtTimes = months == nil && Self.step(hours.numbers, in: 24) == nil
    let parts = [timeWords, days ?? (isAtTimes ? "every day" : nil), months] as [String?]
    return parts.compactMap(\.self).joined(separator: " ")
  }

  private var timeWords: String {
    let (seconds, minutes, hours) = (seconds.numbers, minutes.numbers, hours.numbers)
    let isFullMinute = seconds == [0]
    if hours.count * minutes.count * seconds.count <= 4 {
      let times = hours.flatMap { hour in
        minutes.flatMap { minute in seconds.map { Self.clock([hour, minute] + (isFullMinute ? [] : [$0])) } }
      }
      return "at \(Self.list(times))"
    }
    let ofHours = hours.count == 24 ? "" : " of the hour\(hours.count == 1 ? "" : "s") \(Self.list(Self.ranges(hours)))"
    if isFullMinute {
      if let step = Self.step(minutes, in: 60) {
        return step == 1 ? "every minute\(ofHours)" : "every \(step) minutes\(ofHours)"
      }
      if minutes == [0] {
        return Self.step(hours, in: 24).map { $0 == 1 ? "every hour" : "every \($0) hours" }
          ?? "at the full hours \(Self.list(Self.ranges(hours)))"
      }
      return
        "at minute\(minutes.count == 1 ? "" : "s") \(Self.list(Self.ranges(minutes)))\(ofHours.isEmpty ? " of every hour" : ofHours)"
    }
    let ofMinutes =
      minutes.count == 60
      ? ofHours : " of minute\(minutes.count == 1 ? "" : "s") \(Self.list(Self.ranges(minutes)))\(ofHours)"
    if let step = Self.step(seconds, in: 60) {
      return step == 1 ? "every second\(ofMinutes)" : "every \(step) seconds\(ofMinutes)"
    }
    return
      "at second\(seconds.count == 1 ? "" : "s") \(Self.list(Self.ranges(seconds)))\(ofMinutes.isEmpty ? " of every minute" : ofMinutes)"
  }

  /// Nil if any day matches.
  private var dayWords: String? {
    let (hasDays, hasWeekdays) = (days.count < 31, weekdays.count < 7)
    let day = "on day\(days.count == 1 ? "" : "s") \(Self.list(Self.ranges(days.numbers))) of the month"
    switch (hasDays, hasWeekdays) {
    case (false, false): return nil
    case (true, false): return isAnyDay || isAnyWeekday ? day : nil
    case (false, true): return isAnyDay || isAnyWeekday ? weekdayWords : nil
    case (true, true):
      return isAnyDay || isAnyWeekday ? "\(day) if that is \(weekdayNames)" : "\(day), and \(weekdayWords)"
    }
  }

  private var weekdayWords: String { weekdayNames.hasPrefix("from ") ? weekdayNames : "on \(weekdayNames)" }

  private var weekdayNames: String {
    // The week starts with Monday, so that the weekend is one range.
    let numbers = weekdays.numbers.map { $0 == 0 ? 7 : $0 }.sorted()
    let names = numbers.map { Self.weekdays[$0 - 1] }
    if numbers.count >= 3, numbers.last! - numbers[0] == numbers.count - 1 {
      return "from \(names[0]) to \(names.last!)"
    }
    return Self.list(names)
  }

  private static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
  ]
  private static let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

  private static func clock(_ parts: [Int]) -> String {
    parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  /// The step between these numbers if they are all its multiples below `whole`, and it divides `whole`.
  private static func step(_ numbers: [Int], in whole: Int) -> Int? {
    guard numbers.count > 1, numbers[0] == 0, whole % numbers[1] == 0 else { return nil }
    return numbers == Array(stride(from: 0, to: whole, by: numbers[1])) ? numbers[1] : nil
  }

  /// Three or more in a row become a range.
  private static func ranges(_ numbers: [Int]) -> [String] {
    var runs: [ClosedRange<Int>] = []
    for number in numbers {
      if let run = runs.last, run.upperBound == number - 1 {
        runs[runs.count - 1] = run.lowerBound...number
      } else {
        runs.append(number...number)
      }
    }
    return runs.flatMap { $0.count >= 3 ? ["\($0.lowerBound) to \($0.upperBound)"] : $0.map { "\($0)" } }
  }

  private static func list(_ words: [String]) -> String {
    words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " and " + words.last!
  }
}
