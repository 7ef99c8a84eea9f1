import ArgumentParser
import DurableJobs
import DurableJobsSQLite
import Foundation

/// A backlog, enqueued beforehand, run to its end by one worker.
struct Drain: AsyncParsableCommand {
  @OptionGroup var place: Place
  @Option var jobs = 100_000
  @Option var concurrency = 100

  func run() async throws {
    let scratch = try Scratch(in: place.dir)
    defer { scratch.delete() }
    do {
      let queue = JobQueue(store: try SQLiteStore(path: scratch.path))
      try await queue.fill(jobs, priorities: place.priorities)
    }
    sync()

    let queue = JobQueue(store: try SQLiteStore(path: scratch.path))
    let worker = JobWorker(queue, maxConcurrentJobs: concurrency)
    worker.register(Noop.self)
    let start = Usage.now()
    try await worker.runUntilIdle()
    let usage = Usage.now() - start

    var figures = Figures("drain")
    figures.set("concurrency", concurrency)
    figures.setRate(jobs, usage)
    try await queue.verify(JobCounts([.succeeded: jobs]))
    try figures.print()
  }
}
