#if Shell
  import ArgumentParser
  import DurableJobs

  /// What people type who know other programs, or have read little of this one, and what is said to them.
  enum TypedOtherwise {
    /// By what other programs call it.
    static let commands = [
      "list": "status", "ls": "status", "ps": "status", "jobs": "status", "queue": "status", "info": "show",
      "run": "add", "exec": "add", "start": "work", "stop": "work stop", "kill": "cancel", "delete": "remove",
      "rm": "remove", "clean": "prune", "clear": "prune", "restart": "retry", "stash": "suspend", "enqueue": "resume",
      "follow": "log -f", "tail": "log -f", "cat": "log", "output": "log", "top": "status --watch",
      "watch": "status --watch", "parallel": "work --concurrency", "group": "add --queue", "switch": "edit --priority",
      "download": "get", "fetch": "get", "post": "send", "cron": "schedule", "version": "--version",
    ]

    /// What is here called otherwise, by the verb, and by what other programs call it.
    private static let options: [String: [String: String]] = [
      "get": [
        "-d": "-o", "--dir": "-o", "--out": "-O", "-j": "--concurrency", "--max-concurrent-downloads": "--concurrency",
        "--checksum": "--sha256", "--retry": "--max-attempts", "--max-tries": "--max-attempts", "-m": "--max-attempts",
        "--max-connection-per-server": "--per-host", "--input-file": "--input",
        "--max-overall-download-limit": "--limit-rate", "--max-download-limit": "--limit-rate",
      ],
      "work": ["-j": "--concurrency", "--jobs": "--concurrency", "--parallel": "--concurrency", "-d": "--detach"],
      "add": [
        "-g": "--queue", "--group": "--queue", "-d": "--delay", "-a": "--after", "-l": "--tag", "--label": "--tag",
      ],
      "wait": ["-t": "--timeout", "-g": "--queue", "--group": "--queue"],
      "status": ["-g": "--queue", "--group": "--queue"],
    ]

    /// That name here, in words.
    static func option(_ name: String, of verb: String?) -> String? {
      if verb == "get", ["-c", "--continue", "-x", "-s", "--split"].contains(name) {
        return name.hasSuffix("c") || name == "--continue"
          ? "; leave it out: what is there of a file is gone on with" : "; a file comes by one connection"
      }
      return verb.flatMap { options[$0]?[name] }.map { "; here that is \($0)" }
    }

    /// What is to be said behind a refusal of the parser's; nil for most.
    static func hint(_ refusal: String, _ words: [String]) -> String? {
      if let name = refusal.firstMatch(of: /^unknown option '([^']+)'/)?.output.1 {
        if let here = option(String(name), of: words.first) { return here }
      }
      if let word = refusal.firstMatch(of: /'(.+)' is invalid for '<id>'/)?.output.1 {
        if word == "all" { return "; all are meant by --all" }
        let options = words.prefix { $0 != word }
        return SplitTime(options: Array(options), command: [String(word)]).map { "; \($0.remedy)" }
      }
      if words.first == "schedule", refusal.contains("option '--cron'") {
        return "; the expression stands behind the name, as in: durable schedule add nightly '0 4 * * *' -- …"
      }
      guard let word = refusal.firstMatch(of: /[Uu]nexpected arguments?:? '([^']+)'/)?.output.1, let verb = words.first
      else { return nil }
      switch verb {
      case "pause": return "; a queue is named by --queue, and 'durable suspend ID' holds a job"
      case "unpause": return "; a queue is named by --queue, and 'durable resume ID' lets a job go on"
      case "show", "explain", "tree": return "; '\(verb)' is for one job at a time"
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
