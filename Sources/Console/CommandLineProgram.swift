#if Shell
  import ArgumentParser
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  extension AsyncParsableCommand {
    /// Runs what the arguments say, and ends the process with the exit code that ``ExitStatus`` gives it. `atEnd` is done
    /// before that, however it went. `reading` makes of the arguments what the parser is to see, and `hint` is asked what to
    /// say behind a refusal of the parser's, with those words. `otherNames` of commands are no commands, but show what was
    /// meant. `checked` throws for what was parsed and is not to run. `printed` makes what is written of what the parser
    /// would: of a script for a shell, and of a help. With a command that is `known`, the arguments are not parsed.
    package static func runProgram(
      known: (any AsyncParsableCommand)? = nil, reading: ([String]) -> [String] = { $0 },
      otherNames: [String: String] = [:],
      hint: (String, [String]) -> String? = { _, _ in nil }, checked: (any ParsableCommand) throws -> Void = { _ in },
      printed: (String) -> String = { $0 },
      atEnd: () async -> Void = {}
    ) async -> Never {
      // A closed output is noticed where it is written to, and ends the process quietly.
      signal(SIGPIPE, SIG_IGN)
      // So is a file that may not grow.
      signal(SIGXFSZ, SIG_IGN)
      // It ends the process at once. Swift would stop it to print where it is, and a worker might not end at all.
      if !SignalWatch.isIgnored(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
      _ = Program.umaskAtStart
      if let name = configuration.commandName { Talk.program.withLock { $0 = name } }
      var status: Int32
      let words = known == nil ? reading(Array(CommandLine.arguments.dropFirst())) : []
      Talk.isJSON.withLock { $0 = words.prefix { $0 != "--" }.contains("--json") }
      do {
        try Program.provideRoom(forWork: false)
      } catch {
        // What goes on elsewhere needs a thread, and that files.
        status = tell(error)
        Screen.finish()
        Foundation.exit(status)
      }
      do {
        if var known {
          try await known.run()
        } else {
          try checkCommandName(otherNames)
          var command = try parseAsRoot(words)
          try checked(command)
          if var command = command as? any AsyncParsableCommand {
            try await command.run()
          } else {
            try command.run()
          }
        }
        status = ExitStatus.done.rawValue
      } catch {
        status = tell(error, words, printed) { hint($0, words) }
      }
      await atEnd()
      Screen.finish()
      if status == ExitStatus.done.rawValue, Screen.hasLostOutput { status = ExitStatus.jobFailed.rawValue }
      Foundation.exit(status)
    }

    /// Says what may have been meant where the first word is no command.
    private static func checkCommandName(_ otherNames: [String: String]) throws {
      let commands = configuration.subcommands.map { $0.configuration }
      let words = CommandLine.arguments.dropFirst()
      guard let word = words.first == "help" ? words.dropFirst().first : words.first, !word.hasPrefix("-"),
        !commands.isEmpty, !commands.contains(where: { $0.commandName == word })
      else { return }
      let hint = otherNames[word] ?? commands.filter(\.shouldDisplay).compactMap(\.commandName).nearest(to: word)
      let more = hint.map { "; did you mean '\($0)'?" } ?? ". '\(configuration.commandName ?? "") help' lists them"
      throw ValidationError("there is no command '\(word)'\(more)")
    }

    /// Says what went wrong, and returns the exit code for it.
    private static func tell(
      _ error: any Error, _ words: [String] = [], _ printed: (String) -> String = { $0 },
      _ hint: (String) -> String? = { _ in nil }
    ) -> Int32 {
      switch error {
      case let code as ExitCode:
        return code.rawValue
      case let error as JobError:
        Talk.error(error.message, code: error.code.rawValue)
        return ExitStatus(error).rawValue
      case let error as ValidationError:
        Talk.error(error.message, code: "usage")
        return ExitStatus.usage.rawValue
      case _ where exitCode(for: error) == .success:
        Screen.out.line(printed(fullMessage(for: error)))
        return ExitStatus.done.rawValue
      case _ where exitCode(for: error) == .validationFailure:
        let unknown = unknownOption(message(for: error), words)
        var message = unknown.map { "unknown option '\($0.name)'" } ?? message(for: error)
        let hint = hint(message)
        if hint == nil, let meant = unknown?.meant { message += "; did you mean '\(meant)'?" }
        let isNoID = message.contains(#/is invalid for '<(id|ids)>'/#)
        Talk.error(
          inALine(withoutValues(message))
            + (hint
              ?? (isBackwards(message)
                ? "; the range runs backwards"
                : isNoID ? "; ids are numbers, and a job with a key is found with: durable status --key …" : "")),
          code: "usage")
        if Talk.isJSON.withLock({ $0 }) { return ExitStatus.usage.rawValue }
        // The parser's last line says where to look; its others repeat the help.
        if let hint = fullMessage(for: error).split(separator: "\n").last { Talk.line(String(hint.drop { $0 == " " })) }
        return ExitStatus.usage.rawValue
      default:
        Talk.error(error.briefly)
        return ExitStatus.jobFailed.rawValue
      }
    }

    /// The option that there is not, and perhaps one that was meant, where the parser complains of what it would lead to.
    private static func unknownOption(_ complaint: String, _ words: [String]) -> (name: String, meant: String?)? {
      guard
        complaint.contains(#/^(Unknown option|Missing expected argument|\d* ?[Uu]nexpected argument)|for '<[^>]*>'/#),
        let (name, known) = try? ParserHelp(_dumpHelp()).unknownOption(in: words)
      else { return nil }
      return (name, name.hasPrefix("--") ? known.nearest(to: name) : nil)
    }

    /// Whether it is about a range of ids, as in 7-3.
    private static func isBackwards(_ message: String) -> Bool {
      guard let ends = message.firstMatch(of: /'([1-9][0-9]*)-([1-9][0-9]*)' is invalid/)?.output,
        let first = Int64(ends.1), let last = Int64(ends.2)
      else { return false }
      return first > last
    }

    /// Without the secret of a header that was typed right after its option's letter, which the parser takes for a name.
    private static func withoutValues(_ message: String) -> String {
      CommandLine.arguments.reduce(message.withoutPasswords) { message, word in
        guard word.hasPrefix("-"), let colon = word.firstIndex(of: ":") else { return message }
        return message.replacing(word.withoutPasswords, with: "\(word[...colon]) \(hiddenSecret)")
      }
    }

    /// What the parser says, as this program would.
    private static func inALine(_ message: String) -> String {
      let line = message.replacing(":\n  - ", with: ": ").replacing("\n  - ", with: ", ").replacing("\n", with: " ")
      return line.prefix(1).lowercased() + line.dropFirst()
    }
  }
#endif
