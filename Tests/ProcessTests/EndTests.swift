#if Process
  import DurableJobs
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsProcess

  /// Commands that have ended by themselves before somebody wants them to end, and commands that have not begun.
  @Suite(.enabled(if: hasProcessTable, "finds processes in /proc"))
  struct EndTests {
    /// It leaves something that does not end when it is told to, for which the supervisor waits. That is told once the
    /// supervisor has seen the end of the command.
    private func leaving(_ end: String) -> String {
      "echo ran >> runs; (trap 'echo > told' TERM; : > ready; while :; do sleep 0.05; done) 2> /dev/null & "
        + "until test -e ready; do sleep 0.02; done; \(end)"
    }

    @Test(arguments: [("suspend", JobState.failed), ("cancel", .cancelled)])
    func `a command that has failed by itself is not run again for a stop that comes while its remains are ended`(
      how: String, state: JobState
    ) async throws {
      var (place, job): (Place, JobHandle<ShellCommand.Output>)
      repeat {
        place = try Place()
        let told = try place.pipe("told")
        job = try await place.add(leaving("exit 3"))
        let worker = try place.work()
        _ = await told.read()
        if how == "suspend" { try await job.suspend() } else { try await job.cancel() }
        // On a busy machine that may come when all is over.
        let isInTime = try await job.snapshot.state != .failed
        #expect(worker.wait() == .exited(0))
        if isInTime { break }
      } while true
      #expect(try await job.snapshot.state == state)
      #expect(place.lines("runs") == ["ran"])
      #expect(try await place.logs(job).runs.first?.ending?.hasPrefix("exited with code 3") == true)
      guard how == "suspend" else { return }
      await #expect { try await job.value } throws: { "\($0)".contains("exited with code 3") }
    }

    @Test func `one that has attempts left, and is suspended meanwhile, has used this one`() async throws {
      let place = try Place()
      let told = try place.pipe("told")
      let job = try await place.queue.enqueue(
        ShellCommand([leaving("exit 3")], in: place.folder, shell: true), options: JobOptions(maxAttempts: 2))
      let worker = try place.work()
      _ = await told.read()
      try await job.suspend()
      #expect(worker.wait() == .exited(0))
      let snapshot = try await job.snapshot
      #expect(snapshot.state == .suspended && snapshot.attempt == 1)
    }

    @Test func `a supervisor that is killed while it waits for what a command left has told its end`() async throws {
      let place = try Place()
      let (said, told) = (try place.pipe("said"), try place.pipe("told"))
      let orphan = try Orphan(JobID(rawValue: 1), "echo $PPID > said; " + leaving("echo why >&2; exit 3"), place)
      let supervisor = try #require(pid_t(await said.read()))
      let holder = orphan.folder.lock.holder
      _ = await told.read()
      kill(supervisor, SIGKILL)
      #expect(await orphan.folder.lock.end(holder, within: .milliseconds(300)))
      let report = try await orphan.report()
      #expect(report.isOwnEnd && !report.isLast && report.lastLine == "why", "\(report)")
      #expect(CommandResult(report, stopReason: .shutdown) == .exited(3, lastLine: "why"))
      try orphan.end()
    }

    @Test func `what is left of a command is ended although its supervisor is killed, and its end counts`() async throws
    {
      let place = try Place()
      let (said, told) = (try place.pipe("said"), try place.pipe("told"))
      let job = try await place.add("test -e runs || echo $PPID > said; " + leaving("exit 0"))
      let worker = try place.work()
      let supervisor = try #require(pid_t(await said.read()))
      _ = await told.read()
      let left = ProcessList.children(of: supervisor) + ProcessEntry.session(supervisor).map(\.number)
      kill(supervisor, SIGKILL)
      #expect(worker.wait() == .exited(0))
      #expect(try await job.snapshot.state == .succeeded)
      #expect(place.lines("runs") == ["ran"])
      #expect(left.count > 1 && left.allSatisfy { ProcessList.hasEnded($0) })
    }

    @Test
    func `what is still to become a command when its supervisor is killed does not, whoever keeps the lock from it`()
      async throws
    {
      let place = try Place()
      let folder = JobFolder(JobID(rawValue: 1), in: place.store)
      try folder.create()
      // The launcher tries again while somebody looks at the lock.
      let look = open(folder.lock.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      try #require(flock(look, LOCK_SH) == 0)
      let orphan = try Orphan(JobID(rawValue: 1), "echo ran > runs", place)
      var (supervisor, launcher): (pid_t?, pid_t?)
      await until {
        supervisor = ProcessList.children(of: orphan.supervisor.pid).first
        launcher = supervisor.flatMap { ProcessList.children(of: $0).first }
        return launcher.map { ProcessList.files(of: $0).values.contains(folder.lock.path) } ?? false
      }
      kill(try #require(supervisor), SIGKILL)
      _ = orphan.supervisor.wait()
      release(look)
      let last = try #require(launcher)
      await until { ProcessList.hasEnded(last) }
      #expect(place.lines("runs").isEmpty)
      #expect(try folder.lock.isFree())
      try orphan.end()
    }

    @Test func `a job that times out while what an earlier run left is ended has not begun`() async throws {
      let place = try Place()
      let said = try place.pipe("said")
      let job = try await place.queue.enqueue(
        ShellCommand(["touch", "ran"], in: place.folder), options: JobOptions(maxAttempts: 1, timeout: .seconds(4)))
      let orphan = try Orphan(job.id, "trap '' TERM; echo > said; while :; do sleep 0.05; done", place)
      _ = await said.read()
      let worker = try place.work()
      #expect(worker.wait() == .exited(0))
      let snapshot = try await job.snapshot
      #expect(snapshot.state == .succeeded && snapshot.attempt == 1)
      try orphan.end()
    }
  }
#endif
