import ArgumentParser
import DurableJobs
import DurableJobsSQLite
import Foundation
import Synchronization

/// Rows that stand in the way of a claim: a quarter each ready but later in order, scheduled, finished, and of a kind
/// that the worker does not know.
struct Fill: AsyncParsableCommand {
  @Option var store: String
  @Option var inTheWay = 1_000_000
  @Option var jobs = 100_000
  @Option var priorities = 4

  func run() async throws {
    let queue = JobQueue(store: try SQLiteStore(path: store))
    let quarter = inTheWay / 4
    try await queue.fill(quarter, priorities: 1, options: JobOptions(priority: .low))
    try await queue.fill(quarter, priorities: priorities, options: JobOptions(start: .after(.seconds(86400))))
    for first in stride(from: 0, to: quarter, by: 1000) {
      let stranger = (first..<min(first + 1000, quarter)).map { Stranger(noop: Noop($0, priorities: priorities)) }
      try await queue.enqueue(contentsOf: stranger)
    }
    try await queue.fill(quarter, priorities: priorities, options: JobOptions(tags: ["finished"]))
    try await queue.cancelAll(where: .tag("finished"))
    try await queue.fill(jobs, priorities: priorities)
  }
}

/// A kind that no worker of a run knows.
private struct Stranger: JobPayload {
  var noop: Noop
  static let kind = "stranger"
}

/// Runs the first `jobs` jobs of a filled database; what stands in the way stays.
struct Backlog: AsyncParsableCommand {
  @Option(help: "A database made by fill. It is changed.") var store: String
  @Option var jobs = 100_000
  @Option var concurrency = 100

  func run() async throws {
    let queue = JobQueue(store: try SQLiteStore(path: store))
    let before = try await queue.counts()
    let worker = JobWorker(queue, maxConcurrentJobs: concurrency)
    let (finished, finish) = AsyncStream<Void>.makeStream()
    let left = Countdown(jobs)
    worker.register(Noop.self) { _, _ in
      if left.next() == 0 { finish.finish() }
    }

    let start = Usage.now()
    worker.start()
    for await _ in finished {}
    let usage = Usage.now() - start
    await worker.stop()

    var figures = Figures("backlog")
    figures.setRate(jobs, usage)
    figures.set("peak_mib", Usage.peakMemory)
    let succeeded = try await queue.counts()[.succeeded] - before[.succeeded]
    if succeeded < jobs { throw WrongResult("\(jobs) jobs ran, and \(succeeded) succeeded") }
    try figures.print()
  }
}

/// Counts down from any thread.
private final class Countdown: Sendable {
  private let left: Atomic<Int>

  init(_ start: Int) { left = Atomic(start) }

  func next() -> Int { left.subtract(1, ordering: .relaxed).newValue }
}
