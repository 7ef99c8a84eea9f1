import Foundation
import Testing

@testable import DurableJobsSchedules

/// When a tick comes, in zones that change their clocks in odd ways.
struct ZoneTests {
  private func ticks(_ text: String, in zone: String, from: String, _ count: Int) throws -> [String] {
    let start = try Date(tickText: from)
    return try Recurrence.cron(text, timeZone: zone).next(count, after: start).map(\.tickText)
  }

  @Test func `C51 a time in the hour that does not exist comes once, right after it`() throws {
    // 02:00 becomes 03:00 at 01:00 UTC.
    #expect(
      try ticks("30 2 * * *", in: "Europe/Berlin", from: "2027-03-27T00:00:00Z", 3)
        == ["2027-03-27T01:30:00Z", "2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"])
    #expect(
      try ticks("*/15 2,3 * * *", in: "Europe/Berlin", from: "2027-03-28T00:00:00Z", 3)
        == ["2027-03-28T01:00:00Z", "2027-03-28T01:15:00Z", "2027-03-28T01:30:00Z"])
  }

  @Test func `C51 a time in the hour that comes twice comes once, the first time`() throws {
    // 03:00 becomes 02:00 at 01:00 UTC.
    #expect(
      try ticks("30 2 * * *", in: "Europe/Berlin", from: "2027-10-30T12:00:00Z", 2)
        == ["2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"])
    #expect(
      try ticks("30 2 * * *", in: "Europe/Berlin", from: "2027-10-31T01:10:00Z", 1) == ["2027-11-01T01:30:00Z"],
      "asked in the second of these hours")
  }

  @Test func `C51 what has a star for hours goes on as time passes`() throws {
    #expect(
      try ticks("30 * * * *", in: "Europe/Berlin", from: "2027-10-30T23:45:00Z", 4)
        == ["2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z", "2027-10-31T02:30:00Z", "2027-10-31T03:30:00Z"])
    #expect(
      try ticks("30 * * * *", in: "Europe/Berlin", from: "2027-03-28T00:00:00Z", 3)
        == ["2027-03-28T00:30:00Z", "2027-03-28T01:30:00Z", "2027-03-28T02:30:00Z"])
  }

  @Test func `an interval goes on as time passes, from the moment it is counted from`() throws {
    let every = try Recurrence.every(.seconds(900), from: Date(tickText: "2027-10-31T00:05:00Z"))
    #expect(
      every.next(3, after: try Date(tickText: "2027-10-31T00:40:00Z")).map(\.tickText)
        == ["2027-10-31T00:50:00Z", "2027-10-31T01:05:00Z", "2027-10-31T01:20:00Z"])
    #expect(every.next(after: try Date(tickText: "2027-10-30T23:00:00Z"))?.tickText == "2027-10-30T23:05:00Z")
  }

  @Test(arguments: ["Mars/Olympus", "", "berlin", "CET-1CESTX"])
  func `an unknown time zone is refused`(_ zone: String) {
    #expect { try Recurrence.cron("0 4 * * *", timeZone: zone) } throws: {
      "\($0)".contains("there is no time zone '\(zone)'")
    }
  }

  @Test func `a place is a hint at its zone`() {
    #expect { try Recurrence.cron("0 4 * * *", timeZone: "berlin") } throws: {
      "\($0)".hasSuffix("did you mean 'Europe/Berlin'?")
    }
    #expect { try Recurrence.cron("0 4 * * *", timeZone: "New York") } throws: {
      "\($0)".hasSuffix("did you mean 'America/New_York'?")
    }
  }

  @Test func `an interval is whole seconds, and at least one`() {
    for interval in [.zero, .milliseconds(500), .milliseconds(1500), .seconds(-5), .seconds(Int64.max)] as [Duration] {
      #expect(throws: (any Error).self) { try Recurrence.every(interval) }
    }
  }

  @Test(arguments: [
    ("Europe/Berlin", 2027), ("America/New_York", 2027), ("America/St_Johns", 2027), ("Australia/Lord_Howe", 2027),
    ("Asia/Kolkata", 2027), ("Africa/Casablanca", 2026), ("Pacific/Apia", 2011), ("Antarctica/Troll", 2027),
  ])
  func `C51 ticks are those that somebody finds who looks at the clock each minute`(_ zone: String, _ year: Int) throws
  {
    for watch in Watch.aroundChanges(in: zone, year: year) {
      for _ in 0..<40 {
        let rule = RandomRule()
        let cron = try CronExpression(rule.text)
        let wanted = watch.ticks {
          rule.fits($0)
        } isByRealTime: {
          rule.hours.star
        }
        var found: [Int] = []
        // The first is asked for from anywhere within its minute.
        var instant = watch.start
        while let next = cron.next(after: instant, in: ZoneTime(zone: TimeZone(identifier: zone)!)), next < watch.end {
          found.append(next)
          instant = next + (found.count % 3 == 0 ? 1 : 0)
        }
        #expect(found == wanted, "\(rule.text) in \(zone) from \(Date(timeIntervalSince1970: Double(watch.start)))")
      }
    }
  }
}

