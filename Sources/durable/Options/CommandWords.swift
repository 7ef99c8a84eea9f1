#if Shell
  import DurableJobs
  import DurableJobsProcess

  /// The words of a command that was typed behind `--`. The parser does not see them: it would take them for its own where it can,
  /// and for thousands of them, as of `photos/*`, it needs minutes.
  enum CommandWords {
    /// How many there are; nil without `--`.
    private static let count = Lock<Int?>(nil)

    private static let verbs = [["add"], ["edit"], ["schedule", "add"], ["batch", "create"]]

    /// What the parser is to see of the arguments.
    static func parting(_ words: [String]) -> [String] {
      guard verbs.contains(where: { words.starts(with: $0) }), let end = words.firstIndex(of: "--") else {
        return words
      }
      count.withLock { $0 = words.count - end - 1 }
      return Array(words[..<end])
    }

    /// As they were given; nil without `--`.
    static var typed: [SystemText]? { count.withLock(\.self).map { SystemText.lastArguments($0) } }

    /// The last `parsed` that the parser has seen, and what stands behind them.
    static func typed(behind parsed: Int) -> [SystemText] {
      SystemText.lastArguments(parsed + (count.withLock(\.self).map { $0 + 1 } ?? 0))
    }
  }
#endif
