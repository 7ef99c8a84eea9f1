#if Process
  import DurableJobs
  import Foundation

  extension ShellCommand {
    /// Call this first in a program whose workers run commands. If this process was started to supervise a command, it
    /// does that and never returns; otherwise it returns at once.
    ///
    ///     ShellCommand.superviseIfAsked()
    ///
    /// A command runs under another process of the same program, so that it dies with its worker and its logs are kept
    /// whatever happens to the worker.
    public static func superviseIfAsked() {
      wasAsked.withLock { $0 = true }
      Descriptors.openStandard()
      _ = Program.openFilesAtStart
      // The parent may have ignored the ends of its children. This process needs to know of them.
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
    /// Runs commands, and calls `onEvent` with their events, from any thread.
    ///
    /// Throws nothing; only needs `ShellCommand.superviseIfAsked()` at the beginning of the program, and ends the
    /// program without it. While the worker runs, logs are deleted with their jobs. On a store that names no place on
    /// this machine, as a `PostgresStore` without a `Configuration.folder`, it registers nothing and logs that: commands
    /// are left to other workers.
    public func register(
      _ type: ShellCommand.Type, onEvent: @escaping @Sendable (JobContext, ShellCommand.Event) -> Void = { _, _ in }
    ) {
      CommandHandler(isToldOfStops: false, onEvent: onEvent).register(with: self)
    }
  }
#endif
