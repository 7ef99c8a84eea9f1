import Foundation
import Testing

@testable import DurableJobsSchedules

/// What a cron expression may say, and what is said of one that may not.
struct CronTests {
  @Test(arguments: [
    ("0 4 * * *", [0], [4]), ("*/15 9-17 * * *", [0, 15, 30, 45], Array(9...17)),
    ("5,10-12 8-18/5 * * *", [5, 10, 11, 12], [8, 13, 18]),
    ("@daily", [0], [0]), ("@Midnight", [0], [0]), ("@hourly", [0], Array(0...23)), ("  7\t23 * * * ", [7], [23]),
  ])
  func `a field is a list of numbers and ranges, with steps`(_ text: String, _ minutes: [Int], _ hours: [Int]) throws {
    let cron = try CronExpression(text)
    #expect((cron.minutes.numbers, cron.hours.numbers) == (minutes, hours))
    #expect(cron.seconds.numbers == [0])
  }

  @Test func `months and days of the week have names, and Sunday is 0 and 7`() throws {
    let cron = try CronExpression("0 0 * jan,NOV-DEC Mon-Fri")
    #expect((cron.months.numbers, cron.weekdays.numbers) == ([1, 11, 12], [1, 2, 3, 4, 5]))
    for text in ["0 0 * * 0", "0 0 * * 7", "0 0 * * SUN", "@weekly"] {
      #expect(try CronExpression(text).weekdays.numbers == [0])
    }
    #expect(try CronExpression("0 0 * * FRI-SUN").weekdays.numbers == [0, 5, 6])
    #expect(try CronExpression("0 0 * * 5-7").weekdays.numbers == [0, 5, 6])
    #expect(try CronExpression("0 0 * * */2").weekdays.numbers == [0, 2, 4, 6])
    #expect(try CronExpression("0 0 * * *").weekdays.numbers == Array(0...6))
  }

  @Test func `seconds are a sixth field in front, if they are asked for`() throws {
    let cron = try CronExpression("*/20 1 2 * * *", withSeconds: true)
    #expect((cron.seconds.numbers, cron.minutes.numbers, cron.hours.numbers) == ([0, 20, 40], [1], [2]))
  }

