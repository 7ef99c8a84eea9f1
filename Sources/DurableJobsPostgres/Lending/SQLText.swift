/// What can be told about a statement without the server.
enum SQLText {
  /// Its first word, in capitals, after spaces, comments and empty statements.
  static func firstWord(of sql: String) -> String {
    var rest = sql.unicodeScalars[...]
    while let first = rest.first {
      if first.properties.isWhitespace || first == ";" {
        rest = rest.dropFirst()
      } else if rest.starts(with: "--".unicodeScalars) {
        rest = rest.drop { $0 != "\n" && $0 != "\r" }
      } else if rest.starts(with: "/*".unicodeScalars) {
        rest = afterComment(rest)
      } else {
        break
      }
    }
    return String(rest.prefix { $0.properties.isAlphabetic || $0 == "_" }).uppercased()
  }

  /// Comments of this kind can be nested.
  private static func afterComment(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
    var (rest, depth) = (text, 0)
    repeat {
      if rest.starts(with: "/*".unicodeScalars) {
        (rest, depth) = (rest.dropFirst(2), depth + 1)
      } else if rest.starts(with: "*/".unicodeScalars) {
        (rest, depth) = (rest.dropFirst(2), depth - 1)
      } else {
        rest = rest.dropFirst()
      }
    } while depth > 0 && !rest.isEmpty
    return rest
  }
}
