#if Shell
  import Foundation
  import LyingServer
  import Testing

  @Suite("What a worker lacks is no failure of its jobs")
  struct ShortageTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("a lock that the supervisor can't open suspends a command, and does not fail it")
    func unusableLock() async throws {
      let id = try await durable.add("--", "true")
      try FileManager.default.createDirectory(
        atPath: "\(durable.store)-jobs/\(id)/lock.supervisor", withIntermediateDirectories: true)
      #expect(try await durable("work", "--drain").status == .exited(0))
      let shown = try await durable.job(id)
      #expect(shown["state"] as? String == "suspended", "\(shown)")
      #expect((shown["reason"] as? String)?.contains("it could not be started: can't open ") ?? false, "\(shown)")
    }

    @Test(
      "a file where a job's folder, or that of all jobs, is to be made suspends a command", arguments: [true, false])
    func fileForFolder(isForAll: Bool) async throws {
      let id = try await durable.add("--", "true")
      let all = "\(durable.store)-jobs"
      if !isForAll { try FileManager.default.createDirectory(atPath: all, withIntermediateDirectories: false) }
      try Data().write(to: URL(fileURLWithPath: isForAll ? all : "\(all)/\(id)"))
      #expect(try await durable("work", "--drain").status == .exited(0))
      let shown = try await durable.job(id)
      let reason = "it could not be started: can't make the folder \(all)/\(id): Not a directory"
      #expect(shown["state"] as? String == "suspended" && shown["reason"] as? String == reason, "\(shown)")
    }

    @Test("a worker that may open few files runs commands", arguments: [40, 64, 100])
    func fewFiles(limit: Int) async throws {
      let id = try await durable.add("--", "true")
      let worked = try await durable.shell("ulimit -n \(limit); \"$DURABLE\" work --drain --concurrency 1")
      #expect(worked.status == .exited(0), "\(worked.text)\(worked.stderr)")
      #expect(try await durable.job(id)["crashes"] as? Int == 0)
      #expect(try await durable.state(id) == "succeeded")
    }

    @Test(
      "who may open too few files is told so in a line, before anything is begun",
      arguments: [8, 12, 15, 24, 34],
      [["get", "http://127.0.0.1:9/a"], ["work", "--drain"], ["add", "--follow", "--", "true"]])
    func tooFewFiles(limit: Int, words: [String]) async throws {
      let line = "ulimit -n \(limit); exec \"$DURABLE\" \(words.joined(separator: " "))"
      let ended = try await durable.shell(line)
      #expect(ended.status == .exited(2))
      #expect(ended.stderr.hasPrefix("durable: too few files may be open at once: "), "\(ended.stderr)")
      #expect(ended.stderr.hasSuffix(" more are needed. Raise that with: ulimit -n 256\n"), "\(ended.stderr)")
      #expect(try await durable("status").text.hasSuffix("no jobs\n"))
    }

    @Test("who has a low limit that can be raised works", arguments: [["work", "--drain"], ["status"]])
    func softLimit(words: [String]) async throws {
      let line = "ulimit -Sn 12; exec \"$DURABLE\" \(words.joined(separator: " "))"
      #expect(try await durable.shell(line).status == .exited(0))
    }

    @Test("a file that is larger than it may be fails at once, and it says what to do")
    func largeFile() async throws {
      let server = try await LyingServer()
      server.serve("/a.bin", .file(Content(3_000_000)))
      let ended = try await durable.shell("ulimit -f 2000; exec \"$DURABLE\" get --json \(server.url("/a.bin"))")
      #expect(ended.status == .exited(1), "\(ended.stderr)")
      #expect(ended.text.contains("ulimit -f") && ended.text.contains("another disk"), "\(ended.text)")
      #expect(server.requests.count == 1)
    }

    @Test(
      "a body that does not fit beside the store is the store's trouble",
      .enabled(if: SmallDisk.isPossible, "only root may mount a small disk"))
    func largeBody() async throws {
      try Data(count: 5_000_000).write(to: URL(fileURLWithPath: durable.folder + "/body"))
      try FileManager.default.createDirectory(atPath: durable.folder + "/disk", withIntermediateDirectories: false)
      let disk = try await SmallDisk(at: durable.folder + "/disk")
      let store = disk.path + "/jobs.sqlite"
      let sent = try await durable("send", "PUT", "http://127.0.0.1:9/a", "--data", "@body", "--store", store)
      let kept = try FileManager.default.contentsOfDirectory(atPath: store + "-outbox")
      try await disk.remove()
      #expect(sent.status == .exited(5))
      #expect(sent.stderr.contains("can't be kept beside the store: there is no room but for what"), "\(sent.stderr)")
      #expect(kept.isEmpty)
    }

    @Test("where there are files for a few commands only, the others wait, and no attempt or crash is counted")
    func tooMany() async throws {
      for _ in 0..<16 { _ = try await durable.add("--", "sleep", "0.5") }
      let worked = try await durable.shell("ulimit -n 64; \"$DURABLE\" work --drain --concurrency 16")
      #expect(worked.status == .exited(0), "\(worked.text)\(worked.stderr)")
      for id in 1...16 {
        let job = try await durable.job(id)
        #expect(job["state"] as? String == "succeeded")
        #expect(job["attempt"] as? Int == 1 && job["crashes"] as? Int == 0)
        #expect((job["errors"] as? [Any])?.isEmpty == true)
      }
    }

    @Test(
      "a worker may open as many files as the system lets it, and its commands as many as it was given",
      .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/limits"), "needs /proc"))
    func limits() async throws {
      let id = try await durable.add("--shell", "--", "ulimit -n; grep 'open files' /proc/$PPID/limits")
      _ = try await durable.shell("ulimit -Sn 200; \"$DURABLE\" work --drain")
      let lines = try await durable("log", "\(id)").text.split(separator: "\n")
      try #require(lines.count == 2)
      #expect(lines[0] == "200")
      let fields = lines[1].split(separator: " ")
      #expect(try #require(Int(fields[3])) > 200)
      let followed = try await durable.shell("ulimit -Sn 200; \"$DURABLE\" add --follow --shell -- 'ulimit -n'")
      #expect(followed.text == "200\n")
    }

    #if os(Linux)
      @Test(
        "where there are no more threads or processes, a command is put off, and run in the same attempt when there are",
        .enabled(if: geteuid() == 0, "limits another user, for which it must be root"), arguments: 1...3)
      func fewThreads(more: Int) async throws {
        let line = """
          user=$((200000 + $$)); chown -R $user .
          as="setpriv --reuid $user --clear-groups env TMPDIR=$PWD $DURABLE"
          $as pause > out; $as add -- true > out
          $as work > out 2>&1 & worker=$!
          trap 'kill -9 $worker' EXIT
          until grep -q Working out; do sleep 0.05; done
          prlimit --pid $worker --nproc=$(($(ls /proc/$worker/task | wc -l) + \(more))):1000
          $as unpause > unpaused
          until grep -Eq 'back|done' out; do sleep 0.05; done
          prlimit --pid $worker --nproc=1000:1000
          $as wait 1 > waited && $as show 1 --json && kill -TERM $worker && wait $worker && trap - EXIT
          """
        let worked = try await durable.shell(line)
        #expect(worked.status == .exited(0), "\(worked.text)\(worked.stderr)")
        let job = try worked.json
        #expect(job["state"] as? String == "succeeded")
        #expect(job["attempt"] as? Int == 1 && job["crashes"] as? Int == 0)
      }

      @Test(
        "who works and may start too few threads is told so in a line, before anything is begun",
        .enabled(if: geteuid() == 0, "limits another user, for which it must be root"), arguments: [8, 12])
      func tooFewThreads(limit: Int) async throws {
        let line = """
          user=$((200000 + $$)); chown -R $user .
          exec setpriv --reuid $user --clear-groups bash -c "ulimit -u \(limit); exec $DURABLE work --drain"
          """
        let ended = try await durable.shell(line)
        #expect(ended.status == .exited(2))
        #expect(ended.stderr.hasPrefix("durable: too few threads may run at once: "), "\(ended.stderr)")
      }

      @Test("a program that is being written is run when it is ready, in the same attempt")
      func busyProgram() async throws {
        try FileManager.default.copyItem(atPath: "/bin/true", toPath: durable.folder + "/program")
        let file = open(durable.folder + "/program", O_WRONLY | O_CLOEXEC)
        let id = try await durable.add("--", "./program")
        let ended = try await durable.work("--drain") { worker in
          try await worker.says("ended", id)
          close(file)
          await worker.ends()
        }
        #expect(ended.status == .exited(0))
        let job = try await durable.job(id)
        #expect(job["state"] as? String == "succeeded")
        #expect(job["attempt"] as? Int == 1 && job["crashes"] as? Int == 0)
      }
    #endif

    @Test(
      "a command whose folder has no room is run when there is room, in the same attempt",
      .enabled(if: SmallDisk.isPossible, "mounts a file system, for which it must be root on Linux"))
    func diskFull() async throws {
      let id = try await durable.add("--", "true")
      try FileManager.default.createDirectory(atPath: durable.store + "-jobs", withIntermediateDirectories: false)
      let disk = try await SmallDisk(at: durable.store + "-jobs")
      disk.fill()
      let ended = try await durable.work("--drain") { worker in
        try await worker.says("ended", id)
        disk.empty()
        await worker.ends()
      }
      #expect(ended.status == .exited(0))
      let job = try await durable.job(id)
      #expect(job["state"] as? String == "succeeded")
      #expect(job["attempt"] as? Int == 1 && job["crashes"] as? Int == 0)
      try await disk.remove()
    }

    @Test(
      "what a command writes leaves room on the disk of its store",
      .enabled(if: SmallDisk.isPossible, "mounts a file system, for which it must be root on Linux"))
    func roomForTheStore() async throws {
      let disk = try await SmallDisk(at: durable.folder)
      let id = try await durable.add("--shell", "--cwd", "/", "--", "head -c 20000000 /dev/zero; echo end")
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try await durable.state(id) == "succeeded")
      var room = statvfs()
      #expect(statvfs(durable.folder, &room) == 0)
      #expect(UInt(room.f_bavail) * UInt(room.f_frsize) > 256 * 1024)
      let log = try await durable("log", "\(id)")
      #expect(log.stderr.contains(/\d+ bytes of stdout (were )?left out/), "\(log.stderr)")
      try await disk.remove()
    }
  }
#endif
