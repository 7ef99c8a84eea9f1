#if Shell
  import Console
  import Foundation
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

    @Test(
      "paths are completed by the names of files and folders, in bash as one types",
      arguments: [
        ("repair en", "repair english.txt"), ("status --store en", "status --store english.txt"),
        ("add --cwd fo", "add --cwd folder/"), ("add -i en", "add -i english.txt"), ("get -o fo", "get -o folder/"),
        ("add -- cat en", "add -- cat english.txt"), ("add cat en", "add cat english.txt"),
        ("add -- only-in-", "add -- only-in-this-test"), ("add only-in-", "add only-in-this-test"),
        ("edit 1 -- cat en", "edit 1 -- cat english.txt"),
        ("schedule add n --every 1h -- only-in-", "schedule add n --every 1h -- only-in-this-test"),
        ("add --cwd=fo", "add --cwd=folder/"), ("add --env-a", "add --env-all"), ("retr", "retry"),
      ])
    func bash(typed: String, completed: String) async throws {
      let script = try await durable("--generate-completion-script", "bash").text
      try script.write(toFile: durable.folder + "/script", atomically: true, encoding: .utf8)
      _ = try await durable.shell(
        "touch english.txt; mkdir folder bin; printf '#!/bin/sh\n' > bin/only-in-this-test; chmod +x bin/*")
      let path = "\(Durable.products):\(durable.folder)/bin:" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
      let ended = try await durable.onTerminal(
        "--norc", "--noprofile", "-i", program: "bash",
        environment: ["PATH": path, "PS1": "> ", "INPUTRC": "/dev/null", "HISTFILE": "/dev/null"]
      ) { terminal in
        terminal.press("durable() { :; }; . ./script; echo it\"\" is read\n")
        try await terminal.shows("a prompt") { $0.text.hasSuffix("it is read\n>") }
        terminal.press("durable \(typed)\t\n")
        terminal.press("exit\n")
      }
      #expect(ended.text.lines.contains("> durable \(completed)"), "\(ended.text.text)")
    }

    @Test("paths, and the words of a command, are completed in zsh and fish by what they have for these")
    func otherShells() async throws {
      let zsh = try await durable("--generate-completion-script", "zsh").text
      #expect(zsh.contains("'--cwd[Run in this folder.]:folder:_files -/'"))
      #expect(zsh.contains("]:file:_files'") && zsh.contains("'(-)*::cmd:_normal'") && zsh.contains("':path:_files'"))
      let fish = try await durable("--generate-completion-script", "fish").text
      #expect(fish.contains("-l 'cwd' -d 'Run in this folder.' -rfa '(__durable_complete_directories)'"))
      #expect(fish.contains(/"durable add" -ge 1' -kFa '\(__fish_complete_command\)'/))
      #expect(fish.contains(/"durable repair" -eq 1' -F/))
      for script in [zsh, fish] { #expect(!script.contains("words of a command")) }
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
