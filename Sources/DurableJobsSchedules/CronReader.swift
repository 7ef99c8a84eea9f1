import Foundation

/// What is wrong with a cron expression, and where.
public struct CronError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
  public let expression: String
  /// What is wrong, and what is allowed there.
  public let message: String
  /// The characters concerned, counted from 0.
  public let range: Range<Int>

  public var errorDescription: String? { description }

  /// The message, then the expression with carets below the range.
  public var description: String {
    // The width of a control character is unknown.
    let shown = String(
      expression.map { character in
        let isPlain = character.unicodeScalars.allSatisfy {
          ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        return isPlain ? character : " "
      })
    let carets = String(repeating: "^", count: max(1, range.count))
    return "\(message)\n  \(shown)\n  \(String(repeating: " ", count: range.lowerBound))\(carets)"
  }
}

/// Parses the text of a ``CronExpression`` and keeps track of positions.
struct CronReader {
  private let text: String
  private let characters: [Character]

  init(_ text: String) {
    self.text = text
    characters = Array(text)
  }

  /// A part of the text.
  struct Part {
    let text: String
    let range: Range<Int>
  }

  func error(_ part: Part, _ message: String) -> CronError {
    CronError(expression: text, message: message, range: part.range)
  }

  private static let macros = [
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
  ]

  /// Assigns parts to fields. A macro is replaced with its meaning.
  mutating func fields(withSeconds: Bool) throws -> [CronField: Part] {
    guard characters.count <= 512 else {
      throw CronError(
        expression: String(text.prefix(24)) + "…", message: "a cron expression has at most 512 characters", range: 0..<1
      )
    }
    var parts = parts(0..<characters.count) { $0 == " " || $0 == "\t" }
    var wanted = CronField.allCases
    if let first = parts.first, first.text.hasPrefix("@") {
      guard let meaning = Self.macros[first.text.lowercased()] else {
        throw error(first, "there is no '\(first.text)'; there are @hourly, @daily, @weekly, @monthly and @yearly")
      }
      guard parts.count == 1 else { throw error(parts[1], "nothing may follow '\(first.text)'") }
      parts = meaning.split(separator: " ").map { Part(text: String($0), range: first.range) }
      wanted.removeFirst()
    } else if !withSeconds {
      wanted.removeFirst()
    }
    let names = wanted.map { String($0.words.dropFirst(4)) }.joined(separator: ", ")
    if parts.count > wanted.count {
      let hint =
        parts.count == 6 && !withSeconds ? ". Seconds, in front of them, are only read if they are asked for" : ""
      throw error(parts[wanted.count], "there are \(parts.count) fields, and not \(wanted.count): \(names)\(hint)")
    }
    if parts.count < wanted.count {
      let end = Part(text: "", range: characters.count..<characters.count + 1)
      throw error(end, "\(wanted[parts.count].words) is missing; the \(wanted.count) fields are \(names)")
    }
    return Dictionary(uniqueKeysWithValues: zip(wanted, parts))
  }

  /// The values that a field allows, and whether it starts with `*`.
  func read(_ part: Part, as field: CronField) throws -> (NumberSet, isAny: Bool) {
    var set = NumberSet()
    for item in parts(of: part, at: ",") {
      if item.text.isEmpty { throw error(item, "a value is missing here: \(field.words) is \(field.allowed)") }
      for number in try numbers(item, field) { set.insert(field == .weekday ? number % 7 : number) }
    }
    return (set, part.text.hasPrefix("*"))
  }

  /// Parses `*`, a number or a range, with an optional step.
  private func numbers(_ item: Part, _ field: CronField) throws -> StrideThrough<Int> {
    let halves = parts(of: item, at: "/")
    guard halves.count <= 2 else { throw error(halves[2], "there is more than one step here") }
    var (range, isOne) = (field == .weekday ? 0...6 : field.values, false)
    if halves[0].text != "*" {
      let ends = parts(of: halves[0], at: "-")
      guard ends.count <= 2 else { throw error(ends[2], "a range has two ends, as in 9-17") }
      let low = try number(ends[0], field)
      // Sunday is the end of the week if a range ends with it.
      var high = ends.count == 2 ? try number(ends[1], field) : low
      if field == .weekday, ends.count == 2, high == 0, low > 0 { high = 7 }
      guard low <= high else {
        throw error(halves[0], "this range goes backwards; write it as two, as in 22-23,0-4 for hours")
      }
      (range, isOne) = (low...high, ends.count == 1)
    }
    guard halves.count == 2 else { return stride(from: range.lowerBound, through: range.upperBound, by: 1) }
    let most = field.values.upperBound
    guard !isOne else {
      throw error(item, "a step needs a range, as in \(range.lowerBound)-\(most)/\(halves[1].text), or *")
    }
    guard let step = Self.digits(halves[1].text), (1...most).contains(step) else {
      throw error(halves[1], "a step of \(field.words) is 1 to \(most)")
    }
    return stride(from: range.lowerBound, through: range.upperBound, by: step)
  }

  private func number(_ part: Part, _ field: CronField) throws -> Int {
    if let number = Self.digits(part.text), field.values.contains(number) { return number }
    if let index = field.names.firstIndex(of: part.text.uppercased()) { return field.values.lowerBound + index }
    if part.text.isEmpty { throw error(part, "a value is missing here: \(field.words) is \(field.allowed)") }
    if part.text == "?" { throw error(part, "'?' is not known here; write * for any") }
    let isDay = field == .day || field == .weekday
    if isDay, part.text.contains("#") || part.text.uppercased().wholeMatch(of: /L|LW|[0-9]*[LW]|[A-Z]{3}L/) != nil {
      throw error(
        part, "'L', 'W' and '#' are not known here: a day is a number. Let the job itself look whether it is the one")
    }
    throw error(part, "\(field.words) is \(field.allowed), not '\(part.text)'")
  }

  /// Accepts ASCII digits only, without a sign.
  private static func digits(_ text: String) -> Int? {
    text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
  }

  private func parts(of part: Part, at separator: Character) -> [Part] {
    var (parts, start) = ([Part](), part.range.lowerBound)
    let items = part.text.split(separator: separator, omittingEmptySubsequences: false)
    // The meaning of a macro is not in the text, so errors point at the whole macro.
    let isHere = part.text.count == part.range.count
    for item in items {
      let range = isHere ? start..<start + max(1, item.count) : part.range
      parts.append(Part(text: String(item), range: range))
      start += item.count + 1
    }
    return parts
  }

  private func parts(_ range: Range<Int>, isSeparator: (Character) -> Bool) -> [Part] {
    characters[range].split(whereSeparator: isSeparator).map {
      Part(text: String($0), range: $0.startIndex..<$0.endIndex)
    }
  }
}
