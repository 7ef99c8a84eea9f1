#if Shell
  import Foundation
  import Testing

  @Suite("What is typed")
  struct UsageTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("a number below zero is a value like any other", arguments: [["--priority", "-5"], ["--priority=-5"]])
    func negative(option: [String]) async throws {
      let id = try await durable.run((["add"] + option + ["--", "true"]).map { Array($0.utf8) }).line
      #expect(try await durable.job(try #require(Int(id)))["priority"] as? Int == -5)
    }

    @Test(
      "what begins with a dash and can be no value is refused by its own words",
      arguments: [
        (["add", "--max-attempts", "-5", "--", "true"], "--max-attempts is -5; it must be at least 1"),
        (["add", "--delay", "-5", "--", "true"], "'-5' is no length of time"),
        (["add", "--timeout", "-5", "--", "true"], "'-5' is no length of time"),
        (["status", "--limit", "-5"], "--limit is -5; it must be at least 1"),
        (["log", "1", "--attempt", "-5"], "--attempt is -5; the first one is 1"),
        (["wait", "--timeout", "-5"], "'-5' is no length of time"),
        (["work", "--concurrency", "-5"], "--concurrency is -5; it must be at least 1"),
        (["work", "--per-host", "-5"], "--per-host is -5; it must be at least 1"),
        (["get", "--size", "-5", "https://example.org/x"], "--size: a file can't have -5 bytes"),
        (["get", "--concurrency", "-5", "https://example.org/x"], "--concurrency is -5; it must be at least 1"),
        (["get", "--max-attempts", "-5", "https://example.org/x"], "--max-attempts is -5; it must be at least 1"),
        (["get", "--limit-rate", "-5", "https://example.org/x"], "--limit-rate -5 is no number of bytes"),
      ])
    func refusedNegative(arguments: [String], words: String) async throws {
      let outcome = try await durable.run(arguments.map { Array($0.utf8) })
      #expect(outcome.status == .exited(2))
      #expect(outcome.stderr.contains(words), "\(outcome.stderr)")
    }

    @Test(
      "what can't be meant is refused",
      arguments: [
        (["add", "--after", "", "--", "true"], "--after names no job"),
        (["add", "--after-end", "", "--", "true"], "--after names no job"),
        (["add", "--key", "12", "--", "true"], "--key 12: a number is a job's id"),
        (["add", "--cwd", "", "--", "true"], "--cwd names no folder"),
        (["add", "--env", "=x", "--", "true"], "--env =…: the name is missing"),
        (["add", "--env", "API_TOKEN x", "--", "true"], "--env API_TOKEN…: there is no such variable here"),
        (["add", "--env", "A\nB=c", "--", "true"], "give each variable an --env of its own"),
        (["add", "--lane-goes-on", "--", "true"], "--lane-goes-on goes with --lane"),
        (["add", "--delay", "5", "minutes", "--", "ls"], "a time is one word, as in --delay 5m."),
        (["add", "--timeout=2", "Hours", "ls"], "a time is one word, as in --timeout 2h."),
        (["add", "--deadline", "2", "weeks", "ls"], "a time is one word, as in --deadline 14d."),
        (["add", "--at", "2040-11-21", "18:30", "ls"], "a time is one word, as in --at 2040-11-21T18:30."),
        (["add", "--at", "6:30", "pm", "ls"], "a time is one word, as in --at 18:30, or 2026-11-21T18:30."),
        (
          ["schedule", "add", "n", "--cron", "0 4 * * *", "--", "ls"],
          "'--cron'; the expression stands behind the name, as"
        ),
        (["schedule", "add", "--cron=0 4 * * *", "n"], "durable schedule add nightly '0 4 * * *' -- …"),
        (["get", "-d", "/tmp", "http://h/a"], "unknown option '-d'; here that is -o"),
        (["get", "--checksum=sha-256=x", "http://h/a"], "unknown option '--checksum'; here that is --sha256"),
        (["get", "-c", "http://h/a"], "leave it out: what is there of a file is gone on with"),
        (["get", "-o", "http://h/a"], "-o took the URL for the name of a folder"),
        (["add", "-g", "photos", "--", "ls"], "unknown option '-g'; here that is --queue."),
        (["work", "-j", "2"], "unknown option '-j'; here that is --concurrency"),
        (["restart", "1"], "did you mean 'retry'?"), (["tail", "1"], "did you mean 'log -f'?"),
        (["status"] + Array(repeating: ["--tag", "t"], count: 500).flatMap { $0 }, "stand 500 times; 400 at most do"),
        (["show", "1", "2"], "'show' is for one job at a time"),
        (["cancel", "backup"], "a job with a key is found with: durable status --key"),
        (["show", "backup"], "a job with a key is found with: durable status --key"),
      ])
    func refused(arguments: [String], words: String) async throws {
      let outcome = try await durable.run(arguments.map { Array($0.utf8) })
      #expect(outcome.status == .exited(2))
      #expect(outcome.stderr.contains(words), "\(outcome.stderr)")
    }

    @Test("from its first word on all belongs to the command, and what looks like an option of add is told")
    func afterTheCommand() async throws {
      let told = try await durable("add", "ls", "-la", "--store=X", "--tag", "t", "--hidden", "--", "--key")
      #expect(told.text == "1\n")
      #expect(told.stderr.hasPrefix("--store, --tag after 'ls' belong to the command; "), "\(told.stderr)")
      let words = try #require(try await durable.job(1)["payload"] as? [String: Any])["arguments"] as? [String]
      #expect(words == ["ls", "-la", "--store=X", "--tag", "t", "--hidden", "--", "--key"])
      let line = try await durable("add", "echo x | cat")
      #expect(line.status == .exited(0))
      #expect(
        line.stderr == "'echo x | cat' is taken for the name of a program; with --shell it is a line for /bin/sh\n")
      let secret = "curl -H 'Authorization: Bearer hush' -u me:hush https://u:hush@h.example"
      for words in [[secret], [secret, "--tag", "t"], ["--input", "none", secret]] {
        let outcome = try await durable.run((["add"] + words).map { Array($0.utf8) })
        #expect(outcome.stderr.contains("curl -H") && !outcome.stderr.contains("hush"), "\(outcome.stderr)")
      }
      for meant in [["--", "ls", "--store", "X"], ["ls", "--help"], ["--delay", "5", "--", "minutes"]] {
        let outcome = try await durable.run((["add"] + meant).map { Array($0.utf8) })
        #expect(outcome.status == .exited(0))
        #expect(outcome.stderr == "")
      }
    }

    @Test("-y is shown where something is asked, and taken by verbs that ask nothing, too")
    func yes() async throws {
      for (verb, isShown) in [("cancel", true), ("edit", true), ("wait", false), ("retry", false), ("resume", false)] {
        #expect(try await durable("help", verb).text.contains("-y, --yes") == isShown, "\(verb)")
      }
      #expect(try await durable("retry", "-y").status == .exited(0))
    }

    @Test(
      "a word that is no UTF-8 is refused, as two that name something would be one; those of a command are kept",
      arguments: [
        "add --unique X -- true", "add --key X -- true", "add --tag=X -- true", "add --tag a --tag X -- true",
        "add --queue X true", "add --lane X true", "add --requires X true", "add --cwd X -- true",
        "add --after X -- true",
        "add --after-end X -- true", "add --after-failure X -- true", "add --batch X -- true", "add -i X",
        "schedule add X --every 1h -- true", "schedule add a --every 1h --tag X -- true", "schedule pause X",
        "batch create X", "batch show X", "cancel --tag X", "edit 1 --queue X -- true", "status --key X",
        "pause --queue X",
        "limits set --queue X --running 1", "limits set --lane X --running 1", "constraint set X yes", "work --queue X",
        "fail 1 --message X", "send --key X POST http://localhost/", "get -o . X", "repair X",
      ])
    func bytesOfWords(line: String) async throws {
      let outcome = try await durable.shell("\"$DURABLE\" " + line.replacing("X", with: #"$'caf\xe9'"#))
      #expect(outcome.status == .exited(2))
      #expect(outcome.text == "")
      #expect(outcome.stderr.contains(#"caf\xe9' is no UTF-8"#), "\(outcome.stderr)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: durable.folder) == [])
    }

    @Test(
      "what may be a secret of a word that is no UTF-8 is not told",
      arguments: [
        ("add --env X=hunter2$'\\xff' -- true", "what --env gives is no UTF-8"),
        ("add --env=X=hunter2$'\\xff' -- true", "give --env its name alone"),
        ("get -H 'X: hunter2'$'\\xff' http://localhost/", "what -H gives is no UTF-8"),
        ("get --header='X: hunter2'$'\\xff' http://localhost/", "what --header gives is no UTF-8"),
        ("send POST http://me:hunter2$'\\xff'@localhost/", "'http://me:***@localhost/' is no UTF-8"),
        ("status --store postgres://me:hunter2$'\\xff'@localhost/", "'postgres://me:***@localhost/' is no UTF-8"),
      ])
    func bytesOfSecrets(line: String, words: String) async throws {
      let outcome = try await durable.shell("\"$DURABLE\" " + line)
      #expect(outcome.status == .exited(2))
      #expect(outcome.stderr.contains(words) && !outcome.stderr.contains("hunter2"), "\(outcome.stderr)")
    }

    @Test("add says on a terminal that it waits for a key that no job has")
    func unknownKey() async throws {
      let outcome = try await durable.onTerminal("add", "--after", "1,2", "--", "true") { terminal in
        try await terminal.shows("No job has the key '1,2' yet")
      }
      #expect(outcome.status == .exited(0))
    }

    @Test("a key, a tag, a reason and an output may begin with a dash")
    func dashes() async throws {
      let id = try await durable.add("--key", "-k", "--tag", "-t", "--", "true")
      #expect(try await durable("suspend", "\(id)", "--reason", "-r").status == .exited(0))
      #expect(try await durable.job(id)["reason"] as? String == "-r")
      #expect(try await durable("status", "--key", "-k", "--tag", "-t").text.hasPrefix("\(id)  suspended"))
      #expect(try await durable("complete", "\(id)", "--output", "-1").status == .exited(0))
      #expect(try await durable.job(id)["output"] as? Int == -1)
    }

    @Test(
      "what was probably meant is told",
      arguments: [
        (["statsu"], "there is no command 'statsu'; did you mean 'status'?"),
        (["sus"], "there is no command 'sus'; did you mean 'suspend'?"),
        (["help", "unpuase"], "there is no command 'unpuase'; did you mean 'unpause'?"),
        (["edit", "2", "--max-attempts", "3"], "unknown option '--max-attempts'"),
        (["cancel", "3-1"], "the range runs backwards"),
        (["ls"], "there is no command 'ls'; did you mean 'status'?"),
        (["kill", "1"], "there is no command 'kill'; did you mean 'cancel'?"),
        (["pause", "nightly"], "unexpected argument 'nightly'; a queue is named by --queue"),
        (["status", "3"], "unexpected argument '3'; 'durable show 3' tells about a job"),
        (["batch", "p"], "'p'; 'durable batch' has the verbs list, create, show, wait, close"),
        (["constraint", "x", "yes"], "'x', 'yes'; 'durable constraint' has the verbs list, set"),
        (["cancel", "all"], "all are meant by --all"),
        (["edit", "5", "--delay", "5", "minutes"], "a time is one word, as in --delay 5m"),
        (["add", "-i", "missing"], "--input missing: this file can't be read: No such file"),
        (["work", "--conc", "3"], "unknown option '--conc'; did you mean '--concurrency'?"),
        (["work", "-c", "3"], "unknown option '-c'"),
        (["work", "--conc=3"], "unknown option '--conc'; did you mean '--concurrency'?"),
        (["cancel", "--tga", "x"], "unknown option '--tga'; did you mean '--tag'?"),
        (["cancel", "--reson=7", "x"], "unknown option '--reson'; did you mean '--reason'?"),
        (["constraint", "set", "--foo", "x"], "unknown option '--foo'"),
        (["move", "--form", "y"], "unknown option '--form'; did you mean '--from'?"),
        (["service", "--nmae", "x"], "unknown option '--nmae'; did you mean '--name'?"),
        (["cancel", "--tag", "--foo", "x", "--bar"], "unknown option '--bar'"),
        (["frobnicate"], "there is no command 'frobnicate'"), (["status", "--jsn"], "did you mean '--json'?"),
        (["add", "--envi=TOKEN=secret", "--", "true"], "unknown option '--envi'; did you mean '--env'?"),
        (["add", "--priorty", "5", "--", "true"], "unknown option '--priorty'; did you mean '--priority'?"),
      ])
    func misspelt(arguments: [String], words: String) async throws {
      let outcome = try await durable.run(arguments.map { Array($0.utf8) })
      #expect(outcome.status == .exited(2))
      #expect(outcome.text == "")
      #expect(outcome.stderr.contains(words), "\(outcome.stderr)")
    }

    @Test(
      "a refusal is a line that begins with the program's name, and another that says where to look",
      arguments: [
        (["cancel"], "cancel"), (["show", "abc"], "show"), (["show", "1", "2"], "show"), (["add", "--queue"], "add"),
        (["add", "--priority", "high", "--", "true"], "add"), (["status", "--state", "odd"], "status"),
        (["status", "--limit", "0"], "status"), (["status", "--frob"], "status"),
      ])
    func manner(arguments: [String], command: String) async throws {
      let outcome = try await durable.run(arguments.map { Array($0.utf8) })
      #expect(outcome.status == .exited(2))
      let lines = outcome.stderr.split(separator: "\n")
      #expect(lines.count == 2)
      #expect(lines.first?.wholeMatch(of: /durable: [^A-Z\s].*/) != nil, "\(outcome.stderr)")
      #expect(lines.last == "See 'durable \(command) --help' for more information.")
    }

    @Test(
      "what stdout has no room for, or can't take as it is closed, is told, and is no success",
      .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "needs /dev/full"),
      arguments: ["status", "status --json", "add -- true", "show 1", "--help", "--version"],
      [("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")])
    func fullOutput(line: String, end: (to: String, why: String)) async throws {
      _ = try await durable.add("--", "true")
      let outcome = try await durable.shell("\"$DURABLE\" \(line) \(end.to)")
      #expect(outcome.status == .exited(1))
      let words = outcome.stderr.split(separator: "\n").filter { $0.contains("standard output") }
      #expect(words.count == 1)
      #expect(words.first?.contains("standard output can't be written: \(end.why)") == true)
    }

    @Test(
      "what is stored is told where its id can't be written",
      .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "needs /dev/full"),
      arguments: [
        ("add -- true", "job 1 is stored; its number could not be written"),
        ("add --json -- true", "job 1 is stored; its number could not be written"),
        ("add -i lines", "jobs 1, 2 are stored; their numbers could not be written"),
        ("send POST http://127.0.0.1:9/", "job 1 is stored; its number could not be written"),
        ("send POST http://127.0.0.1:9/ --json", "job 1 is stored; its number could not be written"),
        ("get --detach http://127.0.0.1:9/a", "job 1 is stored; its number could not be written"),
        ("get --detach --json http://127.0.0.1:9/a", "job 1 is stored; its number could not be written"),
        ("schedule add x @daily -- true", "the schedule 'x' is stored; that could not be written"),
        ("schedule add x @daily --json -- true", "the schedule 'x' is stored; that could not be written"),
      ])
    func storedAllTheSame(line: String, words: String) async throws {
      try Data("true\nfalse\n".utf8).write(to: URL(fileURLWithPath: durable.folder + "/lines"))
      let outcome = try await durable.shell("\"$DURABLE\" \(line) > /dev/full")
      #expect(outcome.status == .exited(1))
      #expect(outcome.stderr.contains(words), "\(outcome.stderr)")
    }

    @Test("a worker whose stdout is full works on")
    func fullWorkLog() async throws {
      let ids = [try await durable.add("--", "true"), try await durable.add("--", "true")]
      let outcome = try await durable.shell("\"$DURABLE\" work --drain --concurrency 1 > /dev/full")
      #expect(outcome.status == .exited(1))
      for id in ids { #expect(try await durable.state(id) == "succeeded") }
    }

    @Test("where the disk takes no more, words say so, and no number of SQLite's")
    func diskWords() async throws {
      _ = try await durable.add("--", "true")
      let outcome = try await durable.shell("trap '' XFSZ; ulimit -f 8; \"$DURABLE\" add -- true")
      #expect(outcome.status == .exited(5))
      #expect(outcome.stderr.contains("Free some space"), "\(outcome.stderr)")
      #expect(outcome.stderr.firstMatch(of: /SQLite \d/) == nil, "\(outcome.stderr)")
    }
  }
#endif
