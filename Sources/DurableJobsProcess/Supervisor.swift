#if Process
  import DurableJobs
  import Foundation
  import Subprocess

  /// What a supervisor tells its worker, on its standard output, before it ends.
  struct SupervisorReport: Codable, Sendable {
    enum Ending: Codable, Sendable {
      case exited(Int32)
      case signalled(Int32)
      case notStarted(LaunchTrouble)
    }

    var ending: Ending
    /// The last line that the command wrote to stderr.
    var lastLine: String?
  }

  /// Leads the process group of one command, keeps its logs, and ends the group when the worker's end of the life line
  /// closes: because the worker wants that, or because it died.
  ///
  /// The life line is standard input. Its first line is the ``RunOrder``; nothing follows.
  enum Supervisor {
    static let argument = "supervise-command"

    static func run() async throws {
      // What ends the group is not for its leader, nor is that nobody reads its report any more.
      for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE] {
        Foundation.signal(signal, SIG_IGN)
      }
      guard getpgrp() == getpid(), let line = readLine() else {
        throw CommandFailure(description: "\(argument) is for a worker alone")
      }
      let order = try JSONDecoder().decode(RunOrder.self, from: Data(line.utf8))
      // Whatever is left of the group ends with its leader, also where the worker is no more and nobody reads the report.
      defer { kill(0, SIGKILL) }
      let report = try await Supervision(order).run()
      try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(report))
    }
  }

  private struct Supervision: Sendable {
    let order: RunOrder
    let stdout: LogPump
    let stderr: LogPump
    let lifeLineIsCut = Lock(false)

    init(_ order: RunOrder) throws {
      self.order = order
      stdout = try LogPump(order.folder.log(order.run, .stdout))
      stderr = try LogPump(order.folder.log(order.run, .stderr))
    }

    func run() async throws -> SupervisorReport {
      Thread.detachNewThread { [lifeLineIsCut] in
        var byte: UInt8 = 0
        var count = 1
        repeat { count = read(STDIN_FILENO, &byte, 1) } while count > 0 || (count < 0 && errno == EINTR)
        lifeLineIsCut.withLock { $0 = true }
      }
      let ending = Lock<SupervisorReport.Ending?>(nil)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          let result = try await start()
          ending.withLock { $0 = result }
        }
        var asked: ContinuousClock.Instant?
        while true {
          let hasEnded = ending.withLock { $0 != nil }
          let isFree = hasEnded && order.lock.isFree
          if isFree, stdout.isDone, stderr.isDone { break }
          if asked == nil, hasEnded || lifeLineIsCut.withLock({ $0 }) {
            kill(0, SIGTERM)
            asked = .now
          }
          // Who has left the lock behind and still holds the output is not waited for as long.
          if let asked, asked.duration(to: .now) > (isFree ? .seconds(1) : CommandLock.termination) { break }
          try await Task.sleep(for: CommandLock.interval)
        }
        // Kills the command, if it did not obey; the rest of the group follows after the report.
        group.cancelAll()
        try await group.waitForAll()
      }
      return SupervisorReport(ending: ending.withLock { $0 } ?? .signalled(SIGKILL), lastLine: stderr.lastLine)
    }

    /// Runs the launcher, which becomes the command, until that process has ended.
    private func start() async throws -> SupervisorReport.Ending {
      if lifeLineIsCut.withLock({ $0 }) {
        close(stdout.writeEnd)
        close(stderr.writeEnd)
        return .signalled(SIGTERM)
      }
      let result = try await Subprocess.run(
        Program.itself, arguments: [Launcher.argument], input: .array(Array(try JSONEncoder().encode(order))),
        output: .fileDescriptor(.init(rawValue: stdout.writeEnd), closeAfterSpawningProcess: true),
        error: .fileDescriptor(.init(rawValue: stderr.writeEnd), closeAfterSpawningProcess: true))
      if let data = FileManager.default.contents(atPath: order.folder.troubleFile(order.run)) {
        return .notStarted(try JSONDecoder().decode(LaunchTrouble.self, from: data))
      }
      switch result.terminationStatus {
      case .exited(let code): return .exited(code)
      case .signaled(let signal): return .signalled(signal)
      }
    }
  }
#endif
