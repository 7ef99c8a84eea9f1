#if Shell
  import Console
  import Foundation
  import Subprocess
  import Testing

  @Suite("What is installed beside the command")
  struct InstalledTextTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("no command without JSON")
    func json() async throws {
      let without = try await durable.commands().filter { ($0.command.subcommands ?? []).isEmpty }.filter {
        _, command in
        !(command.arguments ?? []).contains { ($0.names ?? []).contains { $0.name == "json" } }
      }
      #expect(without.map(\.words) == [])
    }

    @Test("completions for shells, which those that are here can read", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) async throws {
      let script = try await durable("--generate-completion-script", shell)
      #expect(script.status == .exited(0))
      for word in ["retry", "batch", "older-than", "catch-up"] { #expect(script.text.contains(word), "\(word)") }
      try script.text.write(toFile: durable.folder + "/script", atomically: true, encoding: .utf8)
      guard Self.isHere(shell) else { return print("No \(shell) is here to read its script") }
      let read = try await durable.shell("\(shell) -n script")
      #expect(read.status == .exited(0), "\(read.stderr)")
    }

    private static func isHere(_ program: String) -> Bool {
      (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
        access("\($0)/\(program)", X_OK) == 0
      }
    }

    /// What is typed before a tab, and what it becomes where these files and this command are.
    private static let typed = [
      ("repair en", "repair english.txt"), ("status --store en", "status --store english.txt"),
      ("add --cwd fo", "add --cwd folder/"), ("add -i en", "add -i english.txt"), ("get -o fo", "get -o folder/"),
      ("add -- cat en", "add -- cat english.txt"), ("add cat en", "add cat english.txt"),
      ("add -- only-in-", "add -- only-in-this-test"), ("add only-in-", "add only-in-this-test"),
      ("edit 1 -- cat en", "edit 1 -- cat english.txt"),
      ("schedule add n --every 1h -- only-in-", "schedule add n --every 1h -- only-in-this-test"),
      ("add --cwd=fo", "add --cwd=folder/"), ("add --cwd ~/fo", "add --cwd ~/folder/"),
      ("add --env-a", "add --env-all"), ("retr", "retry"),
    ]

    /// Writes the shell's script, under the name by which zsh finds it, and makes what is to be completed. Nil, and why is
    /// printed, if the shell is not here.
    private func prepare(_ shell: String) async throws -> [Environment.Key: String?]? {
      guard Self.isHere(shell) else {
        print("No \(shell) is here to complete what is typed")
        return nil
      }
      let script = try await durable("--generate-completion-script", shell).text
      #expect(!script.contains("words of a command"))
      try script.write(toFile: durable.folder + "/_durable", atomically: true, encoding: .utf8)
      _ = try await durable.shell(
        "touch english.txt; mkdir folder bin; printf '#!/bin/sh\n' > bin/only-in-this-test; chmod +x bin/*")
      let path = "\(Durable.products):\(durable.folder)/bin:" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
      return [
        "PATH": path, "HOME": durable.folder, "XDG_CONFIG_HOME": nil, "XDG_DATA_HOME": nil,
        "PS1": "> ", "INPUTRC": "/dev/null", "HISTFILE": "/dev/null",
      ]
    }

    @Test(
      "paths, words of commands, options and verbs are completed as one types, in bash and zsh",
      arguments: [
        ("bash", "bash --norc --noprofile -i", ". ./_durable"),
        (
          "zsh", "zsh -f -i",
          "PS1='> '; setopt NO_AUTO_REMOVE_SLASH; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D"
        ),
      ])
    func asTyped(shell: String, command: String, reading: String) async throws {
      guard let environment = try await prepare(shell) else { return }
      let ended = try await durable.onTerminal(
        "-c", "exec \(command)", program: "sh", columns: 200, rows: 100, environment: environment
      ) { terminal in
        terminal.press("durable() { echo \"got: $*\"; }; \(reading); echo it\"\" is read\n")
        try await terminal.shows("a prompt") { $0.text.hasSuffix("it is read\n>") }
        for (index, (typed, _)) in Self.typed.enumerated() {
          terminal.press("durable \(typed)\t\n")
          try await terminal.shows("\(index + 1) commands") { got($0).count > index }
        }
        terminal.press("exit\n")
      }
      #expect(got(ended.text) == Self.typed.map(\.1))
    }

    private func got(_ text: TerminalText) -> [String] {
      text.lines.filter { $0.hasPrefix("got: ") }.map { String($0.dropFirst(5).replacing(durable.folder, with: "~")) }
    }

    @Test("fish offers the same, and nothing else")
    func fish() async throws {
      guard let environment = try await prepare("fish") else { return }
      for (typed, completed) in Self.typed {
        let offered = try await durable.shell(
          "fish --no-config -c 'source _durable; complete -C \"durable \(typed)\"'", environment: environment)
        let words = offered.text.split(separator: "\n").compactMap { $0.split(separator: "\t").first.map(String.init) }
        #expect(words == [completed.split(separator: " ").last.map(String.init)], "\(typed): \(offered.stderr)")
      }
    }

    @Test("the help, the manual page and the documents have every exit code that there is, and no other")
    func exitCodes() async throws {
      let all = Set(ExitStatus.allCases.map(\.rawValue))
      func numbers(_ text: Substring, _ pattern: Regex<(Substring, Substring)>) -> Set<Int32> {
        Set(text.matches(of: pattern).compactMap { Int32($0.output.1) })
      }
      for words in [["help"], ["manual"]] {
        let text = try await durable.run(words.map { Array($0.utf8) }).text.replacing(/\s+/, with: " ")
        let list = try #require(text.firstMatch(of: /Exit codes: [^.]+\./)?.output)
        #expect(numbers(list, #/[:,] (\d+) /#) == all, "\(list)")
      }
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
      let page = try String(contentsOf: root.appending(path: "docs/command.md"), encoding: .utf8)
      let begin = try #require(page.range(of: "## Exit codes")).upperBound
      #expect(numbers(page[begin...], /\n\| (\d+) \|/) == all)
      // Who ends with a number ends with one of these: only what stands in for another program has others.
      var raw: [String] = []
      for folder in ["Sources/durable", "Sources/Console"] {
        let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
        for case let file as URL in try #require(files) where file.pathExtension == "swift" {
          let text = try String(contentsOf: file, encoding: .utf8)
          raw += text.matches(of: /\b(?:exit|ExitCode)\(([^.].*?)\)/).map { String($0.output.1) }
        }
      }
      let known = [
        "status", "0", "2", "128 + signal", "last", "code", "ExitStatus.interrupted.rawValue", "_ status: ExitStatus",
      ]
      #expect(Set(raw).subtracting(known) == [], "\(raw)")
    }

    /// Runs `make install` with a compiler that only notes what it was asked, where nothing is installed that tests need.
    private func install(to prefix: String) async throws -> (said: String, asked: String?) {
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..").path
      let prepared = try await durable.shell(
        #"""
        mkdir -p bin
        for program in bash sh env make mkdir install uname git cc id; do ln -sf "$(command -v $program)" bin; done
        printf '#!/bin/sh\necho "$@" > "%s/asked"; exit 1\n' "$PWD" > bin/swift
        chmod +x bin/swift
        """#)
      try #require(prepared.status == .exited(0), "\(prepared.stderr)")
      let made = try await durable.shell(
        "make --no-print-directory -C '\(root)' install 'PREFIX=\(prefix)' 2>&1",
        environment: ["PATH": durable.folder + "/bin", "MAKEFLAGS": nil])
      #expect(made.status == .exited(2))
      return (made.text, try? String(contentsOfFile: durable.folder + "/asked", encoding: .utf8))
    }

    @Test("make install wants nothing that only tests need")
    func installAlone() async throws {
      let (said, asked) = try await install(to: durable.folder + "/place")
      #expect(asked?.hasPrefix("build -c release ") == true, "\(said)")
    }

    @Test("make install says where it can't write before it builds anything")
    func installNowhere() async throws {
      _ = try await durable.shell("touch file")
      let (said, asked) = try await install(to: durable.folder + "/file")
      #expect(said.contains("\(durable.folder)/file can't be written. 'make install PREFIX="), "\(said)")
      #expect(asked == nil)
    }

    @Test("a manual page with every command and option that the help has, which roff takes without a word")
    func manual() async throws {
      let page = try await durable("manual")
      #expect(page.status == .exited(0))
      for (words, _) in try await durable.commands() {
        #expect(page.text.contains(".SS durable \(words.joined(separator: " "))"), "\(words)")
        let help = try await durable.run((words + ["--help"]).map { Array($0.utf8) }).text
        let options = Set(help.matches(of: /--[a-z][a-z\-]+/).map { String($0.output) })
        for option in options.subtracting(["--help", "--version"]) {
          #expect(page.text.contains(option.replacing("-", with: "\\-")), "\(words) \(option)")
        }
      }
      try page.text.write(toFile: durable.folder + "/durable.1", atomically: true, encoding: .utf8)
      guard Self.isHere("groff") else { return print("No groff is here to read the manual page") }
      let read = try await durable.shell("groff -man -ww -z -K utf8 durable.1")
      #expect(read.stderr == "")
    }
  }

  extension Durable {
    /// Every command that the parser knows, and how it is typed.
    fileprivate func commands() async throws -> [(words: [String], command: ParserHelp.Command)] {
      func below(_ command: ParserHelp.Command, _ words: [String]) -> [(words: [String], command: ParserHelp.Command)] {
        (command.subcommands ?? []).filter { ($0.shouldDisplay ?? true) && $0.commandName != "help" }.flatMap { sub in
          [(words + [sub.commandName], sub)] + below(sub, words + [sub.commandName])
        }
      }
      return below(try ParserHelp(try await self("--experimental-dump-help").text).command, [])
    }
  }
#endif
