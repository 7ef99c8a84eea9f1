/// A day of the Gregorian calendar, independent of time zones.
struct CivilDate: Hashable {
  let year: Int
  let month: Int
  let day: Int
  /// Days since 1 January 1970.
  let number: Int

  /// Counts years from March, so that a leap day is the last day of its year.
  init(_ number: Int) {
    self.number = number
    let (era, dayOfEra) = (number + 719_468).quotientAndRemainder(flooringBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
  }

  /// The day of the week; Sunday is 0.
  var weekday: Int { (number + 4).quotientAndRemainder(flooringBy: 7).remainder }

  /// The number of that day.
  var firstOfNextMonth: Int {
    let inNext = CivilDate(number - day + 32)
    return inNext.number - inNext.day + 1
  }
}

extension Int {
  func quotientAndRemainder(flooringBy divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