  @Test func `days count that fit either day field, or both if one begins with a star`() throws {
    let friday13 = try days(of: "0 0 13 * FRI")
    #expect(friday13.allSatisfy { $0.day == 13 || $0.weekday == 5 })
    #expect(
      friday13.contains { $0.day == 13 && $0.weekday != 5 } && friday13.contains { $0.day != 13 && $0.weekday == 5 })
    #expect(try days(of: "0 0 */2 * MON").allSatisfy { $0.day % 2 == 1 && $0.weekday == 1 })
    #expect(try days(of: "0 0 * * MON").allSatisfy { $0.weekday == 1 })
    #expect(try days(of: "0 0 13 * *").allSatisfy { $0.day == 13 })
  }

  private func days(of text: String) throws -> [CivilDate] {
    let cron = try CronExpression(text)
    let walls = sequence(first: 0) { cron.nextOnTheWall(after: $0) }
    return walls.prefix(40).dropFirst().map { CivilDate($0 / 86_400) }
  }

  @Test func `29 February on a given day of the week is found beyond a century without one`() throws {
    let cron = try CronExpression("0 0 29 2 */7")  // both, as one has a star: a Sunday
    let calendar = Calendar.utc
    var date = calendar.date(from: DateComponents(year: 2080, month: 1, day: 1))!
    var years: [Int] = []
    for _ in 0..<3 {
      let wall = try #require(cron.nextOnTheWall(after: Int(date.timeIntervalSince1970)))
      date = Date(timeIntervalSince1970: Double(wall))
      years.append(calendar.component(.year, from: date))
      #expect(calendar.component(.weekday, from: date) == 1)
    }
    #expect(years == [2088, 2128, 2156] || years.allSatisfy { $0 % 4 == 0 }, "\(years)")
  }

  /// With the line of carets, below the expression.
  @Test(arguments: [
    ("0 25 * * *", "the hour is 0 to 23, not '25'", "  ^^"), ("60 * * * *", "the minute is 0 to 59, not '60'", "^^"),
    (
      "0 4 * * MOM", "the day of the week is 0 to 7, of which 0 and 7 are Sunday, or SUN to SAT, not 'MOM'",
      "        ^^^"
    ),
    ("0 4 0 * *", "the day of the month is 1 to 31, not '0'", "    ^"),
    ("0 4 * 13 *", "the month is 1 to 12, or JAN to DEC, not '13'", "      ^^"),
    ("0 4 1,,2 * *", "a value is missing here: the day of the month is 1 to 31", "      ^"),
    ("0 17-9 * * *", "this range goes backwards; write it as two, as in 22-23,0-4 for hours", "  ^^^^"),
    ("*/0 * * * *", "a step of the minute is 1 to 59", "  ^"),
    ("*/60 * * * *", "a step of the minute is 1 to 59", "  ^^"),
    ("5/15 * * * *", "a step needs a range, as in 5-59/15, or *", "^^^^"),
    ("*/5/2 * * * *", "there is more than one step here", "    ^"),
    ("1-2-3 * * * *", "a range has two ends, as in 9-17", "    ^"),
    ("-5 * * * *", "a value is missing here: the minute is 0 to 59", "^"),
    (
      "0 4 L * *",
      "'L', 'W' and '#' are not known here: a day is a number. Let the job itself look whether it is the one", "    ^"
    ),
    (
      "0 4 15W * *",
      "'L', 'W' and '#' are not known here: a day is a number. Let the job itself look whether it is the one", "    ^^^"
    ),
    (
      "0 4 * * 5#2",
      "'L', 'W' and '#' are not known here: a day is a number. Let the job itself look whether it is the one",
      "        ^^^"
    ),
    ("0 4 ? * *", "'?' is not known here; write * for any", "    ^"),
    ("+5 * * * *", "the minute is 0 to 59, not '+5'", "^^"),
    ("٥ * * * *", "the minute is 0 to 59, not '٥'", "^"),
    ("99999999999999999999 * * * *", "the minute is 0 to 59, not '99999999999999999999'", "^^^^^^^^^^^^^^^^^^^^"),
    ("0 4 30 FEB *", "no month of these has so many days: it would never come", "    ^^"),
    ("0 4 31 4,6,9,11 *", "no month of these has so many days: it would never come", "    ^^"),
    (
      "0 4 * *",
      "the day of the week is missing; the 5 fields are minute, hour, day of the month, month, day of the week",
      "       ^"
    ),
    ("", "the minute is missing; the 5 fields are minute, hour, day of the month, month, day of the week", "^"),
    (
      "0 0 4 * * *",
      "there are 6 fields, and not 5: minute, hour, day of the month, month, day of the week. Seconds, in front of them, are only read if they are asked for",
      "          ^"
    ),
    ("@noon", "there is no '@noon'; there are @hourly, @daily, @weekly, @monthly and @yearly", "^^^^^"),
    ("@reboot", "there is no '@reboot'; there are @hourly, @daily, @weekly, @monthly and @yearly", "^^^^^^^"),
    ("@daily 5", "nothing may follow '@daily'", "       ^"),
  ])
  func `an error points at its field and says what is allowed`(_ text: String, _ message: String, _ carets: String) {
    let error = #expect(throws: CronError.self) { try CronExpression(text) }
    #expect(error?.description == "\(message)\n  \(text)\n  \(carets)")
    #expect(error?.localizedDescription == error?.description)
  }

  @Test func `30 February beside a day of the week comes on that`() throws {
    #expect(try CronExpression("0 4 30 FEB MON").nextOnTheWall(after: 0) != nil)
  }

  @Test func `a text that is no expression is refused, whatever it is`() {
    var random = SystemRandomNumberGenerator()
    let letters = Array("0123456789*/-,@ \tLW#?JANMONabc\u{0}\u{1b}é\n")
    for _ in 0..<20_000 {
      let text = String((0..<Int.random(in: 0...24)).map { _ in letters.randomElement(using: &random)! })
      guard let cron = try? CronExpression(text, withSeconds: .random()) else { continue }
      #expect(cron.nextOnTheWall(after: 1_800_000_000) != nil, "'\(text)' is read, and never comes")
    }
  }

  @Test(arguments: [
    ("0 4 * * *", "at 04:00 every day"), ("*/15 * * * *", "every 15 minutes"), ("* * * * *", "every minute"),
    ("0 * * * *", "every hour"), ("5 * * * *", "at minute 5 of every hour"), ("0 */2 * * *", "every 2 hours"),
    ("30 8,20 * * MON-FRI", "at 08:30 and 20:30 from Monday to Friday"),
    ("0 0 1 * *", "at 00:00 on day 1 of the month"),
    ("0 0 13 * FRI", "at 00:00 on day 13 of the month, and on Friday"),
    (
      "0 0 */2 * SAT,SUN",
      "at 00:00 on days 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29 and 31 of the month if that is Saturday and Sunday"
    ),
    ("0 12 24 12 *", "at 12:00 on day 24 of the month in December"),
    ("*/10 9-17 * * 6,0", "every 10 minutes of the hours 9 to 17 on Saturday and Sunday"),
    ("0 9-17 * JUN-AUG *", "at the full hours 9 to 17 in June, July and August"),
  ])
  func `words say what it says`(_ text: String, _ words: String) throws {
    #expect(try CronExpression(text).words == words)
  }

  @Test func `words of intervals`() throws {
    #expect("\(try Recurrence.every(.seconds(900)))" == "every 15 minutes")
    #expect("\(try Recurrence.every(.seconds(3600)))" == "every hour")
    #expect("\(try Recurrence.every(.seconds(5430)))" == "every 1 hour 30 minutes 30 seconds")
    #expect(
      "\(try Recurrence.cron("30 0 4 * * *", timeZone: "UTC", withSeconds: true))" == "at 04:00:30 every day, UTC")
  }
}

extension Calendar {
  static let utc = Calendar(in: "GMT")

  init(in zone: String) {
    self.init(identifier: .gregorian)
    timeZone = TimeZone(identifier: zone)!
  }
}
