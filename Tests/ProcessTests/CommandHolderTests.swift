#if Process
  import DurableJobs
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsProcess

  /// Who lives is told from who died, and from who has only the same number.
  @Suite struct HolderTests {
    /// A process of its own group, as its own command.
    private func holder(of process: pid_t) throws -> CommandHolder {
      let start = try #require(ProcessEntry(process)).start
      let mark = CommandHolder.Mark(number: process, start: start)
      return CommandHolder(machine: CommandHolder.currentMachine, session: mark, command: mark)
    }

    /// In a session of its own: what is no group's leader becomes what `setsid` starts.
    private func session(_ line: String) throws -> (ChildProcess, output: FileHandle) {
      let output = Pipe()
      let child = try ChildProcess(
        "/bin/sh", ["-c", "setsid sh -c '\(line)'; :"], output: output.fileHandleForWriting.fileDescriptor)
      try output.fileHandleForWriting.close()
      return (child, output.fileHandleForReading)
    }

    private func line(_ output: FileHandle) throws -> [pid_t] {
      var text = Data()
      while let byte = try output.read(upToCount: 1), byte != Data("\n".utf8), !byte.isEmpty { text += byte }
      return String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
    }

    @Test func `a process lives under its number and its start, on this machine, and not when it has ended`() throws {
      let child = try ChildProcess("/bin/sleep", ["600"])
      let holder = try holder(of: child.pid)
      #expect(holder.lives())
      var other = holder
      other.machine = "another start of the machine"
      #expect(!other.lives())
      other = holder
      other.command.start += 1
      other.session.start += 1
      #expect(!other.lives(), "the number was given to somebody else")
      child.send(SIGKILL)
      var information = siginfo_t()
      while waitid(P_PID, id_t(child.pid), &information, WEXITED | WNOWAIT) != 0 {}
      #expect(!holder.lives(), "a zombie is dead")
      child.wait()
      #expect(!holder.lives())
    }

    @Test(.enabled(if: hasProcessTable, "uses setsid"))
    func `a group lives on without its leader, and is ended by a signal to it, if a member has the lock`() async throws
    {
      let path = FileManager.default.temporaryDirectory.path + "/durable-lock-\(UUID().uuidString)"
      defer { unlink(path) }
      let (shell, output) = try session("sleep 600 9>\(path) & echo $$ $!; exec sleep 600")
      let numbers = try line(output)
      try #require(numbers.count == 2)
      let holder = try holder(of: numbers[0])
      kill(numbers[0], SIGKILL)
      await until { ProcessList.hasEnded(numbers[0]) }
      #expect(holder.lives(), "the member does")
      #expect(!holder.lives(besides: numbers[1]))
      holder.send(SIGTERM, holding: path)
      await until { ProcessList.hasEnded(numbers[1]) }
      #expect(!holder.lives())
      shell.send(SIGKILL)
    }

    @Test(.enabled(if: hasProcessTable, "uses setsid"))
    func `a session without its leader, and without who has the lock, may be a stranger's, and gets no signal`()
      async throws
    {
      let path = FileManager.default.temporaryDirectory.path + "/durable-lock-\(UUID().uuidString)"
      #expect(FileManager.default.createFile(atPath: path, contents: nil))
      defer { unlink(path) }
      let (shell, output) = try session("sleep 600 & echo $$ $!; exec sleep 600")
      let numbers = try line(output)
      try #require(numbers.count == 2)
      defer { kill(numbers[1], SIGKILL) }
      let holder = try holder(of: numbers[0])
      kill(numbers[0], SIGKILL)
      // A zombie of it would tell whose the session is.
      await until { kill(numbers[0], 0) != 0 }
      kill(numbers[1], SIGSTOP)
      await until { ProcessList.isStopped(numbers[1]) }
      holder.send(SIGTERM, holding: path)
      #expect(!ProcessList.isWaiting(SIGTERM, for: numbers[1]))
      #expect(holder.lives(), "to wait in vain is better than a twin")
      shell.send(SIGKILL)
    }

    @Test func `a lock is not free while somebody lives who has strayed from its holder`() throws {
      let path = FileManager.default.temporaryDirectory.path + "/durable-lock-\(UUID().uuidString)"
      defer { unlink(path) }
      let lock = CommandLock(path: path)
      let (command, stray) = (try ChildProcess("/bin/sleep", ["600"]), try ChildProcess("/bin/sleep", ["600"]))
      var holder = try holder(of: command.pid)
      let start = try #require(ProcessEntry(stray.pid)).start
      func isFree(_ start: UInt64?) throws -> Bool {
        holder.strays = [Stray(number: stray.pid, start: start)]
        try JSONEncoder().encode(holder).write(to: URL(filePath: path))
        return try lock.isFree()
      }
      command.send(SIGKILL)
      command.wait()
      #expect(try isFree(start + 1), "the number was given to somebody else")
      #expect(try !isFree(nil), "the system does not tell who it is")
      #expect(try !isFree(start))
      // A process that another test starts has this one's descriptors until it becomes its program.
      #expect(lock.processes.contains(stray.pid))
      #expect(lock.livingWords(of: "it").contains("\(stray.pid)"))
      stray.send(SIGKILL)
      stray.wait()
      #expect(try lock.isFree())
      #expect(FileManager.default.contents(atPath: path) == Data())
    }

    @Test func `more who have strayed than are written down, each with a long number, leave a lock readable`() throws {
      let path = FileManager.default.temporaryDirectory.path + "/durable-lock-\(UUID().uuidString)"
      defer { unlink(path) }
      let child = try ChildProcess("/bin/sleep", ["600"])
      var holder = try holder(of: child.pid)
      holder.strays = Array(repeating: Stray(number: .max, start: .max), count: CommandLock.mostStrays)
      try JSONEncoder().encode(holder).write(to: URL(filePath: path))
      #expect(try !CommandLock(path: path).isFree())
    }

    @Test(.enabled(if: hasProcessTable, "uses setsid"))
    func `what is in the session of a holder and in another group is of it`() async throws {
      let (shell, output) = try session(#"exec bash -c "set -m; sleep 600 & echo \$\$ \$!; exec sleep 600""#)
      let numbers = try line(output)
      try #require(numbers.count == 2 && getpgid(numbers[1]) == numbers[1])
      let holder = try holder(of: numbers[0])
      holder.send(SIGTERM, holding: "/")
      await until { numbers.allSatisfy { ProcessList.hasEnded($0) } }
      shell.send(SIGKILL)
    }

    @Test(.enabled(if: hasProcessTable, "reads states in /proc"))
    func `a process whose first thread has ended lives as long as another of its threads`() async throws {
      let child = try ChildProcess(Place.probe, ["headless"])
      let holder = try holder(of: child.pid)
      await until { ProcessList.hasEnded(child.pid) }
      #expect(holder.lives())
      holder.send(SIGKILL, holding: "/")
      #expect(child.wait() == .killed(by: SIGKILL))
      #expect(!holder.lives())
    }

    @Test func `a lock that can be had is not taken while its holder lives, nor by who has no supervisor`() throws {
      let path = FileManager.default.temporaryDirectory.path + "/durable-lock-\(UUID().uuidString)"
      defer { unlink(path) }
      let lock = CommandLock(path: path)
      let child = try ChildProcess("/bin/sleep", ["600"])
      let next = try ChildProcess("/bin/sleep", ["600"])
      try JSONEncoder().encode(try holder(of: child.pid)).write(to: URL(filePath: path))
      #expect(try !lock.take(as: try holder(of: next.pid)))
      child.send(SIGKILL)
      child.wait()
      #expect(try !lock.take(as: nil))
      #expect(try lock.take(as: try holder(of: next.pid)))
      #expect(try !lock.take(as: try holder(of: next.pid)), "somebody has it")
    }

    @Test func `a copy of a lock, beside a copy of its store, is free, and its holder is left alone`() async throws {
      let path = FileManager.default.temporaryDirectory.path + "/durable-lock-\(UUID().uuidString)"
      defer { for file in [path, path + ".copy"] { unlink(file) } }
      let (lock, copy) = (CommandLock(path: path), CommandLock(path: path + ".copy"))
      let child = try ChildProcess("/bin/sleep", ["600"])
      #expect(try lock.take(as: try holder(of: child.pid)))
      try FileManager.default.copyItem(atPath: lock.path, toPath: copy.path)
      #expect(await copy.endHolder(within: .milliseconds(100)))
      #expect(try copy.isFree() && copy.processes.isEmpty)
      #expect(try !lock.isFree() && child.isRunning)
      child.send(SIGKILL)
      #expect(child.wait() == .killed(by: SIGKILL))
    }

    @Test func `a lock on a volume that was mounted anew, as another device, is held as before`() async throws {
      let path = FileManager.default.temporaryDirectory.path + "/durable-lock-\(UUID().uuidString)"
      defer { for file in [path, path + ".anew"] { unlink(file) } }
      let child = try ChildProcess("/bin/sleep", ["600"])
      #expect(try CommandLock(path: path).take(as: try holder(of: child.pid)))
      var record = try #require(CommandLock(path: path).holder)
      // One that no process has open.
      let file = URL(fileURLWithPath: path + ".anew")
      try Data().write(to: file)
      var status = stat()
      #expect(stat(file.path, &status) == 0)
      record.file = "12345:\(status.st_ino)"
      try JSONEncoder().encode(record).write(to: file)
      #expect(try !CommandLock(path: file.path).isFree())
      child.send(SIGKILL)
      #expect(child.wait() == .killed(by: SIGKILL))
      #expect(try CommandLock(path: file.path).isFree())
    }

    @Test func `a lock is not free as long as a supervisor is at work that can't be seen from here`() throws {
      let path = FileManager.default.temporaryDirectory.path + "/durable-lock-\(UUID().uuidString)"
      defer { for file in [path, path + ".supervisor"] { unlink(file) } }
      let lock = CommandLock(path: path)
      #expect(try lock.takeForSupervisor())
      #expect(try !lock.isFree())
      #expect(try lock.isFree(besides: getpid()), "the supervisor itself may ask")
      #expect(try !lock.takeForSupervisor())
    }

    @Test func `a holder in another space of process numbers is not forgotten`() throws {
      let path = FileManager.default.temporaryDirectory.path + "/durable-lock-\(UUID().uuidString)"
      defer { unlink(path) }
      var holder = try holder(of: getpid())
      holder.machine = "another container"
      let data = try JSONEncoder().encode(holder)
      try data.write(to: URL(filePath: path))
      #expect(try CommandLock(path: path).isFree())
      #expect(FileManager.default.contents(atPath: path) == data)
    }

    @Test func `who ends a holder leaves alone who has taken the lock since`() async throws {
      let path = FileManager.default.temporaryDirectory.path + "/durable-lock-\(UUID().uuidString)"
      defer { for file in [path, path + ".next"] { unlink(file) } }
      let said = Pipe()
      let line = "trap 'mv \(path).next \(path)' TERM; echo; while :; do sleep 0.01; done"
      let first = try ChildProcess("/bin/sh", ["-c", line], output: said.fileHandleForWriting.fileDescriptor)
      let go = Pipe()
      let next = try ChildProcess(
        "/bin/sh", ["-c", "read line; exit 7"], input: go.fileHandleForReading.fileDescriptor)
      try JSONEncoder().encode(try holder(of: first.pid)).write(to: URL(filePath: path))
      try JSONEncoder().encode(try holder(of: next.pid)).write(to: URL(filePath: path + ".next"))
      _ = try said.fileHandleForReading.read(upToCount: 1)
      #expect(await !CommandLock(path: path).endHolder(within: .milliseconds(500)))
      try go.fileHandleForWriting.close()
      #expect(next.wait() == .exited(7))
    }

    @Test func `a lock that can't be looked at is neither free nor held`() throws {
      let path = FileManager.default.temporaryDirectory.path + "/durable-lock-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      defer { rmdir(path) }
      #expect { try CommandLock(path: path).isFree() } throws: { $0.lasts }
    }

    @Test func `a file that can't be locked is told as that, and what helps`() throws {
      #expect { try Descriptors.lock(-1, "/jobs/1/lock") } throws: {
        "\($0)".hasPrefix("can't lock /jobs/1/lock: put its folder on a file system with locks, such as a local disk")
      }
    }

    @Test(arguments: [0, 1, -1] as [pid_t])
    func `no signal goes to this group, the first process or all, whatever a damaged lock names`(number: pid_t) {
      // Of a signal that does nothing, the system tells whether it would have been sent.
      #expect(!ProcessEntry.send(0, to: number))
      for start in [nil, 0, 1] as [UInt64?] { #expect(!Stray(number: number, start: start).lives) }
    }

    @Test func `what a command meets again is told from what may pass`() throws {
      let lasting = [
        ENOENT, EACCES, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, E2BIG, ENOEXEC, EOPNOTSUPP, ENOSYS,
      ]
      #expect(lasting.allSatisfy { Refusal("", $0).lasts })
      let passing = [EMFILE, ENFILE, ENOMEM, EAGAIN, ENOSPC, EDQUOT, ETXTBSY, EIO, ENOBUFS, EROFS]
      #expect(passing.allSatisfy { !Refusal("", $0).lasts })
      #expect(!CancellationError().lasts, "of which no code is known")
      #expect { try Data().write(to: URL(filePath: "/no-such-folder/file")) } throws: { $0.lasts }
    }

    @Test func `a lock that can be had is free only when its holder is dead, and forgets it then`() throws {
      let path = FileManager.default.temporaryDirectory.path + "/durable-lock-\(UUID().uuidString)"
      defer { unlink(path) }
      let lock = CommandLock(path: path)
      #expect(try lock.isFree(), "where there is no file nothing runs")
      let child = try ChildProcess("/bin/sleep", ["600"])
      try JSONEncoder().encode(try holder(of: child.pid)).write(to: URL(filePath: path))
      #expect(try !lock.isFree())
      child.send(SIGKILL)
      child.wait()
      #expect(try lock.isFree())
      #expect(FileManager.default.contents(atPath: path) == Data())
      let file = open(path, O_RDWR)
      #expect(flock(file, LOCK_EX) == 0)
      #expect(try !lock.isFree(), "somebody holds it")
      release(file)
      #expect(try lock.isFree())
    }
  }
#endif
