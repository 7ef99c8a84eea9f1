#if Shell
  import Foundation

  /// What the parser knows of a program and its commands, as `--experimental-dump-help` prints it.
  package struct ParserHelp: Decodable {
    package var command: Command

    package struct Command: Decodable {
      package var shouldDisplay: Bool?
      package var commandName: String
      package var abstract: String?
      package var discussion: String?
      package var defaultSubcommand: String?
      package var subcommands: [Command]?
      package var arguments: [Argument]?
    }

    package struct Argument: Decodable {
      package struct Name: Decodable {
        package var kind: String
        package var name: String
        package var typed: String { (kind == "long" ? "--" : "-") + name }
      }

      package var kind: String
      package var shouldDisplay: Bool
      package var isOptional: Bool
      package var isRepeating: Bool
      package var parsingStrategy: String?
      package var names: [Name]?
      package var valueName: String?
      package var abstract: String?
    }

    package init(_ text: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(text.utf8)) }

    /// The first option among these words that their command does not have, without what was given to it, and those that
    /// it has. The parser takes what follows such an option for an argument, and may complain of that first.
    func unknownOption(in words: [String]) -> (name: String, known: [String])? {
      var rest = words[...]
      var command = command
      while let next = command.subcommands?.first(where: { $0.commandName == rest.first }) {
        command = next
        rest = rest.dropFirst()
      }
      if let name = command.defaultSubcommand, let next = command.subcommands?.first(where: { $0.commandName == name })
      {
        command = next
      }
      let arguments = command.arguments ?? []
      let takesRest = arguments.contains { $0.kind == "positional" && $0.parsingStrategy != "default" }
      while let word = rest.popFirst(), word != "--" {
        guard word.count > 1, word.hasPrefix("-"), Double(word) == nil else {
          if takesRest { return nil }
          continue
        }
        let name = String(word.prefix { $0 != "=" })
        let known = arguments.first { argument in
          argument.names?.contains { $0.typed == name || $0.kind == "short" && word.hasPrefix($0.typed) } ?? false
        }
        guard let known else { return (name, arguments.flatMap { $0.names ?? [] }.map(\.typed)) }
        let hasValue = word != name || known.names?.contains { $0.typed == name } != true
        if known.kind == "option", !hasValue { rest = rest.dropFirst() }
      }
      return nil
    }
  }
#endif
