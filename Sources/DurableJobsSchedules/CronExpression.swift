/// A recurring time in the fields of crontab(5): minute, hour, day of the month, month, day of the week.
///
/// A field is `*`, or a list of numbers and ranges with optional steps: `0,30`, `9-17`, `*/15`, `8-18/2`. Months and
/// days of the week have names: `JAN`, `MON-FRI`. If neither day field starts with `*`, a day need only match one of
/// them, as in crontab(5); otherwise it must match both. `@hourly`, `@daily` (or `@midnight`), `@weekly`, `@monthly`
/// and `@yearly` (or `@annually`) stand for the first moment of each.
public struct CronExpression: Hashable, Sendable, CustomStringConvertible {
  /// The expression as it was written.
  public let description: String
  /// Whether it starts with a field of seconds.
  public let hasSeconds: Bool
  let seconds: NumberSet
  let minutes: NumberSet
  let hours: NumberSet
  let days: NumberSet
  let months: NumberSet
  /// Sunday is 0.
  let weekdays: NumberSet
  let isAnyDay: Bool
  let isAnyWeekday: Bool
  /// Whether its hours start with `*`, so that it follows elapsed time rather than the local clock.
  let isByRealTime: Bool

  /// Throws ``CronError`` if `text` is not valid, or has no matching date, such as 30 February. With `withSeconds`,
  /// there is a sixth field in front for seconds.
  public init(_ text: String, withSeconds: Bool = false) throws {
    var reader = CronReader(text)
    let fields = try reader.fields(withSeconds: withSeconds)
    func set(_ field: CronField) throws -> (NumberSet, isAny: Bool) {
      try fields[field].map { try reader.read($0, as: field) } ?? (NumberSet([0]), false)
    }
    description = text
    hasSeconds = withSeconds
    seconds = try set(.second).0
    minutes = try set(.minute).0
    (hours, isByRealTime) = try set(.hour)
    (days, isAnyDay) = try set(.day)
    months = try set(.month).0
    (weekdays, isAnyWeekday) = try set(.weekday)
    let longest = months.numbers.map { [2: 29, 4: 30, 6: 30, 9: 30, 11: 30][$0] ?? 31 }.max() ?? 31
    if isAnyDay || isAnyWeekday, (days.numbers.first ?? 1) > longest, let day = fields[.day] {
      throw reader.error(day, "no month of these has so many days: it would never come")
    }
  }

  func hasDay(_ date: CivilDate) -> Bool {
    guard months.contains(date.month) else { return false }
    let (day, weekday) = (days.contains(date.day), weekdays.contains(date.weekday))
    return isAnyDay || isAnyWeekday ? day && weekday : day || weekday
  }

  /// The next matching local time after `wall`. Both are in seconds, as if the local clock showed UTC.
  func nextOnTheWall(after wall: Int) -> Int? {
    var (day, second) = (wall + 1).quotientAndRemainder(flooringBy: 86_400)
    // 29 February on a given weekday recurs after 28 years, and after 40 across a century without a leap year.
    let last = day + 41 * 366
    while day <= last {
      let date = CivilDate(day)
      if !months.contains(date.month) {
        (day, second) = (date.firstOfNextMonth, 0)
        continue
      }
      if hasDay(date), let time = time(from: second) { return day * 86_400 + time }
      (day, second) = (day + 1, 0)
    }
    return nil
  }

  /// The first matching second of a day, starting with `second`.
  private func time(from second: Int) -> Int? {
    let (hour, minute) = (second / 3600, second / 60 % 60)
    if hours.contains(hour) {
      if minutes.contains(minute), let second = seconds.first(from: second % 60) {
        return hour * 3600 + minute * 60 + second
      }
      if let minute = minutes.first(from: minute + 1) {
        return hour * 3600 + minute * 60 + (seconds.first(from: 0) ?? 0)
      }
    }
    return hours.first(from: hour + 1).map {
      $0 * 3600 + (minutes.first(from: 0) ?? 0) * 60 + (seconds.first(from: 0) ?? 0)
    }
  }
}
