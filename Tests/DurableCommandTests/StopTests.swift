#if Shell
  import DurableJobs
  import DurableJobsSQLite
  import Foundation
  import Subprocess
  import Testing

  @Suite("Commands stop")
  struct StopTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    /// A command that says its process on the fifo and then runs until it is ended: no machine is so slow that it ends by
    /// itself.
    private let long = "echo $$ > said; exec sleep 864000"

    @Test("cancel reaches a running command of another process", arguments: ["cancel", "suspend"])
    func cancel(verb: String) async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add("--shell", "--", long)
      let ended = try await durable.work("--drain") { [durable] worker in
        _ = await fifo.said()
        #expect(try await durable(verb, "\(id)").status == .exited(0))
        try await worker.says("ended", id)
        await worker.ends()
      }
      #expect(ended.status == .exited(0))
      #expect(try await durable.state(id) == (verb == "cancel" ? "cancelled" : "suspended"))
      try await durable.untilGone(id)
      if verb == "suspend" { #expect(ended.stderr.contains("1 suspended (job \(id))")) }
    }

    @Test("a command that takes longer than its timeout is ended, and has failed")
    func timeout() async throws {
      let id = try await durable.add("--timeout", "300ms", "--", "sleep", "600")
      #expect(try await durable("work", "--drain").status == .exited(1))
      #expect(try await durable.message(id).hasPrefix("timed out"))
      try await durable.untilGone(id)
    }

    @Test("Ctrl-C once lets what runs end, and exits with 130 if work is left")
    func interruptOnce() async throws {
      let fifo = try Fifo(in: durable)
      let first = try await durable.add("--shell", "--", "echo $$ > said; read line < more")
      let more = try Fifo(in: durable, "more")
      let second = try await durable.add("--", "true")
      let ended = try await durable.work("--concurrency", "1") { worker in
        _ = await fifo.said()
        kill(worker.process, SIGINT)
        await more.say("go")
        await worker.ends()
      }
      #expect(ended.status == .exited(130))
      #expect(ended.stderr.contains("Left: 1 ready to run"))
      #expect(try await durable.state(first) == "succeeded")
      #expect(try await durable.state(second) == "ready")
    }

    @Test("SIGTERM is a graceful stop and a good end, also if work is left")
    func terminate() async throws {
      let fifo = try Fifo(in: durable)
      let more = try Fifo(in: durable, "more")
      let first = try await durable.add("--shell", "--", "echo $$ > said; read line < more")
      let second = try await durable.add("--", "true")
      let ended = try await durable.work("--concurrency", "1") { worker in
        _ = await fifo.said()
        kill(worker.process, SIGTERM)
        await more.say("go")
        await worker.ends()
      }
      #expect(ended.status == .exited(0))
      #expect(ended.stderr.contains("Left: 1 ready to run"))
      #expect(try await durable.state(first) == "succeeded")
      #expect(try await durable.state(second) == "ready")
    }

    @Test("a worker under nohup goes on when its terminal goes")
    func nohup() async throws {
      let said = try Fifo(in: durable)
      _ = try Fifo(in: durable, "more")
      let first = try await durable.add("--shell", "--", "echo $$ > said; read line < more")
      let second = try await durable.add("--", "true")
      let line = """
        (trap '' HUP; exec "$DURABLE" work --drain --concurrency 1) & worker=$!
        read process < said; kill -HUP $worker; echo go > more; wait $worker
        """
      let ended = try await durable.shell(line)
      #expect(ended.status == .exited(0))
      #expect(!ended.stderr.contains("Stopping"))
      for id in [first, second] { #expect(try await durable.state(id) == "succeeded") }
      withExtendedLifetime(said) {}
    }

    @Test(
      "Ctrl-C twice ends a worker whose store has no room for anything",
      .enabled(if: SmallDisk.isPossible, "mounts a file system, for which it must be root on Linux"))
    func diskFull() async throws {
      let disk = try await SmallDisk(at: durable.folder)
      let fifo = try Fifo(in: durable)
      let id = try await durable.add("--shell", "--", "echo $$ > said; exec sleep 600")
      let ended = try await durable.run("work") { worker in
        _ = await fifo.said()
        disk.fill()
        kill(worker.process, SIGINT)
        try await worker.says("Stopping")
        kill(worker.process, SIGINT)
      }
      #expect(ended.status == .exited(130))
      #expect(ended.stderr.components(separatedBy: "there is no room for the store").count == 2, "\(ended.stderr)")
      try await durable.untilGone(id)
      #expect(try await durable("status").stderr.contains("Workers: none"))
      // It was given back, if there was room for that after all.
      let job = try await durable.job(id)
      #expect(job["state"] as? String == "ready" || (job["worker"] as? [String: Any])?["state"] as? String == "dead")
      disk.empty()
      #expect(try await durable("cancel", "\(id)").status == .exited(0))
      try await disk.remove()
    }

    @Test(
      "work --drain ends and says why where the store has no room, and runs nothing",
      .enabled(if: SmallDisk.isPossible, "mounts a file system, for which it must be root on Linux"))
    func drainOnFullDisk() async throws {
      let disk = try await SmallDisk(at: durable.folder)
      let id = try await durable.add("--", "true")
      disk.fill()
      let drained = try await durable("work", "--drain")
      #expect(drained.status == .exited(5))
      #expect(drained.stderr.contains("there is no room for the store \(durable.store)"), "\(drained.stderr)")
      disk.empty()
      #expect(try await durable("work", "--drain").status == .exited(0))
      let job = try await durable.job(id)
      #expect(job["state"] as? String == "succeeded")
      #expect(job["attempt"] as? Int == 1 && job["crashes"] as? Int == 0)
      try await disk.remove()
    }

    @Test(
      "work --drain whose store has no room for the end of a job waits, says so once, and goes on when there is room",
      .enabled(if: SmallDisk.isPossible, "mounts a file system, for which it must be root on Linux"),
      arguments: [true, false])
    func drainMeetsFullDisk(isEmptied: Bool) async throws {
      let disk = try await SmallDisk(at: durable.folder)
      let (said, more) = (try Fifo(in: durable), try Fifo(in: durable, "more"))
      let id = try await durable.add("--shell", "--", "echo > said; read line < more")
      let ended = try await durable.run("work", "--drain") { worker in
        _ = await said.said()
        disk.fill()
        await more.say("go")
        try await worker.says("there is no room for the store")
        if isEmptied {
          disk.empty()
        } else {
          kill(worker.process, SIGINT)
          try await worker.says("Stopping")
          kill(worker.process, SIGINT)
        }
      }
      #expect(ended.status == .exited(isEmptied ? 0 : 130), "\(ended.stderr)")
      let words = "trying again: there is no room for the store"
      #expect(ended.stderr.components(separatedBy: words).count == 2, "\(ended.stderr)")
      disk.empty()
      if isEmptied { #expect(try await durable.state(id) == "succeeded") }
      try await disk.remove()
    }

    /// A job whose command lives on alone.
    private func commandLeftAlone(_ options: String...) async throws -> Int {
      let fifo = try Fifo(in: durable)
      let words = ["add"] + options + ["--shell", "--", "echo $PPID > said; while :; do sleep 0.05; done"]
      let id = try #require(Int(try await durable.run(words.map { Array($0.utf8) }).line))
      _ = try await durable.work { worker in
        let supervisor = try #require(pid_t(await fifo.said()))
        // Nobody ends the command: its worker can't, and its supervisor has no time.
        kill(worker.process, SIGSTOP)
        kill(supervisor, SIGKILL)
        kill(worker.process, SIGKILL)
        await worker.ends()
      }
      return id
    }

    @Test("cancel says that nobody is there to end a command whose worker and supervisor are dead, and wait ends it")
    func cancelOfRemains() async throws {
      let id = try await commandLeftAlone()
      let cancelled = try await durable("cancel", "\(id)")
      #expect(
        cancelled.text == "job \(id) runs; it is asked to stop, but its worker has died; the next worker ends that\n")
      #expect(try await durable("wait", "\(id)").status == .exited(1))
      #expect(try await durable.state(id) == "cancelled")
      try await durable.untilGone(id)
    }

    @Test(
      "wait for a queue and batch wait end what a job that ended has left",
      arguments: [["wait"], ["batch", "wait", "b"]])
    func waitForRemains(words: [String]) async throws {
      try await durable("batch", "create", "b")
      let id = try await commandLeftAlone("--batch", "b")
      try await durable("batch", "close", "b")
      try await durable("cancel", "\(id)")
      let waited = try await durable.run(words.map { Array($0.utf8) })
      #expect(waited.status == .exited(words == ["wait"] ? 0 : 1), "\(waited.stderr)")
      #expect(try !durable.lives(id), "\(waited.stderr)")
      try await durable.untilGone(id)
    }

    @Test(
      "wait and batch wait exit with 1 where something lives of a command that can't be ended, and say what",
      arguments: [["wait", "1"], ["wait"], ["batch", "wait", "b"]])
    func waitBesideWhatLives(words: [String]) async throws {
      try await durable("batch", "create", "b")
      let id = try await durable.add("--batch", "b", "--", "true")
      try await durable("batch", "close", "b")
      #expect(try await durable("work", "--drain").status == .exited(0))
      // Who holds the lock and does not say who it is can't be ended.
      let lock = open("\(durable.store)-jobs/\(id)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(lock) }
      try #require(flock(lock, LOCK_EX | LOCK_NB) == 0 && ftruncate(lock, 0) == 0)
      try Data("{}".utf8).write(to: URL(fileURLWithPath: "\(durable.store)-jobs/at-work/\(id)"))
      let waited = try await durable.run(words.map { Array($0.utf8) })
      #expect(waited.status == .exited(1), "\(waited.stderr)")
      #expect(waited.stderr.contains("of its command still lives"), "\(waited.stderr)")
    }

    @Test("complete and fail end what a dead worker and its supervisor have left", arguments: ["complete", "fail"])
    func remains(verb: String) async throws {
      let id = try await commandLeftAlone()
      let lock = open("\(durable.store)-jobs/\(id)/lock", O_RDONLY | O_CLOEXEC)
      defer { close(lock) }
      #expect(flock(lock, LOCK_SH | LOCK_NB) != 0, "its command lives")
      let store = try SQLiteStore(path: durable.store)
      while try await store.job(JobID(rawValue: Int64(id))).state == .running {
        _ = try await store.recover(RecoveryRequest())
      }
      await store.close()
      #expect(try await durable(verb, "\(id)").status == .exited(0))
      #expect(flock(lock, LOCK_EX | LOCK_NB) == 0, "nothing lives of it")
    }

    @Test("Ctrl-C twice ends everything at once, also what ignores TERM, and the job goes back uncounted")
    func interruptTwice() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add("--shell", "--", "trap '' TERM; echo $$ > said; sleep 864000; sleep 864000")
      let ended = try await durable.run("work") { worker in
        _ = await fifo.said()
        kill(worker.process, SIGINT)
        try await worker.says("Stopping")
        kill(worker.process, SIGINT)
      }
      #expect(ended.status == .exited(130))
      try await durable.untilGone(id)
      let job = try await durable.job(id)
      #expect(job["state"] as? String == "ready")
      #expect(job["attempt"] as? Int == 0)
      #expect(job["crashes"] as? Int == 0)
    }

    @Test("Ctrl-C twice ends a worker that hangs, after 10 s")
    func hanging() async throws {
      let id = try await durable.add("--", "true")
      let folder = "\(durable.store)-jobs/\(id)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      // Who is named as the holder is read here, and never comes.
      try #require(mkfifo(folder + "/lock", 0o600) == 0)
      let lock = open(folder + "/lock", O_RDWR | O_CLOEXEC)
      defer { close(lock) }
      try #require(flock(lock, LOCK_EX) == 0)
      let ended = try await durable.run("work") { [durable] worker in
        while try await durable.state(id) != "running" {}
        kill(worker.process, SIGINT)
        try await worker.says("Stopping")
        kill(worker.process, SIGINT)
      }
      #expect(ended.status == .exited(130))
    }

    @Test(
      "the command of a killed worker is ended, also if it ignores TERM, and the next worker runs it again",
      arguments: [
        "echo $$ > said; exec sleep 864000", "trap '' TERM; echo $$ > said; while :; do sleep 864000; done",
      ])
    func workerKilled(command: String) async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add("--shell", "--", "test -e again && exit 0; touch again; \(command)")
      _ = try await durable.work { [durable] worker in
        _ = await fifo.said()
        kill(worker.process, SIGKILL)
        try await durable.untilGone(id)
      }
      #expect(try await durable("work", "--drain").status == .exited(0))
      let job = try await durable.job(id)
      #expect(job["state"] as? String == "succeeded")
      #expect(job["attempt"] as? Int == 1)
      #expect(job["crashes"] as? Int == 1)
    }

    @Test("worker and supervisor killed at once: the next worker ends the command before it starts another")
    func noTwin() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add(
        "--shell", "--",
        "echo $$ $PPID >> runs; test -e again && exit 0; touch again; echo $$ $PPID > said; exec sleep 864000")
      _ = try await durable.work { worker in
        let numbers = await fifo.said().split(separator: " ").compactMap { pid_t($0) }
        try #require(numbers.count == 2)
        kill(worker.process, SIGSTOP)
        kill(numbers[1], SIGKILL)
        kill(worker.process, SIGKILL)
        await worker.ends()
        #expect(kill(numbers[0], 0) == 0, "the command lives on alone")
        let next = try await durable("work", "--drain")
        #expect(next.status == .exited(0))
        #expect(kill(numbers[0], 0) != 0 || isZombie(numbers[0]))
      }
      let runs = try String(contentsOfFile: durable.folder + "/runs", encoding: .utf8).split(separator: "\n")
      #expect(runs.count == 2)
      #expect(try await durable.state(id) == "succeeded")
    }

    @Test("a supervisor that is killed takes its command with it, and counts as a crash, not as an attempt")
    func supervisorKilled() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add(
        "--shell", "--", "test -e again && exit 0; touch again; echo $PPID > said; exec sleep 864000")
      let ended = try await durable.work("--drain") { worker in
        let supervisor = try #require(pid_t(await fifo.said()))
        kill(supervisor, SIGKILL)
        await worker.ends()
      }
      #expect(ended.status == .exited(0))
      #expect(try await durable.job(id)["attempt"] as? Int == 1)
      #expect(try await durable.job(id)["crashes"] as? Int == 1)
      #expect(try await durable.state(id) == "succeeded")
    }

    @Test("a command that stops its supervisor is ended all the same")
    func supervisorStopped() async throws {
      let id = try await durable.add("--timeout", "300ms", "--shell", "--", "kill -STOP $PPID; exec sleep 864000")
      #expect(try await durable("work", "--drain").status != .exited(0))
      try await durable.untilGone(id)
      #expect(try await durable.state(id) != "running")
    }

    @Test("a command has no terminal")
    func noTerminal() async throws {
      let id = try await durable.add("--shell", "--", "true </dev/tty")
      #expect(try await durable("work", "--drain").status == .exited(1))
      #expect(try await durable.message(id).contains("exited with code"))
    }

    @Test("a cancelled command one of whose processes lives on says so in its log, and its lane is not handed on")
    func cancelledButForOne() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add(
        "--lane", "l", "--shell", "--", "(setsid sh -c 'echo $$ > said; exec sleep 600' &); exec sleep 600")
      let next = try await durable.add("--lane", "l", "--", "true")
      let ended = try await durable.work("--drain") { [durable] worker in
        let escapee = try #require(pid_t(await fifo.said()))
        defer { kill(escapee, SIGKILL) }
        try await durable("cancel", "\(id)")
        await worker.ends()
      }
      #expect(ended.status == .exited(0))
      #expect(try await durable.state(id) == "cancelled")
      #expect(try await durable("log", "\(id)").stderr.contains("has left its group, and still lives"))
      #expect(try await durable.state(next) == "suspended")
    }

    @Test("a process that has left its group and still lives suspends the job, with that reason")
    func escaped() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add(
        "--shell", "--", "(setsid sh -c 'echo $$ > said; exec sleep 864000' &); exec sleep 864000")
      let said = Lock<pid_t>(0)
      _ = try await durable.work { worker in
        let process = try #require(pid_t(await fifo.said()))
        said.withLock { $0 = process }
        kill(worker.process, SIGKILL)
        await worker.ends()
      }
      let escapee = said.withLock { $0 }
      defer { kill(escapee, SIGKILL) }
      let work = try await durable("work", "--drain")
      #expect(work.status == .exited(0))
      #expect(try await durable.state(id) == "suspended")
      let reason = try #require(try await durable.job(id)["reason"] as? String)
      #expect(reason.contains("has left its group"))
      #if os(Linux)
        #expect(reason.contains("process \(escapee) of this command"), "\(reason)")
      #endif
    }
  }

  /// A file system of a few megabytes.
  struct SmallDisk: Sendable {
    static let isPossible: Bool = {
      #if os(Linux)
        geteuid() == 0
      #else
        false
      #endif
    }()

    let path: String

    init(at path: String) async throws {
      self.path = path
      try await Self.run("mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", path)
    }

    func fill() {
      let file = open(path + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      let block = [UInt8](repeating: 1, count: 4096)
      while write(file, block, block.count) > 0 {}
      close(file)
    }

    func empty() { unlink(path + "/filler") }

    func remove() async throws { try await Self.run("umount", "-l", path) }

    private static func run(_ program: String, _ arguments: String...) async throws {
      let result = try await Subprocess.run(
        .name(program), arguments: Arguments(arguments), output: .discarded, error: .string(limit: 1000))
      try #require(result.terminationStatus == .exited(0), "\(result.standardError)")
    }
  }
#endif
