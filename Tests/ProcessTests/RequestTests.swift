#if Process
  import DurableJobs
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsProcess

  /// Commands that somebody asks to end.
  @Suite(.enabled(if: hasProcessTable, "finds processes in /proc"))
  struct RequestTests {
    private let id = JobID(rawValue: 1)

    private func numbers(_ said: NamedPipe) async throws -> (command: pid_t, supervisor: pid_t) {
      let numbers = await said.read().split(separator: " ").compactMap { pid_t($0) }
      try #require(numbers.count == 2)
      return (numbers[0], numbers[1])
    }

    @Test func `a success that a supervisor hears of together with a request is the answer to it`() async throws {
      let place = try Place()
      let said = try place.pipe("said")
      let orphan = try Orphan(id, "trap 'exit 0' TERM; echo $$ $PPID > said; while :; do sleep 0.01; done", place)
      let (command, supervisor) = try await numbers(said)
      kill(supervisor, SIGSTOP)
      await until { ProcessList.isStopped(supervisor) }
      for process in [supervisor, command] { kill(process, SIGTERM) }
      await until { ProcessList.hasEnded(command) }
      kill(supervisor, SIGCONT)
      let report = try await orphan.report()
      #expect(report.ending.isSuccess && report.wasAsked, "\(report)")
      try orphan.end()
    }

    @Test func `a success that a supervisor has seen is one, whatever is asked for after that`() async throws {
      let place = try Place()
      let (said, go) = (try place.pipe("said"), try place.pipe("go"))
      // What it leaves behind keeps the supervisor at work.
      let orphan = try Orphan(id, "trap '' TERM; { read x < go; } & echo $$ $PPID > said", place)
      let (command, supervisor) = try await numbers(said)
      await until { kill(command, 0) != 0 }
      kill(supervisor, SIGTERM)
      await until { !ProcessList.isWaiting(SIGTERM, for: supervisor) }
      await go.write("go")
      let report = try await orphan.report()
      #expect(report.ending.isSuccess && !report.wasAsked, "\(report)")
      try orphan.end()
    }

    @Test(arguments: [SIGTERM, SIGHUP])
    func `an end that a supervisor has told stands, whatever comes after that`(signal: Int32) async throws {
      let place = try Place()
      let (said, told, go) = (try place.pipe("said"), try place.pipe("told"), try place.pipe("go"))
      _ = try place.pipe("ready")
      // What it leaves behind is asked to end once its own end was told.
      let orphan = try Orphan(
        id,
        "(trap 'echo > told; read x < go; exit' TERM; echo > ready; while :; do sleep 0.01; done) & "
          + "echo $$ $PPID > said; read x < ready; exit 3", place)
      let (_, supervisor) = try await numbers(said)
      _ = await told.read()
      kill(supervisor, signal)
      await until { !ProcessList.isWaiting(signal, for: supervisor) }
      await go.write("go")
      let report = try await orphan.report()
      #expect(report.isLast && report.isOwnEnd, "\(report)")
      try orphan.end()
    }

    @Test func `who takes over from a worker that died does not ask a command again that was asked`() async throws {
      let place = try Place()
      let (said, told) = (try place.pipe("said"), try place.pipe("told"))
      let orphan = try Orphan(
        id, "trap 'echo TERM >> terms; echo > told' TERM; echo $$ $PPID > said; while :; do sleep 0.01; done", place)
      _ = try await numbers(said)
      let holder = orphan.folder.lock.holder
      try orphan.end()
      _ = await told.read()
      // Were it asked again, it would stand before the pipe by then, or have written.
      #expect(await orphan.folder.lock.end(holder, within: .milliseconds(300)))
      #expect(place.lines("terms") == ["TERM"])
    }

    @Test func `what a command wrote while its supervisor stood still is in its log, though its time was over by then`()
      async throws
    {
      let place = try Place()
      let (said, told, go) = (try place.pipe("said"), try place.pipe("told"), try place.pipe("go"))
      let orphan = try Orphan(
        id, "trap 'echo > told; read x < go; exit 0' TERM; echo $$ $PPID > said; while :; do sleep 0.01; done", place)
      let (command, supervisor) = try await numbers(said)
      try orphan.end()
      _ = await told.read()
      let asked = SystemClock().uptime
      kill(supervisor, SIGSTOP)
      await until { ProcessList.isStopped(supervisor) }
      // More than is read at once, in a pipe that was enlarged (F_SETPIPE_SZ, which Swift does not see); or, for a user
      // whose pipes are as large together as the system lets them be, what the pipe holds as it is (F_GETPIPE_SZ).
      let pipe = open("/proc/\(command)/fd/1", O_WRONLY | O_CLOEXEC)
      let isEnlarged = fcntl(pipe, 1031, 1 << 20) == 1 << 20
      let output = [UInt8](repeating: 0x78, count: isEnlarged ? 500_000 : Int(fcntl(pipe, 1032)))
      #expect(!output.isEmpty && write(pipe, output, output.count) == output.count)
      close(pipe)
      await go.write("go")
      await until { ProcessList.hasEnded(command) && SystemClock().uptime > asked + SupervisionCourse.lastWords }
      kill(supervisor, SIGCONT)
      #expect(try await orphan.report().ending.isSuccess)
      #expect(try Data(contentsOf: URL(filePath: orphan.folder.log(1, .stdout))) == Data(output))
    }

    /// It outlives its TERM, until what it has started by `setsid` has ended. What a shell says of a child that was ended has
    /// no reader where the supervisor is gone.
    private static let starter = """
      trap : TERM; exec 2>/dev/null
      setsid sh -c 'trap "echo TERM >> terms; exit" TERM; echo '$$' '$PPID' > said; while :; do sleep 0.05; done' &
      while kill -0 $!; do sleep 0.05; done
      """

    @Test(arguments: [true, false])
    func `who has strayed from a command that outlives its TERM is asked before it is killed`(
      isSupervised: Bool
    ) async throws {
      let place = try Place()
      let said = try place.pipe("said")
      let orphan = try Orphan(id, Self.starter, place)
      let (_, supervisor) = try await numbers(said)
      let holder = orphan.folder.lock.holder
      if !isSupervised {
        kill(supervisor, SIGKILL)
        await until { ProcessList.hasEnded(supervisor) }
      }
      try orphan.end()
      #expect(await orphan.folder.lock.end(holder, within: .seconds(10)))
      #expect(place.lines("terms") == ["TERM"])
    }

    @Test(arguments: ["TSTP", "TTIN", "TTOU"], ["$$", "0"])
    func `a command that stops itself as at a terminal goes on`(signal: String, whom: String) async throws {
      let place = try Place()
      let orphan = try Orphan(id, "kill -\(signal) \(whom); kill -\(signal) \(whom); exit 7", place)
      guard case .exited(7) = try await orphan.report().ending else {
        Issue.record("it has not ended by itself")
        return
      }
      try orphan.end()
    }

    @Test(arguments: [false, true])
    func `who takes over asks by the supervisor, also where that is stopped`(isStopped: Bool) async throws {
      let place = try Place()
      let said = try place.pipe("said")
      let orphan = try Orphan(
        id, "trap 'echo TERM >> terms; exit 3' TERM; echo $$ $PPID > said; while :; do sleep 0.01; done", place)
      let (_, supervisor) = try await numbers(said)
      if isStopped {
        kill(supervisor, SIGSTOP)
        await until { ProcessList.isStopped(supervisor) }
      }
      #expect(await orphan.folder.lock.endHolder())
      #expect(place.lines("terms") == ["TERM"])
      #expect(try await orphan.report().wasAsked)
      try orphan.end()
    }
  }
#endif
