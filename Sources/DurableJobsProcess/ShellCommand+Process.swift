#if Process
  import Dispatch
  import DurableJobs
  import Foundation

  extension ShellCommand {
    /// To be called first in a program whose workers run commands. Where this process was started to supervise one, it does
    /// that and never returns; else it returns at once.
    ///
    /// A command runs under a process of the same program, started again, so that it dies with its worker and has its logs
    /// kept whatever becomes of that.
    package static func superviseIfAsked() {
      guard CommandLine.argc == 2 else { return }
      switch CommandLine.arguments[1] {
      case Supervisor.argument:
        Task {  // ends the process
          do {
            try await Supervisor.run()
            exit(0)
          } catch {
            fail(error)
          }
        }
        dispatchMain()
      case Launcher.argument:
        do { try Launcher.run() } catch { fail(error) }
      default: return
      }
    }

    private static func fail(_ error: any Error) -> Never {
      FileHandle.standardError.write(Data("\(error.briefly)\n".utf8))
      exit(1)
    }
  }
#endif
