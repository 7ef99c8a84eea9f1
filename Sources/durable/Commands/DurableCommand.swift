#if Shell
  import ArgumentParser
  import DurableJobs
  import Foundation

  /// The command line.
  struct DurableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "durable",
      abstract: "Downloads and commands that survive a crash: what you ask for stays until it is done.",
      discussion: """
        durable get https://…/big.iso   downloads a file, and goes on after any interruption
        durable add -- make backup      stores a command
        durable work                    runs what is stored, until Ctrl-C
        durable status                  shows where everything stands

        Exit codes: 0 done, 1 a job failed, 2 usage, 3 no such job, 4 timed out, 5 store not usable, \
        130 interrupted with work left.
        """,
      version: "0.1.0",
      groupedSubcommands: [
        CommandGroup(name: "Run:", subcommands: [GetCommand.self, AddCommand.self, WorkCommand.self]),
        CommandGroup(
          name: "Look:", subcommands: [StatusCommand.self, ShowCommand.self, LogCommand.self, WaitCommand.self]),
        CommandGroup(
          name: "Act:",
          subcommands: [
            RetryCommand.self, CancelCommand.self, SuspendCommand.self, ResumeCommand.self, CompleteCommand.self,
            FailCommand.self, RemoveCommand.self, PauseCommand.self, UnpauseCommand.self,
          ]),
        CommandGroup(
          name: "See it work:", subcommands: [DemoCommand.self, SuperviseCommand.self, LaunchCommand.self]),
      ])

    /// Runs what the arguments say, and ends the process with the exit code that `ExitStatus` gives it.
    static func start() async -> Never {
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
      await OpenStore.closeAll()
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

  enum ExitStatus: Int32 {
    case done = 0
    case jobFailed = 1
    case usage = 2
    case noSuchJob = 3
    case timedOut = 4
    case storeNotUsable = 5
    case interrupted = 130

    init(_ error: JobError) {
      switch error.code {
      case .invalidArgument, .notEncodable, .notDecodable, .wrongState: self = .usage
      case .notFound: self = .noSuchJob
      case .alreadyRunning: self = .jobFailed
      default: self = .storeNotUsable
      }
    }
  }

  extension ExitCode {
    init(_ status: ExitStatus) { self.init(status.rawValue) }
  }
#endif
