/// What can be told about a statement without the server.
enum SQLText {
  /// Its first word, in capitals, after spaces, comments and empty statements.
  static func firstWord(of sql: String) -> String { firstWords(1, of: sql)[0] }

  static func setsTransaction(_ sql: String) -> Bool { firstWords(2, of: sql) == ["SET", "TRANSACTION"] }

  /// Whether a session is certainly the same after it, once its transaction has ended; a function's doing is not seen.
  static func leavesSession(_ sql: String) -> Bool {
    let words = firstWords(2, of: sql)
    guard !makesTable(sql, words[0]) else { return false }
    return passing.contains(words[0])
      || words[0] == "SET" && ["CONSTRAINTS", "LOCAL"].contains(words[1])
  }

  /// Whether it may make a table that stays: in some order of words, which may also stand in a text or a comment.
  private static func makesTable(_ sql: String, _ first: String) -> Bool {
    let words = sql.uppercased().split { !$0.isLetter && $0 != "_" }
    if first == "EXPLAIN" { return words.contains("ANALYZE") }
    return ["SELECT", "WITH"].contains(first)
      && zip(words, words.dropFirst()).contains { $1 == "INTO" && $0 != "INSERT" && $0 != "MERGE" }
  }

  private static let passing: Set = [
    "DELETE", "EXPLAIN", "INSERT", "LOCK", "MERGE", "NOTIFY", "SELECT", "SHOW", "TABLE", "TRUNCATE", "UPDATE", "VALUES",
    "WITH",
  ]

  private static func firstWords(_ count: Int, of sql: String) -> [String] {
    var rest = sql.unicodeScalars[...]
    return (0..<count).map { _ in
      rest = begin(rest)
      let word = rest.prefix { $0.properties.isAlphabetic || $0 == "_" }
      rest = rest[word.endIndex...]
      return String(word).uppercased()
    }
  }

  private static func begin(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
    var rest = text
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
    return rest
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
