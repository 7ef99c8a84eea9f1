#if Shell
  import DurableJobs
  import DurableJobsProcess
  import DurableJobsSQLite
  import Foundation
  import Testing

  @testable import durable

  @Suite("Which jobs")
  struct SelectionTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    private func addSix() async throws {
      for tag in ["a", "b", "a", "b", "a", "b"] {
        _ = try await durable.add("--tag", tag, "--queue", tag, "--", "true")
      }
    }

    private func ids(_ outcome: Durable.Outcome) -> [Int] {
      outcome.text.split(separator: "\n").compactMap { $0.prefixMatch(of: /job (\d+)\b/).flatMap { Int($0.output.1) } }
    }

    @Test("ranges, tags, queues, states and all, on every verb, with a count")
    func verbs() async throws {
      try await addSix()
      let suspended = try await durable("suspend", "2-4")
      #expect(ids(suspended) == [2, 3, 4])
      #expect(suspended.stderr == "3 jobs suspended\n")
      for (words, changed, told) in [
        ("resume --tag b", [2, 4], "2 jobs resumed"), ("fail 1 --tag a", [1], "1 job failed"),
        ("complete --queue b --state ready", [2, 4, 6], "3 jobs succeeded"),
        ("cancel --all", [3, 5], "2 jobs cancelled"), ("cancel --all", [], "No job matches"),
        ("retry --tag a --state cancelled", [3, 5], "2 jobs will run again"), ("retry", [1], "1 job will run again"),
        ("remove 4-999 -y", [4, 5, 6], "3 jobs removed"),
      ] {
        let outcome = try await durable.run(words.split(separator: " ").map { Array($0.utf8) })
        #expect(ids(outcome) == changed, "\(words)")
        #expect(outcome.stderr == told + "\n", "\(words)")
      }
      #expect(try await durable("edit", "--queue", "a", "--priority", "3").stderr == "2 jobs changed\n")
      #expect(
        try await durable("status", "--json").json["counts"] as? [String: Int] == [
          "ready": 2, "scheduled": 0, "blocked": 0, "running": 0, "suspended": 0, "succeeded": 1, "failed": 0,
          "cancelled": 0,
          "skipped": 0,
        ])
    }

    @Test(
      "where what matches is in no state for the verb, the states are told, and what helps",
      arguments: [
        (["retry", "--tag", "a"], "No failed job matches, but 3 cancelled. --state cancelled runs those again"),
        (["resume", "--tag", "a"], "No suspended job matches, but 3 cancelled. \(back)"),
        (["cancel", "--tag", "a", "1-5"], "No unfinished job matches, but 3 cancelled. \(back)"),
        (["edit", "--tag", "a", "--priority", "1"], "No waiting job matches, but 3 cancelled. \(back)"),
        (["resume", "--tag", "b"], "No suspended job matches, but 3 ready"),
        (["retry", "--tag", "b"], "No failed job matches, but 3 ready"),
        (["retry"], "No job matches"), (["retry", "--tag", "none"], "No job matches"),
        (["retry", "--tag", "a", "--state", "skipped"], "No job matches"),
      ] as [([String], String)])
    func otherStates(words: [String], told: String) async throws {
      try await addSix()
      try await durable("cancel", "1", "3", "5")
      let outcome = try await durable.run(words.map { Array($0.utf8) })
      #expect(outcome.status == .exited(0))
      #expect(outcome.stderr == told + "\n")
    }

    @Test("what a handler has suspended is suspended with the others, and what a person has is left alone")
    func suspendsWhatIsHeld() async throws {
      for _ in 1...3 { _ = try await durable.add("--tag", "a", "--", "true") }
      let store = try SQLiteStore(path: durable.store)
      let worker = JobWorker(JobQueue(store: store))
      worker.register(ShellCommand.self) { _, _ in throw .suspend(because: "something lives") }
      try #require(await worker.runNext())
      await store.close()
      try await durable("suspend", "2")
      let outcome = try await durable("suspend", "--tag", "a", "--reason", "not today")
      #expect(ids(outcome) == [1, 3])
      #expect(try await durable.job(1)["reason"] as? String == "not today")
      #expect(try await durable("suspend", "--tag", "a").stderr.hasPrefix("No running or waiting job matches"))
    }

    private static let back = "'durable retry --state cancelled' runs those again"

    /// Stores so many commands that touch the file "ran", in one transaction.
    private func addMany(_ count: Int, _ options: String = "") async throws {
      let outcome = try await durable.shell("yes 'touch ran' | head -n \(count) | \"$DURABLE\" add \(options) -i -")
      try #require(outcome.status == .exited(0), "\(outcome.stderr)")
    }

    @Test("what ends all of a lane, however many they are, starts none of them", arguments: ["cancel", "remove"])
    func lane(verb: String) async throws {
      try await addMany(401, "--lane l")
      try await durable("suspend", "1")
      let fifo = try Fifo(in: durable)
      let durable = durable
      let busy = try await durable.add("--shell", "--", "cd '\(durable.folder)'; echo > said; read line < said")
      let ended = try await durable.work("--concurrency", "9") { worker in
        _ = await fifo.said()
        let outcome = try await durable(verb, "--lane", "l", "-y")
        #expect(outcome.status == .exited(0) && outcome.stderr.hasPrefix("401 jobs "), "\(outcome.stderr)")
        await fifo.say("go")
        try await worker.says("ended", busy)
        for id in 1...401 { #expect(!(await worker.hasSaid("started", id))) }
      }
      #expect(ended.stderr.contains("Working on"))
    }

    @Test("a chain of any length is cancelled, and removed, as one")
    func chain() async throws {
      let store = try SQLiteStore(path: durable.store)
      let queue = JobQueue(store: store)
      let command = ShellCommand(["true"], in: durable.folder)
      var last = try await queue.enqueue(command)
      for _ in 0..<400 { last = try await queue.enqueue(command, after: [last]) }
      // One that has a later one before it.
      try await queue.enqueue(command, after: [.key("late")])
      try await queue.enqueue(command, options: JobOptions(key: "late"))
      await store.close()
      #expect(try await durable("cancel", "--all").stderr == "403 jobs cancelled\n")
      #expect(try await durable("retry", "--state", "cancelled").stderr.contains("403 jobs") == false)
      let removed = try await durable("remove", "--all")
      #expect(removed.status == .exited(0) && removed.stderr == "403 jobs removed\n", "\(removed.stderr)")
    }

    @Test("no name of a lane does anything to a terminal")
    func escapes() async throws {
      let lane = "l\u{1b}[31m"
      for _ in 0..<2 { _ = try await durable.add("--lane", lane, "--", "true") }
      try await durable("suspend", "2")
      let outcome = try await durable("resume", "2")
      #expect(outcome.text.contains(#"l\x1b[31m"#) && !outcome.stdout.contains(0x1b), "\(outcome.text)")
    }

    @Test("of edits at the same time none is lost")
    func edits() async throws {
      let id = try await durable.add("--", "true")
      let outcome = try await durable.shell(
        "for i in 1 2 3 4 5 6 7 8; do \"$DURABLE\" edit \(id) --env E$i=$i & done; wait")
      #expect(outcome.stderr == "")
      let payload = try await durable("show", "\(id)", "--secrets", "--json").json["payload"] as? [String: Any]
      let variables = try #require(payload?["env"] as? [String: String])
      #expect(variables.keys.filter { $0.hasPrefix("E") }.count == 8, "\(variables)")
    }

    @Test("what runs is not edited, however it is named")
    func editsOfRunning() async throws {
      let fifo = try Fifo(in: durable)
      let durable = durable
      let id = try await durable.add("--shell", "--", "cd '\(durable.folder)'; echo > said; read line < said")
      _ = try await durable.work { worker in
        _ = await fifo.said()
        let outcome = try await durable("edit", "\(id)", "--priority", "5")
        #expect(outcome.status == .exited(2) && outcome.text == "", "\(outcome.text)")
        #expect(outcome.stderr == "durable: job \(id) is running; what runs is left as it is\n")
        #expect(try await durable.job(id)["priority"] as? Int == 0)
        await fifo.say("go")
        try await worker.says("ended", id)
      }
    }

    @Test("the output of what has succeeded stays as it was, and another is refused")
    func outputStays() async throws {
      try await addSix()
      #expect(try await durable("complete", "2", "--output", #"{"x": 1}"#).status == .exited(0))
      for again in [["complete", "2"], ["complete", "2", "--output", #"{"x": 1}"#]] {
        #expect(ids(try await durable.run(again.map { Array($0.utf8) })) == [2])
      }
      let other = try await durable("complete", "2", "3", "--output", #"{"x":2}"#)
      #expect(other.status == .exited(2))
      #expect(other.stderr.contains("job 2 has succeeded already; its output stays as it was"), "\(other.stderr)")
      #expect(ids(other) == [3])
      let json = try await durable("complete", "2", "--output", "null", "--json").json
      #expect(json["changed"] as? [Int] == [])
      #expect((json["refused"] as? [[String: Any]])?.first?["job"] as? Int == 2)
      #expect((try await durable.job(2)["output"] as? [String: Int]) == ["x": 1])
    }

    @Test("who reads no further gets the exit code all the same")
    func closedOutput() async throws {
      try await addSix()
      let outcome = try await durable.shell("\"$DURABLE\" suspend 1 9 | true; exit ${PIPESTATUS[0]}")
      #expect(outcome.status == .exited(3))
    }

    @Test("a range without a job is exit code 3, and nothing at all is 2")
    func nothing() async throws {
      try await addSix()
      let range = try await durable("cancel", "7-9")
      #expect(range.status == .exited(3))
      #expect(range.stderr.contains("there are no jobs 7-9"))
      let none = try await durable("cancel")
      #expect(none.status == .exited(2))
      #expect(none.stderr.contains("which jobs? Give ids, ranges as in 3-7"))
      #expect(try await durable("cancel", "5-3").status == .exited(2))
    }

    @Test("a refusal is told with its words, also in JSON, and the others are done")
    func refusals() async throws {
      try await addSix()
      try await durable("complete", "2")
      let outcome = try await durable("suspend", "1", "2", "3", "--json")
      #expect(outcome.status == .exited(2))
      #expect(try outcome.json["changed"] as? [Int] == [1, 3])
      let refused = try #require(try outcome.json["refused"] as? [[String: Any]])
      #expect(refused.first?["job"] as? Int == 2)
      #expect(outcome.stderr.contains("job 2 has ended already: succeeded"))
    }

    @Test("a retry of all that failed runs all but those whose unique key another has again, and says which has it")
    func retryOfRepeated() async throws {
      let url = "http://127.0.0.1:9/a"
      for _ in 1...2 {
        _ = try await durable("get", "--detach", url)
        try await durable("fail", "--all")
      }
      _ = try await durable.add("--", "true")
      try await durable("fail", "3")
      let retried = try await durable("retry")
      #expect(retried.status == .exited(2))
      #expect(retried.text == "job 1 will run again\njob 3 will run again\n")
      #expect(
        retried.stderr.contains("durable: job 2 stays as it is: job 1 has its unique key, and is ready\n"),
        "\(retried.stderr)")
      #expect(retried.stderr.contains("2 jobs will run again, 1 job refused"), "\(retried.stderr)")
    }

    @Test("wait takes what is selected")
    func wait() async throws {
      try await addSix()
      let waited = try await durable.onTerminal("wait", "--tag", "a") { [durable] terminal in
        try await terminal.shows("Waiting for 3 jobs: 1, 3, 5")
        try await durable("work", "--drain", "--queue", "a")
      }
      #expect(waited.status == .exited(0))
      let ended = waited.text.lines.filter { $0.contains("  succeeded  ") }
      #expect(ended.map { $0.prefix(2) } == ["1 ", "3 ", "5 "], "\(waited.text.text)")
      #expect(try await durable.state(2) == "ready")
    }

    @Test("prune takes what the other verbs take, among what has ended")
    func prune() async throws {
      try await addSix()
      try await durable("cancel", "1-4")
      try await durable("fail", "5")
      #expect(try await durable("prune", "1-2", "--json").json["removed"] as? [Int] == [1, 2])
      #expect(try await durable("prune", "--tag", "b", "--json").json["removed"] as? [Int] == [4])
      let failed = try await durable("prune", "--queue", "a", "--state", "failed", "--json")
      #expect(try failed.json["removed"] as? [Int] == [5])
      let named = try await durable("prune", "3", "6", "--json")
      #expect(try named.json["removed"] as? [Int] == [3] && named.status == .exited(2))
      #expect(named.stderr.contains("job 6 is ready; prune deletes what has ended"), "\(named.stderr)")
      #expect(try await durable("prune", "3").status == .exited(3))
      let waiting = try await durable("prune", "--state", "ready")
      #expect(waiting.status == .exited(2))
      #expect(waiting.stderr.contains("'durable remove --state ready' deletes those"), "\(waiting.stderr)")
    }

    @Test("on a terminal it is asked before several that were not named are ended")
    func question() async throws {
      try await addSix()
      let refused = try await durable.onTerminal("cancel", "--all") { terminal in
        try await terminal.shows("Cancel 6 jobs? [y/N]")
        terminal.press("n\n")
        try await terminal.shows("Nothing was done")
      }
      #expect(refused.status == .exited(130))
      #expect(try await durable.state(1) == "ready")
      let done = try await durable.onTerminal("cancel", "--tag", "a") { terminal in
        try await terminal.shows("Cancel 3 jobs? [y/N]")
        terminal.press("y\n")
        try await terminal.shows("3 jobs cancelled")
      }
      #expect(done.status == .exited(0))
      #expect(try await durable.state(1) == "cancelled")
      #expect(try await durable.state(2) == "ready")
      let asked = try await durable.onTerminal("cancel", "--all", "--json") { terminal in
        try await terminal.shows(#"{"event":"note","message":"Cancel 3 jobs? [y/N]"}"#)
        terminal.press("n\n")
      }
      #expect(asked.status == .exited(130))
    }

    @Test(arguments: [("7", 7, 7), ("3-7", 3, 7), ("7-7", 7, 7)])
    func range(text: String, first: Int64, last: Int64) {
      #expect(JobRange(argument: text)?.ids == JobID(rawValue: first)...JobID(rawValue: last))
    }

    @Test(arguments: ["", "-", "3-", "-3", "7-3", "1-2-3", "a-b", "0-3"])
    func noRange(text: String) { #expect(JobRange(argument: text) == nil) }
  }

  @Suite("durable edit and prune")
  struct EditTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("a command gets other words, another folder and other variables until it runs")
    func edit() async throws {
      let id = try await durable.add("--key", "k", "--", "false")
      let next = try await durable.add("--after", "\(id)", "--", "true")
      let folder = durable.folder + "/site"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      let edited = try await durable("edit", "\(id)", "--shell", "--env", "WORD=secret", "--", "echo $WORD > said")
      #expect(edited.status == .exited(0), "\(edited.stderr)")
      #expect(edited.text == "\(id) sh -c 'echo $WORD > said'\n")
      #expect(try await durable("edit", "\(id)", "--cwd", "site", "--json").text.contains("***"))
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try String(contentsOfFile: folder + "/said", encoding: .utf8) == "secret\n")
      #expect(try await durable.state(next) == "succeeded")
      let late = try await durable("edit", "\(id)", "--", "true")
      #expect(late.status == .exited(2))
      #expect(late.stderr.contains("job \(id) has ended already: succeeded"))
      #expect(try await durable("edit", "\(id)").status == .exited(2))
    }

    @Test("several are edited at once, by ids, ranges and what they are; what can't be is told, and the others are")
    func editMany() async throws {
      for tag in ["a", "b", "a"] { _ = try await durable.add("--tag", tag, "--", "false") }
      _ = try await durable("send", "--delay", "1h", "GET", "http://127.0.0.1:9/")
      let all = try await durable("edit", "1-3", "--", "echo", "x")
      #expect(all.text == "1 echo x\n2 echo x\n3 echo x\n")
      #expect(all.stderr == "3 jobs changed\n")
      #expect(
        try await durable("edit", "--tag", "a", "--priority", "5", "--delay", "1h").text == "1 echo x\n3 echo x\n")
      let json = try await durable("edit", "--all", "--priority", "-7", "--json").text.split(separator: "\n")
      let jobs = try json.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
      #expect(jobs.map { $0["priority"] as? Int } == [-7, -7, -7, -7])
      #expect(jobs.allSatisfy { $0["event"] as? String == "job" })
      #expect(try await durable.state(1) == "scheduled")
      #expect(try await durable.state(2) == "ready")
      let mixed = try await durable("edit", "2", "4", "9", "--cwd", "/")
      #expect(mixed.status == .exited(3))
      #expect(mixed.text == "2 echo x\n")
      #expect(mixed.stderr.contains("there is no job 9"))
      #expect(mixed.stderr.contains("job 4 is no command: only its priority and its start can be changed"))
      #expect(try await durable("edit", "--tag", "none", "--delay", "0").stderr == "No job matches\n")
      #expect(try await durable("edit", "--priority", "1").stderr.contains("which jobs? Give ids"))
      #expect(try await durable("edit", "--all").stderr.contains("what is to be changed?"))
      let refused = try await durable.onTerminal("edit", "--all", "--priority", "9") { terminal in
        try await terminal.shows("Change 4 jobs? [y/N]")
        terminal.press("n\n")
      }
      #expect(refused.status == .exited(130))
      #expect(try await durable.job(1)["priority"] as? Int == -7)
    }

    @Test("all queues are paused at once, and go on")
    func pauseAll() async throws {
      #expect(try await durable("pause", "--all").stderr == "No queue is there yet\n")
      for queue in ["b", "a", "b"] { _ = try await durable.add("--queue", queue, "--", "true") }
      let paused = try await durable("pause", "--all")
      #expect(paused.text == "a paused\nb paused\n")
      #expect(paused.stderr == "2 queues paused\n")
      #expect(try await durable("unpause", "--queue", "a").stderr == "")
      let again = try await durable("unpause", "--queue", "a")
      #expect(again.status == .exited(0))
      #expect(again.stderr == "The queue 'a' was not paused\n")
      #expect(try await durable("unpause", "--all").text == "b goes on\n")
      #expect(try await durable("unpause", "--all").stderr == "No queue is paused\n")
      let two = try await durable("pause", "--queue", "a", "--queue", "c")
      #expect(two.text == "a paused\nc paused\n")
      #expect(two.stderr == "No job is in the queue 'c' yet; those that come will wait\n")
      #expect(try await durable("pause", "--all", "--queue", "a").status == .exited(2))
    }

    @Test("prune deletes what has ended and is needed by nobody, with its logs, and what failed only if asked")
    func prune() async throws {
      let good = try await durable.add("--", "echo", "x")
      let bad = try await durable.add("--", "false")
      let waiting = try await durable.add("--delay", "1h", "--", "true")
      try await durable("work", "--drain")
      #expect(try await durable("prune", "--older-than", "1h").text == "0 jobs removed\n")
      #expect(try await durable("prune").text == "1 job removed\n")
      #expect(!FileManager.default.fileExists(atPath: "\(durable.store)-jobs/\(good)"))
      #expect(try await durable.state(bad) == "failed")
      #expect(try await durable("prune", "--failed", "--json").json["removed"] as? [Int] == [bad])
      #expect(try await durable.state(waiting) == "scheduled")
    }
  }
#endif
