#if Process
  import DurableJobs
  import Foundation

  extension ShellCommand {
    /// To be called first in a program whose workers run commands. Where this process was started to supervise one, it does
    /// that and never returns; else it returns at once.
    ///
    ///     ShellCommand.superviseIfAsked()
    ///
    /// A command runs under a process of the same program, started again, so that it dies with its worker and has its logs
    /// kept whatever becomes of that.
    public static func superviseIfAsked() {
      wasAsked.withLock { $0 = true }
      Descriptors.openStandard()
      _ = Program.openFilesAtStart
      // Whoever started this program may not want to know of its children's ends. It does.
      signal(SIGCHLD, SIG_DFL)
      guard CommandLine.argc == 2 else { return }
      do {
        switch CommandLine.arguments[1] {
        case Supervisor.argument: try Supervisor.run()
        case Launcher.argument: try Launcher.run()
        default: return
        }
      } catch {
        FileHandle.standardError.write(Data("\(error.briefly)\n".utf8))
        exit(1)
      }
    }

    private static let wasAsked = Lock(false)

    /// Without ``superviseIfAsked()`` each command would start the whole program once more.
    static func requireSupervision() {
      guard !wasAsked.withLock({ $0 }) else { return }
      fatalError("a program whose workers run commands must begin with ShellCommand.superviseIfAsked()")
    }
  }

  extension JobWorker {
    /// Runs commands, and calls `onEvent` with what becomes of them, from any thread.
    ///
    /// Throws nothing and needs nothing but `ShellCommand.superviseIfAsked()` at the beginning of the program, without
    /// which it ends the program. As long as the worker runs, logs are deleted with their jobs.
    public func register(
      _ type: ShellCommand.Type, onEvent: @escaping @Sendable (JobContext, ShellCommand.Event) -> Void = { _, _ in }
    ) {
      CommandHandler(isToldOfStops: false, onEvent: onEvent).register(with: self)
    }
  }
#endif
