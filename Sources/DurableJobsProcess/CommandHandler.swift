#if Process
  import DurableJobs
  import Foundation
  import Subprocess

  /// Runs commands for a worker, each under a supervisor.
  package final class CommandHandler: Sendable {
    /// What the worker's own screen tells.
    package enum Event: Sendable {
      case started(ShellCommand)
      case ended(ShellCommand, CommandResult, took: Duration)
      /// The worker lacks what it needs to run anything: the job comes back.
      case couldNotStart(ShellCommand, String)
    }

    private let store: String
    private let tell: @Sendable (JobContext, Event) -> Void
    private let lifeLines = Lock((lines: [JobID: LifeLine](), areKilled: false))

    package init(store: String, tell: @escaping @Sendable (JobContext, Event) -> Void = { _, _ in }) {
      self.store = store
      self.tell = tell
    }

    package func register(with worker: JobWorker) {
      worker.register(kind: ShellCommand.kind) { [self] in try await run($0, $1) }
    }

    /// From now on, a command that is to stop is killed without being asked; those that were asked are killed now.
    package func killWhatStops() {
      let lines = lifeLines.withLock { state in
        state.areKilled = true
        return Array(state.lines.values)
      }
      for line in lines where line.isCut { line.kill() }
    }

    private func run(_ job: UntypedJob, _ context: JobContext) async throws -> Data? {
      let command: ShellCommand
      do {
        command = try JSONDecoder().decode(ShellCommand.self, from: job.payload)
        guard !command.arguments.isEmpty else { throw CommandFailure(description: "it has no arguments") }
      } catch {
        throw .suspend(because: "the payload is no command: \(error.briefly)")
      }
      let folder = JobFolder(store: store, id: context.id)
      let lock = CommandLock(path: folder.lockPath)
      do { try folder.create() } catch { throw try crash(error, command, context) }
      var isFree = lock.isFree
      if !isFree { isFree = await lock.endHolder() }
      try Task.checkCancellation()
      guard isFree else {
        throw .suspend(
          because: "a process of an earlier run of this command has left its group and still lives; end it, then resume"
        )
      }
      let run: CommandRun
      do { run = try folder.beginRun(attempt: context.attempt) } catch { throw try crash(error, command, context) }
      tell(context, .started(command))
      let began = ContinuousClock.now
      let result: CommandResult
      do {
        result = try await supervise(
          RunOrder(command: command, store: store, job: context.id, run: run.number), lock, context)
      } catch {
        folder.end(run, "could not be started: \(error)")
        throw try crash(error, command, context)
      }
      folder.end(run, "\(result)", exitCode: result.exitCode)
      tell(context, .ended(command, result, took: began.duration(to: .now)))
      return try result.output()
    }

    /// The worker lacks what it needs to run anything, files or processes for example: no failure of the command's own.
    private func crash(_ error: any Error, _ command: ShellCommand, _ context: JobContext) throws -> JobExit {
      if error is CancellationError { throw error }
      tell(context, .couldNotStart(command, error.briefly))
      return .crash
    }

    /// Starts a supervisor, and returns when nothing of its group is left.
    private func supervise(_ order: RunOrder, _ lock: CommandLock, _ context: JobContext) async throws -> CommandResult
    {
      let ends = try Pipe.closedOnExec()
      let lifeLine = LifeLine(ends.write)
      lifeLines.withLock { $0.lines[order.job] = lifeLine }
      defer { lifeLines.withLock { $0.lines[order.job] = nil } }
      var message = try JSONEncoder().encode(order)
      message.append(UInt8(ascii: "\n"))
      let first = message
      var options = PlatformOptions()
      // No terminal either: what asks for a password fails at once, and stops nobody.
      options.createSession = true
      let platformOptions = options
      // A task of its own, because a cancel must not kill the supervisor: it cuts the life line. Awaited at once.
      let task = Task {
        defer { lifeLine.cut() }
        return try await Subprocess.run(
          Program.itself, arguments: [Supervisor.argument], platformOptions: platformOptions,
          input: .fileDescriptor(.init(rawValue: ends.read), closeAfterSpawningProcess: true),
          output: .sequence, error: .fileDescriptor(.standardError, closeAfterSpawningProcess: false)
        ) { execution in
          lifeLine.begin(with: first, group: execution.processIdentifier.value)
          defer { lifeLine.end() }
          var report = Data()
          for try await buffer in execution.standardOutput { buffer.withUnsafeBytes { report.append(contentsOf: $0) } }
          return report
        }
      }
      let data = try await withTaskCancellationHandler {
        try await task.value.closureResult
      } onCancel: {
        lifeLine.cut()
        if self.lifeLines.withLock({ $0.areKilled }) { lifeLine.kill() }
        // A supervisor that its command has stopped can't end it.
        let limit = CommandLock.termination + .seconds(2)
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.seconds) { lifeLine.kill() }
      }
      let report = try? JSONDecoder().decode(SupervisorReport.self, from: data)
      // The supervisor's last act is to kill its group. If it could not do that, it is done here.
      if report == nil {
        _ = await lock.killHolder(group: lifeLine.lastGroup ?? -1)
      } else {
        _ = await lock.waitUntilFree(for: .seconds(1))
      }
      return CommandResult(report, stopReason: context.stopReason)
    }
  }

  /// The worker's end of a supervisor's life line. Cutting it ends the command; so does the death of the worker.
  private final class LifeLine: Sendable {
    private let state: Lock<(end: Int32?, group: pid_t?, lastGroup: pid_t?)>

    init(_ end: Int32) { state = Lock((end, nil, nil)) }

    /// The group that there was, also after its end.
    var lastGroup: pid_t? { state.withLock { $0.lastGroup } }

    var isCut: Bool { state.withLock { $0.end == nil } }

    /// The supervisor is there: it gets its order.
    func begin(with order: Data, group: pid_t) {
      state.withLock { state in
        state.group = group
        state.lastGroup = group
        guard let end = state.end else { return }
        // A supervisor that has died already is noticed by its missing report.
        try? FileHandle(fileDescriptor: end, closeOnDealloc: false).write(contentsOf: order)
      }
    }

    func cut() {
      state.withLock { state in
        if let end = state.end { close(end) }
        state.end = nil
      }
    }

    /// Ends the supervisor's whole group at once.
    func kill() { state.withLock { if let group = $0.group { _ = Foundation.kill(-group, SIGKILL) } } }

    /// The supervisor has ended: its number may soon be another's.
    func end() { state.withLock { $0.group = nil } }
  }
#endif