/// A clock on the wall that is looked at each minute: the slow definition of when a tick comes.
private struct Watch {
  struct Look {
    let instant: Int
    /// In seconds as if the clock showed UTC.
    let wall: Int
  }

  let looks: [Look]
  var start: Int { looks[1].instant - 1 }
  var end: Int { looks.last!.instant }

  /// Three days around each change of a year, and three days without one.
  static func aroundChanges(in zone: String, year: Int) -> [Watch] {
    let calendar = Calendar(in: zone)
    let first =
      Int(calendar.date(from: DateComponents(year: year, month: 1, day: 1))!.timeIntervalSince1970) / 3600 * 3600
    let offsets = (0..<366 * 24).map {
      calendar.timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(first + $0 * 3600)))
    }
    let changes = offsets.indices.dropFirst().filter { offsets[$0] != offsets[$0 - 1] }
    return ([2000] + changes).map { hour in
      let middle = first + hour * 3600
      let looks = stride(from: middle - 129_600, to: middle + 129_600, by: 60).map { instant in
        var parts = calendar.dateComponents(
          [.year, .month, .day, .hour, .minute], from: Date(timeIntervalSince1970: Double(instant)))
        parts.calendar = nil
        return Look(instant: instant, wall: Int(Calendar.utc.date(from: parts)!.timeIntervalSince1970))
      }
      return Watch(looks: looks)
    }
  }

  func ticks(_ fits: (Int) -> Bool, isByRealTime: () -> Bool) -> [Int] {
    var (ticks, shown) = ([Int](), Set<Int>())
    for (before, look) in zip(looks, looks.dropFirst()) {
      shown.insert(before.wall)
      if isByRealTime() {
        if fits(look.wall) { ticks.append(look.instant) }
      } else {
        let isNew = !shown.contains(look.wall) && fits(look.wall)
        let passedOver = stride(from: before.wall + 60, to: look.wall, by: 60).contains(where: fits)
        if isNew || passedOver { ticks.append(look.instant) }
      }
    }
    return ticks.filter { $0 < end }
  }
}

/// A cron expression, and what it allows, which share nothing with the one that is tested.
private struct RandomRule {
  struct Field {
    var text = "*"
    var numbers: Set<Int>
    var star = true

    init(_ values: ClosedRange<Int>, oneIn: Int) {
      numbers = Set(values)
      switch Int.random(in: 0..<oneIn) {
      case 0:
        let few = Set((0..<Int.random(in: 1...4)).map { _ in Int.random(in: values) })
        (text, numbers, star) = (few.sorted().map(String.init).joined(separator: ","), few, false)
      case 1:
        let low = Int.random(in: values)
        let high = Int.random(in: low...values.upperBound)
        let step = Int.random(in: 1...max(1, values.upperBound / 2))
        (text, numbers, star) = ("\(low)-\(high)/\(step)", Set(stride(from: low, through: high, by: step)), false)
      case 2:
        let step = Int.random(in: 1...values.upperBound)
        (text, numbers) = ("*/\(step)", Set(stride(from: values.lowerBound, through: values.upperBound, by: step)))
      default: break
      }
    }
  }

  let minutes = Field(0...59, oneIn: 4)
  let hours = Field(0...23, oneIn: 4)
  var days = Field(1...28, oneIn: 6)
  let months = Field(1...12, oneIn: 12)
  let weekdays = Field(0...6, oneIn: 6)

  init() {
    // A star is of all days that there are.
    if days.text == "*" { days.numbers = Set(1...31) }
    if days.text.hasPrefix("*/"), let step = Int(days.text.dropFirst(2)) {
      days.numbers = Set(stride(from: 1, through: 31, by: step))
    }
  }

  var text: String { [minutes, hours, days, months, weekdays].map(\.text).joined(separator: " ") }

  func fits(_ wall: Int) -> Bool {
    let parts = Calendar.utc.dateComponents(
      [.month, .day, .hour, .minute, .weekday], from: Date(timeIntervalSince1970: Double(wall)))
    guard minutes.numbers.contains(parts.minute!), hours.numbers.contains(parts.hour!),
      months.numbers.contains(parts.month!)
    else { return false }
    let (day, weekday) = (days.numbers.contains(parts.day!), weekdays.numbers.contains(parts.weekday! - 1))
    return days.star || weekdays.star ? day && weekday : day || weekday
  }
}
