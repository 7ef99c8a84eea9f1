#if Shell
  import ArgumentParser
  import Console

  /// The command line.
  struct DurableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "durable",
      abstract: "Downloads, requests and commands that survive a crash: what you ask for stays until it is done.",
      discussion: """
        durable get https://…/big.iso   downloads a file through any interruption
        durable send POST https://…     stores a request that must arrive
        durable add -- make backup      stores a command
        durable work                    runs what is stored, until Ctrl-C
        durable status                  shows where everything stands

        'durable help COMMAND' tells all about one of them.

        Exit codes: \(ExitStatus.allCases.map { "\($0.rawValue) \($0.words)" }.joined(separator: ", ")). \
        'add --follow' exits with its command's.
        """,
      version: "0.1.0",
      subcommands: [ManualCommand.self],
      groupedSubcommands: [
        CommandGroup(
          name: "Run",
          subcommands: [
            GetCommand.self, SendCommand.self, AddCommand.self, ScheduleCommand.self, BatchCommand.self,
            WorkCommand.self, ServiceCommand.self,
          ]),
        CommandGroup(
          name: "Look",
          subcommands: [
            StatusCommand.self, ShowCommand.self, ExplainCommand.self, TreeCommand.self, LogCommand.self,
            WaitCommand.self,
          ]),
        CommandGroup(
          name: "Act",
          subcommands: [
            RetryCommand.self, CancelCommand.self, SuspendCommand.self, ResumeCommand.self, CompleteCommand.self,
            FailCommand.self, RemoveCommand.self, PauseCommand.self, UnpauseCommand.self, LimitsCommand.self,
            ConstraintCommand.self, EditCommand.self,
          ]),
        CommandGroup(
          name: "Look after",
          subcommands: [
            CheckCommand.self, RepairCommand.self, PruneCommand.self, MigrateCommand.self, MoveCommand.self,
          ]),
      ])
  }
#endif
