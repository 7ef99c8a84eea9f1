#if Shell
  /// The words of a line for a shell: where they stand, and what they say without their quotes. What such a line may have
  /// beside words, as `;`, `|` and `(`, are words of one character.
  ///
  /// What a program is to write as another line or a tab, as in `printf 'a: b\n'`, stands between words like these.
  struct ShellWords {
    private(set) var words: [(place: Range<String.Index>, text: String)] = []

    init(_ line: String) {
      let bytes = line.utf8
      var begin: String.Index?
      var text: [UInt8] = []
      var quote: UInt8?
      var place = bytes.startIndex
      func next(_ index: String.Index) -> UInt8? {
        let after = bytes.index(after: index)
        return after < bytes.endIndex ? bytes[after] : nil
      }
      while place < bytes.endIndex {
        let byte = bytes[place]
        let isQuote = byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"")
        let escaped = byte == UInt8(ascii: "\\") && quote != UInt8(ascii: "'") ? next(place) : nil
        if escaped == UInt8(ascii: "\n") {
          // The line goes on in the next one, as may a word.
          place = bytes.index(after: place)
        } else if quote == nil, Self.apart.contains(byte) || escaped.map("nrt".utf8.contains) == true {
          if let first = begin { words.append((first..<place, String(decoding: text, as: UTF8.self))) }
          (begin, text) = (nil, [])
          if escaped != nil {
            place = bytes.index(after: place)
          } else if Self.operators.contains(byte) {
            words.append((place..<bytes.index(after: place), String(UnicodeScalar(byte))))
          }
        } else {
          begin = begin ?? place
          if isQuote, quote == nil || quote == byte {
            quote = quote == nil ? byte : nil
          } else if let escaped {
            place = bytes.index(after: place)
            if quote != nil, !"\"\\$`".utf8.contains(escaped) { text.append(byte) }
            text.append(escaped)
          } else if !(byte == UInt8(ascii: "$") && quote == nil && next(place).map("'\"".utf8.contains) == true) {
            text.append(byte)
          }
        }
        place = bytes.index(after: place)
      }
      if let begin { words.append((begin..<line.endIndex, String(decoding: text, as: UTF8.self))) }
    }

    static let operators = Set(";|&()<>`".utf8)
    private static let apart = operators.union(" \t\r\n".utf8)
  }
#endif
