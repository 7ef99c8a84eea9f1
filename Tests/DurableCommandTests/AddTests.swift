#if Shell
  import Foundation
  import TestProcesses
  import Testing

  @Suite("durable add")
  struct AddTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test(
      "thousands of words are stored as they were given, with and without -- before them, which is kept behind others")
    func manyWords() async throws {
      let many = try await durable.shell("$DURABLE add --json -- echo $(seq 8000) -- x")
      let typed = try #require(try many.json["payload"] as? [String: Any])["arguments"] as? [String]
      #expect(typed == ["echo"] + (1...8000).map(String.init) + ["--", "x"])
      let words = try await durable("add", "--json", "--cwd", "/", "git", "checkout", "--", "--json", "a b")
      let payload = try #require(try words.json["payload"] as? [String: Any])
      #expect(payload["arguments"] as? [String] == ["git", "checkout", "--", "--json", "a b"])
      #expect(try await durable("add", "--input", "list", "--", "true").status == .exited(2))
      #expect(try await durable("add", "--").stderr.contains("what is to be run?"))
    }

    @Test("edit says that it waits for another")
    func editWaits() async throws {
      let id = try await durable.add("--", "true")
      mkdir("\(durable.store)-jobs", 0o700)
      let lock = open("\(durable.store)-jobs/edits", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
      let ended = try await durable.run("edit", "\(id)", "--", "false") { program in
        try await program.says("Another 'durable edit' of this store is at work; it is waited for")
        release(lock)
      }
      #expect(ended.status == .exited(0), "\(ended.stderr)")
    }

    @Test("what a job waits for by thousands is stored, and a command keeps its own options of that name")
    func manyWaits() async throws {
      let added = try await durable.shell(
        "$DURABLE add --json $(seq -f '--after k%g' 3000) --after-end e --after-end f tool --after a --after b -- c")
      let payload = try #require(try added.json["payload"] as? [String: Any], "\(added.stderr)")
      #expect(payload["arguments"] as? [String] == ["tool", "--after", "a", "--after", "b", "--", "c"])
      let shown = try await durable("show", "1", "--json").json
      let waits = try #require(shown["after"] as? [[String: Any]])
      #expect(waits.count == 3002)
    }

    @Test("a list is stored whole, a line for the shell each, or not at all")
    func list() async throws {
      let text = "# two things\n\necho one > a; echo x >> a\n  echo \"two  words\" > b\n"
      try Data(text.utf8).write(to: URL(fileURLWithPath: durable.folder + "/list"))
      let added = try await durable("add", "-i", "list", "--tag", "t")
      #expect(added.text == "1\n2\n", "\(added.stderr)")
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try String(contentsOfFile: durable.folder + "/a", encoding: .utf8) == "one\nx\n")
      #expect(try String(contentsOfFile: durable.folder + "/b", encoding: .utf8) == "two  words\n")
      let piped = try await durable.shell(#"seq 1000 | sed 's/^/true /' | "$DURABLE" add -i -"#)
      #expect(piped.text.split(separator: "\n").count == 1000)
      for (byte, words) in [(377, "this line is not UTF-8"), (0, "this line has a zero byte in it")] {
        let broken = try await durable.shell("printf 'true\\na\\\(byte)\\n' | \"$DURABLE\" add -i -")
        #expect(broken.status == .exited(2))
        #expect(broken.stderr.contains("standard input:2: \(words)"), "\(broken.stderr)")
      }
      let counts = try #require(try await durable("status", "--json").json["counts"] as? [String: Int])
      #expect(counts["ready"] == 1000 && counts["succeeded"] == 2, "\(counts)")
      #expect(try await durable("add", "-i", "list", "--unique", "u").status == .exited(2))
      #expect(try await durable("add", "-i", "list", "--", "true").status == .exited(2))
      #expect(try await durable.shell(#""$DURABLE" add -i - < /dev/null"#).status == .exited(2))
      #expect(try await durable.add("--", "true") == 1003)
    }

    @Test(
      "of a list of which the process dies while it is stored nothing is there",
      .enabled(if: hasFaultPoints), arguments: ["insertJob:500", "insertSpec:999", "commitBefore"])
    func killedList(fault: String) async throws {
      _ = try await durable.add("--", "true")
      let line = #"set -o pipefail; seq 1000 | sed 's/^/true /' | DURABLE_FAULT=\#(fault) "$DURABLE" add -i -"#
      let killed = try await durable.shell(line)
      #expect(killed.status == .exited(128 + SIGKILL) && killed.text == "", "\(killed.status)")
      let counts = try #require(try await durable("status", "--json").json["counts"] as? [String: Int])
      #expect(counts["ready"] == 1 && counts.values.reduce(0, +) == 1, "\(counts)")
    }

    @Test("a command keeps what reaches agents and proxies, and with --env-all everything; none of it is shown")
    func environment() async throws {
      let names = [
        "SSH_AUTH_SOCK", "http_proxy", "HTTPS_PROXY", "no_proxy", "ALL_PROXY", "XDG_RUNTIME_DIR", "DURABLE_TEST_OTHER",
      ]
      let line = "for name in \(names.joined(separator: " ")); do printenv $name; done > said; true"
      let settings = names.map { "\($0)=of-\($0)" }.joined(separator: " ")
      for (option, count) in [("", names.count - 1), ("--env-all", names.count)] {
        let added = try await durable.shell("env \(settings) \"$DURABLE\" add \(option) --shell -- '\(line)'")
        let id = try #require(Int(added.line), "\(added.stderr)")
        #expect(try await durable("work", "--drain").status == .exited(0))
        let said = try String(contentsOfFile: durable.folder + "/said", encoding: .utf8)
        #expect(said == names.prefix(count).map { "of-\($0)\n" }.joined(), "\(said)")
        #expect(try await !durable("show", "\(id)", "--json").text.contains("of-SSH"))
      }
    }

    @Test("of which commands it was added in is in no command's variables, however they were given")
    func outerJobs() async throws {
      let id = try await durable.add("--", "true")
      for verb in ["add --env-all --json -- true", "edit \(id) --env-all --json"] {
        let outcome = try await durable.shell(
          "DURABLE_OUTER_JOBS=/none-jobs/1 DURABLE_TEST_OTHER=x \"$DURABLE\" \(verb)")
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        let number = try #require(try outcome.json["id"] as? Int)
        let job = try await durable("show", "\(number)", "--secrets", "--json").json
        let env = try #require((job["payload"] as? [String: Any])?["env"] as? [String: String])
        #expect(env["DURABLE_TEST_OTHER"] == "x" && env["DURABLE_OUTER_JOBS"] == nil, "\(verb)")
      }
    }

    @Test("that only stores leaves the store's file to others, and what it stored is there")
    func log() async throws {
      _ = try await durable.add("--", "true")
      let before = try #require(FileManager.default.contents(atPath: durable.store))
      #expect(try await durable.add("--", "true") == 2)
      #expect(FileManager.default.contents(atPath: durable.store) == before)
      #expect(try await durable.state(2) == "ready")
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(!FileManager.default.fileExists(atPath: durable.store + "-wal"))
      #expect(try await durable.state(2) == "succeeded")
    }
  }
#endif
