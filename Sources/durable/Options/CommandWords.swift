#if Shell
  import ArgumentParser
  import Console
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

    /// What the parser is to see of options that are repeated, of ids and of URLs: those that follow each other are one word,
    /// with what no typed word has between them. For thousands of words, it would need minutes, too.
    static func joining(_ words: [String]) -> [String] {
      guard let verb = words.first else { return words }
      let isFilter = verb == "status" || JobSelection.verbs.contains(verb)
      guard isFilter || ["add", "get", "send"].contains(verb) else { return words }
      let repeated = isFilter ? Self.repeatedInFilters : Self.repeated
      // Behind the first word of a command that 'add' is given without '--', all is that command's.
      var rest = (verb == "add" ? words : parting(words, at: repeated))[...]
      if JobSelection.verbs.contains(verb) { rest = joiningIDs(Array(rest))[...] }
      var seen: [String] = []
      var lastIsURL = false
      while let word = rest.popFirst() {
        let isURL = verb == "get" && !word.hasPrefix("-") && word.contains("://")
        if repeated.contains(word), let value = rest.first, seen.dropLast().last == word,
          ![value, seen[seen.count - 1]].contains(where: { $0.hasPrefix("-") })
        {
          seen[seen.count - 1] += "\0" + rest.removeFirst()
        } else if isURL, lastIsURL {
          seen[seen.count - 1] += "\0" + word
        } else {
          lastIsURL = isURL && seen.last?.hasPrefix("-") != true
          seen.append(word)
        }
      }
      return seen
    }

    /// The options whose values are joined.
    private static let repeated: Set = [
      "--after", "--after-end", "--after-failure", "--tag", "--env", "-H", "--header",
    ]
    private static let repeatedInFilters: Set = ["--kind", "--tag", "--key", "--lane", "--batch", "--env"]

    /// `--tag=x` as two words, unless it may be the value of the option before it.
    private static func parting(_ words: [String], at options: Set<String>) -> [String] {
      zip([""] + words, words).flatMap { before, word -> [String] in
        guard word.hasPrefix("--"), let sign = word.firstIndex(of: "="), options.contains(String(word[..<sign])),
          !before.hasPrefix("-") || before.contains("=")
        else { return [word] }
        return [String(word[..<sign]), String(word[word.index(after: sign)...])]
      }
    }

    /// The first number behind an option may be its value, as may the first URL.
    private static func joiningIDs(_ words: [String]) -> [String] {
      var seen: [String] = []
      var lastIsID = false
      for word in words {
        let isID = JobRange(argument: word) != nil
        if isID, lastIsID {
          seen[seen.count - 1] += "\0" + word
        } else {
          lastIsID = isID && seen.last?.hasPrefix("-") != true
          seen.append(word)
        }
      }
      return seen
    }

    /// The words of one that was joined.
    static func parted(_ values: [String]) -> [String] {
      values.flatMap { $0.split(separator: "\0", omittingEmptySubsequences: false).map(String.init) }
    }

    /// As they were given; nil without `--`.
    static var typed: [SystemText]? { count.withLock(\.self).map { SystemText.lastArguments($0) } }

    /// The last ones, which the parser has seen as `parsed`, and what stands behind them.
    static func typed(from parsed: [String]) -> [SystemText] {
      // Each value that was joined had its option before it.
      let seen = parsed.count + 2 * parsed.reduce(0) { $0 + $1.count { $0 == "\0" } }
      return SystemText.lastArguments(seen + (count.withLock(\.self).map { $0 + 1 } ?? 0))
    }

    /// Throws where one before those is no UTF-8: the parser has seen another character for each such byte, so that two
    /// names would be one. What may be a secret is not told.
    static func checkOthers(than parsed: [String]) throws {
      let words = Array(SystemText.lastArguments(Int(CommandLine.argc) - 1).dropLast(typed(from: parsed).count))
      guard let index = words.firstIndex(where: { !$0.isUTF8 }) else { return }
      let option = ["--env", "--header", "-H"].first {
        index > 0 && words[index - 1].display == $0 || words[index].display.hasPrefix($0)
      }
      let shown = words.withoutSecrets()[index].shellQuoted
      throw ValidationError(
        "\(option.map { "what \($0) gives" } ?? shown) is no UTF-8, and only a command's own words may be so"
          + (option == "--env" ? "; export the variable, and give --env its name alone" : ""))
    }
  }
#endif
