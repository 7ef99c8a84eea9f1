#if Shell
  import DurableJobs
  import Foundation
  import Subprocess
  import TestProcesses
  import Testing

  @testable import Console
  @testable import durable

  @Suite("A worker that is stopped, or that can't begin")
  struct WorkerStopTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("is not stopped by a command of its own, which it would run again and again")
    func ownWorker() async throws {
      let process = try #require(try await durable("work", "--detach", "--json").json["process"] as? Int)
      let line = "'\(durable.program)' work stop; echo $? > code.new; mv code.new code"
      let id = try await durable.add("--env", "DURABLE_STORE", "--shell", "--", line)
      let code = durable.folder + "/code"
      await until { access(code, F_OK) == 0 || kill(pid_t(process), 0) != 0 }
      #expect(try String(contentsOfFile: code, encoding: .utf8) == "2\n")
      #expect(try await durable("wait", "\(id)").status == .exited(0))
      #expect(try await durable("log", "\(id)").stderr.contains("that process \(process) runs"))
      #expect(try await durable("work", "stop").text == "process \(process) has stopped\n")
    }

    @Test("is ended with the command that starts it, as by Ctrl-C, also before it works", arguments: [SIGINT, SIGQUIT])
    func interrupted(signal: Int32) async throws {
      // While this is shared the worker that is started waits for a lock of its own.
      let lock = open(durable.store + "-worker", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(lock) }
      #expect(flock(lock, LOCK_SH) == 0)
      let said = Pipe()
      let command = try ChildProcess(
        durable.program, ["work", "--detach", "--store", durable.store], error: said.fileHandleForWriting.fileDescriptor
      )
      try said.fileHandleForWriting.close()
      var started: [pid_t] = []
      await until {
        started = ProcessList.children(of: command.pid)
        return !started.isEmpty || !command.isRunning
      }
      command.send(signal)
      try #require(await command.ended() == .exited(128 + signal))
      let words = String(decoding: try said.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      #expect(words.contains("is asked to stop"), "\(words)")
      // One that lived would work now, and go on.
      flock(lock, LOCK_UN)
      await until { started.allSatisfy(ProcessList.hasEnded) }
    }

    @Test(#"is ended at once by Ctrl-\ or SIGQUIT, and prints nothing of itself"#)
    func quit() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add("--", "sh", "-c", "echo runs >\(fifo.path); exec sleep 1000")
      let ended = try await durable.work { worker in
        #expect(await fifo.said() == "runs")
        kill(worker.process, SIGQUIT)
        await worker.ends()
      }
      let said = ended.stderr.split(separator: "\n")
      #expect(ended.status == .signaled(SIGQUIT) && said.count == 1 && said[0].contains("Working on"), "\(ended)")
      try await durable.untilGone(id)
    }

    @Test("once nobody watches a signal any more it has its usual effect, and the next who watches it gets it")
    func signals() async throws {
      // No other test has it.
      let number = SIGXFSZ
      func action() -> Int {
        var action = sigaction()
        sigaction(number, nil, &action)
        #if canImport(Darwin)
          return unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self)
        #else
          return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        #endif
      }
      let usual = action()
      for _ in 1...2 {
        let got = Gate()
        var watches: [SignalWatch] = []
        for _ in 1...2 { watches.append(await SignalWatch([number]) { _ in got.open() }) }
        watches.removeFirst()
        try #require(action() != usual, "one watches it still")
        kill(getpid(), number)
        await got.pass()
        watches = []
        #expect(action() == usual)
      }
    }

    @Test("in another container keeps a second one from beginning, and no number of a process is told")
    func elsewhere() async throws {
      let file = open(durable.store + "-worker", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(file) }
      #expect(flock(file, LOCK_EX) == 0)
      #expect(write(file, "7 7", 3) == 3)
      let outcome = try await durable("work", "--detach")
      #expect(outcome.status == .exited(1) && outcome.stderr.contains("can't be seen from here"), "\(outcome.stderr)")
    }

    @Test("that is a service's knows what would be ended with it")
    func service() {
      let file = ServiceFile(name: "mine", words: [], log: "")
      let slice = "0::/user.slice/user-1000.slice/user@1000.service/app.slice"
      #expect(file.holds(groups: "\(slice)/mine.service\n"))
      #expect(!file.holds(groups: "\(slice)/not-mine.service\n"))
    }

    @Test("that is a service's is neither installed again nor removed by a command of its own")
    func ownService() async throws {
      let groups = "0::/user.slice/app.slice/mine.service\n"
      let manager = ServiceManager(environment: ["HOME": durable.folder], groups: groups)
      await #expect { try await manager.check(ServiceFile(name: "mine", words: [], log: "")) } throws: { error in
        (error as? JobError)?.code == .wrongState
      }
    }

    @Test(
      "as an agent of launchd ends with 0 where it can do nothing without a person, so that it does not begin again")
    func agent() async throws {
      try Data("just a text, no database, but long enough to be looked at".utf8).write(
        to: URL(fileURLWithPath: durable.store))
      let label = ServiceFile(name: "mine", words: [], log: "").label
      let ended = try await durable("work", environment: ["XPC_SERVICE_NAME": label])
      #expect(ended.status == .exited(0))
      #expect(!ended.stderr.isEmpty)
      #expect(try await durable("work", environment: ["XPC_SERVICE_NAME": "0"]).status == .exited(6))
    }

    // MARK: What stands on a terminal by then

    @Test("a frame that is cut short between two lines leaves a terminal that breaks lines")
    func frame() {
      var block = LiveBlock(isReflowed: false)
      let text = block.replace(with: ["a", "b"], below: ["done"], width: 20, height: 5)
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count == 4)
      for line in lines {
        let (off, on) = (line.ranges(of: "\u{1b}[?7l"), line.ranges(of: "\u{1b}[?7h"))
        #expect(off.count == on.count && zip(off, on).allSatisfy { $0.lowerBound < $1.lowerBound })
      }
    }

    @Test("that it stops is said to the end, whatever a look that was under way has found")
    func stopping() {
      var screen = DownloadScreen()
      screen.stops(saying: "Stopping.")
      screen.isHeldUp(by: nil)
      #expect(screen.obstacle == "Stopping.")
    }
  }
#endif
