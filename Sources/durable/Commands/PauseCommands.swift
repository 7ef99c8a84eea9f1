#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "pause", abstract: "Start no more jobs of a queue, in any worker. Those that run go on.")

    @Option(help: ArgumentHelp("The queue.", valueName: "name")) var queue = "default"
    @OptionGroup var options: StoreOptions

    func run() async throws { try await setPaused(true, queue, options) }
  }

  struct UnpauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "unpause", abstract: "Start jobs of a queue again.")

    @Option(help: ArgumentHelp("The queue.", valueName: "name")) var queue = "default"
    @OptionGroup var options: StoreOptions

    func run() async throws { try await setPaused(false, queue, options) }
  }

  private func setPaused(_ isPaused: Bool, _ queue: String, _ options: StoreOptions) async throws {
    guard !queue.isEmpty, queue.utf8.count <= Limits.nameBytes else {
      throw ValidationError("--queue: a name has 1 to \(Limits.nameBytes) bytes")
    }
    try await options.open().store.configure([.queue(queue, isPaused: isPaused)])
    if options.json {
      Screen.out.line(JSONText.object([("queue", .string(queue)), ("paused", .bool(isPaused))]).text)
    } else {
      Screen.out.line("\(queue.withVisibleControls) \(isPaused ? "paused" : "goes on")")
    }
  }
#endif
