#if Shell
  import ArgumentParser
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  extension AsyncParsableCommand {
    /// Runs what the arguments say, and ends the process with the exit code that ``ExitStatus`` gives it. `atEnd` is done
    /// before that, however it went.
    package static func runProgram(atEnd: () async -> Void = {}) async -> Never {
      // A closed output is noticed where it is written to, and ends the process quietly.
      signal(SIGPIPE, SIG_IGN)
      _ = Program.umaskAtStart
      let status: Int32
      do {
        var command = try parseAsRoot()
        if var command = command as? any AsyncParsableCommand {
          try await command.run()
        } else {
          try command.run()
        }
        status = ExitStatus.done.rawValue
      } catch {
        status = tell(error)
      }
      await atEnd()
      Foundation.exit(status)
    }

    /// Says what went wrong, and returns the exit code for it.
    private static func tell(_ error: any Error) -> Int32 {
      switch error {
      case let code as ExitCode:
        return code.rawValue
      case let error as JobError:
        Talk.error(error.message)
        return ExitStatus(error).rawValue
      case let error as ValidationError:
        Talk.error(error.message)
        return ExitStatus.usage.rawValue
      case _ where exitCode(for: error) == .success:
        Screen.out.line(fullMessage(for: error))
        return ExitStatus.done.rawValue
      case _ where exitCode(for: error) == .validationFailure:
        Talk.line(fullMessage(for: error))
        return ExitStatus.usage.rawValue
      default:
        Talk.error(error.briefly)
        return ExitStatus.jobFailed.rawValue
      }
    }
  }
#endif
