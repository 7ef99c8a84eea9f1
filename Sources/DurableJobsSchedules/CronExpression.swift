/// When something is due, in the fields of crontab(5): minute, hour, day of the month, month, day of the week.
///
/// A field is `*`, or a list of numbers and ranges, each range perhaps with a step: `0,30`, `9-17`, `*/15`, `8-18/2`. Months and
/// days of the week have names: `JAN`, `MON-FRI`. Where neither day field begins with `*`, a day counts that fits either of
/// them, as in crontab(5); else it has to fit both. `@hourly`, `@daily` (or `@midnight`), `@weekly`, `@monthly` and
/// `@yearly` (or `@annually`) stand for the first moment of each.
public struct CronExpression: Hashable, Sendable, CustomStringConvertible {
  /// As it was written.
  public let description: String
  /// It has a field of seconds, before the others.
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
  /// Its hours begin with `*`: it goes by the time that passes, and not by what a clock on the wall shows.
  let isByRealTime: Bool

  /// Throws ``CronError`` for what is none, and for what never comes, as 30 February. With `withSeconds` there is a sixth field
  /// in front, of seconds.
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

  /// The next moment of a clock on the wall that fits, after `wall`. Both are in seconds as if that clock showed UTC.
  func nextOnTheWall(after wall: Int) -> Int? {
    var (day, second) = (wall + 1).quotientAndRemainder(flooringBy: 86_400)
    // 29 February on a given day of the week comes each 28 years, and over a century without a leap year after 40.
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

  /// The first second of a day that fits, from that one on.
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
