#if Shell
  import ArgumentParser
  import Console
  import Foundation

  /// Prints the manual page, for `make install`: it says what the help says.
  struct ManualCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "manual", abstract: "Print the manual page: durable manual > durable.1", shouldDisplay: false)

    func run() async throws {
      Screen.out.write(Data(try ManualPage(DurableCommand._dumpHelp()).text.utf8))
    }
  }

  /// A manual page in roff, of what the parser knows of a program and its commands.
  struct ManualPage {
    private typealias Command = ParserHelp.Command

    private(set) var text: String

    /// `help` is what `--experimental-dump-help` prints.
    init(_ help: String) throws {
      let program = try ParserHelp(help).command
      let name = program.commandName
      text = ".TH \(name.uppercased()) 1\n.SH NAME\n\(name) \\- \(Self.line(program.abstract ?? ""))\n"
      text += ".SH SYNOPSIS\n.B \(name)\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n.SH DESCRIPTION\n"
      text += Self.paragraphs(program.discussion)
      text += ".SH COMMANDS\n"
      for command in program.subcommands ?? [] where command.shouldDisplay ?? true && command.commandName != "help" {
        text += Self.section(command, below: name)
      }
      text += """
        .SH ENVIRONMENT
        .TP
        .B DURABLE_STORE
        The store's file, where \\-\\-store names none.
        .TP
        .B NO_COLOR
        No colours, if it is not empty.
        .SH FILES
        .TP
        .I ~/.local/share/durable/jobs.sqlite
        The store, unless another is named; on macOS in ~/Library/Application Support/durable.
        .TP
        .I ~/.netrc
        Users and passwords of hosts.

        """
    }

    private static func section(_ command: Command, below parent: String) -> String {
      let name = "\(parent) \(command.commandName)"
      let all = (command.arguments ?? []).filter {
        $0.shouldDisplay && !["help", "version"].contains($0.names?.last?.name ?? "")
      }
      let words = all.filter { $0.kind == "positional" }.map { argument in
        let word = "\\fI\(line(argument.valueName ?? "").uppercased())\\fR" + (argument.isRepeating ? "..." : "")
        return argument.isOptional ? "[\(word)]" : word
      }
      var text = ".SS \(line(name)) \(words.joined(separator: " "))\n\(line(command.abstract ?? ""))\n"
      if let discussion = command.discussion { text += ".PP\n" + paragraphs(discussion) }
      for argument in all {
        let names = (argument.names ?? []).map { "\\fB\(line($0.typed))\\fR" }.joined(separator: ", ")
        let value = argument.kind == "flag" ? "" : "\\fI\(line(argument.valueName ?? ""))\\fR"
        text +=
          ".TP\n\([names, value].filter { !$0.isEmpty }.joined(separator: " "))\n\(line(argument.abstract ?? ""))\n"
      }
      for sub in command.subcommands ?? [] where sub.shouldDisplay ?? true && sub.commandName != "help" {
        text += section(sub, below: name)
      }
      return text
    }

    /// Of what is indented or begins with the program's name, each line stands for itself.
    private static func paragraphs(_ discussion: String?) -> String {
      (discussion ?? "").components(separatedBy: "\n\n").map { paragraph in
        let lines = paragraph.split(separator: "\n").map { line(String($0)) }
        let isExample = lines.contains { $0.hasPrefix("durable ") }
        return (isExample ? [".nf"] + lines + [".fi"] : lines).joined(separator: "\n")
      }.joined(separator: "\n.PP\n") + "\n"
    }

    /// What has a meaning in roff has none: backslashes, hyphens, and dots and quotes that begin a line.
    private static func line(_ text: String) -> String {
      let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("\n", with: " ")
      return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
  }
#endif
