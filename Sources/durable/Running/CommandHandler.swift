#if Shell
  import DurableJobs
  import Foundation
  import Subprocess

  /// Runs commands for a worker, each under a supervisor.
  final class CommandHandler: Sendable {
    /// What the worker's own screen tells.
    enum Event: Sendable {
      case started(ShellCommand)
      case ended(ShellCommand, CommandResult, took: Duration)
    }

    private let store: String
    private let tell: @Sendable (JobContext, Event) -> Void
    private let supervisors = Lock<Set<pid_t>>([])

    init(store: String, tell: @escaping @Sendable (JobContext, Event) -> Void = { _, _ in }) {
      self.store = store
      self.tell = tell
    }

    func register(with worker: JobWorker) {
      worker.register(kind: ShellCommand.kind) { [self] in try await run($0, $1) }
    }

    /// Ends all commands that run, at once.
    func killAll() {
      for supervisor in supervisors.withLock({ $0 }) { kill(-supervisor, SIGKILL) }
    }

    private func run(_ job: UntypedJob, _ context: JobContext) async throws -> Data? {
      let command: ShellCommand
      do {
        command = try JSONDecoder().decode(ShellCommand.self, from: job.payload)
      } catch {
        throw .suspend(because: "the payload is no command: \(error.briefly)")
      }
      let folder = JobFolder(store: store, id: context.id)
      let lock = CommandLock(path: folder.lockPath)
      try folder.create()
      var isFree = lock.isFree
      if !isFree { isFree = await lock.endHolder() }
      guard isFree else {
        throw .suspend(
          because: "a process of an earlier run of this command has left its group and still lives; end it, then resume"
        )
      }
      let run = try folder.beginRun(attempt: context.attempt)
      tell(context, .started(command))
      let began = ContinuousClock.now
      let result: CommandResult
      do {
        result = try await supervise(
          RunOrder(command: command, store: store, job: context.id, run: run.number), lock, context)
      } catch {
        folder.end(run, "could not be started: \(error)")
        throw error
      }
      folder.end(run, "\(result)")
      tell(context, .ended(command, result, took: began.duration(to: .now)))
      return try result.output(folder, run)
    }

    /// Starts a supervisor, and returns when nothing of its group is left.
    private func supervise(_ order: RunOrder, _ lock: CommandLock, _ context: JobContext) async throws -> CommandResult
    {
      let ends = try Pipe.closedOnExec()
      let lifeLine = LifeLine(ends.write)
      var message = try JSONEncoder().encode(order)
      message.append(UInt8(ascii: "\n"))
      let first = message
      var options = PlatformOptions()
      options.processGroupID = 0
      let platformOptions = options
      // A task of its own, because a cancel must not kill the supervisor: it cuts the life line. Awaited at once.
      let task = Task {
        defer { lifeLine.cut() }
        return try await Subprocess.run(
          Program.itself, arguments: ["supervise-command"], platformOptions: platformOptions,
          input: .fileDescriptor(.init(rawValue: ends.read), closeAfterSpawningProcess: true),
          output: .sequence, error: .fileDescriptor(.standardError, closeAfterSpawningProcess: false)
        ) { execution in
          let supervisor = execution.processIdentifier.value
          self.supervisors.withLock { _ = $0.insert(supervisor) }
          defer { self.supervisors.withLock { _ = $0.remove(supervisor) } }
          lifeLine.write(first)
          var report = Data()
          for try await buffer in execution.standardOutput { buffer.withUnsafeBytes { report.append(contentsOf: $0) } }
          return report
        }
      }
      let data = try await withTaskCancellationHandler {
        try await task.value.closureResult
      } onCancel: {
        lifeLine.cut()
      }
      let report = try? JSONDecoder().decode(SupervisorReport.self, from: data)
      // The supervisor's last act is to kill its group. If it could not do that, it is done here.
      if report == nil { _ = await lock.killHolder() } else { _ = await lock.waitUntilFree(for: .seconds(1)) }
      return CommandResult(report, stopReason: context.stopReason)
    }
  }

  /// The worker's end of a supervisor's life line. Cutting it ends the command; so does the death of the worker.
  private final class LifeLine: Sendable {
    private let end: Lock<Int32?>

    init(_ end: Int32) { self.end = Lock(end) }

    func write(_ data: Data) {
      end.withLock { end in
        guard let end else { return }
        // A supervisor that has died already is noticed by its missing report.
        try? FileHandle(fileDescriptor: end, closeOnDealloc: false).write(contentsOf: data)
      }
    }

    func cut() {
      end.withLock { end in
        if let end { close(end) }
        end = nil
      }
    }
  }
#endif
