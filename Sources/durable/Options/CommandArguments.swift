#if Shell
  import ArgumentParser
  import Console
  import DurableJobsProcess
  import Foundation

  /// Where a command runs, and with which variables.
  struct CommandArguments: ParsableArguments {
    @Option(
      parsing: .unconditional, help: ArgumentHelp("Run in this folder.", valueName: "folder"), completion: .directory)
    var cwd: String?
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp("Give the command this variable, by default with its value here.", valueName: "name[=value]"))
    var env: [String] = []
    @Flag(help: "Give the command all variables that there are here.") var envAll = false
    @Flag(help: "Let /bin/sh read the first argument; others are its $1, $2, ….") var shell = false

    /// The command of these words, to run as it would here.
    func command(_ words: [SystemText], asIn verb: String = "add") throws -> ShellCommand {
      guard let program = words.first, !program.bytes.isEmpty else {
        throw ValidationError("what is to be run? As in: durable \(verb) -- sleep 10")
      }
      return ShellCommand(
        arguments: words, cwd: try folder(), umask: ShellCommand.octal(Program.umaskAtStart),
        env: try environment(with: SystemText.inheritedEnvironment), shell: shell)
    }

    /// The folder to run in: the current one, unless another was named.
    func folder() throws -> SystemText {
      guard let here = SystemText.currentDirectory else {
        throw ValidationError("the current folder is gone; go to another one, or name one with --cwd")
      }
      guard let cwd else { return here }
      guard !cwd.isEmpty else { throw ValidationError("--cwd names no folder; '.' is the current one") }
      let path = cwd.hasPrefix("/") ? SystemText(cwd) : SystemText(bytes: here.bytes + Array("/\(cwd)".utf8))
      var status = stat()
      guard path.withCString({ stat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw ValidationError("--cwd \(cwd): there is no such folder")
      }
      return path.resolved ?? path
    }

    /// The variables that were named, with all that there are here, or with the `others` alone.
    func environment(with others: [String: SystemText]) throws -> [String: SystemText] {
      var all = (envAll ? SystemText.wholeEnvironment : others).merging(try named()) { $1 }
      // It may be no part of those commands when it runs.
      all[JobFolder.outerVariable] = nil
      return all
    }

    private func named() throws -> [String: SystemText] {
      var result: [String: SystemText] = [:]
      for assignment in CommandWords.parted(env) {
        let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        // What is no part of a usual name may be the value.
        let begin = name.prefix { $0.isLetter || $0.isNumber || "_-.".contains($0) }
        let shown = begin.count < name.count ? begin + "…" : begin
        guard !name.isEmpty else { throw ValidationError("--env =…: the name is missing") }
        guard name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f }) else {
          throw ValidationError(
            "--env '\(shown)': a name has no control characters, such as the end of a line; give each variable an --env of its own"
          )
        }
        if parts.count == 2 {
          result[name] = SystemText(String(parts[1]))
        } else if let value = SystemText.environment(name) {
          result[name] = value
        } else {
          throw ValidationError("--env \(shown): there is no such variable here. Write \(shown)=VALUE")
        }
      }
      return result
    }
  }
#endif
