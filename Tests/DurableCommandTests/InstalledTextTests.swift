#if Shell
  import Foundation
  import Testing

  @Suite("What is installed beside the command")
  struct InstalledTextTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("completions for shells, which those that are here can read", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) async throws {
      let script = try await durable("--generate-completion-script", shell)
      #expect(script.status == .exited(0))
      for word in ["retry", "batch", "older-than", "catch-up"] { #expect(script.text.contains(word), "\(word)") }
      try script.text.write(toFile: durable.folder + "/script", atomically: true, encoding: .utf8)
      let read = try await durable.shell("command -v \(shell) > /dev/null || exit 0; \(shell) -n script")
      #expect(read.status == .exited(0), "\(read.stderr)")
    }

    @Test("a manual page with every command and option that the help has, which roff takes without a word")
    func manual() async throws {
      let page = try await durable("manual")
      #expect(page.status == .exited(0))
      for command in ["add", "get", "status", "batch", "service", "prune", "schedule"] {
        #expect(page.text.contains(".SS durable \(command)"), "\(command)")
        let help = try await durable(command, "--help").text
        for option in Set(help.matches(of: /--[a-z][a-z\-]+/).map { String($0.output) }).subtracting([
          "--help", "--version",
        ]) {
          #expect(page.text.contains(option.replacing("-", with: "\\-")), "\(command) \(option)")
        }
      }
      try page.text.write(toFile: durable.folder + "/durable.1", atomically: true, encoding: .utf8)
      let read = try await durable.shell("command -v groff > /dev/null || exit 0; groff -man -ww -z -K utf8 durable.1")
      #expect(read.stderr == "")
    }
  }
#endif
