#if Shell
  /// Whether bytes are JSON, to the letter of RFC 8259 and no more: many parsers take a comma too many, or refuse a number that
  /// they can't hold.
  struct JSONGrammar {
    private let bytes: [UInt8]
    private var place = 0
    /// How many arrays and objects were open at once.
    private(set) var depth = 0

    /// Nil if they are not.
    init?(_ bytes: some Sequence<UInt8>) {
      self.bytes = Array(bytes)
      guard String(validating: self.bytes, as: UTF8.self) != nil, readAll() else { return nil }
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ byte: Character) -> Bool {
      guard next == byte.asciiValue else { return false }
      place += 1
      return true
    }

    private mutating func skip(where isWanted: (UInt8) -> Bool) {
      while let next, isWanted(next) { place += 1 }
    }

    private mutating func skipSpaces() { skip { $0 == 0x20 || $0 == 0x0a || $0 == 0x0d || $0 == 0x09 } }

    private mutating func readAll() -> Bool {
      // No recursion: it may be as deep as it is long.
      var open: [UInt8] = []
      while true {
        skipSpaces()
        if take("[") || take("{") {
          open.append(bytes[place - 1])
          depth = max(depth, open.count)
          skipSpaces()
          if !take(Self.end(of: open[open.count - 1])) {
            guard open.last == UInt8(ascii: "[") || readName() else { return false }
            continue
          }
          open.removeLast()
        } else {
          guard readScalar() else { return false }
        }
        // A value has ended, and others may with it.
        while true {
          skipSpaces()
          guard let inner = open.last else { return place == bytes.count }
          if take(",") {
            skipSpaces()
            guard inner == UInt8(ascii: "[") || readName() else { return false }
            break
          }
          guard take(Self.end(of: inner)) else { return false }
          open.removeLast()
        }
      }
    }

    private static func end(of begin: UInt8) -> Character { begin == UInt8(ascii: "[") ? "]" : "}" }

    private mutating func readName() -> Bool {
      guard readString() else { return false }
      skipSpaces()
      return take(":")
    }

    private mutating func readScalar() -> Bool {
      if next == UInt8(ascii: "\"") { return readString() }
      for word in ["true", "false", "null"] where bytes[place...].starts(with: word.utf8) {
        place += word.utf8.count
        return true
      }
      return readNumber()
    }

    private mutating func readString() -> Bool {
      guard take("\"") else { return false }
      while let byte = next, byte >= 0x20 {
        place += 1
        if byte == UInt8(ascii: "\"") { return true }
        guard byte == UInt8(ascii: "\\") else { continue }
        guard let escaped = next, "\"\\/bfnrtu".utf8.contains(escaped) else { return false }
        place += 1
        guard escaped == UInt8(ascii: "u") else { continue }
        let digits = bytes[place...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ "0123456789abcdefABCDEF".utf8.contains($0) }) else { return false }
        place += 4
      }
      return false
    }

    private mutating func readNumber() -> Bool {
      _ = take("-")
      guard take("0") || readDigits() else { return false }
      if take("."), !readDigits() { return false }
      guard take("e") || take("E") else { return true }
      _ = take("+") || take("-")
      return readDigits()
    }

    private mutating func readDigits() -> Bool {
      let begin = place
      skip { (0x30...0x39).contains($0) }
      return place > begin
    }
  }
#endif
