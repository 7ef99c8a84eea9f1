#if Shell
  /// Texts that stand below each other, such as names of files: where one is too long, what tells it from the others stays.
  package struct DistinctTexts {
    /// Where each differs from the one that is most like it: how many characters both begin with.
    private let places: [String: Int]

    package init(_ texts: some Sequence<String>) {
      let sorted = Set(texts).sorted()
      var places: [String: Int] = [:]
      for (text, next) in zip(sorted, sorted.dropFirst()) {
        let common = zip(text, next).prefix { $0 == $1 }.count
        places[text] = max(common, places[text] ?? 0)
        places[next] = common
      }
      self.places = places
    }

    /// This text in at most `width` columns: its beginning and its end, and the place where it differs if that is in neither.
    package func shortened(_ text: String, to width: Int) -> String {
      let usual = text.shortened(to: width)
      guard width >= 14, let place = places[text], usual != text else { return usual }
      let characters = Array(text)
      // A mark stands where something is missing.
      let shown = usual.split(separator: "…", maxSplits: 1, omittingEmptySubsequences: false).map(\.count)
      guard shown.count == 2, place >= shown[0], place < characters.count - shown[1] else { return usual }
      let outer = (width - 2) / 4
      let head = Self.fitting(characters, outer)
      let tail = Self.fitting(characters.reversed(), outer)
      let rest = width - 2 - head.columns - tail.columns
      // What stands before it helps to find it.
      let before = Self.fitting(characters[..<place].reversed(), rest / 3)
      let begin = max(place - before.count, head.count)
      let middle = Self.fitting(characters[begin...], rest)
      let end = begin + middle.count
      guard end < characters.count - tail.count else {
        return head + "…" + Self.end(of: characters, width - 1 - head.columns)
      }
      return head + "…" + middle + "…" + String(tail.reversed())
    }

    private static func end(of characters: [Character], _ width: Int) -> String {
      String(fitting(characters.reversed(), width).reversed())
    }

    private static func fitting(_ characters: some Sequence<Character>, _ width: Int) -> String {
      var (text, used) = ("", 0)
      for character in characters {
        used += String(character).columns
        guard used <= width else { break }
        text.append(character)
      }
      return text
    }
  }
#endif
