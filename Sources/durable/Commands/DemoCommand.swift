#if Shell
  import ArgumentParser

  struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "demo", abstract: "Watch downloads, or commands, survive workers that are killed.",
      subcommands: [DemoDownloadsCommand.self, DemoCommandsCommand.self], defaultSubcommand: DemoDownloadsCommand.self)
  }
#endif
