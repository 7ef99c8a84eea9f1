#if Shell
  import Foundation

  /// A time that was typed in two words, of which the second would be taken for the command, as in
  /// `durable add --delay 5 minutes -- ls`.
  struct SplitTime {
    /// How it is written, as in "a time is one word, as in --delay 5m".
    let remedy: String
    /// The same, where a command is wanted.
    let hint: String

    /// Nil unless the last of the options takes a time, and the command begins with what may be the rest of it.
    init?(options: [String], command: [String]) {
      guard let last = options.last, let next = command.first else { return nil }
      let (option, value): (String, String)
      if last.hasPrefix("--"), let sign = last.firstIndex(of: "=") {
        (option, value) = (String(last[..<sign]), String(last[last.index(after: sign)...]))
      } else {
        guard let before = options.dropLast().last else { return nil }
        (option, value) = (before, last)
      }
      let asIn: String? =
        switch option {
        case "--delay", "--timeout": Self.length(value, next)
        case "--at": Self.moment(value, next)
        case "--deadline": Self.length(value, next) ?? Self.moment(value, next)
        default: nil
        }
      guard let asIn else { return nil }
      remedy = "a time is one word, as in \(option) \(asIn)"
      hint = "\(option) \(value) \(next): \(remedy). If '\(next)' is the command, write '--' before it"
    }

    /// As in "5m" of "5 minutes"; nil if they are no length of time.
    private static func length(_ value: String, _ next: String) -> String? {
      guard value.wholeMatch(of: /\d{1,9}(\.\d+)?/) != nil, let unit = units[next.lowercased()] else { return nil }
      return unit == "w" ? "\(7 * (Int(value) ?? 1))d" : value + unit
    }

    /// As in "2026-11-21T18:30" of "2026-11-21 18:30"; nil if they are no moment.
    private static func moment(_ value: String, _ next: String) -> String? {
      if value.wholeMatch(of: /\d{4}-\d{2}-\d{2}/) != nil, next.wholeMatch(of: /\d{2}:\d{2}(:\d{2})?/) != nil {
        return "\(value)T\(next)"
      }
      guard value.wholeMatch(of: /\d{1,2}(:\d{2})?/) != nil,
        ["am", "pm", "today", "tomorrow"].contains(next.lowercased())
      else { return nil }
      return "18:30, or 2026-11-21T18:30"
    }

    private static let units: [String: String] = [
      ["s", "sec", "secs", "second", "seconds"], ["m", "min", "mins", "minute", "minutes"],
      ["h", "hr", "hrs", "hour", "hours"], ["d", "day", "days"], ["w", "week", "weeks"],
    ].reduce(into: [:]) { all, names in for name in names { all[name] = names[0] } }
  }
#endif
