import ArgumentParser
import DurableJobs
import DurableJobsSQLite
import Foundation

/// A job that tells how long it took from the call of `enqueue` to its handler's first line.
private struct Ping: JobPayload {
  var sentAt: Int
  static let kind = "ping"
}

/// What the handlers of one run saw, and who waits for the last.
private actor Arrivals {
  private let expected: Int
  private var delays: [Int] = []
  private var waiting: CheckedContinuation<[Int], Never>?

  init(expected: Int) { self.expected = expected }

  func add(_ delay: Int) {
    delays.append(delay)
    if delays.count == expected { waiting?.resume(returning: delays) }
  }

  func all() async -> [Int] {
    if delays.count >= expected { return delays }
    return await withCheckedContinuation { waiting = $0 }
  }
}

private func pingWorker(_ queue: JobQueue, _ arrivals: Arrivals) -> JobWorker {
  let worker = JobWorker(queue)
  worker.register(Ping.self) { ping, _ in
    let delay = monotonicNanoseconds() - ping.sentAt
    await arrivals.add(delay)
  }
  return worker
}

/// From `enqueue` to the handler's first line on an idle queue, with a pause between two jobs.
struct StartLatency: AsyncParsableCommand {
  @OptionGroup var place: Place
  @Option var jobs = 500
  @Option var pauseMs = 3
  @Flag(help: "The worker is another process.") var elsewhere = false

  func run() async throws {
    try await withQueue(in: place) { queue, scratch in
      if elsewhere {
        let child = try Child(["latency-worker", "--store", scratch.path, "--jobs", "\(jobs)"])
        guard child.nextLine() == "ready" else { throw WrongResult("the other process did not start") }
        try await send(to: queue)
        guard let figures = child.nextLine() else { throw WrongResult("the other process printed no figures") }
        try child.finish()
        try await queue.verify(JobCounts([.succeeded: jobs]))
        print(figures)
      } else {
        let arrivals = Arrivals(expected: jobs)
        let worker = pingWorker(queue, arrivals)
        worker.start()
        try await send(to: queue)
        var figures = Figures("start-latency")
        figures.setCalls(Durations(await arrivals.all()), prefix: "start")
        await worker.stop()
        try await queue.verify(JobCounts([.succeeded: jobs]))
        try figures.print()
      }
    }
  }

  private func send(to queue: JobQueue) async throws {
    for _ in 0..<jobs {
      try await queue.enqueue(Ping(sentAt: monotonicNanoseconds()))
      try await Task.sleep(for: .milliseconds(pauseMs))
    }
  }
}

/// The other process of `start-latency --elsewhere`.
struct LatencyWorker: AsyncParsableCommand {
  static let configuration = CommandConfiguration(shouldDisplay: false)
  @Option var store: String
  @Option var jobs: Int

  func run() async throws {
    let arrivals = Arrivals(expected: jobs)
    let worker = pingWorker(JobQueue(store: try SQLiteStore(path: store)), arrivals)
    worker.start()
    FileHandle.standardOutput.write(Data("ready\n".utf8))
    let delays = await arrivals.all()
    await worker.stop()
    var figures = Figures("start-latency-elsewhere")
    figures.setCalls(Durations(delays), prefix: "start")
    try figures.print()
  }
}
