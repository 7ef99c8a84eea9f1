#if Shell
  import Foundation
  import TestProcesses
  import Testing

  @Suite("Commands run")
  struct RunTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("a command that succeeds has its exit code as output, and what it wrote is kept apart")
    func success() async throws {
      let id = try await durable.add("--shell", "--", "echo out; echo err >&2")
      let work = try await durable("work", "--drain")
      #expect(work.status == .exited(0))
      let job = try await durable.job(id)
      #expect(job["state"] as? String == "succeeded")
      #expect(job["output"] as? [String: Int] == ["exitCode": 0])
      let log = try await durable("log", "\(id)")
      #expect(log.text == "out\n")
      #expect(log.stderr.contains("\nerr\n"))
    }

    @Test("a command that fails says so with its code and the last line that it wrote to stderr; draining exits with 1")
    func failure() async throws {
      let id = try await durable.add("--shell", "--", "echo first >&2; echo last >&2; exit 7")
      let work = try await durable("work", "--drain")
      #expect(work.status == .exited(1))
      #expect(try await durable.state(id) == "failed")
      #expect(try await durable.message(id) == "exited with code 7: last")
    }

    @Test("the log says how many processes a command left in its session, which end with it")
    func left() async throws {
      for line in ["sleep 600 &", "sleep 600 & sleep 600 &", "true"] {
        _ = try await durable.add("--shell", "--", "\(line) exit 0".replacing("true exit", with: "exit"))
      }
      #expect(try await durable("work", "--drain").status == .exited(0))
      let logs = try await [durable("log", "1"), durable("log", "2"), durable("log", "3")].map(\.stderr)
      #expect(logs[0].contains("── succeeded; a process that it left was ended ("), "\(logs[0])")
      #expect(logs[1].contains("── succeeded; 2 processes that it left were ended ("), "\(logs[1])")
      #expect(logs[2].contains("── succeeded ("), "\(logs[2])")
    }

    @Test("show tells of an error in words, and JSON has its code")
    func failureShown() async throws {
      let id = try await durable.add("--shell", "--", "exit 7")
      try await durable("work", "--drain")
      let shown = try await durable("show", "\(id)").text
      #expect(shown.contains(#/ attempt 1, [^,]*: exited with code 7\n/#), "\(shown)")
      let errors = try #require(try await durable.job(id)["errors"] as? [[String: Any]])
      #expect(errors.first?["code"] as? String == "CommandFailure")
    }

    @Test("who drains a queue hears of what failed in other workers meanwhile")
    func failureElsewhere() async throws {
      let (began, go) = (try Fifo(in: durable, "began"), try Fifo(in: durable, "go"))
      _ = try await durable.add("--shell", "--", "read line < go; exit 3")
      _ = try await durable.work("--concurrency", "1") { [durable] worker in
        try await worker.says("started", 1)
        _ = try await durable.add("--shell", "--", "echo > began")
        _ = try await durable.add("--shell", "--queue", "other", "--", "true")
        async let drained = durable("work", "--drain")
        _ = await began.said()
        await go.say("go")
        let outcome = try await drained
        #expect(outcome.status == .exited(1))
        #expect(
          outcome.stderr.contains(
            "Failed meanwhile: 0 here, 1 in other workers. 'durable status --state failed' lists them\n"),
          "\(outcome.stderr)")
      }
    }

    @Test("a command that a signal killed says which")
    func signal() async throws {
      let id = try await durable.add("--shell", "--", "kill -9 $$")
      try await durable("work", "--drain")
      #expect(try await durable.message(id) == "killed by signal 9 (SIGKILL)")
    }

    @Test(
      "what can't be started fails for good, whatever attempts are left",
      arguments: [
        (["no-such-program"], "command not found: no-such-program"),
        (
          ["no-such program"],
          "command not found: no-such …; this is one word, with a space in it: give each word apart, or use --shell"
        ),
        (
          ["no-such program", "argument"],
          "command not found: no-such …; this is one word, with a space in it: give each word apart, or use --shell"
        ),
        (["./plain"], "./plain is not executable: Permission denied"),
        (["./missing"], "command not found: ./missing"),
        (["./script"], "./script can't be run: what its first line names, or the loader that it needs, is not there"),
      ])
    func impossible(command: [String], message: String) async throws {
      #expect(FileManager.default.createFile(atPath: durable.folder + "/plain", contents: Data("x".utf8)))
      let script = durable.folder + "/script"
      #expect(FileManager.default.createFile(atPath: script, contents: Data("#!/no/such/shell\n".utf8)))
      #expect(chmod(script, 0o700) == 0)
      let outcome = try await durable.run(
        (["add", "--max-attempts", "3", "--"] + command).map { Array($0.utf8) })
      let id = try #require(Int(outcome.line))
      #expect(try await durable("work", "--drain").status == .exited(1))
      #expect(try await durable.message(id) == message)
      #expect(try await durable.job(id)["attempt"] as? Int == 1)
    }

    @Test("a program that is found first in PATH and can't be run is not replaced by one that stands later")
    func firstInPath() async throws {
      for folder in ["first", "second"] {
        try FileManager.default.createDirectory(
          atPath: durable.folder + "/" + folder, withIntermediateDirectories: false)
      }
      try FileManager.default.createSymbolicLink(
        atPath: durable.folder + "/first/program", withDestinationPath: "program")
      try FileManager.default.copyItem(atPath: "/bin/true", toPath: durable.folder + "/second/program")
      let id = try await durable.add("--env", "PATH=first:second", "--", "program")
      #expect(try await durable("work", "--drain").status == .exited(1))
      #expect(try await durable.message(id).hasPrefix("can't run program: "))
    }

    @Test("a folder that is gone fails the job, saying so")
    func folderGone() async throws {
      let folder = durable.folder + "/gone"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      let id = try await durable.add("--cwd", folder, "--", "true")
      try FileManager.default.removeItem(atPath: folder)
      try await durable("work", "--drain")
      #expect(try await durable.message(id).hasPrefix("the folder "))
      #expect(try await durable.message(id).contains("/gone is gone"))
    }

    @Test("arguments arrive byte for byte: spaces, quotes, line breaks, an empty one, and what is no UTF-8")
    func bytes() async throws {
      let arguments: [[UInt8]] = [
        Array("a b".utf8), Array("it's \"$HOME\" `x` \\n".utf8), Array("two\nlines".utf8), [], [0xff, 0xfe, 0x41],
        Array("é".utf8),
      ]
      let outcome = try await durable.run(
        [Array("add".utf8), Array("--".utf8), Array("printf".utf8), Array(#"%s\0"#.utf8)] + arguments)
      let id = try #require(Int(outcome.line))
      #expect(try await durable("work", "--drain").status == .exited(0))
      let log = try await durable("log", "\(id)")
      #expect(log.stdout == arguments.flatMap { $0 + [0] })
    }

    @Test("what show prints can be typed again, and gives the same arguments")
    func typedAgain() async throws {
      let arguments: [[UInt8]] = [Array("it's".utf8), Array("a\nb\t\\".utf8), [0xff, 0x80], Array("$x *".utf8)]
      let outcome = try await durable.run(
        [Array("add".utf8), Array("--".utf8), Array("printf".utf8), Array(#"%s\0"#.utf8)] + arguments)
      let shown = try await durable("show", outcome.line)
      let typed = try #require(shown.text.split(separator: "\n").first)
      let id = try await durable.add("--", "bash", "-c", String(typed))
      try await durable("work", "--drain")
      #expect(try await durable("log", "\(id)").stdout == arguments.flatMap { $0 + [0] })
    }

    @Test(
      "a command has the umask and the folder of who added it, an empty stdin, and only the variables that are named")
    func surroundings() async throws {
      let id = try await durable.run(
        ["add", "--env", "MINE=1", "--env", "THEIRS", "--shell", "--", "umask; pwd; cat; env | sort"]
          .map { Array($0.utf8) },
        environment: ["THEIRS": "2", "SECRET": "3", "LC_TIME": "C"]
      ).line
      try await durable("work", "--drain")
      let lines = try await durable("log", id).text.split(separator: "\n")
      let mask = umask(0)
      umask(mask)
      #expect(Int(lines[0], radix: 8) == Int(mask))
      #expect(
        URL(fileURLWithPath: String(lines[1])).resolvingSymlinksInPath().path.hasSuffix(
          (durable.folder as NSString).lastPathComponent))
      #expect(lines.contains("MINE=1"))
      #expect(lines.contains("THEIRS=2"))
      #expect(lines.contains("LC_TIME=C"))
      #expect(!lines.contains("SECRET=3"))
      #expect(!lines.contains { $0.hasPrefix("DURABLE_STORE=") })
    }

    @Test("each attempt has a log of its own")
    func attempts() async throws {
      let id = try await durable.add("--max-attempts", "2", "--shell", "--", "echo run >> runs; wc -l < runs; exit 1")
      #expect(try await durable("work", "--drain").status == .exited(1))
      let both = try await durable("log", "\(id)")
      #expect(both.text.split(whereSeparator: \.isWhitespace) == ["1", "2"])
      #expect(both.stderr.contains("attempt 1,"))
      #expect(both.stderr.contains("attempt 2,"))
      let second = try await durable("log", "\(id)", "--attempt", "2")
      #expect(second.text.split(whereSeparator: \.isWhitespace) == ["2"])
    }

    @Test("a gigabyte on stdout leaves 10 MB on the disk: the beginning, the end, and a line that says what is missing")
    func flood() async throws {
      let id = try await durable.add("--shell", "--", "echo begin; head -c 1073741824 /dev/zero; echo end")
      #expect(try await durable("work", "--drain").status == .exited(0))
      let folder = "\(durable.store)-jobs/\(id)"
      let sizes = try FileManager.default.contentsOfDirectory(atPath: folder).map { name in
        try #require(try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.size] as? Int)
      }
      let onDisk: Int = sizes.reduce(0, +)
      #expect(onDisk < 10_490_000)
      let outcome = try await durable("log", "\(id)")
      let log = outcome.stdout
      #expect(log.starts(with: Array("begin\n".utf8)))
      #expect(log.suffix(4) == Array("end\n".utf8))
      // What is missing is said beside the data, not in it.
      let missing = try #require(outcome.stderr.firstMatch(of: /(\d+) bytes of stdout left out/)?.1)
      let total: Int = try #require(Int(missing)) + log.count
      #expect(total == 1_073_741_834)
    }

    @Test("who drains a queue gets every line, however late it reads them")
    func lateReader() async throws {
      let word = String(repeating: "x", count: 60_000)
      for _ in 0..<20 { _ = try await durable.add("--", "true", word) }
      let line = """
        mkfifo out; "$DURABLE" work --drain --json > out 7<&- & worker=$!
        exec 7<out; "$DURABLE" wait; wc -l <&7; wait $worker
        """
      let outcome = try await durable.shell(line)
      #expect(outcome.status == .exited(0))
      #expect(outcome.line == "40")
    }

    @Test("what a command leaves behind in its group ends with it")
    func leftBehind() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add("--shell", "--", "sleep 864000 & echo $! > said")
      async let work = durable("work", "--drain")
      let child = try #require(pid_t(await fifo.said()))
      #expect(try await work.status == .exited(0))
      try await durable.untilGone(id)
      #expect(kill(child, 0) != 0 || isZombie(child))
    }

    @Test("log -f shows a command as it goes on, over its attempts, until the job has ended")
    func logFollows() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add(
        "--max-attempts", "2", "--shell", "--", "echo ran; test -e again || { touch again; exit 1; }; cat said")
      async let log = durable("log", "-f", "\(id)")
      async let work = durable("work", "--drain")
      await fifo.say("go")
      #expect(try await work.status == .exited(0))
      let shown = try await log
      #expect(shown.status == .exited(0))
      #expect(shown.text == "ran\nran\ngo\n")
    }

    @Test("log -f of a job that is removed says so")
    func logOfRemoved() async throws {
      let id = try await durable.add("--delay", "1h", "--", "true")
      let log = try await durable.run("log", "-f", "\(id)") { [durable] log in
        try await log.says("waits for its time")
        #expect(try await durable("remove", "\(id)").status == .exited(0))
        try await log.says("durable: job \(id) has been removed\n")
      }
      #expect(log.status == .exited(3))
    }

    @Test("a queue may have any name, and no word of it is taken for an option")
    func oddQueue() async throws {
      let id = try await durable.add("--queue", "-x", "--", "true")
      #expect(try await durable("work", "--drain", "--queue", "-x").status == .exited(0))
      #expect(try await durable.state(id) == "succeeded")
      let unit = try await durable("service", "install", "--print", "--queue", "-x")
      #expect(unit.status == .exited(0) && unit.text.contains("-x"), "\(unit.stderr)")
    }

    @Test("a folder whose name is no UTF-8 is entered as it is, and is none for a store that is named from there")
    func oddFolder() async throws {
      let added = try await durable.shell(
        #"mkdir $'a\xe9'; ln -s $'a\xe9' link; "$DURABLE" add --cwd link -- touch ran; "$DURABLE" work --drain"#)
      #expect(added.status == .exited(0), "\(added.text)\(added.stderr)")
      #expect(try await durable.shell(#"test -e $'a\xe9/ran'"#).status == .exited(0))
      for line in [#"cd $'a\xe9'"#, "mkdir gone; cd gone; rmdir ../gone"] {
        let refused = try await durable.shell("\(line); exec \"$DURABLE\" status --store j.sqlite")
        #expect(refused.status == .exited(2), "\(refused.stderr)")
      }
    }

    @Test("log shows what is there when it begins, of a command that goes on writing")
    func endless() async throws {
      let id = try await durable.add("--shell", "--", "exec yes")
      let durable = durable
      _ = try await durable.work { worker in
        try await worker.says("started", id)
        await until {
          (try? String(contentsOfFile: "\(durable.store)-jobs/\(id)/1.stdout", encoding: .utf8))?.isEmpty == false
        }
        #expect(try await durable.shell("\"$DURABLE\" log \(id) | tail -c 2").text == "y\n")
        kill(worker.process, SIGTERM)
        await worker.ends()
      }
    }

    @Test("a store whose path is no UTF-8 is refused, since two such names would be one")
    func storeOfBytes() async throws {
      for (line, words) in [
        (#"DURABLE_STORE=$'a\xff' "$DURABLE" add -- true"#, "the variable DURABLE_STORE is no UTF-8"),
        (#""$DURABLE" add --store $'a\xff' -- true"#, #"$'a\xff' is no UTF-8"#),
        (#"DURABLE_STORE= XDG_DATA_HOME= HOME=$PWD/$'a\xff' "$DURABLE" add -- true"#, "the variable HOME is no UTF-8"),
      ] {
        let refused = try await durable.shell(line)
        #expect(refused.status == .exited(2))
        #expect(refused.stderr.contains(words), "\(refused.stderr)")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: durable.folder) == [])
    }
  }

  /// A process that has ended and whose parent has not noticed.
  func isZombie(_ process: pid_t) -> Bool {
    let stat = FileManager.default.contents(atPath: "/proc/\(process)/stat") ?? Data()
    return String(decoding: stat, as: UTF8.self).contains(") Z ")
  }
#endif
