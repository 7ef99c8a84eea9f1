#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "durable-demo",
      abstract: "Watch downloads go on after their worker was killed with SIGKILL.",
      usage: """
        durable-demo [--jobs <number>] [--concurrency <number>] [--random] [--start] [--pace <seconds>]
        durable-demo commands
        """,
      discussion: """
        On a terminal a screen whose controls these options set; press s to start. Elsewhere it starts at once, and \
        prints a line for what happens. Everything is made in a scratch folder and removed at the end.

        Exits with 0 if a worker was killed and every file is whole.
        """,
      subcommands: [CommandsCommand.self, WorkerCommand.self])

    @Option(help: ArgumentHelp("Job count, 1 to \(DownloadControls.jobCounts.upperBound).", valueName: "number"))
    var jobs = DownloadControls().jobCount
    @Option(
      help: ArgumentHelp(
        "Max concurrent: downloads at once, 1 to \(DownloadControls.concurrencies.upperBound).", valueName: "number"))
    var concurrency = DownloadControls().maxConcurrent
    @Flag(help: "Random time: a step takes up to three times as long.") var random = false
    @Flag(help: "Start at once, also on a terminal.") var start = false
    @Option(help: ArgumentHelp("How long a step of the server takes, of which a file has five.", valueName: "seconds"))
    var pace = 1.0

    func validate() throws {
      try check("--jobs", jobs, DownloadControls.jobCounts)
      try check("--concurrency", concurrency, DownloadControls.concurrencies)
      guard (0.01...60).contains(pace) else {
        throw ValidationError("--pace is \(pace); it must be from 0.01 to 60 seconds")
      }
    }

    private func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws {
      guard range.contains(value) else {
        throw ValidationError("\(name) is \(value); it must be from \(range.lowerBound) to \(range.upperBound)")
      }
    }

    func run() async throws {
      try Program.provideRoom(forWork: true)
      let demo = DownloadDemo(
        controls: DownloadControls(jobCount: jobs, maxConcurrent: concurrency, isTimeRandom: random),
        step: .seconds(pace))
      let isTerminal = Screen.out.isTerminal && isatty(STDIN_FILENO) == 1
      let status =
        isTerminal ? try await demo.runOnTerminal(startsAtOnce: start) : try await demo.runPlainly()
      if status != .done { throw ExitCode(status) }
    }
  }
#endif
