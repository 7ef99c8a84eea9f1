#if Process
  import DurableJobs
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsProcess

  /// Commands whose keepers are really killed.
  @Suite(.serialized, .enabled(if: hasProcessTable, "finds processes in /proc"))
  struct CommandKillTests {
    /// 15, or a fifth of what `DURABLE_KILLS` says.
    static let kills = ProcessInfo.processInfo.environment["DURABLE_KILLS"].flatMap(Int.init).map { $0 / 5 } ?? 15

    private enum Victim: String, CaseIterable {
      case supervisor, worker, both
    }

    @Test func `a command that somebody has stopped hears that it is to end`() async throws {
      let place = try Place()
      let said = try place.pipe("said")
      let job = try await place.add("trap 'echo bye > bye; exit' TERM; echo $$ > said; while :; do sleep 0.05; done")
      let worker = try place.work()
      let command = try #require(pid_t(await said.read()))
      kill(command, SIGSTOP)
      await until { ProcessList.isStopped(command) }
      try await job.cancel()
      #expect(worker.wait() == .exited(0))
      #expect(place.lines("bye") == ["bye"])
    }

    @Test(arguments: [[], ["away"]])
    func `a command that closes all that it inherits has no twin, whoever of its keepers is killed, and when`(
      how: [String]
    ) async throws {
      let place = try Place()
      let job = try await place.queue.enqueue(ShellCommand([Place.probe, "alone", place.folder] + how))
      var worker = try place.work()
      var seen = 0
      var killed: [Victim: Int] = [:]
      while killed.values.reduce(0, +) < Self.kills {
        if Bool.random() {
          await until { place.lines("runs").count > seen }
        } else {
          usleep(UInt32.random(in: 0...150_000))
        }
        let victim = Victim.allCases.randomElement()!
        let supervisors = ProcessList.children(of: worker.pid)
        if victim != .worker, supervisors.isEmpty { continue }
        seen = place.lines("runs").count
        if victim == .both { worker.send(SIGSTOP) }
        if victim != .worker { for supervisor in supervisors { kill(supervisor, SIGKILL) } }
        if victim != .supervisor {
          worker.send(SIGKILL)
          worker.wait()
          worker = try place.work()
        }
        killed[victim, default: 0] += 1
      }
      // Not one whose keepers are gone, that noted its beginning late.
      await until {
        guard let command = place.lines("runs").last.flatMap({ pid_t($0) }) else { return false }
        return ProcessList.children(of: worker.pid).contains { ProcessList.children(of: $0).contains(command) }
      }
      try await place.queue.cancel(job.id)
      #expect(worker.wait() == .exited(0))
      #expect(try await place.store.job(job.id).state == .cancelled)
      #expect(place.lines("twins") == [])
      let unique = open(place.folder + "/unique", O_RDWR | O_CLOEXEC)
      #expect(flock(unique, LOCK_EX | LOCK_NB) == 0, "cancelled means that it is gone")
      close(unique)
      let counts = killed.map { "\($0.rawValue) \($1)" }.sorted().joined(separator: ", ")
      print("kills: \(counts); runs \(place.lines("runs").count)")
    }

    @Test func `a command that closes all that it inherits is gone with its supervisor before it is run again`()
      async throws
    {
      let place = try Place()
      let said = try place.pipe("said")
      let line = """
        for f in /proc/self/fd/*; do f=${f##*/}; [ "$f" -gt 2 ] && eval "exec $f>&-"; done 2>/dev/null
        exec 9>>unique
        flock -n 9 || touch twins
        test -e again && exit 0
        touch again
        echo $PPID > said
        exec sleep 600
        """
      let job = try await place.queue.enqueue(ShellCommand(["bash", "-c", line], in: place.folder))
      let worker = try place.work()
      kill(try #require(pid_t(await said.read())), SIGKILL)
      #expect(worker.wait() == .exited(0))
      #expect(try await place.store.job(job.id).state == .succeeded)
      #expect(try await place.store.job(job.id).crashes == 1)
      #expect(!FileManager.default.fileExists(atPath: place.folder + "/twins"))
    }

    @Test func `a signal that a command sends to its own group does not reach its supervisor`() async throws {
      let place = try Place()
      // Whoever sends it is gone at once, and nobody could tell whose it was.
      let line =
        "trap '' TERM; for i in 1 2 3 4 5; do sh -c 'kill -TERM 0'; done; sh -c 'kill -STOP 0'; echo run >> runs"
      let job = try await place.add(line)
      let worker = try place.work()
      await until {
        let commands = ProcessList.children(of: worker.pid).flatMap { ProcessList.children(of: $0) }
        guard let stopped = commands.first(where: { ProcessList.isStopped($0) }) else { return false }
        return kill(-stopped, SIGCONT) == 0
      }
      #expect(worker.wait() == .exited(0))
      let snapshot = try await job.snapshot
      #expect(snapshot.state == .succeeded && snapshot.crashes == 0)
      #expect(place.lines("runs") == ["run"])
    }

    /// It leaves the session of its shell, which waits for it, and closes what it inherits: no lock tells of it.
    private static let stray = "'\(Place.probe)' alone \"$PWD\" away & wait"

    @Test(arguments: ["time-out", "cancel", "worker", "supervisor", "both"])
    func `who has left the session while its shell waits for it is ended with that`(how: String) async throws {
      let place = try Place()
      let options = JobOptions(maxAttempts: 1, timeout: how == "time-out" ? .milliseconds(700) : nil)
      let job = try await place.queue.enqueue(
        ShellCommand([Self.stray], in: place.folder, shell: true), options: options)
      let worker = try place.work()
      await until { !place.lines("runs").isEmpty }
      let stray = try #require(pid_t(place.lines("runs")[0]))
      #expect(getsid(stray) == stray)
      let supervisor = try #require(ProcessList.children(of: worker.pid).first)
      if how == "both" { worker.send(SIGSTOP) }
      if how == "supervisor" || how == "both" { kill(supervisor, SIGKILL) }
      if how == "worker" || how == "both" { worker.send(SIGKILL) }
      if how == "cancel" { try await job.cancel() }
      if how == "both" {
        // Nobody is left to do it but the next worker.
        _ = worker.wait()
        let next = try place.work()
        await until { place.lines("runs").count > 1 }
        #expect(ProcessList.hasEnded(stray))
        try await job.cancel()
        #expect(next.wait() == .exited(0))
      } else {
        await until { ProcessList.hasEnded(stray) }
        if how == "supervisor" { try await job.cancel() }
        _ = worker.wait()
      }
      #expect(place.lines("twins") == [])
    }

    @Test func `a command that leaves its group is ended with its worker all the same`() async throws {
      let place = try Place()
      try await place.queue.enqueue(ShellCommand([Place.probe, "alone", place.folder, "away"]))
      let worker = try place.work()
      await until { !place.lines("runs").isEmpty }
      let command = try #require(pid_t(place.lines("runs")[0]))
      worker.send(SIGKILL)
      await until { ProcessList.hasEnded(command) }
    }

    @Test func `what a command starts in a group of its own is ended with the worker all the same`() async throws {
      let place = try Place()
      let said = try place.pipe("said")
      let line = "set -m; (trap '' TERM HUP; echo $BASHPID > said; sleep 600; sleep 600) & wait"
      try await place.queue.enqueue(ShellCommand(["bash", "-c", line], in: place.folder))
      let worker = try place.work()
      let child = try #require(pid_t(await said.read()))
      #expect(getpgid(child) == child)
      worker.send(SIGKILL)
      await until { ProcessList.hasEnded(child) }
    }

    @Test(arguments: [true, false])
    func `a group that does not listen to TERM is killed when its time is over`(leaderEnds: Bool) async throws {
      let place = try Place()
      let said = try place.pipe("said")
      let member = "trap '' TERM HUP; echo $$ > said; while :; do sleep 600; done"
      let line = leaderEnds ? "sh -c '\(member.replacing("'", with: "'\\''"))' > /dev/null 2>&1 &" : member
      let job = try await place.add(line)
      let worker = try place.work()
      let process = try #require(pid_t(await said.read()))
      if !leaderEnds { try await job.cancel() }
      #expect(worker.wait() == .exited(0))
      #expect(ProcessList.hasEnded(process))
      #expect(try await job.snapshot.state == (leaderEnds ? .succeeded : .cancelled))
    }

    @Test func `a command whose supervisor was killed is killed at once, without being asked`() async throws {
      let place = try Place()
      let line = """
        test -e again && exit 0; touch again
        exec 2>/dev/null; trap 'touch asked' TERM; kill -KILL $PPID; while :; do sleep 0.1; done
        """
      let job = try await place.add(line)
      let worker = try place.work()
      #expect(worker.wait() == .exited(0))
      #expect(try await place.store.job(job.id).state == .succeeded)
      #expect(try await place.store.job(job.id).crashes == 1)
      #expect(!FileManager.default.fileExists(atPath: place.folder + "/asked"))
    }

    @Test(arguments: [true, false])
    func `a launcher begins a command only while its supervisor lives`(lives: Bool) async throws {
      let place = try Place()
      let order = try place.pipe("order")
      let command = ShellCommand(["touch", "began"], in: place.folder)
      let folder = JobFolder(JobID(rawValue: 1), in: place.store)
      try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
      let text = try JSONEncoder().encode(RunOrder(command: command, folder: folder, run: 1))
      // Its session is led by the shell, as by a supervisor.
      let launch = "\(Place.probe) launch-command < order 3> trouble"
      let line = lives ? "\(launch); echo > ended" : "(\(launch); echo > ended) & exit"
      let ended = try place.pipe("ended")
      let supervisor = try ChildProcess("/bin/sh", ["-c", "cd '\(place.folder)'; setsid sh -c '\(line)'; :"])
      if !lives { await supervisor.ended() }
      await order.write(String(decoding: text, as: UTF8.self))
      _ = await ended.read()
      #expect(FileManager.default.fileExists(atPath: place.folder + "/began") == lives)
      #expect(place.lines("trouble").isEmpty == lives)
    }

    @Test(arguments: [true, false])
    func `a supervisor begins a command only if no later run of the job has begun`(isLater: Bool) async throws {
      let place = try Place()
      let folder = JobFolder(JobID(rawValue: 1), in: place.store)
      try folder.create()
      let run = try folder.beginRun(attempt: 1)
      // By who took the job from its worker: it has ended since.
      if isLater { folder.end(try folder.beginRun(attempt: 2), "succeeded", exitCode: 0) }
      let command = ShellCommand(["touch", "began"], in: place.folder)
      let order = try JSONEncoder().encode(RunOrder(command: command, folder: folder, run: run.number))
      let (lifeLine, report) = (Pipe(), Pipe())
      let supervisor = try ChildProcess(
        "/bin/sh", ["-c", "setsid '\(Place.probe)' supervise-command; :"],
        input: lifeLine.fileHandleForReading.fileDescriptor, output: report.fileHandleForWriting.fileDescriptor)
      try report.fileHandleForWriting.close()
      try lifeLine.fileHandleForWriting.write(contentsOf: order + Data("\n".utf8))
      let told = await onThread { (try? report.fileHandleForReading.readToEnd()) ?? Data() }
      let ending = try #require(SupervisorReport(told)).ending
      if case .notStarted(.overtaken) = ending { #expect(isLater) } else { #expect(!isLater && ending.isSuccess) }
      #expect(FileManager.default.fileExists(atPath: place.folder + "/began") != isLater)
      await supervisor.ended()
      try lifeLine.fileHandleForWriting.close()
    }

    @Test func `a command whose supervisor was asked to end before it had begun does not begin`() async throws {
      let place = try Place()
      let folder = JobFolder(JobID(rawValue: 1), in: place.store)
      try folder.create()
      let run = try folder.beginRun(attempt: 1)
      let command = ShellCommand(["touch", "began"], in: place.folder)
      let order = try JSONEncoder().encode(RunOrder(command: command, folder: folder, run: run.number))
      let (lifeLine, report) = (Pipe(), Pipe())
      let shell = try ChildProcess(
        "/bin/sh", ["-c", "setsid '\(Place.probe)' supervise-command; :"],
        input: lifeLine.fileHandleForReading.fileDescriptor, output: report.fileHandleForWriting.fileDescriptor)
      try report.fileHandleForWriting.close()
      // Before, TERM would end it as it ends anybody.
      await until { ProcessList.children(of: shell.pid).first.map { ProcessList.catches(SIGTERM, $0) } ?? false }
      kill(try #require(ProcessList.children(of: shell.pid).first), SIGTERM)
      try lifeLine.fileHandleForWriting.write(contentsOf: order + Data("\n".utf8))
      let told = await onThread { (try? report.fileHandleForReading.readToEnd()) ?? Data() }
      let said = try #require(SupervisorReport(told))
      #expect(said.wasAsked)
      if case .notStarted = said.ending {} else { Issue.record("\(said)") }
      #expect(!FileManager.default.fileExists(atPath: place.folder + "/began"))
      await shell.ended()
      try lifeLine.fileHandleForWriting.close()
    }

    @Test func `a command whose worker dies before it has begun does not begin`() async throws {
      // One that has begun before it could be stopped proves nothing, and the next is tried.
      for _ in 0..<50 {
        let place = try Place()
        // It is busy with so many words for a while, before it begins.
        let words = ["/bin/sh", "-c", "echo > began; exec sleep 600"] + Array(repeating: "word", count: 100_000)
        try await place.queue.enqueue(ShellCommand(words, in: place.folder))
        let worker = try place.work()
        var supervisor: pid_t = 0
        var launcher: pid_t = 0
        await until {
          supervisor = ProcessList.children(of: worker.pid).first ?? 0
          launcher = supervisor > 0 ? ProcessList.children(of: supervisor).first ?? 0 : 0
          return launcher > 0
        }
        // It has got them all.
        await until {
          guard let order = ProcessList.files(of: launcher)[0] else { return ProcessList.hasEnded(launcher) }
          return !ProcessList.files(of: supervisor).values.contains(order)
        }
        kill(launcher, SIGSTOP)
        await until { ProcessList.isStopped(launcher) || ProcessList.hasEnded(launcher) }
        let isInTime = ProcessList.words(of: launcher).last == "launch-command"
        worker.send(SIGKILL)
        if isInTime {
          // TERM waits for it, or, if that was lost, KILL comes 5 s later.
          await until { ProcessList.isWaiting(SIGTERM, for: launcher) || ProcessList.hasEnded(launcher) }
          #expect(ProcessList.isWaiting(SIGTERM, for: launcher))
        }
        kill(launcher, SIGCONT)
        await until { ProcessList.hasEnded(supervisor) }
        guard isInTime else { continue }
        #expect(!FileManager.default.fileExists(atPath: place.folder + "/began"))
        return
      }
      Issue.record("each of fifty had begun before it could be stopped")
    }

    @Test func `a launcher that is killed before it has read its long order leaves nobody waiting`() async throws {
      let place = try Place()
      // More than fits into a pipe.
      let words = ["/bin/sh", "-c", "exit 0"] + Array(repeating: "word", count: 40_000)
      // A launcher does not live long: one that was gone before it was seen proves nothing, and the next is tried.
      for _ in 0..<200 {
        let job = try await place.queue.enqueue(ShellCommand(words, in: place.folder))
        let worker = try place.work()
        await until {
          let supervisor = ProcessList.children(of: worker.pid).first ?? 0
          let launcher = supervisor > 0 ? ProcessList.children(of: supervisor).first ?? 0 : 0
          if launcher > 0 { kill(launcher, SIGKILL) }
          return launcher > 0 || !worker.isRunning
        }
        #expect(worker.wait() == .exited(0))
        if try await place.store.job(job.id).state == .failed { return }
      }
      Issue.record("no launcher was killed")
    }

    @Test func `a worker whose parent ignores the end of children runs each command once`() async throws {
      let place = try Place()
      let job = try await place.add("echo run >> runs")
      let worker = try ChildProcess(Place.probe, ["deaf", "work", place.folder + "/jobs.sqlite"])
      #expect(worker.wait() == .exited(0))
      #expect(try await place.store.job(job.id).state == .succeeded)
      #expect(place.lines("runs") == ["run"])
      #expect(try await place.logs(job).runs.map(\.ending) == ["succeeded"])
    }

    @Test func `while commands run, their supervisors sleep`() async throws {
      let place = try Place()
      let count = 16
      let said = try place.pipe("said")
      let go = try place.pipe("go")
      var jobs: [JobHandle<ShellCommand.Output>] = []
      for number in 0..<count { jobs.append(try await place.add("echo \(number) > said\(number); exec sleep 600")) }
      let pipes = try (0..<count).map { try place.pipe("said\($0)") }
      // Its life is the time that is looked at.
      let clock = try await place.add("echo > said; read line < go; sleep 1")
      let worker = try place.work(concurrency: count + 1)
      for pipe in pipes { _ = await pipe.read() }
      _ = await said.read()
      let supervisors = ProcessList.children(of: worker.pid)
      try #require(supervisors.count == count + 1)
      let before = supervisors.map { ProcessList.sleeps(of: $0) }
      await go.write("go")
      _ = try await clock.value
      let living = supervisors.enumerated().filter { !ProcessList.hasEnded($1) }
      #expect(living.count == count)
      let sleeps = living.map { ProcessList.sleeps(of: $1) - before[$0] }
      // One that was on its way to sleep, and no more.
      #expect(sleeps.allSatisfy { $0 <= 2 }, "\(sleeps)")
      for job in jobs { try await job.cancel() }
      #expect(worker.wait() == .exited(0))
    }
  }
#endif
