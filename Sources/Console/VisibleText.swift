#if Shell
  extension String {
    /// This text with control characters and what turns the direction of writing made visible, so that it can do nothing
    /// to a terminal. Line breaks and tabs stay if `keepingLines`.
    package func withVisibleControls(keepingLines: Bool) -> String {
      guard hasControls else { return self }
      var result = ""
      for scalar in unicodeScalars {
        if keepingLines, scalar == "\n" || scalar == "\t" {
          result.unicodeScalars.append(scalar)
        } else if scalar.isControl {
          switch scalar {
          case "\n": result += #"\n"#
          case "\t": result += #"\t"#
          case "\r": result += #"\r"#
          default:
            result +=
              scalar.value < 0x100 ? #"\x"# + UInt8(scalar.value).hex : #"\u{"# + String(scalar.value, radix: 16) + "}"
          }
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
      return result
    }

    package var withVisibleControls: String { withVisibleControls(keepingLines: false) }

    package var hasControls: Bool { unicodeScalars.contains { $0.isControl } }

    /// Columns that it takes on a terminal.
    package var columns: Int { reduce(0) { $0 + $1.columns } }

    /// This text in at most `width` columns, with a mark if something is missing.
    package func cut(to width: Int) -> String {
      guard columns > width else { return self }
      var result = ""
      var used = 0
      for character in self {
        guard used + character.columns < width else { break }
        result.append(character)
        used += character.columns
      }
      return width > 0 ? result + "…" : ""
    }

    /// This text in at most so many lines of `width` columns, broken between words where that is possible.
    package func wrapped(to width: Int, lines limit: Int) -> [String] {
      guard !isEmpty else { return [] }
      guard limit > 1, columns > width else { return [cut(to: width)] }
      var used = 0
      let end = indices.first { index in
        used += self[index].columns
        return used > width
      }
      // A character that is wider than all of it would be left for ever.
      guard let end, end > startIndex else { return [cut(to: width)] }
      let head = self[..<end]
      // A word that would leave most of the line empty is broken.
      let space = self[end] == " " ? end : head.lastIndex(of: " ").flatMap { head[..<$0].count > width / 3 ? $0 : nil }
      let rest = self[(space.map { index(after: $0) } ?? end)...]
      return [String(self[..<(space ?? end)])] + String(rest).wrapped(to: width, lines: limit - 1)
    }

    /// This text in at most `width` columns, with what is missing taken from its middle: names differ at their ends.
    package func shortened(to width: Int) -> String {
      guard columns > width else { return self }
      guard width >= 9 else { return cut(to: width) }
      var tail: [Character] = []
      var used = 0
      for character in reversed() {
        let columns = String(character).columns
        guard used + columns <= width / 3 else { break }
        tail.append(character)
        used += columns
      }
      var head = ""
      var rest = width - 1 - used
      for character in self {
        let columns = String(character).columns
        guard columns <= rest else { break }
        head.append(character)
        rest -= columns
      }
      return head + "…" + String(tail.reversed())
    }

    /// This text followed by spaces up to `width` columns, or after them.
    package func padded(_ width: Int, alignedRight: Bool = false) -> String {
      let space = String(repeating: " ", count: Swift.max(0, width - columns))
      return alignedRight ? space + self : self + space
    }
  }

  extension Character {
    fileprivate var columns: Int {
      guard let scalar = unicodeScalars.first else { return 0 }
      if scalar.isASCII, unicodeScalars.count == 1 { return 1 }
      if unicodeScalars.contains(where: { $0.value == 0xfe0f }) { return 2 }
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark, .format: return 0
      default: break
      }
      // Two of these letters are a flag.
      if (0x1f1e6...0x1f1ff).contains(scalar.value) { return unicodeScalars.count > 1 ? 2 : 1 }
      if scalar.properties.isEmojiPresentation { return 2 }
      switch scalar.value {
      case 0x1100...0x115f, 0x2e80...0xa4cf, 0xa960...0xa97c, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
        0xff00...0xff60, 0xffe0...0xffe6, 0x16fe0...0x18aff, 0x1b000...0x1b2ff, 0x20000...0x3fffd:
        return 2
      default: return 1
      }
    }
  }

  extension UnicodeScalar {
    fileprivate var isControl: Bool {
      switch value {
      case 0..<0x20, 0x7f..<0xa0, 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
      default: false
      }
    }
  }

  extension UInt8 {
    /// In two digits.
    var hex: String { (self < 16 ? "0" : "") + String(self, radix: 16) }
  }
#endif
