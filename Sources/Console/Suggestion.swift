#if Shell
  extension Sequence<String> {
    /// The one of these that was probably meant by `word`: one that begins with it, or the nearest by slips of a finger;
    /// nil if none is near.
    package func nearest(to word: String) -> String? {
      let limit = Swift.max(1, word.count / 3)
      let near = compactMap { name -> (name: String, slips: Int)? in
        if word.count > 1, name.hasPrefix(word) { return (name, 0) }
        guard abs(name.count - word.count) <= limit else { return nil }
        let slips = Array(name).slips(to: Array(word))
        return slips <= limit ? (name, slips) : nil
      }
      return near.min { $0.slips < $1.slips }?.name
    }
  }

  extension [Character] {
    /// How many characters are missing, too many, wrong, or have changed places with their neighbours.
    fileprivate func slips(to other: [Character]) -> Int {
      var rows = [Array<Int>(0...other.count)]
      for (i, character) in enumerated() {
        var row = [i + 1]
        for (j, theirs) in other.enumerated() {
          var slips = Swift.min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (character == theirs ? 0 : 1))
          if i > 0, j > 0, character == other[j - 1], self[i - 1] == theirs {
            slips = Swift.min(slips, rows[i - 1][j - 1] + 1)
          }
          row.append(slips)
        }
        rows.append(row)
      }
      return rows[count][other.count]
    }
  }
#endif
