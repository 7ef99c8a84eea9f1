#if Shell
  import DurableJobs
  import DurableJobsProcess
  import DurableJobsSQLite
  import Foundation
  import GRDBSQLite
  import TestProcesses
  import Testing

  @testable import durable

  @Suite("What is waited for")
  struct FollowTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("add --follow leaves stdout and the exit code to the command")
    func follow() async throws {
      let good = try await durable("add", "--follow", "--", "echo", "hello")
      #expect(good.status == .exited(0))
      #expect(good.text == "hello\n")
      #expect(good.stderr.hasPrefix("Job 1\n"))
      let bad = try await durable("add", "--follow", "--", "sh", "-c", "exit 3")
      #expect(bad.status == .exited(3))
      #expect(bad.text == "")
      #expect(bad.stderr.contains("exited with code 3"))
    }

    @Test("log shows what was written to stderr in turn with stdout, however much that is")
    func inTurn() async throws {
      let id = try await durable.add("--shell", "--", "head -c 3000000 /dev/zero | tr '\\0' a; echo said >&2")
      #expect(try await durable("work", "--drain").status == .exited(0))
      let lines = try await durable("log", "\(id)", "--json").text.split(separator: "\n")
      let said = try #require(lines.firstIndex { $0.contains("said") })
      let stdout = lines.indices.filter { lines[$0].contains("aaa") }
      #expect(stdout.count > 2 && said < stdout[2], "\(stdout.count), \(said)")
    }

    @Test("log shows several jobs one after the other, each below a line that names it")
    func logs() async throws {
      for word in ["one", "two"] { _ = try await durable.add("--", "echo", word) }
      try await durable("work", "--drain")
      let both = try await durable("log", "2", "1")
      #expect(both.status == .exited(0))
      #expect(both.text == "two\none\n")
      #expect(
        both.stderr.contains("── job 2: echo two\n") && both.stderr.contains("── job 1: echo one\n"), "\(both.stderr)")
      let missing = try await durable("log", "1", "7", "9")
      #expect(missing.status == .exited(3))
      #expect(missing.text == "one\n" && missing.stderr.contains("there is no job 7, 9"), "\(missing.stderr)")
      let refused = try await durable("log", "-f", "1", "2")
      #expect(refused.status == .exited(2))
      #expect(refused.stderr.contains("--follow is for one job, and there are 2"), "\(refused.stderr)")
    }

    @Test("wait tells of a range what failed before it looked")
    func ended() async throws {
      for word in ["false", "true"] { _ = try await durable.add("--max-attempts", "1", "--", word) }
      _ = try await durable("work", "--drain")
      #expect(try await durable("wait", "1-2").status == .exited(1))
      #expect(try await durable("wait", "2-2").status == .exited(0))
    }

    @Test("no last line and no word of a command is too long for what its worker hears of it")
    func long() async throws {
      _ = try await durable.add("--", "sh", "-c", "head -c 65000 /dev/zero >&2")
      let script = "true; #" + String(repeating: "x", count: 100_000)
      _ = try await durable.add("--max-attempts", "1", "--", script)
      _ = try await durable("work", "--drain")
      #expect(try await durable("wait", "1").status == .exited(0))
      #expect(try await durable("wait", "2").status == .exited(1))
    }

    @Test(
      "add --follow exits as a shell would: with 128 and the signal, and with 1 where nothing could be run",
      arguments: [(["sh", "-c", "kill -TERM $$"], 143), (["no-such-program"], 1)] as [([String], Int32)])
    func followedEnd(command: [String], code: Int32) async throws {
      let outcome = try await durable.run((["add", "--follow", "--"] + command).map { Array($0.utf8) })
      #expect(outcome.status == .exited(code))
    }

    @Test("add --follow exits with the code of the last attempt")
    func lastAttempt() async throws {
      let line = "test -e again && exit 4; touch again; exit 3"
      let outcome = try await durable("add", "--follow", "--max-attempts", "2", "--shell", "--", line)
      #expect(outcome.status == .exited(4))
      #expect(!outcome.stderr.contains("DurableJobs"), "\(outcome.stderr)")
    }

    @Test("add --follow exits with the command's code also where the record of its run was deleted")
    func codeWithoutRecord() async throws {
      let outcome = try await durable("add", "--follow", "--shell", "--", "rm -rf jobs.sqlite-jobs; exit 7")
      #expect(outcome.status == .exited(7))
    }

    @Test("add --follow runs its own command and no other, whatever goes before")
    func noOther() async throws {
      let other = try await durable.add("--priority", "2000", "--", "touch", "other")
      let outcome = try await durable("add", "--follow", "--", "echo", "hi")
      #expect(outcome.status == .exited(0))
      #expect(outcome.text == "hi\n")
      #expect(try await durable.state(other) == "ready")
    }

    @Test("add --follow exits with its command's code, also if a worker was faster")
    func codeOfWorker() async throws {
      try await durable("pause")
      let ended = try await durable.run("add", "--follow", "--shell", "--", "exit 3") { [durable] program in
        try await program.says("the queue 'default' is paused")
        kill(program.process, SIGSTOP)
        try await durable("unpause")
        #expect(try await durable("work", "--drain").status == .exited(1))
        kill(program.process, SIGCONT)
      }
      #expect(ended.status == .exited(3))
    }

    @Test("add --follow loses nothing of what its command writes, and the log keeps what it always does")
    func everyByte() async throws {
      let outcome = try await durable("add", "--follow", "--", "head", "-c", "40000000", "/dev/zero")
      #expect(outcome.status == .exited(0))
      #expect(outcome.stdout.count == 40_000_000)
      #expect(!outcome.stderr.contains("left out"), "\(outcome.stderr)")
      #expect(try await durable("log", "1").stdout.count < 13_000_000)
    }

    @Test("add --follow ends with 1 where a byte of stdout is missing, and says so beside the data")
    func missingBytes() async throws {
      let line = """
        "$DURABLE" pause
        "$DURABLE" add --follow -- head -c 20000000 /dev/zero > copy 2> words & program=$!
        while ! grep -q paused words; do sleep 0.01; done; kill -STOP $program
        "$DURABLE" unpause; "$DURABLE" work --drain; kill -CONT $program; wait $program; code=$?; cat words >&2; exit $code
        """
      let ended = try await durable.shell(line)
      #expect(ended.status == .exited(1))
      #expect(ended.stderr.contains("bytes of what it wrote were not kept, and are missing here"), "\(ended.stderr)")
    }

    @Test("add --follow waits for a store that is locked between two attempts")
    func lockedBetween() async throws {
      let pause = "'\(durable.program)' pause --store '\(durable.store)'"
      let line = "test -e again && exit 4; touch again; \(pause); exit 3"
      let words = ["add", "--follow", "--max-attempts", "2", "--shell", "--", line]
      let ended = try await durable.run(words) { [durable] program in
        try await program.says("the queue 'default' is paused")
        kill(program.process, SIGSTOP)
        try await durable("unpause")
        var store: OpaquePointer?
        try #require(sqlite3_open(durable.store, &store) == SQLITE_OK)
        defer { sqlite3_close_v2(store) }
        sqlite3_busy_timeout(store, .max)
        try #require(sqlite3_exec(store, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
        kill(program.process, SIGCONT)
        // By then the second attempt could not be begun.
        try await program.says("the worker could not say good-bye")
      }
      #expect(ended.status == .exited(4), "\(ended.stderr)")
    }

    @Test("what a command writes is looked for also where it began to run here while the store did not answer")
    func beganInOutage() async throws {
      let place = try await OpenStore(.file(durable.store), isMade: true)
      let id = try await place.queue("default").enqueue(ShellCommand(["true"])).id
      let store = try #require(place.store as? SQLiteStore)
      await store.suspendForBackground()
      let asked = Lock(0)
      let follower = LogFollower(
        store: place, id: id, attempt: nil, json: false,
        place: {
          asked.withLock {
            $0 += 1
            return RunPlace(isHere: $0 > 1)
          }
        })
      let showing = Task { try await follower.run() }
      await until { asked.value > 2 }
      store.resumeFromBackground()
      showing.cancel()
      _ = try await showing.value
      await store.close()
    }

    @Test("add --follow ends where its store is gone, however much its command writes that nobody shows any more")
    func storeGone() async throws {
      let ended = try await durable.shell(
        """
        mkfifo said
        "$DURABLE" add --follow --shell -- '
          echo > said; while test -e jobs.sqlite; do sleep 0.01; done; sleep 1; head -c 40000000 /dev/zero' > /dev/null &
        read line < said; mv jobs.sqlite moved; wait $!
        """)
      #expect(ended.status == .exited(5), "\(ended.stderr)")
      #expect(ended.stderr.contains("jobs.sqlite"), "\(ended.stderr)")
    }

    @Test(
      "add --follow ends with 1 where a file holds what more than one run wrote, and says how much is of earlier ones")
    func twoRuns() async throws {
      let line = "echo one; test -e again && exit 0; touch again; echo two; exit 3"
      let outcome = try await durable("add", "--follow", "--max-attempts", "2", "--shell", "--", line)
      #expect(outcome.status == .exited(1))
      #expect(outcome.text == "one\ntwo\none\n")
      #expect(outcome.stderr.contains("the first 8 bytes here are of earlier ones"), "\(outcome.stderr)")
      let other = line.replacing("again", with: "more")
      let json = try await durable("add", "--follow", "--json", "--max-attempts", "2", "--shell", "--", other)
      #expect(json.status == .exited(0), "in JSON each line says its run")
    }

    @Test("add --follow ends with 1 where its job is completed by hand: what the command wrote was cut off")
    func completedByHand() async throws {
      let said = try Fifo(in: durable)
      let line = "trap 'sleep 0.3; exit' TERM; echo a; echo > said; while :; do sleep 0.05; done"
      let ended = try await durable.run("add", "--follow", "--shell", "--", line) { [durable] _ in
        _ = await said.said()
        let completed = try await durable("complete", "1")
        #expect(completed.status == .exited(0))
      }
      #expect(ended.status == .exited(1), "\(ended.stderr)")
      #expect(ended.stderr.contains("job 1 succeeded, but"), "\(ended.stderr)")
    }

    @Test(
      "add --follow shows how its run ended where somebody ends its job meanwhile", arguments: ["complete", "fail"])
    func endOfRun(verb: String) async throws {
      let said = try Fifo(in: durable)
      let line = "trap 'sleep 0.3; exit' TERM; echo > said; while :; do sleep 0.05; done"
      let ended = try await durable.run("add", "--follow", "--shell", "--", line) { [durable] _ in
        _ = await said.said()
        let changed = try await durable(verb, "1")
        #expect(changed.status == .exited(0))
      }
      #expect(ended.stderr.contains("── stopped") && !ended.stderr.contains("no end yet"), "\(ended.stderr)")
    }

    @Test("add --follow ends with the code of the last attempt, also where it ran an earlier one itself")
    func lastElsewhere() async throws {
      let line = """
        mkfifo go
        "$DURABLE" add --follow --max-attempts 2 --shell -- 'test -e again && exit 9; touch again; read x < go; exit 7' &
        program=$!
        until [ -e again ]; do sleep 0.01; done
        "$DURABLE" pause > out; echo > go
        until "$DURABLE" show 1 --json | grep -q scheduled; do sleep 0.01; done
        # It may stand still while it has the store locked.
        until kill -STOP $program; "$DURABLE" unpause; do kill -CONT $program || exit; done
        "$DURABLE" retry 1; "$DURABLE" work --drain
        kill -CONT $program; wait $program
        """
      #expect(try await durable.shell(line).status == .exited(9))
    }

    @Test("of several that follow a job, the one that runs it misses nothing")
    func twoFollowers() async throws {
      let line = """
        mkfifo out; command='head -c 30000000 /dev/zero'
        "$DURABLE" add --follow --unique k --shell -- "$command" > out & first=$!
        exec 3< out; head -c 1 <&3 > begin
        "$DURABLE" add --follow --unique k --shell -- "$command" > copy & second=$!
        while [ $(wc -c < copy) -lt 10000000 ]; do sleep 0.01; done
        cat begin - <&3 | wc -c; wait $first; code=$?; wait $second; exit $code
        """
      let outcome = try await durable.shell(line)
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      #expect(outcome.line == "30000000")
    }

    @Test("what a command has left writes no more than its follower reads, also once the command has ended")
    func left() async throws {
      let line = """
        mkfifo out; exec 7<>out
        "$DURABLE" add --follow --shell -- 'setsid head -c 60000000 /dev/zero & exit 0' >&7 7>&- & program=$!
        trap 'kill -9 $program' EXIT
        until "$DURABLE" show 1 --json | grep -q succeeded; do sleep 0.05; done
        cat jobs.sqlite-jobs/1/1.stdout* | wc -c > size
        """
      _ = try await durable.shell(line)
      let text = try String(contentsOfFile: durable.folder + "/size", encoding: .utf8)
      let size = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
      #expect(size > 2 * CappedLog.half && size < 2 * CappedLog.half + 2 * CappedLog.pieceSize, "\(size)")
    }

    @Test("one SIGTERM ends who follows a command of another, however much that writes")
    func endlessElsewhere() async throws {
      let line = """
        "$DURABLE" work > out 2>&1 & worker=$!
        until grep -q Working out; do sleep 0.05; done
        id=$("$DURABLE" add --unique k -- yes)
        "$DURABLE" add --follow --unique k -- yes > copy 2> words & follower=$!
        until [ -s copy ]; do sleep 0.05; done
        kill -TERM $follower; wait $follower; code=$?; cat words >&2
        "$DURABLE" cancel $id > out; kill -TERM $worker; wait $worker; exit $code
        """
      let outcome = try await durable.shell(line)
      #expect(outcome.status == .exited(130))
      #expect(outcome.stderr.contains("Job 1 goes on in another process"), "\(outcome.stderr)")
    }

    @Test("one SIGTERM ends who follows a command that runs again in another worker, however much that writes")
    func endlessAgain() async throws {
      let line = """
        mkfifo go out
        "$DURABLE" add --follow --max-attempts 2 --shell -- \
          'test -e again && exec yes; touch again; read x < go; exit 7' > out & program=$!
        exec 3< out
        until [ -e again ]; do sleep 0.01; done
        "$DURABLE" pause > none; echo > go
        until "$DURABLE" show 1 --json | grep -q scheduled; do sleep 0.01; done
        # It may stand still while it has the store locked.
        until kill -STOP $program; "$DURABLE" unpause; do kill -CONT $program || exit; done
        "$DURABLE" retry 1; "$DURABLE" work > said & worker=$!
        until grep -q 'attempt 2' said; do sleep 0.01; done
        kill -CONT $program; head -c 1 <&3 > begin; cat <&3 > /dev/null & reader=$!
        kill -TERM $program; wait $program; code=$?; exec 3<&-; wait $reader
        "$DURABLE" cancel 1 > none; kill -TERM $worker; wait $worker; exit $code
        """
      let outcome = try await durable.shell(line)
      #expect(outcome.status == .exited(130))
      #expect(outcome.stderr.contains("Job 1 goes on in another process"), "\(outcome.stderr)")
    }

    @Test("one SIGTERM ends add --follow on a terminal that takes nothing more")
    func deafTerminal() async throws {
      var (master, slave): (Int32, Int32) = (-1, -1)
      var name = [CChar](repeating: 0, count: 200)
      try #require(openpty(&master, &slave, &name, nil, nil) == 0)
      for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      defer { for end in [master, slave] { close(end) } }
      let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let line = """
        mkfifo went
        "$DURABLE" add --follow --shell -- 'yes | head -c 300000; echo > went; exec sleep 600' > "$TTY" 2>&1 & program=$!
        read line < went; kill -TERM $program; wait $program
        """
      #expect(try await durable.shell(line, environment: ["TTY": path]).status == .exited(130))
    }

    @Test("add --follow takes its job back from a worker that was killed")
    func workerKilled() async throws {
      let fifo = try Fifo(in: durable)
      try await durable("pause")
      let line = "test -e again && exit 0; touch again; echo > said; exec sleep 600"
      let ended = try await durable.run("add", "--follow", "--shell", "--", line) { [durable] program in
        try await program.says("the queue 'default' is paused")
        kill(program.process, SIGSTOP)
        try await durable("unpause")
        _ = try await durable.work { worker in
          _ = await fifo.said()
          kill(worker.process, SIGKILL)
          await worker.ends()
        }
        kill(program.process, SIGCONT)
      }
      #expect(ended.status == .exited(0))
      #expect(ended.stderr.contains("its worker has died; it is run again here"), "\(ended.stderr)")
    }

    @Test("add --follow ends when it is asked to, also if nobody reads what its command wrote")
    func deafReader() async throws {
      let line = """
        mkfifo out went; exec 7<>out
        "$DURABLE" add --follow --shell -- 'head -c 300000 /dev/zero; echo > went' >&7 7>&- & program=$!
        trap 'kill -9 $program' EXIT
        read line < went; kill -TERM $program; wait $program; code=$?; trap - EXIT; exit $code
        """
      #expect(try await durable.shell(line).status == .exited(1), "what it could not show is lost")
      #expect(try await durable.state(1) == "succeeded")
    }

    @Test("add --follow shows what a command says after it was asked to stop")
    func lastWords() async throws {
      let fifo = try Fifo(in: durable)
      let more = try Fifo(in: durable, "more")
      let line = """
        "$DURABLE" add --follow --shell -- 'echo $$ > said; read line < more; echo bye; exit 0' & program=$!
        read process < said; kill -TERM $program; while ! grep -q Stopping words; do sleep 0.01; done
        echo go > more; wait $program
        """
      let outcome = try await durable.shell("{ \(line)\n} 2> words")
      #expect(outcome.text == "bye\n")
      withExtendedLifetime((fifo, more)) {}
    }

    @Test("add --follow --json runs its command, also if nobody reads that there is a job")
    func closedOutput() async throws {
      _ = try await durable.shell(
        #"exec 3> >(exec true); wait $!; "$DURABLE" add --follow --json -- touch ran >&3"#)
      #expect(FileManager.default.fileExists(atPath: durable.folder + "/ran"))
    }

    @Test("add --follow --json prints an object a line, the job first and last")
    func followInJSON() async throws {
      let outcome = try await durable(
        "add", "--follow", "--json", "--shell", "--", "printf 'no end'; echo err >&2; exit 3")
      #expect(outcome.status == .exited(3))
      let objects = try outcome.text.split(separator: "\n").map {
        try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
      }
      #expect(objects.first?["state"] as? String == "ready")
      #expect(objects.last?["state"] as? String == "failed")
      #expect(objects.compactMap { $0["text"] as? String }.sorted() == ["err\n", "no end"])
    }

    @Test("add --follow on a paused queue says so once, and goes on when it may")
    func paused() async throws {
      try await durable("pause", "--queue", "slow one")
      let words = "the queue 'slow one' is paused; 'durable unpause --queue 'slow one'' lets it go on"
      let ended = try await durable.run("add", "--follow", "--queue", "slow one", "--", "true") { [durable] program in
        try await program.says(words)
        try await durable("unpause", "--queue", "slow one")
      }
      #expect(ended.status == .exited(0))
      #expect(ended.stderr.components(separatedBy: words).count == 2)
      #expect(!ended.stderr.contains("no worker"))
    }

    @Test("wait and log -f say that no worker runs and how to start one", arguments: [["wait"], ["log", "-f"]])
    func noWorker(command: [String]) async throws {
      let id = try await durable.add("--", "echo", "done")
      let ended = try await durable.run(command + ["\(id)"]) { [durable] program in
        try await program.says("Job \(id) waits: no worker is running for it. Start one with: durable work")
        try await durable("work", "--drain")
      }
      #expect(ended.status == .exited(0))
    }

    @Test("wait and log -f say which queue is paused", arguments: [["wait"], ["log", "-f"]])
    func pausedElsewhere(command: [String]) async throws {
      let id = try await durable.add("--", "true")
      try await durable("pause")
      _ = try await durable.run(command + ["\(id)"]) { [durable] program in
        try await program.says("Job \(id) waits: the queue 'default' is paused; 'durable unpause' lets it go on")
        try await durable("cancel", "\(id)")
      }
    }

    @Test("wait says that there is nothing to wait for, in which queue, and which others have something")
    func nothing() async throws {
      let none = try await durable("wait")
      #expect(none.status == .exited(0))
      #expect(none.stderr == "Nothing to wait for: \(durable.store) does not exist\n")
      _ = try await durable.add("--queue", "photos", "--", "true")
      let other = try await durable("wait")
      #expect(other.status == .exited(0))
      #expect(
        other.stderr == "Nothing to wait for: the queue 'default' has no unfinished job. Others have some: 'photos'; "
          + "'durable wait --queue NAME' waits for one\n")
      try await durable("work", "--drain", "--queue", "photos")
      let ended = try await durable("wait", "--queue", "photos")
      #expect(ended.status == .exited(0))
      #expect(ended.stderr == "Nothing to wait for: the queue 'photos' has no unfinished job\n")
    }

    @Test("wait says that a job waits for its time, and that one is suspended")
    func later() async throws {
      let late = try await durable.add("--delay", "1h", "--", "true")
      let held = try await durable.add("--", "true")
      try await durable("suspend", "\(held)", "--reason", "not now")
      let ended = try await durable.run("wait", "\(late)", "\(held)") { [durable] program in
        try await program.says("Job \(late) waits for its time, ")
        try await durable("cancel", "\(late)")
        try await program.says("Job \(held) is suspended: not now; 'durable resume \(held)' lets it go on")
        try await durable("cancel", "\(held)")
      }
      #expect(ended.status == .exited(1))
    }

    @Test("wait without ids does not call a lane idle that a failed job holds, and says who holds it and what helps")
    func heldLane() async throws {
      let first = try await durable.add("--lane", "deploy", "--", "false")
      let second = try await durable.add("--lane", "deploy", "--", "true")
      let drained = try await durable("work", "--drain")
      let words = "'durable retry \(first)' or 'durable remove \(first)' lets it go on"
      let head = "Lane deploy: job \(first) failed and holds 1 other; \(words)"
      #expect(drained.stderr.contains("1 blocked:\n") && drained.stderr.contains(head), "\(drained.stderr)")
      let idle = try await durable("wait")
      #expect(idle.status == .exited(1))
      #expect(idle.stderr.contains("Stuck, with 1 blocked left\n\(head)\n"), "\(idle.stderr)")
      let why = "job \(first), which failed and holds the lane deploy"
      #expect(try await durable("show", "\(second)").text.contains("waits for  \(why); \(words)"))
      #expect(try await durable.job(second)["laneHead"] as? Int == first)
      #expect(
        try await durable("tree", "\(second)").text
          == "lane deploy\n├─ \(first) failed false\n└─ \(second) blocked true  ←\n")
      let waited = try await durable.run("wait", "\(second)") { [durable] program in
        try await program.says("Job \(second) waits for \(why); \(words)")
        try await durable("remove", "\(first)")
        #expect(try await durable("work", "--drain").status == .exited(0))
      }
      #expect(waited.status == .exited(0))
    }

    @Test("add --after runs a command after a success, --after-failure after a failure, --after-end after either")
    func ends() async throws {
      let good = try await durable.add("--", "true")
      let bad = try await durable.add("--max-attempts", "1", "--", "false")
      let options = ["--after", "--after-failure", "--after-end"]
      var dependents: [(good: Int, bad: Int)] = []
      for option in options {
        func add(_ parent: Int) async throws -> Int {
          try await durable.add(option, "\(parent)", "--", "touch", "\(parent)\(option)")
        }
        dependents.append((try await add(good), try await add(bad)))
      }
      let both = try await durable.add("--after", "\(good)", "--after-failure", "\(bad)", "--", "true")
      #expect(try await durable("work", "--drain").status == .exited(1))
      for (option, (ids, states)) in zip(
        options,
        zip(dependents, [("succeeded", "skipped"), ("skipped", "succeeded"), ("succeeded", "succeeded")]))
      {
        for (id, state, parent) in [(ids.good, states.0, good), (ids.bad, states.1, bad)] {
          #expect(try await durable.state(id) == state, "\(option) \(parent)")
          let path = "\(durable.folder)/\(parent)\(option)"
          #expect(FileManager.default.fileExists(atPath: path) == (state == "succeeded"), "\(path)")
        }
      }
      #expect(try await durable.state(both) == "succeeded")
      let skipped = try await durable.job(dependents[1].good)
      #expect(skipped["cause"] as? Int == good, "\(skipped)")
    }

    @Test("tree draws each job below what it waits for, and what is drawn already with a mark and nothing below it")
    func tree() async throws {
      _ = try await durable.add("--", "make", "test")
      _ = try await durable.add("--after", "1", "--lane", "deploy", "--", "./deploy.sh")
      _ = try await durable.add("--after-failure", "1", "--", "mail", "-s", "tests failed", "me@example.org")
      #expect(
        try await durable("tree", "1").text == """
          1 ready make test  ←
          ├─ 2 blocked ./deploy.sh
          └─ 3 blocked mail -s 'tests failed' me@example.org

          """)
      // A diamond, and one below it.
      _ = try await durable.add("--", "top")
      for side in ["left", "right"] { _ = try await durable.add("--after", "4", "--", side) }
      _ = try await durable.add("--after", "5", "--after-end", "6", "--", "bottom")
      _ = try await durable.add("--after", "7", "--", "last")
      #expect(
        try await durable("tree", "8").text == """
          4 ready top
          ├─ 5 blocked left
          │  └─ 7 blocked bottom
          │     └─ 8 blocked last  ←
          └─ 6 blocked right
             └─ 7 blocked bottom …

          """)
    }

    @Test("a chain that is deeper than twenty goes on in one column, and each names the one that it is below")
    func deepTree() async throws {
      let line = "$DURABLE add -- true; for i in $(seq 29); do $DURABLE add --after $i -- true; done"
      #expect(try await durable.shell(line).status == .exited(0))
      let tree = try await durable("tree", "1").text.split(separator: "\n").map(String.init)
      #expect(tree.count == 30)
      #expect(tree.last == String(repeating: " ", count: 60) + "└─ 30 (below 29) blocked true", "\(tree)")
      #expect(tree[20].hasSuffix("   └─ 21 blocked true"))
    }

    @Test("a job that was stored with --lane-goes-on holds its lane only until it fails")
    func laneGoesOn() async throws {
      _ = try await durable.add("--lane", "deploy", "--lane-goes-on", "--", "false")
      let second = try await durable.add("--lane", "deploy", "--", "true")
      #expect(try await durable("work", "--drain").status == .exited(1))
      #expect(try await durable.state(second) == "succeeded")
    }

    @Test("Ctrl-C while nobody reads what a job wrote that ran elsewhere ends the follower, and no success is claimed")
    func brokenOff() async throws {
      let said = try Fifo(in: durable)
      let go = try Fifo(in: durable, "go")
      let process = try Fifo(in: durable, "process")
      _ = try Fifo(in: durable, "out")
      let id = try await durable.add(
        "--unique", "one", "--shell", "--", "echo > said; read line < go; head -c 1000000 /dev/zero")
      _ = try await durable.work { [durable] worker in
        _ = await said.said()
        async let ended = durable.shell(
          "exec 7<>out; echo $$ > process; exec \"$DURABLE\" add --follow --unique one -- true >&7 2> errors")
        let follower = try #require(pid_t(await process.said()))
        func errors() -> String { (try? String(contentsOfFile: durable.folder + "/errors", encoding: .utf8)) ?? "" }
        await until { errors().contains("attempt 1") }
        await go.say("on")
        try await worker.says("ended", id)
        // A worker says so before it is stored.
        #expect(try await durable("wait", "\(id)").status == .exited(0))
        kill(follower, SIGINT)
        #expect(try await ended.status == .exited(130))
        #expect(errors().contains("Job \(id) has ended (succeeded); 'durable log \(id)' shows the rest"), "\(errors())")
      }
    }

    @Test("a line break of two characters is one on a terminal, also where it comes in two pieces")
    func lineBreak() async throws {
      let (said, go) = (try Fifo(in: durable), try Fifo(in: durable, "go"))
      let durable = durable
      let id = try await durable.add(
        "--shell", "--", "printf 'one\\r'; echo > said; read line < go; printf '\\ntwo\\n'")
      _ = try await durable.work { worker in
        _ = await said.said()
        let seen = try await durable.onTerminal("log", "-f", "\(id)") { terminal in
          try await terminal.shows("one")
          await go.say("go")
        }
        #expect(seen.text.text.contains("one\ntwo\n"), "\(seen.text.text)")
      }
    }

    @Test("a character that never became whole is in the JSON of a log, as a broken one")
    func brokenCharacter() async throws {
      let id = try await durable.add("--shell", "--", #"printf 'a\303'; printf '\342\202' >&2"#)
      #expect(try await durable("work", "--drain").status == .exited(0))
      let lines = try await durable("log", "\(id)", "--json").text.split(separator: "\n").map {
        try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
      }
      for (stream, text) in [("stdout", "a\u{fffd}"), ("stderr", "\u{fffd}")] {
        #expect(
          lines.filter { $0["stream"] as? String == stream }.compactMap { $0["text"] as? String }.joined() == text)
      }
    }

    @Test("wait keeps its verdict, also if nobody reads its lines")
    func verdictForNobody() async throws {
      let id = try await durable.add("--", "false")
      try await durable("work", "--drain")
      let line = "mkfifo out; exec 7<>out; exec 8>out 7>&-; \"$DURABLE\" wait \(id) >&8"
      #expect(try await durable.shell(line).status == .exited(1))
    }

    @Test("wait without ids waits for what is ready though no worker lives, and says what it waits for")
    func idle() async throws {
      let id = try await durable.add("--", "true")
      try await expectWait(for: id)
    }

    @Test("wait without ids waits for a job whose worker was killed")
    func killed() async throws {
      let said = try Fifo(in: durable)
      let id = try await durable.add("--shell", "--", "test -e again && exit 0; touch again; echo > said; sleep 600")
      _ = try await durable.work { worker in
        _ = await said.said()
        kill(worker.process, SIGKILL)
        await worker.ends()
      }
      try await expectWait(for: id)
    }

    /// There is no worker, and `wait` without ids says so until there was one.
    private func expectWait(for id: Int) async throws {
      #expect(try await durable("wait", "--timeout", "0").status == .exited(4))
      let ended = try await durable.run("wait") { [durable] program in
        try await program.says("Job \(id) waits: no worker is running for it. Start one with: durable work")
        try await durable("work", "--drain")
      }
      #expect(ended.status == .exited(0))
      #expect(try await durable.state(id) == "succeeded")
    }

    @Test("wait without ids does not wait for what is paused, suspended, or to start later, and says why it is left")
    func leftWaiting() async throws {
      let held = try await durable.add("--", "true")
      try await durable("suspend", "\(held)")
      _ = try await durable.add("--delay", "1h", "--", "true")
      let later = try await durable("wait", "--timeout", "0")
      #expect(later.status == .exited(0))
      #expect(later.stderr.contains("Idle, with "), "\(later.stderr)")
      _ = try await durable.add("--", "true")
      try await durable("pause")
      let paused = try await durable("wait", "--timeout", "0")
      #expect(paused.status == .exited(0))
      #expect(paused.stderr.contains("the queue 'default' is paused"))
    }
  }
#endif
