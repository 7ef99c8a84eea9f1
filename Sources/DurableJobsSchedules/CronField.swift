/// A field of a cron expression and its valid values.
enum CronField: CaseIterable {
  case second, minute, hour, day, month, weekday

  /// The values of crontab(5). Sunday is both 0 and 7.
  var values: ClosedRange<Int> {
    switch self {
    case .second, .minute: 0...59
    case .hour: 0...23
    case .day: 1...31
    case .month: 1...12
    case .weekday: 0...7
    }
  }

  /// Three-letter names of the values, starting with the lowest.
  var names: [String] {
    switch self {
    case .month: ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
    case .weekday: ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
    default: []
    }
  }

  var words: String {
    switch self {
    case .second: "the second"
    case .minute: "the minute"
    case .hour: "the hour"
    case .day: "the day of the month"
    case .month: "the month"
    case .weekday: "the day of the week"
    }
  }

  var allowed: String {
    switch self {
    case .second, .minute, .hour, .day: "\(values.lowerBound) to \(values.upperBound)"
    case .month: "1 to 12, or JAN to DEC"
    case .weekday: "0 to 7, of which 0 and 7 are Sunday, or SUN to SAT"
    }
  }
}

/// A set of numbers from 0 to 63.
struct NumberSet: Hashable, Sendable {
  private var bits: UInt64 = 0

  init(_ numbers: some Sequence<Int> = []) { for number in numbers { insert(number) } }

  mutating func insert(_ number: Int) { bits |= 1 << UInt64(number) }
  func contains(_ number: Int) -> Bool { bits & 1 << UInt64(number) != 0 }
  var count: Int { bits.nonzeroBitCount }
  var numbers: [Int] { (0...63).filter(contains) }

  /// The lowest member that is at least `number`.
  func first(from number: Int) -> Int? {
    guard number < 64 else { return nil }
    let rest = bits & (.max << UInt64(number))
    return rest == 0 ? nil : rest.trailingZeroBitCount
  }
}
