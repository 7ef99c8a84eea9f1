import ArgumentParser
import DurableJobs
import Foundation

/// One caller, one job a call, each awaited before the next: for a time, or a number of jobs.
struct EnqueueOne: AsyncParsableCommand {
  @OptionGroup var place: Place
  @Option var seconds = 2.0
  @Option var jobs: Int?

  func run() async throws {
    try await withQueue(in: place) { queue, _ in
      var calls: [Int] = []
      let start = Usage.now()
      while jobs.map({ calls.count < $0 }) ?? (Usage.now().seconds - start.seconds < seconds) {
        let began = monotonicNanoseconds()
        try await queue.enqueue(Noop(calls.count, priorities: place.priorities))
        calls.append(monotonicNanoseconds() - began)
      }
      try await finish("enqueue-one", queue, jobs: calls.count, calls, Usage.now() - start)
    }
  }
}

/// Many tasks at once, each of which enqueues one job and awaits it, again and again.
struct EnqueueMany: AsyncParsableCommand {
  @OptionGroup var place: Place
  @Option var seconds = 2.0
  @Option var tasks = 64

  func run() async throws {
    try await withQueue(in: place) { queue, _ in
      let start = Usage.now()
      let end = monotonicNanoseconds() + Int(seconds * 1e9)
      let calls = try await withThrowingTaskGroup(of: [Int].self) { group in
        for task in 0..<tasks {
          group.addTask { [priorities = place.priorities] in
            var calls: [Int] = []
            while true {
              let began = monotonicNanoseconds()
              guard began < end else { return calls }
              try await queue.enqueue(Noop(task << 32 + calls.count, priorities: priorities))
              calls.append(monotonicNanoseconds() - began)
            }
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      try await finish("enqueue-\(tasks)", queue, jobs: calls.count, calls, Usage.now() - start)
    }
  }
}

/// One caller, many jobs a call.
struct EnqueueBatch: AsyncParsableCommand {
  @OptionGroup var place: Place
  @Option var jobs = 200_000
  @Option var batch = 1000

  func run() async throws {
    try await withQueue(in: place) { queue, _ in
      var calls: [Int] = []
      let start = Usage.now()
      for first in stride(from: 0, to: jobs, by: batch) {
        let began = monotonicNanoseconds()
        try await queue.enqueue(
          contentsOf: (first..<first + batch).map { Noop($0, priorities: place.priorities) })
        calls.append(monotonicNanoseconds() - began)
      }
      try await finish("enqueue-batch", queue, jobs: calls.count * batch, calls, Usage.now() - start)
    }
  }
}

private func finish(_ mode: String, _ queue: JobQueue, jobs: Int, _ calls: [Int], _ usage: Usage) async throws {
  var figures = Figures(mode)
  figures.setRate(jobs, usage)
  figures.setCalls(Durations(calls))
  try await queue.verify(JobCounts([.ready: jobs]))
  try figures.print()
}
