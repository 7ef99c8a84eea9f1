#if Process
  import DurableJobs
  import Foundation
  import Subprocess

  extension ShellCommand {
    /// What a worker's screen tells of a command.
    @nonexhaustive
    public enum Event: Sendable {
      case started(ShellCommand)
      case ended(ShellCommand, CommandResult, took: Duration)
      /// The worker lacks what it needs to run anything, and this is why: the job comes back.
      case couldNotStart(ShellCommand, String)
    }
  }

  /// Runs commands for a worker, each under a supervisor.
  package final class CommandHandler: Sendable {
    private let onEvent: @Sendable (JobContext, ShellCommand.Event) -> Void
    private let lifeLines = Lock((lines: [JobID: LifeLine](), areKilled: false))

    package init(onEvent: @escaping @Sendable (JobContext, ShellCommand.Event) -> Void) { self.onEvent = onEvent }

    package func register(with worker: JobWorker) {
      guard let store = worker.store else { return }
      worker.register(ShellCommand.self) { [self] in try await run($0, JobFolder($1.id, in: store), $1) }
      worker.whileRunning {
        var sweep = FolderSweep(store)
        await sweep.run()
      }
    }

    /// From now on, a command that is to stop is killed without being asked; those that were asked are killed now.
    package func killWhatStops() {
      let lines = lifeLines.withLock { state in
        state.areKilled = true
        return Array(state.lines.values)
      }
      for line in lines where line.isCut { line.kill() }
    }

    private func run(
      _ command: ShellCommand, _ folder: JobFolder, _ context: JobContext
    ) async throws -> ShellCommand.Output {
      let lock = folder.lock
      let run: CommandRun
      do {
        try folder.create()
        var isFree = lock.isFree
        if !isFree { isFree = await lock.endHolder() }
        guard isFree else { throw Self.leftBehind }
        try Task.checkCancellation()
        run = try folder.beginRun(attempt: context.attempt)
      } catch {
        throw try crash(error, command, context)
      }
      onEvent(context, .started(command))
      let began = ContinuousClock.now
      let report: SupervisorReport?
      do {
        report = try await supervise(RunOrder(command: command, folder: folder, run: run.number), context)
      } catch {
        folder.end(run, "could not be started: \(error)")
        throw try crash(error, command, context)
      }
      let isGone = await lock.waitUntilFree(for: context.stopReason == nil ? .seconds(1) : CommandLock.termination)
      let result = CommandResult(report, stopReason: context.stopReason)
      folder.end(
        run, isGone ? "\(result)" : "\(result); something of it has left its group, and still lives",
        exitCode: result.exitCode)
      onEvent(context, .ended(command, result, took: began.duration(to: .now)))
      // Whoever wants it to run again is not told that it has ended while it has not. What was cancelled stays so.
      if !isGone, case .stopped = result { throw Self.leftBehind }
      return try result.output()
    }

    private static var leftBehind: JobExit {
      .suspend(
        because: "a process of this command has left its group, or is another user's, and still lives; end it, then "
          + "resume or cancel")
    }

    /// The worker lacks what it needs to run anything, files or processes for example: no failure of the command's own.
    private func crash(_ error: any Error, _ command: ShellCommand, _ context: JobContext) throws -> JobExit {
      if error is CancellationError || error is JobExit { throw error }
      onEvent(context, .couldNotStart(command, error.briefly))
      return .crash
    }

    /// Runs a supervisor to its end. Nil if that did not report how the command ended: then what is left of it was killed.
    private func supervise(_ order: RunOrder, _ context: JobContext) async throws -> SupervisorReport? {
      let (own, theirs) = try Descriptors.connected()
      let lifeLine = LifeLine(own)
      lifeLines.withLock { $0.lines[context.id] = lifeLine }
      defer { lifeLines.withLock { $0.lines[context.id] = nil } }
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
          input: .fileDescriptor(.init(rawValue: theirs), closeAfterSpawningProcess: true),
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
        let limit = SupervisionCourse.longest + .seconds(1)
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.seconds) { lifeLine.kill() }
      }
      let report = try? JSONDecoder().decode(SupervisorReport.self, from: data)
      // The supervisor's last act is to kill its group. If it could not do that, it is done here.
      if report == nil { _ = await order.lock.killHolder(group: lifeLine.lastGroup ?? -1) }
      return report
    }
  }
#endif
