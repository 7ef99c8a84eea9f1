#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "pause", abstract: "Start no more jobs of a queue, in any worker. Those that run go on.")

    @Option(parsing: .unconditional, help: ArgumentHelp("The queue.", valueName: "name")) var queue = "default"
    @OptionGroup var options: StoreOptions

    func run() async throws { try await setPaused(true, queue, options) }
  }

  struct UnpauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "unpause", abstract: "Start jobs of a queue again.")

    @Option(parsing: .unconditional, help: ArgumentHelp("The queue.", valueName: "name")) var queue = "default"
    @OptionGroup var options: StoreOptions

    func run() async throws { try await setPaused(false, queue, options) }
  }

  private func setPaused(_ isPaused: Bool, _ queue: String, _ options: StoreOptions) async throws {
    try NewJob.check(queue: queue)
    try await options.open().store.configure([.queue(queue, isPaused: isPaused)])
    if options.json {
      Screen.out.json(PauseRecord(queue: queue, paused: isPaused))
    } else {
      Screen.out.line("\(queue.withVisibleControls) \(isPaused ? "paused" : "goes on")")
    }
  }

  private struct PauseRecord: Encodable {
    var queue: String
    var paused: Bool
  }
#endif
