#if Shell
  import ArgumentParser
  import DurableJobs

  /// What people type who know other programs, or have read little of this one, and what is said to them.
  enum TypedOtherwise {
    /// By what other programs call it.
    static let commands = [
      "list": "status", "ls": "status", "ps": "status", "jobs": "status", "queue": "status", "info": "show",
      "run": "add", "exec": "add", "start": "work", "stop": "work stop", "kill": "cancel", "delete": "remove",
      "rm": "remove", "download": "get", "fetch": "get", "post": "send", "cron": "schedule", "version": "--version",
    ]

    /// What is to be said behind a refusal of the parser's; nil for most.
    static func hint(_ refusal: String, _ words: [String]) -> String? {
      if let word = refusal.firstMatch(of: /'(.+)' is invalid for '<id>'/)?.output.1 {
        if word == "all" { return "; all are meant by --all" }
        let options = words.prefix { $0 != word }
        return SplitTime(options: Array(options), command: [String(word)]).map { "; \($0.remedy)" }
      }
      guard let word = refusal.firstMatch(of: /[Uu]nexpected arguments?:? '([^']+)'/)?.output.1, let verb = words.first
      else { return nil }
      switch verb {
      case "pause": return "; a queue is named by --queue, and 'durable suspend ID' holds a job"
      case "unpause": return "; a queue is named by --queue, and 'durable resume ID' lets a job go on"
      case "status" where JobID(String(word)) != nil: return "; 'durable show \(word)' tells about a job"
      default:
        let all = DurableCommand.configuration.groupedSubcommands.flatMap(\.subcommands).map { $0.configuration }
        let names = all.first { $0.commandName == verb }?.subcommands.compactMap { $0.configuration.commandName } ?? []
        guard !names.isEmpty, !names.contains(where: { words.dropFirst().first == $0 }) else { return nil }
        return "; 'durable \(verb)' has the verbs \(names.joined(separator: ", "))"
      }
    }
  }
#endif
