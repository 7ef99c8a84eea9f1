#if Shell
  import ArgumentParser
  import Console
  import Foundation

  /// What spares a person that question. Verbs that never ask take it too, and do not show it.
  struct Consent: ParsableArguments {
    @Flag(name: [.customShort("y"), .long], help: "Do not ask on a terminal before it is done to several.")
    var yes = false
  }

  /// A question to a person at a terminal, before something is done to many jobs.
  struct Confirmation {
    /// As in "Cancel".
    var verb: String
    var count: Int
    var isNeeded: Bool

    /// Throws the exit code unless the answer is yes. Where nobody can be asked, it is.
    func ask() throws {
      guard isNeeded, isatty(STDIN_FILENO) == 1, Screen.error.isTerminal else { return }
      let question = "\(verb) \(count.jobs)? [y/N] "
      if Talk.isJSON.withLock(\.self) { Talk.line(question) } else { Screen.error.write(Data(question.utf8)) }
      guard let answer = readLine()?.lowercased(), ["y", "yes"].contains(answer) else {
        Talk.line("Nothing was done")
        throw ExitCode(.interrupted)
      }
    }
  }
#endif
