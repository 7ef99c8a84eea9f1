#if Shell
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsSQLite

  @Suite("Looking after a store at the shell")
  struct CareTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("a store that has lost its first bytes is repaired, and stays as it is", arguments: [false, true])
    func beginning(hasLog: Bool) async throws {
      let store = try SQLiteStore(path: durable.store)
      _ = try await durable.add("--", "true")
      // The last one that closes it moves the log into the file.
      if !hasLog { await store.close() }
      for end in ["", "-wal"] where FileManager.default.fileExists(atPath: durable.store + end) {
        try FileManager.default.copyItem(atPath: durable.store + end, toPath: durable.folder + "/cut\(end)")
      }
      await store.close()
      #expect(FileManager.default.fileExists(atPath: durable.folder + "/cut-wal") == hasLog)
      let cut = durable.folder + "/cut"
      let damaged = try FileHandle(forUpdating: URL(fileURLWithPath: cut))
      try damaged.write(contentsOf: Data(repeating: 0, count: 16))
      try damaged.close()
      let before = FileManager.default.contents(atPath: cut)
      let repaired = try await durable("repair", durable.folder + "/new", "--store", cut)
      #expect(repaired.status == .exited(0), "\(repaired.stderr)")
      #expect(repaired.text.hasPrefix("1 job whole in ") && repaired.stderr.contains("first 16 bytes"), "\(repaired)")
      #expect(try await durable("show", "1", "--store", durable.folder + "/new").status == .exited(0))
      #expect(FileManager.default.contents(atPath: cut) == before)
      let left = try FileManager.default.contentsOfDirectory(atPath: durable.folder)
      #expect(!left.contains { $0.contains("-beginning") })
    }

    @Test("a store is checked, put right, salvaged and pruned")
    func care() async throws {
      let none = try await durable("check")
      #expect(none.status == .exited(5) && none.stderr.contains("does not exist"))
      let id = try await durable.add("--", "true")
      let whole = try await durable("check")
      #expect(
        whole.line
          == "\(durable.store) is whole. Checked: its 1 job, what is kept beside jobs (waits, lanes, batches, keys, "
          + "tags, deadlines, counts), and the file's pages and indices", "\(whole)")
      let store = try SQLiteStore(path: durable.store)
      try await store.engine.write(.other) {
        try Statement("UPDATE durable_route SET jobs=5", on: $0.connection.handle).run()
      }
      await store.close()
      let found = try await durable("check")
      #expect(found.status == .exited(5))
      #expect(found.text.hasPrefix("counts: 1 ("))
      let mended = try await durable("check", "--mend", "--json")
      #expect(mended.status == .exited(0))
      #expect(mended.text.contains("\"subject\":\"counts\"") && mended.text.contains("\"mended\":true"))
      #expect(try await durable("check", "--json").text == "[]\n")

      let copy = durable.folder + "/new.sqlite"
      #expect(try await durable("repair", copy).text.hasPrefix("1 job whole in "))
      #expect(try await durable("repair", copy).status == .exited(5))
      #expect(try await durable("repair", "x").line == "1 job whole in x")
      let text = durable.folder + "/text"
      try "no store".write(toFile: text, atomically: true, encoding: .utf8)
      let wrong = try await durable("repair", durable.folder + "/other.sqlite", "--store", text)
      #expect(wrong.status == .exited(5) && wrong.stderr.contains("\(text) is no store"))
      #expect(!FileManager.default.fileExists(atPath: durable.folder + "/other.sqlite"))
      #expect(try await durable("show", "\(id)", "--store", copy).status == .exited(0))

      try await durable("cancel", "\(id)")
      #expect(try await durable("prune", "--kind", "other", "--json").json["removed"] as? [Int] == [])
      let pruned = try await durable("prune", "--compact", "--json").json
      #expect(pruned["removed"] as? [Int] == [1] && pruned["freedBytes"] is Int)
      #expect(try await durable("status").text == "no jobs\n")
    }

    @Test(
      "prune on a full disk says what it has done, and what not",
      .enabled(if: SmallDisk.isPossible, "mounts a file system, for which it must be root on Linux"))
    func pruneWithoutRoom() async throws {
      let disk = try await SmallDisk(at: durable.folder)
      for _ in 0..<2 { _ = try await durable.add("--", "true") }
      try await durable("cancel", "1")
      // Who has it open keeps the files that are needed to open it.
      let store = try SQLiteStore(path: durable.store)
      _ = try await store.counts(where: .all)
      disk.fill()
      let refused = try await durable("prune")
      #expect(refused.status == .exited(5))
      #expect(refused.stderr.contains("there is no room to delete 1 job: "), "\(refused.stderr)")
      #expect(refused.stderr.contains("Nothing was deleted. Free some space"), "\(refused.stderr)")
      let compacted = try await durable("prune", "--compact", "--kind", "other")
      #expect(compacted.status == .exited(5))
      #expect(compacted.stderr.contains("there is no room to make the file smaller: "), "\(compacted.stderr)")
      disk.empty()
      #expect(try await durable("prune", "--compact").text == "1 job removed\n")
      await store.close()
      try await disk.remove()
    }

    @Test("a job of which a part is lost is not put right but suspended, and a queue whose settings are lost is paused")
    func lost() async throws {
      for _ in 0..<2 { _ = try await durable.add("--", "true") }
      var store = try SQLiteStore(path: durable.store)
      try await store.engine.write(.other) {
        try Statement("DELETE FROM durable_spec WHERE id=1", on: $0.connection.handle).run()
      }
      await store.close()
      for _ in 0..<2 {
        let mended = try await durable("check", "--mend")
        #expect(
          mended.status == .exited(5) && mended.line == "damaged: 1 (1): suspended, as a part of each is lost",
          "\(mended)")
      }
      #expect(try await durable("check", "--mend", "--json").text.contains(#""mended":false"#))
      #expect(try await durable("remove", "1").status == .exited(0))
      #expect(try await durable("check").status == .exited(0))

      store = try SQLiteStore(path: durable.store)
      let root = try await store.engine.read {
        try Statement("SELECT rootpage FROM sqlite_master WHERE name='durable_queue'", on: $0).first { $0.int(0) } ?? 0
      }
      await store.close()
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: durable.store))
      try file.seek(toOffset: UInt64(root - 1) * 4096)
      try file.write(contentsOf: Data(repeating: 0, count: 4096))
      try file.close()
      let copy = durable.folder + "/new.sqlite"
      let repaired = try await durable("repair", copy)
      #expect(repaired.status == .exited(5) && repaired.text.hasPrefix("1 job whole in "))
      #expect(repaired.stderr.contains("durable_queue (queues, their pauses and limits)"), "\(repaired.stderr)")
      #expect(repaired.stderr.contains("are paused, and without limits: default"), "\(repaired.stderr)")
      #expect(try await durable("status", "--store", copy, "--json").json["paused"] as? [String] == ["default"])
    }

    @Test("nothing is salvaged while a worker lives, and a command that outlives its killed worker has ended before")
    func outliving() async throws {
      let fifo = try Fifo(in: durable)
      let script = "trap '' TERM; echo runs >\(fifo.path); while :; do sleep 0.1; done"
      let id = try await durable.add("--", "sh", "-c", script)
      let copy = durable.folder + "/new.sqlite"
      _ = try await durable.work { [durable] worker in
        #expect(await fifo.said() == "runs")
        let refused = try await durable("repair", copy)
        #expect(
          refused.status == .exited(1) && refused.stderr.contains("process \(worker.process) works on"), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: copy))
        kill(worker.process, SIGKILL)
        await worker.ends()
      }
      #expect(try await durable("repair", copy).status == .exited(0))
      #expect(try !durable.lives(id))
    }

    @Test("prune says what lives of a command that has ended, and remove says what of a folder is not ours")
    func leftBehind() async throws {
      let id = try await durable.add("--", "true")
      let folder = "\(durable.store)-jobs/\(id)"
      for path in ["\(durable.store)-jobs/at-work", folder] {
        try FileManager.default.createDirectory(
          atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      }
      #expect(FileManager.default.createFile(atPath: "\(durable.store)-jobs/at-work/\(id)", contents: nil))
      // Who holds the lock and does not say who it is can't be ended.
      let lock = open(folder + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      try #require(flock(lock, LOCK_EX) == 0)
      #expect(try await durable("cancel", "\(id)").status == .exited(1))
      let pruned = try await durable("prune", "-y")
      #expect(pruned.status == .exited(1) && pruned.text == "1 job removed\n", "\(pruned)")
      #expect(pruned.stderr.contains("of its command still lives"), "\(pruned.stderr)")
      release(lock)
      let other = try await durable.add("--", "true")
      try await durable("work", "--drain")
      #expect(FileManager.default.createFile(atPath: "\(durable.store)-jobs/\(other)/notes", contents: nil))
      let removed = try await durable("remove", "\(other)")
      #expect(
        removed.stderr == "Job \(other): \(durable.store)-jobs/\(other) stays, as not all in it is of this program\n")
    }

    @Test("a store that took another's place beside that one's log takes no jobs, and nor does one that is gone")
    func strayLog() async throws {
      for _ in 0..<3 { _ = try await durable.add("--", "true") }
      let (log, other) = (durable.store + "-wal", durable.folder + "/other.sqlite")
      for _ in 0..<2 { _ = try await durable.add("--store", other, "--", "true") }
      try await durable("status", "--store", other)
      let files = FileManager.default
      #expect(files.fileExists(atPath: log) && !files.fileExists(atPath: other + "-wal"))
      let before = files.contents(atPath: log)
      try files.moveItem(atPath: durable.store, toPath: durable.folder + "/moved.sqlite")
      for isThere in [false, true] {
        if isThere { try files.copyItem(atPath: other, toPath: durable.store) }
        let refused = try await durable("add", "--", "true")
        #expect(refused.status == .exited(5) && refused.stderr.contains(log), "\(refused)")
        for look in [["status"], ["wait"], ["wait", "1"], ["cancel", "1"], ["show", "1"], ["check"], ["prune"]] {
          let other = try await durable.run(look.map { Array($0.utf8) })
          #expect(other.status == refused.status && other.stderr == refused.stderr, "\(look): \(other)")
        }
        #expect(files.fileExists(atPath: durable.store) == isThere && files.contents(atPath: log) == before)
      }
      try files.removeItem(atPath: durable.store)
      try files.moveItem(atPath: durable.folder + "/moved.sqlite", toPath: durable.store)
      #expect(try await durable.add("--", "true") == 4)
    }
  }
#endif
