import ArgumentParser

/// One figure a run: each subcommand measures one thing in a process of its own and prints one line of JSON.
@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "What DurableJobs reaches on SQLite, through its public API.",
    subcommands: [
      EnqueueOne.self, EnqueueMany.self, EnqueueBatch.self, Drain.self, StartLatency.self, LatencyWorker.self,
      Idle.self, IdleProcess.self, Backlog.self, Memory.self, Fill.self, Table.self,
    ])
}

/// Where a run keeps its database.
struct Place: ParsableArguments {
  @Option(help: "A folder on the disk that is measured.")
  var dir = "."

  @Option(help: "Priorities that jobs are spread over at random, as the C program does.")
  var priorities = 4
}
